/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How functions begin that fetch memory into the caches before it is looked at. */
#ifndef XB_BLOOMSET_PREFETCH_H
#define XB_BLOOMSET_PREFETCH_H

/* GCC 12 takes a function that only prefetches for one without effect, and leaves out calls of it,
 * unless they are inlined before it looks. */
#define PREFETCHES static inline __attribute__((always_inline)) void

#endif
