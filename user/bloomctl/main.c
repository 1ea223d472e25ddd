/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl: a table of verbs, a look-up, done. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "cli.h"
#include "core/error.h"
#include "core/holder.h"
#include "core/patience.h"
#include "core/writer.h"
#include "help.h"
#include "inherited.h"
#include "rollback.h"

const struct verb verbs[] = {
	{"attach",
	 "attach IFACE... [--mode auto|native|skb] [--refuse KIND,...] [--rollback SECONDS]",
	 "protect interfaces", verb_attach},
	{"detach", "detach IFACE...|--all", "stop protecting them", verb_detach},
	{"up", "up", "make the kernel match the store (boot, repair)", verb_up},
	{"status", "status", "what is enforced where; non-zero while something is not",
	 verb_status},
	{"doctor", "doctor", "whether this machine is ready, and what to do", verb_doctor},
	{"add",
	 "add ENTRY... [--list NAME] [--comment TEXT] [--timeout SECONDS] [--exist] [--force]",
	 "list addresses, prefixes or domains", verb_add},
	{"del", "del ENTRY... [--list NAME] [--exist]", "take them out", verb_del},
	{"test", "test ENTRY...", "whether they are listed, by what", verb_test},
	{"list", "list [--list NAME]", "all that is listed", verb_list},
	{"allow", "allow add|del|list|test|refuse|accept ...",
	 "sources and domains that are never dropped, and what is allowed by itself", verb_allow},
	{"policy", "policy [enforce|monitor|allow-only] [--force] [--rollback SECONDS]",
	 "drop the listed, only count them, or drop all others", verb_policy},
	{"verdict", "verdict [LIST [drop|refused|nxdomain|truncate|count]] [--rollback SECONDS]",
	 "what becomes of queries for the domains of a list", verb_verdict},
	{"ports", "ports [dns|tls|http [PORT,...|off]]", "where names are looked for", verb_ports},
	{"expire", "expire", "take out what has expired, now", verb_expire},
	{"flush", "flush [--list NAME] [--yes]", "empty a list, or all", verb_flush},
	{"import",
	 "import FILE|- [--list NAME] [--verdict VERDICT] [--format F] [--replace] "
	 "[--max-change FACTOR] [--min-entries N] [--min-bytes N] [--expect-end LINE] "
	 "[--include-bogons] [--force] [--dry-run] [--rollback SECONDS]",
	 "list what a file lists", verb_import},
	{"commit", "commit",
	 "keep what is on trial (--rollback SECONDS of attach, policy, verdict, import, "
	 "restore, rotate)",
	 verb_commit},
	{"save", "save", "everything, as text for restore", verb_save},
	{"restore", "restore FILE|- [--interfaces] [--rollback SECONDS]", "become what was saved",
	 verb_restore},
	{"batch", "batch FILE|-", "many adds and dels in one transaction", verb_batch},
	{"rotate", "rotate [--fpr P] [--capacity N] [--[no-]confirm] [--rollback SECONDS]",
	 "a new filter, keys and all, without a gap", verb_rotate},
	{"stats", "stats [--watch] [--names N]",
	 "packets and bytes by reason and interface, and the names asked for most", verb_stats},
	{"watch", "watch [--rate N] [--count N]", "drops as they happen", verb_watch},
	{"plan", "plan --entries N [--fpr P] [--no-confirm]", "memory for so many IPv4 addresses",
	 verb_plan},
	{0},
};

static void usage(FILE *stream)
{
	fprintf(stream,
		"usage: bloomctl [-j] [-p] [-q|-v] [--wait SECONDS] [--state DIR] [--pin DIR] "
		"[--run DIR] COMMAND\n");
	for (const struct verb *verb = verbs; verb->name; verb++)
		fprintf(stream, "  %-78s %s\n", verb->usage, verb->summary);
	fprintf(stream,
		"ENTRY: IPv4, IPv4/length, IPv6, IPv6/length, or a domain with all below it; "
		"=NAME: that name alone\n");
}

static void notice(const char *message)
{
	fprintf(stderr, "bloomctl: %s\n", message);
}

static void no_notice(const char *message)
{
	(void)message;
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

const struct verb *verb_find(const struct verb *table, const char *name)
{
	for (const struct verb *verb = table; verb->name; verb++)
		if (!strcmp(verb->name, name))
			return verb;
	return NULL;
}

enum { OPTION_STATE = 256, OPTION_PIN, OPTION_RUN, OPTION_WAIT };

static const struct option options[] = {
	{"json", no_argument, NULL, 'j'},
	{"pretty", no_argument, NULL, 'p'},
	{"quiet", no_argument, NULL, 'q'},
	{"verbose", no_argument, NULL, 'v'},
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{"state", required_argument, NULL, OPTION_STATE},
	{"pin", required_argument, NULL, OPTION_PIN},
	{"run", required_argument, NULL, OPTION_RUN},
	{"wait", required_argument, NULL, OPTION_WAIT},
	{0},
};

static bool take_patience(const struct cli *cli, const char *text)
{
	uint64_t seconds;

	if (!cli_number(cli, "--wait", text, 0, XB_PATIENCE_MAX, &seconds))
		return false;
	xb_patience_set((uint32_t)seconds);
	return true;
}

/* Returns -1 to go on, or the exit code. */
static int parse_options(struct cli *cli, int argc, char **argv)
{
	int option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "+:jpqvhV", options, NULL)) != -1) {
		switch (option) {
		case 'p':
			cli->pretty = true;
			cli->json = true;
			break;
		case 'j':
			cli->json = true;
			break;
		case 'q':
			cli->quiet = true;
			break;
		case 'v':
			cli->verbose = true;
			break;
		case OPTION_STATE:
			cli->paths.state = optarg;
			break;
		case OPTION_PIN:
			cli->paths.pins = optarg;
			break;
		case OPTION_RUN:
			cli->paths.run = optarg;
			break;
		case OPTION_WAIT:
			if (!take_patience(cli, optarg))
				return EXIT_USAGE;
			break;
		case 'h':
			usage(stdout);
			return EXIT_DONE;
		case 'V':
			puts("xdp-bloom 0.1");
			return EXIT_DONE;
		case ':':
			fprintf(stderr, "bloomctl: option '%s' needs a value\n", argv[optind - 1]);
			return EXIT_USAGE;
		default:
			fprintf(stderr, "bloomctl: wrong option '%s'; bloomctl --help lists them\n",
				argv[optind - 1]);
			return EXIT_USAGE;
		}
	}
	return -1;
}

int main(int argc, char **argv)
{
	struct cli cli = {.paths = {XB_STATE_DIRECTORY, XB_PIN_DIRECTORY, XB_RUN_DIRECTORY},
			  .verb = "--wait SECONDS COMMAND"};
	static char status[] = "status", *no_verb[] = {status, NULL};
	const struct verb *verb;
	int code;

	inherited_settle();
	code = parse_options(&cli, argc, argv);
	if (code >= 0)
		return code;
	argc -= optind;
	argv += optind;
	if (!argc) {
		argc = 1;
		argv = no_verb;
	}
	verb = verb_find(verbs, argv[0]);
	if (!verb) {
		fprintf(stderr, "bloomctl: unknown command '%s'; bloomctl --help lists them\n",
			argv[0]);
		return EXIT_USAGE;
	}
	if (help_wanted(verb, argc, argv))
		return help(verb, argc, argv);
	libbpf_set_print(cli.verbose ? libbpf_print : NULL);
	xb_notice_sink(cli.quiet ? no_notice : notice);
	if (isatty(STDERR_FILENO) && !cli.quiet)
		xb_progress_sink(progress);
	cli.verb = verb->usage;
	xb_holder_sign(argc, argv);
	code = rollback_takes(verb) ? rollback_take(&cli, &argc, argv) : 0;
	optind = 0;
	if (!code)
		code = verb->run(&cli, argc, argv);
	rollback_forget_copy(&cli);
	if (!code) {
		rollback_tell(&cli);
		xb_write_tell_open();
	}
	xb_write_settle(&cli.paths);
	return code;
}
