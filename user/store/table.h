/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table of LMDB. */
#ifndef XB_STORE_TABLE_H
#define XB_STORE_TABLE_H

#include "store/types.h"

/* Whether so many records are all that the table should have: pages of it may be damaged, or
 * another table's, with nothing wrong in them. */
bool xb_table_has_all(struct xb_txn *txn, MDB_dbi table, size_t found);

#endif
