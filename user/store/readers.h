/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who reads the store as it was some transactions ago: nothing freed since then can be used again,
 * so that the file grows. */
#ifndef XB_STORE_READERS_H
#define XB_STORE_READERS_H

#include <lmdb.h>
#include <stddef.h>

struct xb_reader {
	int process;
	size_t behind; /* transactions */
};

/* The one that is furthest behind, other than this process; behind is 0 if there is none. Those
 * that died are none: opening the store cleared them. */
struct xb_reader xb_readers_last(MDB_env *env);

#endif
