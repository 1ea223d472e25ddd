/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl limit: how much each source may send, how often each name may be asked for, and how many
 * queries are answered. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "bloomctl/cli.h"
#include "bloomctl/limitlist.h"
#include "bloomctl/rollback.h"
#include "bloomctl/vethtx.h"
#include "cli/suggest.h"
#include "engine/limiting.h"
#include "engine/settingsjson.h"
#include "engine/writepath.h"
#include "store/knownwish.h"

/* --- add and del --- */

static void tell_unlisted(const struct cli *cli, const struct xb_limit *limit)
{
	struct xb_known_wish known = {0};
	uint32_t policy;
	char why[XB_LIMIT_WHY];
	struct xb_store *store;
	struct xb_txn *txn;
	int error = *limit->list ? xb_store_begin_reading(cli->paths.state, &store, &txn) : -ENOENT;

	if (error)
		return;
	error = xb_known_wish_get(txn, &known);
	policy = txn->meta.policy;
	xb_store_end_reading(store, txn);
	if (!error && !xb_limit_is_listed(&cli->paths, limit, policy, known.on, why))
		xb_notice("%s", why);
}

static int make_add(struct cli *cli)
{
	if (xb_limit_wish(&cli->paths, cli->wish, cli->written))
		return cli_fail();
	tell_unlisted(cli, &cli->wish->request->limit_add);
	if (cli->wish->request->limit_add.truncates)
		vethtx_note(cli, NULL, 0);
	if (cli->json)
		return cli_json(cli, xb_limit_json("name", &cli->wish->request->limit_add));
	return EXIT_DONE;
}

static int make_del(struct cli *cli)
{
	int error = xb_limit_wish(&cli->paths, cli->wish, cli->written);

	if (error)
		return cli_fail(), error == 1 ? EXIT_ABSENT : exitcode_of_error();
	if (cli->json)
		return cli_json(cli, json_pack("{s:s}", "deleted", cli->wish->request->limit_del));
	return EXIT_DONE;
}

static int make(struct cli *cli)
{
	return cli->wish->request->kind == XB_REQUEST_LIMIT_ADD ? make_add(cli) : make_del(cli);
}

static const struct option_spec add_options[] = {
	{"to", "SERVICE,...|all", 't', .help = "count packets to these services", .needed = true},
	{"rate", "NUMBER/TIME", 'r', .help = "what each source may send, as 100/s, 10/m or 5k/h",
	 .needed = true},
	{"burst", "AMOUNT", 'b', .help = "what it may send at once (default: that of 2 s)"},
	{"per", "BITS,...|name", 'p',
	 .help = "bits of a source (default 32,64); or of names asked for"},
	{"of", "packets|bytes|connections|queries", 'o',
	 .help = "what is counted (default packets)"},
	{"over", "drop|count|truncate", 'v',
	 .help = "what becomes of the rest (default drop; names: truncate)"},
	{"capacity", "SOURCES", 'c',
	 .help = "sources over their rate at once to expect (default 16384)"},
	{"known", "MULTIPLE|exempt", 'k',
	 .help = "known sources may send so many times as much, as 10x"},
	{"list", "NAME", 'l', .help = "list the sources over the limit, by bloomd",
	 .offers = OFFER_LISTS_TO_FILL},
	{"timeout", "TIME[..LONGEST]", 'm',
	 .help = "how long, doubling up to LONGEST (default 10m)"},
	{"forgeable", NULL, 'f', .help = "also sources that others may have forged"},
	ROLLBACK_OPTION,
	{0},
};

/* "10m" or "10m..1d". */
static int take_timeout(const struct cli *cli, const char *text, struct xb_limit *limit)
{
	const char *points = strstr(text, "..");
	uint64_t first, longest;
	char word[32];

	snprintf(word, sizeof(word), "%.*s", points ? (int)(points - text) : 0, text);
	if (points && (size_t)(points - text) >= sizeof(word))
		return cli_usage(cli, "--timeout takes a time, or two as in 10m..1d");
	if (!cli_seconds(cli, "--timeout", points ? word : text, 1, XB_LIMIT_TIMEOUT_MAX, &first) ||
	    (points &&
	     !cli_seconds(cli, "--timeout", points + 2, first, XB_LIMIT_TIMEOUT_MAX, &longest)))
		return EXIT_USAGE;
	limit->timeout = (uint32_t)first;
	limit->longest = (uint32_t)(points ? longest : first);
	return EXIT_DONE;
}

static int take_list(const struct cli *cli, const char *name, struct xb_limit *limit)
{
	if (!cli_list_to_fill(cli, name))
		return EXIT_USAGE;
	strcpy(limit->list, name);
	return EXIT_DONE;
}

/* What becomes of sources that are over the limit, or known. */
static int take_consequence(const struct cli *cli, int option, struct xb_limit *limit)
{
	switch (option) {
	case 'k':
		return xb_limit_parse_known(optarg, &limit->known) ? cli_fail() : EXIT_DONE;
	case 'l':
		return take_list(cli, optarg, limit);
	case 'm':
		return take_timeout(cli, optarg, limit);
	case 'f':
		limit->forgeable = true;
		return EXIT_DONE;
	}
	return EXIT_USAGE;
}

static int take_option(const struct cli *cli, int option, struct xb_limit *limit)
{
	switch (option) {
	case 't':
		return xb_scope_parse(optarg, &limit->scope) ? cli_fail() : EXIT_DONE;
	case 'r':
		return xb_limit_parse_rate(optarg, &limit->rate, &limit->period) ? cli_fail()
										 : EXIT_DONE;
	case 'b':
		return xb_limit_parse_number(optarg, "burst", &limit->burst) ? cli_fail()
									     : EXIT_DONE;
	case 'p':
		return xb_limit_parse_per(optarg, limit) ? cli_fail() : EXIT_DONE;
	case 'o':
		return xb_limit_parse_unit(optarg, &limit->of) ? cli_fail() : EXIT_DONE;
	case 'v':
		return xb_limit_parse_over(optarg, limit) ? cli_fail() : EXIT_DONE;
	case 'c':
		return cli_number(cli, "--capacity", optarg, 1, XB_LIMIT_CAPACITY_MAX,
				  &limit->capacity)
			       ? EXIT_DONE
			       : EXIT_USAGE;
	}
	return take_consequence(cli, option, limit);
}

static int run_add(struct cli *cli, int argc, char **argv)
{
	struct xb_request request = {.kind = XB_REQUEST_LIMIT_ADD, .limit_add = xb_limit_defaults};
	struct xb_limit *limit = &request.limit_add;
	bool serves = false, lasts = false, judges = false;
	int option, code;

	argc--, argv++;
	while ((option = cli_option(cli, argc, argv, add_options)) != -1) {
		code = take_option(cli, option, limit);
		if (code)
			return code;
		serves |= option == 't';
		lasts |= option == 'm';
		judges |= option == 'v';
	}
	if (argc - optind != 1)
		return cli_usage(cli, "limit add takes a name");
	if (!serves || !limit->rate)
		return cli_usage(cli, "limit add needs --to and --rate");
	if (lasts && !*limit->list)
		return cli_usage(cli, "--timeout needs --list");
	if (!judges)
		xb_limit_over_by_default(limit);
	if (xb_limit_parse_name(argv[optind], limit->name) || xb_limit_complete(limit))
		return cli_fail();
	cli->wish->request = &request;
	return make_add(cli);
}

static const struct option_spec del_options[] = {
	ROLLBACK_OPTION,
	{0},
};

static int run_del(struct cli *cli, int argc, char **argv)
{
	struct xb_request request = {.kind = XB_REQUEST_LIMIT_DEL};
	char name[XB_LIMIT_NAME];

	argc--, argv++;
	if (cli_option(cli, argc, argv, del_options) != -1)
		return EXIT_USAGE;
	if (argc - optind != 1)
		return cli_usage(cli, "limit del takes the name of a limit");
	if (xb_limit_parse_name(argv[optind], name))
		return cli_fail();
	request.limit_del = name;
	cli->wish->request = &request;
	return make_del(cli);
}

/* --- list and reset --- */

static int run_list(struct cli *cli, int argc, char **argv)
{
	(void)argv;
	if (argc > 2)
		return cli_usage(cli, "limit list takes no arguments");
	return limitlist(cli);
}

static int run_reset(struct cli *cli, int argc, char **argv)
{
	uint32_t limits;
	int error;

	(void)argv;
	if (argc > 2)
		return cli_usage(cli, "limit reset takes no arguments");
	error = xb_limits_reset(&cli->paths, &limits);
	if (error)
		return cli_fail(), error == 1 ? EXIT_ABSENT : exitcode_of_error();
	return cli->json ? cli_json(cli, json_pack("{s:i}", "reset", (int)limits)) : EXIT_DONE;
}

/* --- answers --- */

static int set_answers(struct xb_writer *writer, void *context)
{
	const uint32_t *limit = context;
	struct xb_meta *meta = &writer->txn->meta;

	if (meta->answer_limit == *limit)
		return 0;
	meta->answer_limit = *limit;
	writer->txn->edits++;
	return 0;
}

static int answer(const struct cli *cli, uint32_t limit)
{
	if (cli->json)
		return cli_json(cli, json_pack("{s:I}", "answer_limit", (json_int_t)limit));
	if (limit)
		printf("%u\n", limit);
	else
		puts("off");
	return cli_done(EXIT_DONE);
}

static int show_answers(const struct cli *cli)
{
	uint32_t limit = XB_ANSWER_LIMIT;
	struct xb_store *store;
	struct xb_txn *txn;
	int error = xb_store_begin_reading(cli->paths.state, &store, &txn);

	if (!error)
		limit = txn->meta.answer_limit;
	xb_store_end_reading(store, txn);
	return error && error != -ENOENT ? cli_fail() : answer(cli, limit);
}

/* argv[0]: the word in front of the number. */
static int answers(struct cli *cli, int argc, char **argv)
{
	uint64_t number = 0;
	uint32_t limit;

	if (cli_option(cli, argc, argv, NULL) != -1)
		return EXIT_USAGE;
	argc -= optind;
	argv += optind;
	if (argc > 1)
		return cli_usage(cli, "limit answers takes a number of answers a second, or off");
	if (!argc)
		return show_answers(cli);
	if (strcmp(argv[0], "off") &&
	    !cli_number(cli, "limit answers", argv[0], 1, XB_ANSWER_LIMIT_MAX, &number))
		return EXIT_USAGE;
	limit = (uint32_t)number;
	if (xb_write(&cli->paths, 0, set_answers, &limit, cli->written))
		return cli_fail();
	return cli->json ? answer(cli, limit) : EXIT_DONE;
}

static int run_answers(struct cli *cli, int argc, char **argv)
{
	return answers(cli, argc - 1, argv + 1);
}

static const struct verb limit_add_verb = {
	.above = "limit",
	.name = "add",
	.operands = {{.name = "NAME"}},
	.options = add_options,
	.run = run_add,
	.examples =
		{"limit add dns --to udp/53 --rate 100/s --of queries",
		 "limit add web --to tcp/80,tcp/443 --rate 20/s --of connections --rollback 60"},
};

static const struct verb limit_list_verb = {
	.above = "limit",
	.name = "list",
	.run = run_list,
	.examples = {"limit list", "-j limit list"},
};

static const struct verb limit_del_verb = {
	.above = "limit",
	.name = "del",
	.operands = {{.name = "NAME", .offers = OFFER_LIMITS}},
	.options = del_options,
	.run = run_del,
	.examples = {"limit del dns", "limit del dns --rollback 60"},
};

static const struct verb limit_reset_verb = {
	.above = "limit",
	.name = "reset",
	.run = run_reset,
	.examples = {"limit reset", "-j limit reset"},
};

static const struct verb limit_answers_verb = {
	.above = "limit",
	.name = "answers",
	.operands = {{"ANSWERS|off", .optional = true}},
	.run = run_answers,
	.examples = {"limit answers", "limit answers 5000"},
};

static const struct verb *const below[] = {
	&limit_add_verb,   &limit_list_verb,	&limit_del_verb,
	&limit_reset_verb, &limit_answers_verb, NULL,
};

/* Before sources had limits, `limit` was about answers alone. */
static bool is_of_answers(const char *word)
{
	return isdigit((unsigned char)*word) || !strcmp(word, "off");
}

static int run(struct cli *cli, int argc, char **argv)
{
	const struct verb *verb = argc > 1 ? verb_find(below, argv[1]) : NULL;
	char hint[SUGGEST_BYTES];

	if (!verb && argc > 1 && !is_of_answers(argv[1]))
		return cli_usage(cli, "unknown command 'limit %s'%s", argv[1],
				 suggest_verb(below, argv[1], hint));
	cli->verb = verb ? verb : &limit_answers_verb;
	return verb ? verb->run(cli, argc, argv) : answers(cli, argc, argv);
}

const struct verb verb_limit = {
	.name = "limit",
	.summary = "limit what each source may send, and how many queries are answered",
	.below = below,
	.run = run,
	.make = make,
	.examples = {"limit add dns --to udp/53 --rate 100/s", "limit list"},
};
