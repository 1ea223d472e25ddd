/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Known sources of a configuration, as if they had connected. */
#ifndef XB_PACKETS_KNOWS_H
#define XB_PACKETS_KNOWS_H

#include "world.h"

/* Some of the universe's hosts and nets are known from now on, to the filter and to the rules, and
 * the policy admits them. */
void knows_begin(struct world *world, const struct universe *universe);

#endif
