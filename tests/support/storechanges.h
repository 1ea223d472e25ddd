/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes of what a store lists, as text. */
#ifndef XB_TEST_STORECHANGES_H
#define XB_TEST_STORECHANGES_H

#include <stdlib.h>
#include <string.h>

#include "model/verdict.h"
#include "store/listverdict.h"
#include "store/membership.h"
#include "support/listed.h"

static inline void take_entry(struct xb_txn *txn, const char *entry, const char *list)
{
	struct xb_entry gone = entry_of(entry);
	enum xb_removal removal;

	assert_int_equal(
		xb_member_remove(txn, &gone, list ? list_of(txn, list)->id : XB_ANY_LIST, &removal),
		0);
}

static inline void give_verdict(struct xb_txn *txn, const char *list, const char *word)
{
	uint32_t verdict;

	assert_int_equal(xb_domain_verdict_parse(word, &verdict), 0);
	assert_int_equal(xb_domain_verdict_set(txn, list_of(txn, list), verdict), 0);
}

/* In order: "+ENTRY LIST[ EXPIRES[ COMMENT]]; -ENTRY[ LIST]; LIST VERDICT; ...". What is put again
 * is renewed. */
static inline void make_changes(struct xb_txn *txn, const char *changes)
{
	char copy[1024], *rest = copy, *change;

	assert_true(strlen(changes) < sizeof(copy));
	strcpy(copy, changes);
	while ((change = strsep(&rest, ";"))) {
		char *first, *second, *third;

		change += strspn(change, " ");
		first = strsep(&change, " ");
		second = strsep(&change, " ");
		third = strsep(&change, " ");
		if (*first == '+')
			put_entry(txn, first + 1, second, third ? (uint32_t)atoll(third) : 0,
				  change, XB_RENEW_EXPIRY | XB_RENEW_COMMENT);
		else if (*first == '-')
			take_entry(txn, first + 1, second);
		else if (*first)
			give_verdict(txn, first, second);
	}
}

#endif
