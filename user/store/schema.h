/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stores that earlier versions wrote. */
#ifndef XB_STORE_SCHEMA_H
#define XB_STORE_SCHEMA_H

#include "store/txn.h"

/* Whether the store has tables of an earlier version. */
bool xb_schema_is_old(MDB_txn *txn);

/* Moves them into the present tables, in one transaction. */
int xb_schema_upgrade(struct xb_store *store);

#endif
