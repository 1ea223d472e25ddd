/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomset: Bloom filters as a tool, and set operations on long lists. */
#include <getopt.h>
#include <malloc.h>
#include <sys/stat.h>

#include "base/memory.h"
#include "base/program.h"
#include "bloomset/advice.h"
#include "bloomset/verbs.h"
#include "cli/cli.h"
#include "cli/everywhere.h"
#include "cli/globals.h"
#include "cli/help.h"
#include "cli/process.h"
#include "cli/sinks.h"
#include "cli/suggest.h"

/* Larger blocks go back to the system when they are freed, so that what is in use is what was asked
 * for. */
#define MMAP_THRESHOLD (64 << 10)

#define VERB_ADDRESS(name) &verb_##name,
static const struct verb *const verbs[] = {VERBS(VERB_ADDRESS) NULL};

static const struct option_spec options[] = {
	OPTION_JSON,  OPTION_PRETTY,
	OPTION_QUIET, OPTION_VERBOSE("tell of each line that was not understood"),
	OPTION_HELP,  OPTION_VERSION,
	{0},
};

static const struct cli_program program = {
	.verbs = verbs,
	.options = options,
	.closing = "FILE: a list as `bloomctl import` reads it, or - for standard input\n"
		   "SIZE: bytes, or a number with a unit: 512M, 1.5G",
};

int main(int argc, char **argv)
{
	struct cli cli = {.program = &program};
	char hint[SUGGEST_BYTES];
	mode_t mask;
	int code;

	mask = umask(0);
	process_settle();
	xb_memory_bound();
	umask(mask); /* of whoever calls: results are that one's files */
	mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD);
	xb_program_set("bloomset", advice_words);
	code = globals_parse(&cli, argc, argv);
	if (code >= 0)
		return code;
	if (process_stack())
		return cli_fail();
	argc -= optind;
	argv += optind;
	if (!argc) {
		xb_input_error("a command is missing; bloomset help lists them");
		return cli_fail();
	}
	cli.verb = verb_find(verbs, argv[0]);
	if (!cli.verb) {
		xb_input_error("unknown command '%s'%s; bloomset help lists them", argv[0],
			       suggest_verb(verbs, argv[0], hint));
		return cli_fail();
	}
	advice_for(cli.verb);
	if (help_wanted(cli.verb, argc, argv))
		return help(cli.verb, argc, argv);
	if (globals_take(&cli, cli.verb, &argc, argv))
		return EXIT_USAGE;
	sinks_open(&cli);
	optind = 0;
	return cli.verb->run(&cli, argc, argv);
}
