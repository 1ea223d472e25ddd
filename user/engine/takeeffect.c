/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Transaction, then kernel: in this order, and safe to die in between. */
#include "engine/takeeffect.h"

#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "base/faultpoint.h"
#include "base/lock.h"
#include "engine/relief.h"
#include "engine/repair.h"
#include "filter/apply.h"
#include "filter/fit.h"
#include "filter/namesteps.h"
#include "store/changelog.h"

/* What no builder and no generation needs any more. */
static int trim_log(struct xb_writer *writer)
{
	bool replays = writer->active && writer->active->header;
	uint64_t floor = replays ? writer->active->header->applied : writer->txn->meta.sequence,
		 snapshot;

	if (writer->builder_lock < 0 &&
	    xb_lock_is_held(writer->paths->state, XB_BUILDER_LOCK, &snapshot) && snapshot < floor)
		floor = snapshot;
	return xb_changelog_trim(writer->txn, floor);
}

/* Ends the transaction; the writer has none after it. */
static int commit(struct xb_writer *writer)
{
	struct xb_txn *txn = writer->txn;
	int error;

	xb_fault("commit-before");
	writer->txn = NULL;
	error = xb_txn_commit(txn);
	xb_fault("commit-after");
	return error;
}

int xb_stay_unapplied(void)
{
	return xb_error_prefix(XB_UNMET, "the change is kept, but is not in force yet");
}

/* What was committed. -EXFULL as xb_apply() has it. */
static int put_in_force(struct xb_writer *writer, const struct xb_changes *changes,
			uint64_t sequence)
{
	struct xb_txn *after;
	int error = xb_store_read(writer->store, &after);

	if (!error) {
		writer->active->header->mark = after->meta.mark;
		error = xb_apply(writer->active, after, changes, sequence);
		xb_txn_abort(after);
	}
	return error && error != -EXFULL ? xb_stay_unapplied() : error;
}

/* The usual change: durable first, then bit by bit in the generation in force. steps: of the
 * changes, which are the transaction's. */
static int commit_in_place(struct xb_writer *writer, struct xb_changes *changes,
			   const struct xb_changes *steps)
{
	uint64_t sequence;
	int error;

	if (!xb_generation_is_current(writer->active, &writer->txn->meta))
		return xb_system_error(0, "the filter is behind the list; the next command brings "
					  "it up to date");
	error = xb_fit_prepare(writer->active, steps);
	if (!error)
		error = trim_log(writer);
	if (!error)
		error = xb_changelog_append(writer->txn, false);
	if (error)
		return error;
	sequence = writer->txn->meta.sequence;
	writer->txn->change = (struct xb_changes){0};
	error = commit(writer);
	if (!error)
		error = put_in_force(writer, steps, sequence);
	xb_changes_free(changes);
	return error;
}

/* A generation that has the change is complete: durable, then in force right after. */
static int commit_built(struct xb_writer *writer, struct xb_generation *built)
{
	int error = trim_log(writer);

	if (!error)
		error = xb_changelog_append(writer->txn, true);
	if (!error)
		error = commit(writer);
	if (!error)
		return xb_writer_publish(writer, built);
	xb_generation_discard(writer->paths, built);
	return error;
}

/* The large change: nothing is durable before it is clear that it can be in force. */
static int commit_with_new_generation(struct xb_writer *writer)
{
	struct xb_generation *built;
	int error;

	if (writer->builder_lock < 0)
		return -EAGAIN;
	error = xb_writer_rebuild(writer, writer->txn, writer->txn->meta.sequence + 1, &built);
	return error ? error : commit_built(writer, built);
}

/* The change in the store alone. */
static int commit_listed(struct xb_writer *writer)
{
	int error = 0;

	if (xb_changes_any(&writer->txn->change)) {
		xb_changelog_advance(writer->txn);
		error = xb_changelog_trim(writer->txn, writer->txn->meta.sequence);
	}
	return error ? error : commit(writer);
}

/* What is durable waits for a filter. */
static int stay_unmet(const struct xb_writer *writer)
{
	xb_system_error(0, "the change is kept, but the filter that is wanted cannot be made: %s",
			writer->why_unmet);
	return XB_UNMET;
}

/* The change is durable, but the generation in force has no place for one of its keys. */
static int enforce_anew(struct xb_writer *writer)
{
	if (!xb_repair_begin(writer))
		return 0;
	snprintf(writer->why_unmet, sizeof(writer->why_unmet), "%s", xb_error_message());
	return stay_unmet(writer);
}

static int apply_relief(struct xb_writer *writer)
{
	struct xb_txn *after;
	int error;

	if (!writer->active)
		return 0;
	error = xb_store_read(writer->store, &after);
	if (!error) {
		error = xb_relief_apply(writer->active, after);
		xb_txn_abort(after);
	}
	return error;
}

/*
 * The filter that the store wants could not be made. Perhaps the change is the cure; else it is
 * made all the same if it asks for less, so that nobody is locked in by what the machine lacks.
 */
static int commit_unmet(struct xb_writer *writer)
{
	struct xb_generation *built = NULL;
	int error;

	if (!writer->txn->edits)
		return xb_system_error(0, "%s", writer->why_unmet), XB_UNMET;
	error = writer->anchored ? xb_writer_rebuild(writer, writer->txn,
						     writer->txn->meta.sequence + 1, &built)
				 : xb_system_error(0, "%s", writer->why_unmet);
	if (!error)
		return commit_built(writer, built);
	if (!xb_relief_is(&writer->before, writer->txn))
		return error;
	snprintf(writer->why_unmet, sizeof(writer->why_unmet), "%s", xb_error_message());
	error = commit_listed(writer);
	if (!error)
		error = apply_relief(writer);
	return error ? error : stay_unmet(writer);
}

/* Whether a new generation has to be built for what the transaction wants. */
static bool needs_generation(const struct xb_writer *writer, const struct xb_changes *steps)
{
	return !xb_generation_fits(writer->active, &writer->txn->meta) ||
	       !xb_fit_accepts(writer->active, steps);
}

/* In a filter that is in force. *built: by a new one. -EXFULL as xb_apply() has it. */
static int change_filter(struct xb_writer *writer, bool *built)
{
	struct xb_changes changes = writer->txn->change;
	struct xb_namesteps steps;
	int error = xb_namesteps_find(writer->txn, &changes, &steps);

	*built = !error && needs_generation(writer, steps.all);
	if (*built)
		error = commit_with_new_generation(writer);
	else if (!error && xb_changes_any(&changes))
		error = commit_in_place(writer, &changes, steps.all);
	xb_namesteps_free(&steps);
	return error;
}

int xb_take_effect(struct xb_writer *writer)
{
	uint32_t policy = writer->txn->meta.policy;
	bool built = false;
	int error;

	writer->exact = writer->txn->meta.capacity != writer->before.capacity;
	if (writer->unmet)
		return commit_unmet(writer);
	if (!writer->txn->edits)
		return 0;
	error = xb_changes_settle(&writer->txn->change);
	if (error)
		return error;
	if (writer->foreign && !writer->adopts && xb_changes_any(&writer->txn->change))
		return xb_repair_refuse_foreign(writer);
	error = writer->active ? change_filter(writer, &built) : xb_writer_check_room(writer);
	if (built)
		return error;
	if (error == -EXFULL && writer->builder_lock >= 0)
		error = enforce_anew(writer);
	if (!error && writer->txn)
		error = commit_listed(writer);
	if (!error && writer->active)
		error = xb_generation_set_policy(writer->active, policy);
	return error;
}
