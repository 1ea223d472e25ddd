/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Judges names by all that the lines of a file say of them. Items in store order are a walk through
 * the tree of names: a domain comes first, then its name alone, then what lies below it. So the
 * domains around a name are a stack.
 */
#include "lists/judge.h"

#include <errno.h>

#include "lists/format.h"

#define MOST_DOMAINS 130 /* around a name: labels of one byte, and the root */
#define SAYING(says) ((says) & ~XB_SAYS_BELOW)
#define BIT(says)    (1U << SAYING(says))

/* A domain, what holds below it, and what holds for the domain itself. */
struct place {
	struct xb_entry entry;
	struct xb_judgement below, itself;
	bool refused; /* something around it, or all below it */
};

/* The form of the root, around all domains: none of its bytes. */
static const uint8_t root[1];

struct walk {
	struct xb_listfile *file;
	const struct xb_judge *judge;
	struct place places[MOST_DOMAINS];
	size_t depth;
	struct xb_said own, under; /* of the place at hand */
	size_t kept;
};

int xb_names_keep(struct xb_listfile *file, const char *domain, unsigned int how, unsigned int says,
		  const char *comment)
{
	size_t before = file->count;
	int error = xb_line_keep_domain(file, domain, how, comment);

	if (!error && file->count > before)
		file->items[before].says = says;
	return error;
}

int xb_names_keep_around(struct xb_listfile *file, const char *domain, unsigned int how,
			 unsigned int says)
{
	int error;

	while ((error = xb_names_keep(file, domain, how, says, "")) == -EINVAL) {
		xb_error_clear();
		domain = strchr(domain, '.');
		if (!domain)
			return XB_LINE_UNKNOWN;
		domain++;
		how &= ~XB_LINE_EXACT;
	}
	return error;
}

static bool is_plain(const struct xb_listfile *file, const struct xb_judge *judge)
{
	for (size_t i = 0; i < file->count; i++)
		if (file->items[i].says >= XB_SAYINGS ||
		    !(judge->plain & (1U << file->items[i].says)))
			return false;
	return true;
}

static bool is_exact(const struct xb_entry *entry)
{
	return xb_name_is_exact(entry->name, entry->length);
}

static bool is_same(const struct xb_entry *a, const struct xb_entry *b)
{
	return a->length == b->length && !memcmp(a->name, b->name, a->length);
}

/* Whether it is the name of the domain alone. */
static bool is_itself(const struct xb_entry *domain, const struct xb_entry *entry)
{
	return entry->length == domain->length + 1 && is_exact(entry) &&
	       !memcmp(entry->name, domain->name, domain->length);
}

static void add(struct xb_said *said, const struct xb_item *item)
{
	unsigned int saying = SAYING(item->says);

	if (!said->count[saying]++ || item->entry.line < said->line[saying])
		said->line[saying] = item->entry.line;
}

/* One more item, for what no line says in so many words. line: that makes it necessary; 0: the
 * entry's. */
static int keep_more(struct walk *walk, const struct xb_entry *entry, bool exact, uint32_t line,
		     uint8_t kind)
{
	struct xb_item item = {.entry = *entry, .meant = true};
	uint64_t lines = walk->file->lines;
	int error;

	item.entry.kind = kind;
	line = line ?: entry->line;
	if (exact && !is_exact(entry)) {
		uint8_t form[XB_NAME_BYTES + 1];

		memcpy(form, entry->name, entry->length);
		form[item.entry.length++] = 0;
		item.entry.name = xb_arena_copy(&walk->file->names, form, item.entry.length);
		if (!item.entry.name)
			return -ENOMEM;
	}
	walk->file->lines = line;
	error = xb_line_keep(walk->file, &item);
	walk->file->lines = lines;
	return error;
}

/* Leaves the item out, with a note. */
static int tell(struct walk *walk, const struct xb_item *item, const struct xb_judgement *now)
{
	struct xb_listfile *file = walk->file;
	bool lists = walk->judge->lists & BIT(item->says);
	char name[XB_ENTRY_TEXT];
	const char *shown = XB_SHOW(xb_entry_format(&item->entry, name));
	uint64_t line = item->entry.line;

	if (now->verdict == XB_VERDICT_REFUSED)
		return xb_line_unknown(file, line, "'%s' is listed all the same, by line %u", shown,
				       now->by);
	if (!lists)
		return xb_line_unknown(file, line,
				       "'%s' is not an exception: the file lists nothing wider",
				       shown);
	if (now->why)
		return xb_line_unknown(file, line, "'%s' %s", shown, now->why);
	return xb_line_unknown(file, line, "'%s' passes by line %u", shown, now->by);
}

/* The items of one place, from `at` to `end`. */
struct group {
	size_t at, end;
	struct xb_entry entry; /* with the line of the first */
	bool lists, followed;  /* some lists it; the next group is for the domain itself */
};

/* Of an exception: whether something needs it. */
static bool stays(const struct walk *walk, const struct xb_item *item, const struct place *around,
		  const struct xb_judgement *now)
{
	return walk->judge->excepts & BIT(item->says) && now->verdict != XB_VERDICT_REFUSED &&
	       (around->refused || walk->judge->keeps & BIT(item->says));
}

/* Keeps the item as a listing or an exception, or leaves it out. itself: what holds for the domain
 * itself, if the group is of all below it. */
static int settle_item(struct walk *walk, struct xb_item item, const struct group *group,
		       const struct xb_judgement *now, const struct xb_judgement *itself)
{
	const struct place *around = &walk->places[walk->depth - 1];
	bool lists = walk->judge->lists & BIT(item.says),
	     refused = now->verdict == XB_VERDICT_REFUSED,
	     silent = lists ? itself && itself->verdict == XB_VERDICT_REFUSED
			    : walk->judge->silent & BIT(item.says) || (!refused && group->lists),
	     stay = lists ? refused : stays(walk, &item, around, now);

	if (!stay && silent)
		return 0;
	if (!stay)
		return tell(walk, &item, now);
	item.entry.kind = lists ? XB_NAME : XB_ALLOW_NAME;
	item.says = 0;
	walk->file->items[walk->kept++] = item;
	return 0;
}

/* Settles all of the group. Where they leave another verdict than what holds around it, keeps one
 * more item. */
static int settle(struct walk *walk, const struct group *group, const struct xb_judgement *now,
		  const struct xb_judgement *itself)
{
	const struct xb_judgement *around = &walk->places[walk->depth - 1].below;
	bool refused = now->verdict == XB_VERDICT_REFUSED;
	size_t before = walk->kept;
	int error = 0;

	for (size_t i = group->at; !error && i < group->end; i++)
		error = settle_item(walk, walk->file->items[i], group, now, itself);
	if (error || walk->kept > before || refused == (around->verdict == XB_VERDICT_REFUSED))
		return error;
	return keep_more(walk, &group->entry, false, now->by, refused ? XB_NAME : XB_ALLOW_NAME);
}

static int settle_exact(struct walk *walk, const struct group *group)
{
	const struct place *around = &walk->places[walk->depth - 1];
	struct xb_judgement now =
		is_itself(&around->entry, &group->entry) ? around->itself : around->below;

	walk->judge->judge(&walk->own, &walk->under, XB_JUDGED_ALONE, &now);
	return settle(walk, group, &now, NULL);
}

static int settle_domain(struct walk *walk, const struct group *group)
{
	struct place *around = &walk->places[walk->depth - 1], *place = around + 1;
	bool refused, itself;
	int error;

	place->entry = group->entry;
	place->below = place->itself = around->below;
	walk->judge->judge(&walk->own, &walk->under, XB_JUDGED_BELOW, &place->below);
	walk->judge->judge(&walk->own, &walk->under, XB_JUDGED_ITSELF, &place->itself);
	refused = place->below.verdict == XB_VERDICT_REFUSED;
	itself = place->itself.verdict == XB_VERDICT_REFUSED;
	place->refused = around->refused || refused;
	error = settle(walk, group, &place->below, &place->itself);
	if (!error && refused != itself && !group->followed)
		error = keep_more(walk, &group->entry, true,
				  itself ? place->itself.by : place->below.by,
				  itself ? XB_NAME : XB_ALLOW_NAME);
	walk->depth++;
	return error;
}

static void find_group(struct walk *walk, size_t at, size_t count, struct group *group)
{
	const struct xb_item *items = walk->file->items;

	*group = (struct group){.at = at, .end = at, .entry = items[at].entry};
	memset(&walk->own, 0, sizeof(walk->own));
	memset(&walk->under, 0, sizeof(walk->under));
	for (; group->end < count && is_same(&items[group->end].entry, &group->entry);
	     group->end++) {
		const struct xb_item *item = &items[group->end];

		add(item->says & XB_SAYS_BELOW ? &walk->under : &walk->own, item);
		group->lists |= (walk->judge->lists & BIT(item->says)) != 0;
	}
	group->followed = group->end < count && is_itself(&group->entry, &items[group->end].entry);
}

static int walk_names(struct walk *walk, size_t count)
{
	struct group group = {.end = walk->kept};
	int error = 0;

	while (!error && group.end < count) {
		find_group(walk, group.end, count, &group);
		while (walk->depth > 1 &&
		       !xb_entry_inside(&walk->places[walk->depth - 1].entry, &group.entry))
			walk->depth--;
		error = (is_exact(&group.entry) ? settle_exact : settle_domain)(walk, &group);
	}
	return error;
}

/* Behind the items that were kept stand those that came newly, from `count` on. */
static int put_in_order(struct walk *walk, size_t count)
{
	struct xb_listfile *file = walk->file;

	memmove(file->items + walk->kept, file->items + count,
		(file->count - count) * sizeof(*file->items));
	file->count = walk->kept + file->count - count;
	xb_line_sort_unknown(file);
	return xb_entry_sort(&file->items, file->count, sizeof(*file->items));
}

int xb_names_judge(struct xb_listfile *file, const struct xb_judge *judge)
{
	size_t count = file->count;
	struct walk *walk;
	int error;

	if (is_plain(file, judge)) {
		for (size_t i = 0; i < count; i++)
			file->items[i].says = 0;
		return 0;
	}
	walk = calloc(1, sizeof(*walk));
	if (!walk)
		return xb_out_of_memory();
	walk->file = file;
	walk->judge = judge;
	walk->places[0].entry.name = root;
	walk->depth = 1;
	while (walk->kept < count && !xb_entry_is_name(&file->items[walk->kept].entry))
		walk->kept++;
	error = walk_names(walk, count);
	if (!error)
		error = put_in_order(walk, count);
	free(walk);
	return error;
}
