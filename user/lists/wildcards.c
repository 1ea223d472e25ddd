/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Wildcards that stand for what lies below a domain, not for the domain itself, and names that hide
 * what wildcards above them say. An entry of a list stands for a domain and all below it, and the
 * most specific one decides: what a file says in another way is written as such entries here.
 */
#include <errno.h>

#include "lists/line.h"

#define MOST_LABELS 128

/* What holds below a domain, by the file. */
struct level {
	const uint8_t *form;
	uint8_t length;
	bool listed;
	bool cut;      /* all in it passes, whatever the file says there */
	uint32_t line; /* that lists it */
};

/* The items for one domain, by number: for it alone, and for what lies below it. */
struct place {
	const uint8_t *form;
	uint8_t length;
	size_t listing[2], exception[2]; /* the first of each, NONE: there is none */
	bool decided[2];		 /* an exception there has taken a listing out */
	bool cut;
};

enum { ITSELF, BELOW };
#define NONE SIZE_MAX

struct walk {
	struct xb_listfile *file;
	size_t listings, exceptions, names_end, end; /* the next of each, and where they end */
	struct level levels[MOST_LABELS + 1];
	size_t depth; /* the levels in use; the first is that of all names */
	enum xb_wildcards kind;
	bool changed;
};

static struct xb_item *item_at(const struct walk *walk, size_t number)
{
	return &walk->file->items[number];
}

/* A name alone ends with a label of no bytes, and no other label has such a byte. */
static uint8_t domain_length(const struct xb_entry *entry)
{
	return (uint8_t)(entry->length - !entry->name[entry->length - 1]);
}

static bool is_for(const struct xb_entry *entry, const struct place *place)
{
	return domain_length(entry) == place->length &&
	       !memcmp(entry->name, place->form, place->length);
}

static void take_items(struct walk *walk, struct place *place, size_t *at, size_t end)
{
	size_t *firsts = at == &walk->listings ? place->listing : place->exception;

	for (; *at < end && is_for(&item_at(walk, *at)->entry, place); ++*at) {
		const struct xb_item *item = item_at(walk, *at);
		int where = item->entry.length == place->length ? BELOW : ITSELF;

		if (firsts[where] == NONE)
			firsts[where] = *at;
		place->cut |= item->doubtful && item->meant && where == BELOW;
	}
}

/* Whether a's domain stands before b's. */
static bool is_before(const struct xb_entry *a, const struct xb_entry *b)
{
	uint8_t size = domain_length(a), other = domain_length(b);
	int order = memcmp(a->name, b->name, size < other ? size : other);

	return order ? order < 0 : size < other;
}

/* The next domain that the file has items for; false: there is none. */
static bool next_place(struct walk *walk, struct place *place)
{
	bool listing = walk->listings < walk->names_end, exception = walk->exceptions < walk->end;
	const struct xb_entry *first;

	if (!listing && !exception)
		return false;
	first = &item_at(walk, listing ? walk->listings : walk->exceptions)->entry;
	if (listing && exception && is_before(&item_at(walk, walk->exceptions)->entry, first))
		first = &item_at(walk, walk->exceptions)->entry;
	*place = (struct place){.form = first->name,
				.length = domain_length(first),
				.listing = {NONE, NONE},
				.exception = {NONE, NONE}};
	take_items(walk, place, &walk->listings, walk->names_end);
	take_items(walk, place, &walk->exceptions, walk->end);
	return true;
}

static bool lies_in(const struct place *place, const struct level *level)
{
	return !level->length ||
	       (place->length >= level->length && !memcmp(place->form, level->form, level->length));
}

static void push(struct walk *walk, const struct place *place, uint8_t length, bool listed,
		 uint32_t line)
{
	struct level *level = &walk->levels[walk->depth++];

	*level = (struct level){place->form, length, listed, place->cut, line};
}

/* Keeps one more item for the domain, as the line says that makes it necessary. */
static int keep(struct walk *walk, const struct place *place, uint8_t length, int where,
		uint8_t kind, uint32_t line)
{
	struct xb_item item = {.entry = {.name = place->form, .kind = kind, .length = length}};
	uint64_t lines = walk->file->lines;
	uint8_t form[XB_NAME_BYTES + 1];
	int error;

	if (where == ITSELF) {
		memcpy(form, place->form, length);
		form[item.entry.length++] = 0;
		item.entry.name = xb_arena_copy(&walk->file->names, form, item.entry.length);
	}
	if (!item.entry.name)
		return -ENOMEM;
	walk->changed = true;
	walk->file->lines = line;
	error = xb_line_keep(walk->file, &item);
	walk->file->lines = lines;
	return error;
}

/* No entry has this kind: such items go in the end. */
static void drop(struct walk *walk, size_t number)
{
	item_at(walk, number)->entry.kind = 0;
	walk->changed = true;
}

static int leave_out(struct walk *walk, size_t number, const char *why)
{
	const struct xb_item *item = item_at(walk, number);
	char name[XB_ENTRY_TEXT];
	int error = xb_line_unknown(walk->file, item->entry.line, "'%s' %s",
				    XB_SHOW(xb_entry_format(&item->entry, name)), why);

	drop(walk, number);
	return error;
}

/* Whether a line also says something of what lies below the place. */
static bool says_more(const struct walk *walk, const struct place *place, size_t number)
{
	uint32_t line = item_at(walk, number)->entry.line;

	for (size_t i = place->listing[BELOW];
	     i < walk->names_end && is_for(&item_at(walk, i)->entry, place) &&
	     item_at(walk, i)->entry.length == place->length;
	     i++)
		if (item_at(walk, i)->entry.line == line)
			return true;
	return false;
}

static int leave_out_listings(struct walk *walk, const struct place *place, int where,
			      const char *why)
{
	size_t first = place->listing[where];
	int error = 0;

	for (size_t i = first;
	     !error && i < walk->names_end && is_for(&item_at(walk, i)->entry, place) &&
	     item_at(walk, i)->entry.length == item_at(walk, first)->entry.length;
	     i++) {
		if (where == ITSELF && says_more(walk, place, i))
			drop(walk, i);
		else
			error = leave_out(walk, i, why);
	}
	return error;
}

/* What nothing needs goes: with a note if it is a line's only say, and what the file allows in so
 * many words stays. */
static int settle_needless(struct walk *walk, const struct place *place, int where, bool told)
{
	size_t first = place->exception[where];
	int error = 0;

	told |= place->decided[where];
	for (size_t i = first; !error && i < walk->end && is_for(&item_at(walk, i)->entry, place);
	     i++) {
		const struct xb_item *item = item_at(walk, i);

		if (item->entry.length != item_at(walk, first)->entry.length || !item->doubtful)
			continue;
		if (told || item->meant)
			drop(walk, i);
		else
			error = leave_out(walk, i, "would pass without this line, too");
	}
	return error;
}

/* Whether a line says that these names pass, and not only that they are there. */
static bool passes(const struct walk *walk, const struct place *place, int where)
{
	size_t first = place->exception[where];

	for (size_t i = first; i < walk->end && is_for(&item_at(walk, i)->entry, place) &&
			       item_at(walk, i)->entry.length == item_at(walk, first)->entry.length;
	     i++)
		if (!item_at(walk, i)->meant)
			return true;
	return false;
}

/* Drops those for the place that are only there, or all of them; returns the line of the first, 0:
 * it has none. */
static uint32_t drop_exceptions(struct walk *walk, const struct place *place, int where, bool all)
{
	size_t first = place->exception[where];
	uint32_t line = 0;

	for (size_t i = first; i < walk->end && is_for(&item_at(walk, i)->entry, place); i++) {
		struct xb_item *item = item_at(walk, i);

		if (item->entry.length != item_at(walk, first)->entry.length)
			break;
		line = line ?: item->entry.line;
		item->doubtful &= item->meant;
		if (all || item->meant)
			drop(walk, i);
	}
	return line;
}

/* An exception that is needed: one that the file has, or one more. */
static int need_exception(struct walk *walk, const struct place *place, int where, uint32_t line)
{
	bool has = passes(walk, place, where);

	drop_exceptions(walk, place, where, false);
	return has ? 0 : keep(walk, place, place->length, where, XB_ALLOW_NAME, line);
}

static int settle_cut(struct walk *walk, const struct place *place)
{
	int error = 0;

	for (int where = ITSELF; !error && where <= BELOW; where++) {
		error = leave_out_listings(walk, place, where,
					   "lies in a part of the zone that another server has");
		if (!error)
			error = settle_needless(walk, place, where, true);
	}
	return error;
}

/* Of two lines for the same names the exception decides. */
static int settle_both(struct walk *walk, struct place *place)
{
	int error = 0;

	for (int where = ITSELF; !error && where <= BELOW; where++) {
		if (place->listing[where] == NONE || !passes(walk, place, where))
			continue;
		error = leave_out_listings(walk, place, where, "passes by another line");
		place->decided[where] = true;
	}
	for (int where = ITSELF; where <= BELOW; where++)
		if (place->decided[where])
			place->listing[where] = NONE;
	return error;
}

/* Whether the names in question are listed: by what the file says of them, else by what holds
 * around them. */
static bool is_listed(const struct walk *walk, const struct place *place, int where, bool around)
{
	if (place->listing[where] != NONE)
		return true;
	return place->exception[where] == NONE && around && walk->kind != XB_WILDCARDS_HIDDEN;
}

static uint32_t line_of(const struct walk *walk, size_t number)
{
	return item_at(walk, number)->entry.line;
}

/* below: whether all below it is listed, and so the name itself if nothing else is said. */
static int settle_itself(struct walk *walk, const struct place *place, bool listed, bool below,
			 uint32_t line)
{
	size_t listing = place->listing[ITSELF], wide = place->listing[BELOW],
	       exception = place->exception[ITSELF], other = place->exception[BELOW];
	bool of_other = exception != NONE && other != NONE &&
			line_of(walk, exception) == line_of(walk, other);

	if (listed == below) {
		if (listing != NONE && wide != NONE &&
		    line_of(walk, listing) == line_of(walk, wide))
			drop(walk, listing);
		return settle_needless(walk, place, ITSELF, of_other);
	}
	if (!listed)
		return need_exception(walk, place, ITSELF, line);
	drop_exceptions(walk, place, ITSELF, false);
	return listing != NONE ? 0 : keep(walk, place, place->length, ITSELF, XB_NAME, line);
}

static int settle_below(struct walk *walk, struct place *place, bool below, bool around,
			uint32_t line)
{
	uint32_t own;

	if (!around || below)
		return settle_needless(walk, place, BELOW, place->decided[ITSELF]);
	if (place->exception[BELOW] != NONE || place->listing[ITSELF] != NONE)
		return need_exception(walk, place, BELOW, line);
	/* It hides all below it by being there: one exception says both. */
	own = drop_exceptions(walk, place, ITSELF, true);
	place->exception[ITSELF] = NONE;
	return keep(walk, place, place->length, BELOW, XB_ALLOW_NAME, own ?: line);
}

/* A name between the place and what holds around it: there, and so hidden, but without a line. */
static int pass_between(struct walk *walk, const struct place *place)
{
	const struct level *around = &walk->levels[walk->depth - 1];
	uint8_t length = (uint8_t)(around->length + 1 + place->form[around->length]);
	struct place between = {.form = place->form, .length = length};
	uint32_t line = around->line;

	if (length == place->length)
		return 0;
	push(walk, &between, length, false, line);
	return keep(walk, &between, length, BELOW, XB_ALLOW_NAME, line);
}

static int settle_place(struct walk *walk, struct place *place)
{
	bool around, below, itself;
	uint32_t line;
	int error = 0;

	while (!lies_in(place, &walk->levels[walk->depth - 1]))
		walk->depth--;
	if (walk->levels[walk->depth - 1].cut)
		return settle_cut(walk, place);
	if (walk->kind == XB_WILDCARDS_HIDDEN && walk->levels[walk->depth - 1].listed)
		error = pass_between(walk, place);
	if (!error)
		error = settle_both(walk, place);
	if (error)
		return error;
	around = walk->levels[walk->depth - 1].listed;
	line = walk->levels[walk->depth - 1].line;
	below = !place->cut && is_listed(walk, place, BELOW, around);
	itself = !place->cut && is_listed(walk, place, ITSELF, around);
	if (place->listing[BELOW] != NONE)
		line = line_of(walk, place->listing[BELOW]);
	push(walk, place, place->length, below, line);
	error = settle_below(walk, place, below, around, line);
	if (!error && place->cut)
		return settle_cut(walk, place);
	return error ? error : settle_itself(walk, place, itself, below, line);
}

static size_t find_kind(const struct xb_listfile *file, uint8_t kind)
{
	size_t low = 0, high = file->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (file->items[middle].entry.kind < kind)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int put_in_order(struct xb_listfile *file)
{
	size_t kept = 0;
	int error;

	for (size_t i = 0; i < file->count; i++)
		if (file->items[i].entry.kind)
			file->items[kept++] = file->items[i];
	file->count = kept;
	xb_line_sort_unknown(file);
	error = xb_entry_sort(&file->items, file->count, sizeof(*file->items));
	file->room = file->count;
	return error;
}

int xb_line_wildcards(struct xb_listfile *file, enum xb_wildcards kind)
{
	struct walk walk = {.file = file, .depth = 1, .kind = kind};
	struct place place;
	int error = 0;

	walk.listings = find_kind(file, XB_NAME);
	walk.names_end = walk.exceptions = find_kind(file, XB_ALLOW_NAME);
	walk.end = file->count;
	while (!error && next_place(&walk, &place))
		error = settle_place(&walk, &place);
	return error || !walk.changed ? error : put_in_order(file);
}
