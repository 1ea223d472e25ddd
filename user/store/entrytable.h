/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of entries in the store, in order, each with a value that is not empty; many to a
 * record of LMDB, see store/leaf.h. */
#ifndef XB_STORE_ENTRYTABLE_H
#define XB_STORE_ENTRYTABLE_H

#include "store/types.h"

int xb_entries_open(struct xb_txn *txn);
void xb_entries_close(struct xb_txn *txn);

/* Writes the changes that are kept in memory. Called before a commit. */
int xb_entries_flush(struct xb_txn *txn);

/* Gets the value, which is valid until the next call for this transaction other than a scan's.
 * -ENOENT without a message: there is no such entry. */
int xb_entries_get(struct xb_txn *txn, const struct xb_entry *entry, MDB_val *value);

/* Sets the value of the entry for which xb_entries_get() was last called, and creates the entry if
 * it is missing; an empty value removes it. */
int xb_entries_set(struct xb_txn *txn, const MDB_val *value);

int xb_entries_remove_all(struct xb_txn *txn);

/* A position in the table, for reading in order. The transaction may change the table meanwhile. */
struct xb_scan {
	struct xb_txn *txn;
	MDB_cursor *cursor;
	struct xb_leaf_reader reader;
	bool in_memory; /* reads the part that the transaction keeps in memory */
	uint64_t version;
};

int xb_scan_begin(struct xb_scan *scan, struct xb_txn *txn);
void xb_scan_end(struct xb_scan *scan);

/* Move to the first entry that is not before the key, and to the next one. Return 1 at an entry,
 * with key and value in scan->reader, 0 behind the last, or a negative error. */
int xb_scan_seek(struct xb_scan *scan, const uint8_t *key, size_t size);
int xb_scan_next(struct xb_scan *scan);

#endif
