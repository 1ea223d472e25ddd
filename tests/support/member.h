/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries put into the lists of a store. */
#ifndef XB_TEST_MEMBER_H
#define XB_TEST_MEMBER_H

#include "store/membership.h"
#include "support/entryof.h"

/* Puts the entry that the text means into the list of the membership; allow: as one that is
 * allowed. */
static inline void put_member(struct xb_txn *txn, const char *text, bool allow,
			      const struct xb_membership *member)
{
	struct xb_entry entry = entry_of(text);
	enum xb_put result;

	if (allow)
		entry = xb_entry_allow(&entry);
	assert_int_equal(xb_member_put(txn, &entry, member, 0, &result), 0);
}

#endif
