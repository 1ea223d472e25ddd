/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes kept together and freed together: the names that entries point to. */
#ifndef XB_BASE_ARENA_H
#define XB_BASE_ARENA_H

#include <stddef.h>

struct xb_arena_chunk;

/* All zero is an empty one. */
struct xb_arena {
	struct xb_arena_chunk *last;
	size_t used, room; /* of the last chunk */
	size_t before;	   /* room of all others */
};

/* A copy that stays where it is until the arena is freed; NULL with a message. */
void *xb_arena_copy(struct xb_arena *arena, const void *bytes, size_t size);

void xb_arena_free(struct xb_arena *arena);

#endif
