/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detach --force: the program comes off an interface that is left with it, at a smaller MTU. */
#ifndef XB_CLI_FORCEOFF_H
#define XB_CLI_FORCEOFF_H

#include <stdbool.h>

#include "bloomctl/cli.h"
#include "engine/interfaces.h"

/* Whether the command is about the interface. */
typedef bool forceoff_asked(const struct xb_interface *item, const void *request);

/*
 * For the interfaces in cli->written that are left and asked for: lowers the MTU, lets off() try
 * again, puts the MTU back, and says how long it was lower. Returns 0, or an error with its
 * message; what is left after all is in cli->written.
 */
int forceoff(const struct cli *cli, forceoff_asked *asked, const void *request,
	     int (*off)(const struct cli *cli));

#endif
