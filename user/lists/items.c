/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists/items.h"

#include <stdlib.h>
#include <string.h>

const char *xb_listfile_comment(const struct xb_listfile *file, const struct xb_item *item)
{
	return item->comment ? file->comments + item->comment : "";
}

void xb_listfile_free(struct xb_listfile *file)
{
	free(file->items);
	free(file->comments);
	free(file->first_unknown);
	xb_arena_free(&file->names);
	memset(file, 0, sizeof(*file));
}
