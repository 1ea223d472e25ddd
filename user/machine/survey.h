/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A look at all places of the machine where lifelines are found. */
#ifndef XB_MACHINE_SURVEY_H
#define XB_MACHINE_SURVEY_H

#include "machine/lifelines.h"

/*
 * Appends the lifelines that the machine's configuration and state show now. ifindexes: the
 * attached interfaces; all devices that are stacked on them (bridge, bond, VLAN, macvlan) count
 * too. run: the run directory, in which bloomd names its peers; NULL if they are not asked for.
 * kinds: a bit 1U << kind each; XB_LIFELINE_SSH finds nothing here. A missing file counts as
 * nothing found; an unreadable one causes a notice. Names are not looked up. On failure, out holds
 * what was found so far; the caller frees it in either case.
 */
int xb_lifelines_find(const uint32_t *ifindexes, size_t count, const char *run, unsigned int kinds,
		      struct xb_lifelines *out);

#endif
