/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Configurations of the filter, each installed, with the rules that the reference has for it. */
#ifndef XB_PACKETS_WORLD_H
#define XB_PACKETS_WORLD_H

#include "support/rig.h"
#include "reference.h"
#include "universe.h"

struct world {
	const char *name;
	struct rules rules;
	struct rig rig;
	struct xb_anchor anchor;
	struct xb_guard guard;
	int program; /* the entry */
};

#define WORLDS 21

void worlds_begin(struct world worlds[WORLDS], const struct universe *universe);
/* Whether the changes in place left what a rebuild would make. */
bool worlds_are_as_built(struct world worlds[WORLDS]);
void worlds_end(struct world worlds[WORLDS]);

#endif
