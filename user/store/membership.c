/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries and the lists that name them. An entry's value is one record after the other, each
 * followed by its comment; values that are alike are stored once for their neighbourhood. */
#include "store/membership.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/lmdbpage.h"
#include "store/origins.h"
#include "store/sharing.h"

struct record {
	uint32_t list, added, expires, comment_size;
};
_Static_assert(sizeof(struct record) == 16, "store format");

/* The largest value: the store takes larger ones, so this bounds only the buffer. */
#define VALUE_MAX 65536

/* The functions that have one keep it off the stack, which may be small. */
struct value {
	size_t size;
	uint8_t bytes[VALUE_MAX];
};

static int write_error(int error)
{
	return xb_lmdb_error(error, "cannot write the store");
}

static bool next_of_all(struct xb_members *members, struct xb_membership *member)
{
	struct record record;

	if ((size_t)(members->end - members->next) < sizeof(record))
		return false;
	memcpy(&record, members->next, sizeof(record));
	members->next += sizeof(record);
	if ((size_t)(members->end - members->next) < record.comment_size)
		return false;
	*member = (struct xb_membership){
		.list = record.list,
		.added = record.added,
		.expires = record.expires,
		.comment_size = record.comment_size,
		.comment = (const char *)members->next,
	};
	members->next += record.comment_size;
	return true;
}

bool xb_members_next(struct xb_members *members, struct xb_membership *member)
{
	while (next_of_all(members, member))
		if (!member->expires || member->expires > members->as_of)
			return true;
	return false;
}

bool xb_members_any(struct xb_members members)
{
	struct xb_membership member;

	return xb_members_next(&members, &member);
}

bool xb_members_have(struct xb_members members, uint32_t list, struct xb_membership *member)
{
	while (xb_members_next(&members, member))
		if (member->list == list)
			return true;
	return false;
}

int xb_members_of(struct xb_txn *txn, const struct xb_entry *entry, struct xb_members *members)
{
	MDB_val value = {0};
	int error = xb_entries_get(txn, entry, &value);

	if (!error)
		*members = xb_members_in(txn, value.mv_data, value.mv_size);
	return error;
}

static int value_append(struct value *value, const struct xb_membership *member)
{
	struct record record = {member->list, member->added, member->expires, member->comment_size};

	if (value->size + sizeof(record) + record.comment_size > VALUE_MAX)
		return xb_input_error("an entry can be in at most %zu lists (fewer with comments)",
				      VALUE_MAX / sizeof(record));
	memcpy(value->bytes + value->size, &record, sizeof(record));
	value->size += sizeof(record);
	if (record.comment_size)
		memcpy(value->bytes + value->size, member->comment, record.comment_size);
	value->size += record.comment_size;
	return 0;
}

/* The expiry index: big-endian time, list, then the entry's key. */
static int index_expiry(struct xb_txn *txn, const struct xb_entry *entry,
			const struct xb_membership *member, bool present)
{
	uint32_t order[2] = {htobe32(member->expires), htobe32(member->list)};
	uint8_t bytes[sizeof(order) + XB_ENTRY_KEY_BYTES];
	MDB_val key = {0, bytes}, nothing = {0, NULL};
	int error;

	if (!member->expires)
		return 0;
	memcpy(bytes, order, sizeof(order));
	key.mv_size = sizeof(order) + xb_entry_encode(entry, bytes + sizeof(order));
	error = present ? mdb_put(txn->txn, txn->store->expiry, &key, &nothing, 0)
			: xb_lmdbpage_delete(txn->txn, txn->store->expiry, &key);
	return error && error != MDB_NOTFOUND ? write_error(error) : 0;
}

void xb_totals_count(struct xb_totals *totals, const struct xb_entry *entry, uint64_t one)
{
	switch (entry->kind) {
	case XB_PREFIX4:
		totals->prefix4 += one;
		break;
	case XB_HOST4:
		totals->host4 += one;
		totals->host4_keys += one * xb_entry_keys(entry);
		break;
	case XB_NET6:
		totals->net6 += one;
		break;
	case XB_NAME:
		totals->names += one;
		break;
	case XB_EXCEPT_NAME:
		totals->exceptions += one;
		break;
	default:
		totals->allow += one;
	}
}

/* Of an entry that is in the list. The filter knows addresses by class, and names by verdict. */
static uint32_t classes_in(struct xb_txn *txn, const struct xb_entry *entry, uint32_t list)
{
	bool one = !(txn->classes & ~XB_CLASSES_ALL) || !xb_entry_is_source(entry);
	const struct xb_list *of = one ? NULL : xb_list_by_id(txn, list);

	return of ? 1U << of->class : XB_CLASSES_ALL;
}

uint32_t xb_members_classes(struct xb_txn *txn, struct xb_members members)
{
	struct xb_membership member;
	uint32_t classes = 0;

	if (!(txn->classes & ~XB_CLASSES_ALL))
		return xb_members_any(members) ? XB_CLASSES_ALL : 0;
	while (xb_members_next(&members, &member)) {
		const struct xb_list *list = xb_list_by_id(txn, member.list);

		classes |= list ? 1U << list->class : XB_CLASSES_ALL;
	}
	return classes;
}

/* Of an entry that may be of any kind. */
static uint32_t classes_of(struct xb_txn *txn, const struct xb_entry *entry,
			   struct xb_members members)
{
	return xb_entry_is_source(entry) ? xb_members_classes(txn, members) : XB_CLASSES_ALL;
}

/* An entry that came or went: totals and the list of changes. */
static int tell(struct xb_txn *txn, const struct xb_entry *entry, uint32_t before, uint32_t after)
{
	xb_totals_count(&txn->meta.totals, entry, after ? 1 : (uint64_t)-1);
	return xb_changes_move(&txn->change, entry, before, after);
}

/* Other lists name the entry now: to the classes of an address that may matter, to names it does.
 */
static int tell_lists(struct xb_txn *txn, const struct xb_entry *entry, uint32_t before,
		      uint32_t after)
{
	return xb_entry_is_rule(entry) ? xb_changes_add(&txn->change, entry, XB_ALTERED)
				       : xb_changes_move(&txn->change, entry, before, after);
}

/* Whether a name that is in these lists is judged more strictly in this one, too. */
static bool is_stricter(struct xb_txn *txn, const struct xb_entry *entry, struct xb_members members,
			uint32_t list)
{
	return entry->kind == XB_NAME &&
	       xb_list_by_id(txn, list)->verdict < xb_members_verdict(txn, members);
}

/* Writes what is left of the entry that was asked for, or takes it out if nothing is. */
static int write_value(struct xb_txn *txn, struct value *value)
{
	MDB_val bytes = {value->size, value->bytes};

	return xb_entries_set(txn, &bytes);
}

/* Of the list; NULL: it is not shared. */
static struct xb_share *share_of(struct xb_txn *txn, uint32_t list)
{
	const struct xb_list *of = txn->shares.count ? xb_list_by_id(txn, list) : NULL;

	return of ? of->share : NULL;
}

/* A record for an entry that has none. */
static int put_first(struct xb_txn *txn, const struct xb_entry *entry,
		     const struct xb_membership *member)
{
	struct xb_share *share = share_of(txn, member->list);
	static struct value value;
	int error;

	value.size = 0;
	error = value_append(&value, member);
	if (!error && share)
		error = xb_sharing_note(txn, share, entry, NULL, member, true);
	if (!error)
		error = write_value(txn, &value);
	if (!error)
		error = index_expiry(txn, entry, member, true);
	return error ? error : tell(txn, entry, 0, classes_in(txn, entry, member->list));
}

static bool same_terms(const struct xb_membership *a, const struct xb_membership *b)
{
	return a->expires == b->expires && a->comment_size == b->comment_size &&
	       (!a->comment_size || !memcmp(a->comment, b->comment, a->comment_size));
}

static struct xb_membership merged(const struct xb_membership *old, const struct xb_membership *new,
				   unsigned int renew)
{
	struct xb_membership both = *old;

	if (renew & XB_RENEW_EXPIRY)
		both.expires = new->expires;
	if (renew & XB_RENEW_COMMENT) {
		both.comment = new->comment;
		both.comment_size = new->comment_size;
	}
	return both;
}

bool xb_members_stay(struct xb_members members, const struct xb_membership *member,
		     unsigned int renew)
{
	struct xb_membership old, renewed;

	if (!xb_members_have(members, member->list, &old))
		return false;
	renewed = merged(&old, member, renew);
	return same_terms(&old, &renewed);
}

static int put_among(struct xb_txn *txn, const struct xb_entry *entry,
		     const struct xb_membership *member, unsigned int renew,
		     struct xb_members members, enum xb_put *result)
{
	bool stricter = is_stricter(txn, entry, members, member->list);
	uint32_t before = classes_of(txn, entry, members);
	struct xb_share *share = share_of(txn, member->list);
	struct xb_membership old, former, renewed = *member;
	static struct value value;
	int error = 0;

	value.size = 0;
	*result = XB_PUT_JOINED;
	while (!error && xb_members_next(&members, &old)) {
		if (old.list != member->list) {
			error = value_append(&value, &old);
			continue;
		}
		renewed = merged(&old, member, renew);
		if (same_terms(&old, &renewed)) {
			*result = XB_PUT_SAME;
			return 0;
		}
		*result = XB_PUT_RENEWED;
		former = old;
		error = index_expiry(txn, entry, &old, false);
	}
	if (!error)
		error = value_append(&value, &renewed);
	if (!error && share)
		error = xb_sharing_note(txn, share, entry,
					*result == XB_PUT_RENEWED ? &former : NULL, &renewed, true);
	if (!error)
		error = write_value(txn, &value);
	if (!error)
		error = index_expiry(txn, entry, &renewed, true);
	if (!error && *result == XB_PUT_JOINED) {
		txn->change.tightens |= stricter;
		error = tell_lists(txn, entry, before,
				   before | classes_in(txn, entry, member->list));
	}
	return error;
}

/* one: 1, or its negative. what: which of the changes of this transaction it is. */
static void count_member(struct xb_list *list, const struct xb_entry *entry, uint64_t one,
			 uint32_t *what)
{
	list->members += one;
	++*what;
	if (entry->kind == XB_EXCEPT_NAME)
		list->exceptions += one;
}

int xb_member_put(struct xb_txn *txn, const struct xb_entry *entry,
		  const struct xb_membership *member, unsigned int renew, enum xb_put *result)
{
	struct xb_members members;
	int error = xb_members_of(txn, entry, &members);

	*result = XB_PUT_LISTED;
	if (error == -ENOENT)
		error = put_first(txn, entry, member);
	else if (!error)
		error = put_among(txn, entry, member, renew, members, result);
	if (!error && *result != XB_PUT_SAME) {
		struct xb_list *list = xb_list_by_id(txn, member->list);

		if (*result != XB_PUT_RENEWED)
			count_member(list, entry, 1, &list->came);
		else
			list->renewed++;
		xb_list_changed(list);
		if (txn->shares.applies && *result != XB_PUT_RENEWED && xb_entry_is_source(entry))
			xb_list_come_from(txn, list, XB_ORIGIN_FLEET);
	}
	return error;
}

/* publishes: the fleet has to know; it knows by itself what has expired. */
static int remove_member(struct xb_txn *txn, const struct xb_entry *entry, uint32_t list,
			 bool publishes, enum xb_removal *result)
{
	struct xb_members members;
	struct xb_membership old;
	static struct value value;
	uint32_t before, after = 0;
	bool found = false;
	int error = xb_members_of(txn, entry, &members);

	*result = XB_REMOVAL_ABSENT;
	if (error)
		return error == -ENOENT ? 0 : error;
	before = classes_of(txn, entry, members);
	value.size = 0;
	while (!error && xb_members_next(&members, &old)) {
		struct xb_list *of = xb_list_by_id(txn, old.list);

		if (list != XB_ANY_LIST && old.list != list) {
			error = value_append(&value, &old);
			after |= classes_in(txn, entry, old.list);
			continue;
		}
		found = true;
		if (of) {
			count_member(of, entry, (uint64_t)-1, publishes ? &of->went : &of->expired);
			xb_list_changed(of);
		}
		error = index_expiry(txn, entry, &old, false);
		if (!error && of && of->share)
			error = xb_sharing_note(txn, of->share, entry, &old, NULL, publishes);
	}
	if (error || !found)
		return error;
	error = write_value(txn, &value);
	if (error)
		return error;
	*result = value.size ? XB_REMOVAL_LEFT : XB_REMOVAL_UNLISTED;
	return value.size ? tell_lists(txn, entry, before, after) : tell(txn, entry, before, 0);
}

int xb_member_remove(struct xb_txn *txn, const struct xb_entry *entry, uint32_t list,
		     enum xb_removal *result)
{
	return remove_member(txn, entry, list, true, result);
}

int xb_member_expire(struct xb_txn *txn, const struct xb_entry *entry, uint32_t list,
		     enum xb_removal *result)
{
	return remove_member(txn, entry, list, false, result);
}

int xb_member_covered(struct xb_txn *txn, const struct xb_entry *entry, struct xb_entry *covering)
{
	struct xb_entry candidate = *entry;

	while (xb_entry_widen(&candidate)) {
		struct xb_members members;
		int error;

		if (candidate.kind != entry->kind)
			continue;
		error = xb_members_of(txn, &candidate, &members);
		if (error == -ENOENT)
			continue;
		if (error)
			return error;
		if (covering)
			*covering = candidate;
		return 1;
	}
	return 0;
}

enum xb_domain_verdict xb_members_verdict(struct xb_txn *txn, struct xb_members members)
{
	enum xb_domain_verdict strictest = XB_DOMAIN_COUNT;
	struct xb_membership member;

	while (xb_members_next(&members, &member)) {
		const struct xb_list *list = xb_list_by_id(txn, member.list);
		enum xb_domain_verdict verdict = list ? list->verdict : XB_DOMAIN_DROP;

		if (verdict < strictest)
			strictest = verdict;
	}
	return strictest;
}
