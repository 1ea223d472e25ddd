/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits as a program needs them: how each is kept, and which ports have it. */
#ifndef XB_FILTER_LIMITMAP_H
#define XB_FILTER_LIMITMAP_H

#include "store/limits.h"
#include "xdp_bloom/layout.h"

/* How the limit is kept; it is sound. */
struct xb_meter xb_limitmap_meter(const struct xb_limit *limit);

/* By what its packets are counted: those of one name are counted together. */
uint64_t xb_limitmap_identity(const struct xb_limit *limit);

/* All of them; no limits: lines is 0. */
struct xb_limits xb_limitmap_limits(const struct xb_limits_wanted *wanted);

/* Whether any lets known sources send more. */
bool xb_limitmap_know(const struct xb_limits *limits);

/* Adds the ports of all to the words of XB_MAP_LIMIT_PORTS, which are 0. */
void xb_limitmap_add_ports(uint64_t *words, const struct xb_limits_wanted *wanted);

/* Fills the cells of the meter by chance: if all were 0, they would be "now" at one and the same
 * time when their 32 bits come round. seed: any number. */
void xb_limitmap_fill(struct xb_meter_line *lines, uint32_t count, uint64_t seed);

/* The share of sources that find each of their four cells in use by one that has used up its rate
 * and burst, and are dropped with it, while so many such sources share the lines, 1 or more. */
double xb_limitmap_share(uint64_t lines, uint64_t busy);

#endif
