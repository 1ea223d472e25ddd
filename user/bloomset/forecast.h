/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a plan will take: memory, bytes, and time by rates that are measured on the files. */
#ifndef XB_BLOOMSET_FORECAST_H
#define XB_BLOOMSET_FORECAST_H

#include "bloomset/plan.h"
#include "cli/cli.h"

/* Bytes that go to disk: if nothing is kept but what sieves let pass by mistake, or (most) if all
 * is kept that may be. */
uint64_t forecast_writes(const struct plan *plan, const struct input *inputs, bool most);

/* Prints it; returns the exit code. */
int forecast_print(const struct cli *cli, const struct plan *plan, const struct input *inputs,
		   const struct input_terms *terms);

#endif
