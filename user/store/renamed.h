/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interfaces whose wishes have their present names already, while their rows in the kernel may
 * still have the former ones. The transaction that moves the wishes writes this record, and whoever
 * has given the rows their names removes it: in between a row that is named after nothing that is
 * wanted would count as that of an interface that nobody wants.
 */
#ifndef XB_STORE_RENAMED_H
#define XB_STORE_RENAMED_H

#include "model/interface.h"
#include "store/types.h"

struct xb_renamed {
	uint32_t ifindex; /* of the row */
	char former[IF_NAMESIZE], name[IF_NAMESIZE];
};

/* Reads all; the caller frees *renamed. 1: there is a record, to be removed; 0: there is none;
 * negative: an error with its message. A record that is not of the last transaction says nothing,
 * *count is 0: a program that knows nothing of it may have moved wishes and named rows since. */
int xb_renamed_get(struct xb_txn *txn, struct xb_renamed **renamed, size_t *count);

/* Writes these in place of all others; count: 1 at least. */
int xb_renamed_put(struct xb_txn *txn, const struct xb_renamed *renamed, size_t count);

/* Makes a record that says something one of this transaction. Each commit does it. */
int xb_renamed_carry(struct xb_txn *txn);

int xb_renamed_remove(struct xb_txn *txn);

#endif
