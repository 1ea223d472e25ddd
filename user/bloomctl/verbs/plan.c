/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl plan: what so many IPv4 addresses would take, before anything is listed. */
#include <stdio.h>

#include "base/text.h"
#include "bloom/sizing.h"
#include "bloomctl/cli.h"
#include "filter/demand.h"
#include "filter/generation.h"

static const struct option_spec options[] = {
	{"entries", "NUMBER", 'n', .help = "how many addresses", .needed = true},
	{"fpr", "RATE", 'f', .help = "false positives of the Bloom filter, 1e-9 to 0.1",
	 .offers = OFFER_RATES},
	{"no-confirm", NULL, 'u', .help = "without the exact look-up"},
	{0},
};

static int run(struct cli *cli, int argc, char **argv)
{
	struct xb_demand demand = {.confirm = true};
	struct xb_params params = {0};
	uint64_t bits, buckets, counters, room;
	uint64_t entries = 0;
	int option;

	while ((option = cli_option(cli, argc, argv, options)) != -1) {
		if (option == 'n' && !cli_number(cli, "--entries", optarg, 1, 1ULL << 36, &entries))
			return EXIT_USAGE;
		if (option == 'f' && !cli_rate(cli, optarg, &demand.rate))
			return EXIT_USAGE;
		if (option == 'u')
			demand.confirm = false;
		if (option == '?')
			return EXIT_USAGE;
	}
	if (!entries || optind != argc)
		return cli_usage(cli, "plan needs --entries");
	demand.host4_keys = entries;
	if (!(demand.rate > 0))
		demand.rate = demand.confirm ? XB_CONFIRMED_RATE : XB_DEFAULT_RATE;
	if (xb_demand_size(&demand, &params))
		return cli_fail();
	room = xb_generation_full(&params.host4, demand.confirm);
	bits = xb_map_bytes(XB_MAP_HOST4, &params);
	buckets = xb_map_bytes(XB_MAP_CONFIRM4, &params);
	counters = xb_generation_file_bytes(&params);
	if (cli->json)
		return cli_json(cli,
				json_pack("{s:I,s:f,s:b,s:I,s:i,s:I,s:I,s:I,s:f}", "entries",
					  (json_int_t)entries, "fpr", demand.rate, "confirm",
					  demand.confirm, "capacity", (json_int_t)room, "probes",
					  params.host4.probes, "filter_bytes", (json_int_t)bits,
					  "confirm_bytes", (json_int_t)buckets, "counter_bytes",
					  (json_int_t)counters, "bits_per_entry",
					  (double)bits * 8 / (double)entries));
	printf("%llu IPv4 addresses%s\n", (unsigned long long)entries,
	       demand.confirm ? ", none dropped that is not listed" : "");
	printf("  filter    %s in the kernel, %.1f bits an entry, %u probes in one cache line, "
	       "false-positive rate %s\n",
	       cli_bytes(bits), (double)bits * 8 / (double)entries, params.host4.probes,
	       XB_NUMBER(demand.rate));
	if (demand.confirm)
		printf("  confirm   %s in the kernel, %.1f bytes an entry, read after a hit only\n",
		       cli_bytes(buckets), (double)buckets / (double)entries);
	printf("  counters  %s in the run directory\n", cli_bytes(counters));
	printf("  capacity  %llu before it grows\n", (unsigned long long)room);
	return cli_done(EXIT_DONE);
}

const struct verb verb_plan = {
	.name = "plan",
	.summary = "show how much memory a number of IPv4 addresses takes",
	.options = options,
	.run = run,
	.examples = {"plan --entries 1000000", "plan --entries 1000000 --fpr 0.001"},
};
