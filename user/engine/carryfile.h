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

/* What is shown of an interface: offset + what the kernel counts, wherever that began. */
struct xb_carry_state {
	uint64_t source; /* table of statistics << 32 | ifindex; 0: none, `last` is all there is */
	struct xb_counts offset; /* may be "negative": modulo 2^64 */
	struct xb_counts last;	 /* of the kernel, when somebody looked */
};

struct xb_carry_row {
	char name[16]; /* "": free */
	uint64_t turn; /* state[turn % 2] is valid */
	struct xb_carry_state state[2];
};

#define XB_CARRY_BYTES (XB_CARRY_ROWS * sizeof(struct xb_carry_row))

/* The rows in the mapped file, and their offset in it, for xb_tallyfile_reserve(); as
 * xb_tallyfile(), NULL included. */
struct xb_carry_row *xb_carry_region(const struct xb_paths *paths, bool create, size_t *offset);

#endif
