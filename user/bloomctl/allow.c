/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl allow: the allowlist, which wins over every entry. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "core/error.h"
#include "core/lifeline.h"
#include "edit.h"
#include "show.h"

static int print_all(const struct cli *cli, struct xb_txn *txn, uint32_t only)
{
	struct xb_membership member;
	struct xb_walk walk;
	bool first = true;
	int more, error = xb_walk_begin(&walk, txn, &XB_WALK_ALLOW);

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

/* txn: NULL if there is no store; name: NULL for all. */
static int print(const struct cli *cli, struct xb_txn *txn, const char *name)
{
	const struct xb_list *list = txn && name ? xb_list_find(txn, name) : NULL;

	if (name && !list)
		return xb_input_error("there is no list %s", name);
	if (cli->json)
		cli_array_begin(cli, "entries");
	return txn ? print_all(cli, txn, list ? list->id : XB_ANY_LIST) : 0;
}

static int allow_list(struct cli *cli, int argc, char **argv)
{
	static const struct option options[] = {{"list", required_argument, NULL, 'l'}, {0}};
	struct xb_store *store = NULL;
	struct xb_txn *txn = NULL;
	const char *name = NULL;
	int option, error;

	while ((option = cli_option(cli, argc, argv, options)) != -1)
		if (option != 'l')
			return EXIT_USAGE;
		else
			name = optarg;
	if (optind != argc)
		return cli_usage(cli, "allow list takes no entries");
	error = xb_store_open(cli->paths.state, false, &store);
	if (!error)
		error = xb_store_read(store, &txn);
	if (error == -ENOENT)
		error = 0;
	if (!error)
		error = print(cli, txn, name);
	xb_txn_abort(txn);
	xb_store_close(store);
	if (error)
		return cli_fail();
	return cli->json ? cli_array_end(cli) : cli_done(EXIT_DONE);
}

static int allow_test(struct cli *cli, int argc, char **argv)
{
	return show_test(cli, argc, argv, true);
}

struct refusal {
	unsigned int kinds;
	bool refuse;
	uint32_t after; /* all that is refused now */
};

static int refuse_body(struct xb_writer *writer, void *context)
{
	struct refusal *refusal = context;
	uint32_t *refused = &writer->txn->meta.refused;

	*refused = refusal->refuse ? *refused | refusal->kinds : *refused & ~refusal->kinds;
	refusal->after = *refused;
	writer->txn->edits++;
	return 0;
}

/* refuse and accept */
static int allow_kinds(struct cli *cli, int argc, char **argv)
{
	struct refusal refusal = {.refuse = !strcmp(argv[0], "refuse")};

	if (argc < 2)
		return cli_usage(cli, "allow %s needs a kind", argv[0]);
	for (int i = 1; i < argc; i++) {
		enum xb_lifeline_kind kind;

		if (!strcmp(argv[i], "all"))
			refusal.kinds = XB_LIFELINE_ALL;
		else if (xb_lifeline_parse(argv[i], &kind))
			return cli_fail();
		else
			refusal.kinds |= 1U << kind;
	}
	if (xb_write(&cli->paths, XB_WRITE_SURVEY, refuse_body, &refusal))
		return cli_fail();
	if (cli->json)
		return cli_json(cli, json_pack("{s:o}", "refused", show_kinds_json(refusal.after)));
	return EXIT_DONE;
}

int verb_allow(struct cli *cli, int argc, char **argv)
{
	const struct {
		const char *name;
		int (*run)(struct cli *, int, char **);
	} verbs_below[] = {
		{"list", allow_list},
		{"test", allow_test},
		{"refuse", allow_kinds},
		{"accept", allow_kinds},
	};

	if (argc < 2)
		return cli_usage(cli, "allow needs add, del, list, test, refuse or accept");
	if (!strcmp(argv[1], "add") || !strcmp(argv[1], "del"))
		return edit_run(cli, argc, argv);
	for (size_t i = 0; i < sizeof(verbs_below) / sizeof(verbs_below[0]); i++)
		if (!strcmp(argv[1], verbs_below[i].name))
			return verbs_below[i].run(cli, argc - 1, argv + 1);
	return cli_usage(cli, "'%s' is nothing to do with the allowlist", argv[1]);
}
