/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Brings the store to the state of a snapshot that was fetched, and on to the end of the log, in
 * one transaction. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "bloomd/base/log.h"
#include "bloomd/fleet/parts.h"
#include "bloomd/fleet/snapshot.h"

#define HELD_RETRY (60 * FLEET_SECOND)
/* Bytes of what is told of a list, at most, and of how many more there are. */
#define SHRINK_MOST (64 + 100)

/* --- the transaction --- */

struct taken {
	struct snapshot_result result;
	struct replayed replayed;
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

/* Snapshots are renewed while an operator reads what one would do: he answers for what is in it. */
static bool has_held_lists(const struct held_snapshot *held, const struct manifest *manifest)
{
	size_t same = 0;

	while (same < held->list_count && same < manifest->list_count &&
	       !strcmp(held->lists[same].name, manifest->lists[same].name) &&
	       held->lists[same].count == manifest->lists[same].count &&
	       xb_digest_equals(&held->lists[same].digest, &manifest->lists[same].digest))
		same++;
	return held->known && same == held->list_count && same == manifest->list_count;
}

static void remember_held(struct held_snapshot *held, const struct manifest *manifest)
{
	held->known = true;
	memcpy(held->id, manifest->id, sizeof(held->id));
	memcpy(held->lists, manifest->lists, sizeof(held->lists));
	held->list_count = manifest->list_count;
}

static bool is_accepted(const struct fleet_resync *resync)
{
	return resync->accept && has_held_lists(&resync->held, resync->manifest);
}

static int take(struct xb_writer *writer, struct fleet *fleet, void *result)
{
	const struct snapshot_terms terms = {.manifest = fleet->resync.manifest,
					     .chunks = fleet->resync.chunks,
					     .key = &fleet->key,
					     .factor = fleet->config->factor,
					     .accept = is_accepted(&fleet->resync)};
	struct taken *taken = result;
	int error = snapshot_take(writer, &terms, &taken->result);

	if (!error && taken->result.outcome == SNAPSHOT_HELD)
		return BIGWRITE_GIVEN_UP;
	if (!error)
		error = mark_joined(writer->txn);
	return error ? error : replay_apply(writer, fleet, &taken->replayed);
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
	const struct held_snapshot *held = &fleet->resync.held;

	return !fleet->resync.wanted && held->known &&
	       !memcmp(held->id, manifest->id, sizeof(held->id));
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

static void hold(struct fleet *fleet, const struct snapshot_result *result)
{
	struct fleet_resync *resync = &fleet->resync;
	char told[sizeof(fleet->message)] = "", text[sizeof(fleet->message)];

	tell_shrinks(resync, told, sizeof(told));
	memcpy(resync->shrinks, result->held, sizeof(resync->shrinks));
	resync->shrink_count = result->held_count;
	tell_shrinks(resync, text, sizeof(text));
	if (!has_held_lists(&resync->held, resync->manifest) || strcmp(told, text) != 0)
		xb_warning("fleet: %s: nothing is changed until an operator accepts it", text);
	remember_held(&resync->held, resync->manifest);
	resync->wanted = resync->accept = false;
	resynctake_hold(fleet);
}

static const char *tell_partial(const struct snapshot_result *result)
{
	if (!result->partial)
		return "";
	if (result->away)
		return "; nothing is removed, since this host was away for long";
	return result->given ? "; what the snapshot lacks is published again"
			     : "; nothing is removed";
}

static void end_well(struct fleet *fleet, const struct snapshot_result *result)
{
	log_info("fleet: resynced (%s): %" PRIu64 " entries added, %" PRIu64 " renewed, %" PRIu64
		 " removed, %" PRIu64 " kept%s",
		 fleet->resync.cause, result->added, result->renewed, result->removed, result->kept,
		 tell_partial(result));
	fleet->resync.wanted = fleet->resync.accept = fleet->resync.expired = false;
	snapshots_know(&fleet->snapshots, fleet->resync.manifest);
	fleet->resync.held.known = false;
	resync_stop(fleet);
	fleet_works(fleet);
	if (fleet->config->snapshot_url)
		loading_taken(fleet);
	else
		reading_check(fleet);
}

static void on_taken(struct fleet *fleet, const void *result, const char *why)
{
	const struct taken *taken = result;

	if (why) {
		resync_fail(fleet, why);
	} else if (taken->result.outcome == SNAPSHOT_HELD) {
		hold(fleet, &taken->result);
	} else {
		end_well(fleet, &taken->result);
		replay_count(fleet, &taken->replayed);
	}
}

void resynctake_start(struct fleet *fleet)
{
	const char *why;

	fleet->resync.missing = 0;
	why = bigwrite_start(fleet, take, sizeof(struct taken), on_taken);
	if (why)
		resync_fail(fleet, why);
}
