/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists/items.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

int xb_listfile_widen(struct xb_listfile *file)
{
	struct xb_item *items;

	if (!file->bare)
		return 0;
	items = xb_array_alloc(file->room, sizeof(*items));
	if (!items)
		return xb_out_of_memory();
	for (size_t i = 0; i < file->count; i++)
		items[i] = xb_listfile_at(file, i);
	free(file->bare);
	file->bare = NULL;
	file->items = items;
	return 0;
}

const char *xb_listfile_comment(const struct xb_listfile *file, const struct xb_item *item)
{
	return item->comment ? file->comments + item->comment : file->comment ?: "";
}

void xb_unknown_lines_show(const struct xb_unknown_line *lines, size_t count, size_t most,
			   char *out, size_t size)
{
	size_t used = 0;

	*out = '\0';
	for (size_t i = 0; i < count && i < most && used < size; i++) {
		char number[24] = "";

		if (lines[i].line)
			snprintf(number, sizeof(number), "%" PRIu64 ": ", lines[i].line);
		used += (size_t)snprintf(out + used, size - used, "%s%s%s", i ? ", " : "", number,
					 lines[i].text);
	}
	if (count > most && used < size)
		used += (size_t)snprintf(out + used, size - used, ", ...");
	if (used >= size && size > sizeof("..."))
		strcpy(out + size - sizeof("..."), "...");
}

static uint64_t held(const struct xb_listfile *file)
{
	return file->room * sizeof(*file->items) + file->comment_room +
	       file->unknown_room * sizeof(*file->first_unknown) + file->names.before +
	       file->names.room + file->bound->text + file->bound->values;
}

int xb_listfile_may_grow(const struct xb_listfile *file, uint64_t bytes)
{
	uint64_t all = file->bound ? held(file) + bytes : 0;

	if (!file->bound || file->bound->may_hold(file->bound->to, all))
		return 0;
	return xb_input_error("lines of this format mean something only together, and they take "
			      "more than %llu MiB of memory",
			      (unsigned long long)(all - bytes) >> 20);
}

void xb_listfile_free(struct xb_listfile *file)
{
	free(file->items);
	free(file->bare);
	free(file->comments);
	free(file->first_unknown);
	xb_arena_free(&file->names);
	memset(file, 0, sizeof(*file));
}
