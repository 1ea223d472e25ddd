/* SPDX-License-Identifier: GPL-2.0-or-later */
/* `limit list`: the limits, what the filter counted over each, and what of them is on trial. */
#ifndef XB_CLI_LIMITLIST_H
#define XB_CLI_LIMITLIST_H

#include "bloomctl/cli.h"

/* Prints them; returns the exit code. */
int limitlist(const struct cli *cli);

#endif
