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
#include "store/store.h"

struct xb_renamed {
	uint32_t ifindex; /* of the row */
	char former[IF_NAMESIZE], name[IF_NAMESIZE];
};

/* Reads all; the caller frees *renamed. count 0: all rows have their names. */
int xb_renamed_get(struct xb_txn *txn, struct xb_renamed **renamed, size_t *count);

/* Writes these in place of all others. */
int xb_renamed_put(struct xb_txn *txn, const struct xb_renamed *renamed, size_t count);

int xb_renamed_remove(struct xb_txn *txn);

#endif
