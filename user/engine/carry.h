/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Packets and bytes of each interface that never go backwards. The kernel counts from 0 when an
 * interface is attached again, and when a new version replaces the anchor; what was counted before
 * is carried on in the file of the tallies, by the name of the interface. Whoever reads the counts
 * remembers them there, and so does whoever detaches an interface.
 */
#ifndef XB_ENGINE_CARRY_H
#define XB_ENGINE_CARRY_H

#include "attach/anchor.h"
#include "base/paths.h"
#include "engine/carryfile.h"

#define XB_CARRY_OTHER                                                                             \
	"_other" /* of interfaces without a row, or that nobody has seen for long                  \
		  */

struct xb_carried {
	char name[16];
	struct xb_counts counts;
};

/* For main(): from now on, interfaces that this process detaches are remembered. The paths must
 * stay valid. */
void xb_carry_begin(const struct xb_paths *paths);

/*
 * Every interface that is enrolled, or was since the machine started; the first is
 * XB_CARRY_OTHER. anchor: NULL if there is none. Waits for nobody: while another process is at the
 * file, or where it cannot be used, the counts are right and only not remembered. Returns 0 or an
 * error with its message; the caller frees *all.
 */
int xb_carry_read(const struct xb_paths *paths, const struct xb_anchor *anchor,
		  struct xb_carried **all, size_t *count);

/* --- the rule by itself, for tests --- */

/* A row of the kernel's table now. */
struct xb_carry_live {
	char name[16];
	uint64_t source;
	struct xb_counts counts;
	struct xb_counts elsewhere; /* part of it that was shown under another name */
	bool taken;		    /* a state of the book has it */
};

/* What is remembered; the first state is XB_CARRY_OTHER. */
struct xb_carry_book {
	struct xb_carry_state *state; /* XB_CARRY_ROWS of them */
	size_t count;		      /* of those that are used, at least 1 */
};

/* Brings the book up to date with the rows, of which there are at most XB_IFACE_ROWS; `elsewhere`
 * and `taken` are zero before the call. */
void xb_carry_advance(struct xb_carry_book *book, struct xb_carry_live *live, size_t count);

/* What the state shows. */
void xb_carry_sum(const struct xb_carry_state *state, struct xb_counts *sum);

#endif
