/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomset info: what a filter is, and what is in it. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "bloomset/filters.h"
#include "bloomset/verbs.h"

static const struct option_spec options[] = {{0}};

/* The share of bits that n elements set: 1 - (1 - 1/m)^(kn); within a block, 1 - (63/64)^(k/8) for
 * each, with their number Poisson distributed. */
static double expected_fill(const struct xb_filter_info *info, double elements)
{
	uint64_t blocks = info->bits / XB_BLOCK_BITS;
	uint32_t each = info->hashes / XB_BLOCK_WORDS;

	if (info->kind == XB_FILTER_BLOCKED)
		return -expm1(-elements / (double)blocks * (1 - pow(63.0 / 64, each)));
	return -expm1(elements * info->hashes * log1p(-1 / (double)info->bits));
}

static json_t *known(uint64_t number)
{
	return number ? json_integer((json_int_t)number) : json_null();
}

static int print_json(const struct cli *cli, const struct xb_filter *filter,
		      const struct xb_filter_info *info)
{
	uint64_t count = xb_filter_approximate_count(filter);

	return cli_json(
		cli,
		json_pack("{s:s,s:s,s:s,s:b,s:I,s:i,s:o,s:o,s:I,s:f,s:o,s:o,s:f,s:I,s:I}", "kind",
			  filters_kind_name(info->kind), "elements",
			  info->form == XB_FORM_ENTRIES ? "entries" : "lines", "funnel",
			  filters_funnel_name(info->funnel), "counting", (int)info->counting,
			  "bits", (json_int_t)info->bits, "hashes", (int)info->hashes, "made_for",
			  known(info->expected), "rate",
			  info->rate > 0 ? json_real(info->rate) : json_null(), "set_bits",
			  (json_int_t)info->set_bits, "fill",
			  (double)info->set_bits / (double)info->bits, "expected_fill",
			  info->expected ? json_real(expected_fill(info, (double)info->expected))
					 : json_null(),
			  "count",
			  count == UINT64_MAX ? json_null() : json_integer((json_int_t)count),
			  "expected_rate", xb_filter_expected_rate(filter), "stuck_counters",
			  (json_int_t)info->stuck, "bytes", (json_int_t)info->bytes));
}

static void print_sizes(const struct xb_filter_info *info)
{
	printf("kind            %s%s\n", filters_kind_name(info->kind),
	       info->counting ? ", counting" : "");
	if (xb_filter_is_guava(info->kind))
		puts("elements        as its funnel makes them, which the format does not say");
	else
		printf("elements        %s%s%s\n",
		       info->form == XB_FORM_ENTRIES ? "entries" : "lines",
		       info->funnel == XB_FUNNEL_STRING ? "" : ", funnel ",
		       info->funnel == XB_FUNNEL_STRING ? "" : filters_funnel_name(info->funnel));
	printf("bits (m)        %llu\n", (unsigned long long)info->bits);
	printf("hashes (k)      %u\n", info->hashes);
	if (info->expected)
		printf("made for (n)    %llu%s%s\n", (unsigned long long)info->expected,
		       info->rate > 0 ? ", at a rate of " : "",
		       info->rate > 0 ? XB_NUMBER(info->rate) : "");
	printf("memory          %s\n", cli_bytes(info->bytes));
}

static void print_content(const struct xb_filter *filter, const struct xb_filter_info *info)
{
	uint64_t count = xb_filter_approximate_count(filter);

	printf("fill            %.4f (%llu bits set)", (double)info->set_bits / (double)info->bits,
	       (unsigned long long)info->set_bits);
	if (info->expected)
		printf("; %.4f expected when %llu are in",
		       expected_fill(info, (double)info->expected),
		       (unsigned long long)info->expected);
	if (count == UINT64_MAX)
		puts("\ncount           nobody can tell: all bits are set");
	else
		printf("\ncount           about %llu different\n", (unsigned long long)count);
	printf("expected rate   %s\n", XB_NUMBER(xb_filter_expected_rate(filter)));
	if (info->counting)
		printf("stuck counters  %llu\n", (unsigned long long)info->stuck);
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct xb_filter_info info;
	struct xb_filter *filter = NULL;
	int code;

	if (cli_option(cli, argc, argv, options) != -1)
		return EXIT_USAGE;
	if (argc - optind != 1)
		return cli_usage(cli, "info takes one filter");
	if (filters_open(argv[optind], XB_FILTER_ASK, XB_FUNNEL_STRING, &filter))
		return cli_fail();
	info = xb_filter_inspect(filter);
	if (cli->json) {
		code = print_json(cli, filter, &info);
	} else {
		print_sizes(&info);
		print_content(filter, &info);
		code = cli_done(EXIT_DONE);
	}
	xb_filter_free(filter);
	return code;
}

const struct verb verb_info = {
	.name = "info",
	.summary = "show what a filter is, and what is in it",
	.operands = {{"FILTER", .offers = OFFER_FILES}},
	.options = options,
	.run = run,
	.examples = {"info level1.bloom", "info -j - <level1.bloom"},
};
