/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Telling what a dead writer left from a change that is being made: where store and kernel stand,
 * to be compared with where they stand a little later. */
#ifndef XB_ENGINE_MOMENT_H
#define XB_ENGINE_MOMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/paths.h"

/* Every change moves at least one of these. */
struct xb_moment {
	uint64_t transaction; /* the last one of the store; 0: there is no store */
	uint64_t generation;  /* identity of the one in force; 0: none */
	uint64_t applied, mark;
	uint32_t slot, dirty, policy;
};

/* Opens what there is, without a lock; 0 or an error with its message. No store is open. */
int xb_moment_take(const struct xb_paths *paths, struct xb_moment *moment);

bool xb_moment_is_same(const struct xb_moment *a, const struct xb_moment *b);

/* Whether somebody who is alive may be changing something now; then holder names the process. */
bool xb_moment_is_busy(const struct xb_paths *paths, char *holder, size_t size);

#endif
