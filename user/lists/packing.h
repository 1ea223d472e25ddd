/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a file can be packed: by gzip or zstd. */
#ifndef XB_LISTS_PACKING_H
#define XB_LISTS_PACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What goes in and comes out. */
struct xb_packed {
	const uint8_t *in;
	size_t in_bytes; /* left of it */
	uint8_t *out;
	size_t out_bytes; /* room left */
	bool between;	  /* one stream has ended, and none has begun since */
	uint64_t memory;  /* that it may take; 0: what it takes by itself */
	void *state;
};

/* begin() makes the state; step() moves on as far as it can, both 0 or an error without the name of
 * the file; end() takes NULL as well. */
struct xb_packing {
	const char *name;
	uint8_t magic[6];
	size_t magic_bytes;
	int (*begin)(struct xb_packed *packed); /* NULL: cannot be unpacked */
	int (*step)(struct xb_packed *packed);
	void (*end)(struct xb_packed *packed);
};

/* By the first bytes of a file, of which 6 are enough; NULL: it is not packed. */
const struct xb_packing *xb_packing_of(const uint8_t *bytes, size_t size);

#endif
