/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table of LMDB. */
#ifndef XB_STORE_TABLE_H
#define XB_STORE_TABLE_H

#include "store/types.h"

/* Whether the table should have exactly this many records. If not, pages of it may be lost, or
 * belong to another table, although nothing in them is wrong. */
bool xb_table_has_all(struct xb_txn *txn, MDB_dbi table, size_t found);

#endif
