/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tallies: figures for the metrics that neither the store nor the kernel has, because a process did
 * something. All processes of an installation share one small file in the run directory. So figures
 * survive the end of a process, by kill -9 too, and begin anew with the machine, as the kernel's
 * do.
 */
#ifndef XB_ENGINE_TALLIES_H
#define XB_ENGINE_TALLIES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/paths.h"
#include "engine/tallyfamily.h"

/*
 * All of these are cheap, never wait, and never fail: where the file cannot be used (no room, no
 * right to it, no state directory yet) the figure is lost, and what is being counted goes on.
 * Several processes may add at the same time; of one process, only one thread. A child of fork()
 * may add too.
 *
 * labels: as many as the family has, NULL for those that it does not have. Their values are words
 * of the program or names from the configuration, at most XB_TALLY_LABEL - 1 bytes (longer ones are
 * cut); never an address, a domain, a comment, a URL or anything that a client sent. A family has a
 * fixed number of cells: what finds none is added to the cell of `_other`, and a gauge is dropped.
 */
#define XB_TALLY_LABEL 72

/* Adds to a counter. Amount 0 makes it visible: a counter should be 0 before its first event, so
 * that an alert sees the first one. */
void xb_tally_add(const struct xb_paths *paths, enum xb_tally family, const char *label1,
		  const char *label2, uint64_t amount);

/* Enters a duration into a histogram. */
void xb_tally_time(const struct xb_paths *paths, enum xb_tally family, uint64_t nanoseconds);

/* Sets a gauge. */
void xb_tally_set(const struct xb_paths *paths, enum xb_tally family, const char *label1,
		  uint64_t value);

/* Shows nothing of this first label any more in any family that begins with the label of `family`
 * ("feed"): the thing is gone. Its counters go on where they were if it comes back. */
void xb_tally_forget(const struct xb_paths *paths, enum xb_tally family, const char *label1);

/* For main() of a program that ends soon: from now on, this process adds to the file only if it is
 * there, because until somebody has looked at metrics nobody misses any. */
void xb_tallies_join(void);

/* Makes the file, also in such a process. True: it was not there, and now is. */
bool xb_tallies_make(const struct xb_paths *paths);

/* For those who stay: uses the file that is there now, if somebody removed or replaced the one in
 * use. One system call or two. */
void xb_tallies_look(const struct xb_paths *paths);

/* For tests, and before a process changes its root or its rights: lets go of the file. */
void xb_tallies_close(void);

/* --- for those who show them --- */

#define XB_TALLY_BOUNDS 14
/* Upper bounds of a histogram's buckets in ns, ascending; what is longer is in the last bucket. */
extern const uint64_t xb_tally_bounds[XB_TALLY_BOUNDS];

/* A cell as it was at one moment. */
struct xb_tally_cell {
	char label[2][XB_TALLY_LABEL];	      /* "": the family has fewer */
	uint64_t value;			      /* of a histogram the sum, in ns */
	uint64_t bucket[XB_TALLY_BOUNDS + 1]; /* of a histogram, not cumulated */
};

/*
 * Calls `show` for each cell of the family, no two with the same labels. A family without labels
 * has its one cell always, with 0 if there is no file.
 */
void xb_tally_each(const struct xb_paths *paths, enum xb_tally family,
		   void (*show)(const struct xb_tally_cell *cell, void *context), void *context);

#endif
