/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl up: every write begins by making the kernel match the store; this one does nothing else.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "core/attach.h"
#include "core/enforce.h"
#include "core/error.h"

static int body(struct xb_writer *writer, void *context)
{
	struct xb_wanted *wanted;
	uint32_t *missing = context;
	size_t count;
	int error = xb_wanted_all(writer->txn, &wanted, &count);

	*missing = 0;
	for (size_t i = 0; !error && i < count; i++) {
		struct xb_attachment now;

		error = xb_attachment_of(writer->linked ? &writer->link : NULL, wanted[i].name,
					 &now);
		*missing += !error && !now.ours;
	}
	free(wanted);
	return error;
}

int verb_up(struct cli *cli, int argc, char **argv)
{
	uint32_t missing;

	(void)argv;
	if (argc > 1)
		return cli_usage(cli, "up takes no arguments");
	if (xb_write(&cli->paths, XB_WRITE_HEAVY | XB_WRITE_SURVEY, body, &missing))
		return cli_fail();
	if (cli->json)
		cli_json(cli, json_pack("{s:b,s:i}", "up", missing == 0, "missing_interfaces",
					(int)missing));
	else if (missing) {
		xb_system_error(0, "%u of the interfaces could not be attached", missing);
		return cli_fail();
	}
	return missing ? EXIT_SYSTEM : EXIT_DONE;
}
