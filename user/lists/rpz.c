/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rpz: response policy zones as master files (RFC 1035, section 5.1). `domain CNAME .` is that name
 * alone, `*.domain CNAME .` what is below it. The latter is listed with the domain itself: zones
 * have both lines for what is bad, and the name alone then goes as a repeat. So is what a wildcard
 * allows, unless the zone lists the domain itself, which is then not to pass. Clients by their
 * address (rpz-client-ip) are listed as sources.
 */
#include <ctype.h>
#include <stdio.h>
#include <strings.h>

#include "base/program.h"
#include "lists/format.h"
#include "lists/line.h"
#include "lists/span.h"

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
	bool told;	/* the name of the zone, by whoever reads it */
	uint64_t named; /* the first line with a name in full, of a zone without a name; 0: none */
};

/* What a line has of a record. */
struct record {
	const char *owner; /* NULL: as before */
	const char *type;
	char *data;
};

static void tell_zone(struct xb_list_zone *zone, const char *name)
{
	size_t size = name ? strlen(name) : 0;

	size -= size && name[size - 1] == '.';
	if (!size || size >= NAME_ROOM)
		return;
	snprintf(zone->apex, sizeof(zone->apex), "%.*s", (int)size, name);
	strcpy(zone->origin, zone->apex);
	zone->told = true;
}

static struct xb_list_zone *zone_of(struct xb_reading *reading)
{
	if (!reading->zone) {
		reading->zone = calloc(1, sizeof(*reading->zone));
		if (!reading->zone)
			return NULL;
		strcpy(reading->zone->apex, UNNAMED);
		strcpy(reading->zone->origin, UNNAMED);
		tell_zone(reading->zone, reading->zone_name);
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
	if (!zone->told && !strcmp(zone->apex, UNNAMED) && zone->soa_words == 0)
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
	if (!zone->soa_words && !zone->told)
		strcpy(zone->apex, zone->owner);
	zone->soa_words = 0;
	return take_soa(zone, data);
}

/* Triggers that are no domains, such as 32.1.2.0.192.rpz-ip, end in a label of their own. Of those,
 * rpz-client-ip is about who asks. The others are about what an answer says, or who gave it, and
 * none of these has to be a source of packets that anybody wants to drop. */
static bool is_trigger(const char *name, const char *label)
{
	const char *last = strrchr(name, '.');

	return !strncasecmp(last ? last + 1 : name, label, strlen(label));
}

#define CLIENT "rpz-client-ip"
#define MOST   9 /* labels: a length and eight words */

/* 24.0.2.0.192 is 192.0.2.0/24, and 48.zz.db8.2001 is 2001:db8::/48. False: something else. */
static bool read_client(char *labels, char text[XB_ENTRY_TEXT])
{
	const char *parts[MOST], *label;
	size_t count = 0, used = 0;
	bool ipv4, gap = false;

	while ((label = strsep(&labels, "."))) {
		if (count == MOST || !*label || strlen(label) > 4)
			return false;
		gap |= !strcasecmp(label, "zz");
		parts[count++] = label;
	}
	ipv4 = count == 5 && !gap;
	if (count < 2 || parts[0][strspn(parts[0], XB_DIGITS)] || (!ipv4 && !gap && count != MOST))
		return false;
	for (size_t i = count - 1; i > 0; i--) {
		bool is_gap = !strcasecmp(parts[i], "zz"), first = i == count - 1;
		const char *mark = ipv4 ? "." : ":";

		if (first || (!is_gap && !strcasecmp(parts[i + 1], "zz")))
			mark = "";
		used += (size_t)snprintf(text + used, XB_ENTRY_TEXT - used, "%s%s",
					 is_gap ? "" : mark, is_gap ? "::" : parts[i]);
	}
	snprintf(text + used, XB_ENTRY_TEXT - used, "/%s", parts[0]);
	return true;
}

/* Those who pass are taken out of what the zone lists: the longest prefix decides. */
static int take_client(struct xb_reading *reading, char *name, bool passes, const char *comment)
{
	struct xb_item item = {.entry.kind = passes ? XB_ALLOW4 : 0};
	char *end = strrchr(name, '.'), text[XB_ENTRY_TEXT] = "";
	struct xb_entry entry;
	struct xb_span span;
	int error;

	if (!end)
		return XB_LINE_UNKNOWN;
	*end = '\0';
	if (!read_client(name, text))
		return XB_LINE_UNKNOWN;
	error = xb_line_address(reading->file, text, &entry);
	if (error)
		return error;
	span = xb_span_of(&entry);
	return xb_span_keep(reading->file, &span, &item, passes ? "" : comment);
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
	if (!cut_zone(reading->zone, name)) {
		if (!strcmp(reading->zone->apex, UNNAMED) && !reading->zone->named)
			reading->zone->named = reading->file->lines;
		return XB_LINE_UNKNOWN;
	}
	if (is_trigger(name, CLIENT))
		return take_client(reading, name, how & XB_LINE_ALLOW, comment);
	if (is_trigger(name, "rpz-"))
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

static int finish_rpz(struct xb_reading *reading)
{
	struct xb_listfile *file = reading->file;
	int error;

	/* All names are in full, and nobody can tell where in them the zone begins. */
	if (reading->zone && reading->zone->named && !file->count)
		return xb_input_error("line %llu has a name in full, and the file does not say of "
				      "which zone%s",
				      (unsigned long long)reading->zone->named,
				      xb_advice(XB_ADVICE_NAME_ZONE));
	for (size_t i = 0; i < file->count; i++) {
		struct xb_item *item = &file->items[i];

		if (item->doubtful)
			item->doubtful = xb_line_lists_itself(file, &item->entry);
	}
	error = xb_line_settle(file, "is listed, and would pass with what is allowed below it");
	if (!error)
		error = xb_line_narrower_wins(file);
	return error ? error : xb_span_except(file, XB_LONGEST);
}

const struct xb_list_format xb_rpz_format = {
	"rpz", detect_rpz, parse_rpz, .comments = "#;", .loose = true, .finish = finish_rpz};
