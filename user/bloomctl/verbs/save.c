/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl save: everything, a JSON object a line; restore reads it back. */
#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "bloomctl/cli.h"
#include "engine/dump.h"

static int run(struct cli *cli, int argc, char **argv)
{
	int error;

	(void)argv;
	if (argc > 1)
		return cli_usage(cli, "save writes to standard output and takes no arguments");
	error = xb_dump_store(cli->paths.state, stdout);
	if (error == -ENOENT)
		error = xb_input_error("nothing to save: there is no store in %s",
				       cli->paths.state);
	return error ? cli_fail() : cli_done(EXIT_DONE);
}

const struct verb verb_save = {
	.name = "save",
	.summary = "write everything as text that restore reads",
	.run = run,
	.examples = {"save >saved.json", "save | gzip >saved.json.gz"},
};
