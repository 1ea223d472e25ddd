/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists/jsondocument.h"

#include <errno.h>
#include <malloc.h>

#include "lists/line.h"

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

/* --- documents --- */

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

static int not_json(struct xb_listfile *file, const json_error_t *cause)
{
	char reason[JSON_ERROR_TEXT_LENGTH];

	file->lines += cause->line > 0 ? (uint64_t)cause->line - 1 : 0;
	if (budget.refused)
		return -EINVAL;
	if (budget.full)
		return xb_input_error("a JSON document that needs more than 1 GiB of memory");
	return xb_input_error("not JSON: %s",
			      xb_utf8_show(cause->text, sizeof(reason), reason, sizeof(reason)));
}

/* Takes the next document, whose first line is file->lines. Returns its bytes, or an error. */
static ssize_t take_next(struct xb_listfile *file, const char *text, size_t size,
			 int (*take)(json_t *root, void *context), void *context)
{
	json_error_t cause;
	json_t *root = load(file, text, size, &cause);
	int error;

	if (!root)
		return not_json(file, &cause);
	error = take(root, context);
	json_decref(root);
	return error ? error : cause.position;
}

int xb_json_documents(struct xb_reading *reading, const char *text, size_t size,
		      int (*take)(json_t *root, void *context), void *context)
{
	struct xb_listfile *file = reading->file;
	int error = check_depth(text, size);

	file->lines = reading->text_line;
	for (size_t at = 0; !error;) {
		size_t blanks = strspn(text + at, XB_BLANKS "\n");
		ssize_t taken;

		file->lines += xb_line_count_ends(text + at, blanks);
		at += blanks;
		if (at >= size)
			break;
		taken = take_next(file, text + at, size - at, take, context);
		error = taken < 0 ? (int)taken : 0;
		if (error)
			break;
		file->lines += xb_line_count_ends(text + at, (size_t)taken);
		at += (size_t)taken;
	}
	let_go(file);
	return error;
}
