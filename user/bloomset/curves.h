/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rate of a filter as curves, in SVG. */
#ifndef XB_BLOOMSET_CURVES_H
#define XB_BLOOMSET_CURVES_H

/* The rate by bits an element, a curve for each of some k and one for the best; to stdout. */
void curves_print(void);

#endif
