/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the filter counted for each class of listed addresses, over all generations that had it. */
#ifndef XB_ATTACH_CLASSCOUNTS_H
#define XB_ATTACH_CLASSCOUNTS_H

#include "attach/anchor.h"

/* Before a generation with these classes is put in force: a class that another scope had, or none,
 * begins to count at 0. Returns 0 or an error with its message. */
int xb_class_counts_begin(const struct xb_anchor *anchor, const struct xb_params *params);

/* Sums the counts of the class over all CPUs; 0 if it is not the one with this identity. Returns 0
 * or an error with its message. */
int xb_class_counts_read(const struct xb_anchor *anchor, uint32_t class, uint64_t identity,
			 struct xb_count *sum);

#endif
