/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libxdp's dispatcher: several XDP programs on one interface, ours among them. */
#ifndef XB_ATTACH_DISPATCHER_H
#define XB_ATTACH_DISPATCHER_H

#include <stdbool.h>

#include "attach/anchor.h"
#include "model/interface.h"

/* An error if CAP_SYS_ADMIN is missing. */
int xb_dispatcher_allowed(void);

/* Looks for our entry among the programs on the interface. Returns 1: it is there, with the slot of
 * this anchor; 2: with another slot; 0: it is not there; or an error. Without CAP_SYS_ADMIN, which
 * libxdp needs to look, it returns 1. */
int xb_dispatcher_has(const struct xb_anchor *anchor, uint32_t ifindex);

/* Whether other programs are on the interface besides ours: 1 or 0, or an error. Entries of ours
 * that lost their anchor do not count. */
int xb_dispatcher_is_shared(const struct xb_anchor *anchor, uint32_t ifindex);

/* Whether another program can join what is on the interface (or nothing): 1 or 0, or an error. */
int xb_dispatcher_joins(uint32_t ifindex);

/* Attaches our entry. mode: native or skb. Replaces an entry of ours that lost its anchor. A
 * negative errno; *told: it has a message. Whoever listens (attach/extack.h) hears the kernel's. */
int xb_dispatcher_attach(const struct xb_anchor *anchor, uint32_t ifindex, enum xb_mode mode,
			 bool *told);

/* Takes off the entry of this anchor, and entries of ours whose anchor is gone. It is no error if
 * there is none. XB_STAYS_ON (attach/refusal.h): the kernel does not do it. */
int xb_dispatcher_detach(const struct xb_anchor *anchor, uint32_t ifindex);

#endif
