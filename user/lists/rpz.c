/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * rpz: response policy zones as master files (RFC 1035, section 5.1). `domain CNAME .` is that name
 * alone, `*.domain CNAME .` what is below it, unless a name hides it (wildcards.c). Programs that
 * own such zones part in places; listed is what all refuse, which docs/lists.md has as a table.
 * Clients by their address (rpz-client-ip) are listed as sources.
 *
 * ldns reads records; the plain `name CNAME .`, of which a zone has millions, is read without it,
 * in a third of the time.
 */
#include <errno.h>
#include <stdio.h>
#include <strings.h>

#include "base/array.h"
#include "base/program.h"
#include "lists/format.h"
#include "lists/line.h"
#include "lists/span.h"
#include "lists/zonerecord.h"

/* Names are kept as text without the dot behind them. The zone a file does not name has a name
 * that nobody writes. */
#define NAME_ROOM   1024
#define UNNAMED	    "\\000"
#define RECORD_ROOM (64 * 1024)

struct xb_list_zone {
	char apex[NAME_ROOM], origin[NAME_ROOM], owner[NAME_ROOM];
	char record[RECORD_ROOM]; /* that goes on in the next line */
	size_t record_bytes;	  /* 0: none does */
	uint64_t record_line;	  /* in which it began */
	unsigned int open;	  /* its parentheses */
	bool indented;		  /* it began so */
	bool told;		  /* the name of the zone, by whoever reads it */
	bool varied;		  /* some line does more than to refuse a name alone */
	bool has_soa;
	uint64_t named; /* the first line with a name in full, of a zone without a name; 0: none */
	uint64_t client_passes; /* the first line that lets a client ask for anything; 0: none */
	struct xb_item *odd;	/* the domains of names that cannot be listed */
	size_t odd_count, odd_room;
};

/* What becomes of who asks for a name. */
enum action {
	REFUSED,
	PASSES,	   /* as the zone says in so many words */
	LED,	   /* to other data, so it passes, too */
	IS_THERE,  /* of no matter, but for wildcards above the name */
	DELEGATED, /* to other servers, with all below it */
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
	if (reading->zone)
		free(reading->zone->odd);
	free(reading->zone);
	reading->zone = NULL;
}

static bool detect_rpz(const char *line)
{
	static const char *const types[] = {"CNAME", "SOA"};
	char copy[XB_LIST_LINE_BYTES + 1], *rest = copy;
	const char *type;

	if (!strncasecmp(line, "$TTL", 4) || !strncasecmp(line, "$ORIGIN", 7))
		return true;
	snprintf(copy, sizeof(copy), "%s", line);
	xb_line_comment(copy, ";");
	type = xb_line_word(&rest) ? xb_line_record_type(&rest) : NULL;
	for (size_t i = 0; type && i < ARRAY_SIZE(types); i++)
		if (!strcasecmp(type, types[i]))
			return true;
	return false;
}

/* --- names --- */

/* The name in full: as it is with a dot behind it, else below the origin. */
static bool qualify(const struct xb_list_zone *zone, const char *name, char full[NAME_ROOM])
{
	size_t size = strlen(name), origin = strlen(zone->origin);

	if (size == 1 && *name == '@') {
		memcpy(full, zone->origin, origin + 1);
		return true;
	}
	if (size + 1 + origin >= NAME_ROOM)
		return false;
	memcpy(full, name, size + 1);
	if (size && name[size - 1] == '.') {
		full[size - 1] = '\0';
		return true;
	}
	if (origin)
		full[size++] = '.';
	memcpy(full + size, zone->origin, origin + 1);
	return true;
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

/* --- clients --- */

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
static int take_client(struct xb_reading *reading, char *name, enum action action,
		       const char *comment)
{
	bool passes = action != REFUSED;
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
	if (passes && !reading->zone->client_passes)
		reading->zone->client_passes = reading->file->lines;
	span = xb_span_of(&entry);
	return xb_span_keep(reading->file, &span, &item, passes ? "" : comment);
}

/* --- policies --- */

static const unsigned int ways[] = {
	[REFUSED] = 0,
	[PASSES] = XB_LINE_ALLOW,
	[LED] = XB_LINE_ALLOW | XB_LINE_DOUBTFUL,
	[IS_THERE] = XB_LINE_ALLOW | XB_LINE_DOUBTFUL | XB_LINE_MEANT | XB_LINE_EXACT,
	[DELEGATED] = XB_LINE_ALLOW | XB_LINE_DOUBTFUL | XB_LINE_MEANT,
};

/* Of a name that no query can be for, the domain that it lies in is there. */
static int keep_odd_name(struct xb_reading *reading, const char *name)
{
	struct xb_list_zone *zone = reading->zone;
	struct xb_item item = {.entry = {.kind = XB_ALLOW_NAME}, .doubtful = 1, .meant = 1};
	uint8_t form[XB_NAME_BYTES + 1];
	int error = -EINVAL;

	while (error == -EINVAL && (name = strchr(name, '.'))) {
		error = xb_line_domain(++name, form, &item.entry.length);
		if (error == -EINVAL)
			xb_error_clear();
	}
	if (error)
		return error == -EINVAL ? 0 : error;
	form[item.entry.length++] = 0;
	error = xb_array_grow(&zone->odd, &zone->odd_room, zone->odd_count + 1, sizeof(item));
	if (error)
		return error;
	item.entry.name = xb_arena_copy(&reading->file->names, form, item.entry.length);
	zone->odd[zone->odd_count++] = item;
	return item.entry.name ? 0 : -ENOMEM;
}

static int take_policy(struct xb_reading *reading, enum action action, const char *comment)
{
	unsigned int how = ways[action];
	char name[NAME_ROOM];
	bool wide;
	int error;

	strcpy(name, reading->zone->owner);
	if (!cut_zone(reading->zone, name)) {
		if (!strcasecmp(name, reading->zone->apex) && action != REFUSED && action != PASSES)
			return 0;
		if (!strcmp(reading->zone->apex, UNNAMED) && !reading->zone->named)
			reading->zone->named = reading->file->lines;
		return XB_LINE_UNKNOWN;
	}
	if (is_trigger(name, CLIENT))
		return action == IS_THERE ? 0 : take_client(reading, name, action, comment);
	if (is_trigger(name, "rpz-"))
		return XB_LINE_UNKNOWN;
	wide = !strncmp(name, "*.", 2);
	if (!wide && action != DELEGATED)
		how |= XB_LINE_EXACT;
	reading->zone->varied |= wide || action != REFUSED;
	comment = action == REFUSED ? comment : "";
	error = xb_line_keep_domain(reading->file, name + (wide ? 2 : 0), how, comment);
	if (error != -EINVAL)
		return error;
	xb_error_clear();
	return keep_odd_name(reading, name)
		       ?: xb_line_keep_domain(reading->file, name + (wide ? 2 : 0), how, comment);
}

/* target: the name in full. */
static enum action action_of_target(const struct xb_list_zone *zone, const char *target)
{
	if (!*target || !strcmp(target, "*") || !strcasecmp(target, "rpz-drop"))
		return REFUSED;
	/* An older way to say it is a name that leads to itself. */
	if (!strcasecmp(target, "rpz-passthru") || !strcasecmp(target, zone->owner))
		return PASSES;
	return LED;
}

static enum action action_of(const struct xb_list_zone *zone, const struct xb_zone_record *record)
{
	switch (record->type) {
	case LDNS_RR_TYPE_RRSIG:
	case LDNS_RR_TYPE_NSEC:
	case LDNS_RR_TYPE_NSEC3:
		return IS_THERE;
	case LDNS_RR_TYPE_NS:
	case LDNS_RR_TYPE_DNAME:
		return DELEGATED;
	case LDNS_RR_TYPE_CNAME:
		return action_of_target(zone, record->data);
	case LDNS_RR_TYPE_A:
	case LDNS_RR_TYPE_AAAA:
		return xb_line_is_nowhere(record->data) ? REFUSED : LED;
	default:
		return LED;
	}
}

/* --- records --- */

/* The first one names the zone. */
static int take_soa(struct xb_list_zone *zone)
{
	if (!zone->has_soa && !zone->told)
		strcpy(zone->apex, zone->owner);
	zone->has_soa = true;
	return 0;
}

/* type and data: of a record of zone->owner. */
static int read_record(struct xb_reading *reading, const char *type, const char *data,
		       const char *comment)
{
	struct xb_list_zone *zone = reading->zone;
	struct xb_zone_record record;
	char *text;
	int error;

	if (asprintf(&text, "%s. 0 IN %s %s", zone->owner, type, data) < 0)
		return xb_out_of_memory();
	error = xb_zone_record_read(text, zone->origin, &record);
	free(text);
	if (error)
		return error == -EINVAL ? XB_LINE_UNKNOWN : error;
	snprintf(zone->owner, sizeof(zone->owner), "%s", record.owner);
	if (record.type == LDNS_RR_TYPE_SOA)
		error = take_soa(zone);
	else
		error = take_policy(reading, action_of(zone, &record), comment);
	xb_zone_record_free(&record);
	return error;
}

/* Its type begins behind `line`, time to live and class. plain: all characters mean themselves. */
static int take_record(struct xb_reading *reading, char *line, bool indented, bool plain,
		       const char *comment)
{
	struct xb_list_zone *zone = reading->zone;
	const char *owner = indented ? NULL : xb_line_word(&line), *type, *target;
	char full[NAME_ROOM];

	type = xb_line_record_type(&line);
	if (!type)
		return XB_LINE_UNKNOWN;
	if (owner && (strchr(owner, '"') || !qualify(zone, owner, zone->owner)))
		*zone->owner = '\0';
	if (!*zone->owner)
		return XB_LINE_UNKNOWN;
	if (!plain || strcasecmp(type, "CNAME") != 0)
		return read_record(reading, type, line, comment);
	target = xb_line_word(&line);
	if (!target || xb_line_word(&line) || !qualify(zone, target, full))
		return XB_LINE_UNKNOWN;
	return take_policy(reading, action_of_target(zone, full), comment);
}

static int take_origin(struct xb_list_zone *zone, char *rest)
{
	const char *name = xb_line_word(&rest);
	char full[NAME_ROOM];

	if (!name || xb_line_word(&rest) || !qualify(zone, name, full))
		return XB_LINE_UNKNOWN;
	strcpy(zone->origin, full);
	/* The first tells the name of the zone, until an SOA record does. */
	if (!zone->told && !strcmp(zone->apex, UNNAMED) && !zone->has_soa)
		strcpy(zone->apex, full);
	return 0;
}

static int take_directive(struct xb_reading *reading, char *line)
{
	const char *word = xb_line_word(&line);

	if (!strcasecmp(word, "$ORIGIN"))
		return take_origin(reading->zone, line);
	if (!strcasecmp(word, "$TTL"))
		return 0;
	reading->hopeless = true;
	return xb_input_error("'%s' is more than records; named-compilezone -o - ZONE FILE writes "
			      "them out, ready to be imported",
			      XB_SHOW(word));
}

/* --- lines --- */

/* Where the comment of a line begins, if it does; counts the parentheses, and makes blanks of
 * them. A text in quotes ends with the line. */
static char *find_comment(struct xb_list_zone *zone, char *line)
{
	bool quoted = false;

	for (; *line && (quoted || *line != ';'); line++) {
		if (*line == '\\' && line[1])
			line++;
		else if (*line == '"')
			quoted = !quoted;
		else if (!quoted && *line == '(')
			zone->open++;
		else if (!quoted && *line == ')')
			zone->open -= zone->open > 0;
		else
			continue;
		if (!quoted && strchr("()", *line))
			*line = ' ';
	}
	return line;
}

static int add_line(struct xb_list_zone *zone, const char *line)
{
	size_t room = sizeof(zone->record) - zone->record_bytes;
	int used = snprintf(zone->record + zone->record_bytes, room, " %s", line);

	if (used < 0 || (size_t)used >= room)
		return xb_input_error(
			"the parenthesis of line %llu is open for more than %zu bytes",
			(unsigned long long)zone->record_line, sizeof(zone->record));
	zone->record_bytes += (size_t)used;
	return 0;
}

/* A line of a record with parentheses, which may be the last. It is told as the line in which the
 * record began. */
static int take_part(struct xb_reading *reading, char *line, const char *comment)
{
	struct xb_list_zone *zone = reading->zone;
	uint64_t lines = reading->file->lines;
	int error;

	if (!zone->record_bytes) {
		zone->record_line = lines;
		zone->indented = reading->indented;
	}
	error = add_line(zone, line);
	if (error) {
		reading->hopeless = true;
		return error;
	}
	if (zone->open)
		return 0;
	zone->record_bytes = 0;
	reading->file->lines = zone->record_line;
	error = take_record(reading, xb_line_trim(zone->record), zone->indented, false, comment);
	reading->file->lines = lines;
	return error;
}

#define SPECIAL "\\\"()" /* characters that mean more than themselves */

static int parse_rpz(struct xb_reading *reading, char *line)
{
	struct xb_list_zone *zone = zone_of(reading);
	char *end = line + strcspn(line, ";" SPECIAL);
	bool plain = !*end || *end == ';';
	const char *comment = "";

	if (!zone)
		return xb_out_of_memory();
	plain &= !zone->record_bytes;
	if (!plain && (zone->record_bytes || *line != '$'))
		end = find_comment(zone, line);
	if (*end == ';') {
		*end = '\0';
		comment = xb_line_trim(end + 1);
	}
	if (!zone->record_bytes && *line == '$')
		return take_directive(reading, line);
	if (zone->record_bytes || zone->open)
		return take_part(reading, line, comment);
	return take_record(reading, line, reading->indented, plain, comment);
}

/* Names that cannot be listed hide what is above them all the same. */
static int put_odd_names(struct xb_listfile *file, const struct xb_list_zone *zone)
{
	int error = 0;

	if (!zone || !zone->odd_count)
		return 0;
	for (size_t i = 0; !error && i < zone->odd_count; i++)
		error = xb_line_keep(file, &zone->odd[i]);
	if (!error)
		error = xb_entry_sort(&file->items, file->count, sizeof(*file->items));
	file->room = file->count;
	return error;
}

/* A client that may ask for anything is none for whom a name is refused. */
static int look_at_clients(struct xb_reading *reading)
{
	struct xb_listfile *file = reading->file;
	char why[80];

	if (!reading->zone || !reading->zone->client_passes)
		return 0;
	snprintf(why, sizeof(why), "is not refused to the client of line %llu",
		 (unsigned long long)reading->zone->client_passes);
	for (size_t i = 0; i < file->count; i++)
		file->items[i].doubtful |= file->items[i].entry.kind == XB_NAME;
	return xb_line_settle(file, why);
}

static int finish_rpz(struct xb_reading *reading)
{
	struct xb_list_zone *zone = reading->zone;
	struct xb_listfile *file = reading->file;
	int error;

	/* All names are in full, and nobody can tell where in them the zone begins. */
	if (zone && zone->named && !file->count)
		return xb_input_error("line %llu has a name in full, and the file does not say of "
				      "which zone%s",
				      (unsigned long long)zone->named,
				      xb_advice(XB_ADVICE_NAME_ZONE));
	if (zone && zone->record_bytes)
		return xb_input_error("the parenthesis of line %llu does not end",
				      (unsigned long long)zone->record_line);
	error = look_at_clients(reading);
	if (!error)
		error = put_odd_names(file, zone);
	if (!error && zone && (zone->varied || zone->odd_count))
		error = xb_line_wildcards(file, XB_WILDCARDS_HIDDEN);
	return error ? error : xb_span_except(file, XB_LONGEST);
}

const struct xb_list_format xb_rpz_format = {
	"rpz", detect_rpz, parse_rpz, .comments = "#;", .loose = true, .finish = finish_rpz};
