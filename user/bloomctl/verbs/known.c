/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl known: remembers who connects, for the policy allow-only --known. */
#include "engine/known.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/text.h"
#include "bloom/sizing.h"
#include "bloomctl/cli.h"
#include "cli/suggest.h"
#include "engine/admission.h"
#include "engine/writepath.h"
#include "model/entry.h"
#include "store/limits.h"

/* Lets the kernel follow at once, before another command comes. */
#define HOW (XB_WRITE_HEAVY | XB_WRITE_SETTLE)

static int write_and_settle(struct cli *cli, int (*body)(struct xb_writer *, void *), void *context)
{
	int error = xb_write(&cli->paths, HOW | XB_WRITE_FIRST, body, context, cli->written);

	if (!error)
		error = xb_write(&cli->paths, HOW, NULL, NULL, cli->written);
	xb_write_last();
	return error;
}

/* *mine: the identity of the store; 0: there is none. */
static int read_wish(const struct cli *cli, struct xb_known_wish *wish, uint64_t *mine)
{
	struct xb_store *store;
	struct xb_txn *txn;
	int error = xb_store_begin_reading(cli->paths.state, &store, &txn);

	*wish = (struct xb_known_wish){0};
	*mine = error ? 0 : txn->meta.identity;
	if (!error)
		error = xb_known_wish_get(txn, wish);
	xb_store_end_reading(store, txn);
	return error == -ENOENT ? 0 : error;
}

/* --- on and off --- */

/* 0: as it was, or by default. */
struct asked {
	uint64_t remember, capacity;
	double rate;
};

static int turn_on(struct xb_writer *writer, void *context)
{
	const struct asked *asked = context;
	struct xb_known_wish wish;
	int error = xb_known_wish_get(writer->txn, &wish);

	if (error)
		return error;
	wish.on = true;
	if (asked->remember)
		wish.remember = (uint32_t)asked->remember;
	if (asked->capacity)
		wish.capacity = asked->capacity;
	if (asked->rate > 0)
		wish.rate = asked->rate;
	error = xb_known_check(writer->paths, &wish);
	return error ? error : xb_known_wish_put(writer->txn, &wish);
}

static const struct option_spec on_options[] = {
	{"remember", "TIME", 'r',
	 .help = "keep a source this long after it last connected, at most twice as long"},
	{"capacity", "SOURCES", 'c',
	 .help = "sources to expect in that time; with more, the filter grows"},
	{"fpr", "RATE", 'f',
	 .help = "share of unknown sources that are taken for known, 1e-9 to 0.1",
	 .offers = OFFER_RATES},
	{0},
};

static bool take_option(const struct cli *cli, int option, struct asked *asked)
{
	switch (option) {
	case 'r':
		return cli_seconds(cli, "--remember", optarg, XB_KNOWN_REMEMBER_MIN,
				   XB_KNOWN_REMEMBER_MAX, &asked->remember);
	case 'c':
		return cli_number(cli, "--capacity", optarg, 1, XB_KNOWN_CAPACITY_MAX,
				  &asked->capacity);
	case 'f':
		return cli_rate(cli, optarg, &asked->rate);
	}
	return false;
}

static int run_on(struct cli *cli, int argc, char **argv)
{
	struct asked asked = {0};
	struct xb_known_view view;
	int option;

	argc--, argv++;
	while ((option = cli_option(cli, argc, argv, on_options)) != -1)
		if (!take_option(cli, option, &asked))
			return EXIT_USAGE;
	if (optind != argc)
		return cli_usage(cli, "known on takes no arguments but options");
	if (write_and_settle(cli, turn_on, &asked) || xb_known_look(&cli->paths, &view))
		return cli_fail();
	if (!view.learns) {
		xb_system_error(0, "known sources are switched on, but learning could not start "
				   "yet; `bloomctl up` tries again");
		return cli_fail();
	}
	return cli->json ? cli_json(cli, json_pack("{s:b}", "known", 1)) : EXIT_DONE;
}

struct turning_off {
	uint64_t store; /* its identity */
	bool limits;	/* some let known sources send more */
};

static int turn_off(struct xb_writer *writer, void *context)
{
	const struct xb_meta *meta = &writer->txn->meta;
	struct turning_off *off = context;
	struct xb_limits_wanted limits;
	struct xb_known_wish wish;
	int error = xb_known_wish_get(writer->txn, &wish);

	off->store = meta->identity;
	if (!error)
		error = xb_limits_get(writer->txn, &limits);
	off->limits = !error && xb_limits_know(&limits);
	if (error || !wish.on)
		return error;
	if (meta->policy == XB_POLICY_ALLOW_ONLY && meta->admits_known)
		return xb_input_error("the policy admits known sources: set another one first "
				      "(bloomctl policy)");
	error = xb_known_save(writer->paths);
	if (error && error != -ENOENT)
		return xb_error_prefix(error, "known sources cannot be saved, so learning goes on");
	wish.on = false;
	return xb_known_wish_put(writer->txn, &wish);
}

static int run_off(struct cli *cli, int argc, char **argv)
{
	struct turning_off off = {0};
	struct xb_known_view view;

	(void)argv;
	if (argc > 2)
		return cli_usage(cli, "known off takes no arguments");
	if (write_and_settle(cli, turn_off, &off) || xb_known_look(&cli->paths, &view))
		return cli_fail();
	if (view.there && view.store == off.store) {
		xb_system_error(0, "known sources are switched off, but are learned until they can "
				   "be saved; `bloomctl up` tries again");
		return cli_fail();
	}
	if (off.limits)
		xb_notice("limits are the same for all sources now, since none is known");
	return cli->json ? cli_json(cli, json_pack("{s:b}", "known", 0)) : EXIT_DONE;
}

/* --- save and clear --- */

/* With -q without a word: the unit saves at each shutdown. */
static int tell_off(void)
{
	xb_notice("remembering is off: `bloomctl known on` first");
	return EXIT_ABSENT;
}

static int run_save(struct cli *cli, int argc, char **argv)
{
	int error;

	(void)argv;
	if (argc > 2)
		return cli_usage(cli, "known save takes no arguments");
	error = xb_known_save(&cli->paths);
	if (error == -ENOENT)
		return tell_off();
	if (error)
		return cli_fail();
	return cli->json ? cli_json(cli, json_pack("{s:b}", "saved", 1)) : EXIT_DONE;
}

static int clear_body(struct xb_writer *writer, void *context)
{
	(void)context;
	return xb_known_clear(writer->paths);
}

static int run_clear(struct cli *cli, int argc, char **argv)
{
	(void)argv;
	if (argc > 2)
		return cli_usage(cli, "known clear takes no arguments");
	if (write_and_settle(cli, clear_body, NULL))
		return cli_fail();
	return cli->json ? cli_json(cli, json_pack("{s:b}", "cleared", 1)) : EXIT_DONE;
}

/* --- one address --- */

/* An IPv6 address stands for its /64. */
static bool parse_address(const struct cli *cli, int argc, char **argv, struct xb_entry *entry)
{
	if (argc != 3) {
		cli_usage(cli, "known %s takes an address", argv[1]);
		return false;
	}
	if (xb_entry_parse(argv[2], strlen(argv[2]), NULL, entry, NULL)) {
		cli_fail();
		return false;
	}
	if (entry->length == (xb_entry_is_ipv4(entry) ? 32 : 128) ||
	    (!xb_entry_is_ipv4(entry) && entry->length == 64))
		return true;
	xb_input_error("%s is not one source: sources are IPv4 addresses and IPv6 /64s", argv[2]);
	cli_fail();
	return false;
}

static int run_test(struct cli *cli, int argc, char **argv)
{
	struct xb_entry entry;
	bool known;
	int error;

	if (!parse_address(cli, argc, argv, &entry))
		return EXIT_USAGE;
	error = xb_known_test(&cli->paths, xb_entry_is_ipv4(&entry), entry.hi, &known);
	if (error == -ENOENT)
		return tell_off();
	if (error)
		return cli_fail();
	if (cli->json)
		cli_json(cli, json_pack("{s:s,s:b}", "source", argv[2], "known", known));
	else
		printf("%s is %s\n", argv[2], known ? "known" : "not known");
	return cli_done(known ? EXIT_DONE : EXIT_ABSENT);
}

static int run_forget(struct cli *cli, int argc, char **argv)
{
	struct xb_entry entry;
	double others;
	bool known;
	int error;

	if (!parse_address(cli, argc, argv, &entry))
		return EXIT_USAGE;
	error = xb_known_forget(&cli->paths, xb_entry_is_ipv4(&entry), entry.hi, &known, &others);
	if (error == -ENOENT)
		return tell_off();
	if (error)
		return cli_fail();
	if (known)
		xb_admission_look(&cli->paths);
	if (cli->json)
		cli_json(cli, json_pack("{s:s,s:b,s:f}", "source", argv[2], "was_known", known,
					"others_forgotten", others));
	else if (known)
		xb_notice("forgotten, until it connects again; with it, by estimate, %.1f other "
			  "sources that shared the bit",
			  others);
	else
		printf("%s is not known\n", argv[2]);
	return cli_done(known ? EXIT_DONE : EXIT_ABSENT);
}

/* --- status --- */

static const char *duration(uint64_t seconds, char text[32])
{
	if (seconds >= 2 * 86400)
		snprintf(text, 32, "%.1f days", (double)seconds / 86400);
	else if (seconds >= 2 * 3600)
		snprintf(text, 32, "%.1f hours", (double)seconds / 3600);
	else
		snprintf(text, 32, "%llu s", (unsigned long long)seconds);
	return text;
}

static int status_json(const struct cli *cli, const struct xb_known_wish *wish,
		       const struct xb_known_view *view)
{
	return cli_json(
		cli,
		json_pack("{s:b,s:b,s:b,s:I,s:I,s:I,s:I,s:f,s:f,s:f,s:f,s:f,s:I,s:I,s:I,s:I,s:I}",
			  "on", wish->on, "learning", view->learns, "elsewhere", view->elsewhere,
			  "remember", (json_int_t)wish->remember, "period_ends_in",
			  (json_int_t)view->left, "capacity", (json_int_t)view->capacity, "sets",
			  (json_int_t)view->sets, "fpr", wish->rate, "fpr_now", view->rate,
			  "sources", view->sources, "sources_this_period", view->now,
			  "sources_former_period", view->before, "memory",
			  (json_int_t)(view->lines * sizeof(struct xb_known_line)), "learned",
			  (json_int_t)view->learned, "renewed", (json_int_t)view->renewed, "lost",
			  (json_int_t)view->lost, "saved", (json_int_t)view->saved));
}

static void print_status(const struct xb_known_wish *wish, const struct xb_known_view *view,
			 uint64_t mine)
{
	char text[32];

	if (!wish->on && view->there && view->store == mine) {
		puts("known       off, BUT SOURCES ARE LEARNED until they can be saved; `bloomctl "
		     "up` tries again");
		return;
	}
	if (!wish->on || !view->there) {
		puts(wish->on ? "known       wanted, but nothing is remembered; `bloomctl up` "
				"repairs it"
			      : "known       off");
		return;
	}
	printf("known       %s\n", !view->learns ? "NOBODY NEW IS LEARNED; `bloomctl up` repairs it"
				   : view->elsewhere ? "learning, in another network namespace"
						     : "learning");
	printf("  sources   about %.0f; this period about %.0f, the former %.0f\n", view->sources,
	       view->now, view->before);
	printf("  remember  %s", duration(view->remember, text));
	printf(", at most twice; the period ends in %s\n", duration(view->left, text));
	printf("  filter    room for %llu in a period, %s, %u set%s\n",
	       (unsigned long long)view->capacity,
	       cli_bytes(view->lines * sizeof(struct xb_known_line)), view->sets,
	       view->sets == 1 ? "" : "s");
	printf("  strangers taken for known: %.2g of them now, %s promised\n", view->rate,
	       XB_NUMBER(wish->rate));
	if (view->saved)
		printf("  saved     %s\n", xb_time_format((uint64_t)view->saved, text));
	else
		puts("  saved     never");
}

static int run_status(struct cli *cli, int argc, char **argv)
{
	struct xb_known_wish wish;
	struct xb_known_view view;
	uint64_t mine;

	(void)argv;
	if (argc > 2)
		return cli_usage(cli, "known status takes no arguments");
	if (read_wish(cli, &wish, &mine) || xb_known_look(&cli->paths, &view))
		return cli_fail();
	if (cli->json)
		return status_json(cli, &wish, &view);
	print_status(&wish, &view, mine);
	return cli_done(EXIT_DONE);
}

static const struct verb known_on_verb = {
	.above = "known",
	.name = "on",
	.options = on_options,
	.run = run_on,
	.examples = {"known on", "known on --remember 14d --capacity 1000000"},
};

static const struct verb known_off_verb = {
	.above = "known",
	.name = "off",
	.run = run_off,
	.examples = {"known off"},
};

static const struct verb known_status_verb = {
	.above = "known",
	.name = "status",
	.run = run_status,
	.examples = {"known status", "-j known status"},
};

static const struct verb known_test_verb = {
	.above = "known",
	.name = "test",
	.operands = {{.name = "ADDRESS"}},
	.run = run_test,
	.examples = {"known test 192.0.2.7", "known test 2001:db8::1"},
};

static const struct verb known_forget_verb = {
	.above = "known",
	.name = "forget",
	.operands = {{.name = "ADDRESS"}},
	.run = run_forget,
	.examples = {"known forget 192.0.2.7"},
};

static const struct verb known_save_verb = {
	.above = "known",
	.name = "save",
	.run = run_save,
	.examples = {"known save"},
};

static const struct verb known_clear_verb = {
	.above = "known",
	.name = "clear",
	.run = run_clear,
	.examples = {"known clear"},
};

static const struct verb *const below[] = {
	&known_on_verb,	    &known_off_verb,  &known_status_verb, &known_test_verb,
	&known_forget_verb, &known_save_verb, &known_clear_verb,  NULL,
};

static int run(struct cli *cli, int argc, char **argv)
{
	const struct verb *verb = argc > 1 ? verb_find(below, argv[1]) : &known_status_verb;
	char hint[SUGGEST_BYTES];

	if (!verb)
		return cli_usage(cli, "unknown command 'known %s'%s", argv[1],
				 suggest_verb(below, argv[1], hint));
	cli->verb = verb;
	return verb->run(cli, argc, argv);
}

const struct verb verb_known = {
	.name = "known",
	.summary = "remember who connects, for the policy allow-only --known",
	.below = below,
	.run = run,
	.examples = {"known on --remember 30d", "known status"},
};
