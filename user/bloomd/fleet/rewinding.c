/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The server has lost the last entries of the log, or has others in their place: goes back to the
 * last entry that both have, and publishes own changes behind it again. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "bloomd/base/log.h"
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
	uint64_t again;	   /* changes that wait again */
};

/* Whether the store still is as the change made it. */
static int is_in_force(struct xb_txn *txn, const struct xb_shared_change *change, bool *in_force)
{
	const struct xb_list *list = xb_list_find(txn, change->list);
	struct xb_members members;
	struct xb_membership member;
	int error = xb_members_of(txn, &change->entry, &members);
	bool there;

	*in_force = false;
	if (error && error != -ENOENT)
		return error;
	there = !error && list && xb_members_have(members, list->id, &member);
	if (!change->put)
		*in_force = !there;
	else
		*in_force = there && member.expires == change->expires &&
			    member.comment_size == change->comment_size &&
			    !memcmp(member.comment, change->comment, change->comment_size);
	return 0;
}

static int publish_again(struct xb_txn *txn, const struct logentry *entry, struct rewind *rewind)
{
	int error = 0;

	for (size_t i = 0; !error && i < entry->changes.count; i++) {
		const struct xb_shared_change *change = &entry->changes.item[i];
		const struct xb_share *share = xb_share_of(txn, change->list);
		bool in_force;
		int waits = xb_outbox_waits(txn, change->list, &change->entry);

		if (waits || !share || !(share->flags & XB_SHARE_PUBLISH)) {
			error = waits < 0 ? waits : 0;
			continue;
		}
		error = is_in_force(txn, change, &in_force);
		if (error || !in_force)
			continue;
		error = xb_outbox_put(txn, change);
		rewind->again += !error;
	}
	return error;
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
		if (found > 0 && !memcmp(entry.publisher, fleet->host, XB_FLEET_ID))
			error = publish_again(txn, &entry, rewind);
		logentry_free(&entry);
		if (error)
			return error;
	}
	return found < 0 ? found : 0;
}

static int body(struct xb_writer *writer, void *context)
{
	struct rewind *rewind = context;
	struct logentry entry = {0};
	struct xb_fleet fleet;
	int found = xb_fleet_get(writer->txn, &fleet), error;

	rewind->again = 0;
	if (found <= 0)
		return found ?: xb_input_error("this host is in no fleet");
	found = read_tail(writer->txn, fleet.term, rewind->position, &entry);
	if (found <= 0) {
		logentry_free(&entry);
		return found ?: xb_input_error("the entry is no longer known");
	}
	error = publish_lost(writer->txn, &fleet, rewind);
	if (!error)
		error = xb_logtail_cut(writer->txn, fleet.term, rewind->position);
	fleet.position = rewind->position;
	memcpy(fleet.chain, entry.chain, XB_FLEET_CHAIN);
	logentry_free(&entry);
	return error ?: xb_fleet_put(writer->txn, &fleet);
}

static void check(struct fleet *fleet)
{
	reading_check(fleet);
}

static void rewind_to(struct fleet *fleet, uint64_t position)
{
	struct rewind rewind = {.position = position};
	struct agent *agent = fleet->agent;
	int error;

	agent_writes(agent);
	error = xb_write(&agent->paths, 0, body, &rewind, &agent->written);
	if (agent_is_busy(error)) {
		fleet_then(fleet, AGENT_RETRY, check);
		return;
	}
	if (error && error != XB_UNMET) {
		log_error("fleet: cannot go back in the log");
		fleet_enter(fleet, FLEET_FAILED, "cannot go back in the log: %s",
			    xb_error_message());
		fleet_then(fleet, RETRY, check);
		return;
	}
	agent_wrote(agent);
	xb_warning("fleet: the server has lost entries behind %" PRIu64 " of the log: %" PRIu64
		   " changes of this host are published again",
		   position, rewind.again);
	reading_check(fleet);
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
	*below = !first || entry->position < first;
	found = xb_logtail_get(txn, term, entry->position, &bytes, &size);
	if (found <= 0)
		return found;
	return size == entry->size && !memcmp(bytes, entry->bytes, size);
}

static int search(const struct fleet *fleet, const struct server_reply *page, uint64_t *position,
		  bool *below)
{
	struct xb_store *store;
	struct xb_txn *txn;
	int found = xb_store_begin_reading(fleet->agent->paths.state, &store, &txn);

	for (size_t i = 0; !found && !*below && i < page->size; i++) {
		struct stream_entry entry;

		stream_entry_read(&page->node[i], &entry);
		*position = entry.position;
		found = is_common(txn, fleet->view.fleet.term, &entry, below);
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
	fleet_then(fleet, RETRY, check);
}

static void ask_page(struct fleet *fleet, uint64_t from);

static void on_page(void *context, const struct server_reply *reply)
{
	struct fleet *fleet = context;
	uint64_t position = 0;
	bool below = false;
	int found;

	if (fleet->phase != FLEET_REWINDING)
		return;
	if (!stream_is_entries(reply)) {
		fleet_unexpected(fleet, "XREVRANGE", reply);
		return;
	}
	found = search(fleet, reply, &position, &below);
	if (found < 0)
		log_error("fleet: cannot look for a common entry of the log");
	if (found > 0)
		rewind_to(fleet, position);
	else if (found < 0 || below || reply->size < PAGE || position <= 1)
		give_up(fleet);
	else
		ask_page(fleet, position - 1);
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
