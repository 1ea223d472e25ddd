/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl rotate */
#include "core/rotate.h"

#include <getopt.h>
#include <stdio.h>

#include "cli.h"

int verb_rotate(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {{"fpr", required_argument, NULL, 'f'},
						{"capacity", required_argument, NULL, 'c'},
						{"confirm", no_argument, NULL, 'x'},
						{"no-confirm", no_argument, NULL, 'u'},
						{0}};
	struct xb_rotation rotation = {0};
	struct xb_params params;
	int option;

	while ((option = cli_option(cli, argc, argv, options)) != -1) {
		if (option == 'f') {
			if (!cli_rate(cli, optarg, &rotation.rate))
				return EXIT_USAGE;
		} else if (option == 'c') {
			if (!cli_number(cli, "--capacity", optarg, 0, UINT32_MAX * 16ULL,
					&rotation.capacity))
				return EXIT_USAGE;
			rotation.set_capacity = true;
		} else if (option == 'x' || option == 'u') {
			rotation.set_confirm = true;
			rotation.confirm = option == 'x';
		} else {
			return EXIT_USAGE;
		}
	}
	if (optind != argc)
		return cli_usage(cli, "rotate takes no entries");
	rotation.wish = cli->wish.seconds ? &cli->wish : NULL;
	rotation.commits = cli->commits;
	if (xb_rotate(&cli->paths, &rotation, &params))
		return cli_fail();
	if (cli->json)
		return cli_json(cli,
				json_pack("{s:b,s:b,s:I,s:I,s:I}", "enforced",
					  params.generation != 0, "confirm", params.confirm,
					  "host4_capacity", (json_int_t)params.host4.capacity,
					  "net6_capacity", (json_int_t)params.net6.capacity,
					  "names_capacity", (json_int_t)params.names.capacity));
	if (!params.generation)
		cli_note(cli, "bloomctl: noted for the first attach");
	return EXIT_DONE;
}
