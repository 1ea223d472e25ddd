/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Allocated arrays, perhaps large ones, perhaps growing. */
#ifndef XB_BASE_ARRAY_H
#define XB_BASE_ARRAY_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Elements of an array whose size is known here. */
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

#define XB_HUGE_PAGE ((size_t)2 << 20)
#define XB_HUGE_MOST ((size_t)64 << 20)

/*
 * Allocates without initializing; NULL without a message. The caller frees it with free(). A large
 * array gets huge pages if the kernel gives them on request, because filling it would otherwise be
 * mostly page faults. A very large one does not: in a virtual machine whose host takes free memory
 * back, so many huge pages cost more than they save.
 */
static inline void *xb_array_alloc(size_t count, size_t size)
{
	char *array = reallocarray(NULL, count, size);
	uintptr_t first = ((uintptr_t)array + XB_HUGE_PAGE - 1) & ~(XB_HUGE_PAGE - 1);
	uintptr_t last = ((uintptr_t)array + count * size) & ~(XB_HUGE_PAGE - 1);

	if (array && first < last && last - first <= XB_HUGE_MOST)
		madvise((void *)first, last - first, MADV_HUGEPAGE);
	return array;
}

/* Grows the array to more than `need` elements, so that appending stays cheap. */
int xb_array_grow_beyond(void *array, size_t *room, size_t need, size_t size);

/* Makes room for `need` elements; array is the address of the pointer. */
static inline int xb_array_grow(void *array, size_t *room, size_t need, size_t size)
{
	return need <= *room ? 0 : xb_array_grow_beyond(array, room, need, size);
}

/* Sets a text to a copy of the value, and frees what it was before. Without memory: -EIO, and the
 * text stays as it is. */
int xb_array_set_text(char **text, const char *value);

#endif
