/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl list */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "bloomctl/cli.h"
#include "bloomctl/display.h"
#include "machine/lifelines.h"
#include "store/expiry.h"
#include "store/walk.h"

/* What to print. */
struct choice {
	const char *list;	/* NULL: all */
	struct xb_entry within; /* its entries, if `bounded`, or the first of its side */
	bool bounded;
	uint8_t form[XB_NAME_BYTES]; /* of a domain */
};

struct printing {
	const struct cli *cli;
	uint32_t only; /* XB_ANY_LIST, or one list */
	bool begun;
};

/* Nobody reads on: the walk ends. */
#define UNREAD 1

static int print_one(const struct xb_walk *walk, void *context)
{
	struct printing *printing = context;
	const struct cli *cli = printing->cli;
	uint32_t only = printing->only;
	struct xb_membership member;

	if (only == XB_ANY_LIST ? !xb_members_any(walk->members)
				: !xb_members_have(walk->members, only, &member))
		return 0;
	if (cli->json)
		cli_array_item(cli,
			       display_entry_json(walk->txn, &walk->entry, walk->members, only),
			       !printing->begun);
	else
		display_entry(walk->txn, "", &walk->entry, walk->members, only);
	printing->begun = true;
	return ferror(stdout) ? UNREAD : 0;
}

static int print_all(const struct cli *cli, struct xb_txn *txn, const struct choice *choice,
		     uint32_t only)
{
	struct printing printing = {cli, only, false};
	int error = xb_walk_visit(txn, &choice->within, choice->bounded, print_one, &printing);

	return error == UNREAD ? 0 : error;
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

/* txn: NULL if there is no store. */
static int print(const struct cli *cli, struct xb_txn *txn, const struct choice *choice)
{
	const char *name = choice->list;
	const struct xb_list *list = txn && name ? xb_list_find(txn, name) : NULL;
	bool empty = !txn || (name && !list);

	if (name && !list && !is_automatic(name))
		return cli_no_list(name);
	if (cli->json)
		cli_array_begin(cli, "entries");
	return !empty ? print_all(cli, txn, choice, list ? list->id : XB_ANY_LIST) : 0;
}

const struct option_spec show_list_options[] = {
	{"list", "NAME", 'l', .help = "show this list only", .offers = OFFER_LISTS},
	{"within", "ENTRY", 'w', .help = "show only what lies in this prefix or domain"},
	{0},
};

static int take_within(struct choice *choice, const char *text)
{
	bool allow = xb_entry_is_allow(&choice->within);
	int error = (allow ? xb_entry_parse : xb_entry_parse_listed)(
		text, strlen(text), choice->form, &choice->within, NULL);

	if (error)
		return error;
	if (allow)
		choice->within = xb_entry_allow(&choice->within);
	choice->bounded = true;
	return 0;
}

int display_list(struct cli *cli, int argc, char **argv, const struct xb_entry *side)
{
	struct choice choice = {.within = *side};
	struct xb_store *store = NULL;
	struct xb_txn *txn = NULL;
	uint64_t expired;
	int option, error;

	while ((option = cli_option(cli, argc, argv, show_list_options)) != -1) {
		if (option == 'l')
			choice.list = optarg;
		else if (option != 'w')
			return EXIT_USAGE;
		else if (take_within(&choice, optarg))
			return cli_fail();
	}
	if (optind != argc)
		return cli_usage(cli, "list takes no entries");
	error = xb_store_begin_reading(cli->paths.state, &store, &txn);
	if (!error)
		error = xb_expiry_overlook(txn, (uint32_t)time(NULL), &expired);
	if (!error || error == -ENOENT)
		error = print(cli, txn, &choice);
	xb_store_end_reading(store, txn);
	if (error)
		return cli_fail();
	return cli->json ? cli_array_end(cli) : cli_done(EXIT_DONE);
}

static int run(struct cli *cli, int argc, char **argv)
{
	return display_list(cli, argc, argv, &XB_WALK_LISTED);
}

const struct verb verb_list = {
	.name = "list",
	.summary = "show all that is listed",
	.options = show_list_options,
	.run = run,
	.examples = {"list --list mine", "list --within 198.51.100.0/24"},
};
