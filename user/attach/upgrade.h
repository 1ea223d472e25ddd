/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Replaces an anchor of an older layout without interruption: it is set aside with its pins and
 * continues to enforce, until every interface has the new entry. */
#ifndef XB_ATTACH_UPGRADE_H
#define XB_ATTACH_UPGRADE_H

#include <stdbool.h>

#include "attach/anchor.h"

/* Tells the new anchor under which names interfaces are wanted, before they are attached; of those
 * that have a row in it, it knows more. */
int xb_upgrade_carry(const struct xb_anchor *anchor);

/* Whether an older anchor stands aside, so that its entries may still see packets first. */
bool xb_upgrade_is_on(const char *pins);

/* Ends the upgrade: takes older entries off where they still are, and removes older anchors. anchor
 * may be NULL: nothing replaces them. Does nothing if there are none. */
int xb_upgrade_finish(const char *pins, const struct xb_anchor *anchor);

#endif
