/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Exceptions inside a list whose format says that the narrower rule wins. The allowlist wins over
 * every entry, so an exception that holds narrower listings of its own file would hide them. One
 * that nothing wider in the file needs is left out in their favour; of one that is needed, the
 * listings inside are: no one who is excepted is dropped, and whoever imports is told.
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

bool xb_line_is_allowed(const struct xb_listfile *file, const struct xb_entry *domain)
{
	struct xb_entry allowed = {
		.name = domain->name, .kind = XB_ALLOW_NAME, .length = domain->length};

	return has(file, &allowed);
}

bool xb_line_lists_itself(const struct xb_listfile *file, const struct xb_entry *domain)
{
	uint8_t form[XB_NAME_BYTES + 1];
	struct xb_entry allowed = {.name = form, .kind = XB_ALLOW_NAME}, listed = allowed;

	listed.kind = XB_NAME;
	listed.length = (uint8_t)(domain->length + 1);
	memcpy(form, domain->name, domain->length);
	form[domain->length] = 0;
	for (; listed.length; listed.length = xb_name_wider(form, listed.length)) {
		allowed.length = listed.length;
		if (listed.length != domain->length && has(file, &allowed))
			return false;
		if (has(file, &listed))
			return true;
	}
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

int xb_line_narrower_wins(struct xb_listfile *file)
{
	int error;

	mark(file, false);
	error = xb_line_settle(file, "would let pass what the file lists below it");
	if (error)
		return error;
	mark(file, true);
	return xb_line_settle(file, "lies in an exception, which would have to have an exception");
}

/* What the file allows itself, by the same or a wider exception, it does not list. */
static void mark_allowed(struct xb_listfile *file)
{
	const struct xb_entry *last = NULL;

	for (size_t i = 0; i < file->count; i++) {
		const struct xb_entry *exception = &file->items[i].entry;
		struct xb_entry domain = *exception;
		size_t at;

		if (exception->kind != XB_ALLOW_NAME || (last && xb_entry_inside(last, exception)))
			continue;
		last = exception;
		domain.kind = XB_NAME;
		at = find_behind(file, &domain);
		while (at && !xb_entry_compare(&file->items[at - 1].entry, &domain))
			at--;
		for (; is_inside(file, at, &domain); at++)
			file->items[at].doubtful = true;
	}
}

int xb_line_list_only(struct xb_listfile *file)
{
	int error;

	if (file->bare)
		return 0;
	mark_allowed(file);
	error = xb_line_settle(file, "is allowed by the same list");
	if (error)
		return error;
	for (size_t i = 0; i < file->count; i++)
		file->items[i].doubtful = xb_entry_is_allow(&file->items[i].entry);
	return xb_line_settle(file, "may not be allowed by this list");
}
