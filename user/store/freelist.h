/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The pages of the store's file that LMDB may use again. */
#ifndef XB_STORE_FREELIST_H
#define XB_STORE_FREELIST_H

#include <lmdb.h>

/*
 * Whether the list of free pages can be true: LMDB writes by it without a check, beyond its own
 * memory if a count is wrong, and a page that is listed twice would be used twice. `writer` has
 * changed nothing yet. Returns 0, MDB_CORRUPTED, ENOMEM or an error of LMDB, without a message.
 */
int xb_freelist_check(MDB_txn *writer);

#endif
