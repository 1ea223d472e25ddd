/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Locks, repair, transaction, kernel, acknowledgement: in this order, and safe to die anywhere. */
#include "engine/writepath.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/patience.h"
#include "engine/admission.h"
#include "engine/reconcile.h"
#include "engine/repair.h"
#include "engine/session.h"
#include "engine/takeeffect.h"
#include "engine/tallies.h"
#include "engine/trial.h"
#include "engine/vlans.h"
#include "model/policy.h"
#include "store/expiry.h"
#include "store/journal.h"
#include "store/trialtext.h"

/* The change in a generation of its own, which the store does not know of. */
static int try_generation(struct xb_writer *writer, const struct xb_wish *wish)
{
	struct xb_generation *built;
	int error;

	if (!writer->active)
		return xb_trial_baseless();
	if (writer->builder_lock < 0)
		return -EAGAIN;
	error = xb_writer_rebuild(writer, writer->txn, writer->txn->meta.sequence, &built);
	if (error)
		return error;
	xb_txn_abort(writer->txn);
	writer->txn = NULL;
	error = xb_trial_begin(writer, built, wish);
	if (error)
		xb_generation_discard(writer->paths, built);
	else
		xb_generation_close(built);
	return error;
}

/* Before queries are answered for the first time, and after an interface was attached; of all else
 * the repair has taken care. */
static int settle_vlans(const struct xb_writer *writer)
{
	bool answered = false;
	int error;

	if (!writer->anchored || writer->foreign || writer->away ||
	    (writer->answers && !(writer->how & XB_WRITE_HEAVY)))
		return 0;
	error = xb_queries_answered_by(writer->txn, &answered);
	return error || !answered ? error : xb_vlans_settle(&writer->anchor);
}

static int bring_into_force(struct xb_writer *writer, const struct xb_wish *wish)
{
	const struct xb_meta *meta = &writer->txn->meta;
	int error = xb_policy_check(meta->policy, !meta->unconfirmed);

	if (!error)
		error = settle_vlans(writer);
	if (error)
		return error;
	if (wish && writer->unmet)
		return xb_system_error(0, "%s", writer->why_unmet);
	if (wish && wish->request->kind != XB_REQUEST_ATTACH)
		return try_generation(writer, wish);
	if (writer->how & XB_WRITE_COMMIT)
		error = xb_trial_delete(writer->txn);
	if (!error)
		error = xb_take_effect(writer);
	if (!error && writer->how & XB_WRITE_COMMIT)
		error = xb_trial_end(writer, writer->active);
	if (!error && wish) {
		xb_txn_abort(writer->txn);
		writer->txn = NULL;
		error = xb_trial_begin(writer, writer->active, wish);
	}
	return error;
}

static int finish(struct xb_writer *writer, const struct xb_wish *wish, struct xb_written *written)
{
	struct xb_admission admission;
	int error = xb_admission_begin(writer, &admission);

	if (error)
		return error;
	error = bring_into_force(writer, wish);
	/* Durable as well, but the next attempt does not see what was before. */
	if (!error || error == -EXFULL)
		xb_admission_settle(writer->paths, &admission, &written->shuts_out);
	return error;
}

void xb_written_free(struct xb_written *written)
{
	xb_interfaces_free(&written->interfaces);
	written->looked = false;
}

uint32_t xb_write_tell_open(struct xb_written *written)
{
	const struct xb_interfaces *all = &written->interfaces;
	uint32_t amiss = 0, open = 0, wanted = 0;
	char text[XB_AMISS_TEXT];

	for (size_t i = 0; i < all->count; i++) {
		const struct xb_interface *item = &all->item[i];

		wanted += item->wanted[0] != '\0';
		open += xb_interface_is_open(item);
		if (!xb_interface_is_amiss(item))
			continue;
		amiss++;
		xb_warning("%s", xb_interface_amiss(item, text));
	}
	if (written->looked && !wanted)
		xb_notice("done; nothing is filtered: no interface is attached");
	if (open > 1 && open == wanted)
		xb_warning("nothing is filtered: none of the %u wanted interfaces is", wanted);
	xb_written_free(written);
	return amiss;
}

/* Attaching and detaching happens in commands that are heavy; to others it is as repair left it.
 * Returns whether writer->interfaces is so. */
static bool look_at_last(struct xb_writer *writer)
{
	return !writer->resumed && !writer->foreign && !writer->away &&
	       (!(writer->how & XB_WRITE_HEAVY) || !xb_reconcile_look_again(writer));
}

static void note_outcome(struct xb_writer *writer, bool failed, struct xb_written *written)
{
	bool looked = !failed && look_at_last(writer);

	if (!failed && writer->active && xb_generation_is_full(writer->active))
		written->growth_due = true;
	written->overdue = writer->overdue;
	xb_written_free(written);
	if (!failed && (looked || writer->resumed))
		xb_session_keep(writer);
	if (!looked)
		return;
	written->interfaces = writer->interfaces;
	written->looked = true;
	writer->interfaces = (struct xb_interfaces){0};
}

void xb_write_last(void)
{
	xb_locks_drop();
}

static void close_writer(struct xb_writer *writer, bool keeps_locks)
{
	xb_txn_abort(writer->txn);
	xb_interfaces_free(&writer->interfaces);
	xb_trial_free(&writer->trial);
	xb_writer_close_kernel(writer);
	xb_store_close(writer->store);
	if (keeps_locks) {
		xb_lock_keep(XB_WRITER_LOCK, writer->writer_lock);
		xb_lock_keep(XB_BUILDER_LOCK, writer->builder_lock);
	} else {
		xb_unlock(writer->writer_lock);
		xb_unlock(writer->builder_lock);
	}
}

/* The change was the cure: what waited for a filter, interfaces among it, can have it now. */
static int enforce_cured(struct xb_writer *writer)
{
	writer->how &= ~XB_WRITE_COMMIT;
	return xb_repair(writer);
}

/* A change and how it is to be made. */
struct change {
	const struct xb_paths *paths;
	unsigned int how;
	const struct xb_wish *wish;
	int (*body)(struct xb_writer *writer, void *context);
	void *context;
	struct xb_written *written;
	uint64_t commits;
};

/* What is wanted is enforced also from a store that nobody can write; opening such a store has kept
 * out writers that reach it by another way. */
static int lock_out_others(const struct change *change, struct xb_writer *writer)
{
	return writer->store->read_only && writer->how & XB_WRITE_SETTLE && !change->body
		       ? 0
		       : xb_writer_lock(writer);
}

/* The store and the locks. */
static int open_store(const struct change *change, struct xb_writer *writer)
{
	const char *state = change->paths->state;
	int error = xb_store_open(state, XB_STORE_CREATE, &writer->store);

	if (!error && change->how & XB_WRITE_HEAVY) {
		writer->builder_lock = xb_lock(state, XB_BUILDER_LOCK);
		error = writer->builder_lock < 0 ? writer->builder_lock : 0;
	}
	return error ? error : lock_out_others(change, writer);
}

/* The kernel as the store wants it. */
static int open_kernel(struct xb_writer *writer)
{
	int error;

	writer->resumed = xb_session_resume(writer);
	if (writer->resumed)
		return 0;
	error = xb_writer_open_kernel(writer);
	if (!error || error == -ESTALE)
		error = xb_repair(writer);
	if (!error && writer->writer_lock < 0)
		error = xb_system_error(EROFS, "what is wanted is enforced, but the store cannot "
					       "be written");
	return error;
}

/* The session was wrong: what is in force is not of this store's history, though the store has the
 * same number of its last transaction, as a copy that was written over it may have. */
#define NOT_AS_IT_WAS (-EREMCHG)

static bool is_of_this_history(const struct xb_writer *writer)
{
	return !writer->active || xb_generation_is_current(writer->active, &writer->txn->meta);
}

/* At most this many expire in one transaction: with as many other changes it still stays below a
 * bulk change, which would need a new generation. */
#define BRIEF_SWEEP (XB_CHANGES_MAX / 2)

static int sweep(struct xb_writer *writer)
{
	bool brief = writer->how & XB_WRITE_BRIEF && !writer->unmet;
	uint64_t most = brief ? BRIEF_SWEEP : UINT64_MAX;
	int error = xb_expiry_sweep_some(writer->txn, writer->now, most, &writer->expired);

	writer->overdue = writer->expired == most;
	return error;
}

/* What the command is for. Settings that it changes are told of; lists tell by themselves. */
static int call_body(const struct change *change, struct xb_writer *writer)
{
	uint64_t before = writer->txn->edits;
	int error = change->body(writer, change->context);

	if (!error && writer->txn && writer->txn->edits != before)
		xb_journal_note(writer->txn);
	return error;
}

/* All that the transaction has, before it is decided whether it is committed. */
static int change_store(const struct change *change, struct xb_writer *writer)
{
	int error = xb_store_write(writer->store, &writer->txn);

	if (error)
		return error;
	writer->before = writer->txn->meta;
	error = xb_queries_answered_by(writer->txn, &writer->answers);
	if (error)
		return error;
	if (writer->resumed && !is_of_this_history(writer))
		return NOT_AS_IT_WAS;
	error = sweep(writer);
	if (!error && change->body)
		error = call_body(change, writer);
	if (!error && writer->txn && !writer->resumed &&
	    ((!writer->foreign && !writer->away) || writer->adopts))
		error = xb_repair_allow(writer, NULL, 0, writer->how & XB_WRITE_SURVEY);
	return error;
}

/* What the metrics say of a write that has ended. */
static void tally(const struct change *change, const struct xb_writer *writer, uint64_t begun)
{
	if (!writer->before.identity || writer->txn || change->wish)
		return;
	xb_tally_time(change->paths, XB_TALLY_COMMIT_SECONDS, xb_clock() - begun);
	if (writer->expired)
		xb_tally_add(change->paths, XB_TALLY_EXPIRED, NULL, NULL, writer->expired);
}

static int attempt(const struct change *change)
{
	struct xb_writer writer = {.paths = change->paths,
				   .builder_lock = -1,
				   .writer_lock = -1,
				   .how = change->how,
				   .commits = change->commits,
				   .adopts = change->how & XB_WRITE_ADOPT,
				   .now = (uint32_t)time(NULL)};
	uint64_t begun;
	bool unmet;
	int error = open_store(change, &writer);

	begun = xb_clock();
	if (!error)
		error = open_kernel(&writer);
	if (!error)
		error = change_store(change, &writer);
	unmet = writer.unmet;
	if (!error && writer.txn)
		error = finish(&writer, change->wish, change->written);
	if (!error)
		tally(change, &writer, begun);
	if (!error && unmet)
		error = enforce_cured(&writer);
	note_outcome(&writer, error, change->written);
	close_writer(&writer, change->how & XB_WRITE_FIRST && (!error || error == XB_UNMET));
	return error;
}

#define WAIT_STEP 100000 /* us */

/* After an attempt that failed, nothing is kept, so the second one opens and repairs all. */
static int attempt_anew(const struct change *change)
{
	int error = attempt(change);

	return error == NOT_AS_IT_WAS ? attempt(change) : error;
}

/* Until no trial stands in the way. */
static int attempt_in_turn(const struct change *change)
{
	struct xb_wait wait = {0};
	char whom[256];
	int error;

	while ((error = attempt_anew(change)) == -EINPROGRESS) {
		snprintf(whom, sizeof(whom), "%s", xb_error_message());
		if (!xb_wait_on(&wait, whom))
			return -EBUSY;
		usleep(WAIT_STEP);
		/* What the attempt waits for is counted there. */
		xb_wait_end(&wait);
	}
	return error;
}

static int write_change(struct change change)
{
	int error = attempt_in_turn(&change);
	bool durable = error == -EXFULL;

	if (change.how & XB_WRITE_HEAVY || (error != -EAGAIN && !durable))
		return error;
	/* Durable, but without a place in the generation: repair builds one that has it. What is
	 * left to do is to begin a trial, if it was wished for. */
	if (durable)
		change.body = NULL;
	change.how |= XB_WRITE_HEAVY;
	error = write_change(change);
	return error && error != XB_UNMET && durable && !change.wish ? xb_stay_unapplied() : error;
}

int xb_write(const struct xb_paths *paths, unsigned int how,
	     int (*body)(struct xb_writer *, void *), void *context, struct xb_written *written)
{
	return write_change((struct change){
		.paths = paths, .how = how, .body = body, .context = context, .written = written});
}

int xb_write_wish(const struct xb_paths *paths, unsigned int how, const struct xb_wish *wish,
		  int (*body)(struct xb_writer *, void *), void *context,
		  struct xb_written *written)
{
	if (wish->commits)
		how |= XB_WRITE_COMMIT | XB_WRITE_HEAVY;
	return write_change((struct change){.paths = paths,
					    .how = how,
					    .wish = wish->seconds ? wish : NULL,
					    .body = body,
					    .context = context,
					    .written = written,
					    .commits = wish->commits});
}
