/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readers that hold an old state of the store: pages that were freed since cannot be used again,
 * so the file grows. */
#ifndef XB_STORE_READERS_H
#define XB_STORE_READERS_H

#include <lmdb.h>
#include <stddef.h>

struct xb_reader {
	int process;
	size_t behind; /* transactions */
};

/* The reader that is furthest behind, other than this process; behind is 0 if there is none.
 * Dead readers do not count: opening the store cleared them. */
struct xb_reader xb_readers_last(MDB_env *env);

#endif
