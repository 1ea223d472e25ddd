/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl add */
#include "edit.h"

int verb_add(struct cli *cli, int argc, char **argv)
{
	return edit_run(cli, argc, argv);
}
