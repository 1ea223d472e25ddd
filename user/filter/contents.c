/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One scan of the store. */
#include "filter/contents.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/memory.h"
#include "filter/prefix6map.h"
#include "store/rulings.h"
#include "store/walk.h"

void xb_contents_free(struct xb_contents *contents)
{
	free(contents->host4);
	free(contents->net6);
	free(contents->prefix6);
	free(contents->prefix4);
	free(contents->allow);
	free(contents->names);
	free(contents->scoped);
	xb_suffixes_free(&contents->suffixes);
	xb_arena_free(&contents->arena);
	*contents = (struct xb_contents){0};
}

static int allocate(struct xb_contents *contents, const struct xb_totals *totals)
{
	contents->host4 = malloc(totals->host4_keys * sizeof(*contents->host4) + 1);
	contents->net6 = malloc(totals->net6 * sizeof(*contents->net6) + 1);
	/* What is not written takes no memory. */
	contents->prefix6 = malloc(totals->net6 * sizeof(*contents->prefix6) + 1);
	contents->prefix4 = malloc(totals->prefix4 * sizeof(*contents->prefix4) + 1);
	contents->allow = malloc(totals->allow * sizeof(*contents->allow) + 1);
	/* One that has no kind stands behind the last. */
	contents->names = calloc(totals->names + totals->exceptions + 1, sizeof(*contents->names));
	return contents->host4 && contents->net6 && contents->prefix6 && contents->prefix4 &&
			       contents->allow && contents->names
		       ? 0
		       : xb_out_of_memory();
}

static int take_scoped(struct xb_contents *contents, const struct xb_entry *entry, uint32_t classes)
{
	for (uint32_t class = 1; classes >> class; class ++) {
		if (!(classes >> class & 1))
			continue;
		if (xb_array_grow(&contents->scoped, &contents->scoped_room,
				  contents->scoped_count + 1, sizeof(*contents->scoped)))
			return xb_out_of_memory();
		contents->scoped[contents->scoped_count++] =
			(struct xb_scoped){.entry = *entry, .class = class};
	}
	return 0;
}

/* Listed for all services. */
static void take_listed(struct xb_contents *contents, const struct xb_entry *entry)
{
	if (entry->kind == XB_PREFIX4)
		contents->prefix4[contents->prefix4_count++] = *entry;
	else if (xb_prefix6map_takes(entry))
		contents->prefix6[contents->prefix6_count++] = *entry;
	else if (entry->kind == XB_NET6)
		contents->net6[contents->net6_count++] = *entry;
	else
		for (uint32_t i = 0; i < xb_entry_keys(entry); i++)
			contents->host4[contents->host4_count++] = xb_entry_ipv4(entry) + i;
}

/* A name, or what is allowed. */
static int take_other(struct xb_contents *contents, const struct xb_walk *walk)
{
	struct xb_entry entry = walk->entry;

	if (xb_entry_is_name(&entry)) {
		entry.name = xb_arena_copy(&contents->arena, entry.name, entry.length);
		if (!entry.name)
			return -ENOMEM;
	}
	if (xb_entry_is_rule(&entry))
		contents->names[contents->names_count++] = (struct xb_named){
			.entry = entry, .slot = xb_members_verdict(walk->txn, walk->members)};
	else
		contents->allow[contents->allow_count++] = entry;
	return 0;
}

static int take(struct xb_contents *contents, const struct xb_walk *walk)
{
	const struct xb_entry *entry = &walk->entry;
	uint32_t classes;

	if (xb_entry_is_rule(entry) || xb_entry_is_allow(entry))
		return take_other(contents, walk);
	classes = xb_members_classes(walk->txn, walk->members);
	if (classes & XB_CLASSES_ALL)
		take_listed(contents, entry);
	return take_scoped(contents, entry, classes);
}

/* Whether `seen` is no more than the totals say, so that there is room. */
static bool is_within(const struct xb_totals *seen, const struct xb_totals *totals)
{
	return seen->prefix4 <= totals->prefix4 && seen->host4_keys <= totals->host4_keys &&
	       seen->net6 <= totals->net6 && seen->names <= totals->names &&
	       seen->exceptions <= totals->exceptions && seen->allow <= totals->allow;
}

/* *seen: what was counted so far. */
static int take_from(struct xb_txn *txn, const struct xb_entry *first, struct xb_contents *contents,
		     struct xb_totals *seen)
{
	struct xb_walk walk;
	int more, error = xb_walk_begin(&walk, txn, first);

	if (error)
		return error;
	while ((more = xb_walk_next(&walk)) > 0) {
		xb_totals_count(seen, &walk.entry, 1);
		if (!is_within(seen, &txn->meta.totals)) {
			more = xb_lmdb_error(MDB_CORRUPTED, "cannot read the store");
			break;
		}
		error = take(contents, &walk);
		if (error)
			break;
	}
	xb_walk_end(&walk);
	return error ? error : more;
}

static int compare_names(const void *name, const void *named)
{
	return xb_entry_compare(name, &((const struct xb_named *)named)->entry);
}

/* Names that some list excepts stand behind all that are listed. They become final: in the place of
 * the one that is listed, if the name is both. */
static int settle_exceptions(struct xb_txn *txn, struct xb_contents *contents)
{
	struct xb_named *names = contents->names;
	size_t listed = 0, kept;
	int error = 0;

	while (names[listed].entry.kind == XB_NAME)
		listed++;
	kept = listed;
	for (size_t i = listed; !error && i < contents->names_count; i++) {
		struct xb_entry name = xb_entry_as(&names[i].entry, XB_NAME);
		struct xb_named *same =
			bsearch(&name, names, listed, sizeof(*names), compare_names);

		if (!same)
			same = &names[kept++];
		same->entry = name;
		error = xb_name_slot(txn, &name, &same->slot);
	}
	contents->names_count = kept;
	return error;
}

/* Without suffixes a limit of names counts nothing: that one can do without, the filter cannot. */
static void take_suffixes(struct xb_contents *contents)
{
	if (!xb_limits_have_names(&contents->limits))
		return;
	if (xb_suffixes_read(XB_SUFFIX_FILE, &contents->suffixes)) {
		xb_warning("names are not limited: %s", xb_error_message());
		xb_error_clear();
	}
}

int xb_contents_take(struct xb_txn *txn, struct xb_contents *contents)
{
	struct xb_totals seen = {0};
	int error;

	xb_memory_bound();
	*contents = (struct xb_contents){0};
	contents->classes = xb_list_classes(txn, contents->class);
	error = xb_limits_get(txn, &contents->limits);
	if (!error)
		take_suffixes(contents);
	if (!error)
		error = allocate(contents, &txn->meta.totals);
	if (!error)
		error = take_from(txn, &XB_WALK_LISTED, contents, &seen);
	if (!error)
		error = take_from(txn, &XB_WALK_ALLOW, contents, &seen);
	if (!error && !is_within(&txn->meta.totals, &seen))
		error = xb_lmdb_error(MDB_CORRUPTED, "cannot read the store");
	if (!error)
		error = settle_exceptions(txn, contents);
	if (error)
		xb_contents_free(contents);
	return error;
}
