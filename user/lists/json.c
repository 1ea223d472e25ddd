/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json: documents of which a path tells where the addresses are. */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>

#include "base/program.h"
#include "lists/addresstext.h"
#include "lists/crowdsec.h"
#include "lists/format.h"
#include "lists/jsondocument.h"
#include "lists/jsonpath.h"
#include "lists/line.h"
#include "lists/nft.h"

/* --- values --- */

static int keep_text(struct xb_listfile *file, const json_t *value, struct xb_item *item,
		     const char *comment)
{
	char text[XB_ENTRY_TEXT];

	if (!json_is_string(value))
		return xb_input_error("it is no text with an address");
	if (!xb_json_scalar(value, text, sizeof(text)))
		return xb_input_error("'%s...' is not an address or prefix",
				      XB_SHOW(json_string_value(value)));
	return xb_addresses_keep(file, text, item, comment);
}

static int keep_pair(struct xb_listfile *file, enum xb_pair pair, const json_t *first,
		     const json_t *second)
{
	char text[XB_ENTRY_TEXT], other[XB_ENTRY_TEXT];

	if (!json_is_string(first) || !xb_json_scalar(first, text, sizeof(text)) ||
	    !xb_json_scalar(second, other, sizeof(other)))
		return xb_input_error("it is no address with a length, mask, end or number "
				      "beside it");
	return xb_pair_keep(file, pair, text, other);
}

/* An element of a set, as nft -j writes it, is kept with its timeout and comment. */
static int keep(struct xb_listfile *file, const json_t *value)
{
	struct xb_nft_element element = xb_nft_unwrap(value);
	struct xb_item item = {.timeout = element.timeout};
	struct xb_span span;
	bool mapped;
	int error;

	if (!json_is_object(element.value))
		return keep_text(file, element.value, &item, element.comment);
	error = xb_nft_value(file, element.value, &span, &mapped);
	return error ? error : xb_span_keep(file, &span, &item, element.comment);
}

/* --- a path for those who gave none --- */

#define SUGGESTIONS 4

/* A path, and a key beside its last that all the addresses there seem to belong together with. */
struct suggestion {
	char path[XB_JSON_AT];
	const char *beside; /* NULL: none */
	struct xb_pair_guess guess;
};

struct suggestions {
	struct suggestion found[SUGGESTIONS];
	size_t count;
	size_t left; /* values to look at */
};

static bool is_value(const json_t *value)
{
	struct xb_listfile nowhere = {0};
	bool kept = !keep(&nowhere, value);

	xb_listfile_free(&nowhere);
	xb_error_clear();
	return kept;
}

static struct xb_pair_guess guess_beside(const json_t *value, const json_t *second)
{
	char text[XB_ENTRY_TEXT], other[XB_ENTRY_TEXT];

	if (!json_is_string(value) || !xb_json_scalar(value, text, sizeof(text)) ||
	    !xb_json_scalar(second, other, sizeof(other)))
		return (struct xb_pair_guess){0};
	return xb_pair_guess(text, other);
}

/* object: that the value is in; NULL: none. */
static void suggest(struct suggestions *found, const char *path, json_t *object,
		    const json_t *value)
{
	struct suggestion *suggestion = found->found;
	const struct suggestion *end = suggestion + found->count;
	struct xb_pair_guess guess;
	json_t *member;
	const char *key;

	while (suggestion < end && strcmp(suggestion->path, path) != 0)
		suggestion++;
	if (suggestion == found->found + SUGGESTIONS)
		return;
	if (suggestion < end && suggestion->beside) {
		guess = guess_beside(value, json_object_get(object, suggestion->beside));
		suggestion->guess.wider |= guess.wider;
		if (guess.pair != suggestion->guess.pair)
			suggestion->beside = NULL;
	}
	if (suggestion < end)
		return;
	found->count++;
	snprintf(suggestion->path, XB_JSON_AT, "%s", path);
	json_object_foreach(object, key, member)
	{
		suggestion->guess = guess_beside(value, member);
		suggestion->beside = key;
		if (member != value && suggestion->guess.what)
			return;
	}
	suggestion->beside = NULL;
}

static void look(struct suggestions *found, json_t *object, json_t *value, char *path)
{
	size_t used = strlen(path), index;
	json_t *element;
	const char *key;

	if (!found->left || used > XB_JSON_AT / 2)
		return;
	found->left--;
	if (is_value(value)) {
		suggest(found, path, object, value);
		return;
	}
	json_object_foreach(value, key, element)
	{
		xb_json_path_append(path, XB_JSON_AT, key);
		look(found, value, element, path);
		path[used] = '\0';
	}
	json_array_foreach(value, index, element)
	{
		xb_json_path_append(path, XB_JSON_AT, NULL);
		look(found, NULL, element, path);
		path[used] = '\0';
	}
}

static int ask_for_path(json_t *root)
{
	char path[XB_JSON_AT] = "", all[SUGGESTIONS * XB_JSON_AT] = "";
	struct suggestions found = {.left = 100000};
	struct xb_line line = {all, sizeof(all), 0};

	look(&found, NULL, root, path);
	for (size_t i = 0; i < found.count; i++) {
		struct suggestion *one = &found.found[i];

		if (one->beside && one->guess.wider) {
			strcat(one->path, xb_pair_marks[one->guess.pair]);
			xb_json_path_append(one->path, XB_JSON_AT, one->beside);
		}
		xb_line_put(&line, "%s%s", i ? "," : "", *one->path ? one->path : ".");
	}
	xb_utf8_clean(all);
	if (!found.count)
		return xb_input_error("a JSON document without addresses");
	return xb_input_error("a JSON document: which of its values are meant has to be said; "
			      "there are addresses at %s%s",
			      all, xb_advice(XB_ADVICE_JSON));
}

/* --- documents --- */

struct visit {
	struct xb_reading *reading;
	struct xb_json_paths paths;
	struct xb_json_walk walk;
	bool told; /* an error says where it is */
};

static int take_value(json_t *value, json_t *second, void *context)
{
	struct visit *visit = context;
	size_t before = visit->reading->file->count;
	enum xb_pair pair = visit->walk.path->pair;
	int error = pair ? keep_pair(visit->reading->file, pair, value, second)
			 : keep(visit->reading->file, value);

	if (!error)
		return 0;
	visit->told = true;
	xb_error_prefix(error, "%s", XB_SHOW(*visit->walk.at ? visit->walk.at : "."));
	return xb_line_leave_out(visit->reading, before, error);
}

static int take_document(json_t *root, void *context)
{
	struct visit *visit = context;
	int error = 0;

	for (size_t i = 0; !error && i < visit->paths.count; i++) {
		visit->walk.path = &visit->paths.path[i];
		visit->told = false;
		error = xb_json_path_walk(&visit->walk, root);
	}
	if (!error || visit->told)
		return error;
	return xb_error_prefix(error, "%s", XB_SHOW(*visit->walk.at ? visit->walk.at : "."));
}

/* Reading without a path. */
struct known {
	struct xb_reading *reading;
	bool ruleset; /* there was one */
};

/* Of nft there may be one document. */
static int take_ruleset(struct known *known, const json_t *root)
{
	if (known->ruleset)
		return xb_input_error("a second document of nft: one ruleset is judged as a whole");
	known->ruleset = true;
	return xb_nft_take(known->reading, root);
}

/* Documents of which is known what they say. */
static int take_known(json_t *root, void *context)
{
	struct known *known = context;
	struct xb_reading *reading = known->reading;

	if (xb_nft_is_ruleset(root))
		return take_ruleset(known, root);
	if (reading->format == &xb_nft_format)
		return xb_input_error("a JSON document that nft has not written");
	/* As programs in Go write an empty list. */
	if (json_is_null(root) || (json_is_array(root) && !json_array_size(root)))
		return 0;
	if (xb_crowdsec_is(root))
		reading->format = &xb_crowdsec_format;
	return reading->format == &xb_crowdsec_format ? xb_crowdsec_take(root, reading)
						      : ask_for_path(root);
}

static int take_text(struct xb_reading *reading, char *text, size_t size)
{
	const char *path = reading->choice ? reading->choice->json : NULL;
	struct visit *visit;
	int error;

	if (!path)
		return xb_json_documents(reading, text, size, take_known,
					 &(struct known){.reading = reading});
	visit = calloc(1, sizeof(*visit));
	if (!visit)
		return xb_out_of_memory();
	*visit = (struct visit){.reading = reading,
				.walk = {.take = take_value, .context = visit, .fits = !size}};
	reading->file->lines = reading->text_line;
	error = xb_json_paths_parse(path, &visit->paths);
	if (!error)
		error = xb_json_documents(reading, text, size, take_document, visit);
	if (!error && !visit->walk.fits) {
		reading->file->lines = reading->text_line;
		error = xb_input_error("nothing is at %s", XB_SHOW(path));
	}
	free(visit);
	return error;
}

/* By what no other format begins with: `{` and a key, `[` and a value that can hold an address; or
 * by nothing. */
static bool detect_json(const char *line)
{
	const char *next = line + 1 + (*line ? strspn(line + 1, XB_BLANKS) : 0);

	if (!strcmp(line, "null"))
		return true;
	if (*line == '{')
		return !*next || *next == '"' || *next == '}';
	return *line == '[' && (!*next || strchr("{[\"]", *next));
}

const struct xb_list_format xb_json_format = {"json", detect_json, NULL, .comments = "",
					      .document = take_text};
