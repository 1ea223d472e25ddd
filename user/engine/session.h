/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a process that writes again and again keeps from one write to the next: the store, the
 * anchor and the generation in force, and the knowledge that all of them match. */
#ifndef XB_ENGINE_SESSION_H
#define XB_ENGINE_SESSION_H

#include "engine/context.h"

/*
 * From now on writes keep open what they have opened, and a write that needs no lock of builders,
 * no survey and no trial repairs nothing if nothing has changed since the one before. A repair is
 * at most so old.
 */
void xb_session_begin(uint32_t seconds);
void xb_session_end(void);

/* Interfaces, addresses or routes of the machine have changed: the next write looks at all. */
void xb_session_distrust(void);

/*
 * Within a write that has the writer lock and the store: takes over what the last one kept. False:
 * something has changed meanwhile, or nothing is kept; the writer opens and repairs all.
 */
bool xb_session_resume(struct xb_writer *writer);

/* At the end of a write that succeeded, before the writer lock is released: keeps what the writer
 * has open, which it has no more then. Without a session: nothing. */
void xb_session_keep(struct xb_writer *writer);

#endif
