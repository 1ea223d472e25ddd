/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The format: https://github.com/publicsuffix/list/wiki/Format. */
#include "model/suffix.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "model/name.h"

#define PACKAGE "publicsuffix"

void xb_suffixes_free(struct xb_suffixes *suffixes)
{
	free(suffixes->item);
	xb_arena_free(&suffixes->arena);
	*suffixes = (struct xb_suffixes){0};
}

static int add(struct xb_suffixes *suffixes, const uint8_t *form, uint8_t length, uint8_t says)
{
	if (xb_array_grow(&suffixes->item, &suffixes->room, suffixes->count + 1,
			  sizeof(*suffixes->item)))
		return xb_out_of_memory();
	suffixes->item[suffixes->count++] =
		(struct xb_suffix_item){.form = form, .length = length, .says = says};
	return 0;
}

/* The domain, and all that it lies in. */
static int add_all(struct xb_suffixes *suffixes, const uint8_t *form, uint8_t length, uint8_t says)
{
	const uint8_t *copy = xb_arena_copy(&suffixes->arena, form, length);
	int error = copy ? add(suffixes, copy, length, says) : xb_out_of_memory();

	for (uint8_t above = xb_name_wider(form, length); !error && above;
	     above = xb_name_wider(form, above))
		error = add(suffixes, copy, above, XB_SUFFIX_DEEPER);
	return error;
}

/* A rule, perhaps with a comment behind it, which begins with a blank. */
static int take_rule(struct xb_suffixes *suffixes, const char *rule)
{
	size_t size = strcspn(rule, " \t\r\n");
	uint8_t says = XB_SUFFIX_PLAIN, form[XB_NAME_BYTES], used;
	int error;

	if (!size || !strncmp(rule, "//", 2))
		return 0;
	if (*rule == '!') {
		says = XB_SUFFIX_EXCEPTED;
		rule++, size--;
	} else if (size > 2 && !strncmp(rule, "*.", 2)) {
		says = XB_SUFFIX_WILDCARD;
		rule += 2, size -= 2;
	}
	if (*rule == '=')
		return xb_input_error("'=' is no rule");
	error = xb_name_parse(rule, size, form, &used);
	return error ? error : add_all(suffixes, form, used, says);
}

static int compare(const void *one, const void *other)
{
	const struct xb_suffix_item *a = one, *b = other;
	int order = memcmp(a->form, b->form, a->length < b->length ? a->length : b->length);

	return order ? order : (int)a->length - b->length;
}

/* Each domain once, with all that is said of it. */
static void settle(struct xb_suffixes *suffixes)
{
	struct xb_suffix_item *item = suffixes->item;
	size_t kept = 0;

	qsort(item, suffixes->count, sizeof(*item), compare);
	for (size_t i = 0; i < suffixes->count; i++)
		if (kept && !compare(&item[kept - 1], &item[i]))
			item[kept - 1].says |= item[i].says;
		else
			item[kept++] = item[i];
	suffixes->count = kept;
}

static int read_rules(FILE *file, const char *path, struct xb_suffixes *suffixes)
{
	unsigned long number = 0;
	char *line = NULL;
	size_t room = 0;
	int error = 0;

	while (!error && getline(&line, &room, file) >= 0) {
		number++;
		error = take_rule(suffixes, line);
		if (error)
			xb_error_prefix(error, "%s: line %lu", path, number);
	}
	if (!error && ferror(file))
		error = xb_system_error(errno, "cannot read %s", path);
	if (!error && !suffixes->count)
		error = xb_input_error("%s has no public suffixes", path);
	free(line);
	return error;
}

int xb_suffixes_read(const char *path, struct xb_suffixes *suffixes)
{
	FILE *file = fopen(path, "re");
	int error;

	*suffixes = (struct xb_suffixes){0};
	if (!file)
		return xb_system_error(errno,
				       "a limit for each name needs the public suffixes of the "
				       "package " PACKAGE ": cannot read %s",
				       path);
	error = read_rules(file, path, suffixes);
	fclose(file);
	if (error)
		xb_suffixes_free(suffixes);
	else
		settle(suffixes);
	return error;
}
