/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl plan: what so many IPv4 addresses, or the sources of a limit, would take, before there
 * are any. */
#include <stdio.h>

#include "base/text.h"
#include "bloom/sizing.h"
#include "bloomctl/cli.h"
#include "filter/demand.h"
#include "filter/generation.h"
#include "filter/limitmap.h"

static const struct option_spec options[] = {
	{"entries", "NUMBER", 'n', .help = "how many addresses", .needed = true},
	{"limit", "SOURCES", 'l', .help = "how many sources may be over a limit at once",
	 .instead = true},
	{"fpr", "RATE", 'f', .help = "false positives of the Bloom filter, 1e-9 to 0.1",
	 .offers = OFFER_RATES},
	{"no-confirm", NULL, 'u', .help = "without the exact look-up"},
	{0},
};

struct request {
	uint64_t entries, sources;
	struct xb_demand demand;
};

static bool take_option(const struct cli *cli, int option, struct request *request)
{
	switch (option) {
	case 'n':
		return cli_number(cli, "--entries", optarg, 1, 1ULL << 36, &request->entries);
	case 'l':
		return cli_number(cli, "--limit", optarg, 1, XB_LIMIT_CAPACITY_MAX,
				  &request->sources);
	case 'f':
		return cli_rate(cli, optarg, &request->demand.rate);
	case 'u':
		request->demand.confirm = false;
		return true;
	default:
		return false;
	}
}

/* Of other sources those that are dropped as well, while so many are over the limit. */
#define MORE 4 /* times as many as there is room for */

static int plan_limit(const struct cli *cli, uint64_t sources)
{
	uint64_t lines = xb_limit_lines(sources), bytes = lines * sizeof(struct xb_meter_line);

	if (cli->json)
		return cli_json(cli, json_pack("{s:I,s:I,s:I,s:f,s:f}", "sources",
					       (json_int_t)sources, "lines", (json_int_t)lines,
					       "meter_bytes", (json_int_t)bytes, "innocent_share",
					       xb_limitmap_share(lines, sources),
					       "innocent_share_if_four_times",
					       xb_limitmap_share(lines, MORE * sources)));
	printf("%llu sources over a limit at once\n", (unsigned long long)sources);
	printf("  meter     %s in the kernel, %llu lines of %zu bytes\n", cli_bytes(bytes),
	       (unsigned long long)lines, sizeof(struct xb_meter_line));
	printf("  innocent  %.2g %% of other sources are dropped with them",
	       100 * xb_limitmap_share(lines, sources));
	for (uint64_t more = 2; more <= MORE; more *= 2)
		printf("; with %llu times as many, %.2g %%", (unsigned long long)more,
		       100 * xb_limitmap_share(lines, more * sources));
	printf("\n");
	return cli_done(EXIT_DONE);
}

static int plan_entries(const struct cli *cli, uint64_t entries, struct xb_demand demand)
{
	struct xb_params params = {0};
	uint64_t bits, buckets, counters, room;

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

static int run(struct cli *cli, int argc, char **argv)
{
	struct request request = {.demand = {.confirm = true}};
	int option;

	while ((option = cli_option(cli, argc, argv, options)) != -1)
		if (!take_option(cli, option, &request))
			return EXIT_USAGE;
	if ((!request.entries && !request.sources) || optind != argc)
		return cli_usage(cli, "plan needs --entries or --limit");
	if (!request.sources)
		return plan_entries(cli, request.entries, request.demand);
	if (request.demand.rate > 0 || !request.demand.confirm)
		return cli_usage(cli, "--fpr and --no-confirm are of --entries");
	return plan_limit(cli, request.sources);
}

const struct verb verb_plan = {
	.group = "more",
	.name = "plan",
	.summary = "show how much memory IPv4 addresses take, or a limit",
	.options = options,
	.run = run,
	.examples = {"plan --entries 1000000 --fpr 0.001", "plan --limit 16384"},
};
