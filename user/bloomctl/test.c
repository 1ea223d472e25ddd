/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl test: what, if anything, has this address or prefix blocked. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "core/error.h"
#include "show.h"

/* Every listed entry that covers the one asked for, itself included. */
static int answer(const struct cli *cli, struct xb_txn *txn, const struct xb_entry *asked,
		  bool *listed, json_t *all)
{
	json_t *by = cli->json ? json_array() : NULL;
	char text[XB_ENTRY_TEXT];
	int error = 0;

	*listed = false;
	for (int length = asked->length; !error && txn && length >= 0; length--) {
		struct xb_entry covering = xb_entry_covering(asked, (uint8_t)length);
		struct xb_members members;

		error = xb_members_of(txn, &covering, &members);
		if (error == -ENOENT) {
			error = 0;
			continue;
		}
		if (error)
			break;
		*listed = true;
		if (cli->json)
			json_array_append_new(
				by, show_entry_json(txn, &covering, members, XB_ANY_LIST));
		else if (!cli->quiet)
			show_entry(txn, &covering, members, XB_ANY_LIST);
	}
	xb_entry_format(asked, text);
	if (cli->json)
		json_array_append_new(all, json_pack("{s:s,s:b,s:o}", "entry", text, "listed",
						     *listed, "by", by));
	else if (!*listed && !cli->quiet)
		printf("%s is not listed\n", text);
	return error;
}

int verb_test(struct cli *cli, int argc, char **argv)
{
	struct xb_store *store = NULL;
	struct xb_txn *txn = NULL;
	json_t *all = json_array();
	struct xb_entry asked;
	bool absent = false;
	int error, code;

	if (argc < 2)
		return cli_usage(cli, "test needs at least one entry");
	for (int i = 1; i < argc; i++)
		if (xb_entry_parse(argv[i], strlen(argv[i]), &asked, NULL))
			return cli_fail();
	error = xb_store_open(cli->paths.state, false, &store);
	if (!error)
		error = xb_store_read(store, &txn);
	else if (error == -ENOENT)
		error = 0;
	for (int i = 1; !error && i < argc; i++) {
		bool listed;

		error = xb_entry_parse(argv[i], strlen(argv[i]), &asked, NULL);
		if (!error)
			error = answer(cli, txn, &asked, &listed, all);
		absent |= !listed;
	}
	xb_txn_abort(txn);
	xb_store_close(store);
	if (error) {
		json_decref(all);
		return cli_fail();
	}
	if (cli->json) {
		code = cli_json(cli, json_pack("{s:o}", "entries", all));
	} else {
		json_decref(all);
		code = cli_done(EXIT_DONE);
	}
	return code ? code : absent ? EXIT_ABSENT : EXIT_DONE;
}
