/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A verb in one line, and its options in one line each. */
#ifndef XB_CLI_USAGE_H
#define XB_CLI_USAGE_H

#include "cli/verb.h"

#define USAGE_BYTES 1024

/* "add ENTRY... [--list NAME] ..."; returns out. */
const char *usage_line(const struct verb *verb, char out[USAGE_BYTES]);

/* "[-jpq] [--state DIR] ...": the options that may stand before a command, without those that
 * only print something; returns out. */
const char *usage_in_front(const struct option_spec *options, char out[USAGE_BYTES]);

/* Prints each option with what it is for. */
void usage_print_options(const struct option_spec *options);

#endif
