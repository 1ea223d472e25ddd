/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl as a program with verbs. */
#ifndef XB_BLOOMCTL_PROGRAM_H
#define XB_BLOOMCTL_PROGRAM_H

#include "cli/cli.h"

extern const struct cli_program bloomctl_program;

#endif
