/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trial from begin to end: a change that is undone automatically unless somebody commits it. */
#ifndef XB_ENGINE_TRIAL_H
#define XB_ENGINE_TRIAL_H

#include "engine/context.h"
#include "engine/wish.h"
#include "store/trialrecord.h"

/*
 * Under the writer lock, with anchor and generation open: looks for a trial. Clears away one that
 * is over, or of a filter that an older version built, so that the kernel matches the store; a live
 * one becomes writer->trial. -EINPROGRESS, with a message: a live trial has a second generation,
 * and this writer does not commit it, so it has to wait.
 */
int xb_trial_settle(struct xb_writer *writer);

/* Once a generation is in force again: takes the guard out of the slot that a trial which is over
 * left there for want of one. */
int xb_trial_leave_slot(struct xb_writer *writer);

/*
 * Puts the program of `tried` on trial for wish->seconds; for a trial of interfaces, that is the
 * generation in force. The record is durable before the guard comes into force. The caller holds
 * the writer lock and has no transaction open.
 */
int xb_trial_begin(struct xb_writer *writer, const struct xb_generation *tried,
		   const struct xb_wish *wish);

/* Takes the guard out of the slot, once store and generation have the change that was tried. */
int xb_trial_end(struct xb_writer *writer, const struct xb_generation *in_force);

/* A commit: the request of a trial is made once more, to last. */
struct xb_commit {
	struct xb_trial trial;
	int lock; /* shows others that the commit is alive */
};

/*
 * Keeps a live trial for its commit: until the end of the commit, or of this process, writers take
 * it for one that goes on. The guard keeps its deadline, so the former verdicts return then, until
 * the commit is done. Returns 0, 1 if no trial is live, or an error with its message. Only after 0,
 * the caller carries out commit->trial.request, with a wish that commits this trial, by
 * the function of its kind (xb_attach_wish() and so on), and then calls xb_trial_commit_end(). For
 * an import or a restore, xb_trialtext_open() has the text.
 */
int xb_trial_commit_begin(const struct xb_paths *paths, struct xb_commit *commit);

/* Ends the commit. If it did not make the change, the trial goes on until its deadline. */
void xb_trial_commit_end(struct xb_commit *commit);

/*
 * Ends a trial at once, so that the former verdicts return: a trial of the interface `name` (NULL:
 * any trial), or one that keeps writers waiting. *was_tried: that interface was on trial. Returns 0
 * or an error with its message.
 */
int xb_trial_abandon(const struct xb_paths *paths, const char *name, bool *was_tried);

/* For readers: the policy of the generation that a trial has put in force for all interfaces.
 * -ENOENT without a message: there is no such trial. */
int xb_trial_policy(const struct xb_paths *paths, const struct xb_anchor *anchor, uint32_t *policy);

#endif
