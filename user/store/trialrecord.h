/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The store's record of a trial: which command it was, and for which interfaces. The change
 * itself is not in the store before it is committed. */
#ifndef XB_STORE_TRIALRECORD_H
#define XB_STORE_TRIALRECORD_H

#include <net/if.h>

#include "store/store.h"
#include "xdp_bloom/layout.h"

/* What a command asks for with --rollback. */
struct xb_wish {
	uint32_t seconds;
	int argc; /* the command, without --rollback */
	char **argv;
	char **names; /* interfaces it attaches; NULL: what is enforced everywhere is on trial */
	size_t name_count;
	/* A copy of the text that the command read, by name and as a descriptor; see
	 * store/trialtext.h. NULL: none */
	const char *input;
	int input_fd;
};

struct xb_trial {
	uint64_t identity; /* of its guard */
	uint32_t name_count;
	uint32_t word_bytes;
	char (*names)[IF_NAMESIZE];
	char *words; /* of the command, each ended by NUL */
};

/* -ENOENT without a message: there is none. The caller frees it. */
int xb_trial_get(struct xb_txn *txn, struct xb_trial *trial);
int xb_trial_put(struct xb_txn *txn, uint64_t identity, const struct xb_wish *wish);
int xb_trial_delete(struct xb_txn *txn);
void xb_trial_free(struct xb_trial *trial);

/* The command as it was typed, cut to the size, safe for a terminal. */
void xb_trial_command(const struct xb_trial *trial, char *text, size_t size);

/* Seconds until the trial ends, if the guard of this state belongs to it; 0: it has ended. */
uint64_t xb_trial_left(const struct xb_trial *trial, const struct xb_trial_cell *guard);

/* Whether it is the interface of this name that is on trial. */
bool xb_trial_names(const struct xb_trial *trial, const char *name);

/* Whether the guard of this state belongs to the trial and its time is not over. The state is
 * all zero if there is no guard. */
bool xb_trial_lives(const struct xb_trial *trial, const struct xb_trial_cell *guard);

#endif
