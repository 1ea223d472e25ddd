/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl up: every write begins by making the kernel match the store; this one does nothing else.
 */
#include "base/error.h"
#include "bloomctl/cli.h"
#include "engine/writepath.h"

static int run(struct cli *cli, int argc, char **argv)
{
	uint32_t open;

	(void)argv;
	if (argc > 1)
		return cli_usage(cli, "up takes no arguments");
	if (xb_write(&cli->paths, XB_WRITE_HEAVY | XB_WRITE_SURVEY | XB_WRITE_SETTLE, NULL, NULL,
		     cli->written))
		return cli_fail();
	open = xb_write_tell_open(cli->written);
	if (cli->json)
		cli_json(cli,
			 json_pack("{s:b,s:i}", "up", open == 0, "missing_interfaces", (int)open));
	else if (open) {
		xb_system_error(0, "%u of the wanted interfaces %s not filtered here", open,
				open == 1 ? "is" : "are");
		return cli_fail();
	}
	return open ? EXIT_SYSTEM : EXIT_DONE;
}

const struct verb verb_up = {
	.name = "up",
	.summary = "make the kernel match the store (at boot, or to repair)",
	.run = run,
	.examples = {"up", "-q up"},
};
