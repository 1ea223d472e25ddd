/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/exempt.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "store/walk.h"
#include "xdp_bloom/layout.h"

static void describe(struct xb_txn *txn, struct xb_members members, char *why, size_t size)
{
	struct xb_membership member;
	const struct xb_list *list;

	if (!xb_members_next(&members, &member) || !(list = xb_list_by_id(txn, member.list)))
		snprintf(why, size, "allowed");
	else if (xb_list_is_auto(list))
		snprintf(why, size, "%s, %.*s", list->name + strlen(XB_LIST_AUTO),
			 (int)member.comment_size, member.comment);
	else
		snprintf(why, size, "list %s", list->name);
}

/* Reads the lists of the first anew: what a walk has of them may have gone with a read since. */
static int note(struct xb_txn *txn, const struct xb_entry *listed, const struct xb_entry *allowed,
		struct xb_exemptions *exemptions)
{
	struct xb_members members;
	int error;

	if (exemptions->count++)
		return 0;
	exemptions->listed = *listed;
	exemptions->allowed = *allowed;
	error = xb_members_of(txn, allowed, &members);
	if (!error)
		describe(txn, members, exemptions->why, sizeof(exemptions->why));
	return error;
}

int xb_exempt_entry(struct xb_txn *txn, const struct xb_entry *listed,
		    struct xb_exemptions *exemptions)
{
	struct xb_entry within, wider;
	struct xb_walk walk;
	int covered, more = 0, error;

	if (xb_entry_is_name(listed) || txn->meta.policy == XB_POLICY_ALLOW_ONLY)
		return 0;
	within = wider = xb_entry_allow(listed);
	covered = xb_member_covered(txn, &within, &wider);
	if (covered)
		return covered < 0 ? covered : note(txn, listed, &wider, exemptions);
	error = xb_walk_begin(&walk, txn, &within);
	if (error)
		return error;
	while (!error && (more = xb_walk_next(&walk)) > 0 && walk.entry.kind == within.kind &&
	       xb_entry_inside(&within, &walk.entry))
		error = note(txn, listed, &walk.entry, exemptions);
	xb_walk_end(&walk);
	return error ? error : more < 0 ? more : 0;
}

/* The same prefix as what would be listed. */
static struct xb_entry as_listed(const struct xb_entry *allowed)
{
	struct xb_entry entry = *allowed;

	entry.kind = allowed->kind == XB_ALLOW6 ? XB_NET6
		     : allowed->length <= 24	? XB_PREFIX4
						: XB_HOST4;
	return entry;
}

/* 1: the list has it, as this entry, the narrowest if several do; 0: it has not; or an error. */
static int find_in_list(struct xb_txn *txn, uint32_t list, struct xb_entry *entry)
{
	struct xb_membership member;
	struct xb_members members;

	do {
		int error = xb_members_of(txn, entry, &members);

		if (error && error != -ENOENT)
			return error;
		if (!error && xb_members_have(members, list, &member))
			return 1;
	} while (xb_entry_widen(entry));
	return 0;
}

int xb_exempt_list(struct xb_txn *txn, uint32_t list, struct xb_exemptions *exemptions)
{
	struct xb_walk walk;
	int more = 0, error;

	if (txn->meta.policy == XB_POLICY_ALLOW_ONLY)
		return 0;
	error = xb_walk_begin(&walk, txn, &XB_WALK_ALLOW);
	if (error)
		return error;
	while (!error && (more = xb_walk_next(&walk)) > 0 && !xb_entry_is_name(&walk.entry)) {
		struct xb_entry entry = as_listed(&walk.entry);
		int found = find_in_list(txn, list, &entry);

		error = found > 0 ? note(txn, &entry, &walk.entry, exemptions) : found;
	}
	xb_walk_end(&walk);
	return error ? error : more < 0 ? more : 0;
}
