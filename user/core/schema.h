/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stores that earlier versions wrote. */
#ifndef XB_CORE_SCHEMA_H
#define XB_CORE_SCHEMA_H

#include "store.h"

#define XB_SCHEMA 6

/* Whether the store has tables of an earlier version. */
bool xb_schema_is_old(MDB_txn *txn);

/* Moves them into today's, in one transaction. */
int xb_schema_upgrade(struct xb_store *store);

/* The meta record of an earlier version as if it were today's. Of one that had its size, *meta is
 * what is stored. */
int xb_schema_upgrade_meta(struct xb_meta *meta, const MDB_val *value);

#endif
