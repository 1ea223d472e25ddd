/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomset/sets.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/memory.h"
#include "bloomset/approximate.h"
#include "bloomset/forecast.h"
#include "bloomset/setop.h"
#include "bloomset/spillfile.h"

#define MEMORY_USUAL ((uint64_t)2 << 30)
#define MEMORY_MOST  ((uint64_t)1 << 44)
#define FILES_MOST   100000

struct asked {
	struct input_terms terms;
	struct input *inputs;
	uint32_t count;
	uint64_t memory, least;
	struct output output;
	bool plan, approximate;
};

static bool take_option(const struct cli *cli, int option, struct asked *asked)
{
	switch (option) {
	case 'm':
		return cli_size(cli, "--memory", optarg, PLAN_MEMORY_LEAST, MEMORY_MOST,
				&asked->memory);
	case 'n':
		return asked->plan = true;
	case 'o':
		asked->output.path = strcmp(optarg, "-") ? optarg : NULL;
		return true;
	case 'c':
		return asked->output.silent = true;
	case 'a':
		return asked->approximate = true;
	case 'K':
		return cli_number(cli, "--min", optarg, 1, FILES_MOST, &asked->least);
	default:
		return reading_option(cli, &asked->terms, option);
	}
}

static bool are_sensible(const struct cli *cli, const struct asked *asked, const struct sets *sets)
{
	unsigned int stdins = 0;

	for (uint32_t i = 0; i < asked->count; i++)
		stdins += !strcmp(asked->inputs[i].path, "-");
	if (asked->count < sets->files_least)
		cli_usage(cli, "%s takes %s, or -", cli->verb->name,
			  sets->files_least > 1 ? "two files or more" : "files");
	else if (stdins > 1)
		cli_usage(cli, "standard input can be read only once");
	else if (asked->least > asked->count)
		cli_usage(cli, "--min %" PRIu64 " is more than there are files", asked->least);
	else if (!reading_is_sensible(cli, &asked->terms))
		return false;
	else if (asked->output.path && asked->output.silent)
		cli_usage(cli, "--count prints a number: leave out --output");
	else if (cli->json && !asked->output.path && !asked->output.silent && !asked->plan)
		cli_usage(cli, "%s prints lines: leave out --json, or print a --count",
			  cli->verb->name);
	else
		return true;
	return false;
}

static bool take_words(struct cli *cli, int argc, char **argv, const struct sets *sets,
		       struct asked *asked)
{
	int option;

	while ((option = cli_option(cli, argc, argv, sets->options)) != -1)
		if (!take_option(cli, option, asked))
			return false;
	asked->count = (uint32_t)(argc - optind);
	asked->inputs = calloc(asked->count + 1, sizeof(*asked->inputs));
	if (!asked->inputs) {
		xb_out_of_memory();
		return cli_fail(), false;
	}
	for (uint32_t i = 0; i < asked->count; i++)
		asked->inputs[i].path = argv[optind + (int)i];
	return are_sensible(cli, asked, sets);
}

static struct rule rule_of(const struct asked *asked, const struct sets *sets)
{
	struct rule rule = {sets->kind, (uint32_t)asked->least, asked->count};

	if (rule.kind == RULE_LEAST && (!rule.least || rule.least == rule.files))
		rule.kind = RULE_ALL;
	if ((rule.kind == RULE_ALL && rule.files == 1) ||
	    (rule.kind == RULE_LEAST && rule.least == 1))
		rule.kind = RULE_ANY;
	return rule;
}

static uint64_t usual_memory(void)
{
	uint64_t half = xb_memory_available() / 2;

	half = half > PLAN_MEMORY_LEAST ? half : PLAN_MEMORY_LEAST;
	return half < MEMORY_USUAL ? half : MEMORY_USUAL;
}

/* To somebody who waits for it. */
static void tell_terminal(const struct cli *cli, const struct plan *plan, const struct asked *asked,
			  uint64_t most)
{
	size_t passes = asked->approximate ? asked->count : plan->count;
	uint64_t bytes = asked->approximate ? plan->bytes : plan_reads(plan, asked->inputs);

	if (!isatty(STDERR_FILENO) || cli->quiet)
		return;
	xb_notice("takes up to %s of memory, %zu %s over files with %s%s, and up to %s%s in %s",
		  cli_bytes(plan->memory), passes, passes == 1 ? "pass" : "passes",
		  cli_bytes(bytes), plan->unknown ? " and pipes of unknown size" : "",
		  cli_bytes(most), plan->unknown ? " and what comes by pipes" : "", spill_folder());
}

/* Before it begins; to anybody if it cannot end well. */
static void tell_needs(const struct cli *cli, const struct plan *plan, const struct asked *asked)
{
	uint64_t most = asked->approximate ? 0 : forecast_writes(plan, asked->inputs, true);
	struct statvfs disk;

	tell_terminal(cli, plan, asked, most);
	if (!statvfs(spill_folder(), &disk) && most > (uint64_t)disk.f_bavail * disk.f_frsize)
		xb_warning("%s has %s free, and up to %s may be needed there (TMPDIR)",
			   spill_folder(), cli_bytes((uint64_t)disk.f_bavail * disk.f_frsize),
			   cli_bytes(most));
}

static int print_count(const struct cli *cli, uint64_t count)
{
	if (cli->json)
		return cli_json(cli, json_pack("{s:I}", "count", (json_int_t)count));
	printf("%" PRIu64 "\n", count);
	return cli_done(EXIT_DONE);
}

static int do_it(struct cli *cli, struct asked *asked, const struct plan *plan)
{
	struct setop_done done = {0};
	bool answers = asked->output.silent || cli->json;
	int stop, code;

	asked->output.memory = plan->behind ?: BEHIND_LEAST;
	stop = output_open(&asked->output);
	if (!stop) {
		tell_needs(cli, plan, asked);
		stop = setop_run(plan, asked->inputs, &asked->terms, &asked->output, &done);
	}
	if (!stop)
		stop = output_finish(&asked->output);
	if (stop == OUTPUT_UNREAD)
		code = EXIT_UNREAD;
	else if (stop)
		code = cli_fail();
	else
		code = answers ? print_count(cli, asked->output.lines) : EXIT_DONE;
	if (!stop && cli->verbose)
		xb_notice("read %s, wrote %s to %s", cli_bytes(done.read), cli_bytes(done.written),
			  spill_folder());
	output_close(&asked->output);
	return code;
}

static int estimate(struct cli *cli, struct asked *asked, const struct plan *plan)
{
	tell_needs(cli, plan, asked);
	return approximate_print(cli, plan, asked->inputs, &asked->terms);
}

static int make_and_do(struct cli *cli, struct asked *asked, const struct sets *sets)
{
	struct plan plan = {.rule = rule_of(asked, sets)};
	int error, code;

	if (getrandom(&asked->terms.key, sizeof(asked->terms.key), 0) < 0) {
		xb_system_error(errno, "no random key");
		return cli_fail();
	}
	error = plan_make(&plan, asked->memory ?: usual_memory(), asked->inputs, asked->count,
			  &asked->terms);
	if (error)
		code = cli_fail();
	else if (asked->plan)
		code = forecast_print(cli, &plan, asked->inputs, &asked->terms);
	else if (asked->approximate)
		code = estimate(cli, asked, &plan);
	else
		code = do_it(cli, asked, &plan);
	plan_free(&plan);
	return code;
}

int sets_run(struct cli *cli, int argc, char **argv, const struct sets *sets)
{
	struct asked asked = {.output.silent = sets->counts};
	int code = EXIT_USAGE;

	if (take_words(cli, argc, argv, sets, &asked))
		code = make_and_do(cli, &asked, sets);
	free(asked.inputs);
	return code;
}
