/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trial from begin to end: changes that go back by themselves unless they are committed. */
#ifndef XB_ENGINE_TRIAL_H
#define XB_ENGINE_TRIAL_H

#include "engine/context.h"
#include "store/trialrecord.h"

/*
 * Under the writer lock, link and generation open: looks at the trial there is. One that is over is
 * cleared away, so that the kernel is what the store says. -EINPROGRESS: one goes on that has a
 * second generation, and this writer does not commit it; changes have to wait. The message says for
 * what.
 */
int xb_rollback_settle(struct xb_writer *writer);

/*
 * Puts `tried` (its generation's program) on trial for wish->seconds. The record is durable before
 * the guard is in force. No transaction is open. For a trial of interfaces `tried` is what is in
 * force anyway.
 */
int xb_rollback_begin(struct xb_writer *writer, const struct xb_generation *tried,
		      const struct xb_wish *wish);

/* What was tried is in the store and in the generation in force: the guard leaves. */
int xb_rollback_end(struct xb_writer *writer, const struct xb_generation *in_force);

/*
 * For `commit`: gives a trial that lives so many more seconds, from now on, as long as the lock is
 * held: without it the next writer takes them back. 1: there is none, or it is over. Else *trial is
 * it, and the caller frees it. *lock: to be released at the end, also on failure.
 */
int xb_rollback_extend(const struct xb_paths *paths, uint32_t seconds, struct xb_trial *trial,
		       int *lock);

/*
 * Ends a trial at once, so that the former verdicts return: that of this interface (NULL: of any),
 * or one that keeps writers waiting. *was_tried: the interface was on trial.
 */
int xb_rollback_abandon(const struct xb_paths *paths, const char *name, bool *was_tried);

/* Its end is again what it was, after a commit that failed. */
int xb_rollback_unextend(const struct xb_paths *paths);

/* For who only looks: the policy that the trial has put in force for all interfaces; -ENOENT
 * without a message: none is on trial there. */
int xb_rollback_policy(const struct xb_paths *paths, const struct xb_link *link, uint32_t *policy);

#endif
