/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A snapshot of where store and kernel stand. Two of them, a little apart, show whether a writer is
 * at work, or a dead one left its change unfinished. */
#ifndef XB_ENGINE_MOMENT_H
#define XB_ENGINE_MOMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/paths.h"

/* Every change alters at least one of these. */
struct xb_moment {
	uint64_t transaction;	/* the last one of the store; 0: there is no store */
	uint64_t generation;	/* identity of the one in force; 0: none */
	uint64_t applied, mark; /* of the generation, see struct xb_counters_header */
	uint32_t slot, dirty, policy;
};

/* Takes the snapshot, without a lock. The caller has no store open. Returns 0, or an error with its
 * message. */
int xb_moment_take(const struct xb_paths *paths, struct xb_moment *moment);

bool xb_moment_is_same(const struct xb_moment *a, const struct xb_moment *b);

/* Whether a live process holds the writer lock; then `holder` describes it. */
bool xb_moment_is_busy(const struct xb_paths *paths, char *holder, size_t size);

#endif
