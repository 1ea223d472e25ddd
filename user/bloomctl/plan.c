/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl plan: what so many IPv4 addresses would take, before anything is listed. */
#include <getopt.h>
#include <stdio.h>

#include "cli.h"
#include "core/build.h"
#include "core/sizing.h"

int verb_plan(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {{"entries", required_argument, NULL, 'n'},
						{"fpr", required_argument, NULL, 'f'},
						{0}};
	double rate = XB_DEFAULT_RATE;
	struct xb_params params = {0};
	struct xb_memory memory;
	uint64_t entries = 0;
	int option;

	while ((option = cli_option(cli, argc, argv, options)) != -1) {
		if (option == 'n' && !cli_number(cli, "--entries", optarg, 1, 1ULL << 36, &entries))
			return EXIT_USAGE;
		if (option == 'f' && !cli_rate(cli, optarg, &rate))
			return EXIT_USAGE;
		if (option == '?')
			return EXIT_USAGE;
	}
	if (!entries || optind != argc)
		return cli_usage(cli, "plan needs --entries");
	if (xb_build_size(entries, 0, false, 0, 0, rate, 0, &params))
		return cli_fail();
	memory = xb_generation_memory(&params);
	if (cli->json)
		return cli_json(cli, json_pack("{s:I,s:f,s:I,s:i,s:I,s:I,s:f}", "entries",
					       (json_int_t)entries, "fpr", rate, "capacity",
					       (json_int_t)params.host4.capacity, "probes",
					       params.host4.probes, "filter_bytes",
					       (json_int_t)memory.host4_bits, "counter_bytes",
					       (json_int_t)memory.counters, "bits_per_entry",
					       (double)memory.host4_bits * 8 / (double)entries));
	printf("%llu IPv4 addresses at a false-positive rate of %g\n", (unsigned long long)entries,
	       rate);
	printf("  filter    %s in the kernel, %.1f bits an entry, %u probes in one cache line\n",
	       cli_bytes(memory.host4_bits), (double)memory.host4_bits * 8 / (double)entries,
	       params.host4.probes);
	printf("  counters  %s in the run directory\n", cli_bytes(memory.counters));
	printf("  capacity  %llu before it grows\n", (unsigned long long)params.host4.capacity);
	return cli_done(EXIT_DONE);
}
