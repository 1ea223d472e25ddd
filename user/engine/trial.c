/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Order matters here: if the process dies in between, the kernel reverts when its clock runs out,
 * and the next command finds out by comparing the record with what stands in the slot. */
#include "engine/trial.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "attach/guardload.h"
#include "attach/pin.h"
#include "attach/swap.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/faultpoint.h"
#include "base/ifname.h"
#include "base/lock.h"
#include "base/program.h"
#include "engine/reconcile.h"
#include "engine/requesttext.h"
#include "filter/inforce.h"
#include "store/trialtext.h"

static int read_trial(struct xb_writer *writer, struct xb_trial *trial, uint64_t *store)
{
	struct xb_txn *txn;
	int error = xb_store_read(writer->store, &txn);

	if (error)
		return error;
	*store = txn->meta.identity;
	error = xb_trial_get(txn, trial);
	xb_txn_abort(txn);
	return error;
}

static int clear_record(struct xb_writer *writer)
{
	struct xb_txn *txn;
	int error = xb_store_write(writer->store, &txn);

	if (error)
		return error;
	return xb_txn_end(txn, xb_trial_delete(txn));
}

/* The program of the generation back into the slot, and everything else of the trial away. */
static int release_slot(struct xb_writer *writer, const struct xb_generation *in_force)
{
	int error;

	xb_guard_close(&writer->anchor.guard);
	error = xb_anchor_set_slot(&writer->anchor, in_force->program);
	if (error)
		return error;
	xb_anchor_quiesce();
	xb_guard_remove(writer->paths->pins);
	return 0;
}

/* The same, unless an interface is left with the program: then the guard lets it pass on. Without
 * such a generation it stays until one is published, with the former verdicts: nothing else would
 * be there. */
static int end_guard(struct xb_writer *writer, const struct xb_generation *in_force)
{
	return in_force && !xb_guard_any_left(&writer->anchor.guard)
		       ? release_slot(writer, in_force)
		       : xb_guard_end_trial(&writer->anchor.guard);
}

/* Also what somebody left who was killed at the beginning or the end of a trial. */
static int clear_away(struct xb_writer *writer, bool recorded)
{
	int error = 0;

	if (writer->anchor.guard.program >= 0) {
		/* Before the plain program, which filters all of them, stands in the slot. */
		error = xb_reconcile_release(writer);
		if (!error)
			error = end_guard(writer, writer->active);
	} else if (writer->anchored) {
		xb_guard_remove(writer->paths->pins);
	}
	xb_fault("rollback-released");
	if (!error && recorded)
		error = clear_record(writer);
	if (error)
		return error;
	xb_trialtext_remove(writer->paths->state);
	/* Whoever builds holds the builder lock: only then is a second generation nobody's. */
	if (writer->active && writer->builder_lock >= 0)
		xb_generation_sweep(writer->paths, writer->active->params.store,
				    writer->active->name);
	return 0;
}

static bool is_being_committed(const struct xb_paths *paths)
{
	uint64_t note;

	return xb_lock_is_held(paths->state, XB_COMMIT_LOCK, &note);
}

/* To writers a trial goes on behind its deadline, too, while its commit lives: that one ends it.
 * Packets have the former verdicts by then. */
static bool goes_on(const struct xb_paths *paths, const struct xb_trial *trial,
		    const struct xb_trial_cell *guard)
{
	return xb_trial_lives(trial, guard) ||
	       (guard->identity == trial->identity && guard->deadline && is_being_committed(paths));
}

/* What is tried belongs to a filter that this writer replaces. A commit makes it anew. */
static bool gives_way(const struct xb_writer *writer)
{
	return writer->outmoded && !is_being_committed(writer->paths);
}

static int refuse_change(const struct xb_writer *writer, const struct xb_trial *trial)
{
	uint64_t left = xb_trial_left(trial, &writer->anchor.guard.state);
	char command[128];

	xb_request_command(&trial->request, command, sizeof(command));
	if (left)
		xb_system_error(0, "`%s` is on trial for another %llu s", command,
				(unsigned long long)left);
	else
		xb_system_error(0, "`%s` was on trial, and is being committed", command);
	return -EINPROGRESS;
}

static int refuse_commit(void)
{
	return xb_system_error(0, "the trial ended before it was committed");
}

/* Whether a trial that lives lets this writer go on. */
static int check_writer(const struct xb_writer *writer, const struct xb_trial *trial)
{
	if (writer->how & XB_WRITE_COMMIT)
		return trial->identity == writer->commits ? 0 : refuse_commit();
	return writer->anchor.guard.state.everywhere ? refuse_change(writer, trial) : 0;
}

int xb_trial_settle(struct xb_writer *writer)
{
	struct xb_trial trial = {0};
	uint64_t store = 0;
	int error = read_trial(writer, &trial, &store);
	bool recorded = !error || error == -EBADMSG;

	if (error && error != -ENOENT && error != -EBADMSG)
		return error;
	if (error == -EBADMSG)
		xb_warning("the record of a trial was damaged, so the trial has ended");
	if (recorded) {
		error = xb_clock_check();
		if (error) {
			xb_trial_free(&trial);
			return error;
		}
	}
	if (recorded && !gives_way(writer) &&
	    goes_on(writer->paths, &trial, &writer->anchor.guard.state)) {
		error = check_writer(writer, &trial);
		if (error) {
			xb_trial_free(&trial);
			return error;
		}
		xb_trial_free(&writer->trial);
		writer->trial = trial;
		return 0;
	}
	xb_trial_free(&trial);
	/* What another store put in force is not this one's to end. */
	if (writer->active && writer->active->params.store != store)
		return 0;
	error = clear_away(writer, recorded && !writer->store->read_only);
	if (!error && writer->how & XB_WRITE_COMMIT)
		error = refuse_commit();
	return error;
}

int xb_trial_leave_slot(struct xb_writer *writer)
{
	return writer->active && writer->anchor.guard.program >= 0 && !writer->trial.identity
		       ? end_guard(writer, writer->active)
		       : 0;
}

static int ifindexes_of(const struct xb_attach_request *attach, uint32_t **out)
{
	*out = calloc(attach->count, sizeof(**out));
	if (!*out)
		return xb_out_of_memory();
	for (uint32_t i = 0; i < attach->count; i++) {
		int error = xb_ifindex(attach->names[i], &(*out)[i]);

		if (error)
			return error;
		if (!(*out)[i])
			return xb_input_error("%s: no such interface", attach->names[i]);
	}
	return 0;
}

/* Of what is enforced everywhere the former side is what is in force; interfaces have none. */
static int create_guard(struct xb_writer *writer, const struct xb_trial_cell *state,
			const struct xb_generation *tried, const struct xb_request *request,
			struct xb_guard *guard)
{
	uint32_t *ifindexes = NULL;
	int error;

	if (state->everywhere)
		return xb_guard_create(&writer->anchor, state, tried->program,
				       writer->active->program, NULL, 0, guard);
	error = ifindexes_of(&request->attach, &ifindexes);
	if (!error)
		error = xb_guard_create(&writer->anchor, state, tried->program, -1, ifindexes,
					request->attach.count, guard);
	free(ifindexes);
	return error;
}

static int record(struct xb_writer *writer, uint64_t identity, const struct xb_request *request)
{
	struct xb_txn *txn;
	int error = xb_store_write(writer->store, &txn);

	if (error)
		return error;
	return xb_txn_end(txn, xb_trial_put(txn, identity, request));
}

static int refuse_while_left(const struct xb_guard *guard)
{
	char name[IF_NAMESIZE] = "";
	uint32_t ifindex = 0;

	while ((ifindex = xb_guard_next(guard, ifindex)))
		if (xb_guard_has_left(guard, ifindex))
			xb_ifname(ifindex, name);
	return xb_system_error(0,
			       "%s still has the program, though it is detached: nothing can be "
			       "tried until the kernel takes it off",
			       name);
}

int xb_trial_begin(struct xb_writer *writer, const struct xb_generation *tried,
		   const struct xb_wish *wish)
{
	struct xb_trial_cell state = {.everywhere = wish->request->kind != XB_REQUEST_ATTACH};
	struct xb_guard guard = xb_no_guard;
	int error;

	if (xb_guard_any_left(&writer->anchor.guard))
		return refuse_while_left(&writer->anchor.guard);
	if (writer->anchor.guard.program >= 0)
		return xb_system_error(0, "another trial is running, and only one can at a time%s",
				       xb_advice(XB_ADVICE_COMMIT));
	error = xb_clock_check();
	if (error)
		return error;
	if (getrandom(&state.identity, sizeof(state.identity), 0) < 0)
		return xb_system_error(errno, "no random numbers");
	state.deadline = xb_clock() + wish->seconds * XB_SECOND;
	error = create_guard(writer, &state, tried, wish->request, &guard);
	xb_fault("trial-pinned");
	if (!error && wish->input)
		error = xb_trialtext_keep(writer->paths->state, wish->input, wish->input_fd);
	if (!error)
		error = record(writer, state.identity, wish->request);
	xb_fault("trial-recorded");
	if (!error)
		error = xb_anchor_set_slot(&writer->anchor, guard.program);
	xb_fault("trial-begun");
	if (error) {
		xb_guard_close(&guard);
		if (writer->anchor.pins)
			xb_guard_remove(writer->anchor.pins);
		return error;
	}
	writer->anchor.guard = guard;
	return 0;
}

int xb_trial_end(struct xb_writer *writer, const struct xb_generation *in_force)
{
	int error = end_guard(writer, in_force);

	xb_trialtext_remove(writer->paths->state);
	if (!error && in_force && writer->builder_lock >= 0)
		xb_generation_sweep(writer->paths, in_force->params.store, in_force->name);
	return error;
}

/* Runs `what` on the guard in the slot under the writer lock. */
static int with_guard(const struct xb_paths *paths,
		      int (*what)(struct xb_writer *, struct xb_guard *, void *), void *context)
{
	struct xb_writer writer = {.paths = paths, .builder_lock = -1, .writer_lock = -1};
	int error = xb_store_open(paths->state, XB_STORE_WRITE, &writer.store);

	if (!error)
		error = xb_writer_lock(&writer);
	if (!error)
		error = xb_anchor_open(paths->pins, &writer.anchor);
	writer.anchored = !error;
	if (!error)
		error = xb_anchor_at_home(&writer.anchor);
	if (!error)
		error = xb_anchored_refuse_newer(&writer.anchor);
	if (!error)
		error = what(&writer, &writer.anchor.guard, context);
	if (writer.anchored)
		xb_anchor_close(&writer.anchor);
	xb_store_close(writer.store);
	xb_unlock(writer.writer_lock);
	/* What an older bloomctl tried ends when its anchor is replaced. */
	return error == -ENOENT || error == -ESTALE ? 1 : error;
}

static int find_trial(struct xb_writer *writer, struct xb_guard *guard, void *context)
{
	struct xb_trial *trial = context;
	uint64_t store;
	int error = xb_clock_check();

	if (!error)
		error = read_trial(writer, trial, &store);
	return error || xb_trial_lives(trial, &guard->state) ? error : 1;
}

int xb_trial_commit_begin(const struct xb_paths *paths, struct xb_commit *commit)
{
	int error;

	*commit = (struct xb_commit){.lock = xb_lock(paths->state, XB_COMMIT_LOCK)};
	error = commit->lock < 0 ? commit->lock : with_guard(paths, find_trial, &commit->trial);
	if (error) {
		xb_trial_free(&commit->trial);
		xb_unlock(commit->lock);
	}
	return error;
}

void xb_trial_commit_end(struct xb_commit *commit)
{
	xb_trial_free(&commit->trial);
	xb_unlock(commit->lock);
}

struct abandonment {
	const char *name;
	bool was_tried;
};

static int abandon(struct xb_writer *writer, struct xb_guard *guard, void *context)
{
	struct abandonment *asked = context;
	struct xb_trial trial;
	uint64_t store;
	int error = read_trial(writer, &trial, &store);

	if (error)
		return error;
	asked->was_tried = asked->name && xb_trial_names(&trial, asked->name);
	if (goes_on(writer->paths, &trial, &guard->state) &&
	    (!asked->name || guard->state.everywhere || asked->was_tried))
		error = xb_guard_expire(guard);
	xb_trial_free(&trial);
	return error;
}

int xb_trial_abandon(const struct xb_paths *paths, const char *name, bool *was_tried)
{
	struct abandonment asked = {.name = name};
	int error = with_guard(paths, abandon, &asked);

	*was_tried = asked.was_tried;
	return error < 0 ? error : 0;
}

int xb_trial_policy(const struct xb_paths *paths, const struct xb_anchor *anchor, uint32_t *policy)
{
	struct xb_generation *generation;
	int error = xb_generation_open_tried(paths, anchor, &generation);

	if (error)
		return error;
	error = xb_generation_policy(generation, policy);
	xb_generation_close(generation);
	return error;
}
