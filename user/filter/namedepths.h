/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How deep the listed and allowed names go: what is behind struct xb_depths. */
#ifndef XB_FILTER_NAMEDEPTHS_H
#define XB_FILTER_NAMEDEPTHS_H

#include "model/entry.h"

/* Extends the depths to the listed (allowed) name; in force when it returns. Depths shrink only
 * with the next generation. */
void xb_namedepths_list(struct xb_depths *depths, const struct xb_entry *entry);
void xb_namedepths_allow(struct xb_depths *depths, const struct xb_entry *entry);

#endif
