/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How arrays grow. */
#include "base/array.h"

#include <string.h>

#include "base/error.h"

int xb_array_grow_beyond(void *array, size_t *room, size_t need, size_t size)
{
	size_t more = *room * 2 > need ? *room * 2 : need + 16;
	void *grown;

	if (more < need) /* it wrapped */
		return xb_out_of_memory();
	memcpy(&grown, array, sizeof(grown));
	grown = reallocarray(grown, more, size);
	if (!grown)
		return xb_out_of_memory();
	memcpy(array, &grown, sizeof(grown));
	*room = more;
	return 0;
}

int xb_array_set_text(char **text, const char *value)
{
	char *copy = strdup(value);

	if (!copy)
		return xb_out_of_memory();
	free(*text);
	*text = copy;
	return 0;
}
