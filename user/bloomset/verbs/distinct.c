/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomset distinct: how many different entries or lines there are. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "bloomset/verbs.h"
#include "cli/cli.h"
#include "lists/reader.h"

struct texts {
	struct xb_arena arena;
	const char **texts;
	size_t count, room;
};

static int take(struct texts *texts, const char *text, size_t size)
{
	int error =
		xb_array_grow(&texts->texts, &texts->room, texts->count + 1, sizeof(*texts->texts));

	if (error)
		return error;
	texts->texts[texts->count] = xb_arena_copy(&texts->arena, text, size);
	return texts->texts[texts->count++] ? 0 : -EIO;
}

static int take_entries(struct texts *texts, const char *path)
{
	char text[XB_ENTRY_TEXT];
	struct xb_listfile file;
	int error = xb_listfile_read(path, NULL, &file);

	for (size_t i = 0; !error && i < file.count; i++) {
		xb_entry_format(&file.items[i].entry, text);
		error = take(texts, text, strlen(text) + 1);
	}
	xb_listfile_free(&file);
	return error;
}

static int take_lines(struct texts *texts, const char *path)
{
	FILE *file = strcmp(path, "-") ? fopen(path, "re") : stdin;
	size_t room = 0;
	char *line = NULL;
	int error = 0;
	ssize_t size;

	if (!file)
		return xb_system_error(errno, "cannot open %s", path);
	while (!error && (size = getline(&line, &room, file)) > 0) {
		size -= line[size - 1] == '\n';
		line[size] = '\0';
		error = take(texts, line, (size_t)size + 1);
	}
	if (!error && ferror(file))
		error = xb_system_error(errno, "cannot read %s", path);
	free(line);
	if (file != stdin)
		fclose(file);
	return error;
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t count(struct texts *texts)
{
	size_t different = 0;

	qsort(texts->texts, texts->count, sizeof(*texts->texts), compare);
	for (size_t i = 0; i < texts->count; i++)
		different += !i || strcmp(texts->texts[i - 1], texts->texts[i]) != 0;
	return different;
}

static const struct option_spec options[] = {
	{"lines", NULL, 'l', .help = "take lines as they are, not as entries"},
	{0},
};

static int run(struct cli *cli, int argc, char **argv)
{
	struct texts texts = {0};
	int option, error = 0, code;
	bool lines = false;

	while ((option = cli_option(cli, argc, argv, options)) != -1) {
		if (option == '?')
			return EXIT_USAGE;
		lines = true;
	}
	if (optind == argc)
		return cli_usage(cli, "distinct takes files, or -");
	for (; !error && optind < argc; optind++)
		error = (lines ? take_lines : take_entries)(&texts, argv[optind]);
	if (!error)
		printf("%zu\n", count(&texts));
	code = error ? cli_fail() : cli_done(EXIT_DONE);
	free(texts.texts);
	xb_arena_free(&texts.arena);
	return code;
}

const struct verb verb_distinct = {
	.name = "distinct",
	.summary = "how many different entries there are in files",
	.operands = {{"FILE...", .offers = OFFER_FILES}},
	.options = options,
	.run = run,
	.examples = {"distinct level1.netset level2.netset", "distinct --lines names.txt"},
};
