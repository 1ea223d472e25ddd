/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Brings the store to the state of a snapshot that was fetched: a process of its own makes one
 * transaction of it. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/patience.h"
#include "base/text.h"
#include "bloomd/base/log.h"
#include "bloomd/fleet/parts.h"
#include "bloomd/fleet/snapshot.h"
#include "engine/rotate.h"

#define HELD_RETRY (60 * FLEET_SECOND)
#define PATIENCE   120 /* seconds that the changes wait for other writers */
/* Bytes of what is told of a list, at most, and of how many more there are. */
#define SHRINK_MOST (64 + 100)

struct fleet_taken {
	bool done;
	struct snapshot_result result;
	char message[256];
};

void resynctake_stop(struct fleet_resync *resync)
{
	sd_event_source_disable_unref(resync->worker);
	resync->worker = NULL;
	if (resync->child > 0) {
		kill(resync->child, SIGKILL);
		waitpid(resync->child, NULL, 0);
	}
	resync->child = 0;
	if (resync->taken)
		munmap(resync->taken, sizeof(*resync->taken));
	resync->taken = NULL;
}

/* --- the transaction --- */

struct work {
	struct snapshot_terms terms;
	struct snapshot_result *result;
};

/* Also a followed list that the snapshot does not have is the fleet's now: it has none of it. */
static int mark_joined(struct xb_txn *txn)
{
	struct fleet_list list[XB_SHARES_MAX];
	size_t count, fresh = 0;
	const struct xb_share *shares = xb_shares(txn, &count);
	int error = 0;

	for (size_t i = 0; i < count && fresh < XB_SHARES_MAX; i++) {
		if (!(shares[i].flags & XB_SHARE_FOLLOW) || shares[i].flags & XB_SHARE_JOINED)
			continue;
		memcpy(list[fresh].name, shares[i].list, sizeof(list[fresh].name));
		list[fresh++].flags = shares[i].flags | XB_SHARE_JOINED;
	}
	for (size_t i = 0; !error && i < fresh; i++)
		error = xb_share_set(txn, list[i].name, list[i].flags);
	return error;
}

#define WAS_HELD 1 /* given up */

static int take(struct xb_writer *writer, void *context)
{
	struct work *work = context;
	int error;

	memset(work->result, 0, sizeof(*work->result));
	error = snapshot_take(writer, &work->terms, work->result);
	if (error)
		return error;
	return work->result->outcome == SNAPSHOT_HELD ? WAS_HELD : mark_joined(writer->txn);
}

/* An operator saw what this one would do, and not another. */
static bool is_accepted(const struct fleet_resync *resync)
{
	return resync->accept && !memcmp(resync->held, resync->manifest->id, XB_FLEET_ID);
}

static _Noreturn void work(struct fleet *fleet)
{
	struct fleet_resync *resync = &fleet->resync;
	const struct xb_paths *paths = &fleet->agent->paths;
	struct work work = {.terms = {.manifest = resync->manifest,
				      .chunks = resync->chunks,
				      .key = &fleet->key,
				      .factor = fleet->config->factor,
				      .accept = is_accepted(resync)},
			    .result = &resync->taken->result};
	struct xb_written written = {0};
	int error;

	xb_patience_set(PATIENCE);
	error = xb_write(paths, XB_WRITE_HEAVY, take, &work, &written);
	if (error && error != WAS_HELD)
		snprintf(resync->taken->message, sizeof(resync->taken->message), "%.250s",
			 xb_error_message());
	xb_utf8_clean(resync->taken->message);
	resync->taken->done = !error || error == XB_UNMET || error == WAS_HELD;
	if (!error || error == XB_UNMET)
		xb_write_settle(paths, &written);
	xb_written_free(&written);
	_exit(0);
}

/* --- its end --- */

/* An operator may have said yes meanwhile. */
static void start_again(struct fleet *fleet)
{
	if (fleet->phase == FLEET_HELD)
		resync_start(fleet, NULL);
}

bool resynctake_is_held(const struct fleet *fleet, const struct manifest *manifest)
{
	return !fleet->resync.wanted && !memcmp(fleet->resync.held, manifest->id, XB_FLEET_ID);
}

static void tell_shrinks(const struct fleet_resync *resync, char *text, size_t room)
{
	size_t size = 0;

	for (size_t i = 0; i < resync->shrink_count; i++) {
		const struct snapshot_shrink *shrink = &resync->shrinks[i];

		if (i && room - size < SHRINK_MOST) {
			snprintf(text + size, room - size, ", and %zu more lists",
				 resync->shrink_count - i);
			return;
		}
		size += (size_t)snprintf(
			text + size, room - size,
			"%slist %s would shrink from %" PRIu64 " to %" PRIu64 " entries",
			i ? ", " : "", shrink->list, shrink->before, shrink->after);
	}
}

void resynctake_hold(struct fleet *fleet)
{
	char text[sizeof(fleet->message)];

	tell_shrinks(&fleet->resync, text, sizeof(text));
	resync_stop(fleet);
	fleet_enter(fleet, FLEET_HELD, "%s", text);
	if (fleet->config->snapshot_url)
		loading_held(fleet);
	else
		fleet_then(fleet, HELD_RETRY, start_again);
}

static void hold(struct fleet *fleet)
{
	struct fleet_resync *resync = &fleet->resync;
	const struct snapshot_result *result = &resync->taken->result;
	char text[sizeof(fleet->message)];

	memcpy(resync->shrinks, result->held, sizeof(resync->shrinks));
	resync->shrink_count = result->held_count;
	tell_shrinks(resync, text, sizeof(text));
	if (memcmp(resync->held, resync->manifest->id, XB_FLEET_ID) != 0)
		xb_warning("fleet: %s: nothing is changed until an operator accepts it", text);
	memcpy(resync->held, resync->manifest->id, XB_FLEET_ID);
	resync->wanted = resync->accept = false;
	resynctake_hold(fleet);
}

static const char *tell_partial(const struct snapshot_result *result)
{
	if (!result->partial)
		return "";
	return result->given ? "; what the snapshot lacks is published again"
			     : "; nothing is removed, since this host was away for long";
}

static void end_well(struct fleet *fleet)
{
	const struct snapshot_result *result = &fleet->resync.taken->result;

	log_info("fleet: resynced (%s): %" PRIu64 " entries added, %" PRIu64 " renewed, %" PRIu64
		 " removed, %" PRIu64 " kept%s",
		 fleet->resync.cause, result->added, result->renewed, result->removed, result->kept,
		 tell_partial(result));
	if (*fleet->resync.taken->message)
		xb_warning("fleet: %s", fleet->resync.taken->message);
	fleet->resync.wanted = fleet->resync.accept = fleet->resync.expired = false;
	snapshots_know(&fleet->snapshots, fleet->resync.manifest);
	memset(fleet->resync.held, 0, XB_FLEET_ID);
	resync_stop(fleet);
	fleet_works(fleet);
	if (fleet->config->snapshot_url)
		loading_taken(fleet);
	else
		reading_check(fleet);
}

static int on_worked(sd_event_source *source, const siginfo_t *info, void *context)
{
	struct fleet *fleet = context;
	struct fleet_resync *resync = &fleet->resync;
	char text[256] = "its process was ended";

	(void)source;
	(void)info;
	resync->worker = sd_event_source_disable_unref(resync->worker);
	resync->child = 0;
	if (!resync->taken->done) {
		if (*resync->taken->message)
			snprintf(text, sizeof(text), "%s", resync->taken->message);
		resync_fail(fleet, text);
	} else if (resync->taken->result.outcome == SNAPSHOT_HELD) {
		hold(fleet);
	} else {
		end_well(fleet);
	}
	return 0;
}

void resynctake_start(struct fleet *fleet)
{
	struct fleet_resync *resync = &fleet->resync;

	resync->missing = 0;
	resync->taken = mmap(NULL, sizeof(*resync->taken), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (resync->taken == MAP_FAILED) {
		resync->taken = NULL;
		resync_fail(fleet, "out of memory");
		return;
	}
	resync->child = agent_fork(fleet->agent);
	if (!resync->child)
		work(fleet);
	if (resync->child < 0 || sd_event_add_child(fleet->agent->loop, &resync->worker,
						    resync->child, WEXITED, on_worked, fleet) < 0)
		resync_fail(fleet, "no process can be started");
}
