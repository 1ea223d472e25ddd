/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What add and del share: elements of the command line or of a file, all or none of which change a
 * filter. */
#ifndef XB_BLOOMSET_CHANGING_H
#define XB_BLOOMSET_CHANGING_H

#include "bloomset/filters.h"

struct changing {
	const struct cli *cli;
	struct xb_filter *filter;
	bool deletes;
	unsigned long long done, new, absent;
	uint8_t *element;
	size_t room;
};

extern const struct option_spec changing_options[];

/* Returns the exit code. */
int changing_run(struct cli *cli, int argc, char **argv, bool deletes);

#endif
