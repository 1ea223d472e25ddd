/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How many different there are, by the fill of a Bloom filter: in one reading, and without files.
 */
#ifndef XB_BLOOMSET_APPROXIMATE_H
#define XB_BLOOMSET_APPROXIMATE_H

#include "bloomset/plan.h"
#include "cli/cli.h"

/* Returns the exit code. */
int approximate_print(const struct cli *cli, const struct plan *plan, struct input *inputs,
		      const struct input_terms *terms);

#endif
