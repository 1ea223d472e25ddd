/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries put into the lists of a store. */
#ifndef XB_TEST_MEMBER_H
#define XB_TEST_MEMBER_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

#include "store/membership.h"

/* Puts the entry that the text means into the list of the membership; allow: as one that is
 * allowed. */
static inline void put_member(struct xb_txn *txn, const char *text, bool allow,
			      const struct xb_membership *member)
{
	uint8_t form[XB_NAME_BYTES];
	struct xb_entry entry;
	enum xb_put result;

	assert_int_equal(xb_entry_parse(text, strlen(text), form, &entry, NULL), 0);
	if (allow)
		entry = xb_entry_allow(&entry);
	assert_int_equal(xb_member_put(txn, &entry, member, 0, &result), 0);
}

#endif
