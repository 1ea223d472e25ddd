/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl restore: the store becomes what was saved, then the kernel follows. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "bloomctl/cli.h"
#include "bloomctl/rollback.h"
#include "engine/restore.h"
#include "engine/writepath.h"

/* The transaction may have to read the text twice, and others wait meanwhile: not for whoever
 * writes it. */
static FILE *copy_of(FILE *from, const char *name)
{
	FILE *copy = tmpfile();
	static char buffer[65536];
	size_t size;

	while (copy && (size = fread(buffer, 1, sizeof(buffer), from)))
		if (fwrite(buffer, 1, size, copy) != size)
			break;
	if (copy && feof(from) && !fflush(copy))
		return copy;
	xb_system_error(errno, "cannot keep a copy of %s", name);
	if (copy)
		fclose(copy);
	return NULL;
}

/* NULL: with a message. */
static FILE *open_text(struct cli *cli, const char *name)
{
	FILE *file, *copy;
	struct stat st;
	int kept;

	if (rollback_input(cli, name, &kept))
		return NULL;
	if (kept < 0 && !strcmp(name, "-"))
		return copy_of(stdin, "standard input");
	file = kept < 0 ? fopen(name, "re") : fdopen(kept, "r");
	if (!file) {
		if (errno == ENOENT)
			xb_input_error("%s: no such file", name);
		else
			xb_system_error(errno, "cannot read %s", name);
		return NULL;
	}
	if (!fstat(fileno(file), &st) && S_ISREG(st.st_mode))
		return file;
	copy = copy_of(file, name);
	fclose(file);
	return copy;
}

static int answer(const struct cli *cli, const struct xb_restore *saved, uint32_t open)
{
	int code = EXIT_DONE;

	if (cli->json)
		code = cli_json(cli,
				json_pack("{s:I,s:I,s:i}", "entries", (json_int_t)saved->entries,
					  "expired", (json_int_t)saved->expired,
					  "missing_interfaces", (int)open));
	if (!open || code)
		return code;
	xb_system_error(0, "restored, but %u of the wanted interfaces are not protected", open);
	return cli_fail();
}

static int restore(const struct cli *cli, struct xb_restore *saved)
{
	int error = xb_restore_wish(&cli->paths, cli->wish, saved, cli->written);

	fclose(saved->file);
	if (!error && saved->shared)
		xb_notice("%llu entries skipped: their lists are shared with the fleet and stay as "
			  "they are",
			  (unsigned long long)saved->shared);
	return error ? cli_fail() : answer(cli, saved, xb_write_tell_open(cli->written));
}

static const struct option_spec options[] = {
	{"interfaces", NULL, 'i',
	 .help = "detach interfaces that the file does not name, and use its modes"},
	ROLLBACK_OPTION,
	{0},
};

static int make(struct cli *cli)
{
	const struct xb_restore_request *request = &cli->wish->request->restore;
	struct xb_restore saved = {
		.name = strcmp(request->file, "-") ? request->file : "stdin",
		.maker = "`bloomctl save`",
		.interfaces = request->interfaces,
	};

	saved.file = open_text(cli, request->file);
	return saved.file ? restore(cli, &saved) : cli_fail();
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct xb_request request = {.kind = XB_REQUEST_RESTORE};
	int option;

	while ((option = cli_option(cli, argc, argv, options)) != -1)
		if (option != 'i')
			return EXIT_USAGE;
		else
			request.restore.interfaces = true;
	if (argc != optind + 1)
		return cli_usage(cli, "restore takes one file, or -");
	request.restore.file = argv[optind];
	cli->wish->request = &request;
	return make(cli);
}

const struct verb verb_restore = {
	.name = "restore",
	.summary = "replace everything with a saved state",
	.operands = {{"FILE|-", .offers = OFFER_FILES}},
	.options = options,
	.run = run,
	.make = make,
	.examples = {"restore saved.json", "restore saved.json --rollback 60"},
};
