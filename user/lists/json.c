/* SPDX-License-Identifier: GPL-2.0-or-later */
/* json: documents, one or several behind each other, of which a path tells where the addresses are.
 * A document is held in memory while it is read, so its depth and its memory have bounds. */
#include <errno.h>
#include <jansson.h>
#include <malloc.h>
#include <stdio.h>

#include "base/program.h"
#include "lists/addresstext.h"
#include "lists/format.h"
#include "lists/jsonpath.h"
#include "lists/line.h"
#include "lists/nft.h"

#define DEPTH  64
#define MEMORY ((size_t)1 << 30) /* of one document beside its text */
#define PART   ((size_t)256 << 10)

/* --- memory --- */

/* What jansson has in use. Only while a document is read, and of one thread. */
static _Thread_local struct {
	bool counts, full;
	bool refused; /* by the bound of the list, which has the message */
	size_t used;
	const struct xb_listfile *file;
} budget;

/* How much malloc() keeps before each piece of memory. */
#define PIECE sizeof(size_t)

/* Asked for a part at a time. */
static bool may_have(size_t size)
{
	struct xb_list_bound *bound = budget.file->bound;
	size_t wanted = (budget.used + size + PART) / PART * PART;

	if (budget.used + size > MEMORY)
		return false;
	if (!bound || wanted <= bound->values)
		return true;
	budget.refused = xb_listfile_may_grow(budget.file, wanted - bound->values);
	if (!budget.refused)
		bound->values = wanted;
	return !budget.refused;
}

static void *allocate(size_t size)
{
	void *memory;

	if (budget.counts && !may_have(size)) {
		budget.full = true;
		return NULL;
	}
	memory = malloc(size);
	if (memory && budget.counts)
		budget.used += malloc_usable_size(memory) + PIECE;
	return memory;
}

static void release(void *memory)
{
	size_t size = memory && budget.counts ? malloc_usable_size(memory) + PIECE : 0;

	budget.used -= size < budget.used ? size : budget.used;
	free(memory);
}

/* A document may be so small a text as `[[],[],...]` and take fifty times its memory. */
static json_t *load(const struct xb_listfile *file, const char *text, size_t size,
		    json_error_t *cause)
{
	json_t *value;

	budget.file = file;
	json_set_alloc_funcs(allocate, release);
	budget.counts = true;
	budget.full = budget.refused = false;
	budget.used = 0;
	value = json_loadb(text, size,
			   JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK,
			   cause);
	budget.counts = false;
	return value;
}

/* What is free goes back to the system, so that it can be for others. */
static void let_go(const struct xb_listfile *file)
{
	if (!file->bound || !file->bound->values)
		return;
	malloc_trim(0);
	file->bound->values = 0;
}

/* --- values --- */

static int keep_text(struct xb_listfile *file, const json_t *value, struct xb_item *item,
		     const char *comment)
{
	char text[XB_ENTRY_TEXT];

	if (!json_is_string(value))
		return xb_input_error("it is no text with an address");
	if (json_string_length(value) >= sizeof(text))
		return xb_input_error("'%s...' is not an address or prefix",
				      XB_SHOW(json_string_value(value)));
	strcpy(text, json_string_value(value));
	return xb_addresses_keep(file, text, item, comment);
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

struct suggestions {
	char text[SUGGESTIONS][XB_JSON_AT];
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

static void suggest(struct suggestions *found, const char *path)
{
	for (size_t i = 0; i < found->count; i++)
		if (!strcmp(found->text[i], path))
			return;
	if (found->count < SUGGESTIONS)
		snprintf(found->text[found->count++], XB_JSON_AT, "%s", *path ? path : ".");
}

static void look(struct suggestions *found, const json_t *value, char *path)
{
	size_t used = strlen(path), index;
	json_t *element;
	const char *key;

	if (!found->left || used > XB_JSON_AT / 2)
		return;
	found->left--;
	if (is_value(value)) {
		suggest(found, path);
		return;
	}
	json_object_foreach((json_t *)(uintptr_t)value, key, element)
	{
		xb_json_path_append(path, XB_JSON_AT, key);
		look(found, element, path);
		path[used] = '\0';
	}
	json_array_foreach(value, index, element)
	{
		xb_json_path_append(path, XB_JSON_AT, NULL);
		look(found, element, path);
		path[used] = '\0';
	}
}

/* Of nft there may be one document, of which no path is needed. */
static int take_ruleset(struct xb_reading *reading, const json_t *root, bool *found)
{
	if (*found)
		return xb_input_error("a second document of nft: one ruleset is judged as a whole");
	*found = true;
	return xb_nft_take(reading, root);
}

static int ask_for_path(struct xb_reading *reading, const json_t *root)
{
	char path[XB_JSON_AT] = "", all[SUGGESTIONS * XB_JSON_AT] = "";
	struct suggestions found = {.left = 100000};
	size_t used = 0;

	if (reading->format == &xb_nft_format)
		return xb_input_error("a JSON document that nft has not written");
	look(&found, root, path);
	for (size_t i = 0; i < found.count; i++)
		used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", i ? "," : "",
					 found.text[i]);
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
	struct xb_json_walk walk;
	bool told; /* an error says where it is */
};

static int take_value(json_t *value, void *context)
{
	struct visit *visit = context;
	size_t before = visit->reading->file->count;
	int error = keep(visit->reading->file, value);

	if (!error)
		return 0;
	visit->told = true;
	xb_error_prefix(error, "%s", XB_SHOW(*visit->walk.at ? visit->walk.at : "."));
	return xb_line_leave_out(visit->reading, before, error);
}

static int take_document(struct xb_reading *reading, const struct xb_json_paths *paths,
			 json_t *root, bool *found)
{
	struct visit visit = {.reading = reading, .walk = {.take = take_value, .context = &visit}};
	int error = 0;

	for (size_t i = 0; !error && i < paths->count; i++) {
		visit.walk.path = &paths->path[i];
		visit.told = false;
		error = xb_json_path_walk(&visit.walk, root);
	}
	*found |= visit.walk.fits;
	if (!error || visit.told)
		return error;
	return xb_error_prefix(error, "%s", XB_SHOW(*visit.walk.at ? visit.walk.at : "."));
}

/* How far the text of a document may go, by its brackets. */
static int check_depth(const char *text, size_t size)
{
	bool quoted = false;
	size_t depth = 0;

	for (size_t i = 0; i < size; i++) {
		if (quoted && text[i] == '\\')
			i++;
		else if (text[i] == '"')
			quoted = !quoted;
		else if (!quoted && (text[i] == '[' || text[i] == '{'))
			depth++;
		else if (!quoted && (text[i] == ']' || text[i] == '}'))
			depth -= depth > 0;
		if (depth > DEPTH)
			return xb_input_error("JSON of more than %d levels", DEPTH);
	}
	return 0;
}

static int not_json(struct xb_reading *reading, const json_error_t *cause)
{
	char reason[JSON_ERROR_TEXT_LENGTH];

	reading->file->lines += cause->line > 0 ? (uint64_t)cause->line - 1 : 0;
	if (budget.refused)
		return -EINVAL;
	if (budget.full)
		return xb_input_error("a JSON document that needs more than 1 GiB of memory");
	return xb_input_error("not JSON: %s",
			      xb_utf8_show(cause->text, sizeof(reason), reason, sizeof(reason)));
}

/* Takes the next document, whose first line is file->lines. Returns its bytes, or an error. */
static ssize_t next_document(struct xb_reading *reading, const struct xb_json_paths *paths,
			     const char *text, size_t size, bool *found)
{
	json_error_t cause;
	json_t *root = load(reading->file, text, size, &cause);
	int error;

	if (!root)
		return not_json(reading, &cause);
	if (reading->choice && reading->choice->json)
		error = take_document(reading, paths, root, found);
	else if (xb_nft_is_ruleset(root))
		error = take_ruleset(reading, root, found);
	else
		error = ask_for_path(reading, root);
	json_decref(root);
	return error ? error : cause.position;
}

static int take_documents(struct xb_reading *reading, const struct xb_json_paths *paths,
			  const char *text, size_t size)
{
	bool found = !size;

	for (size_t at = 0;;) {
		size_t blanks = strspn(text + at, XB_BLANKS "\n");
		ssize_t taken;

		reading->file->lines += xb_line_count_ends(text + at, blanks);
		at += blanks;
		if (at >= size)
			break;
		taken = next_document(reading, paths, text + at, size - at, &found);
		if (taken < 0)
			return (int)taken;
		reading->file->lines += xb_line_count_ends(text + at, (size_t)taken);
		at += (size_t)taken;
	}
	if (found || !reading->choice || !reading->choice->json)
		return 0;
	reading->file->lines = reading->text_line;
	return xb_input_error("nothing is at %s", XB_SHOW(reading->choice->json));
}

static int take_text(struct xb_reading *reading, char *text, size_t size)
{
	struct xb_json_paths *paths = calloc(1, sizeof(*paths));
	int error = paths ? 0 : xb_out_of_memory();

	reading->file->lines = reading->text_line;
	if (!error && reading->choice && reading->choice->json)
		error = xb_json_paths_parse(reading->choice->json, paths);
	if (!error)
		error = check_depth(text, size);
	if (!error)
		error = take_documents(reading, paths, text, size);
	let_go(reading->file);
	free(paths);
	return error;
}

/* By what no other format begins with: `{` and a key, `[` and a value that can hold an address. */
static bool detect_json(const char *line)
{
	const char *next = line + 1 + (*line ? strspn(line + 1, XB_BLANKS) : 0);

	if (*line == '{')
		return !*next || *next == '"' || *next == '}';
	return *line == '[' && (!*next || strchr("{[\"]", *next));
}

const struct xb_list_format xb_json_format = {"json", detect_json, NULL, .comments = "",
					      .document = take_text};
