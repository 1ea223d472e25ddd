/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl aggregate: from many hosts of a list to the networks that they are in. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "bloomctl/addnotes.h"
#include "bloomctl/edit.h"
#include "bloomctl/exempted.h"
#include "engine/aggregate.h"
#include "engine/writepath.h"
#include "model/bogon.h"
#include "store/expiry.h"

#define LEAST	  8
#define LENGTH4	  24
#define LENGTH6	  64
#define SHORTEST4 16
#define LONGEST4  31
#define LONGEST6  127

struct work {
	struct xb_aggregate_terms terms;
	struct xb_aggregates found;
	struct xb_edit_result result;
};

static int find(struct xb_txn *txn, struct work *work, uint32_t now)
{
	int error = xb_aggregates_find(txn, &work->terms, now, &work->found);

	return error == -ENOENT ? cli_no_list(work->terms.list) : error;
}

/* Looks without a lock, since a timer asks all the time. */
static int propose(const struct cli *cli, struct work *work)
{
	uint32_t now = (uint32_t)time(NULL);
	struct xb_store *store;
	struct xb_txn *txn;
	uint64_t expired;
	int error = xb_store_begin_reading(cli->paths.state, &store, &txn);

	if (error == -ENOENT)
		return cli_no_list(work->terms.list);
	if (error)
		return error;
	error = xb_expiry_overlook(txn, now, &expired);
	if (!error)
		error = find(txn, work, now);
	xb_store_end_reading(store, txn);
	return error;
}

static int body(struct xb_writer *writer, void *context)
{
	struct work *work = context;
	struct xb_edit_refusal refusal = {0};
	int error = find(writer->txn, work, writer->now);

	if (!error)
		error = xb_aggregates_add(writer, &work->terms, &work->found, &work->result,
					  &refusal);
	return error == XB_EDIT_REFUSED ? edit_refused(&refusal) : error;
}

static json_t *found_json(const struct xb_aggregates *found)
{
	json_t *prefixes = json_array();
	char text[XB_ENTRY_TEXT];

	for (size_t i = 0; i < found->count; i++)
		json_array_append_new(prefixes,
				      json_pack("{s:s,s:I}", "prefix",
						xb_entry_format(&found->item[i].prefix, text),
						"entries", (json_int_t)found->item[i].entries));
	return prefixes;
}

static int answer(const struct cli *cli, const struct work *work)
{
	const struct xb_aggregates *found = &work->found;
	char text[XB_ENTRY_TEXT];

	exempted_note(&work->result.exempt);
	if (work->terms.timeout && found->count)
		addnotes_timeout(cli);
	if (cli->json)
		return cli_json(cli, json_pack("{s:o,s:I,s:I}", "prefixes", found_json(found),
					       "added", (json_int_t)work->result.added, "renewed",
					       (json_int_t)work->result.renewed));
	for (size_t i = 0; i < found->count && !(cli->quiet && work->terms.timeout); i++)
		printf("%s has %" PRIu64 " entries of %s\n",
		       xb_entry_format(&found->item[i].prefix, text), found->item[i].entries,
		       work->terms.list);
	return cli_done(EXIT_DONE);
}

static int aggregate(const struct cli *cli, struct work *work)
{
	int error = propose(cli, work);

	if (!error && work->terms.timeout && work->found.count)
		error = xb_write(&cli->paths, 0, body, work, cli->written);
	return error ? cli_fail() : answer(cli, work);
}

/* A length that IPv4 prefixes of networks have is meant for IPv4, a longer one for IPv6. */
static bool take_length(const struct cli *cli, const char *text, struct xb_aggregate_terms *terms)
{
	uint64_t length;

	if (!cli_number(cli, "--to", text, SHORTEST4, LONGEST6, &length))
		return false;
	terms->length4 = length <= LONGEST4 ? (uint8_t)length : 0;
	terms->length6 = length <= LONGEST4 ? 0 : (uint8_t)length;
	return true;
}

static const struct option_spec options[] = {
	{"from", "NUMBER", 'f', .help = "so many entries make their prefix (default 8)"},
	{"to", "LENGTH", 't',
	 .help = "of the prefixes: 16 to 31 IPv4, 32 to 127 IPv6 (default 24 and 64)"},
	{"apply", NULL, 'a', .help = "add them to the list, for the time of --timeout"},
	{"into", "NAME", 'i', .help = "add them to this list instead",
	 .offers = OFFER_LISTS_TO_FILL},
	{"timeout", "SECONDS", 'o',
	 .help = "take them out after this time, unless it is applied again"},
	{0},
};

static bool take_option(const struct cli *cli, int option, struct xb_aggregate_terms *terms,
			bool *applies)
{
	uint64_t number;

	switch (option) {
	case 'f':
		if (!cli_number(cli, "--from", optarg, 2, UINT32_MAX, &terms->least))
			return false;
		return true;
	case 't':
		return take_length(cli, optarg, terms);
	case 'a':
		*applies = true;
		return true;
	case 'i':
		terms->into = optarg;
		return cli_list_to_fill(cli, optarg);
	case 'o':
		if (!cli_seconds(cli, "--timeout", optarg, 1, 2000000000, &number))
			return false;
		terms->timeout = (uint32_t)number;
		return true;
	default:
		return false;
	}
}

static int run(struct cli *cli, int argc, char **argv)
{
	struct work work = {.terms = {.least = LEAST, .length4 = LENGTH4, .length6 = LENGTH6}};
	bool applies = false;
	int option, code;

	while ((option = cli_option(cli, argc, argv, options)) != -1)
		if (!take_option(cli, option, &work.terms, &applies))
			return EXIT_USAGE;
	if (optind + 1 != argc)
		return cli_usage(cli, "aggregate takes one list");
	if (applies != !!work.terms.timeout)
		return cli_usage(
			cli,
			"--apply and --timeout go together: the prefixes are listed for a while");
	work.terms.list = argv[optind];
	if (!cli_list_to_fill(cli, work.terms.list))
		return EXIT_USAGE;
	if (!work.terms.into)
		work.terms.into = work.terms.list;
	code = aggregate(cli, &work);
	xb_edit_result_free(&work.result);
	xb_aggregates_free(&work.found);
	return code;
}

const struct verb verb_aggregate = {
	.name = "aggregate",
	.summary = "find the networks that many entries of a list are in, and list them",
	.operands = {{"LIST", .offers = OFFER_LISTS_TO_FILL}},
	.options = options,
	.run = run,
	.examples = {"aggregate fail2ban",
		     "aggregate fail2ban --from 16 --to 24 --apply --timeout 1d"},
};
