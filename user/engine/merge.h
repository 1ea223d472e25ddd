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
	/* The outcome, in entries. */
	uint64_t added, renewed, unchanged, removed;
};

/* Returns 0 if the store can hold every expiry (up to 2106), or an error with its message. */
int xb_merge_check(const struct xb_merge *merge);

/* In a write transaction: adds the entries of the file to the list. */
int xb_merge_add(struct xb_txn *txn, struct xb_merge *merge);

/* In a write transaction: adds the entries of the file, and removes all others from the list. */
int xb_merge_replace(struct xb_txn *txn, struct xb_merge *merge);

#endif
