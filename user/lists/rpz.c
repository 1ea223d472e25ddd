/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rpz: response policy zones as master files (RFC 1035, section 5.1). `domain CNAME .` is that name
 * alone, `*.domain CNAME .` what is below it. The latter is listed with the domain itself: zones
 * have both lines for what is bad, and the name alone then goes as a repeat. So is what a wildcard
 * allows, unless the zone lists the domain itself, which is then not to pass.
 */
#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#include "lists/format.h"
#include "lists/line.h"

/* Names are kept without the dot behind them. The zone a file does not name has a name that nobody
 * can write. */
#define NAME_ROOM	  512
#define UNNAMED		  " "
#define SOA_WORDS	  7
#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

struct xb_list_zone {
	char apex[NAME_ROOM], origin[NAME_ROOM], owner[NAME_ROOM];
	bool in_soa; /* a record that goes on in the next line */
	unsigned int soa_words;
};

/* What a line has of a record. */
struct record {
	const char *owner; /* NULL: as before */
	const char *type;
	char *data;
};

static struct xb_list_zone *zone_of(struct xb_reading *reading)
{
	if (!reading->zone) {
		reading->zone = calloc(1, sizeof(*reading->zone));
		if (!reading->zone)
			return NULL;
		strcpy(reading->zone->apex, UNNAMED);
		strcpy(reading->zone->origin, UNNAMED);
	}
	return reading->zone;
}

void xb_listzone_end(struct xb_reading *reading)
{
	free(reading->zone);
	reading->zone = NULL;
}

static bool read_record(char *line, bool indented, struct record *record)
{
	*record = (struct record){.owner = indented ? NULL : xb_line_word(&line)};
	record->type = xb_line_record_type(&line);
	record->data = line;
	return record->type;
}

static bool detect_rpz(const char *line)
{
	static const char *const types[] = {"CNAME", "SOA"};
	char copy[XB_LIST_LINE_BYTES + 1];
	struct record record;

	if (!strncasecmp(line, "$TTL", 4) || !strncasecmp(line, "$ORIGIN", 7))
		return true;
	snprintf(copy, sizeof(copy), "%s", line);
	xb_line_comment(copy, ";");
	if (!read_record(copy, false, &record))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (!strcasecmp(record.type, types[i]))
			return true;
	return false;
}

/* The name in full: as it is with a dot behind it, else below the origin. */
static bool qualify(const struct xb_list_zone *zone, const char *name, char full[NAME_ROOM])
{
	size_t size = strlen(name);
	int used;

	if (!strcmp(name, "@"))
		used = snprintf(full, NAME_ROOM, "%s", zone->origin);
	else if (size && name[size - 1] == '.')
		used = snprintf(full, NAME_ROOM, "%.*s", (int)size - 1, name);
	else
		used = snprintf(full, NAME_ROOM, "%s%s%s", name, *zone->origin ? "." : "",
				zone->origin);
	return used >= 0 && used < NAME_ROOM;
}

/* Cuts the zone off a full name: what is left is what the policy is about. */
static bool cut_zone(const struct xb_list_zone *zone, char *name)
{
	size_t size = strlen(name), apex = strlen(zone->apex);

	if (!apex)
		return true;
	if (size <= apex + 1 || strcasecmp(name + size - apex, zone->apex) ||
	    name[size - apex - 1] != '.')
		return false;
	name[size - apex - 1] = '\0';
	return true;
}

static int take_origin(struct xb_list_zone *zone, char *rest)
{
	const char *name = xb_line_word(&rest);
	char full[NAME_ROOM];

	if (!name || xb_line_word(&rest) || !qualify(zone, name, full))
		return XB_LINE_UNKNOWN;
	strcpy(zone->origin, full);
	/* The first tells the name of the zone, until an SOA record does. */
	if (!strcmp(zone->apex, UNNAMED) && zone->soa_words == 0)
		strcpy(zone->apex, full);
	return 0;
}

static int take_directive(struct xb_list_zone *zone, char *line)
{
	const char *word = xb_line_word(&line);

	if (!strcasecmp(word, "$ORIGIN"))
		return take_origin(zone, line);
	return strcasecmp(word, "$TTL") ? XB_LINE_UNKNOWN : 0;
}

/* Two names and five numbers, some perhaps with units of time. */
static bool is_soa_word(unsigned int place, const char *word)
{
	return place < 2 || (place < SOA_WORDS && isdigit((unsigned char)*word) &&
			     !word[strspn(word, XB_DIGITS "smhdwSMHDW")]);
}

/*
 * What a line has of the data of an SOA record, which may be in parentheses over many lines. A
 * record that is none ends with the first word that does not belong there, and so cannot swallow
 * what comes behind it.
 */
static int take_soa(struct xb_list_zone *zone, char *data)
{
	const char *word;
	bool right = true;

	for (char *c = data; *c; c++) {
		if (*c != '(' && *c != ')')
			continue;
		zone->in_soa = *c == '(';
		*c = ' ';
	}
	while (right && (word = xb_line_word(&data)))
		right = is_soa_word(zone->soa_words++, word);
	zone->in_soa &= right;
	return right && (zone->in_soa || zone->soa_words == SOA_WORDS) ? 0 : XB_LINE_UNKNOWN;
}

/* The first one names the zone. */
static int begin_soa(struct xb_list_zone *zone, char *data)
{
	if (!zone->soa_words)
		strcpy(zone->apex, zone->owner);
	zone->soa_words = 0;
	return take_soa(zone, data);
}

/* Triggers that are no domains, such as 32.1.2.0.192.rpz-ip, end in a label of their own. */
static bool is_other_trigger(const char *name)
{
	const char *last = strrchr(name, '.');

	return !strncasecmp(last ? last + 1 : name, "rpz-", 4);
}

static int take_policy(struct xb_reading *reading, char *data, const char *comment)
{
	const char *target = xb_line_word(&data);
	unsigned int how = 0;
	char name[NAME_ROOM];
	bool wide;

	if (!target || xb_line_word(&data))
		return XB_LINE_UNKNOWN;
	if (!strcasecmp(target, "rpz-passthru."))
		how = XB_LINE_ALLOW;
	else if (strcmp(target, ".") && strcmp(target, "*.") && strcasecmp(target, "rpz-drop."))
		return XB_LINE_UNKNOWN;
	strcpy(name, reading->zone->owner);
	if (!cut_zone(reading->zone, name) || is_other_trigger(name))
		return XB_LINE_UNKNOWN;
	wide = !strncmp(name, "*.", 2);
	if (!wide)
		how |= XB_LINE_EXACT;
	else if (how & XB_LINE_ALLOW)
		how |= XB_LINE_DOUBTFUL;
	return xb_line_keep_domain(reading->file, name + (wide ? 2 : 0), how, comment);
}

static int take_record(struct xb_reading *reading, char *line, const char *comment)
{
	struct xb_list_zone *zone = reading->zone;
	struct record record;

	if (!read_record(line, reading->indented, &record))
		return XB_LINE_UNKNOWN;
	if (record.owner && !qualify(zone, record.owner, zone->owner))
		*zone->owner = '\0';
	if (!*zone->owner)
		return XB_LINE_UNKNOWN;
	if (!strcasecmp(record.type, "SOA"))
		return begin_soa(zone, record.data);
	if (!strcasecmp(record.type, "CNAME"))
		return take_policy(reading, record.data, comment);
	return strcasecmp(record.type, "NS") ? XB_LINE_UNKNOWN : 0;
}

static int parse_rpz(struct xb_reading *reading, char *line)
{
	const char *comment = xb_line_comment(line, ";");
	struct xb_list_zone *zone = zone_of(reading);

	if (!zone)
		return xb_out_of_memory();
	if (zone->in_soa)
		return take_soa(zone, line);
	return *line == '$' ? take_directive(zone, line) : take_record(reading, line, comment);
}

static int compare(const void *entry, const void *item)
{
	return xb_entry_compare(entry, &((const struct xb_item *)item)->entry);
}

static bool has(const struct xb_listfile *file, uint8_t kind, const uint8_t *form, uint8_t length)
{
	struct xb_entry entry = {.name = form, .kind = kind, .length = length};

	return bsearch(&entry, file->items, file->count, sizeof(*file->items), compare);
}

/* Whether the file lists the name of the domain itself. The nearest rule counts; of those that
 * allow, the domain's own wildcard is none. */
static bool lists_itself(const struct xb_listfile *file, const struct xb_entry *domain)
{
	uint8_t form[XB_NAME_BYTES + 1], length = (uint8_t)(domain->length + 1);

	memcpy(form, domain->name, domain->length);
	form[domain->length] = 0;
	for (; length; length = xb_name_wider(form, length)) {
		if (length != domain->length && has(file, XB_ALLOW_NAME, form, length))
			return false;
		if (has(file, XB_NAME, form, length))
			return true;
	}
	return false;
}

static int finish_rpz(struct xb_reading *reading)
{
	struct xb_listfile *file = reading->file;
	int error;

	for (size_t i = 0; i < file->count; i++) {
		struct xb_item *item = &file->items[i];

		if (item->doubtful)
			item->doubtful = lists_itself(file, &item->entry);
	}
	error = xb_line_settle(file, "is listed, and would pass with what is allowed below it");
	return error ? error : xb_line_narrower_wins(file);
}

const struct xb_list_format xb_rpz_format = {
	"rpz", detect_rpz, parse_rpz, .comments = "#;", .loose = true, .finish = finish_rpz};
