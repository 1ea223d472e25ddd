/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl batch: lines of add and del, or allow add and allow del, one transaction, acknowledged
 * at its end. */
#include "bloomctl/verbs/batch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "bloomctl/addnotes.h"
#include "engine/writepath.h"

#define WORDS_MAX 1024

/* In front of what some editors save. */
#define BYTE_ORDER_MARK "\xef\xbb\xbf"

/* Splits at blanks; double quotes keep them, a backslash inside quotes takes the next character.
 * -1: unended quote, -2: too many. */
static int split(char *text, char **words)
{
	char *from = text, *to = text;
	int count = 0;

	for (;;) {
		bool quoted = false;

		from += strspn(from, " \t\r\n");
		if (!*from || *from == '#')
			return count;
		if (count == WORDS_MAX - 1)
			return -2;
		words[count++] = to;
		while (*from && (quoted || !strchr(" \t\r\n", *from))) {
			if (*from == '"') {
				quoted = !quoted;
				from++;
			} else {
				if (quoted && *from == '\\' && from[1])
					from++;
				*to++ = *from++;
			}
		}
		if (quoted)
			return -1;
		if (*from)
			from++;
		*to++ = '\0';
	}
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool same_terms(const struct xb_edit_terms *a, const struct xb_edit_terms *b)
{
	return a->add == b->add && a->exist == b->exist && a->allow == b->allow &&
	       a->within == b->within && a->force == b->force && a->timeout == b->timeout &&
	       same_text(a->list, b->list) && same_text(a->comment, b->comment);
}

static int keep_text(struct batch *batch, const char **text)
{
	if (*text)
		*text = xb_arena_copy(&batch->texts, *text, strlen(*text) + 1);
	return *text ? 0 : -ENOMEM;
}

static int keep_terms(struct batch *batch, struct xb_edit_terms terms, uint32_t line)
{
	size_t count = batch->terms_count;
	int error = 0;

	if (count && same_terms(&batch->terms[count - 1].terms, &terms))
		return 0;
	if (terms.list)
		error = keep_text(batch, &terms.list);
	if (!error && terms.comment)
		error = keep_text(batch, &terms.comment);
	if (!error)
		error = xb_array_grow(&batch->terms, &batch->terms_room, count + 1,
				      sizeof(*batch->terms));
	if (error)
		return error;
	/* What lies in an entry depends on the lines before. */
	batch->in_order |= terms.within;
	batch->terms[count] = (struct said){terms, line};
	batch->terms_count++;
	return 0;
}

static int keep(struct batch *batch, const struct xb_edit *edit, uint32_t line)
{
	int error = keep_terms(batch, edit->terms, line);

	for (size_t i = 0; !error && i < edit->count; i++) {
		struct op op = {edit->entries[i], (uint32_t)batch->terms_count - 1};

		op.entry.line = line;
		if (xb_entry_is_name(&op.entry))
			op.entry.name =
				xb_arena_copy(&batch->texts, op.entry.name, op.entry.length);
		if (xb_entry_is_name(&op.entry) && !op.entry.name)
			return -ENOMEM;
		error = xb_array_grow(&batch->ops, &batch->room, batch->count + 1, sizeof(op));
		if (!error)
			batch->ops[batch->count++] = op;
	}
	return error;
}

static int bad_line(const char *why)
{
	xb_input_error("%s", why);
	return cli_fail();
}

static int parse_line(const struct cli *cli, struct batch *batch, char *text, uint32_t number)
{
	char *words[WORDS_MAX];
	int count = split(text, words), verb, code;
	struct xb_edit edit;

	if (count < 0)
		return bad_line(count == -1 ? "a quote has no end" : "too many words");
	if (!count)
		return 0;
	words[count] = NULL;
	verb = !strcmp(words[0], "allow") && count > 1 ? 1 : 0;
	if (strcmp(words[verb], "add") && strcmp(words[verb], "del"))
		return bad_line("a batch has lines of `[allow] add ENTRY...` and `[allow] del "
				"ENTRY...`");
	code = edit_parse(cli, count, words, &edit);
	if (code)
		return code;
	if (keep(batch, &edit, number))
		code = cli_fail();
	xb_edit_free(&edit);
	return code;
}

static int read_lines(const struct cli *cli, struct batch *batch, FILE *file)
{
	char *text = NULL;
	size_t room = 0;
	uint32_t number = 0;
	ssize_t size;
	int code = 0;

	while (!code && (size = getline(&text, &room, file)) >= 0) {
		cli_at(batch->name, ++number);
		if (number == 1 && !strncmp(text, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)))
			memset(text, ' ', strlen(BYTE_ORDER_MARK));
		if (number == UINT32_MAX)
			code = bad_line("a batch has fewer than 2^32 lines");
		else
			code = strlen(text) == (size_t)size ? parse_line(cli, batch, text, number)
							    : bad_line("binary data");
	}
	free(text);
	if (!code && ferror(file)) {
		xb_system_error(errno, "cannot read %s", batch->name);
		return cli_fail();
	}
	return code;
}

int batch_read(const struct cli *cli, struct batch *batch, FILE *file)
{
	int code = read_lines(cli, batch, file);

	cli_at(NULL, 0);
	if (!code && xb_entry_sort(&batch->ops, batch->count, sizeof(*batch->ops)))
		code = cli_fail();
	return code;
}

void batch_free(struct batch *batch)
{
	free(batch->ops);
	free(batch->terms);
	xb_arena_free(&batch->texts);
}

static int at_line(const struct batch *batch, int error, uint32_t line)
{
	return xb_error_prefix(error, "%s:%" PRIu32, batch->name, line);
}

/*
 * In the order of the store, so that each of its pages is written once; what is said of one entry
 * stays in the order of the lines. Entries do not depend on each other, so the first line that
 * fails is the one that would in order: all in front of line `worst`, which failed before, are
 * ontrial, and nothing of them is kept.
 */
static int apply_sorted(struct xb_writer *writer, struct batch *batch, uint32_t worst, int failed)
{
	struct xb_edit_refusal refusal;

	for (size_t i = 0; i < batch->count; i++) {
		const struct op *op = &batch->ops[i];
		int error = 0;

		if (op->entry.line < worst)
			error = xb_edit_apply(writer, &batch->terms[op->terms].terms, &op->entry,
					      &batch->result, &refusal);
		if (error == XB_EDIT_REFUSED)
			error = edit_refused(&refusal);
		if (!error)
			continue;
		worst = op->entry.line;
		failed = at_line(batch, error, worst);
		if (xb_error_class() != XB_ERROR_INPUT)
			break;
	}
	return failed;
}

static int by_line(const void *a, const void *b)
{
	const struct op *one = a, *other = b;

	if (one->entry.line != other->entry.line)
		return one->entry.line < other->entry.line ? -1 : 1;
	return xb_entry_compare(&one->entry, &other->entry);
}

static int apply_in_order(struct xb_writer *writer, struct batch *batch)
{
	struct xb_edit_refusal refusal;
	size_t begun = 0;
	int error = 0;

	qsort(batch->ops, batch->count, sizeof(*batch->ops), by_line);
	for (size_t i = 0; i < batch->count; i++) {
		const struct op *op = &batch->ops[i];

		while (!error && begun <= op->terms)
			error = xb_edit_begin(writer, &batch->terms[begun++].terms, &refusal);
		if (!error)
			error = xb_edit_apply(writer, &batch->terms[op->terms].terms, &op->entry,
					      &batch->result, &refusal);
		if (error == XB_EDIT_REFUSED)
			error = edit_refused(&refusal);
		if (error)
			return at_line(batch, error, op->entry.line);
	}
	return 0;
}

int batch_apply(struct xb_writer *writer, void *context)
{
	struct batch *batch = context;
	struct xb_edit_refusal refusal;
	uint32_t worst = UINT32_MAX;
	int failed = 0;

	batch->result = (struct xb_edit_result){0};
	if (batch->in_order)
		return apply_in_order(writer, batch);
	for (size_t i = 0; !failed && i < batch->terms_count; i++) {
		struct said *said = &batch->terms[i];

		failed = xb_edit_begin(writer, &said->terms, &refusal);
		if (failed == XB_EDIT_REFUSED)
			failed = edit_refused(&refusal);
		if (!failed)
			continue;
		worst = said->first_line;
		at_line(batch, failed, worst);
	}
	return apply_sorted(writer, batch, worst, failed);
}

static bool has_timeouts(const struct batch *batch)
{
	for (size_t i = 0; i < batch->terms_count; i++)
		if (batch->terms[i].terms.timeout)
			return true;
	return false;
}

static int apply(struct cli *cli, struct batch *batch)
{
	const struct xb_edit_result *result = &batch->result;
	int error = xb_write(&cli->paths, 0, batch_apply, batch, cli->written);

	if (error && xb_error_class() == XB_ERROR_INPUT) {
		batch->in_order = true;
		error = xb_write(&cli->paths, 0, batch_apply, batch, cli->written);
	}
	if (error)
		return cli_fail(), error == 1				? EXIT_ABSENT
				   : xb_error_class() == XB_ERROR_INPUT ? EXIT_USAGE
									: EXIT_SYSTEM;
	if (has_timeouts(batch))
		addnotes_timeout(cli);
	if (cli->json)
		return cli_json(cli, json_pack("{s:I,s:I,s:I,s:I,s:I}", "added",
					       (json_int_t)result->added, "renewed",
					       (json_int_t)result->renewed, "removed",
					       (json_int_t)result->removed, "unchanged",
					       (json_int_t)result->unchanged, "absent",
					       (json_int_t)result->absent));
	return EXIT_DONE;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct batch batch = {0};
	FILE *file;
	int code;

	if (argc != 2)
		return cli_usage(cli, "batch takes one file, or -");
	batch.name = strcmp(argv[1], "-") ? argv[1] : "stdin";
	file = strcmp(argv[1], "-") ? fopen(argv[1], "re") : stdin;
	if (!file) {
		if (errno == ENOENT)
			xb_input_error("%s: no such file", argv[1]);
		else
			xb_system_error(errno, "cannot read %s", argv[1]);
		return cli_fail();
	}
	code = batch_read(cli, &batch, file);
	if (!code)
		code = apply(cli, &batch);
	xb_notices_settle(!code);
	batch_free(&batch);
	if (file != stdin)
		fclose(file);
	return code;
}

const struct verb verb_batch = {
	.name = "batch",
	.summary = "run many adds and dels in one transaction",
	.operands = {{"FILE|-", .offers = OFFER_FILES}},
	.run = run,
	.examples = {"batch changes.txt", "batch - <changes.txt"},
};
