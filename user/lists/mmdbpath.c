/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists/mmdbpath.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

#define EACH "[]"

/* --- what is asked for --- */

static int add_step(struct xb_mmdb_condition *condition, const char *step)
{
	if (condition->steps == XB_MMDB_STEPS)
		return xb_input_error("a path of more than %d keys", XB_MMDB_STEPS);
	condition->step[condition->steps++] = step;
	return 0;
}

/* A key, perhaps with `[]` behind it, which are cut off. */
static int take_key(struct xb_mmdb_condition *condition, char *key)
{
	size_t size = strlen(key), each = 0;
	int error;

	for (; size >= 2 && !strcmp(key + size - 2, EACH); each++)
		key[size -= 2] = '\0';
	if (!size && !(each && !condition->steps))
		return xb_input_error("a path has keys with dots between them, such as "
				      "country.iso_code");
	error = size ? add_step(condition, key) : 0;
	for (; each && !error; each--)
		error = add_step(condition, EACH);
	return error;
}

static int take_condition(struct xb_mmdb_condition *condition, char *text)
{
	char *values = strchr(text, '='), *rest = text, *key;
	int error = 0;

	if (values) {
		*values++ = '\0';
		condition->values = values;
	}
	if (!strcmp(text, "."))
		return values ? xb_input_error("the path . has no values") : 0;
	while (!error && (key = strsep(&rest, ".")))
		error = take_key(condition, key);
	return error;
}

int xb_mmdb_conditions_parse(const char *text, struct xb_mmdb_conditions *conditions)
{
	char *rest = conditions->text, *one;
	int error = 0;

	*conditions = (struct xb_mmdb_conditions){0};
	if (strlen(text) >= sizeof(conditions->text))
		return xb_input_error("paths of more than %zu bytes", sizeof(conditions->text) - 1);
	strcpy(conditions->text, text);
	while (!error && (one = strsep(&rest, ","))) {
		if (conditions->count == XB_MMDB_CONDITIONS)
			return xb_input_error("more than %d paths", XB_MMDB_CONDITIONS);
		error = take_condition(&conditions->condition[conditions->count++], one);
	}
	return error;
}

int xb_mmdb_conditions_check(const char *text)
{
	struct xb_mmdb_conditions *conditions = malloc(sizeof(*conditions));
	int error = conditions ? xb_mmdb_conditions_parse(text, conditions) : xb_out_of_memory();

	free(conditions);
	return error;
}

/* --- what a record has --- */

#define VALUE_TEXT 24 /* of a number */

/* A text, a number or a bool as text. False: it is none of these. */
static bool value_text(const struct xb_mmdb_value *value, char number[VALUE_TEXT],
		       const char **text, size_t *size)
{
	if (value->kind == XB_MMDB_TEXT) {
		*text = value->text;
		*size = value->size;
		return true;
	}
	if (value->kind == XB_MMDB_NUMBER)
		snprintf(number, VALUE_TEXT, "%" PRIu64, value->number);
	else if (value->kind == XB_MMDB_BOOL)
		strcpy(number, value->number ? "true" : "false");
	else
		return false;
	*text = number;
	*size = strlen(number);
	return true;
}

/* Whether it is one of the texts. */
static bool is_one_of(const struct xb_mmdb_value *value, const char *values)
{
	char number[VALUE_TEXT];
	const char *text;
	size_t size;

	if (!value_text(value, number, &text, &size))
		return false;
	for (;;) {
		size_t one = strcspn(values, "|");

		if (one == size && !memcmp(values, text, size))
			return true;
		if (!values[one])
			return false;
		values += one + 1;
	}
}

static bool value_holds(const struct xb_mmdb_value *value, const char *values)
{
	if (values)
		return is_one_of(value, values);
	if (value->kind == XB_MMDB_NUMBER || value->kind == XB_MMDB_BOOL)
		return value->number;
	return value->kind == XB_MMDB_OTHER || value->size;
}

static int holds(const struct xb_mmdb_condition *condition, struct xb_mmdb_section *data,
		 const struct xb_mmdb_value *value, size_t step, bool *hold);

static int each_holds(const struct xb_mmdb_condition *condition, struct xb_mmdb_section *data,
		      const struct xb_mmdb_value *value, size_t step, bool *hold)
{
	uint32_t at = value->inside, left = 0;
	int error = 0;

	if (value->kind == XB_MMDB_MAP || value->kind == XB_MMDB_ARRAY)
		left = value->size;
	for (; left && !error && !*hold; left--) {
		struct xb_mmdb_value one;

		if (value->kind == XB_MMDB_MAP)
			error = xb_mmdb_skip(data, &at);
		if (!error)
			error = xb_mmdb_value_at(data, at, &one);
		if (!error)
			error = holds(condition, data, &one, step, hold);
		if (!error)
			error = xb_mmdb_skip(data, &at);
	}
	return error;
}

/* *hold: false before. As deep as the path has steps. */
static int holds(const struct xb_mmdb_condition *condition, struct xb_mmdb_section *data,
		 const struct xb_mmdb_value *value, size_t step, bool *hold)
{
	const char *key = step < condition->steps ? condition->step[step] : NULL;
	struct xb_mmdb_value member;
	int error;

	if (!key) {
		*hold = value->kind != XB_MMDB_NONE && value_holds(value, condition->values);
		return 0;
	}
	if (!strcmp(key, EACH))
		return each_holds(condition, data, value, step + 1, hold);
	error = xb_mmdb_member(data, value, key, strlen(key), &member);
	return error ? error : holds(condition, data, &member, step + 1, hold);
}

int xb_mmdb_conditions_hold(const struct xb_mmdb_conditions *conditions,
			    struct xb_mmdb_section *data, uint32_t record, bool *hold)
{
	struct xb_mmdb_value value;
	int error = 0;

	*hold = true;
	for (size_t i = 0; i < conditions->count && *hold && !error; i++) {
		const struct xb_mmdb_condition *condition = &conditions->condition[i];

		error = xb_mmdb_value_at(data, record, &value);
		*hold = !condition->steps;
		if (!error && condition->steps)
			error = holds(condition, data, &value, 0, hold);
	}
	return error;
}

int xb_mmdb_find(struct xb_mmdb_section *data, uint32_t record, const char *path,
		 struct xb_mmdb_value *value)
{
	int error = xb_mmdb_value_at(data, record, value);

	while (!error && *path) {
		struct xb_mmdb_value map = *value;
		size_t size = strcspn(path, ".");

		error = xb_mmdb_member(data, &map, path, size, value);
		path += size + (path[size] == '.');
	}
	return error;
}

/* --- for a message --- */

#define PATH_BYTES 128
#define TOLD	   6 /* values */
#define LEVELS	   4
#define LOOKED_AT  64 /* members of a map */

struct description {
	struct xb_mmdb_section *data;
	struct xb_line line;
	char path[PATH_BYTES];
	unsigned int told;
};

static void tell(struct description *description, const struct xb_mmdb_value *value)
{
	char number[VALUE_TEXT], shown[XB_SHOWN + 1];
	const char *text;
	size_t size;

	if (!value_text(value, number, &text, &size) || description->told == TOLD)
		return;
	xb_utf8_show(text, size, shown, sizeof(shown));
	xb_line_put(&description->line, "%s%s=%s", description->told++ ? ", " : "",
		    description->path, shown);
}

static int describe(struct description *description, const struct xb_mmdb_value *map,
		    unsigned int levels)
{
	size_t used = strlen(description->path);
	uint32_t at = map->inside, left = map->size < LOOKED_AT ? map->size : LOOKED_AT;
	int error = 0;

	for (; left && !error && description->told < TOLD; left--) {
		struct xb_mmdb_value key, value;
		char name[XB_SHOWN + 1];

		error = xb_mmdb_value_at(description->data, at, &key)
				?: xb_mmdb_value_at(description->data, key.behind, &value);
		if (error || key.kind != XB_MMDB_TEXT)
			return error;
		xb_utf8_show(key.text, key.size, name, sizeof(name));
		snprintf(description->path + used, sizeof(description->path) - used, "%s%s",
			 used ? "." : "", name);
		if (value.kind == XB_MMDB_MAP && levels)
			error = describe(description, &value, levels - 1);
		else
			tell(description, &value);
		description->path[used] = '\0';
		at = key.behind;
		if (!error)
			error = xb_mmdb_skip(description->data, &at);
	}
	return error;
}

int xb_mmdb_describe(struct xb_mmdb_section *data, uint32_t record, char *out, size_t room)
{
	struct description description = {.data = data, .line = {.text = out, .room = room}};
	struct xb_mmdb_value value;
	int error = xb_mmdb_value_at(data, record, &value);

	*out = '\0';
	if (!error && value.kind == XB_MMDB_MAP)
		error = describe(&description, &value, LEVELS);
	return error;
}
