/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl limit: how many queries for listed domains are answered. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "bloomctl/cli.h"
#include "engine/writepath.h"

static int body(struct xb_writer *writer, void *context)
{
	const uint32_t *limit = context;
	struct xb_meta *meta = &writer->txn->meta;

	if (meta->answer_limit == *limit)
		return 0;
	meta->answer_limit = *limit;
	writer->txn->edits++;
	return 0;
}

static int answer(const struct cli *cli, uint32_t limit)
{
	if (cli->json)
		return cli_json(cli, json_pack("{s:I}", "answer_limit", (json_int_t)limit));
	if (limit)
		printf("%u\n", limit);
	else
		puts("off");
	return cli_done(EXIT_DONE);
}

static int show(const struct cli *cli)
{
	uint32_t limit = XB_ANSWER_LIMIT;
	struct xb_store *store;
	struct xb_txn *txn;
	int error = xb_store_begin_reading(cli->paths.state, &store, &txn);

	if (!error)
		limit = txn->meta.answer_limit;
	xb_store_end_reading(store, txn);
	return error && error != -ENOENT ? cli_fail() : answer(cli, limit);
}

static int run(struct cli *cli, int argc, char **argv)
{
	uint64_t number = 0;
	uint32_t limit;

	if (cli_option(cli, argc, argv, NULL) != -1)
		return EXIT_USAGE;
	argc -= optind;
	argv += optind;
	if (argc > 1)
		return cli_usage(cli, "limit takes a number of answers a second, or off");
	if (!argc)
		return show(cli);
	if (strcmp(argv[0], "off") &&
	    !cli_number(cli, "limit", argv[0], 1, XB_ANSWER_LIMIT_MAX, &number))
		return EXIT_USAGE;
	limit = (uint32_t)number;
	if (xb_write(&cli->paths, 0, body, &limit, cli->written))
		return cli_fail();
	return cli->json ? answer(cli, limit) : EXIT_DONE;
}

const struct verb verb_limit = {
	.name = "limit",
	.summary = "set how many queries for listed domains each CPU answers a second",
	.operands = {{"ANSWERS|off", .optional = true}},
	.run = run,
	.examples = {"limit", "limit 5000"},
};
