/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a snapshot: a process of its own reads the store, and the loop sends what it wrote, chunk
 * by chunk. The log before the snapshot before it is not needed any more.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/faultpoint.h"
#include "bloomd/base/log.h"
#include "bloomd/fleet/parts.h"
#include "bloomd/fleet/snapshot.h"
#include "engine/fleethosts.h"

#define NOT_YET 2 /* exit code of the child: the outbox is not empty */

/* --- one of the present log --- */

/* The log is not needed up to the snapshot before this one. */
static void trim(struct fleet *fleet)
{
	const struct manifest *former = fleet->snapshots.former;
	const struct manifest *manifest = fleet->snapshots.manifest;
	struct request request = {0};

	if (!former || memcmp(former->epoch, manifest->epoch, XB_FLEET_ID) != 0 ||
	    former->position > manifest->position)
		return;
	request_words(&request, "XTRIM %slog MINID %" PRIu64 "-0", fleet->prefix, former->position);
	snapshots_tell(fleet, &request, snapshots_ignore);
}

static void on_put(struct fleet *fleet, enum fleet_appended outcome)
{
	if (!fleet->snapshots.manifest)
		return;
	if (outcome == FLEET_OVERTAKEN) {
		snapshots_fail(fleet, "it took longer than the lease");
		return;
	}
	if (outcome == FLEET_NOT_APPENDED) {
		snapshotclean_failed(fleet, fleet->append.why);
		return;
	}
	log_info("fleet: made a snapshot at %" PRIu64 " of the log",
		 fleet->snapshots.manifest->position);
	trim(fleet);
	snapshotclean_after(fleet, snapshots_made);
}

/* Of the last one that does not stand where this one does, as it would if nothing had changed. */
static uint64_t position_before(const struct manifest *former, const struct manifest *manifest)
{
	if (!former || memcmp(former->epoch, manifest->epoch, XB_FLEET_ID) != 0)
		return 0;
	if (former->position < manifest->position)
		return former->position;
	return former->before < manifest->position ? former->before : 0;
}

void snapshotsend_put(struct fleet *fleet)
{
	struct fleet_snapshots *snapshots = &fleet->snapshots;
	struct fleet_append *append = &fleet->append;

	if (!snapshots->sent || append->busy)
		return;
	snapshots->sent = false;
	snapshots->manifest->before = position_before(snapshots->former, snapshots->manifest);
	if (manifest_write(snapshots->manifest, &fleet->key, &append->manifest,
			   &append->manifest_size))
		snapshots_fail(fleet, xb_error_message());
	else
		publishing_append(fleet, on_put);
}

/* --- chunks and their Bloom digests, in turn --- */

static void send_part(struct fleet *fleet);

static void on_part(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;

	if (!fleet->snapshots.manifest)
		return;
	if (!snapshots_is_ok(reply)) {
		char why[200];

		snapshots_why(reply, why);
		snapshotclean_failed(fleet, why);
		return;
	}
	fleet->snapshots.next++;
	send_part(fleet);
}

/* All chunks are on the server. Somebody else may have made one if the lease was over. */
static void finish(struct fleet *fleet)
{
	double set = fabs(clock_ahead() - fleet->snapshots.clock);

	xb_fault("fleet-chunks");
	if (!snapshots_has_lease(fleet)) {
		snapshots_fail(fleet, "it took longer than the lease");
	} else if (set > XB_FLEET_SKEW) {
		snapshots_fail(fleet, "the clock of this host was set meanwhile");
	} else if (fleet->snapshots.begins) {
		beginning_append(fleet);
	} else {
		fleet->snapshots.sent = true;
		snapshotsend_put(fleet);
	}
}

static void send_part(struct fleet *fleet)
{
	struct fleet_snapshots *snapshots = &fleet->snapshots;
	const struct manifest *manifest = snapshots->manifest;
	size_t place = snapshots->next / 2, size;
	bool bloom = snapshots->next % 2;
	struct request request = {0};
	char id[ID_TEXT], *bytes;

	if (place == manifest->chunk_count) {
		finish(fleet);
		return;
	}
	size = bloom ? manifest->chunks[place].bloom_size : manifest->chunks[place].size;
	bytes = malloc(size ?: 1);
	if (!bytes || TEMP_FAILURE_RETRY(read(bloom ? snapshots->blooms : snapshots->chunks, bytes,
					      size)) != (ssize_t)size) {
		free(bytes);
		snapshots_fail(fleet, "the chunks cannot be read");
		return;
	}
	request_words(&request, "SET %s%s:%s:%zu", fleet->prefix, bloom ? "bloom" : "chunk",
		      id_format(manifest->id, id), place);
	request_bytes(&request, bytes, size);
	snapshots_tell(fleet, &request, on_part);
	free(bytes);
	snapshots_keep_lease(fleet);
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
				      snapshots->blooms, manifest);
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

	xb_fault("fleet-child");
	if (error == -EAGAIN)
		_exit(NOT_YET);
	if (!error && fleet->snapshots.begins)
		error = beginning_place(fleet, manifest);
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
		error = beginning_entry(fleet, snapshots->manifest, &snapshots->entry,
					&snapshots->entry_size, chain);
	if (!error && (lseek(snapshots->chunks, 0, SEEK_SET) < 0 ||
		       lseek(snapshots->blooms, 0, SEEK_SET) < 0))
		error = xb_system_error(errno, "cannot read the chunks");
	if (error)
		snapshots_fail(fleet, xb_error_message());
	else
		snapshotclean_before(fleet, send_part);
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
		snapshots_give_back(fleet);
		snapshots_stop(fleet);
		snapshots->due = agent_clock() + FLEET_SECOND;
	} else if (info->si_code != CLD_EXITED || info->si_status || !answer) {
		snapshots_fail(fleet, answer && *answer ? answer : "its process was ended");
	} else {
		take(fleet, answer, size);
	}
	free(answer);
	return 0;
}

void snapshotsend_start(struct fleet *fleet)
{
	struct fleet_snapshots *snapshots = &fleet->snapshots;

	xb_fault("fleet-snapshot");
	snapshots->clock = clock_ahead();
	snapshots->chunks = memfd_create("chunks", MFD_CLOEXEC);
	snapshots->blooms = memfd_create("blooms", MFD_CLOEXEC);
	snapshots->answer = memfd_create("manifest", MFD_CLOEXEC);
	if (snapshots->chunks < 0 || snapshots->blooms < 0 || snapshots->answer < 0) {
		snapshots_fail(fleet, "no memory for it");
		return;
	}
	snapshots->child = agent_fork(fleet->agent);
	if (!snapshots->child)
		work(fleet);
	if (snapshots->child < 0 ||
	    sd_event_add_child(fleet->agent->loop, &snapshots->worker, snapshots->child, WEXITED,
			       on_worked, fleet) < 0)
		snapshots_fail(fleet, "no process can be started");
}
