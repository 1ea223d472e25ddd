/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl flush */
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "bloomctl/cli.h"
#include "engine/writepath.h"
#include "store/fleet.h"
#include "store/flush.h"

struct request {
	const char *list;
	uint64_t removed;
	char stay[512]; /* names of lists that are shared, which stay */
};

static int flush_list(struct xb_writer *writer, struct request *request)
{
	struct xb_list *list = xb_list_find(writer->txn, request->list);

	int error;

	if (!list)
		return cli_no_list(request->list);
	error = xb_share_check_ours(writer->txn, request->list);
	return error ? error : xb_flush_list(writer->txn, list->id, &request->removed);
}

static uint64_t listed(const struct xb_txn *txn)
{
	const struct xb_totals *totals = &txn->meta.totals;

	return totals->prefix4 + totals->host4 + totals->net6 + totals->names + totals->exceptions;
}

/* What stays, for the user. The names are long, and may be many. */
static void note_shared(const struct xb_txn *txn, struct request *request)
{
	size_t count, used = 0;
	const struct xb_share *shares = xb_shares(txn, &count);

	request->stay[0] = '\0';
	for (size_t i = 0; i < count && used < sizeof(request->stay); i++)
		used += (size_t)snprintf(request->stay + used, sizeof(request->stay) - used, "%s%s",
					 i ? ", " : "", shares[i].list);
}

static int body(struct xb_writer *writer, void *context)
{
	struct request *request = context;
	uint64_t before = listed(writer->txn);
	int error;

	request->removed = 0;
	if (request->list)
		return flush_list(writer, request);
	note_shared(writer->txn, request);
	error = before ? xb_flush_listed(writer->txn) : 0;
	request->removed = before - listed(writer->txn);
	return error;
}

static bool confirmed(const char *list)
{
	int answer;

	fprintf(stderr, "Empty %s%s? [y/N] ", list ? "list " : "all lists", list ? list : "");
	answer = getchar();
	return answer == 'y' || answer == 'Y';
}

static const struct option_spec options[] = {
	{"list", "NAME", 'l', .help = "the list; all if none is named", .offers = OFFER_LISTS},
	{"yes", NULL, 'y', .help = "do not ask"},
	{0},
};

static int run(struct cli *cli, int argc, char **argv)
{
	struct request request = {0};
	bool yes = false;
	int option;

	while ((option = cli_option(cli, argc, argv, options)) != -1) {
		if (option == 'l')
			request.list = optarg;
		else if (option == 'y')
			yes = true;
		else
			return EXIT_USAGE;
	}
	if (request.list && !cli_list_name(cli, request.list))
		return EXIT_USAGE;
	if (optind != argc)
		return cli_usage(cli, "flush takes no entries");
	if (!yes && !isatty(STDIN_FILENO))
		return cli_usage(cli, "flush asks on a terminal; without one it needs --yes");
	if (!yes && !confirmed(request.list))
		return EXIT_USAGE;
	if (xb_write(&cli->paths, 0, body, &request, cli->written))
		return cli_fail();
	if (request.stay[0])
		xb_notice("shared with the fleet, and therefore not emptied: %s", request.stay);
	if (cli->json)
		return cli_json(cli, json_pack("{s:I}", "removed", (json_int_t)request.removed));
	return EXIT_DONE;
}

const struct verb verb_flush = {
	.name = "flush",
	.summary = "empty one list, or all of them",
	.options = options,
	.run = run,
	.examples = {"flush --list mine", "flush --yes"},
};
