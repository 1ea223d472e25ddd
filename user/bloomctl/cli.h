/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What verbs of bloomctl take and say beside what those of every program do. */
#ifndef XB_BLOOMCTL_CLI_H
#define XB_BLOOMCTL_CLI_H

#include "bloomctl/verbs.h"
#include "cli/cli.h"
#include "engine/wish.h"

/* The value of --fpr; a usage error otherwise (returns false). */
bool cli_rate(const struct cli *cli, const char *text, double *rate);

/* Whether it can be the name of a list; a usage error otherwise. */
bool cli_list_name(const struct cli *cli, const char *name);

/* The same for a list that is to be filled with listed entries: the allowlist's own name is
 * refused. */
bool cli_list_to_fill(const struct cli *cli, const char *name);

/* The error for a name that no list has; returns -EINVAL. */
int cli_no_list(const char *name);

#endif
