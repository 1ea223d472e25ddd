/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether answers to queries arrive: a veth in native mode takes them only to an XDP program. */
#ifndef XB_CLI_VETHTX_H
#define XB_CLI_VETHTX_H

#include "bloomctl/cli.h"

/* Whether the verdict of any list answers queries, or a limit does. */
bool vethtx_wanted(const struct cli *cli);

/* A note if answers may get lost on any of these interfaces. names: NULL for all attached ones. */
void vethtx_note(const struct cli *cli, char **names, int count);

#endif
