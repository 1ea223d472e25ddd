/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl verdict: what happens to queries for the domains of a list. */
#include "model/verdict.h"

#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "bloomctl/answers.h"
#include "bloomctl/cli.h"
#include "bloomctl/rollback.h"
#include "bloomctl/tried.h"
#include "engine/settings.h"
#include "store/membership.h"

/* A list and what happens to queries for its domains now, which may be on trial. */
struct answer {
	const char *list, *stored; /* stored: NULL if there is no such list yet */
	uint32_t now;
	bool tried;
};

static struct answer answer_of(const char *name, const struct xb_list *list,
			       const struct tried *tried)
{
	struct answer answer = {.list = name};

	if (list) {
		answer.stored = xb_domain_verdict_name(list->verdict);
		answer.now = list->verdict;
	}
	answer.tried = tried_verdict(tried, name, &answer.now);
	return answer;
}

static json_t *answer_json(const struct answer *answer, const struct tried *tried)
{
	const char *now = xb_domain_verdict_name(answer->now);

	return json_pack("{s:s,s:s?,s:o*}", "list", answer->list, "verdict", answer->stored,
			 "trial", answer->tried ? tried_json(tried, "verdict", now) : NULL);
}

static void print_answer(const struct answer *answer, const struct tried *tried)
{
	fputs(xb_domain_verdict_name(answer->now), stdout);
	if (answer->tried)
		tried_print(tried->left, answer->stored ? answer->stored : "no such list");
	putchar('\n');
}

static int show_all(const struct cli *cli, const struct xb_txn *txn, const struct tried *tried)
{
	json_t *verdicts = json_array();

	for (size_t i = 0; txn && i < txn->list_count; i++) {
		const struct xb_list *list = &txn->lists[i];
		struct answer answer = answer_of(list->name, list, tried);

		if (!xb_list_has_verdict(list))
			continue;
		if (cli->json) {
			json_array_append_new(verdicts, answer_json(&answer, tried));
		} else {
			printf("%s ", list->name);
			print_answer(&answer, tried);
		}
	}
	if (cli->json)
		return cli_json(cli, json_pack("{s:o}", "verdicts", verdicts));
	json_decref(verdicts);
	return cli_done(EXIT_DONE);
}

static int show_one(const struct cli *cli, struct xb_txn *txn, const char *name,
		    const struct tried *tried)
{
	const struct xb_list *list = txn ? xb_list_find(txn, name) : NULL;
	struct answer answer = answer_of(name, list, tried);

	if (list && !xb_list_has_verdict(list)) {
		xb_input_error("list %s has no verdict: what it allows passes", name);
		return cli_fail();
	}
	if (!list && !answer.tried) {
		cli_no_list(name);
		return cli_fail();
	}
	if (cli->json)
		return cli_json(cli, answer_json(&answer, tried));
	print_answer(&answer, tried);
	return cli_done(EXIT_DONE);
}

/* name: NULL for all. */
static int show(const struct cli *cli, const char *name)
{
	struct xb_store *store;
	struct xb_txn *txn = NULL;
	struct tried tried = {0};
	int error = xb_store_open(cli->paths.state, XB_STORE_READ, &store), code;

	if (!error)
		error = xb_store_read(store, &txn);
	if (!error)
		error = tried_open(cli, txn, &tried);
	if (error && error != -ENOENT)
		code = cli_fail();
	else
		code = name ? show_one(cli, txn, name, &tried) : show_all(cli, txn, &tried);
	tried_close(&tried);
	xb_txn_abort(txn);
	xb_store_close(store);
	return code;
}

static const struct option_spec options[] = {
	ROLLBACK_OPTION,
	{0},
};

static int make(struct cli *cli)
{
	const struct xb_verdict_request *request = &cli->wish.request->verdict;

	if (xb_verdict_wish(&cli->paths, &cli->wish, cli->written))
		return cli_fail();
	if (answers_by(request->verdict))
		answers_note(cli, NULL, 0);
	if (cli->json)
		return cli_json(cli, json_pack("{s:s,s:s}", "list", request->list, "verdict",
					       xb_domain_verdict_name(request->verdict)));
	return EXIT_DONE;
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct xb_request request = {.kind = XB_REQUEST_VERDICT};

	if (cli_option(cli, argc, argv, options) != -1)
		return EXIT_USAGE;
	if (argc - optind > 2)
		return cli_usage(cli, "verdict takes a list and a verdict for its domains");
	if (optind < argc && !cli_list_name(cli, argv[optind]))
		return EXIT_USAGE;
	if (argc - optind < 2 && cli->wish.seconds)
		return cli_usage(cli, "without a verdict there is nothing to roll back");
	if (argc - optind < 2)
		return show(cli, optind < argc ? argv[optind] : NULL);
	request.verdict.list = argv[optind];
	if (!cli_list_to_fill(cli, request.verdict.list))
		return EXIT_USAGE;
	if (xb_domain_verdict_parse(argv[optind + 1], &request.verdict.verdict))
		return cli_fail();
	cli->wish.request = &request;
	return make(cli);
}

const struct verb verb_verdict = {
	.name = "verdict",
	.summary = "set what happens to queries for the domains of a list",
	.operands = {{"LIST", .optional = true, .offers = OFFER_LISTS_TO_FILL},
		     {"drop|refused|nxdomain|truncate|count", .optional = true}},
	.options = options,
	.run = run,
	.make = make,
	.examples = {"verdict", "verdict ads nxdomain"},
};
