/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl list */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "bloomctl/cli.h"
#include "bloomctl/show.h"
#include "machine/lifelines.h"
#include "store/expiry.h"
#include "store/walk.h"

static int print_all(const struct cli *cli, struct xb_txn *txn, const struct xb_entry *side,
		     uint32_t only)
{
	struct xb_membership member;
	struct xb_walk walk;
	bool first = true;
	int more = 0, error = xb_walk_begin(&walk, txn, side);

	if (error)
		return error;
	while (!ferror(stdout) && (more = xb_walk_next(&walk)) > 0) {
		if (only == XB_ANY_LIST ? !xb_members_any(walk.members)
					: !xb_members_have(walk.members, only, &member))
			continue;
		if (cli->json)
			cli_array_item(cli, show_entry_json(txn, &walk.entry, walk.members, only),
				       first);
		else
			show_entry(txn, "", &walk.entry, walk.members, only);
		first = false;
	}
	xb_walk_end(&walk);
	return more < 0 ? more : 0;
}

/* An automatic list may be empty. */
static bool is_automatic(const char *name)
{
	enum xb_lifeline_kind kind;

	if (strncmp(name, XB_LIST_AUTO, strlen(XB_LIST_AUTO)))
		return false;
	if (!xb_lifeline_parse(name + strlen(XB_LIST_AUTO), &kind))
		return true;
	xb_error_clear();
	return false;
}

/* txn: NULL if there is no store; name: NULL for all. */
static int print(const struct cli *cli, struct xb_txn *txn, const struct xb_entry *side,
		 const char *name)
{
	const struct xb_list *list = txn && name ? xb_list_find(txn, name) : NULL;
	bool empty = !txn || (name && !list);

	if (name && !list && !is_automatic(name))
		return cli_no_list(name);
	if (cli->json)
		cli_array_begin(cli, "entries");
	return !empty ? print_all(cli, txn, side, list ? list->id : XB_ANY_LIST) : 0;
}

const struct option_spec show_list_options[] = {
	{"list", "NAME", 'l', .help = "show this list only", .offers = OFFER_LISTS},
	{0},
};

int show_list(struct cli *cli, int argc, char **argv, const struct xb_entry *side)
{
	struct xb_store *store = NULL;
	struct xb_txn *txn = NULL;
	const char *name = NULL;
	uint64_t expired;
	int option, error;

	while ((option = cli_option(cli, argc, argv, show_list_options)) != -1)
		if (option != 'l')
			return EXIT_USAGE;
		else
			name = optarg;
	if (optind != argc)
		return cli_usage(cli, "list takes no entries");
	error = xb_store_begin_reading(cli->paths.state, &store, &txn);
	if (!error)
		error = xb_expiry_overlook(txn, (uint32_t)time(NULL), &expired);
	if (!error || error == -ENOENT)
		error = print(cli, txn, side, name);
	xb_store_end_reading(store, txn);
	if (error)
		return cli_fail();
	return cli->json ? cli_array_end(cli) : cli_done(EXIT_DONE);
}

static int run(struct cli *cli, int argc, char **argv)
{
	return show_list(cli, argc, argv, &XB_WALK_LISTED);
}

const struct verb verb_list = {
	.name = "list",
	.summary = "show all that is listed",
	.options = show_list_options,
	.run = run,
	.examples = {"list", "list --list mine"},
};
