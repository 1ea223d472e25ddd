/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A growing list of changes. */
#include "store/changes.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"

/* Whether something may be judged more strictly for it. What leaves an exception is judged by wider
 * entries again. */
static bool tightens(const struct xb_entry *entry, const struct xb_change *of)
{
	if (entry->kind == XB_EXCEPT_NAME)
		return of->what != XB_LISTED;
	return of->after & ~of->before && !xb_entry_is_allow(entry);
}

static int add(struct xb_changes *changes, const struct xb_entry *entry, const struct xb_change *of)
{
	struct xb_change *change;

	changes->tightens |= tightens(entry, of);
	if (changes->bulk)
		return 0;
	if (changes->count == XB_CHANGES_MAX) {
		xb_changes_set_bulk(changes);
		return 0;
	}
	if (xb_array_grow(&changes->change, &changes->room, changes->count + 1, sizeof(*change)))
		return -ENOMEM;
	change = &changes->change[changes->count];
	*change = *of;
	change->entry = *entry;
	if (xb_entry_is_name(entry)) {
		change->entry.name = xb_arena_copy(&changes->names, entry->name, entry->length);
		if (!change->entry.name)
			return -ENOMEM;
	}
	changes->count++;
	return 0;
}

int xb_changes_put(struct xb_changes *changes, const struct xb_change *change)
{
	return add(changes, &change->entry, change);
}

int xb_changes_add(struct xb_changes *changes, const struct xb_entry *entry, enum xb_what what)
{
	struct xb_change of = {.what = what};

	if (what != XB_LISTED)
		of.before = XB_CLASSES_ALL;
	if (what != XB_GONE)
		of.after = XB_CLASSES_ALL;
	return add(changes, entry, &of);
}

int xb_changes_move(struct xb_changes *changes, const struct xb_entry *entry, uint32_t before,
		    uint32_t after)
{
	const struct xb_change of = {.what = xb_what_of(before, after),
				     .before = (uint16_t)before,
				     .after = (uint16_t)after};

	return before == after ? 0 : add(changes, entry, &of);
}

int xb_changes_append(struct xb_changes *changes, const struct xb_changes *more)
{
	int error = 0;

	changes->tightens |= more->tightens;
	if (more->bulk)
		xb_changes_set_bulk(changes);
	for (size_t i = 0; !error && i < more->count; i++)
		error = add(changes, &more->change[i].entry, &more->change[i]);
	return error;
}

/* What comes of an entry whose changes began with first and ended with last; false: nothing. */
static bool net_of(const struct xb_change *first, const struct xb_change *last,
		   struct xb_change *net)
{
	*net = *last;
	net->before = first->before;
	net->what = xb_what_of(net->before, net->after);
	return net->before != net->after || (net->after && xb_entry_is_rule(&last->entry));
}

int xb_changes_settle(struct xb_changes *changes)
{
	struct xb_change *all;
	size_t kept = 0;
	int error;

	if (changes->count < 2)
		return 0;
	error = xb_entry_sort(&changes->change, changes->count, sizeof(*changes->change));
	if (error)
		return error;
	changes->room = changes->count;
	all = changes->change;
	for (size_t first = 0, last; first < changes->count; first = last + 1) {
		struct xb_change net;

		for (last = first; last + 1 < changes->count; last++)
			if (xb_entry_compare(&all[first].entry, &all[last + 1].entry))
				break;
		if (net_of(&all[first], &all[last], &net))
			all[kept++] = net;
	}
	changes->count = kept;
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
