/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Puts the entries of a list file into a list of the store. */
#ifndef XB_ENGINE_MERGE_H
#define XB_ENGINE_MERGE_H

#include "lists/reader.h"
#include "store/store.h"

struct xb_merge {
	const struct xb_listfile *file;
	uint32_t list;
	uint32_t now; /* seconds since 1970 */
	/* What came of it. */
	uint64_t added, renewed, unchanged, removed;
};

/* Whether every timeout ends before the store's time does. */
int xb_import_check(const struct xb_merge *merge);

/* Puts into the list what the file has. */
int xb_import_add(struct xb_txn *txn, struct xb_merge *merge);

/* Makes the list what the file is: the same, and takes out all else. */
int xb_import_replace(struct xb_txn *txn, struct xb_merge *merge);

#endif
