/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A chain of chunks, each larger than the one before. */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

#define CHUNK_MIN 4096
#define CHUNK_MAX ((size_t)1 << 20)

struct xb_arena_chunk {
	struct xb_arena_chunk *before;
	char bytes[];
};

static int grow(struct xb_arena *arena, size_t size)
{
	size_t room = arena->room ? 2 * arena->room : CHUNK_MIN;
	struct xb_arena_chunk *chunk;

	if (room > CHUNK_MAX)
		room = CHUNK_MAX;
	if (room < size)
		room = size;
	chunk = room <= SIZE_MAX - sizeof(*chunk) ? malloc(sizeof(*chunk) + room) : NULL;
	if (!chunk)
		return xb_out_of_memory();
	chunk->before = arena->last;
	*arena = (struct xb_arena){
		.last = chunk, .room = room, .before = arena->before + arena->room};
	return 0;
}

void *xb_arena_copy(struct xb_arena *arena, const void *bytes, size_t size)
{
	char *copy;

	if ((!arena->last || arena->room - arena->used < size) && grow(arena, size))
		return NULL;
	copy = arena->last->bytes + arena->used;
	memcpy(copy, bytes, size);
	arena->used += size;
	return copy;
}

void xb_arena_free(struct xb_arena *arena)
{
	while (arena->last) {
		struct xb_arena_chunk *before = arena->last->before;

		free(arena->last);
		arena->last = before;
	}
	*arena = (struct xb_arena){0};
}
