/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * unbound: `local-zone: "d" TYPE` and `local-data: "d A 0.0.0.0"` of unbound.conf(5). The zone
 * nearest to a name decides, by its type and by its local data; of two zones of one name the last.
 * What holds for some clients alone (tags, overrides, views) refuses nobody always.
 */
#include <errno.h>
#include <strings.h>

#include "base/array.h"
#include "lists/format.h"
#include "lists/line.h"

/* What a zone does with queries for names in it. */
enum behaviour {
	REFUSES,     /* all */
	YIELDS,	     /* refuses what has no local data */
	REDIRECTS,   /* answers all with the local data of its own name, if there is some */
	TRANSPARENT, /* lets pass what has no local data */
	LETS_PASS,   /* all, or records of some types */
	IS_NONE,     /* the name has a zone by default, which is taken out */
};

static const struct {
	const char *type;
	enum behaviour behaviour;
} types[] = {
	{"always_nxdomain", REFUSES},
	{"always_refuse", REFUSES},
	{"always_deny", REFUSES},
	{"always_nodata", REFUSES},
	{"always_null", YIELDS},
	{"refuse", YIELDS},
	{"deny", YIELDS},
	{"static", YIELDS},
	{"inform_deny", YIELDS},
	{"redirect", REDIRECTS},
	{"inform_redirect", REDIRECTS},
	{"transparent", TRANSPARENT},
	{"inform", TRANSPARENT},
	{"typetransparent", LETS_PASS},
	{"always_transparent", LETS_PASS},
	{"noview", LETS_PASS},
	{"block_a", LETS_PASS},
	{"block_aaaa", LETS_PASS},
	{"block_a_wdata", LETS_PASS},
	{"block_aaaa_wdata", LETS_PASS},
	{"ipset", LETS_PASS},
	{"nodefault", IS_NONE},
};

/* What the file says of a name: a zone, or that a zone holds for some clients alone, or local data.
 */
struct statement {
	struct xb_item item; /* first, for xb_entry_sort */
	uint8_t behaviour;
	bool conditional;
	bool somewhere; /* local data that leads there */
};

struct statements {
	struct statement *rows;
	size_t count, room;
};

#define MOST_WORDS 3
#define WORD_ROOM  (XB_LIST_LINE_BYTES + 1)

struct option;

struct xb_list_data {
	struct statements zones, data;
	const struct option *option; /* that waits for more words; NULL: none */
	struct statement *last;	     /* of this line, which what follows may spoil; NULL: none */
	size_t words;		     /* of it, so far */
	char word[MOST_WORDS][WORD_ROOM];
	bool in_view;  /* the lines are of a clause `view:` */
	bool pointers; /* there is local data of names in arpa */
};

void xb_listunbound_end(struct xb_reading *reading)
{
	if (reading->data) {
		free(reading->data->zones.rows);
		free(reading->data->data.rows);
	}
	free(reading->data);
	reading->data = NULL;
}

static struct xb_list_data *data_of(struct xb_reading *reading)
{
	if (!reading->data)
		reading->data = calloc(1, sizeof(*reading->data));
	return reading->data;
}

static bool detect_unbound(const char *line)
{
	return !strncmp(line, "server:", 7) || !strncmp(line, "local-zone:", 11) ||
	       !strncmp(line, "local-data:", 11);
}

/* --- statements --- */

static int grow(struct xb_listfile *file, struct statements *to)
{
	size_t before = to->room;
	int error = 0;

	if (to->count == to->room && file->bound)
		error = xb_listfile_may_grow(file, (to->room + 16) * sizeof(*to->rows));
	if (!error)
		error = xb_array_grow(&to->rows, &to->room, to->count + 1, sizeof(*to->rows));
	if (!error && file->bound)
		file->bound->values += (to->room - before) * sizeof(*to->rows);
	return error;
}

/* Keeps it as the item that file keeps last, which goes there. */
static int state(struct xb_reading *reading, struct statements *to, const char *name,
		 const char *comment, struct statement statement)
{
	struct xb_listfile *file = reading->file;
	int error = xb_line_keep_domain(file, name, to == &reading->data->data ? XB_LINE_EXACT : 0,
					comment);

	if (error)
		return error;
	statement.item = file->items[--file->count];
	error = grow(file, to);
	if (error)
		return error;
	reading->data->last = &to->rows[to->count];
	to->rows[to->count++] = statement;
	return 0;
}

static int take_zone(struct xb_reading *reading, const char *comment)
{
	struct statement zone = {.behaviour = LETS_PASS};
	bool known = false;
	int error;

	for (size_t i = 0; !known && i < ARRAY_SIZE(types); i++) {
		known = !strcmp(types[i].type, reading->data->word[1]);
		if (known)
			zone.behaviour = (uint8_t)types[i].behaviour;
	}
	if (zone.behaviour == IS_NONE)
		return XB_LINE_UNKNOWN;
	error = state(reading, &reading->data->zones, reading->data->word[0], comment, zone);
	return error || known ? error : XB_LINE_UNKNOWN;
}

/* Of a tag or an override. */
static int take_condition(struct xb_reading *reading, const char *comment)
{
	(void)comment;
	return state(reading, &reading->data->zones, reading->data->word[0], "",
		     (struct statement){.conditional = true})
		       ?: XB_LINE_UNKNOWN;
}

/* Whether this is all a record says behind its name. */
static bool leads_nowhere(char *rest)
{
	const char *type = xb_line_record_type(&rest), *address;

	if (!type || (strcasecmp(type, "A") && strcasecmp(type, "AAAA")))
		return false;
	address = xb_line_word(&rest);
	return address && !xb_line_word(&rest) && xb_line_is_nowhere(address);
}

static int take_data(struct xb_reading *reading, const char *comment)
{
	char *record = reading->data->word[0];
	const char *name = xb_line_word(&record);
	bool somewhere = !leads_nowhere(record);
	int error;

	if (!name)
		return XB_LINE_UNKNOWN;
	error = state(reading, &reading->data->data, name, comment,
		      (struct statement){.somewhere = somewhere});
	/* No query is for such a name. */
	if (error == -EINVAL && somewhere) {
		xb_error_clear();
		return XB_LINE_UNKNOWN;
	}
	return error;
}

static int take_pointer(struct xb_reading *reading, const char *comment)
{
	(void)comment;
	reading->data->pointers = true;
	return XB_LINE_UNKNOWN;
}

static int refuse_views(struct xb_reading *reading, const char *comment)
{
	(void)comment;
	reading->hopeless = true;
	return xb_input_error(
		"clients with a view of their own have other zones, so no name here is "
		"refused to all; without its views the file can be read");
}

static int refuse_other_file(struct xb_reading *reading, const char *comment)
{
	(void)comment;
	reading->hopeless = true;
	return xb_input_error("'%s' may have zones that let pass what this file lists: put them "
			      "together, without this line",
			      XB_SHOW(reading->data->word[0]));
}

/* --- words --- */

static const struct option {
	const char *name;
	size_t words;
	int (*take)(struct xb_reading *reading, const char *comment);
} options[] = {
	{"local-zone:", 2, take_zone},
	{"local-data:", 1, take_data},
	{"local-data-ptr:", 1, take_pointer},
	{"local-zone-tag:", 2, take_condition},
	{"local-zone-override:", 3, take_condition},
	{"access-control-view:", 2, refuse_views},
	{"interface-view:", 2, refuse_views},
	{"include:", 1, refuse_other_file},
	{"include-toplevel:", 1, refuse_other_file},
};

#define QUOTES "\"'"

/* Copies the next word, of which the text in quotes may have blanks. An option ends with its colon.
 * NULL: there is none before the end, or a comment, or it is an open quote, which stays. */
static const char *take_word(char **rest, bool option, char word[WORD_ROOM])
{
	char *start = *rest + strspn(*rest, XB_BLANKS), *end;
	bool quoted = *start && strchr(QUOTES, *start);

	*rest = start;
	if (!*start || *start == '#')
		return NULL;
	if (quoted)
		end = strchr(start + 1, *start);
	else
		end = start + strcspn(start, option ? XB_BLANKS QUOTES ":" : XB_BLANKS QUOTES);
	if (!end)
		return NULL;
	start += quoted;
	*rest = end + quoted;
	if (option && !quoted && *end == ':')
		*rest = ++end;
	memcpy(word, start, (size_t)(end - start));
	word[end - start] = '\0';
	return word;
}

/* More words than Unbound takes: who wrote them meant something else. */
static void spoil(struct xb_list_data *data)
{
	if (!data->last)
		return;
	data->last->behaviour = LETS_PASS;
	data->last->somewhere = true;
}

static bool ends_with_colon(const char *word)
{
	size_t size = strlen(word);

	return size && word[size - 1] == ':';
}

static const struct option *find_option(const char *word)
{
	for (size_t i = 0; ends_with_colon(word) && i < ARRAY_SIZE(options); i++)
		if (!strcmp(word, options[i].name))
			return &options[i];
	return NULL;
}

/* Whether it says something of names, or begins a part of the file. */
static bool begin_option(struct xb_list_data *data, const char *word)
{
	if (!ends_with_colon(word)) {
		spoil(data);
		return false;
	}
	data->last = NULL;
	data->words = 0;
	data->in_view = strcmp(word, "server:") && (data->in_view || !strcmp(word, "view:"));
	data->option = find_option(word);
	if (data->in_view && data->option && data->option->take != refuse_other_file)
		data->option = NULL;
	return data->option || !strcmp(word, "server:");
}

/* What a word means: 0, or an error, or XB_LINE_UNKNOWN. rest: what is behind it. */
static int mean_word(struct xb_reading *reading, char *rest)
{
	struct xb_list_data *data = reading->data;
	const struct option *option = data->option;

	if (!option)
		return begin_option(data, data->word[0]) ? 0 : XB_LINE_UNKNOWN;
	/* The one before lacks a word. */
	if (find_option(data->word[data->words])) {
		begin_option(data, data->word[data->words]);
		return XB_LINE_UNKNOWN;
	}
	if (++data->words < option->words)
		return 0;
	data->option = NULL;
	rest += strspn(rest, XB_BLANKS);
	return option->take(reading, *rest == '#' ? xb_line_trim(rest + 1) : "");
}

/* A statement may go on in the next line, and another may follow it in the same. */
static int parse_unbound(struct xb_reading *reading, char *line)
{
	struct xb_list_data *data = data_of(reading);
	int result = 0, one;

	if (!data)
		return xb_out_of_memory();
	data->last = NULL;
	while (take_word(&line, !data->option, data->word[data->option ? data->words : 0])) {
		one = mean_word(reading, line);
		if (one && one != -EINVAL && one != XB_LINE_UNKNOWN)
			return one;
		result = result ? result : one;
	}
	if (*line && *line != '#') {
		data->option = NULL;
		return XB_LINE_UNKNOWN;
	}
	return result;
}

/* --- what they mean together --- */

#define MOST_LABELS 128

struct nearest {
	const struct xb_entry *domain;
	enum behaviour behaviour;
};

/* What has been found of the names in order. */
struct walk {
	struct xb_listfile *file;
	const struct xb_list_data *data;
	struct nearest zones[MOST_LABELS];
	size_t depth;
	bool mixed; /* exceptions were kept, which do not stand among listings */
};

static int note(struct walk *walk, const struct xb_item *item, const char *why)
{
	char name[XB_ENTRY_TEXT];

	return xb_line_unknown(walk->file, item->entry.line, "'%s' %s",
			       XB_SHOW(xb_entry_format(&item->entry, name)), why);
}

static int keep(struct walk *walk, const struct xb_item *item, bool passes)
{
	struct xb_item kept = *item;
	uint64_t lines = walk->file->lines;
	int error;

	if (passes) {
		kept.entry.kind = XB_ALLOW_NAME;
		kept.comment = 0;
		walk->mixed = true;
	}
	walk->file->lines = item->entry.line;
	error = xb_line_keep(walk->file, &kept);
	walk->file->lines = lines;
	return error;
}

static bool is_refusing(enum behaviour behaviour)
{
	return behaviour == REFUSES || behaviour == YIELDS || behaviour == REDIRECTS;
}

/* That of the nearest zone around the name; names without one are those of a transparent zone. */
static enum behaviour around(struct walk *walk, const struct xb_entry *name)
{
	while (walk->depth && !xb_entry_inside(walk->zones[walk->depth - 1].domain, name))
		walk->depth--;
	return walk->depth ? walk->zones[walk->depth - 1].behaviour : TRANSPARENT;
}

/* Several statements of one name: the last zone counts, if it is one for all clients. */
static const struct statement *last_zone(const struct statements *zones, size_t *at,
					 bool *conditional)
{
	const struct statement *one, *last = NULL;

	*conditional = false;
	do {
		one = &zones->rows[(*at)++];
		*conditional |= one->conditional;
		last = one->conditional ? last : one;
	} while (*at < zones->count &&
		 !xb_entry_compare(&one->item.entry, &zones->rows[*at].item.entry));
	return last;
}

/* Whether the data of the name itself lead somewhere: all rows of it follow each other. */
static bool leads_somewhere(const struct statements *data, size_t at, const struct xb_entry *name)
{
	for (; at < data->count; at++) {
		const struct statement *one = &data->rows[at];

		if (one->item.entry.length != name->length + 1 ||
		    memcmp(one->item.entry.name, name->name, name->length) != 0)
			return false;
		if (one->somewhere)
			return true;
	}
	return false;
}

static bool is_in_arpa(const struct xb_entry *name)
{
	return name->length >= 5 && !memcmp(name->name, "\4arpa", 5);
}

/* data: the number of the first row that does not stand before it. */
static int judge_zone(struct walk *walk, const struct statement *zone, bool conditional,
		      size_t data)
{
	const struct xb_item *item = &zone->item;
	enum behaviour outer = around(walk, &item->entry), own = (enum behaviour)zone->behaviour;
	bool redirects = own == REDIRECTS && leads_somewhere(&walk->data->data, data, &item->entry);
	bool pointing = walk->data->pointers && is_in_arpa(&item->entry);

	if (conditional || redirects || pointing)
		own = LETS_PASS;
	walk->zones[walk->depth++] = (struct nearest){&item->entry, own};
	if (is_refusing(own))
		return keep(walk, item, false);
	if (is_refusing(outer) || zone->behaviour == own)
		return keep(walk, item, true);
	return note(walk, item,
		    conditional ? "is refused to some clients only"
				: "has local data that leads somewhere");
}

static int judge_data(struct walk *walk, size_t *at)
{
	const struct statements *data = &walk->data->data;
	const struct statement *first = &data->rows[*at], *somewhere = NULL;
	enum behaviour zone = around(walk, &first->item.entry);
	int error = 0;

	for (; *at < data->count &&
	       !xb_entry_compare(&first->item.entry, &data->rows[*at].item.entry);
	     ++*at)
		if (!somewhere && data->rows[*at].somewhere)
			somewhere = &data->rows[*at];
	if (somewhere && zone == YIELDS)
		return keep(walk, &somewhere->item, true);
	for (const struct statement *one = first; !error && one < &data->rows[*at]; one++) {
		if (one->somewhere)
			error = note(walk, &one->item, "has local data that leads somewhere");
		else if (is_refusing(zone))
			walk->file->repeats++;
		else if (somewhere || zone == LETS_PASS)
			error = note(walk, &one->item, "is refused to some queries only");
		else
			error = keep(walk, &one->item, false);
	}
	return error;
}

static int sort(struct statements *statements)
{
	return xb_entry_sort(&statements->rows, statements->count, sizeof(*statements->rows));
}

/* Zones stand in front of what lies in them. */
static int judge_all(struct walk *walk)
{
	const struct statements *zones = &walk->data->zones, *data = &walk->data->data;
	size_t zone = 0, at = 0;
	int error = 0;

	while (!error && (zone < zones->count || at < data->count)) {
		const struct statement *last;
		bool conditional;

		if (zone == zones->count ||
		    (at < data->count && xb_entry_compare(&data->rows[at].item.entry,
							  &zones->rows[zone].item.entry) < 0)) {
			error = judge_data(walk, &at);
			continue;
		}
		last = last_zone(zones, &zone, &conditional);
		if (last)
			error = judge_zone(walk, last, conditional, at);
	}
	return error;
}

static int finish_unbound(struct xb_reading *reading)
{
	struct xb_listfile *file = reading->file;
	struct walk walk = {.file = file, .data = reading->data};
	int error;

	if (!reading->data)
		return 0;
	error = sort(&reading->data->zones) ?: sort(&reading->data->data) ?: judge_all(&walk);
	xb_line_sort_unknown(file);
	if (!error && walk.mixed)
		error = xb_entry_sort(&file->items, file->count, sizeof(*file->items));
	if (walk.mixed)
		file->room = file->count;
	return error;
}

const struct xb_list_format xb_unbound_format = {"unbound",	detect_unbound,
						 parse_unbound, .comments = "#",
						 .loose = true, .finish = finish_unbound};
