/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl rotate */
#include "engine/rotate.h"

#include <stdio.h>

#include "bloomctl/cli.h"
#include "bloomctl/rollback.h"

static const struct option_spec options[] = {
	{"fpr", "RATE", 'f', .help = "false positives of the Bloom filter, 1e-9 to 0.1",
	 .offers = OFFER_RATES},
	{"capacity", "KEYS", 'c',
	 .help = "make room for at least this many; 0: for what is listed"},
	{"confirm", NULL, 'x', .help = "look up each hit exactly before the packet is dropped"},
	{"no-confirm", NULL, 'u',
	 .help = "drop on the filter's guess alone, without the exact look-up", .instead = true},
	ROLLBACK_OPTION,
	{0},
};

static bool take_option(const struct cli *cli, int option, struct xb_rotate_request *rotate)
{
	switch (option) {
	case 'f':
		return cli_rate(cli, optarg, &rotate->rate);
	case 'c':
		rotate->set_capacity = true;
		return cli_number(cli, "--capacity", optarg, 0, UINT32_MAX * 16ULL,
				  &rotate->capacity);
	case 'x':
	case 'u':
		rotate->set_confirm = true;
		rotate->confirm = option == 'x';
		return true;
	default:
		return false;
	}
}

static int make(struct cli *cli)
{
	struct xb_params params;

	if (xb_rotate_wish(&cli->paths, cli->wish, &params, cli->written))
		return cli_fail();
	if (cli->json)
		return cli_json(cli,
				json_pack("{s:b,s:b,s:I,s:I,s:I}", "enforced",
					  params.generation != 0, "confirm", params.confirm,
					  "host4_capacity", (json_int_t)params.host4.capacity,
					  "net6_capacity", (json_int_t)params.net6.capacity,
					  "names_capacity", (json_int_t)params.names.capacity));
	if (!params.generation)
		xb_notice("these settings take effect with the first attach");
	return EXIT_DONE;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct xb_request request = {.kind = XB_REQUEST_ROTATE};
	int option;

	while ((option = cli_option(cli, argc, argv, options)) != -1)
		if (!take_option(cli, option, &request.rotate))
			return EXIT_USAGE;
	if (optind != argc)
		return cli_usage(cli, "rotate takes no entries");
	cli->wish->request = &request;
	return make(cli);
}

const struct verb verb_rotate = {
	.name = "rotate",
	.summary = "rebuild the filter with new keys, without interruption",
	.options = options,
	.run = run,
	.make = make,
	.examples = {"rotate", "rotate --capacity 1000000"},
};
