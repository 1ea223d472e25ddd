/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Digests of shared lists, by a walk through the store. */
#ifndef XB_TEST_WALKED_H
#define XB_TEST_WALKED_H

#include "store/fleet.h"
#include "store/walk.h"
#include "support/scratch_txn.h"

/* As a walk finds it, without what has expired by that time. */
static inline struct xb_digest walked(const char *name, uint32_t by)
{
	const struct xb_list *list = xb_list_by_name(txn, name);
	struct xb_digest digest = {0};
	struct xb_membership member;
	struct xb_walk walk;

	assert_int_equal(xb_walk_begin(&walk, txn, &XB_WALK_LISTED), 0);
	while (list && xb_walk_next(&walk) > 0) {
		walk.members.as_of = 0;
		if (!xb_members_have(walk.members, list->id, &member) ||
		    !xb_entry_is_shared(&walk.entry) || (member.expires && member.expires <= by))
			continue;
		xb_digest_count(&digest, &walk.entry, member.expires, member.comment,
				member.comment_size, 1);
	}
	xb_walk_end(&walk);
	return digest;
}

/* Those in the store are what walks find, also without what has expired by that time. */
static inline void assert_digests(uint32_t by)
{
	size_t count;
	const struct xb_share *shares = xb_shares(txn, &count);

	for (size_t i = 0; i < count; i++) {
		struct xb_digest all = walked(shares[i].list, 0), late = walked(shares[i].list, by),
				 found;

		assert_true(xb_digest_equals(&shares[i].digest, &all));
		assert_int_equal(xb_share_digest(txn, &shares[i], by, &found), 0);
		assert_true(xb_digest_equals(&found, &late));
	}
}

#endif
