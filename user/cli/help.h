/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a command says about itself. */
#ifndef XB_CLI_HELP_H
#define XB_CLI_HELP_H

#include "cli/cli.h"

/* Whether -h or --help is among the arguments: not as the value of an option, nor behind `--`. */
bool help_wanted(const struct verb *verb, int argc, char **argv);

/* Prints usage, options and examples of the verb, or of the one below it that the arguments name;
 * returns the exit code. */
int help(const struct verb *verb, int argc, char **argv);

/* Prints all commands and the options of all; returns the exit code. */
int help_all(const struct cli_program *program);

/* `help [COMMAND]`, and what completion asks. */
int help_run(struct cli *cli, int argc, char **argv);

#endif
