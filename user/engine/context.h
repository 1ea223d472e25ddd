/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The writer: the state that a change, a repair, a trial and a rotation share, and the steps that
 * they have in common. */
#ifndef XB_ENGINE_CONTEXT_H
#define XB_ENGINE_CONTEXT_H

#include <errno.h>

#include "attach/anchor.h"
#include "base/paths.h"
#include "engine/interfaces.h"
#include "filter/generation.h"
#include "store/store.h"
#include "store/trialrecord.h"

/* The locks, the write transaction, and what the kernel enforces. */
struct xb_writer {
	const struct xb_paths *paths;
	int builder_lock, writer_lock; /* -1: not held */
	struct xb_store *store;
	struct xb_txn *txn;
	struct xb_meta before; /* as the transaction found it */
	struct xb_anchor anchor;
	bool anchored;		      /* anchor is open */
	bool outdated;		      /* it is not open, because it has an older layout */
	struct xb_generation *active; /* NULL: nothing is enforced */
	bool outmoded; /* it is not open, because an older version built it; it enforces */
	struct xb_interfaces interfaces; /* as wanted, and as the kernel has them */
	bool foreign;	   /* the filter in force is another store's; it stays as it is */
	bool away;	   /* this is not the home: only the store is changed */
	bool adopts;	   /* set by a body that takes over the filter of another store */
	char *const *left; /* set by a body: interfaces that are not filtered, or no longer */
	size_t left_count;
	unsigned int how;      /* XB_WRITE_ bits */
	uint64_t commits;      /* with XB_WRITE_COMMIT: identity of the trial */
	struct xb_trial trial; /* the present one; all zero: none */
	uint32_t now;	       /* seconds since 1970 */
	uint64_t expired;      /* memberships swept */
	bool overdue;	       /* more have expired, see XB_WRITE_BRIEF */
	bool unmet; /* the filter that the store wants could not be built; see engine/relief.h */
	char why_unmet[512];
	bool grows;   /* what is built next has room for many more keys, if the machine has it */
	bool resumed; /* nothing was repaired, since nothing has changed: engine/session.h */
	bool answers; /* before the change, a list has a verdict that answers queries */
	bool exact;   /* the command asks for this capacity: no smaller one will do */
};

#define XB_WRITE_HEAVY	1U  /* needs the builder lock, or is likely to need a new generation */
#define XB_WRITE_SURVEY 2U  /* surveys all lifelines of the machine, see engine/autoallow.h */
#define XB_WRITE_COMMIT 4U  /* commits the trial, which ends with this write */
#define XB_WRITE_ADOPT	8U  /* takes over the filter of another store */
#define XB_WRITE_LEAVE	16U /* leaves that filter alone; other writes are refused then */
#define XB_WRITE_SETTLE 32U /* makes this network namespace the home if the former is gone */
#define XB_WRITE_FIRST	64U /* further writes follow, see xb_write_last() */
/* Sweeps out a part of what has expired, if that is much, so that the write is soon over. The body
 * calls xb_expiry_settle() for each entry that it looks at, if writer->overdue is set. */
#define XB_WRITE_BRIEF 128U

/* Returned by xb_write(), with a message: the change, if any, is durable, but the machine cannot
 * build the wanted filter, or others were in the way of it. The part of the change that needs no
 * new filter is in force. */
#define XB_UNMET (-ENOTRECOVERABLE)

/* Takes the writer lock, and makes everything that was committed before visible. The writer's store
 * is open. */
int xb_writer_lock(struct xb_writer *writer);

/* The error for a generation in force, or known sources, of a newer version: they stay as they are,
 * and so does the anchor. */
int xb_anchored_refuse_newer(const struct xb_anchor *anchor);

/* Opens anchor and generation as they are; what is missing stays NULL or unlinked. -ESTALE: the
 * anchor has an older layout; xb_repair() replaces it. What a newer version put in force is an
 * error. */
int xb_writer_open_kernel(struct xb_writer *writer);
void xb_writer_close_kernel(struct xb_writer *writer);

/*
 * Builds a generation from what the transaction sees, with the settings that it has; the caller
 * holds both locks and owns *built. If there is no room for the wanted capacity, the generation is
 * sized by what is listed, with a warning, unless writer->exact is set.
 */
int xb_writer_rebuild(struct xb_writer *writer, struct xb_txn *txn, uint64_t sequence,
		      struct xb_generation **built);

/* Puts the generation in force and makes it writer->active; on failure, discards it. Takes over
 * `built` in either case. */
int xb_writer_publish(struct xb_writer *writer, struct xb_generation *built);

/* Before a commit while nothing is enforced: returns 0 if this machine could enforce what the
 * transaction wants, or if the change asks for less than before; otherwise an error. */
int xb_writer_check_room(struct xb_writer *writer);

#endif
