/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Takes the options of every command out of the arguments. */
#ifndef XB_CLI_GLOBALS_H
#define XB_CLI_GLOBALS_H

#include "cli/cli.h"

/* Takes those in front of the command; optind is behind them then. Returns -1 to go on, or the exit
 * code. */
int globals_parse(struct cli *cli, int argc, char **argv);

/* Takes those behind the verb out of argv. Returns 0, or EXIT_USAGE with the message printed. */
int globals_take(struct cli *cli, const struct verb *verb, int *argc, char **argv);

#endif
