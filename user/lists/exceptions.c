/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exceptions inside a list, which readers keep as names for the allowlist. In a list of the store
 * the most specific entry decides, so they become entries of their list as they are. On the
 * allowlist they would win over every entry of every list, so where somebody wants them there, one
 * that holds narrower listings of its own file is left out in their favour if nothing wider in the
 * file needs it, and else the listings inside are.
 */
#include "lists/line.h"

static int compare(const void *entry, const void *item)
{
	return xb_entry_compare(entry, &((const struct xb_item *)item)->entry);
}

static bool has(const struct xb_listfile *file, const struct xb_entry *entry)
{
	return bsearch(entry, file->items, file->count, sizeof(*file->items), compare);
}

bool xb_line_is_listed(const struct xb_listfile *file, const struct xb_entry *domain, bool itself)
{
	struct xb_entry wider = {.name = domain->name, .kind = XB_NAME, .length = domain->length};

	if (itself && has(file, &wider))
		return true;
	while (xb_entry_widen(&wider))
		if (has(file, &wider))
			return true;
	return false;
}

/* The first item behind the entry and all that is the same. */
static size_t find_behind(const struct xb_listfile *file, const struct xb_entry *entry)
{
	size_t low = 0, high = file->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (xb_entry_compare(&file->items[middle].entry, entry) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Whether the item is there, and a listing inside the domain. */
static bool is_inside(const struct xb_listfile *file, size_t at, const struct xb_entry *domain)
{
	return at < file->count && file->items[at].entry.kind == XB_NAME &&
	       xb_entry_inside(domain, &file->items[at].entry);
}

/* In order they are the last items; file->count: there is none. */
static size_t find_exceptions(const struct xb_listfile *file)
{
	size_t first = file->count;

	while (!file->bare && first && file->items[first - 1].entry.kind == XB_ALLOW_NAME)
		first--;
	return first;
}

/* needed: marks what lies inside exceptions that are needed; else marks the others, if they hide
 * something. A long file is gone through once: exceptions inside the last one have nothing to add.
 */
static void mark(struct xb_listfile *file, bool needed)
{
	const struct xb_entry *last = NULL;

	for (size_t i = 0; i < file->count; i++) {
		const struct xb_entry *exception = &file->items[i].entry;
		struct xb_entry domain = *exception;
		size_t at;

		if (exception->kind != XB_ALLOW_NAME ||
		    (needed && last && xb_entry_inside(last, exception)))
			continue;
		domain.kind = XB_NAME;
		at = find_behind(file, &domain);
		if (!is_inside(file, at, &domain) ||
		    xb_line_is_listed(file, &domain, true) != needed)
			continue;
		last = exception;
		file->items[i].doubtful = !needed;
		for (; needed && is_inside(file, at, &domain); at++)
			file->items[at].doubtful = true;
	}
}

int xb_line_allow_exceptions(struct xb_listfile *file)
{
	int error;

	if (find_exceptions(file) == file->count)
		return 0;
	mark(file, false);
	error = xb_line_settle(file, "would let pass what the file lists below it");
	if (error)
		return error;
	mark(file, true);
	return xb_line_settle(file, "lies in an exception, which would have to have an exception");
}

/* Marks what is listed and excepted. */
static void mark_excepted(struct xb_listfile *file, size_t first)
{
	for (size_t i = first; i < file->count; i++) {
		struct xb_entry domain = file->items[i].entry;
		size_t at;

		domain.kind = XB_NAME;
		at = find_behind(file, &domain);
		while (at && !xb_entry_compare(&file->items[at - 1].entry, &domain))
			file->items[--at].doubtful = true;
	}
}

int xb_line_own_exceptions(struct xb_listfile *file)
{
	size_t first = find_exceptions(file);
	int error;

	if (first == file->count)
		return 0;
	mark_excepted(file, first);
	error = xb_line_settle(file, "is excepted by the same list");
	for (size_t i = find_exceptions(file); !error && i < file->count; i++)
		file->items[i].entry.kind = XB_EXCEPT_NAME;
	return error;
}
