/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages for failures of LMDB, and the size that the store is built for. */
#ifndef XB_STORE_LMDBERROR_H
#define XB_STORE_LMDBERROR_H

#include <stddef.h>

#ifdef XB_FAULT_POINTS /* tests under valgrind, which has no room for more */
#define XB_STORE_GIB 4
#else
#define XB_STORE_GIB 64
#endif
#define XB_STORE_BYTES                                                                             \
	((size_t)XB_STORE_GIB << 30) /* address space only: the file grows as needed */
#define XB_STORE_READERS 1024

/* A message for a failure of LMDB: full disk, full map, damage. */
int xb_lmdb_error(int error, const char *doing);

#endif
