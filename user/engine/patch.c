/* SPDX-License-Identifier: GPL-2.0-or-later */
/* It looks at all entries before it changes the first, to know how many would go. */
#include "engine/patch.h"

#include <errno.h>

#include "base/error.h"
#include "engine/stamp.h"
#include "store/fleet.h"
#include "store/listclass.h"
#include "store/lists.h"
#include "store/listverdict.h"
#include "store/membership.h"
#include "store/origins.h"

#define FACTOR 2.0

/* What the list has of an entry. */
struct present {
	bool listed;
	uint32_t expires; /* 0: never */
};

static int find(struct xb_txn *txn, uint32_t list, const struct xb_entry *entry,
		struct present *present)
{
	struct xb_membership member;
	struct xb_members members;
	int error = xb_members_of(txn, entry, &members);

	*present = (struct present){0};
	if (error)
		return error == -ENOENT ? 0 : error;
	present->listed = xb_members_have(members, list, &member);
	if (present->listed)
		present->expires = member.expires;
	return 0;
}

static bool lasts(uint32_t expires, uint32_t now)
{
	return !expires || expires > (uint64_t)now + XB_PATCH_SOON;
}

/* Whether it is over at once, or soon, for what would have lasted. */
static bool goes(const struct xb_patch_item *item, const struct present *present, uint32_t now)
{
	return present->listed && lasts(present->expires, now) &&
	       (!item->until || (item->exact && !lasts(item->until, now)));
}

static int look(const struct xb_writer *writer, const struct xb_patch *patch, uint32_t list,
		uint64_t *come, uint64_t *go)
{
	int error = 0;

	*come = *go = 0;
	for (size_t i = 0; !error && i < patch->count; i++) {
		const struct xb_patch_item *item = &patch->items[i];
		struct present present;

		error = find(writer->txn, list, &item->entry, &present);
		*come += !present.listed && item->until > writer->now;
		*go += goes(item, &present, writer->now);
	}
	return error;
}

static bool is_too_much(const struct xb_patch *patch, uint64_t before, uint64_t come, uint64_t go)
{
	double factor = patch->factor > 0 ? patch->factor : FACTOR;
	uint64_t after = before + come - go;

	/* What becomes empty shrinks as if one were left: otherwise no factor would do. */
	return go >= XB_PATCH_ENTRIES && (double)(after ?: 1) * factor < (double)before;
}

static int take_out(struct xb_txn *txn, struct xb_patch *patch, uint32_t list,
		    const struct xb_entry *entry)
{
	enum xb_removal removal;
	int error = xb_member_remove(txn, entry, list, &removal);

	patch->removed += !error && removal != XB_REMOVAL_ABSENT;
	return error;
}

static int put(struct xb_writer *writer, struct xb_patch *patch, uint32_t list,
	       const struct xb_patch_item *item)
{
	struct xb_membership member = {
		.list = list, .added = writer->now, .expires = item->until, .comment = ""};
	enum xb_put put = XB_PUT_SAME;
	int error = xb_member_put(writer->txn, &item->entry, &member, XB_RENEW_EXPIRY, &put);

	if (!error && xb_entry_is_source(&item->entry))
		xb_list_come_from(writer->txn, xb_list_by_id(writer->txn, list), patch->origin);
	patch->added += put == XB_PUT_LISTED || put == XB_PUT_JOINED;
	patch->renewed += put == XB_PUT_RENEWED;
	patch->unchanged += put == XB_PUT_SAME;
	return error;
}

static bool is_longer(const struct present *present, uint32_t until)
{
	return present->listed && (!present->expires || present->expires > until);
}

static int change(struct xb_writer *writer, struct xb_patch *patch, uint32_t list,
		  const struct xb_patch_item *item, bool hold)
{
	struct present present;
	int error = find(writer->txn, list, &item->entry, &present);

	if (error)
		return error;
	if (hold && goes(item, &present, writer->now)) {
		patch->held++;
		return 0;
	}
	if (!item->until)
		return present.listed ? take_out(writer->txn, patch, list, &item->entry) : 0;
	if (item->until <= writer->now || (!item->exact && is_longer(&present, item->until))) {
		patch->unchanged += present.listed;
		return 0;
	}
	return put(writer, patch, list, item);
}

static int set_terms(struct xb_txn *txn, const struct xb_patch *patch)
{
	struct xb_list *list = xb_list_by_name(txn, patch->list);
	int error = 0;

	if (patch->judges)
		error = xb_domain_verdict_set(txn, list, patch->verdict);
	if (!error && patch->scopes)
		error = xb_list_scope_set(txn, list, &patch->scope);
	return error;
}

int xb_patch_apply(struct xb_writer *writer, struct xb_patch *patch)
{
	uint64_t come, go, before;
	struct xb_list *list;
	uint32_t id;
	bool hold;
	int error = xb_list_need(writer->txn, patch->list, &list);

	if (!error)
		error = xb_share_check_ours(writer->txn, patch->list);
	if (error)
		return error;
	id = list->id;
	before = list->members;
	patch->added = patch->renewed = patch->removed = patch->unchanged = patch->held = 0;
	error = look(writer, patch, id, &come, &go);
	hold = !error && is_too_much(patch, before, come, go);
	for (size_t i = 0; !error && i < patch->count; i++)
		error = change(writer, patch, id, &patch->items[i], hold);
	if (!error)
		error = set_terms(writer->txn, patch);
	if (!error && patch->stamp)
		error = xb_stamp_put(writer->txn, patch->list, patch->stamp);
	patch->members = before + patch->added - patch->removed;
	return error;
}
