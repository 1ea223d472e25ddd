/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where notes, warnings and progress of the library go while a verb runs. */
#ifndef XB_CLI_SINKS_H
#define XB_CLI_SINKS_H

#include "cli/cli.h"

/* Notes unless they are not wanted, warnings always; progress on a terminal only. */
void sinks_open(const struct cli *cli);

#endif
