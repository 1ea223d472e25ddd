/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl policy */
#include "core/policy.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>

#include "cli.h"
#include "core/error.h"
#include "rollback.h"

struct request {
	uint32_t policy;
	bool force;
};

static int body(struct xb_writer *writer, void *context)
{
	const struct request *request = context;
	struct xb_meta *meta = &writer->txn->meta;
	const struct xb_totals *totals = &meta->totals;

	if (request->policy == XB_POLICY_ALLOW_ONLY) {
		if (!(totals->host4 + totals->prefix4 + totals->net6) && !request->force)
			return xb_input_error("no source is listed: allow-only would shut "
					      "everybody out (--force does it all the same)");
	}
	meta->policy = request->policy;
	writer->txn->edits++;
	return 0;
}

static int show(const struct cli *cli)
{
	struct xb_store *store;
	struct xb_txn *txn = NULL;
	uint32_t policy = XB_POLICY_ENFORCE;
	int error = xb_store_open(cli->paths.state, false, &store);

	if (!error)
		error = xb_store_read(store, &txn);
	if (!error)
		policy = txn->meta.policy;
	xb_txn_abort(txn);
	xb_store_close(error == -ENOENT ? NULL : store);
	if (error && error != -ENOENT)
		return cli_fail();
	if (cli->json)
		return cli_json(cli, json_pack("{s:s}", "policy", xb_policy_name(policy)));
	puts(xb_policy_name(policy));
	return cli_done(EXIT_DONE);
}

int verb_policy(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {{"force", no_argument, NULL, 'f'}, {0}};
	struct request request = {0};
	int option;

	while ((option = cli_option(cli, argc, argv, options)) != -1)
		if (option != 'f')
			return EXIT_USAGE;
		else
			request.force = true;
	if (optind == argc && cli->wish.seconds)
		return cli_usage(cli, "without a policy there is nothing to roll back");
	if (optind == argc)
		return show(cli);
	if (argc - optind != 1)
		return cli_usage(cli, "policy takes one of enforce, monitor, allow-only");
	if (xb_policy_parse(argv[optind], &request.policy))
		return cli_fail();
	if (rollback_write(cli, XB_WRITE_SURVEY, body, &request))
		return cli_fail();
	if (request.policy == XB_POLICY_ALLOW_ONLY)
		cli_note(cli, "bloomctl: from now on only listed sources pass, with ARP, neighbour "
			      "discovery and what `bloomctl allow list` shows (name, time and DHCP "
			      "servers in use among it); replies to connections this machine opens "
			      "to others are dropped too");
	if (cli->json)
		return cli_json(cli, json_pack("{s:s}", "policy", xb_policy_name(request.policy)));
	return EXIT_DONE;
}
