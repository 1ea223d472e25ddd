/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libxdp's dispatcher: several XDP programs on one interface, ours among them. */
#ifndef XB_ATTACH_DISPATCHER_H
#define XB_ATTACH_DISPATCHER_H

#include <stdbool.h>

#include "attach/anchor.h"
#include "model/interface.h"

/* An error if CAP_SYS_ADMIN is missing. */
int xb_dispatcher_allowed(void);

/* Whether our entry is among the programs on the interface: 1: with the slot of this anchor, 2:
 * with another slot, 0: no; or an error. Without CAP_SYS_ADMIN, which libxdp needs to look: 1. */
int xb_dispatcher_has(const struct xb_anchor *anchor, uint32_t ifindex);

/* Whether there are others beside it, but for entries of ours that lost their anchor: 1 or 0, or an
 * error. */
int xb_dispatcher_is_shared(const struct xb_anchor *anchor, uint32_t ifindex);

/* Whether another program can join what is on the interface (or nothing): 1 or 0, or an error. */
int xb_dispatcher_joins(uint32_t ifindex);

/* Native or skb. Replaces an entry of ours that lost its anchor. A negative errno without a
 * message.
 */
int xb_dispatcher_attach(const struct xb_anchor *anchor, uint32_t ifindex, enum xb_mode mode);

/* Takes this anchor's entry off, and any whose anchor is gone; no error if there is none. */
int xb_dispatcher_detach(const struct xb_anchor *anchor, uint32_t ifindex);

#endif
