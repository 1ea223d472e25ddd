/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl: a list of verbs, a look-up, done. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "base/error.h"
#include "base/holder.h"
#include "base/patience.h"
#include "bloomctl/advice.h"
#include "bloomctl/cli.h"
#include "bloomctl/globals.h"
#include "bloomctl/help.h"
#include "bloomctl/inherited.h"
#include "bloomctl/rollback.h"
#include "bloomctl/suggest.h"
#include "engine/rotate.h"
#include "engine/tallies.h"
#include "engine/carry.h"
#include "engine/writepath.h"

#define VERB_ADDRESS(name) &verb_##name,
static const struct verb *const verbs[] = {VERBS(VERB_ADDRESS) NULL};

static void warning(enum xb_notice_kind kind, const char *message)
{
	if (kind == XB_WARNING)
		cli_notice(kind, message);
}

static void progress(const char *what, unsigned long long done, unsigned long long total)
{
	if (done == total)
		fputs("\r\033[K", stderr);
	else if (total)
		fprintf(stderr, "\r%s: %llu %%\033[K", what, done * 100 / total);
	else
		fprintf(stderr, "\r%s: %llu\033[K", what, done);
}

static int libbpf_print(enum libbpf_print_level level, const char *format, va_list arguments)
{
	return level <= LIBBPF_INFO ? vfprintf(stderr, format, arguments) : 0;
}

int main(int argc, char **argv)
{
	static const struct verb in_front = {.name = "--wait SECONDS COMMAND"};
	struct xb_written written = {0};
	struct cli cli = {.verbs = verbs,
			  .paths = {XB_STATE_DIRECTORY, XB_PIN_DIRECTORY, XB_RUN_DIRECTORY},
			  .verb = &in_front,
			  .written = &written};
	static char status[] = "status", *no_verb[] = {status, NULL};
	const struct verb *verb;
	char hint[SUGGEST_BYTES];
	int code;

	inherited_settle();
	xb_program_set("bloomctl", advice_words);
	code = globals_parse(&cli, argc, argv);
	if (code >= 0)
		return code;
	if (inherited_stack())
		return cli_fail();
	argc -= optind;
	argv += optind;
	if (!argc) {
		argc = 1;
		argv = no_verb;
	}
	verb = verb_find(verbs, argv[0]);
	if (!verb) {
		xb_input_error("unknown command '%s'%s; bloomctl help lists them", argv[0],
			       suggest_verb(verbs, argv[0], hint));
		return cli_fail();
	}
	if (help_wanted(verb, argc, argv))
		return help(verb, argc, argv);
	cli.verb = verb;
	if (globals_take(&cli, verb, &argc, argv))
		return EXIT_USAGE;
	libbpf_set_print(cli.verbose ? libbpf_print : NULL);
	xb_notice_sink(cli.quiet ? warning : cli_notice);
	if (isatty(STDERR_FILENO) && !cli.quiet)
		xb_progress_sink(progress);
	xb_holder_sign(argc, argv);
	xb_tallies_join();
	xb_carry_begin(&cli.paths);
	code = rollback_takes(verb) ? rollback_take(&cli, &argc, argv) : 0;
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
