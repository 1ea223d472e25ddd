/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists/jsonpath.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"

#define SPECIAL ".,[]=\" \t"

/* --- parsing --- */

static int misread(const char *text)
{
	return xb_input_error("'%s' is not a path such as prefixes[].ip_prefix", XB_SHOW(text));
}

/* A name, perhaps in quotes, in front. Returns its end; NULL: none, or too long. */
static const char *read_word(const char *text, char word[XB_JSON_WORD])
{
	bool quoted = *text == '"';
	size_t size;

	text += quoted;
	size = strcspn(text, quoted ? "\"" : SPECIAL);
	if ((!size && !quoted) || size >= XB_JSON_WORD || (quoted && text[size] != '"'))
		return NULL;
	memcpy(word, text, size);
	word[size] = '\0';
	return text + size + quoted;
}

/* What stands in brackets, from the first on. */
static const char *read_brackets(const char *text, struct xb_json_step *step)
{
	text++;
	step->how = *text == ']' ? XB_JSON_EACH : XB_JSON_ONLY;
	if (*text == ']')
		return text + 1;
	text = read_word(text, step->name);
	if (!text || *text != '=')
		return NULL;
	text = read_word(text + 1, step->value);
	return text && *text == ']' ? text + 1 : NULL;
}

static const char *read_path(const char *text, struct xb_json_path *path)
{
	bool may_begin = true;

	if (*text == '.' && (!text[1] || text[1] == ','))
		return text + 1;
	text += *text == '.';
	while (text && *text && *text != ',') {
		struct xb_json_step *step = &path->step[path->steps];

		if (path->steps++ == XB_JSON_STEPS - 1)
			return NULL;
		if (*text == '[')
			text = read_brackets(text, step);
		else
			text = may_begin ? read_word(text, step->name) : NULL;
		may_begin = text && *text == '.' && text[1] != '[';
		text += may_begin;
		if (may_begin && (!*text || *text == ','))
			return NULL;
	}
	return path->steps ? text : NULL;
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

static int walk_from(struct xb_json_walk *walk, size_t step, json_t *value);

static int walk_key(struct xb_json_walk *walk, size_t step, json_t *value)
{
	const char *name = walk->path->step[step].name;
	size_t used = strlen(walk->at);
	int error;

	if (!json_is_object(value))
		return xb_input_error("it is no object, and so has no '%s'", XB_SHOW(name));
	xb_json_path_append(walk->at, XB_JSON_AT, name);
	error = walk_from(walk, step + 1, json_object_get(value, name));
	if (!error)
		walk->at[used] = '\0';
	return error;
}

static bool is_meant(const struct xb_json_step *step, const json_t *value)
{
	const char *text = json_string_value(json_object_get(value, step->name));

	return step->how == XB_JSON_EACH || (text && !strcmp(text, step->value));
}

static int walk_element(struct xb_json_walk *walk, size_t step, json_t *value, size_t used,
			size_t *meant)
{
	int error = 0;

	if (is_meant(&walk->path->step[step], value)) {
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
	if (!json_is_object(value) && !json_is_array(value))
		return xb_input_error("it is neither an array nor an object");
	return 0;
}

static int walk_from(struct xb_json_walk *walk, size_t step, json_t *value)
{
	walk->fits |= value && step == walk->path->steps;
	if (!value || json_is_null(value))
		return 0;
	if (step == walk->path->steps)
		return walk->take(value, walk->context);
	return walk->path->step[step].how == XB_JSON_KEY ? walk_key(walk, step, value)
							 : walk_each(walk, step, value);
}

int xb_json_path_walk(struct xb_json_walk *walk, json_t *root)
{
	walk->at[0] = '\0';
	return walk_from(walk, 0, root);
}

void xb_json_path_append(char *path, size_t room, const char *key)
{
	size_t used = strlen(path);
	bool special = key && (!*key || strpbrk(key, SPECIAL));

	if (!key)
		snprintf(path + used, room - used, "[]");
	else
		snprintf(path + used, room - used, special ? "%s\"%s\"" : "%s%s", used ? "." : "",
			 key);
}
