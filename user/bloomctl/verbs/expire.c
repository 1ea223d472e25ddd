/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl expire: every write begins by sweeping out what has expired; this one does nothing else.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "bloomctl/cli.h"
#include "engine/writepath.h"
#include "store/expiry.h"
#include "store/membership.h"

/* Looks without a lock, since a timer asks all the time. */
static int count_due(const struct cli *cli, uint64_t *due)
{
	struct xb_store *store;
	struct xb_txn *txn;
	int error = xb_store_begin_reading(cli->paths.state, &store, &txn);

	*due = 0;
	if (error)
		return error == -ENOENT ? 0 : error;
	error = xb_expiry_overlook(txn, (uint32_t)time(NULL), due);
	xb_store_end_reading(store, txn);
	return error;
}

static int body(struct xb_writer *writer, void *context)
{
	*(uint64_t *)context = writer->expired;
	return 0;
}

static int run(struct cli *cli, int argc, char **argv)
{
	uint64_t count;

	(void)argv;
	if (argc > 1)
		return cli_usage(cli, "expire takes no arguments");
	if (count_due(cli, &count))
		return cli_fail();
	if (count && xb_write(&cli->paths, 0, body, &count, cli->written))
		return cli_fail();
	if (cli->json)
		return cli_json(cli, json_pack("{s:I}", "expired", (json_int_t)count));
	if (!cli->quiet)
		printf("%" PRIu64 " expired\n", count);
	return cli_done(EXIT_DONE);
}

const struct verb verb_expire = {
	.name = "expire",
	.summary = "take out the entries that have expired",
	.run = run,
	.examples = {"expire", "-j expire"},
};
