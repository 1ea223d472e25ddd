/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settles the differences between the wanted interfaces and what the kernel has. */
#ifndef XB_ENGINE_RECONCILE_H
#define XB_ENGINE_RECONCILE_H

#include "engine/context.h"
#include "engine/interfaces.h"

/* Fills writer->interfaces: what is wanted, by the store or by the trial, and what the kernel says
 * now. */
int xb_reconcile_look(struct xb_writer *writer);

/*
 * Settles the differences of the last look: renamed interfaces become wanted under their present
 * name, bare ones are attached, unwanted ones are detached; queries are answered where answers go
 * back into their VLAN (engine/vlans.h). Then looks again. An interface that
 * cannot be attached is no error: its row in writer->interfaces says why.
 */
int xb_reconcile(struct xb_writer *writer);

/* Watches the interfaces that were just attached, those of writer->interfaces that are fresh, and
 * gives those whose driver does not call the filter what helps; see engine/cure.h. */
int xb_reconcile_prove(struct xb_writer *writer);

/* Looks again without a change. Interfaces that could not be attached keep the reason (why). */
int xb_reconcile_look_again(struct xb_writer *writer);

/* Detaches the interfaces that the store does not want, those on trial too. Those of which the
 * kernel does not take the program off are left (attach/left.h), with a warning the first time. */
int xb_reconcile_release(struct xb_writer *writer);

/* The same with all interfaces, when xb_detach_all() has returned XB_STAYS_ON: then no packet goes
 * to a filter. */
int xb_reconcile_leave_all(struct xb_writer *writer);

/* After XB_STAYS_ON of the interface, with its message: leaves it, and warns if it was not left
 * before. */
int xb_reconcile_leave(struct xb_anchor *anchor, const struct xb_interface *item);

/* Detaches an interface of the table, also one that is in another network namespace. */
int xb_reconcile_let_go(const struct xb_anchor *anchor, const struct xb_interfaces *all,
			const struct xb_interface *item);

#endif
