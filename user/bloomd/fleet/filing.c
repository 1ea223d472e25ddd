/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts each snapshot that the server has into a directory, as files for hosts that may not reach
 * the server, whoever made it. The loop gets the chunks; a process of its own writes the files,
 * because it waits for the disk.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "bloomd/base/delay.h"
#include "bloomd/base/log.h"
#include "bloomd/base/scratchfile.h"
#include "bloomd/fleet/chunkfile.h"
#include "bloomd/fleet/parts.h"
#include "bloomd/fleet/snapshotfiles.h"
#include "engine/tallies.h"

#define RETRY	  (15 * FLEET_SECOND)
#define LOOK_MOST 30 /* seconds between two looks at the server */
#define KEEP_MOST                                                                                  \
	300	/* seconds: who reads a snapshot has at least so long, until it is replaced        \
		 */
#define WHY 256 /* bytes */

/* --- its end --- */

void filing_stop(struct fleet *fleet)
{
	struct fleet_filing *filing = &fleet->filing;

	sd_event_source_disable_unref(filing->worker);
	filing->worker = NULL;
	if (filing->child > 0) {
		kill(filing->child, SIGKILL);
		waitpid(filing->child, NULL, 0);
	}
	filing->child = 0;
	if (filing->why)
		munmap(filing->why, WHY);
	filing->why = NULL;
	if (filing->manifest)
		manifest_free(filing->manifest);
	free(filing->manifest);
	filing->manifest = NULL;
	if (filing->chunks >= 0)
		close(filing->chunks);
	filing->chunks = -1;
	filing->busy = false;
}

/* What is being written needs no server. */
void filing_disconnect(struct fleet *fleet)
{
	if (!fleet->filing.child)
		filing_stop(fleet);
}

static void count(const struct fleet *fleet, const char *outcome)
{
	xb_tally_add(&fleet->agent->paths, XB_TALLY_FLEET_FILES, outcome, NULL, 1);
}

static void fail(struct fleet *fleet, const char *why)
{
	char text[WHY];

	xb_utf8_show(why, strlen(why) + 1, text, sizeof(text));
	filing_stop(fleet);
	count(fleet, "not-written");
	if (!fleet->filing.complained)
		xb_warning("fleet: cannot write the snapshot as files: %s; those of before stay",
			   text);
	fleet->filing.complained = true;
	fleet->filing.due = agent_clock() + RETRY;
}

/* Nothing is to be written for so many seconds, or half of the time from one snapshot to the next;
 * never twice in a second, because the ETag of many servers is made of time and size. */
static void rest(struct fleet *fleet, uint32_t most)
{
	uint64_t half = delay_most(fleet->config->snapshot_every / 2, 1);

	filing_stop(fleet);
	fleet->filing.due = agent_clock() + delay_least(half, most) * FLEET_SECOND;
}

/* --- the files --- */

static _Noreturn void work(const struct fleet *fleet)
{
	const struct fleet_filing *filing = &fleet->filing;

	if (!snapshotfiles_write(fleet->config->snapshot_dir, filing->manifest, &fleet->key,
				 filing->chunks))
		_exit(0);
	snprintf(filing->why, WHY, "%s", xb_error_message());
	_exit(1);
}

static void end_well(struct fleet *fleet)
{
	struct fleet_filing *filing = &fleet->filing;

	count(fleet, "written");
	fleet->files_time = filing->manifest->time / 1000;
	if (filing->complained)
		log_info("fleet: snapshots are written as files again");
	filing->complained = filing->behind = false;
	rest(fleet, KEEP_MOST);
	reporting_save(fleet);
}

static int on_worked(sd_event_source *source, const siginfo_t *info, void *context)
{
	struct fleet *fleet = context;
	struct fleet_filing *filing = &fleet->filing;
	char why[WHY] = "its process was ended";

	(void)source;
	filing->worker = sd_event_source_disable_unref(filing->worker);
	filing->child = 0;
	if (info->si_code == CLD_EXITED && !info->si_status) {
		end_well(fleet);
		return 0;
	}
	if (*filing->why)
		snprintf(why, sizeof(why), "%s", filing->why);
	fail(fleet, why);
	return 0;
}

static void start_work(struct fleet *fleet)
{
	struct fleet_filing *filing = &fleet->filing;

	filing->why = mmap(NULL, WHY, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (filing->why == MAP_FAILED) {
		filing->why = NULL;
		fail(fleet, "out of memory");
		return;
	}
	filing->child = agent_fork(fleet->agent);
	if (!filing->child)
		work(fleet);
	if (filing->child < 0 || sd_event_add_child(fleet->agent->loop, &filing->worker,
						    filing->child, WEXITED, on_worked, fleet) < 0)
		fail(fleet, "no process can be started");
}

/* --- chunks --- */

static void ask_chunk(struct fleet *fleet);

static void on_chunk(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;
	struct fleet_filing *filing = &fleet->filing;

	if (!filing->manifest || filing->child)
		return;
	if (reply->kind == REPLY_NIL)
		fail(fleet, "a part of it is not there any more");
	else if (reply->kind != REPLY_STRING)
		fail(fleet, "the server answers with another kind than asked for");
	else if (chunk_store(filing->manifest, filing->next, &fleet->key, filing->chunks,
			     reply->text, reply->size))
		fail(fleet, xb_error_message());
	else {
		filing->next++;
		ask_chunk(fleet);
	}
}

static void ask_chunk(struct fleet *fleet)
{
	struct fleet_filing *filing = &fleet->filing;
	struct request request = {0};
	char id[ID_TEXT];

	if (filing->next == filing->manifest->chunk_count) {
		start_work(fleet);
		return;
	}
	request_words(&request, "GET %schunk:%s:%zu", fleet->prefix,
		      id_format(filing->manifest->id, id), filing->next);
	snapshots_tell(fleet, &request, on_chunk);
}

/* --- the manifest --- */

/* The files do not go back: hosts that have taken them would not either. */
static void meet_older(struct fleet *fleet)
{
	if (!fleet->filing.behind)
		xb_warning("fleet: the server's snapshot is older than the files in %s, which "
			   "stay; to begin anew, remove them",
			   fleet->config->snapshot_dir);
	fleet->filing.behind = true;
	rest(fleet, LOOK_MOST);
}

/* Whether it is one that the directory does not have. */
static bool is_new(struct fleet *fleet, const struct manifest *manifest)
{
	struct manifest *former = calloc(1, sizeof(*former));
	bool found = former && snapshotfiles_read(fleet->config->snapshot_dir, &fleet->key, former);
	bool same = found && !memcmp(former->id, manifest->id, XB_FLEET_ID);
	bool older = found && manifest_is_before(manifest, former->term, former->position);

	if (found)
		fleet->files_time = former->time / 1000;
	if (former)
		manifest_free(former);
	free(former);
	if (same)
		rest(fleet, LOOK_MOST);
	else if (older)
		meet_older(fleet);
	return !same && !older;
}

static void take(struct fleet *fleet)
{
	struct fleet_filing *filing = &fleet->filing;

	if (!is_new(fleet, filing->manifest))
		return;
	filing->next = 0;
	filing->chunks = scratchfile_open(fleet->agent->paths.state, "chunks");
	if (filing->chunks < 0)
		fail(fleet, "no file for the chunks");
	else
		ask_chunk(fleet);
}

static void on_manifest(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;
	struct fleet_filing *filing = &fleet->filing;

	if (!filing->busy || filing->manifest)
		return;
	if (reply->kind == REPLY_NIL) {
		rest(fleet, LOOK_MOST);
		return;
	}
	if (reply->kind != REPLY_STRING) {
		fail(fleet, "the server answers with another kind than asked for");
		return;
	}
	filing->manifest = calloc(1, sizeof(*filing->manifest));
	if (!filing->manifest)
		fail(fleet, "out of memory");
	else if (manifest_read(reply->text, reply->size, &fleet->key, filing->manifest))
		fail(fleet, xb_error_message());
	else
		take(fleet);
}

void filing_try(struct fleet *fleet)
{
	struct request request = {0};

	if (!fleet->config->snapshot_dir || fleet->filing.busy || !fleet->writable ||
	    agent_clock() < fleet->filing.due)
		return;
	fleet->filing.busy = true;
	request_words(&request, "GET %ssnapshot", fleet->prefix);
	snapshots_tell(fleet, &request, on_manifest);
}
