/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which listed names packets hit most. */
#ifndef XB_ATTACH_TOPNAMES_H
#define XB_ATTACH_TOPNAMES_H

#include <stddef.h>
#include <stdint.h>

#include "attach/anchor.h"
#include "model/name.h"

struct xb_topname {
	uint64_t packets;	 /* a lower bound, since the anchor is up */
	char name[XB_NAME_TEXT]; /* as it is listed */
};

/* Reads the listed names that were hit, most packets first; the caller frees *all. A name that
 * shares its slot with others (see struct xb_hits) may have too few packets, or be missing. */
int xb_topnames_read(const struct xb_anchor *anchor, struct xb_topname **all, size_t *count);

/* Orders of struct xb_topname, for qsort(): by name; most packets first, and by name where they are
 * equal. */
int xb_topname_by_name(const void *a, const void *b);
int xb_topname_by_packets(const void *a, const void *b);

#endif
