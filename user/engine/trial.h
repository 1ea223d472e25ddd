/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trial from begin to end: changes that go back by themselves unless they are committed. */
#ifndef XB_ENGINE_TRIAL_H
#define XB_ENGINE_TRIAL_H

#include "engine/context.h"
#include "engine/wish.h"
#include "store/trialrecord.h"

/*
 * Under the writer lock, anchor and generation open: looks at the trial there is. One that is over
 * is cleared away, so that the kernel is what the store says. -EINPROGRESS: one goes on that has a
 * second generation, and this writer does not commit it; changes have to wait. The message says for
 * what.
 */
int xb_trial_settle(struct xb_writer *writer);

/*
 * Puts `tried` (its generation's program) on trial for wish->seconds. The record is durable before
 * the guard is in force. No transaction is open. For a trial of interfaces `tried` is what is in
 * force anyway.
 */
int xb_trial_begin(struct xb_writer *writer, const struct xb_generation *tried,
		   const struct xb_wish *wish);

/* What was tried is in the store and in the generation in force: the guard leaves. */
int xb_trial_end(struct xb_writer *writer, const struct xb_generation *in_force);

/* Somebody makes the request of a trial once more, to last. */
struct xb_commit {
	const struct xb_paths *paths;
	struct xb_trial trial;
	int lock;
};

/*
 * Gives a trial that lives the time that its commit takes. Should this process die, the next one
 * that writes takes the time back. 1: there is none, or it is over. Only after 0 the caller makes
 * commit->trial.request with a wish that commits this trial, by the function of its kind
 * (xb_attach_wish() and so on), and then calls xb_trial_commit_end(). The text of an import or a
 * restore is what xb_trialtext_open() returns.
 */
int xb_trial_commit_begin(const struct xb_paths *paths, struct xb_commit *commit);

/* done: the change is made; else the trial ends when it would have ended without the commit. */
void xb_trial_commit_end(struct xb_commit *commit, bool done);

/*
 * Ends a trial at once, so that the former verdicts return: that of this interface (NULL: of any),
 * or one that keeps writers waiting. *was_tried: the interface was on trial.
 */
int xb_trial_abandon(const struct xb_paths *paths, const char *name, bool *was_tried);

/* For who only looks: the policy that the trial has put in force for all interfaces; -ENOENT
 * without a message: none is on trial there. */
int xb_trial_policy(const struct xb_paths *paths, const struct xb_anchor *anchor, uint32_t *policy);

#endif
