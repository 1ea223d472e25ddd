/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomctl/program.h"

#include <stdio.h>

#include "base/patience.h"
#include "bloomctl/verbs.h"
#include "cli/everywhere.h"
#include "lists/table.h"
#include "machine/lifelines.h"
#include "model/verdict.h"

#define VERB_ADDRESS(name) &verb_##name,
static const struct verb *const verbs[] = {VERBS(VERB_ADDRESS) NULL};

enum { OPTION_STATE = OPTION_OWN, OPTION_PIN, OPTION_RUN, OPTION_WAIT };

static const struct option_spec options[] = {
	OPTION_JSON,
	OPTION_PRETTY,
	OPTION_QUIET,
	OPTION_VERBOSE("show libbpf's messages, and lines of files that were not understood"),
	{"state", "DIR", OPTION_STATE, .help = "directory of the store",
	 .offers = OFFER_DIRECTORIES},
	{"pin", "DIR", OPTION_PIN, .help = "directory of the pinned kernel objects",
	 .offers = OFFER_DIRECTORIES},
	{"run", "DIR", OPTION_RUN, .help = "directory of the counters behind the filter",
	 .offers = OFFER_DIRECTORIES},
	{"wait", "SECONDS", OPTION_WAIT,
	 .help = "how long to wait for other commands and trials (default 60)"},
	OPTION_HELP,
	OPTION_VERSION,
	{0},
};

static bool take_patience(const struct cli *cli, const char *text)
{
	uint64_t seconds;

	if (!cli_seconds(cli, "--wait", text, 0, XB_PATIENCE_MAX, &seconds))
		return false;
	xb_patience_set((uint32_t)seconds);
	return true;
}

static bool take(struct cli *cli, int option, const char *value, bool *right)
{
	switch (option) {
	case OPTION_STATE:
		cli->paths.state = value;
		return true;
	case OPTION_PIN:
		cli->paths.pins = value;
		return true;
	case OPTION_RUN:
		cli->paths.run = value;
		return true;
	case OPTION_WAIT:
		*right = take_patience(cli, value);
		return true;
	default:
		return false;
	}
}

static void print_kinds(void)
{
	for (enum xb_lifeline_kind kind = 0; kind < XB_LIFELINE_KINDS; kind++)
		printf("%s ", xb_lifeline_name(kind));
	printf("all");
}

static void print_verdicts(void)
{
	for (uint32_t verdict = 0; verdict < XB_DOMAIN_VERDICTS; verdict++)
		printf("%s ", xb_domain_verdict_name(verdict));
}

static void print_formats(void)
{
	for (const char *name = xb_listfile_formats(); *name; name++)
		if (*name != ',')
			putchar(*name);
}

static bool offer(enum offer wanted)
{
	switch (wanted) {
	case OFFER_KINDS:
		print_kinds();
		return true;
	case OFFER_VERDICTS:
		print_verdicts();
		return true;
	case OFFER_FORMATS:
		print_formats();
		return true;
	default:
		return false;
	}
}

const struct cli_program bloomctl_program = {
	.verbs = verbs,
	.options = options,
	.take = take,
	.offer = offer,
	.closing =
		"ENTRY: an address, ADDRESS/LENGTH, or a domain, which stands for all names below "
		"it too;\n"
		"       =NAME: that name alone\n"
		"SECONDS: a number, or one with a unit: 90s, 15m, 1h, 30d, 2w",
};
