/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A growing list of changes. */
#include "change.h"

#include <errno.h>
#include <stdlib.h>

#include "array.h"

int xb_changes_add(struct xb_changes *changes, const struct xb_entry *entry, enum xb_what what)
{
	struct xb_change *change;

	changes->tightens |= what == XB_LISTED && !xb_entry_is_allow(entry);
	if (changes->bulk)
		return 0;
	if (changes->count == XB_CHANGES_MAX) {
		xb_changes_set_bulk(changes);
		return 0;
	}
	if (xb_array_grow(&changes->change, &changes->room, changes->count + 1, sizeof(*change)))
		return -ENOMEM;
	change = &changes->change[changes->count];
	*change = (struct xb_change){.entry = *entry, .what = what};
	if (xb_entry_is_name(entry)) {
		change->entry.name = xb_arena_copy(&changes->names, entry->name, entry->length);
		if (!change->entry.name)
			return -ENOMEM;
	}
	changes->count++;
	return 0;
}

void xb_changes_set_bulk(struct xb_changes *changes)
{
	bool tightens = changes->tightens;

	xb_changes_free(changes);
	changes->bulk = true;
	changes->tightens = tightens;
}

void xb_changes_free(struct xb_changes *changes)
{
	free(changes->change);
	xb_arena_free(&changes->names);
	*changes = (struct xb_changes){0};
}
