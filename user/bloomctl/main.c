/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl: a list of verbs, a look-up, done. */
#include <getopt.h>
#include <stdio.h>
#include <sys/stat.h>

#include <bpf/libbpf.h>

#include "base/author.h"
#include "base/holder.h"
#include "base/memory.h"
#include "bloomctl/advice.h"
#include "bloomctl/cli.h"
#include "bloomctl/program.h"
#include "bloomctl/rollback.h"
#include "cli/globals.h"
#include "cli/help.h"
#include "cli/process.h"
#include "cli/sinks.h"
#include "cli/suggest.h"
#include "engine/carry.h"
#include "engine/rotate.h"
#include "engine/tallies.h"
#include "engine/writepath.h"

static int libbpf_print(enum libbpf_print_level level, const char *format, va_list arguments)
{
	return level <= LIBBPF_INFO ? vfprintf(stderr, format, arguments) : 0;
}

int main(int argc, char **argv)
{
	static const struct verb in_front = {.name = "--wait SECONDS COMMAND"};
	struct xb_written written = {0};
	struct xb_wish wish = {0};
	struct cli cli = {.program = &bloomctl_program,
			  .paths = {XB_STATE_DIRECTORY, XB_PIN_DIRECTORY, XB_RUN_DIRECTORY},
			  .verb = &in_front,
			  .wish = &wish,
			  .written = &written};
	static char status[] = "status", *no_verb[] = {status, NULL};
	const struct verb *verb;
	char hint[SUGGEST_BYTES];
	int code;

	process_settle();
	umask(0007); /* the directory says who; see docs/security.md */
	xb_program_set("bloomctl", advice_words);
	code = globals_parse(&cli, argc, argv);
	if (code >= 0)
		return code;
	if (process_stack())
		return cli_fail();
	argc -= optind;
	argv += optind;
	if (!argc) {
		argc = 1;
		argv = no_verb;
	}
	verb = verb_find(cli.program->verbs, argv[0]);
	if (!verb) {
		xb_input_error("unknown command '%s'%s; bloomctl help lists them", argv[0],
			       suggest_verb(cli.program->verbs, argv[0], hint));
		return cli_fail();
	}
	if (help_wanted(verb, argc, argv))
		return help(verb, argc, argv);
	cli.verb = verb;
	if (!verb->little)
		xb_memory_bound();
	if (globals_take(&cli, verb, &argc, argv))
		return EXIT_USAGE;
	libbpf_set_print(cli.verbose ? libbpf_print : NULL);
	sinks_open(&cli);
	xb_holder_sign(argc, argv);
	xb_author_sign(argc, argv);
	xb_tallies_join();
	xb_carry_begin(&cli.paths);
	code = rollback_takes(cli.verb) ? rollback_take(&cli, &argc, argv) : 0;
	optind = 0;
	if (!code)
		code = verb->run(&cli, argc, argv);
	rollback_forget_copy(&cli);
	if (!code) {
		rollback_tell(&cli);
		xb_write_tell_open(&written);
	}
	xb_write_settle(&cli.paths, &written);
	xb_written_free(&written);
	return code;
}
