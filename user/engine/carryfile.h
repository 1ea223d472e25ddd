/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where in the file of the tallies lies what engine/carry.h keeps of each interface. */
#ifndef XB_ENGINE_CARRYFILE_H
#define XB_ENGINE_CARRYFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/paths.h"
#include "xdp_bloom/layout.h"

/* As many interfaces as can be attached, and some that were. The first is that of `_other`. */
#define XB_CARRY_ROWS (XB_IFACE_ROWS + 64)

/* What is shown of an interface: offset + last, wherever the kernel began to count. */
struct xb_carry_state {
	char name[16];
	uint64_t source;	 /* table of statistics << 32 | ifindex; 0: it has no row now */
	struct xb_counts offset; /* modulo 2^64, so it may stand for less than 0 */
	struct xb_counts last;	 /* of the kernel, when somebody looked */
};

/* A process that dies while it writes one state leaves the other. */
struct xb_carry_row {
	uint64_t turn; /* state[turn % 2] is valid */
	struct xb_carry_state state[2];
};

#define XB_CARRY_BYTES (XB_CARRY_ROWS * sizeof(struct xb_carry_row))

struct xb_carry_region {
	uint64_t *used;		  /* rows that are used, and so have room */
	uint64_t *version;	  /* odd while somebody writes */
	struct xb_carry_row *row; /* NULL: the file cannot be used; then so are the others */
	size_t offset;		  /* of the rows, for xb_tallyfile_reserve() */
};

/* create: makes the file if it is not there, unless xb_tallies_join() was called. */
struct xb_carry_region xb_carry_region(const struct xb_paths *paths, bool create);

#endif
