/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Snapshots of the fleet's state on the server: with each new log one from which it goes on, and
 * others now and then, so that the log can be trimmed. A process of its own reads the store; the
 * loop sends what it wrote, a chunk at a time.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/faultpoint.h"
#include "base/text.h"
#include "bloomd/base/log.h"
#include "bloomd/fleet/logentry.h"
#include "bloomd/fleet/parts.h"
#include "bloomd/fleet/snapshot.h"
#include "store/logtail.h"

#define LEASE	     60000 /* ms */
#define RENEW	     (15 * FLEET_SECOND)
#define FIRST	     30 /* seconds: until the first look, at most */
#define RETRY	     (15 * FLEET_SECOND)
#define CHANGES_MOST 100000 /* of the log, until there is a new one */
#define KEEP	     600    /* seconds: somebody may still read the one before */
#define NOT_YET	     2	    /* exit code of the child: the outbox is not empty */

/* --- its end --- */

static void free_manifest(struct manifest **manifest)
{
	if (*manifest)
		manifest_free(*manifest);
	free(*manifest);
	*manifest = NULL;
}

static void close_file(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void snapshots_stop(struct fleet *fleet)
{
	struct fleet_snapshots *snapshots = &fleet->snapshots;

	sd_event_source_disable_unref(snapshots->worker);
	snapshots->worker = NULL;
	if (snapshots->child > 0) {
		kill(snapshots->child, SIGKILL);
		waitpid(snapshots->child, NULL, 0);
	}
	snapshots->child = 0;
	snapshots->busy = false;
	free_manifest(&snapshots->former);
	free_manifest(&snapshots->manifest);
	free(snapshots->entry);
	snapshots->entry = NULL;
	close_file(&snapshots->chunks);
	close_file(&snapshots->answer);
}

static void tell(struct fleet *fleet, const struct request *request, link_answered *answered)
{
	if (fleet->writer && request_send(request, fleet->writer, 60, answered, fleet))
		publishing_fail(fleet);
}

static void ignore(void *context, const struct server_reply *reply)
{
	(void)context;
	(void)reply;
}

static void give_back(struct fleet *fleet)
{
	struct request request = {0};

	request_words(&request, "DEL %slease", fleet->prefix);
	tell(fleet, &request, ignore);
}

/* Tries again after a while. */
static void fail(struct fleet *fleet, const char *why)
{
	bool begins = fleet->snapshots.begins;
	char text[256];

	snprintf(text, sizeof(text), "%s", why);
	snapshots_stop(fleet);
	fleet->snapshots.due = agent_clock() + RETRY;
	if (begins) {
		if (fleet->phase != FLEET_FAILED)
			xb_warning("fleet: cannot begin a log: %s", text);
		fleet_enter(fleet, FLEET_FAILED, "cannot begin a log: %s", text);
		fleet_then(fleet, RETRY, reading_check);
	} else if (!fleet->snapshots.complained) {
		xb_warning("fleet: cannot make a snapshot: %s", text);
		fleet->snapshots.complained = true;
	}
}

static void fail_reply(struct fleet *fleet, const struct server_reply *reply)
{
	char text[200] = "the server answers with another kind than asked for";

	if (reply->kind == REPLY_ERROR)
		xb_utf8_show(reply->text, reply->size, text, sizeof(text));
	fail(fleet, text);
}

static bool is_ok(const struct server_reply *reply)
{
	return reply->kind == REPLY_STATUS && reply_begins(reply, "OK");
}

/* When the next one is due, if the last one was made so many seconds ago. */
static void plan(struct fleet *fleet, uint64_t age)
{
	uint64_t every = fleet->config->snapshot_every;
	uint64_t left = age < every ? every - age : 0;

	fleet->snapshots.due = agent_clock() + left * FLEET_SECOND +
			       fleet_random() % (FLEET_SECOND * (every / 8 + 1));
}

static void end_well(struct fleet *fleet)
{
	give_back(fleet);
	snapshots_stop(fleet);
	fleet->snapshots.complained = false;
	fleet->snapshots.changes = 0;
	plan(fleet, 0);
}

/* --- a new log --- */

static int set_joined(struct xb_txn *txn)
{
	struct fleet_list list[XB_SHARES_MAX];
	size_t count, used = 0;
	const struct xb_share *shares = xb_shares(txn, &count);
	int error = 0;

	for (size_t i = 0; i < count && used < XB_SHARES_MAX; i++) {
		if (shares[i].flags & XB_SHARE_JOINED)
			continue;
		memcpy(list[used].name, shares[i].list, sizeof(list[used].name));
		list[used++].flags = shares[i].flags | XB_SHARE_JOINED;
	}
	for (size_t i = 0; !error && i < used; i++)
		error = xb_share_set(txn, list[i].name, list[i].flags);
	return error;
}

/* What the log has now is what this host has: the store says so, too. */
static int body(struct xb_writer *writer, void *context)
{
	const struct fleet_snapshots *snapshots = context;
	const struct manifest *manifest = snapshots->manifest;
	struct xb_fleet fleet;
	int found = xb_fleet_get(writer->txn, &fleet), error;

	if (found <= 0)
		return found ?: xb_input_error("this host is in no fleet");
	if (fleet.term >= manifest->term)
		return xb_input_error("the fleet went on meanwhile");
	fleet.term = manifest->term;
	fleet.position = manifest->position;
	memcpy(fleet.epoch, manifest->epoch, XB_FLEET_ID);
	memcpy(fleet.chain, manifest->chain, XB_FLEET_CHAIN);
	error = xb_fleet_put(writer->txn, &fleet);
	if (!error)
		error = xb_fleet_lineage_put(writer->txn, manifest->lineage, manifest->ancestors);
	if (!error)
		error = xb_logtail_append(writer->txn, fleet.term, fleet.position, snapshots->entry,
					  snapshots->entry_size);
	return error ?: set_joined(writer->txn);
}

static void commit(struct fleet *fleet)
{
	struct agent *agent = fleet->agent;
	int error;

	if (!fleet->snapshots.manifest)
		return;
	agent_writes(agent);
	error = xb_write(&agent->paths, 0, body, &fleet->snapshots, &agent->written);
	if (agent_is_busy(error)) {
		fleet_then(fleet, AGENT_RETRY, commit);
		return;
	}
	if (error && error != XB_UNMET) {
		fail(fleet, xb_error_message());
		return;
	}
	agent_wrote(agent);
	log_info("fleet: began a log at %" PRIu64 ", term %" PRIu64,
		 fleet->snapshots.manifest->position, fleet->snapshots.manifest->term);
	end_well(fleet);
	reading_check(fleet);
}

static void on_begun(struct fleet *fleet, enum fleet_appended outcome)
{
	struct fleet_snapshots *snapshots = &fleet->snapshots;

	if (outcome == FLEET_NOT_APPENDED) {
		fail(fleet, fleet->append.why);
		return;
	}
	if (outcome == FLEET_OVERTAKEN) {
		give_back(fleet);
		snapshots_stop(fleet);
		fleet_enter(fleet, FLEET_WAITING, "another host was first to begin a log");
		fleet_then(fleet, FLEET_SECOND, reading_check);
		return;
	}
	xb_fault("fleet-begun");
	snapshots->entry = fleet->append.bytes;
	snapshots->entry_size = fleet->append.size;
	fleet->append.bytes = NULL;
	commit(fleet);
}

static void send_begin(struct fleet *fleet)
{
	struct fleet_append *append = &fleet->append;

	append->end = fleet->log.any ? fleet->log.end : 0;
	append->position = fleet->snapshots.manifest->position;
	append->begins = true;
	append->bytes = fleet->snapshots.entry;
	append->size = fleet->snapshots.entry_size;
	fleet->snapshots.entry = NULL;
	if (manifest_write(fleet->snapshots.manifest, &fleet->key, &append->manifest,
			   &append->manifest_size))
		fail(fleet, xb_error_message());
	else
		publishing_append(fleet, on_begun);
}

/* The entry that begins the log, as the manifest says; it is always the same. */
static int write_entry(const struct fleet *fleet, const struct manifest *manifest, uint8_t **bytes,
		       size_t *size, uint8_t chain[MAC_BYTES])
{
	static const uint8_t none[MAC_BYTES];
	struct logentry entry = {
		.kind = LOGENTRY_BEGIN, .time = manifest->time, .term = manifest->term};
	int error;

	memcpy(entry.epoch, manifest->epoch, XB_FLEET_ID);
	memcpy(entry.publisher, manifest->maker, XB_FLEET_ID);
	memcpy(entry.snapshot, manifest->id, XB_FLEET_ID);
	error = logentry_write(&entry, &fleet->key, manifest->position, none, bytes, size);
	memcpy(chain, entry.chain, MAC_BYTES);
	return error;
}

/* The snapshot is the state at the entry that begins the log. */
static int set_begin(const struct fleet *fleet, struct manifest *manifest)
{
	uint64_t end = fleet->log.any ? fleet->log.end : 0, here = fleet->view.fleet.position;
	uint8_t *bytes = NULL;
	size_t size;
	int error;

	if (manifest->term <= fleet->log.term)
		manifest->term = fleet->log.term + 1;
	manifest->position = (end > here ? end : here) + 1;
	if (getrandom(manifest->epoch, XB_FLEET_ID, 0) != XB_FLEET_ID)
		return xb_system_error(errno, "no random numbers");
	error = write_entry(fleet, manifest, &bytes, &size, manifest->chain);
	free(bytes);
	return error;
}

/* --- one of the present log --- */

/* The log is not needed up to the snapshot before this one, nor are its chunks for long. */
static void clean_up(struct fleet *fleet)
{
	const struct manifest *former = fleet->snapshots.former;
	const struct manifest *manifest = fleet->snapshots.manifest;
	char id[ID_TEXT];

	if (!former || !memcmp(former->id, manifest->id, XB_FLEET_ID))
		return;
	if (!memcmp(former->epoch, manifest->epoch, XB_FLEET_ID) &&
	    former->position <= manifest->position) {
		struct request trim = {0};

		request_words(&trim, "XTRIM %slog MINID %" PRIu64 "-0", fleet->prefix,
			      former->position);
		tell(fleet, &trim, ignore);
	}
	for (size_t i = 0; i < former->chunk_count; i++) {
		struct request expire = {0};

		request_words(&expire, "EXPIRE %schunk:%s:%zu %d", fleet->prefix,
			      id_format(former->id, id), i, KEEP);
		tell(fleet, &expire, ignore);
	}
}

static void on_set(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;

	if (!fleet->snapshots.manifest)
		return;
	if (!is_ok(reply)) {
		fail_reply(fleet, reply);
		return;
	}
	clean_up(fleet);
	end_well(fleet);
}

static void send_manifest(struct fleet *fleet)
{
	struct fleet_snapshots *snapshots = &fleet->snapshots;
	const struct manifest *former = snapshots->former;
	struct request request = {0};
	uint8_t *bytes = NULL;
	size_t size;

	snapshots->manifest->before =
		former && !memcmp(former->epoch, snapshots->manifest->epoch, XB_FLEET_ID)
			? former->position
			: 0;
	if (manifest_write(snapshots->manifest, &fleet->key, &bytes, &size)) {
		fail(fleet, xb_error_message());
		return;
	}
	request_words(&request, "SET %ssnapshot", fleet->prefix);
	request_bytes(&request, bytes, size);
	tell(fleet, &request, on_set);
	free(bytes);
}

/* --- chunks --- */

static void send_chunk(struct fleet *fleet);

static void on_chunk(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;

	if (!fleet->snapshots.manifest)
		return;
	if (!is_ok(reply)) {
		fail_reply(fleet, reply);
		return;
	}
	fleet->snapshots.next++;
	send_chunk(fleet);
}

static void keep_lease(struct fleet *fleet)
{
	struct request request = {0};

	if (agent_clock() < fleet->snapshots.leased + RENEW)
		return;
	fleet->snapshots.leased = agent_clock();
	request_words(&request, "PEXPIRE %slease %d", fleet->prefix, LEASE);
	tell(fleet, &request, ignore);
}

static void send_chunk(struct fleet *fleet)
{
	struct fleet_snapshots *snapshots = &fleet->snapshots;
	const struct manifest *manifest = snapshots->manifest;
	struct request request = {0};
	char id[ID_TEXT], *bytes;
	size_t size;

	if (snapshots->next == manifest->chunk_count) {
		if (snapshots->begins)
			send_begin(fleet);
		else
			send_manifest(fleet);
		return;
	}
	size = manifest->chunks[snapshots->next].size;
	bytes = malloc(size ?: 1);
	if (!bytes || TEMP_FAILURE_RETRY(read(snapshots->chunks, bytes, size)) != (ssize_t)size) {
		free(bytes);
		fail(fleet, "the chunks cannot be read");
		return;
	}
	request_words(&request, "SET %schunk:%s:%zu", fleet->prefix, id_format(manifest->id, id),
		      snapshots->next);
	request_bytes(&request, bytes, size);
	tell(fleet, &request, on_chunk);
	free(bytes);
	keep_lease(fleet);
}

/* --- the child --- */

static int make(const struct fleet *fleet, struct manifest *manifest)
{
	const struct fleet_snapshots *snapshots = &fleet->snapshots;
	struct xb_store *store;
	struct xb_txn *txn;
	int error = xb_store_begin_reading(fleet->agent->paths.state, &store, &txn);

	if (!error)
		error = snapshot_make(txn, &fleet->key, snapshots->begins, snapshots->chunks,
				      manifest);
	xb_store_end_reading(store, txn);
	return error;
}

/* Leaves the manifest, or why there is none, in the file `answer`. */
static _Noreturn void work(const struct fleet *fleet)
{
	struct manifest *manifest = calloc(1, sizeof(*manifest));
	uint8_t *bytes = NULL;
	size_t size = 0;
	int error = manifest ? make(fleet, manifest) : xb_out_of_memory();

	if (error == -EAGAIN)
		_exit(NOT_YET);
	if (!error && fleet->snapshots.begins)
		error = set_begin(fleet, manifest);
	if (!error)
		error = manifest_write(manifest, &fleet->key, &bytes, &size);
	if (!error && write(fleet->snapshots.answer, bytes, size) == (ssize_t)size)
		_exit(0);
	dprintf(fleet->snapshots.answer, "%s", xb_error_message());
	_exit(1);
}

/* With a NUL behind it. */
static char *read_answer(int fd, size_t *size)
{
	struct stat about;
	char *bytes;

	if (fd < 0 || fstat(fd, &about))
		return NULL;
	*size = (size_t)about.st_size;
	bytes = calloc(1, *size + 1);
	if (bytes && pread(fd, bytes, *size, 0) != (ssize_t)*size) {
		free(bytes);
		bytes = NULL;
	}
	return bytes;
}

static void take(struct fleet *fleet, const char *answer, size_t size)
{
	struct fleet_snapshots *snapshots = &fleet->snapshots;
	uint8_t chain[MAC_BYTES];
	int error;

	snapshots->manifest = calloc(1, sizeof(*snapshots->manifest));
	error = snapshots->manifest ? manifest_read(answer, size, &fleet->key, snapshots->manifest)
				    : xb_out_of_memory();
	if (!error && snapshots->begins)
		error = write_entry(fleet, snapshots->manifest, &snapshots->entry,
				    &snapshots->entry_size, chain);
	if (!error && lseek(snapshots->chunks, 0, SEEK_SET) < 0)
		error = xb_system_error(errno, "cannot read the chunks");
	if (error)
		fail(fleet, xb_error_message());
	else
		send_chunk(fleet);
}

static int on_worked(sd_event_source *source, const siginfo_t *info, void *context)
{
	struct fleet *fleet = context;
	struct fleet_snapshots *snapshots = &fleet->snapshots;
	size_t size = 0;
	char *answer = read_answer(snapshots->answer, &size);

	(void)source;
	snapshots->worker = sd_event_source_disable_unref(snapshots->worker);
	snapshots->child = 0;
	snapshots->next = 0;
	if (info->si_code == CLD_EXITED && info->si_status == NOT_YET) {
		give_back(fleet);
		snapshots_stop(fleet);
		snapshots->due = agent_clock() + FLEET_SECOND;
	} else if (info->si_code != CLD_EXITED || info->si_status || !answer) {
		fail(fleet, answer && *answer ? answer : "its process was ended");
	} else {
		take(fleet, answer, size);
	}
	free(answer);
	return 0;
}

static void start_work(struct fleet *fleet)
{
	struct fleet_snapshots *snapshots = &fleet->snapshots;

	snapshots->chunks = memfd_create("chunks", MFD_CLOEXEC);
	snapshots->answer = memfd_create("manifest", MFD_CLOEXEC);
	if (snapshots->chunks < 0 || snapshots->answer < 0) {
		fail(fleet, "no memory for it");
		return;
	}
	snapshots->child = agent_fork(fleet->agent);
	if (!snapshots->child)
		work(fleet);
	if (snapshots->child < 0 ||
	    sd_event_add_child(fleet->agent->loop, &snapshots->worker, snapshots->child, WEXITED,
			       on_worked, fleet) < 0)
		fail(fleet, "no process can be started");
}

/* --- the lease --- */

/* Of the former one, which counts only if this host's key made it. */
static void on_former(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;
	struct fleet_snapshots *snapshots = &fleet->snapshots;
	uint64_t now = (uint64_t)fleet_time(), age = 0;

	if (!snapshots->busy || snapshots->child || snapshots->manifest)
		return;
	free_manifest(&snapshots->former);
	if (reply->kind == REPLY_STRING) {
		snapshots->former = calloc(1, sizeof(*snapshots->former));
		if (snapshots->former &&
		    manifest_read(reply->text, reply->size, &fleet->key, snapshots->former))
			free_manifest(&snapshots->former);
	} else if (reply->kind != REPLY_NIL) {
		fail_reply(fleet, reply);
		return;
	}
	if (snapshots->former && snapshots->former->time / 1000 < now)
		age = now - snapshots->former->time / 1000;
	if (!snapshots->begins && snapshots->former && age < fleet->config->snapshot_every &&
	    snapshots->changes < CHANGES_MOST &&
	    !memcmp(snapshots->former->epoch, fleet->view.fleet.epoch, XB_FLEET_ID)) {
		give_back(fleet);
		snapshots_stop(fleet);
		plan(fleet, age);
		return;
	}
	start_work(fleet);
}

static void on_lease(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;
	struct fleet_snapshots *snapshots = &fleet->snapshots;
	struct request request = {0};

	if (!snapshots->busy)
		return;
	if (reply->kind == REPLY_NIL) {
		bool begins = snapshots->begins;

		snapshots_stop(fleet);
		snapshots->due = agent_clock() + RETRY;
		if (begins) {
			fleet_enter(fleet, FLEET_WAITING, "another host begins a log");
			fleet_then(fleet, FLEET_SECOND, reading_check);
		}
		return;
	}
	if (!is_ok(reply)) {
		fail_reply(fleet, reply);
		return;
	}
	snapshots->leased = agent_clock();
	request_words(&request, "GET %ssnapshot", fleet->prefix);
	tell(fleet, &request, on_former);
}

static void start(struct fleet *fleet, bool begins)
{
	struct request request = {0};
	char id[ID_TEXT];

	snapshots_stop(fleet);
	fleet->snapshots.busy = true;
	fleet->snapshots.begins = begins;
	request_words(&request, "SET %slease %s NX PX %d", fleet->prefix,
		      id_format(fleet->view.fleet.host, id), LEASE);
	tell(fleet, &request, on_lease);
}

void snapshots_begin(struct fleet *fleet)
{
	if (!fleet->writable) {
		fleet_enter(fleet, FLEET_WAITING, "no connection to begin a log");
		fleet_then(fleet, FLEET_SECOND, reading_check);
		return;
	}
	fleet_enter(fleet, FLEET_BEGINNING, NULL);
	start(fleet, true);
}

void snapshots_try(struct fleet *fleet)
{
	struct fleet_snapshots *snapshots = &fleet->snapshots;
	uint32_t first =
		fleet->config->snapshot_every < FIRST ? fleet->config->snapshot_every : FIRST;

	if (!snapshots->due)
		snapshots->due = agent_clock() + first * FLEET_SECOND / 2 +
				 fleet_random() % (first * FLEET_SECOND / 2);
	if (snapshots->busy || !fleet->writable || fleet->append.busy || fleet->view.waiting ||
	    (agent_clock() < snapshots->due && snapshots->changes < CHANGES_MOST) ||
	    !reading_is_caught_up(fleet) || !fleet_has_all(fleet))
		return;
	start(fleet, false);
}
