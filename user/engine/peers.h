/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ssh sessions the store remembers: while they live, their peers stay allowed. */
#ifndef XB_ENGINE_PEERS_H
#define XB_ENGINE_PEERS_H

#include "machine/lifelines.h"
#include "machine/ssh.h"
#include "store/store.h"

/* Remembers a session, and where it was seen. *changed becomes true if it is news. */
int xb_peers_put(struct xb_txn *txn, const struct xb_session *session, bool *changed);

/*
 * Takes out the sessions that ended, and appends those that live to found (NULL: nowhere). One that
 * was seen in another PID namespace cannot be looked at from here: it stays until the machine
 * boots, a command of that namespace finds it ended, or none has come from there for a week.
 */
int xb_peers_sift(struct xb_txn *txn, struct xb_lifelines *found, bool *changed);

#endif
