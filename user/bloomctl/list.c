/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl list */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>

#include "cli.h"
#include "core/error.h"
#include "show.h"

static int print_all(const struct cli *cli, struct xb_txn *txn, uint32_t only)
{
	struct xb_membership member;
	struct xb_walk walk;
	bool first = true;
	int more, error = xb_walk_begin(&walk, txn, &XB_WALK_LISTED);

	if (error)
		return error;
	while ((more = xb_walk_next(&walk)) > 0) {
		if (only != XB_ANY_LIST && !xb_members_have(walk.members, only, &member))
			continue;
		if (cli->json)
			cli_array_item(cli, show_entry_json(txn, &walk.entry, walk.members, only),
				       first);
		else
			show_entry(txn, &walk.entry, walk.members, only);
		first = false;
	}
	xb_walk_end(&walk);
	return more;
}

static int print(const struct cli *cli, struct xb_store *store, const char *name)
{
	uint32_t only = XB_ANY_LIST;
	struct xb_txn *txn;
	int error = xb_store_read(store, &txn);

	if (error)
		return error;
	if (name) {
		const struct xb_list *list = xb_list_find(txn, name);

		if (!list)
			error = xb_input_error("there is no list %s", name);
		else
			only = list->id;
	}
	if (!error && cli->json)
		cli_array_begin(cli, "entries");
	if (!error)
		error = print_all(cli, txn, only);
	xb_txn_abort(txn);
	return error;
}

int verb_list(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {{"list", required_argument, NULL, 'l'}, {0}};
	const char *name = NULL;
	struct xb_store *store;
	int option, error;

	while ((option = cli_option(cli, argc, argv, options)) != -1)
		if (option != 'l')
			return EXIT_USAGE;
		else
			name = optarg;
	if (optind != argc)
		return cli_usage(cli, "list takes no entries");
	error = xb_store_open(cli->paths.state, false, &store);
	if (error == -ENOENT && !name) {
		if (!cli->json)
			return EXIT_DONE;
		cli_array_begin(cli, "entries");
		return cli_array_end(cli);
	}
	if (error == -ENOENT)
		error = xb_input_error("there is no list %s", name);
	else if (!error)
		error = print(cli, store, name);
	xb_store_close(error == -ENOENT ? NULL : store);
	if (error)
		return cli_fail();
	return cli->json ? cli_array_end(cli) : cli_done(EXIT_DONE);
}
