/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Interfaces made what is wanted of them, difference by difference. */
#ifndef XB_ENGINE_RECONCILE_H
#define XB_ENGINE_RECONCILE_H

#include "engine/context.h"
#include "engine/interfaces.h"

/* writer->interfaces: what is wanted, by the store or by the trial, and what the kernel says now.
 */
int xb_reconcile_look(struct xb_writer *writer);

/*
 * Settles the differences of the last look: renamed interfaces stay wanted under the name they have
 * now, what is bare is attached, what nobody wants is let go. writer->interfaces is what the kernel
 * says after that. Interfaces that cannot be attached are no error.
 */
int xb_reconcile(struct xb_writer *writer);

/* Looks again, and changes nothing; what could not be attached keeps the reason it had. */
int xb_reconcile_look_again(struct xb_writer *writer);

/* Lets go what is not wanted to last. */
int xb_reconcile_release(struct xb_writer *writer);

/* Takes the filter off an interface of the table, in another network namespace too. */
int xb_reconcile_let_go(const struct xb_anchor *anchor, const struct xb_interfaces *all,
			const struct xb_interface *item);

#endif
