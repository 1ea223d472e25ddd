/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * crowdsec: what cscli writes by `decisions list` and `alerts list`, as JSON or raw, which is CSV.
 * A ban of an address or range is listed until it ends, counted from the import. Other decisions
 * are set aside: for countries or users, captchas, over already, or only simulated.
 */
#include "lists/crowdsec.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <strings.h>

#include "base/duration.h"
#include "lists/addresstext.h"
#include "lists/fields.h"
#include "lists/jsondocument.h"
#include "lists/line.h"

#define LONGEST 1000000000 /* seconds, so that it ends before time does, in 2106 */

/* What it does not have is NULL. */
struct decision {
	const char *scope, *value, *type, *duration, *scenario;
	bool simulated;
};

static int set_aside(struct xb_listfile *file, const struct decision *decision, const char *why,
		     const char *what)
{
	file->set_aside++;
	return xb_line_unknown(file, file->lines, "'%s' %s%s", XB_SHOW(decision->value), why,
			       XB_SHOW(what));
}

static bool is_of_addresses(const char *scope)
{
	return !scope || !strcasecmp(scope, "ip") || !strcasecmp(scope, "range");
}

static int keep(struct xb_listfile *file, const struct decision *decision, int64_t left)
{
	int64_t seconds = left / 1000 + (left % 1000 > 0);
	struct xb_item item = {.timeout = (uint32_t)(seconds < LONGEST ? seconds : LONGEST)};
	char text[XB_ENTRY_TEXT];

	if (snprintf(text, sizeof(text), "%s", decision->value) >= (int)sizeof(text))
		return xb_input_error("'%s...' is not an address or prefix",
				      XB_SHOW(decision->value));
	return xb_addresses_keep(file, text, &item, decision->scenario ?: "");
}

static int take_decision(struct xb_reading *reading, const struct decision *decision)
{
	struct xb_listfile *file = reading->file;
	const char *duration = decision->duration;
	size_t before = file->count;
	int64_t left = 0;
	int error;

	if (!decision->value || !decision->type || !duration ||
	    !xb_duration_parse(duration, strlen(duration), &left))
		error = xb_input_error("a decision without value, type or duration");
	else if (strcasecmp(decision->type, "ban") != 0)
		return set_aside(file, decision, "is not banned, but of the type ", decision->type);
	else if (!is_of_addresses(decision->scope))
		return set_aside(file, decision, "is no address, but of the scope ",
				 decision->scope);
	else if (decision->simulated)
		return set_aside(file, decision, "is banned in simulation alone", "");
	else if (left <= 0)
		return set_aside(file, decision, "is not banned any more", "");
	else
		error = keep(file, decision, left);
	return error ? xb_line_leave_out(reading, before, error) : 0;
}

/* --- JSON --- */

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static bool is_alert(const json_t *value)
{
	const json_t *decisions = json_object_get(value, "decisions");

	return (json_is_array(decisions) || json_is_null(decisions)) && text_of(value, "scenario");
}

static bool is_decision(const json_t *value)
{
	return text_of(value, "duration") && text_of(value, "type") && text_of(value, "scope") &&
	       text_of(value, "value");
}

bool xb_crowdsec_is(const json_t *root)
{
	const json_t *first = json_is_array(root) ? json_array_get(root, 0) : root;

	return is_alert(first) || is_decision(first);
}

static int take_object(struct xb_reading *reading, json_t *value)
{
	const struct decision decision = {
		.scope = text_of(value, "scope"),
		.value = text_of(value, "value"),
		.type = text_of(value, "type"),
		.duration = text_of(value, "duration"),
		.scenario = text_of(value, "scenario"),
		.simulated = json_is_true(json_object_get(value, "simulated")),
	};
	json_t *inner;
	size_t index;
	int error = 0;

	if (!is_alert(value))
		return take_decision(reading, &decision);
	json_array_foreach(json_object_get(value, "decisions"), index, inner)
	{
		error = take_object(reading, inner);
		if (error)
			break;
	}
	return error;
}

int xb_crowdsec_take(json_t *root, struct xb_reading *reading)
{
	json_t *element;
	size_t index;

	if (!json_is_array(root))
		return take_object(reading, root);
	json_array_foreach(root, index, element)
	{
		int error = take_object(reading, element);

		if (error)
			return xb_error_prefix(error, "[%zu]", index);
	}
	return 0;
}

static int take_root(json_t *root, void *reading)
{
	return json_is_null(root) ? 0 : xb_crowdsec_take(root, reading);
}

/* --- raw --- */

#define HEADER	      "id,source,ip,reason,action,"
#define ALERTS_HEADER "id,scope,value,reason,country,as,decisions,"

/* Columns by the names that the header gives them. */
enum { VALUE, SCENARIO, TYPE, DURATION, SIMULATED, COLUMNS };

static int find_columns(const struct xb_fields *header, size_t column[COLUMNS])
{
	static const char *const names[COLUMNS] = {"ip", "reason", "action", "expiration",
						   "simulated"};

	for (size_t i = 0; i < COLUMNS; i++) {
		column[i] = xb_fields_find(header, names[i]);
		if (!column[i])
			return xb_input_error("the header has no column '%s'", names[i]);
	}
	return 0;
}

/* Scope and value stand in one field: Ip:192.0.2.1. */
static int take_record(struct xb_reading *reading, const struct xb_fields *fields,
		       const size_t column[COLUMNS])
{
	char *scope = xb_fields_at(fields, column[VALUE]),
	     *colon = scope ? strchr(scope, ':') : NULL;
	const char *simulated = xb_fields_at(fields, column[SIMULATED]);
	const char *type = xb_fields_at(fields, column[TYPE]);
	struct decision decision = {
		.scope = scope,
		.value = colon ? colon + 1 : NULL,
		.type = type,
		.duration = xb_fields_at(fields, column[DURATION]),
		.scenario = xb_fields_at(fields, column[SCENARIO]),
		.simulated = !simulated || strcmp(simulated, "false") != 0,
	};

	if (colon)
		*colon = '\0';
	return take_decision(reading, &decision);
}

/* The end of the line that the record ends in: in quotes it may go on. */
static char *find_record_end(char *record)
{
	bool quoted = false;

	for (; *record && (quoted || *record != '\n'); record++)
		quoted ^= *record == '"';
	return record;
}

static int take_raw(struct xb_reading *reading, char *text)
{
	struct xb_fields *fields = malloc(sizeof(*fields));
	size_t column[COLUMNS] = {0};
	int error = fields ? 0 : xb_out_of_memory();

	while (!error && *text) {
		char *end = find_record_end(text);
		uint64_t ends = xb_line_count_ends(text, (size_t)(end - text)) + (*end != '\0');
		bool blank = text + strspn(text, XB_BLANKS) == end;
		char *next = end + (*end != '\0');

		*end = '\0';
		error = blank ? 0 : xb_fields_cut(text, ',', fields);
		if (!error && !blank)
			error = column[VALUE] ? take_record(reading, fields, column)
					      : find_columns(fields, column);
		if (!error)
			reading->file->lines += ends;
		text = next;
	}
	free(fields);
	return error;
}

/* --- both --- */

static bool detect_crowdsec(const char *line)
{
	return !strncmp(line, HEADER, strlen(HEADER)) ||
	       !strncmp(line, ALERTS_HEADER, strlen(ALERTS_HEADER));
}

static int take_text(struct xb_reading *reading, char *text, size_t size)
{
	reading->file->lines = reading->text_line;
	if (!strncmp(text, ALERTS_HEADER, strlen(ALERTS_HEADER)))
		return xb_input_error("alerts in this form do not say how long a ban lasts: export "
				      "them by cscli with -o json");
	if (detect_crowdsec(text))
		return take_raw(reading, text);
	return xb_json_documents(reading, text, size, take_root, reading);
}

/* Of several bans of one address, the one that ends last counts. */
static int keep_longest(struct xb_reading *reading)
{
	struct xb_item *items = reading->file->items, *first = items;

	for (size_t i = 1; i < reading->file->count; i++) {
		if (xb_entry_compare(&first->entry, &items[i].entry))
			first = &items[i];
		else if (first->timeout < items[i].timeout)
			first->timeout = items[i].timeout;
	}
	return 0;
}

const struct xb_list_format xb_crowdsec_format = {
	"crowdsec",	detect_crowdsec,	NULL,
	.comments = "", .finish = keep_longest, .document = take_text};
