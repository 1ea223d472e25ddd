/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Allocated arrays that grow. */
#ifndef XB_CORE_ARRAY_H
#define XB_CORE_ARRAY_H

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"

/* Makes room for `need` elements; array is the address of the pointer. */
static inline int xb_array_grow(void *array, size_t *room, size_t need, size_t size)
{
	size_t more = *room * 2 > need ? *room * 2 : need + 1024;
	void *grown;

	if (need <= *room)
		return 0;
	memcpy(&grown, array, sizeof(grown));
	grown = reallocarray(grown, more, size);
	if (!grown)
		return xb_out_of_memory();
	memcpy(array, &grown, sizeof(grown));
	*room = more;
	return 0;
}

#endif
