/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the change of a transaction takes effect: it becomes durable, and is in force right after,
 * bit by bit in the generation or by a new one. */
#ifndef XB_ENGINE_TAKEEFFECT_H
#define XB_ENGINE_TAKEEFFECT_H

#include "engine/context.h"

/*
 * Within a write that has repaired what it found. Ends the transaction if it made a change; then
 * writer->txn is NULL. Returns 0, XB_UNMET, or an error with its message, but for these:
 * -EAGAIN: a new generation is needed, and the builder lock is not held; nothing was changed.
 * -EXFULL: the same, after the change has become durable.
 */
int xb_take_effect(struct xb_writer *writer);

/* After an error behind a commit: XB_UNMET, with a message in front of the error's. What is durable
 * must not be taken for refused, nor be asked for again. */
int xb_stay_unapplied(void);

#endif
