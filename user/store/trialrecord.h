/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The store's record of a trial: the request that is on trial. The change itself is not in the
 * store before it is committed. */
#ifndef XB_STORE_TRIALRECORD_H
#define XB_STORE_TRIALRECORD_H

#include "model/request.h"
#include "store/store.h"
#include "xdp_bloom/layout.h"

/* All zero: there is none. */
struct xb_trial {
	uint64_t identity; /* of its guard */
	struct xb_request request;
	uint8_t *bytes; /* of the record, with the texts of the request */
};

/* -ENOENT without a message: there is none. -EBADMSG: its record is damaged. The caller frees it.
 */
int xb_trial_get(struct xb_txn *txn, struct xb_trial *trial);
int xb_trial_put(struct xb_txn *txn, uint64_t identity, const struct xb_request *request);

/* The interface of the name `from` is on trial as `to` from now on, in the record as well as in
 * *trial, which keeps that also if the transaction is aborted. Without effect if `from` is not on
 * trial, or `to` is already. */
int xb_trial_rename(struct xb_txn *txn, struct xb_trial *trial, const char *from, const char *to);
int xb_trial_delete(struct xb_txn *txn);
void xb_trial_free(struct xb_trial *trial);

/* Seconds until the trial ends, if the guard of this state belongs to it; 0: it has ended. */
uint64_t xb_trial_left(const struct xb_trial *trial, const struct xb_trial_cell *guard);

/* Returns how many interfaces are on trial, and sets *names. 0: a second generation is on trial, on
 * all interfaces. */
size_t xb_trial_interfaces(const struct xb_trial *trial, char *const **names);

/* Whether the interface of this name is on trial. */
bool xb_trial_names(const struct xb_trial *trial, const char *name);

/* Whether the guard of this state belongs to the trial and its time is not over. The state is
 * all zero if there is no guard. */
bool xb_trial_lives(const struct xb_trial *trial, const struct xb_trial_cell *guard);

#endif
