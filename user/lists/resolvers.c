/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of domains that are configurations of a resolver, Unbound. */
#include <errno.h>
#include <strings.h>

#include "lists/format.h"
#include "lists/line.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

/*
 * unbound: `local-zone: "d" TYPE` and `local-data: "d A 0.0.0.0"`. What the types answer:
 * unbound.conf(5); the zone nearest to a name decides. Those that yield answer local data where
 * there is some, so a zone of theirs with names that lead somewhere is one to use, not to block.
 * Lists write local data that leads nowhere.
 */

static const char *const blocking[] = {"always_nxdomain", "always_refuse", "always_deny",
				       "always_null", "always_nodata"};
static const char *const yielding[] = {"refuse",   "deny",	  "static",
				       "redirect", "inform_deny", "inform_redirect"};
static const char *const passing[] = {"transparent", "typetransparent", "always_transparent"};

/* The names whose local data leads somewhere; each stands for itself alone. */
struct xb_list_data {
	struct xb_entry *entries;
	size_t count, room;
};

void xb_listresolver_end(struct xb_reading *reading)
{
	if (reading->data)
		free(reading->data->entries);
	free(reading->data);
	reading->data = NULL;
}

static bool is_among(const char *word, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

static bool detect_unbound(const char *line)
{
	return !strncmp(line, "server:", 7) || !strncmp(line, "local-zone:", 11) ||
	       !strncmp(line, "local-data:", 11);
}

#define QUOTES "\"'"

/* A word, perhaps in quotes; NULL: none, or an open quote. */
static char *take_quoted(char **rest)
{
	char *start = *rest + strspn(*rest, XB_BLANKS), *end;

	if (!*start || !strchr(QUOTES, *start))
		return xb_line_word(rest);
	end = strchr(start + 1, *start);
	if (!end)
		return NULL;
	*end = '\0';
	*rest = end + 1;
	return start + 1;
}

static int parse_zone(struct xb_reading *reading, char *rest, const char *comment)
{
	const char *domain = take_quoted(&rest), *type = domain ? take_quoted(&rest) : NULL;
	unsigned int how = 0;

	if (!type || xb_line_word(&rest))
		return XB_LINE_UNKNOWN;
	if (is_among(type, passing, ARRAY_SIZE(passing)))
		how = XB_LINE_ALLOW;
	else if (is_among(type, yielding, ARRAY_SIZE(yielding)))
		how = XB_LINE_DOUBTFUL;
	else if (!is_among(type, blocking, ARRAY_SIZE(blocking)))
		return XB_LINE_UNKNOWN;
	return xb_line_keep_domain(reading->file, domain, how, comment);
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

static int keep_data(struct xb_reading *reading, const uint8_t *form, uint8_t used)
{
	struct xb_entry entry = {.kind = XB_NAME, .length = used};
	struct xb_list_data *data = reading->data;
	int error;

	if (!data)
		data = reading->data = calloc(1, sizeof(*data));
	if (!data)
		return xb_out_of_memory();
	error = xb_array_grow(&data->entries, &data->room, data->count + 1, sizeof(entry));
	if (error)
		return error;
	entry.name = xb_arena_copy(&reading->file->names, form, used);
	if (!entry.name)
		return -ENOMEM;
	data->entries[data->count++] = entry;
	return 0;
}

/* Records may have labels that no domain has, such as `*`: what counts is which zones they are in,
 * and so the domain they lie in. */
static int take_data(struct xb_reading *reading, const char *name)
{
	uint8_t form[XB_NAME_BYTES + 1], used = 0;
	int error;

	while ((error = xb_line_domain(name, form, &used)) == -EINVAL) {
		xb_error_clear();
		name = strchr(name, '.');
		if (!name)
			return XB_LINE_UNKNOWN;
		name++;
	}
	form[used++] = 0;
	return error ?: keep_data(reading, form, used) ?: XB_LINE_UNKNOWN;
}

static int parse_data(struct xb_reading *reading, char *rest, const char *comment)
{
	char *record = take_quoted(&rest);
	bool whole = record && !xb_line_word(&rest);
	const char *name;

	if (!record)
		record = rest + strspn(rest, XB_BLANKS QUOTES);
	name = xb_line_word(&record);
	if (!name)
		return XB_LINE_UNKNOWN;
	if (!whole || !leads_nowhere(record))
		return take_data(reading, name);
	return xb_line_keep_domain(reading->file, name, XB_LINE_EXACT | XB_LINE_DOUBTFUL, comment);
}

static int parse_unbound(struct xb_reading *reading, char *line)
{
	const char *comment = xb_line_comment(line, "#");

	if (!strcmp(xb_line_trim(line), "server:"))
		return 0;
	if (!strncmp(line, "local-zone:", 11))
		return parse_zone(reading, line + 11, comment);
	if (!strncmp(line, "local-data:", 11))
		return parse_data(reading, line + 11, comment);
	return XB_LINE_UNKNOWN;
}

/* What lies in a domain stands right behind it in order. */
static void clear_doubts(struct xb_listfile *file, const struct xb_list_data *data)
{
	size_t at = 0;

	for (size_t i = 0; i < file->count; i++) {
		struct xb_item *item = &file->items[i];

		while (at < data->count && xb_entry_compare(&data->entries[at], &item->entry) < 0)
			at++;
		if (at == data->count || !xb_entry_inside(&item->entry, &data->entries[at]))
			item->doubtful = false;
	}
}

/* Names alone in a listed zone say nothing more. */
static void drop_names_in_zones(struct xb_listfile *file)
{
	const struct xb_entry *zone = NULL;
	size_t kept = 0;

	for (size_t i = 0; i < file->count; i++) {
		const struct xb_entry *entry = &file->items[i].entry;
		bool exact = xb_name_is_exact(entry->name, entry->length);

		if (exact && zone && xb_entry_inside(zone, entry))
			continue;
		file->items[kept] = file->items[i];
		if (!exact && !(zone && xb_entry_inside(zone, entry)))
			zone = &file->items[kept].entry;
		kept++;
	}
	file->repeats += file->count - kept;
	file->count = kept;
}

static int finish_unbound(struct xb_reading *reading)
{
	struct xb_list_data none = {0}, *data = reading->data ? reading->data : &none;
	int error = xb_entry_sort(&data->entries, data->count, sizeof(*data->entries));

	if (error)
		return error;
	clear_doubts(reading->file, data);
	error = xb_line_settle(reading->file, "has local data that leads somewhere");
	if (!error)
		error = xb_line_narrower_wins(reading->file);
	if (!error)
		drop_names_in_zones(reading->file);
	return error;
}

const struct xb_list_format xb_unbound_format = {"unbound",	detect_unbound,
						 parse_unbound, .comments = "#",
						 .loose = true, .finish = finish_unbound};
