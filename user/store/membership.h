/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which lists name an entry, since when, until when, and why: the heart of the store. */
#ifndef XB_STORE_MEMBERSHIP_H
#define XB_STORE_MEMBERSHIP_H

#include "model/comment.h"
#include "store/store.h"

enum xb_put {
	XB_PUT_LISTED,	/* the entry was in no list before */
	XB_PUT_JOINED,	/* it was in others */
	XB_PUT_RENEWED, /* it was in this one; expiry or comment changed */
	XB_PUT_SAME,	/* it was in this one, and stays as it was */
};

/* What an existing membership takes from a new one. */
#define XB_RENEW_EXPIRY	 1U
#define XB_RENEW_COMMENT 2U

/* Changes of memberships share a buffer of the process: only one thread at a time may make them. */

/* Puts the entry into the list. renew: XB_RENEW_ bits. *result: what changed. */
int xb_member_put(struct xb_txn *txn, const struct xb_entry *entry,
		  const struct xb_membership *member, unsigned int renew, enum xb_put *result);

#define XB_ANY_LIST 0
#define XB_NO_LIST  UINT32_MAX /* the identity of none */

enum xb_removal {
	XB_REMOVAL_ABSENT,   /* it was not there; nothing changed */
	XB_REMOVAL_LEFT,     /* other lists still name it */
	XB_REMOVAL_UNLISTED, /* it is in no list any more */
};

/* Takes the entry out of the list, or out of all (XB_ANY_LIST). */
int xb_member_remove(struct xb_txn *txn, const struct xb_entry *entry, uint32_t list,
		     enum xb_removal *result);

/* Counts an entry among the totals. one: 1, or its negative to take it out. */
void xb_totals_count(struct xb_totals *totals, const struct xb_entry *entry, uint64_t one);

/* The same for a membership that has expired: each host of a fleet takes these out by itself. */
int xb_member_expire(struct xb_txn *txn, const struct xb_entry *entry, uint32_t list,
		     enum xb_removal *result);

/* The memberships of one entry, to be read until the transaction changes or ends. */
struct xb_members {
	const uint8_t *next, *end;
	uint32_t as_of; /* of the transaction */
};

/* Those in a value of the table of entries. */
static inline struct xb_members xb_members_in(const struct xb_txn *txn, const uint8_t *value,
					      size_t size)
{
	return (struct xb_members){.next = value, .end = value + size, .as_of = txn->as_of};
}

/* -ENOENT without a message if the entry is not listed. */
int xb_members_of(struct xb_txn *txn, const struct xb_entry *entry, struct xb_members *members);
bool xb_members_next(struct xb_members *members, struct xb_membership *member);
bool xb_members_any(struct xb_members members);
bool xb_members_have(struct xb_members members, uint32_t list, struct xb_membership *member);

/* Whether xb_member_put() with this membership would change nothing. */
bool xb_members_stay(struct xb_members members, const struct xb_membership *member,
		     unsigned int renew);

/* Whether any listed entry other than itself, of the same kind, covers it. *covering: the longest,
 * if not NULL. */
int xb_member_covered(struct xb_txn *txn, const struct xb_entry *entry, struct xb_entry *covering);

/* The classes of an address with these members, a bit for each; without any, 0. */
uint32_t xb_members_classes(struct xb_txn *txn, struct xb_members members);

/* The verdict for queries for the domain: the strictest of the lists among members. */
enum xb_domain_verdict xb_members_verdict(struct xb_txn *txn, struct xb_members members);

#endif
