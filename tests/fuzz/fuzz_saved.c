/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts for restore: what is accepted becomes what the text says, by jansson's reading of it, and
 * is, saved and restored, the same again. */
#include "engine/dump.h"
#include "engine/restore.h"
#include "fuzz.h"
#include "store/listclass.h"
#include "store/membership.h"

static int restore(struct xb_writer *writer, const void *text, size_t size,
		   struct xb_restore *saved)
{
	int error;

	*saved = (struct xb_restore){.name = "saved",
				     .maker = "`save`",
				     .interfaces = true,
				     .file = fmemopen((void *)(uintptr_t)text, size, "r")};
	must(saved->file);
	error = xb_restore(writer, saved);
	fclose(saved->file);
	return error;
}

static char *save(struct xb_txn *txn, size_t *size)
{
	char *text;
	FILE *out = open_memstream(&text, size);

	must(out && !xb_dump(txn, out));
	fclose(out);
	return text;
}

static const char *text_of(const json_t *line, const char *key)
{
	return json_string_value(json_object_get(line, key));
}

static bool is_of_list(const json_t *line)
{
	return json_object_get(line, "verdict") || json_object_get(line, "scope") ||
	       json_object_get(line, "origins");
}

/* "side entry list": what a line is about. NULL: not an entry. */
static const char *subject_of(const json_t *line, char out[XB_ENTRY_TEXT + 80])
{
	const char *side = text_of(line, "allow") ? "allow" : "entry", *text = text_of(line, side);
	uint8_t form[XB_NAME_BYTES];
	struct xb_entry entry;
	char canonical[XB_ENTRY_TEXT];

	if (!text || json_object_get(line, "interface") || is_of_list(line))
		return NULL;
	must(!xb_entry_parse_listed(text, strlen(text), form, &entry, NULL));
	snprintf(out, XB_ENTRY_TEXT + 80, "%s %s %s", side, xb_entry_format(&entry, canonical),
		 text_of(line, "list"));
	return out;
}

static json_t *number_of(const json_t *line, const char *key)
{
	return json_integer(json_integer_value(json_object_get(line, key)));
}

/* Of lines that say the same entry, the first has the time, the last all else. */
static void expect(json_t *expected, const json_t *line)
{
	char subject[XB_ENTRY_TEXT + 80];
	json_int_t expires = json_integer_value(json_object_get(line, "expires"));
	const char *comment = text_of(line, "comment") ?: "";
	json_t *terms;

	if (!subject_of(line, subject) || (expires && expires <= FUZZ_NOW))
		return;
	terms = json_object_get(expected, subject);
	if (!terms) {
		terms = json_object();
		json_object_set_new(terms, "added", number_of(line, "added"));
		json_object_set_new(expected, subject, terms);
	}
	json_object_set_new(terms, "expires", json_integer(expires));
	json_object_set_new(terms, "comment", json_string(comment));
}

/* The last line with a term of a list has it; what a list is anyway is not said. */
static void expect_term(json_t *expected, const json_t *line, const char *key, const char *term,
			const char *anyway)
{
	char subject[128];

	if (!term)
		return;
	snprintf(subject, sizeof(subject), "%s of %s", key, text_of(line, "list"));
	if (strcmp(term, anyway))
		json_object_set_new(expected, subject, json_string(term));
	else
		json_object_del(expected, subject);
}

static void expect_list(json_t *expected, const json_t *line)
{
	const char *text = text_of(line, "scope");
	char normal[XB_SCOPE_TEXT];
	struct xb_scope scope;

	expect_term(expected, line, "verdict", text_of(line, "verdict"), "drop");
	if (!text)
		return;
	must(!xb_scope_parse(text, &scope));
	expect_term(expected, line, "scope", xb_scope_format(&scope, normal), "all");
}

/* All a text says of entries and lists. */
static json_t *read_entries(const char *text, size_t size)
{
	json_t *entries = json_object();

	for (size_t at = 0, end; at < size; at = end + 1) {
		const char *newline = memchr(text + at, '\n', size - at);
		json_t *line;

		end = newline ? (size_t)(newline - text) : size;
		line = json_loadb(text + at, end - at, 0, NULL);
		must(json_is_object(line));
		if (at && is_of_list(line))
			expect_list(entries, line);
		else if (at)
			expect(entries, line);
		json_decref(line);
	}
	return entries;
}

static void must_say_the_same(const char *text, size_t size, const char *saved, size_t saved_size)
{
	json_t *wanted = read_entries(text, size), *found = read_entries(saved, saved_size);

	must(json_equal(wanted, found));
	json_decref(wanted);
	json_decref(found);
}

static void check(struct xb_txn *txn, const char *text, size_t size)
{
	size_t once_size, twice_size;
	char *once = save(txn, &once_size), *twice;
	struct xb_writer again;
	struct xb_restore saved;

	must_say_the_same(text, size, once, once_size);
	/* As records of the table, too. */
	must(!xb_entries_flush(txn));
	twice = save(txn, &twice_size);
	must(once_size == twice_size && !memcmp(once, twice, once_size));
	free(twice);
	xb_txn_abort(txn);
	again = fuzz_begin();
	must(!restore(&again, once, once_size, &saved));
	twice = save(again.txn, &twice_size);
	must(once_size == twice_size && !memcmp(once, twice, once_size));
	must(!saved.expired);
	xb_txn_abort(again.txn);
	free(once);
	free(twice);
}

static void quiet(enum xb_notice_kind kind, const char *notice)
{
	(void)kind;
	must_be_clear(notice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct xb_writer writer = fuzz_begin();
	struct xb_restore saved;

	xb_notice_sink(quiet);
	xb_error_clear();
	if (!restore(&writer, data, size, &saved)) {
		check(writer.txn, (const char *)data, size);
		return 0;
	}
	must(xb_error_class() == XB_ERROR_INPUT && !strncmp(xb_error_message(), "saved:", 6));
	must_be_clear(xb_error_message());
	xb_txn_abort(writer.txn);
	return 0;
}
