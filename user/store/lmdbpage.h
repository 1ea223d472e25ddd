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

/* The two pages that LMDB 0.9 begins a file with have this at this place, in the byte order of the
 * machine (struct MDB_meta behind the header of a page). */
#define XB_LMDB_MAGIC	    0xbeefc0deU
#define XB_LMDB_MAGIC_PLACE 16

/*
 * Whether the page, of this many bytes, can be one that has this number and LMDB 0.9 searches: a
 * branch or a leaf with one key at least, whose nodes are within it and fill what is not free
 * (MDB_page and MDB_node in LMDB's mdb.c).
 */
bool xb_lmdbpage_is_sound(const void *page, size_t bytes, uint64_t number);

/*
 * A transaction begins, and nothing was done in it. Learns where LMDB has the file; of one without
 * tables, or with pages larger than the kernel's, it learns nothing, and no page is looked at.
 * Returns LMDB's errors.
 */
int xb_lmdbpage_begin(MDB_txn *txn);
/* The environment is closed. */
void xb_lmdbpage_forget(void);

/* As mdb_dbi_open(): searches in this table look at pages. At a damaged one xb_lmdbcrash_end() is
 * called; if it returns, LMDB goes on with the page. */
int xb_lmdbpage_open(MDB_txn *txn, const char *name, unsigned int flags, MDB_dbi *table);

/* Whether the pages of its own that a large value has in the file are its own. */
bool xb_lmdbpage_is_whole(const MDB_val *value);
/* Before the record with this key is written anew: LMDB frees what a large value has. Returns
 * LMDB's errors, MDB_NOTFOUND among them. */
int xb_lmdbpage_check(MDB_txn *txn, MDB_dbi table, const MDB_val *key);
/* As mdb_del(), after that look. */
int xb_lmdbpage_delete(MDB_txn *txn, MDB_dbi table, const MDB_val *key);

/* Whether all pages of LMDB's table of free pages are sound: its keys LMDB compares by itself. */
bool xb_lmdbpage_free_is_sound(MDB_txn *reader);

#endif
