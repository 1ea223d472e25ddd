/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bloomctl fleet verify: has bloomd compare this host with the fleet's newest snapshot. */
#ifndef XB_BLOOMCTL_FLEETVERIFY_H
#define XB_BLOOMCTL_FLEETVERIFY_H

#include "cli/cli.h"

#define FLEETVERIFY_LIMIT 20 /* differences that are shown, if nothing else is said */

/* Prints the answer, with at most so many differences; returns the exit code. */
int fleetverify(const struct cli *cli, uint64_t limit);

#endif
