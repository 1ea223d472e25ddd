/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomset plan: how large a filter must be, or what a size gives. */
#include <math.h>
#include <stdio.h>

#include "base/text.h"
#include "bloom/sizing.h"
#include "bloomset/curves.h"
#include "bloomset/filters.h"
#include "bloomset/verbs.h"

static const struct option_spec options[] = {
	{"insertions", "NUMBER", 'n', .letter = 'n', .help = "for so many (1000000)"},
	{"rate", "RATE", 'p', .letter = 'p', .offers = OFFER_RATES,
	 .help = "for this rate alone, not for a table of rates"},
	{"bits", "NUMBER", 'm', .help = "what so many bits give, by the number of hashes"},
	{"hashes", "NUMBER", 'k', .help = "and with so many hashes alone"},
	{"svg", NULL, 's', .help = "print the rate by bits an element as curves, in SVG"},
	{0},
};

struct plan {
	const struct cli *cli;
	uint64_t insertions, bits, hashes;
	double rate; /* 0: a table */
	bool svg;
	json_t *rows; /* NULL: a table in text */
};

static void heading(const struct plan *plan)
{
	if (!plan->rows)
		printf("%14s %10s %18s %4s %9s %12s %9s\n", "n", "p", "m", "k", "m/n", "memory",
		       "blocked");
}

/* blocked: bits an element that the blocked layout takes; 0: it cannot. */
static void row(const struct plan *plan, double rate, double bits, uint32_t hashes, double blocked)
{
	double each = bits / (double)plan->insertions;

	if (plan->rows) {
		json_array_append_new(plan->rows,
				      json_pack("{s:I,s:f,s:I,s:i,s:o}", "insertions",
						(json_int_t)plan->insertions, "rate", rate, "bits",
						(json_int_t)bits, "hashes", (int)hashes,
						"blocked_bits_each",
						blocked > 0 ? json_real(blocked) : json_null()));
		return;
	}
	printf("%14llu %10.3g %18.0f %4u %9.2f %12s ", (unsigned long long)plan->insertions, rate,
	       bits, hashes, each, cli_bytes((uint64_t)ceil(bits / 8)));
	if (blocked > 0)
		printf("%9.2f\n", blocked);
	else
		printf("%9s\n", "-");
}

static double blocked_bits(const struct plan *plan, double rate)
{
	struct xb_geometry geometry;

	if (rate < XB_RATE_MIN || rate > XB_RATE_MAX ||
	    xb_size_bloom(plan->insertions, rate, &geometry))
		return 0;
	return (double)geometry.blocks * XB_BLOCK_BITS / (double)plan->insertions;
}

static void by_rate(const struct plan *plan, double rate)
{
	uint32_t hashes = xb_filter_hashes_for(rate);

	row(plan, rate, xb_filter_bits_for((double)plan->insertions, rate, hashes), hashes,
	    blocked_bits(plan, rate));
}

static void by_bits(const struct plan *plan)
{
	uint32_t first = plan->hashes ? (uint32_t)plan->hashes : 1;
	uint32_t last = plan->hashes ? (uint32_t)plan->hashes : 16;

	for (uint32_t hashes = first; hashes <= last; hashes++)
		row(plan, xb_filter_rate_of((double)plan->insertions, (double)plan->bits, hashes),
		    (double)plan->bits, hashes, 0);
}

static int print(struct plan *plan)
{
	if (plan->svg) {
		curves_print();
		return cli_done(EXIT_DONE);
	}
	plan->rows = plan->cli->json ? json_array() : NULL;
	heading(plan);
	if (plan->bits)
		by_bits(plan);
	else if (plan->rate > 0)
		by_rate(plan, plan->rate);
	else
		for (int decade = 1; decade <= 9; decade++)
			by_rate(plan, pow(10, -decade));
	return plan->rows ? cli_json(plan->cli, json_pack("{s:o}", "plans", plan->rows))
			  : cli_done(EXIT_DONE);
}

static bool take_option(const struct cli *cli, struct plan *plan, int option)
{
	switch (option) {
	case 'n':
		return cli_number(cli, "-n", optarg, 1, XB_FILTER_BITS_MAX, &plan->insertions);
	case 'p':
		return filters_rate(cli, "-p", optarg, &plan->rate);
	case 'm':
		return cli_number(cli, "--bits", optarg, 1, XB_FILTER_BITS_MAX, &plan->bits);
	case 'k':
		return cli_number(cli, "--hashes", optarg, 1, XB_FILTER_HASHES_MAX, &plan->hashes);
	case 's':
		plan->svg = true;
		return true;
	default:
		return false;
	}
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct plan plan = {.cli = cli, .insertions = 1000000};
	int option;

	while ((option = cli_option(cli, argc, argv, options)) != -1)
		if (!take_option(cli, &plan, option))
			return EXIT_USAGE;
	if (argc != optind)
		return cli_usage(cli, "plan takes no operands");
	if (plan.svg && cli->json)
		return cli_usage(cli, "--svg prints a picture: leave out --json");
	if (plan.hashes && !plan.bits)
		return cli_usage(cli, "--hashes goes with --bits");
	if (plan.bits && plan.rate > 0)
		return cli_usage(cli, "--bits or -p: one follows from the other");
	return print(&plan);
}

const struct verb verb_plan = {
	.name = "plan",
	.summary = "show how large a filter must be, or what a size gives",
	.options = options,
	.run = run,
	.examples = {"plan -n 10000000 -p 1e-6", "plan --svg >curves.svg"},
};
