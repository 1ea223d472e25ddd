/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists/jsonpath.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

#define SPECIAL ".,[]=!<>/+\" \t"

/* --- parsing --- */

static int misread(const char *text)
{
	return xb_input_error("'%s' is not a path such as prefixes[].ip_prefix", XB_SHOW(text));
}

/* These return where what they read ends; NULL: it is none, or too much. */

static const char *read_key(const char *text, struct xb_json_keys *keys)
{
	char *name = keys->names + keys->used;
	const char *end = xb_word_read(text, SPECIAL, name, sizeof(keys->names) - keys->used);

	if (!end || end == text)
		return NULL;
	keys->used += strlen(name) + 1;
	keys->count++;
	return end;
}

static const char *read_keys(const char *text, struct xb_json_keys *keys)
{
	text = read_key(text, keys);
	while (text && *text == '.')
		text = read_key(text + 1, keys);
	return text;
}

/* What stands in brackets, from the first on. */
static const char *read_brackets(const char *text, struct xb_json_path *path,
				 struct xb_json_step *step)
{
	if (*++text == ']')
		return text + 1;
	step->first = path->conditions;
	do {
		size_t i = path->conditions++;

		if (i == XB_JSON_CONDITIONS)
			return NULL;
		text = read_keys(text, &path->where[i].keys);
		text = text ? xb_condition_parse(text, "|,]", &path->where[i].condition) : NULL;
		step->conditions++;
	} while (text && *text++ == ',');
	return text && text[-1] == ']' ? text : NULL;
}

static const char *read_path(const char *text, struct xb_json_path *path)
{
	bool may_begin = true;

	if (*text == '.' && (!text[1] || text[1] == ','))
		return text + 1;
	text += *text == '.';
	while (text && *text && *text != ',' && !path->pair) {
		struct xb_json_step *step = &path->step[path->steps];

		if (path->steps++ == XB_JSON_STEPS - 1)
			return NULL;
		if (*text == '[') {
			text = read_brackets(text, path, step);
		} else {
			text = may_begin ? read_key(text, &step->key) : NULL;
			path->pair = text ? xb_pair_find(text) : XB_PAIR_NONE;
		}
		may_begin = text && !path->pair && *text == '.' && text[1] != '[';
		text += may_begin;
		if (may_begin && (!*text || *text == ','))
			return NULL;
	}
	if (path->pair)
		text = read_keys(text + strlen(xb_pair_marks[path->pair]), &path->second);
	return path->steps && text && (!*text || *text == ',') ? text : NULL;
}

int xb_json_paths_parse(const char *text, struct xb_json_paths *paths)
{
	const char *rest = text;

	*paths = (struct xb_json_paths){0};
	do {
		if (paths->count == XB_JSON_PATHS)
			return xb_input_error("more than %d paths", XB_JSON_PATHS);
		rest = read_path(rest, &paths->path[paths->count++]);
	} while (rest && *rest++ == ',');
	return rest ? 0 : misread(text);
}

int xb_json_paths_check(const char *text)
{
	struct xb_json_paths *paths = calloc(1, sizeof(*paths));
	int error = paths ? xb_json_paths_parse(text, paths) : xb_out_of_memory();

	free(paths);
	return error;
}

/* --- walking --- */

bool xb_json_scalar(const json_t *value, char *text, size_t room)
{
	int size = -1;

	if (json_is_string(value) && json_string_length(value) < room) {
		memcpy(text, json_string_value(value), json_string_length(value) + 1);
		return true;
	}
	if (json_is_integer(value))
		size = snprintf(text, room, "%lld", (long long)json_integer_value(value));
	else if (json_is_real(value))
		size = snprintf(text, room, "%.17g", json_real_value(value));
	else if (json_is_boolean(value))
		size = snprintf(text, room, "%s", json_is_true(value) ? "true" : "false");
	return size >= 0 && (size_t)size < room;
}

static json_t *find_keys(const struct xb_json_keys *keys, json_t *value)
{
	const char *name = keys->names;

	for (size_t i = 0; i < keys->count; i++, name += strlen(name) + 1)
		value = json_object_get(value, name);
	return value;
}

static int walk_from(struct xb_json_walk *walk, size_t step, json_t *value);

static int walk_key(struct xb_json_walk *walk, size_t step, json_t *value)
{
	const struct xb_json_path *path = walk->path;
	const char *name = path->step[step].key.names;
	size_t used = strlen(walk->at);
	int error;

	if (json_is_array(value))
		return xb_input_error("it is an array: [] behind it stands for each of its "
				      "elements");
	if (!json_is_object(value))
		return xb_input_error("it is no object, and so has no '%s'", XB_SHOW(name));
	xb_json_path_append(walk->at, XB_JSON_AT, name);
	walk->second =
		path->pair && step + 1 == path->steps ? find_keys(&path->second, value) : NULL;
	error = walk_from(walk, step + 1, json_object_get(value, name));
	if (!error)
		walk->at[used] = '\0';
	return error;
}

static bool is_meant(const struct xb_json_walk *walk, const struct xb_json_step *step,
		     json_t *value)
{
	char text[XB_CONDITION_BYTES];

	for (size_t i = step->first; i < step->first + step->conditions; i++) {
		const json_t *asked = find_keys(&walk->path->where[i].keys, value);

		if (!xb_json_scalar(asked, text, sizeof(text)) ||
		    !xb_condition_meets(&walk->path->where[i].condition, text,
					json_is_number(asked)))
			return false;
	}
	return true;
}

static bool is_scalar(const json_t *value)
{
	return value && !json_is_object(value) && !json_is_array(value);
}

/* Whether an object in the place of an array is itself what the path goes on with: writers that
 * make JSON of something else put one element there without its array. */
static bool is_element(const struct xb_json_walk *walk, size_t step, json_t *value)
{
	const struct xb_json_step *here = &walk->path->step[step], *next = here + 1;
	json_t *member;
	const char *key;

	if (here->conditions)
		return is_scalar(find_keys(&walk->path->where[here->first].keys, value));
	if (step + 1 == walk->path->steps || !next->key.count || !find_keys(&next->key, value))
		return false;
	json_object_foreach(value, key, member)
	{
		if (is_scalar(member))
			return true;
	}
	return false;
}

static int walk_element(struct xb_json_walk *walk, size_t step, json_t *value, size_t used,
			size_t *meant)
{
	int error = 0;

	if (is_meant(walk, &walk->path->step[step], value)) {
		++*meant;
		error = walk_from(walk, step + 1, value);
	}
	if (!error)
		walk->at[used] = '\0';
	return error;
}

static int walk_each(struct xb_json_walk *walk, size_t step, json_t *value)
{
	size_t used = strlen(walk->at), index, meant = 0;
	json_t *element;
	const char *key;
	int error = 0;

	if (is_element(walk, step, value)) {
		error = walk_element(walk, step, value, used, &meant);
		walk->fits |= !meant;
		return error;
	}
	json_object_foreach(value, key, element)
	{
		xb_json_path_append(walk->at, XB_JSON_AT, key);
		error = walk_element(walk, step, element, used, &meant);
		if (error)
			return error;
	}
	json_array_foreach(value, index, element)
	{
		snprintf(walk->at + used, XB_JSON_AT - used, "[%zu]", index);
		error = walk_element(walk, step, element, used, &meant);
		if (error)
			return error;
	}
	walk->fits |= !meant;
	if (is_scalar(value))
		return xb_input_error("it is neither an array nor an object");
	return 0;
}

static int walk_from(struct xb_json_walk *walk, size_t step, json_t *value)
{
	walk->fits |= json_is_null(value) || (value && step == walk->path->steps);
	if (!value || json_is_null(value))
		return 0;
	if (step == walk->path->steps)
		return walk->take(value, walk->second, walk->context);
	return walk->path->step[step].key.count ? walk_key(walk, step, value)
						: walk_each(walk, step, value);
}

int xb_json_path_walk(struct xb_json_walk *walk, json_t *root)
{
	walk->at[0] = '\0';
	walk->second = NULL;
	return walk_from(walk, 0, root);
}

void xb_json_path_append(char *path, size_t room, const char *key)
{
	size_t used = strlen(path);
	bool special = key && (!*key || strpbrk(key, SPECIAL));

	if (!key) {
		snprintf(path + used, room - used, "[]");
		return;
	}
	snprintf(path + used, room - used, "%s%s",
		 used && !strchr("./+", path[used - 1]) ? "." : "", special ? "\"" : key);
	for (used = strlen(path); special && *key && used + 3 < room; key++) {
		if (*key == '"')
			path[used++] = '"';
		path[used++] = *key;
		path[used] = '\0';
	}
	if (special)
		snprintf(path + used, room - used, "\"");
}
