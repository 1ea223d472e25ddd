/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl save: everything, a JSON object a line; restore reads it back. */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/error.h"
#include "bloomctl/cli.h"
#include "engine/dump.h"
#include "store/membership.h"

static int run(struct cli *cli, int argc, char **argv)
{
	struct xb_store *store = NULL;
	struct xb_txn *txn = NULL;
	uint64_t expired;
	int error;

	(void)argv;
	if (argc > 1)
		return cli_usage(cli, "save writes to standard output and takes no arguments");
	error = xb_store_open(cli->paths.state, XB_STORE_READ, &store);
	if (error == -ENOENT)
		error = xb_input_error("nothing to save: there is no store in %s",
				       cli->paths.state);
	if (!error)
		error = xb_store_read(store, &txn);
	if (!error)
		error = xb_member_overlook(txn, (uint32_t)time(NULL), &expired);
	if (!error)
		error = xb_dump(txn, stdout);
	xb_txn_abort(txn);
	xb_store_close(store);
	return error ? cli_fail() : cli_done(EXIT_DONE);
}

const struct verb verb_save = {
	.name = "save",
	.summary = "write everything as text that restore reads",
	.run = run,
	.examples = {"save >saved.json", "save | gzip >saved.json.gz"},
};
