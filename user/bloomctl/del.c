/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl del */
#include "edit.h"

int verb_del(struct cli *cli, int argc, char **argv)
{
	return edit_run(cli, argc, argv);
}
