/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The record of the fleet, and which lists are shared. */
#include "store/fleet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/error.h"
#include "base/machineid.h"
#include "store/expiry.h"
#include "store/fleettable.h"
#include "store/membership.h"
#include "store/outbox.h"
#include "store/shares.h"
#include "store/sharing.h"
#include "store/walk.h"

struct record {
	char name[XB_FLEET_NAME];
	uint8_t host[XB_FLEET_ID], machine[XB_FLEET_ID], epoch[XB_FLEET_ID];
	uint64_t term, position;
	uint8_t chain[XB_FLEET_CHAIN];
};
_Static_assert(sizeof(struct record) == 112, "store format");

static const uint8_t record_key[] = {XB_FLEET_RECORD};

static MDB_val key_of_record(void)
{
	return (MDB_val){sizeof(record_key), (void *)(uintptr_t)record_key};
}

static int get(struct xb_txn *txn, struct record *record)
{
	const MDB_val key = key_of_record();

	*record = (struct record){0};
	return xb_fleettables_are(txn)
		       ? xb_sealedrow_read(txn, txn->store->fleet, &key, record, sizeof(*record))
		       : 0;
}

static int put(struct xb_txn *txn, const struct record *record)
{
	const MDB_val key = key_of_record(), value = {sizeof(*record), (void *)(uintptr_t)record};

	return xb_sealedrow_put(txn, txn->store->fleet, &key, &value);
}

int xb_fleet_get(struct xb_txn *txn, struct xb_fleet *fleet)
{
	struct record record;
	int found = get(txn, &record);

	*fleet = (struct xb_fleet){.term = record.term, .position = record.position};
	if (found <= 0)
		return found;
	memcpy(fleet->name, record.name, sizeof(record.name));
	memcpy(fleet->host, record.host, sizeof(fleet->host));
	memcpy(fleet->epoch, record.epoch, sizeof(fleet->epoch));
	memcpy(fleet->chain, record.chain, sizeof(fleet->chain));
	return 1;
}

int xb_fleet_put(struct xb_txn *txn, const struct xb_fleet *fleet)
{
	struct record record;
	int found = get(txn, &record);

	if (found <= 0)
		return found ? found : xb_fleet_none();
	memcpy(record.host, fleet->host, sizeof(record.host));
	memcpy(record.epoch, fleet->epoch, sizeof(record.epoch));
	memcpy(record.chain, fleet->chain, sizeof(record.chain));
	record.term = fleet->term;
	record.position = fleet->position;
	return put(txn, &record);
}

/* --- joining and leaving --- */

static int draw_host(struct record *record)
{
	xb_machine_identity(record->machine);
	return getrandom(record->host, sizeof(record->host), 0) == sizeof(record->host)
		       ? 0
		       : xb_system_error(errno, "no random numbers");
}

static int begin_record(struct xb_txn *txn, const char *name)
{
	struct record record = {0};
	int error = xb_fleettables_make(txn);

	if (!error)
		error = xb_shares_begin(txn);
	if (!error)
		error = draw_host(&record);
	if (error)
		return error;
	txn->meta.schema = XB_SCHEMA_FLEET;
	txn->shares.counted = true;
	memcpy(record.name, name, strlen(name));
	return put(txn, &record);
}

/* A copy of another machine's store: what waits in its outbox is published by both, which changes
 * nothing, but each needs numbers of its own. */
static int settle_here(struct xb_txn *txn, struct record *record)
{
	uint8_t machine[XB_FLEET_ID];
	int error;

	xb_machine_identity(machine);
	if (!memcmp(machine, record->machine, sizeof(machine)))
		return 0;
	error = draw_host(record);
	return error ? error : put(txn, record);
}

int xb_fleet_join(struct xb_txn *txn, const char *name)
{
	struct record record;
	int found, error;

	if (!xb_list_name_ok(name) || strlen(name) > XB_FLEET_NAME)
		return xb_input_error("invalid fleet name: up to %d letters, digits, '.', '_' and "
				      "'-', a letter or digit first",
				      XB_FLEET_NAME);
	found = get(txn, &record);
	if (found < 0)
		return found;
	if (found && !strncmp(record.name, name, sizeof(record.name)))
		return settle_here(txn, &record);
	error = found ? xb_fleet_leave(txn) : 0;
	return error ? error : begin_record(txn, name);
}

static void link_lists(struct xb_txn *txn)
{
	for (size_t i = 0; i < txn->list_count; i++)
		txn->lists[i].share = xb_shares_find(txn, txn->lists[i].name);
}

int xb_fleet_leave(struct xb_txn *txn)
{
	const struct xb_store *store = txn->store;
	const MDB_dbi tables[] = {store->fleet, store->outbox, store->waiting, store->tail};
	int error = 0;

	if (!xb_fleettables_are(txn))
		return 0;
	for (size_t i = 0; !error && i < sizeof(tables) / sizeof(tables[0]); i++)
		error = mdb_drop(txn->txn, tables[i], 0);
	if (error)
		return xb_lmdb_error(error, "cannot write the store");
	xb_shares_free(txn);
	link_lists(txn);
	txn->meta.schema = XB_SCHEMA;
	txn->edits++;
	return 0;
}

/* --- shares --- */

const struct xb_share *xb_share_of(const struct xb_txn *txn, const char *list)
{
	return xb_shares_find(txn, list);
}

const struct xb_share *xb_shares(const struct xb_txn *txn, size_t *count)
{
	*count = txn->shares.count;
	return txn->shares.item;
}

bool xb_share_is_ours(const struct xb_txn *txn, const char *list)
{
	const struct xb_share *share = xb_shares_find(txn, list);

	return !share || share->flags & XB_SHARE_PUBLISH || !(share->flags & XB_SHARE_FOLLOW);
}

int xb_share_check_ours(struct xb_txn *txn, const char *list)
{
	struct xb_fleet fleet;
	int found;

	if (xb_share_is_ours(txn, list))
		return 0;
	found = xb_fleet_get(txn, &fleet);
	if (found < 0)
		return found;
	return xb_input_error("list %s follows fleet %s: change it on a host that publishes it",
			      list, fleet.name);
}

void xb_fleet_applies(struct xb_txn *txn, bool applies)
{
	txn->shares.applies = applies;
}

/* What a walk does with each membership of the list. */
struct tour {
	const char *list;
	uint32_t id;
	struct xb_digest digest;
	bool counts, publishes;
};

static int publish(struct xb_txn *txn, const struct tour *tour, const struct xb_entry *entry,
		   const struct xb_membership *member)
{
	const struct xb_shared_change change = {
		.entry = *entry,
		.list = tour->list,
		.put = true,
		.added = member->added,
		.expires = member->expires,
		.comment = member->comment,
		.comment_size = member->comment_size,
	};

	return xb_outbox_put(txn, &change);
}

static int visit(struct xb_txn *txn, struct tour *tour, const struct xb_walk *walk)
{
	struct xb_membership member;

	if (!xb_members_have(walk->members, tour->id, &member) || !xb_entry_is_shared(&walk->entry))
		return 0;
	if (tour->counts)
		xb_digest_count(&tour->digest, &walk->entry, member.expires, member.comment,
				member.comment_size, 1);
	return tour->publishes ? publish(txn, tour, &walk->entry, &member) : 0;
}

static int walk_list(struct xb_txn *txn, struct tour *tour)
{
	const struct xb_list *list = xb_list_by_name(txn, tour->list);
	struct xb_walk walk;
	int more = 0, error = 0;

	if (!list || !list->members || (!tour->counts && !tour->publishes))
		return 0;
	tour->id = list->id;
	error = xb_walk_begin(&walk, txn, &XB_WALK_LISTED);
	if (error)
		return error;
	while (!error && (more = xb_walk_next(&walk)) > 0)
		error = visit(txn, tour, &walk);
	xb_walk_end(&walk);
	return error ? error : more;
}

static int remove_share(struct xb_txn *txn, struct xb_share *share)
{
	struct xb_shares *shares = &txn->shares;
	uint8_t bytes[sizeof(share->list)] = {XB_FLEET_SHARE};
	const MDB_val key = {1 + strlen(share->list), bytes};
	int found;

	memcpy(bytes + 1, share->list, strlen(share->list));
	found = xb_sealedrow_delete(txn, txn->store->fleet, &key);
	if (found < 0)
		return found;
	*share = shares->item[--shares->count];
	shares->item[shares->count] = (struct xb_share){0};
	shares->changed = UINT64_MAX; /* they have other places */
	shares->counted = true;
	link_lists(txn);
	return 0;
}

static int add_share(struct xb_txn *txn, const char *list, struct xb_share **share)
{
	struct xb_shares *shares = &txn->shares;

	if (shares->count == XB_SHARES_MAX)
		return xb_input_error("a fleet shares at most %d lists", XB_SHARES_MAX);
	*share = &shares->item[shares->count++];
	**share = (struct xb_share){0};
	strcpy((*share)->list, list);
	shares->counted = true;
	txn->edits++;
	link_lists(txn);
	return 0;
}

static int change_share(struct xb_txn *txn, struct xb_share *share, uint32_t flags, bool is_new)
{
	struct tour tour = {.list = share->list,
			    .counts = is_new,
			    .publishes = flags & ~share->flags & XB_SHARE_PUBLISH};
	int error = walk_list(txn, &tour);

	if (error)
		return error;
	if (is_new)
		share->digest = tour.digest;
	txn->edits += share->flags != flags;
	share->flags = flags;
	xb_shares_touch(txn, share);
	return 0;
}

int xb_share_set(struct xb_txn *txn, const char *list, uint32_t flags)
{
	struct xb_share *share = xb_shares_find(txn, list);
	bool is_new = !share;
	int error;

	if (!xb_fleettables_are(txn))
		return xb_fleet_none();
	if (!xb_list_name_ok(list))
		return xb_input_error("invalid list name");
	/* What was changed so far was changed as the list was shared so far. */
	error = xb_sharing_settle(txn);
	if (error || (!share && !flags))
		return error;
	if (!flags)
		return remove_share(txn, share);
	if (!share)
		error = add_share(txn, list, &share);
	return error ? error : change_share(txn, share, flags, is_new);
}

/* --- the digest as of a time --- */

struct lateness {
	uint32_t list;
	struct xb_digest digest;
};

static int count_expired(struct xb_txn *txn, uint32_t list, const struct xb_entry *entry,
			 void *context)
{
	struct lateness *lateness = context;
	struct xb_membership member;
	struct xb_members members;
	int error;

	if (list != lateness->list || !xb_entry_is_shared(entry))
		return 0;
	error = xb_members_of(txn, entry, &members);
	if (error)
		return error == -ENOENT ? xb_fleet_damaged() : error;
	members.as_of = 0;
	if (!xb_members_have(members, list, &member))
		return xb_fleet_damaged();
	xb_digest_count(&lateness->digest, entry, member.expires, member.comment,
			member.comment_size, 1);
	return 0;
}

int xb_share_digest(struct xb_txn *txn, const struct xb_share *share, uint32_t now,
		    struct xb_digest *digest)
{
	const struct xb_list *list = xb_list_by_name(txn, share->list);
	struct lateness lateness = {.list = list ? list->id : XB_NO_LIST};
	int error = list ? xb_expiry_visit(txn, now, count_expired, &lateness) : 0;

	*digest = share->digest;
	xb_digest_add(digest, &lateness.digest, -1);
	return error;
}
