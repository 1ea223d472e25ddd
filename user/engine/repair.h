/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making the kernel match the store: after boot, a crash, a lost pin directory. */
#ifndef XB_ENGINE_REPAIR_H
#define XB_ENGINE_REPAIR_H

#include "engine/context.h"
#include "store/home.h"

/* Opens anchor and generation as they are; what is missing stays NULL or unlinked. -ESTALE: the
 * anchor has an older layout; xb_repair() replaces it. */
int xb_repair_open(struct xb_writer *writer);
void xb_repair_close(struct xb_writer *writer);

/*
 * Makes anchor, generation and interfaces what the store wants; before anything is put in force
 * that was not, the store learns the lifelines of now. -EAGAIN without a message: that takes the
 * builder lock. Refused, before anything is changed, in another network namespace than that of the
 * anchor or the home of the wanted interfaces, and to another store than the one whose filter is in
 * force. Who may write the store alone is not refused away from home, and has writer->away.
 * Interfaces that cannot be attached are no error: writer->interfaces has them. A filter that
 * cannot be made is no error: writer->unmet says so, the one in force goes on.
 */
int xb_repair(struct xb_writer *writer);

/* Where this process is; interfaces are wanted. What filters here tells best. */
enum xb_place xb_repair_place(const struct xb_writer *writer, uint64_t store,
			      const struct xb_home *home);

/* Whether the anchor is of another network namespace and on none of its interfaces, nor will be.
 * wanted: some are. */
bool xb_repair_is_dead(const struct xb_anchor *anchor, bool wanted);

/* In the writer's transaction: the lifelines of the wanted interfaces, of those on trial, and of
 * `count` more, by number; see engine/autoallow.h. */
int xb_repair_allow(struct xb_writer *writer, const uint32_t *more, size_t count, bool all);

/* Creates the anchor and a generation for it where there is none. Both locks are held. */
int xb_repair_begin(struct xb_writer *writer, struct xb_txn *txn);

/* Takes everything out of the kernel. */
int xb_repair_end(struct xb_writer *writer, uint64_t store);

#endif
