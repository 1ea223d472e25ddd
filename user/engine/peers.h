/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ssh sessions that the store remembers: their peers stay allowed while they live. */
#ifndef XB_ENGINE_PEERS_H
#define XB_ENGINE_PEERS_H

#include "machine/lifelines.h"
#include "machine/ssh.h"
#include "store/store.h"

/* In a write transaction: stores a session, and from where it was seen. Sets *changed if the store
 * did not have it. */
int xb_peers_put(struct xb_txn *txn, const struct xb_session *session, bool *changed);

/*
 * In a write transaction: removes the sessions that have ended, and sets *changed if there are any;
 * appends the peers of all others to found, unless that is NULL. A session of another PID namespace
 * cannot be looked at from here. It stays until the machine boots, until a command in that
 * namespace finds that it has ended, or until no command has come from there for a week.
 */
int xb_peers_sift(struct xb_txn *txn, struct xb_lifelines *found, bool *changed);

#endif
