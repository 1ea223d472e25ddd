/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl batch: lines of add and del, or allow add and allow del, one transaction, acknowledged
 * at its end. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/error.h"
#include "edit.h"

#define WORDS_MAX 1024

/* A parsed line; the words of an edit point into its text. */
struct line {
	struct edit edit;
	unsigned long number;
	char *text;
};

struct batch {
	const char *name;
	struct line *lines;
	size_t count, room;
	struct edit_result result;
};

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

static int keep(struct batch *batch, const struct line *line)
{
	if (batch->count == batch->room) {
		size_t room = batch->room ? 2 * batch->room : 256;
		struct line *grown = realloc(batch->lines, room * sizeof(*grown));

		if (!grown)
			return xb_out_of_memory();
		batch->lines = grown;
		batch->room = room;
	}
	batch->lines[batch->count++] = *line;
	return 0;
}

static int bad_line(const char *why)
{
	xb_input_error("%s", why);
	return cli_fail();
}

static int parse_line(const struct cli *cli, struct batch *batch, char *text, unsigned long number)
{
	struct line line = {.number = number, .text = text};
	char *words[WORDS_MAX];
	int count = split(text, words), verb, code;

	if (count < 0)
		return bad_line(count == -1 ? "a quote has no end" : "too many words");
	if (!count) {
		free(text);
		return 0;
	}
	words[count] = NULL;
	verb = !strcmp(words[0], "allow") && count > 1 ? 1 : 0;
	if (strcmp(words[verb], "add") && strcmp(words[verb], "del"))
		return bad_line("a batch has lines of `[allow] add ENTRY...` and `[allow] del "
				"ENTRY...`");
	code = edit_parse(cli, count, words, &line.edit);
	if (code)
		return code;
	return keep(batch, &line) ? cli_fail() : 0;
}

static int read_all(const struct cli *cli, struct batch *batch, FILE *file)
{
	unsigned long number = 0;
	int code = 0;

	for (;;) {
		char *text = NULL;
		size_t room = 0;
		ssize_t size = getline(&text, &room, file);

		if (size < 0) {
			free(text);
			break;
		}
		cli_at(batch->name, ++number);
		if (strlen(text) != (size_t)size) {
			free(text);
			return bad_line("binary data");
		}
		code = parse_line(cli, batch, text, number);
		if (code)
			return code;
	}
	if (ferror(file)) {
		xb_system_error(errno, "cannot read %s", batch->name);
		return cli_fail();
	}
	return 0;
}

/* An entry of a line. */
struct op {
	struct xb_entry entry; /* first, for xb_entry_sort */
	uint32_t line;
};

static struct op *ops_of(const struct batch *batch, size_t count)
{
	struct op *ops = reallocarray(NULL, count + 1, sizeof(*ops)), *op = ops;
	void *scratch = reallocarray(NULL, count + 1, sizeof(*ops));

	for (size_t i = 0; ops && i < batch->count; i++)
		for (size_t j = 0; j < batch->lines[i].edit.count; j++)
			*op++ = (struct op){batch->lines[i].edit.entries[j], (uint32_t)i};
	if (!ops || !scratch || xb_entry_sort(ops, count, sizeof(*ops), scratch)) {
		free(ops);
		ops = NULL;
		xb_out_of_memory();
	}
	free(scratch);
	return ops;
}

static int at_line(const struct batch *batch, int error, size_t line)
{
	return xb_error_prefix(error, "%s:%lu", batch->name, batch->lines[line].number);
}

/*
 * In the order of the store, so that each of its pages is written once; what is said of one entry
 * stays in the order of the lines. Entries do not depend on each other, so the first line that
 * fails is the one that would in order: all are tried, and nothing of them is kept.
 */
static int apply_sorted(struct xb_writer *writer, struct batch *batch, const struct op *ops,
			size_t count)
{
	size_t worst = batch->count;
	int failed = 0;

	for (size_t i = 0; i < count; i++) {
		size_t line = ops[i].line;
		int error = 0;

		if (line < worst)
			error = edit_apply(writer, &batch->lines[line].edit, &ops[i].entry,
					   &batch->result);
		if (!error)
			continue;
		worst = line;
		failed = at_line(batch, error, line);
		if (xb_error_class() != XB_ERROR_INPUT)
			break;
	}
	return failed;
}

static int body(struct xb_writer *writer, void *context)
{
	struct batch *batch = context;
	struct op *ops;
	size_t count = 0;
	int error = 0;

	batch->result = (struct edit_result){0};
	for (size_t i = 0; !error && i < batch->count; i++) {
		error = edit_begin(writer, &batch->lines[i].edit);
		count += batch->lines[i].edit.count;
		if (error)
			error = at_line(batch, error, i);
	}
	if (error)
		return error;
	ops = ops_of(batch, count);
	if (!ops)
		return -ENOMEM;
	error = apply_sorted(writer, batch, ops, count);
	free(ops);
	return error;
}

static int run(struct cli *cli, struct batch *batch)
{
	const struct edit_result *result = &batch->result;
	int error = xb_write(&cli->paths, 0, body, batch);

	if (error)
		return cli_fail(), error == 1				? EXIT_ABSENT
				   : xb_error_class() == XB_ERROR_INPUT ? EXIT_USAGE
									: EXIT_SYSTEM;
	if (cli->json)
		return cli_json(cli, json_pack("{s:I,s:I,s:I,s:I,s:I}", "added",
					       (json_int_t)result->added, "renewed",
					       (json_int_t)result->renewed, "removed",
					       (json_int_t)result->removed, "unchanged",
					       (json_int_t)result->unchanged, "absent",
					       (json_int_t)result->absent));
	return EXIT_DONE;
}

int verb_batch(struct cli *cli, int argc, char **argv)
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
	code = read_all(cli, &batch, file);
	cli_at(NULL, 0);
	if (!code)
		code = run(cli, &batch);
	for (size_t i = 0; i < batch.count; i++) {
		edit_free(&batch.lines[i].edit);
		free(batch.lines[i].text);
	}
	free(batch.lines);
	if (file != stdin)
		fclose(file);
	return code;
}
