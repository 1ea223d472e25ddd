/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a command says about itself. */
#ifndef XB_CLI_HELP_H
#define XB_CLI_HELP_H

#include "cli.h"

/* Whether -h or --help is among the arguments: not as the value of an option, nor behind `--`. */
bool help_wanted(const struct verb *verb, int argc, char **argv);

/* Whether the option, which may be shortened, is one of the verb's whose value is the next word. */
bool help_takes_value(const struct verb *verb, int argc, char **argv, const char *option);

/* Prints usage and examples of the verb, or of those below it; returns the exit code. */
int help(const struct verb *verb, int argc, char **argv);

/* Prints all commands; returns the exit code. */
int help_all(const struct verb *verbs);

#endif
