/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/mapped.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/program.h"
#include "model/bogon.h"
#include "store/walk.h"

/* ::ffff:0:0/96, before which none of them stands. */
static struct xb_entry first_of(enum xb_kind kind)
{
	return (struct xb_entry){.lo = 0xffffULL << 32, .length = 96, .kind = (uint8_t)kind};
}

/* They stand one behind the other: 1 for the next, which is *meant; 0 behind the last. */
static int next_mapped(struct xb_walk *walk, struct xb_entry *meant)
{
	int more = xb_walk_next(walk);

	if (more <= 0)
		return more;
	*meant = walk->entry;
	return xb_entry_unmap(meant);
}

static int find(struct xb_txn *txn, enum xb_kind kind)
{
	struct xb_entry from = first_of(kind), meant;
	struct xb_walk walk;
	int found = xb_walk_begin(&walk, txn, &from);

	if (found)
		return found;
	found = next_mapped(&walk, &meant);
	xb_walk_end(&walk);
	return found;
}

bool xb_mapped_any(struct xb_txn *txn)
{
	return find(txn, XB_NET6) > 0 || find(txn, XB_ALLOW6) > 0;
}

/* What the list has of the entry already gives way only where this one has more to say. */
static unsigned int what_to_renew(const struct xb_membership *old, const struct xb_membership *new)
{
	bool later = old->expires && (!new->expires || new->expires > old->expires);

	return (later ? XB_RENEW_EXPIRY : 0) | (old->comment_size ? 0 : XB_RENEW_COMMENT);
}

static int put(struct xb_txn *txn, const struct xb_entry *meant, const struct xb_membership *member)
{
	struct xb_members there;
	struct xb_membership old;
	unsigned int renew = 0;
	enum xb_put result;
	int error = xb_members_of(txn, meant, &there);

	if (error && error != -ENOENT)
		return error;
	if (!error && xb_members_have(there, member->list, &old))
		renew = what_to_renew(&old, member);
	return xb_member_put(txn, meant, member, renew, &result);
}

static void leave_out(struct xb_mapped *mapped, const struct xb_entry *meant)
{
	if (!mapped->left_out++)
		mapped->first = *meant;
}

int xb_mapped_put(struct xb_txn *txn, const struct xb_entry *meant,
		  const struct xb_membership *member, struct xb_mapped *mapped)
{
	if (!xb_too_wide(meant)) {
		mapped->moved++;
		return put(txn, meant, member);
	}
	leave_out(mapped, meant);
	return 0;
}

static int put_all(struct xb_txn *txn, const struct xb_entry *meant, struct xb_members members)
{
	struct xb_membership member;
	int error = 0;

	while (!error && xb_members_next(&members, &member))
		error = put(txn, meant, &member);
	return error;
}

/* Of an entry that is about to go: its memberships outlast it. */
static int move_one(struct xb_txn *txn, const struct xb_entry *entry, const struct xb_entry *meant,
		    struct xb_members members, struct xb_mapped *mapped)
{
	size_t size = (size_t)(members.end - members.next);
	uint8_t *copy = malloc(size);
	enum xb_removal removal;
	int error;

	if (!copy)
		return xb_out_of_memory();
	memcpy(copy, members.next, size);
	members.next = copy;
	members.end = copy + size;
	error = xb_member_remove(txn, entry, XB_ANY_LIST, &removal);
	if (!error && xb_too_wide(meant))
		leave_out(mapped, meant);
	else if (!error && !(error = put_all(txn, meant, members)))
		mapped->moved++;
	free(copy);
	return error;
}

static int move_kind(struct xb_txn *txn, enum xb_kind kind, struct xb_mapped *mapped)
{
	struct xb_entry from = first_of(kind), meant;
	struct xb_walk walk;
	int more = xb_walk_begin(&walk, txn, &from);

	if (more)
		return more;
	while ((more = next_mapped(&walk, &meant)) > 0) {
		struct xb_entry entry = walk.entry;

		more = move_one(txn, &entry, &meant, walk.members, mapped);
		if (more)
			break;
	}
	xb_walk_end(&walk);
	return more;
}

int xb_mapped_move(struct xb_txn *txn, struct xb_mapped *mapped)
{
	int error = move_kind(txn, XB_NET6, mapped);

	return error ? error : move_kind(txn, XB_ALLOW6, mapped);
}

void xb_mapped_tell_left_out(const struct xb_mapped *mapped)
{
	char text[XB_ENTRY_TEXT];

	if (mapped->left_out)
		xb_notice("%" PRIu64 " entries in the form ::ffff:0:0/96 are left out: they never "
			  "matched a packet, and would be too wide as IPv4 (first: %s, %s)%s",
			  mapped->left_out, xb_entry_format(&mapped->first, text),
			  xb_too_wide(&mapped->first), xb_advice(XB_ADVICE_TAKE_LEFT_OUT));
}
