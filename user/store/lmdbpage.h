/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LMDB trusts the header of a page: where its free place begins and ends, and what kind of page it
 * is. With a damaged one a search never ends, a copy of the page goes beyond its memory, and what
 * is written then is anything. So each page of the file that a search comes to is looked at before
 * LMDB does more with it. Pages that a transaction has made are LMDB's own, and are not looked at.
 */
#ifndef XB_STORE_LMDBPAGE_H
#define XB_STORE_LMDBPAGE_H

#include <lmdb.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Whether the page, of this many bytes, can be one that has this number and LMDB 0.9 searches: a
 * branch or a leaf with one key at least, whose nodes are within it (MDB_page and MDB_node in
 * LMDB's mdb.c).
 */
bool xb_lmdbpage_is_sound(const void *page, size_t bytes, uint64_t number);

/*
 * A transaction begins, and nothing was done in it. Learns where LMDB has the file; of one without
 * tables it learns nothing, and no page is looked at. Returns LMDB's errors.
 */
int xb_lmdbpage_begin(MDB_txn *txn);
/* The environment is closed. */
void xb_lmdbpage_forget(void);

/* As mdb_dbi_open(): searches in this table look at pages. At a damaged one xb_lmdbcrash_end() is
 * called; if it returns, LMDB goes on with the page. */
int xb_lmdbpage_open(MDB_txn *txn, const char *name, unsigned int flags, MDB_dbi *table);

/* Whether this, which is no large value, is in a sound page, or in none of the file. */
bool xb_lmdbpage_holds(const MDB_val *value);

/* Deletes the record that the cursor came to, with this key, by going on or to an end: without a
 * search. As mdb_cursor_del(). */
int xb_lmdbpage_delete(MDB_cursor *cursor, const MDB_val *key);

#endif
