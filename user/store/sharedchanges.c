/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/sharedchanges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/bogon.h"

bool xb_entry_is_shared(const struct xb_entry *entry)
{
	return !xb_entry_is_allow(entry) && !xb_too_wide(entry);
}

void xb_shared_changes_free(struct xb_shared_changes *changes)
{
	free(changes->item);
	free(changes->number);
	xb_arena_free(&changes->bytes);
	*changes = (struct xb_shared_changes){0};
}

/* Neighbours are mostly of one list. */
static const char *copy_list(struct xb_shared_changes *changes, const char *list)
{
	const char *last = changes->count ? changes->item[changes->count - 1].list : NULL;

	return last && !strcmp(last, list) ? last
					   : xb_arena_copy(&changes->bytes, list, strlen(list) + 1);
}

static const void *copy_bytes(struct xb_shared_changes *changes, const void *bytes, size_t size)
{
	return size ? xb_arena_copy(&changes->bytes, bytes, size) : "";
}

int xb_shared_changes_add(struct xb_shared_changes *changes, const struct xb_shared_change *change)
{
	struct xb_shared_change copy = *change;
	int error = xb_array_grow(&changes->item, &changes->room, changes->count + 1,
				  sizeof(*changes->item));

	if (error)
		return error;
	copy.list = copy_list(changes, change->list);
	copy.comment = copy_bytes(changes, change->comment, change->comment_size);
	if (xb_entry_is_name(&change->entry))
		copy.entry.name = copy_bytes(changes, change->entry.name, change->entry.length);
	if (!copy.list || !copy.comment || (xb_entry_is_name(&copy.entry) && !copy.entry.name))
		return -EIO;
	changes->item[changes->count++] = copy;
	return 0;
}
