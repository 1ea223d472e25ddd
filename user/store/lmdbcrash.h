/* SPDX-License-Identifier: GPL-2.0-or-later */
/* LMDB trusts its file: if the file is damaged, LMDB reads where nothing is mapped, follows a NULL,
 * writes beyond its memory, or fails an assertion. */
#ifndef XB_STORE_LMDBCRASH_H
#define XB_STORE_LMDBCRASH_H

#include <lmdb.h>

/*
 * Sets the message for the case that LMDB does that with this file. A process whose main() watches
 * for it (base/mapfault.h) ends with it. In one where nobody watches, the fault takes the default
 * action, and LMDB's assertion aborts: it ends by SIGSEGV, SIGBUS or SIGABRT without a message, and
 * no call of the store returns an error. In both cases its work is as after kill -9, and the next
 * writer repairs what was half done.
 */
void xb_lmdbcrash_expect(MDB_env *env, const char *path);

/* Damage was seen where no error can be returned: ends a process that watches; else it returns. */
void xb_lmdbcrash_end(void);

/* After that: the disk is full, and a fault may come of that as well. */
void xb_lmdbcrash_expect_full(const char *path);

#endif
