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
#include "globals.h"
#include "help.h"
#include "inherited.h"
#include "rollback.h"
#include "suggest.h"
#include "core/rotate.h"

static const struct verb verbs[] = {
	{"attach",
	 "attach IFACE... [--mode auto|native|skb] [--refuse KIND,...] [--rollback SECONDS]",
	 "protect interfaces",
	 verb_attach,
	 {"attach eth0", "attach eth0 eth1 --mode native --rollback 60"}},
	{"detach",
	 "detach IFACE...|--all",
	 "stop protecting them",
	 verb_detach,
	 {"detach eth0", "detach --all"}},
	{"up", "up", "make the kernel match the store (boot, repair)", verb_up, {"up", "-q up"}},
	{"status",
	 "status",
	 "what is enforced where; non-zero while something is not",
	 verb_status,
	 {"status", "-p status"}},
	{"doctor",
	 "doctor",
	 "whether this machine is ready, and what to do",
	 verb_doctor,
	 {"doctor", "-p doctor"}},
	{"add",
	 "add ENTRY... [--list NAME] [--comment TEXT] [--timeout SECONDS] [--exist] [--force]",
	 "list addresses, prefixes or domains",
	 verb_add,
	 {"add 192.0.2.7 --timeout 1h --comment \"port scan\"",
	  "add 198.51.100.0/24 example.com --list mine"}},
	{"del",
	 "del ENTRY... [--list NAME] [--exist]",
	 "take them out",
	 verb_del,
	 {"del 192.0.2.7", "del example.com --list mine --exist"}},
	{"test",
	 "test ENTRY...",
	 "whether they are listed, by what",
	 verb_test,
	 {"test 192.0.2.7", "test www.example.com"}},
	{"list",
	 "list [--list NAME]",
	 "all that is listed",
	 verb_list,
	 {"list", "list --list mine"}},
	{"allow",
	 "allow add|del|list|test|refuse|accept ...",
	 "sources and domains that are never dropped, and what is allowed by itself",
	 verb_allow,
	 {"allow add 198.51.100.0/24 --comment \"the office\"", "allow list"}},
	{"policy",
	 "policy [enforce|monitor|allow-only] [--force] [--rollback SECONDS]",
	 "drop the listed, only count them, or drop all others",
	 verb_policy,
	 {"policy", "policy enforce --rollback 60"}},
	{"verdict",
	 "verdict [LIST [drop|refused|nxdomain|truncate|count]] [--rollback SECONDS]",
	 "what becomes of queries for the domains of a list",
	 verb_verdict,
	 {"verdict", "verdict ads nxdomain"}},
	{"ports",
	 "ports [dns|tls|http [PORT,...|off]]",
	 "where names are looked for",
	 verb_ports,
	 {"ports", "ports tls 443"}},
	{"limit",
	 "limit [ANSWERS|off]",
	 "answers a second on each CPU to queries for listed domains",
	 verb_limit,
	 {"limit", "limit 5000"}},
	{"expire",
	 "expire",
	 "take out what has expired, now",
	 verb_expire,
	 {"expire", "-j expire"}},
	{"flush",
	 "flush [--list NAME] [--yes]",
	 "empty a list, or all",
	 verb_flush,
	 {"flush --list mine", "flush --yes"}},
	{"import",
	 "import FILE|- [--list NAME] [--verdict VERDICT] [--format F] [--replace] "
	 "[--max-change FACTOR] [--min-entries N] [--min-bytes N] [--expect-end LINE] "
	 "[--include-bogons] [--force] [--dry-run] [--rollback SECONDS]",
	 "list what a file lists",
	 verb_import,
	 {"import firehol_level1.netset --list level1 --replace",
	  "import hosts.txt --list ads --verdict nxdomain"}},
	{"commit",
	 "commit",
	 "keep what is on trial (--rollback SECONDS of attach, policy, verdict, import, "
	 "restore, rotate)",
	 verb_commit,
	 {"commit", "-j commit"}},
	{"save",
	 "save",
	 "everything, as text for restore",
	 verb_save,
	 {"save >saved.json", "save | gzip >saved.json.gz"}},
	{"restore",
	 "restore FILE|- [--interfaces] [--rollback SECONDS]",
	 "become what was saved",
	 verb_restore,
	 {"restore saved.json", "restore saved.json --rollback 60"}},
	{"batch",
	 "batch FILE|-",
	 "many adds and dels in one transaction",
	 verb_batch,
	 {"batch changes.txt", "batch - <changes.txt"}},
	{"rotate",
	 "rotate [--fpr P] [--capacity N] [--[no-]confirm] [--rollback SECONDS]",
	 "a new filter, keys and all, without a gap",
	 verb_rotate,
	 {"rotate", "rotate --capacity 1000000"}},
	{"stats",
	 "stats [--watch] [--names N]",
	 "packets and bytes by reason and interface, and the names asked for most",
	 verb_stats,
	 {"stats", "stats --watch"}},
	{"watch",
	 "watch [--rate N] [--count N]",
	 "drops as they happen",
	 verb_watch,
	 {"watch", "watch --rate 100 --count 20"}},
	{"plan",
	 "plan --entries N [--fpr P] [--no-confirm]",
	 "memory for so many IPv4 addresses",
	 verb_plan,
	 {"plan --entries 1000000", "plan --entries 1000000 --fpr 0.001"}},
	{"help",
	 "help [COMMAND]",
	 "this list, or how a command is used",
	 verb_help,
	 {"help", "help import"}},
	{0},
};

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
	struct cli cli = {.verbs = verbs,
			  .paths = {XB_STATE_DIRECTORY, XB_PIN_DIRECTORY, XB_RUN_DIRECTORY},
			  .verb = "--wait SECONDS COMMAND"};
	static char status[] = "status", *no_verb[] = {status, NULL};
	const struct verb *verb;
	char hint[SUGGEST_BYTES];
	int code;

	inherited_settle();
	code = globals_parse(&cli, argc, argv);
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
		xb_input_error("unknown command '%s'%s; bloomctl help lists them", argv[0],
			       suggest_verb(verbs, argv[0], hint));
		return cli_fail();
	}
	if (help_wanted(verb, argc, argv))
		return help(verb, argc, argv);
	cli.verb = verb->usage;
	if (globals_take(&cli, verb, &argc, argv))
		return EXIT_USAGE;
	libbpf_set_print(cli.verbose ? libbpf_print : NULL);
	xb_notice_sink(cli.quiet ? warning : cli_notice);
	if (isatty(STDERR_FILENO) && !cli.quiet)
		xb_progress_sink(progress);
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
