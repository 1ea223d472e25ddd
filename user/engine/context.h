/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What whoever changes, repairs, tries or rotates has in hand, and what all of them do with it. */
#ifndef XB_ENGINE_CONTEXT_H
#define XB_ENGINE_CONTEXT_H

#include <errno.h>

#include "attach/anchor.h"
#include "base/paths.h"
#include "engine/interfaces.h"
#include "filter/generation.h"
#include "store/store.h"
#include "store/trialrecord.h"

/* What a change has in hand: the locks, the write transaction, and what the kernel enforces. */
struct xb_writer {
	const struct xb_paths *paths;
	int builder_lock, writer_lock; /* -1: not held */
	struct xb_store *store;
	struct xb_txn *txn;
	struct xb_meta before; /* as the transaction found it */
	struct xb_anchor anchor;
	bool anchored;			 /* anchor is open */
	bool outdated;			 /* it is not, for it has an older layout */
	struct xb_generation *active;	 /* NULL: nothing is enforced */
	struct xb_interfaces interfaces; /* wanted, and as the kernel has them */
	bool foreign;	   /* what is in force is another store's, and is left alone */
	bool away;	   /* not where interfaces are wanted: nothing is enforced */
	bool adopts;	   /* set by a body that takes over what is in force */
	char *const *left; /* set by a body: interfaces that are not filtered, or no more */
	size_t left_count;
	unsigned int how;      /* XB_WRITE_ bits */
	uint64_t commits;      /* with XB_WRITE_COMMIT: identity of the trial */
	struct xb_trial trial; /* the one that goes on, if any */
	uint32_t now;	       /* seconds since 1970 */
	uint64_t expired;      /* memberships swept */
	bool unmet; /* the filter the store wants could not be made; see engine/relief.h */
	char why_unmet[512];
	bool exact; /* the command asks for this capacity: no smaller one will do */
};

#define XB_WRITE_HEAVY	1U /* needs the builder lock, or is likely to need a new generation */
#define XB_WRITE_SURVEY 2U /* looks at all the lifelines of the machine, see engine/autoallow.h */

#define XB_WRITE_COMMIT 4U  /* makes lasting what is on trial: it ends with this write */
#define XB_WRITE_ADOPT	8U  /* takes over what another store has put in force */
#define XB_WRITE_LEAVE	16U /* lets that alone; others are refused then */
#define XB_WRITE_SETTLE 32U /* goes on here if the network namespace of before is gone */
#define XB_WRITE_FIRST	64U /* others follow, see xb_write_last() */

/* Returned by xb_write(), with a message: the change, if any, is made and durable, but the machine
 * cannot make the filter that is wanted. What it could take of the change is in force. */
#define XB_UNMET (-ENOTRECOVERABLE)

/* Takes the writer lock of a writer whose store is open, and sees all that was committed before. */
int xb_writer_lock(struct xb_writer *writer);

/*
 * Builds a generation from what the transaction sees, at its rate. Both locks are held. Without
 * room for the wanted capacity it is sized by what is listed, with a warning, unless the writer is
 * exact.
 */
int xb_writer_rebuild(struct xb_writer *writer, struct xb_txn *txn, uint64_t sequence,
		      struct xb_generation **built);

/* Before a commit while nothing is enforced: whether this machine could enforce what the
 * transaction wants. A change that asks for less is always in order. */
int xb_writer_check_room(struct xb_writer *writer);

#endif
