/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The swap: one program after the other in the slot of the anchor, for all interfaces at once. */
#ifndef XB_ATTACH_SWAP_H
#define XB_ATTACH_SWAP_H

#include "attach/anchor.h"

/* *id: identity of the program of the generation in force; 0: none. During a trial it is the
 * generation that belongs to the store: the former one, or the one that filtered interfaces before.
 */
int xb_anchor_active(const struct xb_anchor *anchor, uint32_t *id);

/* Puts the program into force: from the moment this returns, every packet goes to it. On
 * interfaces on trial it serves until the end of the trial. */
int xb_anchor_swap(const struct xb_anchor *anchor, int program);

/* Puts any program into the slot, whatever stands there. */
int xb_anchor_set_slot(const struct xb_anchor *anchor, int program);

/* Waits until no packet is in a program that was in the slot before. */
void xb_anchor_quiesce(void);

#endif
