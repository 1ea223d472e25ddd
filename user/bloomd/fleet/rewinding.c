/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The server has lost the last entries of the log, or has others in their place: goes back to the
 * last entry that both have, and publishes what was behind it again. What the log has behind it is
 * part of the same write. Such a write is made, too, when entries that were lost come back.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "bloomd/base/log.h"
#include "bloomd/fleet/former.h"
#include "bloomd/fleet/logentry.h"
#include "bloomd/fleet/parts.h"
#include "store/lists.h"
#include "store/logtail.h"
#include "store/membership.h"

#define PAGE  20 /* entries that are compared at once */
#define RETRY (5 * FLEET_SECOND)

/* --- the write --- */

struct rewind {
	uint64_t position; /* of the last entry that both have */
	bool lost;	   /* the store has entries behind it */
	uint64_t again;	   /* changes that wait again */
	uint32_t now;
};

static bool is_same(const struct xb_shared_change *change, const struct xb_membership *member)
{
	return member->expires == change->expires && member->comment_size == change->comment_size &&
	       !memcmp(member->comment, change->comment, change->comment_size);
}

/* What of the change is to be published again: 1; 0: nothing, since the store is no longer as it
 * made it. A put that has expired since is a delete by now, for those who never got it. */
static int what_remains(struct xb_txn *txn, const struct rewind *rewind,
			const struct xb_shared_change *change, struct xb_shared_change *remains)
{
	const struct xb_list *list = xb_list_find(txn, change->list);
	bool over = change->put && change->expires && change->expires <= rewind->now, there;
	struct xb_members members;
	struct xb_membership member;
	int error = xb_members_of(txn, &change->entry, &members);

	if (error && error != -ENOENT)
		return error;
	there = !error && list && xb_members_have(members, list->id, &member);
	*remains = *change;
	if (over)
		*remains = (struct xb_shared_change){.entry = change->entry, .list = change->list};
	if (there)
		return change->put && is_same(change, &member);
	return !remains->put;
}

/* What another has put into a list that is not followed is not in the store. */
static int meet_put(struct xb_txn *txn, const struct xb_share *share,
		    const struct xb_shared_change *change)
{
	int found = change->put && !(share->flags & XB_SHARE_FOLLOW)
			    ? xb_outbox_give_way(txn, change->list, &change->entry, true)
			    : 0;

	return found < 0 ? found : 0;
}

/* Puts of others, too: their publishers may be away for long. */
static int publish_again(struct xb_txn *txn, const struct logentry *entry, bool own,
			 struct rewind *rewind)
{
	int error = 0;

	for (size_t i = 0; !error && i < entry->changes.count; i++) {
		const struct xb_shared_change *change = &entry->changes.item[i];
		const struct xb_share *share = xb_share_of(txn, change->list);
		struct xb_shared_change remains;
		int again;

		if (!share || !(share->flags & XB_SHARE_PUBLISH))
			continue;
		again = what_remains(txn, rewind, change, &remains);
		if (again > 0 && (own || remains.put))
			again = xb_outbox_put_again(txn, &remains,
						    own ? XB_AGAIN_OWN : XB_AGAIN_ANOTHERS);
		else if (again >= 0)
			again = own ? 0 : meet_put(txn, share, change);
		error = again < 0 ? again : 0;
		rewind->again += again > 0;
	}
	return error;
}

/* Its publisher finds by the mark that the log does not have it, also if he asks a snapshot. */
static int lower_mark(struct xb_txn *txn, const struct logentry *entry)
{
	uint64_t mark;
	int error = xb_fleet_mark_get(txn, entry->publisher, &mark);

	if (error || !entry->first || mark < entry->first)
		return error;
	return xb_fleet_mark_set(txn, entry->publisher, entry->first - 1);
}

static int lose(struct xb_txn *txn, const struct xb_fleet *fleet, const struct logentry *entry,
		struct rewind *rewind)
{
	bool own = !memcmp(entry->publisher, fleet->host, XB_FLEET_ID);
	int error = lower_mark(txn, entry);

	return error ? error : publish_again(txn, entry, own, rewind);
}

static int read_tail(struct xb_txn *txn, uint64_t term, uint64_t position, struct logentry *entry)
{
	const void *bytes;
	size_t size;
	int found = xb_logtail_get(txn, term, position, &bytes, &size);

	if (found <= 0)
		return found;
	found = logentry_read(bytes, size, entry);
	return found ? found : 1;
}

static int publish_lost(struct xb_txn *txn, const struct xb_fleet *fleet, struct rewind *rewind)
{
	int found = 1;

	for (uint64_t at = rewind->position + 1; found > 0 && at <= fleet->position; at++) {
		struct logentry entry = {0};
		int error = 0;

		found = read_tail(txn, fleet->term, at, &entry);
		if (found > 0)
			error = lose(txn, fleet, &entry, rewind);
		logentry_free(&entry);
		if (error)
			return error;
	}
	return found < 0 ? found : 0;
}

static int go_back(struct xb_writer *writer, struct rewind *rewind)
{
	struct logentry entry = {0};
	struct xb_fleet fleet;
	int found = xb_fleet_get(writer->txn, &fleet), error;

	if (found <= 0)
		return found ?: xb_input_error("this host is in no fleet");
	rewind->lost = fleet.position != rewind->position;
	if (!rewind->lost)
		return 0;
	found = read_tail(writer->txn, fleet.term, rewind->position, &entry);
	if (found <= 0) {
		logentry_free(&entry);
		return found ?: xb_input_error("the entry is no longer known");
	}
	error = publish_lost(writer->txn, &fleet, rewind);
	if (!error)
		error = former_cut(writer->txn, fleet.term, rewind->position);
	fleet.position = rewind->position;
	memcpy(fleet.chain, entry.chain, XB_FLEET_CHAIN);
	logentry_free(&entry);
	return error ?: xb_fleet_put(writer->txn, &fleet);
}

struct rewound {
	bool lost; /* it went back */
	uint64_t again;
	struct replayed replayed;
};

static int body(struct xb_writer *writer, struct fleet *fleet, void *result)
{
	struct rewind rewind = {.position = fleet->replay.from, .now = writer->now};
	struct rewound *rewound = result;
	int error = go_back(writer, &rewind);

	rewound->lost = rewind.lost;
	rewound->again = rewind.again;
	return error ? error : replay_apply(writer, fleet, &rewound->replayed);
}

static void cannot_rewind(struct fleet *fleet, const char *why)
{
	char text[200];

	snprintf(text, sizeof(text), "%s", why);
	resync_stop(fleet);
	fleet_fail(fleet, RETRY, "cannot go back in the log: %s", text);
}

static void on_rewound(struct fleet *fleet, const void *result, const char *why)
{
	const struct rewound *rewound = result;
	uint64_t position = fleet->replay.from;

	if (why) {
		cannot_rewind(fleet, why);
		return;
	}
	resync_stop(fleet);
	replay_count(fleet, &rewound->replayed);
	if (rewound->lost)
		xb_warning("fleet: the server has lost entries behind %" PRIu64
			   " of the log: %" PRIu64
			   " changes that this host has are published again",
			   position, rewound->again);
	reading_check(fleet);
}

static void write_it(struct fleet *fleet)
{
	const char *why = bigwrite_start(fleet, body, sizeof(struct rewound), on_rewound);

	if (why)
		cannot_rewind(fleet, why);
}

/* --- the search --- */

/* 1: the store's tail has the same entry; 0: another, or none. *below: nothing further back can be
 * there. */
static int is_common(struct xb_txn *txn, uint64_t term, const struct stream_entry *entry,
		     bool *below)
{
	uint64_t first, last;
	const void *bytes;
	size_t size;
	int found = xb_logtail_span(txn, term, &first, &last);

	if (found)
		return found;
	*below = !first || entry->before < first - 1;
	if (entry->position == STREAM_NOWHERE)
		return 0;
	found = xb_logtail_get(txn, term, entry->position, &bytes, &size);
	if (found <= 0)
		return found;
	return size == entry->size && !memcmp(bytes, entry->bytes, size);
}

/* entry: the last one that was looked at. */
static int search(const struct fleet *fleet, const struct server_reply *page,
		  struct stream_entry *entry, bool *below)
{
	struct xb_store *store;
	struct xb_txn *txn;
	int found = xb_store_begin_reading(fleet->agent->paths.state, &store, &txn);

	for (size_t i = 0; !found && !*below && i < page->size; i++) {
		stream_entry_read(&page->node[i], entry);
		found = is_common(txn, fleet->view.fleet.term, entry, below);
	}
	xb_store_end_reading(store, txn);
	return found;
}

/* The tail does not reach back so far. */
static void give_up(struct fleet *fleet)
{
	if (fleet_has_all(fleet)) {
		snapshots_begin(fleet);
		return;
	}
	fleet_enter(fleet, FLEET_WAITING,
		    "the log is not the one that this host knows, and only a host that publishes "
		    "and follows all lists of the fleet can begin another");
	fleet_then(fleet, RETRY, reading_check);
}

/* The bytes of the entry are those of the tail, so it can be read. */
static void rewind_to(struct fleet *fleet, const struct stream_entry *common)
{
	struct logentry entry = {0};

	if (logentry_read(common->bytes, common->size, &entry))
		cannot_rewind(fleet, xb_error_message());
	else
		replay_fetch(fleet,
			     &(struct replay_span){.from = common->position,
						   .end = fleet->log.end,
						   .chain = entry.chain},
			     write_it);
	logentry_free(&entry);
}

static void ask_page(struct fleet *fleet, uint64_t from);

static void on_page(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;
	struct stream_entry entry = {0};
	bool below = false;
	int found;

	if (fleet->phase != FLEET_REWINDING)
		return;
	if (!stream_is_entries(reply)) {
		fleet_unexpected(fleet, "XREVRANGE", reply);
		return;
	}
	found = search(fleet, reply, &entry, &below);
	if (found < 0)
		log_error("fleet: cannot look for a common entry of the log");
	if (found > 0)
		rewind_to(fleet, &entry);
	else if (found < 0 || below || reply->size < PAGE || !entry.before)
		give_up(fleet);
	else
		ask_page(fleet, entry.before);
}

static void ask_page(struct fleet *fleet, uint64_t from)
{
	struct request request = {0};

	request_words(&request, "XREVRANGE %slog %llu-0 - COUNT %d", fleet->prefix,
		      (unsigned long long)from, PAGE);
	fleet_ask(fleet, &request, 0, on_page);
}

void rewinding_start(struct fleet *fleet)
{
	uint64_t end = fleet->log.end, here = fleet->view.fleet.position;

	fleet_enter(fleet, FLEET_REWINDING, NULL);
	ask_page(fleet, end < here ? end : here);
}

/* --- what was lost comes back --- */

static int body_again(struct xb_writer *writer, struct fleet *fleet, void *result)
{
	return replay_apply(writer, fleet, result);
}

static void on_again(struct fleet *fleet, const void *result, const char *why)
{
	if (why) {
		cannot_rewind(fleet, why);
		return;
	}
	resync_stop(fleet);
	replay_count(fleet, result);
	reading_check(fleet);
}

/* If nothing was fetched, the disk is full, say, and the log is read as usual. */
static void write_again(struct fleet *fleet)
{
	const char *why;

	if (!fleet->replay.size) {
		fleet->unreplayed = fleet->replay.from;
		resync_stop(fleet);
		reading_check(fleet);
		return;
	}
	why = bigwrite_start(fleet, body_again, sizeof(struct replayed), on_again);
	if (why)
		cannot_rewind(fleet, why);
}

static int is_former(const struct fleet *fleet, const struct stream_entry *next)
{
	struct logentry entry = {0};
	struct xb_store *store;
	struct xb_txn *txn;
	int found = 0;

	if (!logentry_read(next->bytes, next->size, &entry)) {
		found = xb_store_begin_reading(fleet->agent->paths.state, &store, &txn);
		if (!found)
			found = xb_fleet_former_has(txn, next->position, entry.chain);
		xb_store_end_reading(store, txn);
	}
	logentry_free(&entry);
	if (found < 0)
		log_error("fleet: cannot see what this host had of the log");
	return found > 0;
}

bool rewinding_read_again(struct fleet *fleet, const struct stream_entry *next)
{
	const struct xb_fleet *here = &fleet->view.fleet;

	if (!fleet->view.former || next->position != here->position + 1 ||
	    fleet->unreplayed == here->position || !is_former(fleet, next))
		return false;
	fleet_enter(fleet, FLEET_REWINDING, NULL);
	replay_fetch(fleet,
		     &(struct replay_span){.from = here->position,
					   .end = fleet->view.former,
					   .chain = here->chain},
		     write_again);
	return true;
}
