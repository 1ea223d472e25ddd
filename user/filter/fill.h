/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filling the maps of a generation that judges no packet yet, on all cores. */
#ifndef XB_FILTER_FILL_H
#define XB_FILTER_FILL_H

#include "filter/contents.h"
#include "filter/generation.h"

/*
 * The maps are empty, of the sizes in the parameters, and reserved by xb_generation_map(). slotmap:
 * what the maps in front of IPv6 prefixes will hold. -EXFULL without a message: the exact table has
 * no place for a key.
 */
int xb_fill(struct xb_generation *generation, const struct xb_contents *contents,
	    const struct xb_slotmap *slotmap);

#endif
