/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How large a blocked Bloom filter must be for a number of keys and a promised false-positive rate.
 */
#ifndef XB_BLOOM_SIZING_H
#define XB_BLOOM_SIZING_H

#include <stdint.h>

#include "xdp_bloom/known.h"
#include "xdp_bloom/layout.h"

/* The rates that can be asked for. */
#define XB_RATE_MIN 1e-9
#define XB_RATE_MAX 0.1

/*
 * The false-positive rate of a look-up when blocks hold `load` keys on average. The keys of a block
 * are Poisson distributed (Putze, Sanders, Singler, JEA 2009, section 3); within a block each probe
 * has its own 64-bit word.
 */
double xb_expected_rate(double load, uint32_t probes);

/*
 * Blocks, probes and capacity for `keys` (at least 1) and rate. Fails when the filter would need
 * more than 2^32 - 1 blocks.
 */
int xb_size_bloom(uint64_t keys, double rate, struct xb_geometry *geometry);

/*
 * Known sources (xdp_bloom/known.h): the share of strangers that a line takes for known, when each
 * of two periods put `load` sources into a line on average. Lines are Poisson distributed as above;
 * a stranger is taken for known if all its bits are set in the half of one period.
 */
double xb_known_rate(double load);

/* Lines for `capacity` sources in a period (at least 1) and this rate; fails when there would be
 * more than 2^32 - 1. */
int xb_size_known(uint64_t capacity, double rate, uint32_t *lines);

/* How many sources set `bits` bits in halves of so many lines: as Swamidass, Baldi 2007, with the
 * number of sources in a line Poisson distributed. */
double xb_known_sources(uint64_t bits, uint64_t lines);

/* Room for growth that a new generation has: a 64th, and some thousands for small lists. */
uint64_t xb_size_headroom(uint64_t keys);

#endif
