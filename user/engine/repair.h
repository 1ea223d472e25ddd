/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the kernel match the store: after a boot, a crash, or the loss of the pin directory. */
#ifndef XB_ENGINE_REPAIR_H
#define XB_ENGINE_REPAIR_H

#include "engine/context.h"

/*
 * Makes anchor, generation and interfaces what the store wants. Before a new filter comes into
 * force or an interface is attached, it commits a survey of the lifelines. Returns 0 or an error
 * with its message; -EAGAIN without a message: the repair needs the builder lock.
 *
 * It refuses, before it changes anything, in another network namespace than that of the anchor or
 * the home, and while the filter of another store is in force; the XB_WRITE_ bits of the writer say
 * what is not refused. A write that changes only the store then sets writer->away or
 * writer->foreign.
 *
 * No error: interfaces that cannot be attached (writer->interfaces has them), and a filter that
 * cannot be built (writer->unmet is set, and the filter in force stays).
 */
int xb_repair(struct xb_writer *writer);

/* The error for who would change what another store has put in force. */
int xb_repair_refuse_foreign(const struct xb_writer *writer);

/* In the writer's transaction: brings the lifelines up to date, for the wanted interfaces, those on
 * trial, and `count` more ifindexes. all: as in struct xb_autoallow. */
int xb_repair_allow(struct xb_writer *writer, const uint32_t *more, size_t count, bool all);

/* Creates the anchor if there is none, and brings the generation up to date, or builds and
 * publishes one: with what the store has committed. What the writer's transaction has changed comes
 * into force with its commit. -EAGAIN without a message: that needs the builder lock. */
int xb_repair_begin(struct xb_writer *writer);

/* Detaches all interfaces and removes anchor and generations. If the kernel does not take the
 * program off an interface, everything passes there, and the anchor stays. store: its identity. */
int xb_repair_end(struct xb_writer *writer, uint64_t store);

#endif
