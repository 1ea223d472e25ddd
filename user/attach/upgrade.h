/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A link of an older layout gives way to a new one without a gap: it is set aside with its pins,
 * enforcing what it did, until every interface has the new entry. */
#ifndef XB_ATTACH_UPGRADE_H
#define XB_ATTACH_UPGRADE_H

#include "attach/anchor.h"

/* The new link learns under which names interfaces are wanted, before they are attached. */
int xb_upgrade_carry(const struct xb_link *link);

/*
 * Ends it: takes older entries off where they still are, and removes older links. link may be NULL:
 * nothing comes in their place. Does nothing where there are none.
 */
int xb_upgrade_finish(const char *pins, const struct xb_link *link);

#endif
