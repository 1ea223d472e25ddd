/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Repair is the same work as starting: whatever is missing gets made. */
#include "engine/repair.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attach/attach.h"
#include "attach/refusal.h"
#include "attach/swap.h"
#include "attach/upgrade.h"
#include "base/error.h"
#include "base/faultpoint.h"
#include "base/ifname.h"
#include "base/program.h"
#include "engine/autoallow.h"
#include "engine/calls.h"
#include "engine/known.h"
#include "engine/place.h"
#include "engine/reconcile.h"
#include "engine/relief.h"
#include "engine/renames.h"
#include "engine/trial.h"
#include "filter/apply.h"
#include "store/changelog.h"
#include "store/expiry.h"
#include "store/wanted.h"

/* Whether the generation can be brought up to date by replaying the log. */
static bool is_current(const struct xb_generation *active, const struct xb_meta *meta)
{
	return xb_generation_is_sound(active) && active->params.store == meta->identity &&
	       xb_generation_fits(active, meta);
}

/* Counters that no change can use any more give way to those of the generation to come. */
static void free_room(struct xb_writer *writer, uint64_t store)
{
	if (!writer->active)
		xb_generation_sweep_counters(writer->paths, store, NULL);
	else if (writer->active->params.store == store)
		xb_generation_forget_counters(writer->paths, writer->active);
}

/* Brings the generation in force up to the store, from the log where that is possible. */
static int catch_up(struct xb_writer *writer, struct xb_txn *txn)
{
	bool takes_over = writer->foreign ||
			  (writer->active && writer->active->params.store != txn->meta.identity);
	struct xb_generation *built;
	int error;

	if (writer->active && is_current(writer->active, &txn->meta)) {
		error = xb_apply_replay(writer->active, txn);
		if (!error)
			error = xb_generation_match(writer->active, &txn->meta);
		if (error != -ENOENT)
			return error;
	}
	if (writer->builder_lock < 0)
		return -EAGAIN;
	free_room(writer, txn->meta.identity);
	error = xb_writer_rebuild(writer, txn, txn->meta.sequence, &built);
	if (!error)
		error = xb_writer_publish(writer, built);
	if (error)
		return error;
	writer->foreign = false;
	if (takes_over)
		xb_notice("%s enforced another store; it now enforces %s", writer->paths->pins,
			  writer->paths->state);
	return 0;
}

static int begin(struct xb_writer *writer, struct xb_txn *committed)
{
	int error;

	if (!writer->anchored) {
		if (writer->builder_lock < 0)
			return -EAGAIN;
		error = xb_anchor_create(writer->paths->pins, xb_anchor_flavour(), &writer->anchor);
		if (error)
			return error;
		writer->anchored = true;
		error = writer->outdated ? 0 : xb_renames_forget(writer, committed);
		if (error)
			return error;
		writer->outdated = false;
	}
	return catch_up(writer, committed);
}

int xb_repair_begin(struct xb_writer *writer)
{
	struct xb_txn *committed;
	int error = xb_store_read(writer->store, &committed);

	if (error)
		return error;
	error = begin(writer, committed);
	xb_txn_abort(committed);
	return error;
}

/* A machine that cannot make the filter is no reason to refuse the way out of it. */
static int go_without(struct xb_writer *writer, struct xb_txn *txn)
{
	writer->unmet = true;
	snprintf(writer->why_unmet, sizeof(writer->why_unmet), "%s", xb_error_message());
	return writer->active && writer->active->params.store == txn->meta.identity
		       ? xb_relief_apply(writer->active, txn)
		       : 0;
}

/* The anchor stays, for the sake of an interface that has the program; no filter does. */
static int end_but_for_left(struct xb_writer *writer, uint64_t store)
{
	int error = xb_reconcile_leave_all(writer);

	if (error)
		return error;
	xb_generation_close(writer->active);
	writer->active = NULL;
	xb_anchor_quiesce();
	xb_generation_sweep(writer->paths, store, NULL);
	return 0;
}

int xb_repair_end(struct xb_writer *writer, uint64_t store)
{
	int error = writer->outdated ? xb_anchor_set_aside(writer->paths->pins) : 0;

	if (!error && writer->anchored)
		error = xb_detach_all(&writer->anchor);
	if (error == XB_STAYS_ON)
		return end_but_for_left(writer, store);
	if (!error)
		error = xb_upgrade_finish(writer->paths->pins, NULL);
	if (error)
		return error;
	writer->outdated = false;
	xb_writer_close_kernel(writer);
	xb_anchor_destroy(writer->paths->pins);
	xb_guard_remove(writer->paths->pins);
	xb_generation_sweep(writer->paths, store, NULL);
	return 0;
}

/*
 * A fresh store must neither switch off nor change what a lost one put in force: that goes on until
 * the state is back, or an attach, a restore or `detach --all` takes over.
 */
static bool is_foreign(const struct xb_writer *writer, uint64_t identity, size_t wanted)
{
	/* Whose an older anchor is cannot be told: while nobody wants an interface it stays. */
	return (writer->outdated && !wanted) ||
	       (writer->active && writer->active->params.store != identity);
}

int xb_repair_allow(struct xb_writer *writer, const uint32_t *more, size_t count, bool all)
{
	char *const *tried;
	size_t tried_count = xb_trial_interfaces(&writer->trial, &tried);
	uint32_t *extra = calloc(tried_count + count + 1, sizeof(*extra));
	struct xb_autoallow asked = {
		.extra = extra,
		.extra_count = tried_count + count,
		.left = writer->left,
		.left_count = writer->left_count,
		.run = writer->paths->run,
		.all = all,
	};
	int error = 0;

	if (!extra)
		return xb_out_of_memory();
	for (size_t i = 0; !error && i < tried_count; i++)
		error = xb_ifindex(tried[i], &extra[i]);
	for (size_t i = 0; i < count; i++)
		extra[tried_count + i] = more[i];
	if (!error)
		error = xb_autoallow(writer->txn, &asked);
	free(extra);
	return error;
}

/* Commits the lifelines of now with what the transaction has, or gives it up. What is in force
 * learns of both as of any change: from the log. */
static int commit_with_lifelines(struct xb_writer *writer)
{
	struct xb_txn *txn = writer->txn;
	int error = xb_repair_allow(writer, NULL, 0, true);

	if (!error && txn->edits) {
		error = xb_changes_settle(&txn->change);
		if (!error && xb_changes_any(&txn->change))
			error = xb_changelog_append(txn, false);
		if (!error) {
			writer->txn = NULL;
			error = xb_txn_commit(txn);
		}
	}
	return error;
}

static void give_up(struct xb_writer *writer)
{
	xb_txn_abort(writer->txn);
	writer->txn = NULL;
}

static int allow_first(struct xb_writer *writer)
{
	int error = xb_store_write(writer->store, &writer->txn);

	if (!error)
		error = commit_with_lifelines(writer);
	give_up(writer);
	xb_fault("lifelines-known");
	return error;
}

int xb_repair_refuse_foreign(const struct xb_writer *writer)
{
	return xb_system_error(
		0,
		"%s enforces the list of another store (was its state directory lost?); bring that "
		"back%s",
		writer->paths->pins, xb_advice(XB_ADVICE_TAKE_OVER));
}

/* With another store's filter in force: to take it over, to let it alone, or to be refused. */
static int choose_side(struct xb_writer *writer, const struct xb_txn *txn, size_t wanted)
{
	if (!is_foreign(writer, txn->meta.identity, wanted))
		return 0;
	if (wanted && !(writer->how & (XB_WRITE_ADOPT | XB_WRITE_LEAVE)))
		return xb_repair_refuse_foreign(writer);
	if (wanted && writer->how & XB_WRITE_ADOPT)
		return 0;
	writer->foreign = true;
	xb_generation_close(writer->active);
	writer->active = NULL;
	return 0;
}

/* Whether an interface that is there has to be attached. */
static bool any_bare(const struct xb_interfaces *all)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->item[i].difference == XB_IFACE_BARE ||
		    all->item[i].difference == XB_IFACE_HELD)
			return true;
	return false;
}

/* How many interfaces are wanted, by the store or by the trial; whether what is in force is what
 * the store wants, but for the log. */
static int read_wishes(struct xb_writer *writer, uint64_t *store, size_t *count, bool *current)
{
	struct xb_wanted *wanted = NULL;
	char *const *tried;
	struct xb_txn *txn;
	int error = xb_store_read(writer->store, &txn);

	if (error)
		return error;
	*store = txn->meta.identity;
	error = xb_wanted_all(txn, &wanted, count);
	free(wanted);
	*count += xb_trial_interfaces(&writer->trial, &tried);
	if (!error)
		error = choose_side(writer, txn, *count);
	*current = writer->anchored && writer->active && is_current(writer->active, &txn->meta);
	xb_txn_abort(txn);
	return error;
}

/* What an older anchor and a killed writer knew of names. */
static int carry_over(struct xb_writer *writer)
{
	int error = writer->anchored ? xb_upgrade_carry(&writer->anchor) : 0;

	return error ? error : xb_renames_finish(writer);
}

/* Link and generation; before them, and before an interface is attached, the lifelines. */
static int begin_wanted(struct xb_writer *writer, bool current)
{
	bool fresh = !writer->anchored;
	struct xb_txn *txn;
	int error;

	if (!fresh) {
		error = xb_reconcile_look(writer);
		if (error)
			return error;
	}
	/* A disk that cannot be written keeps nothing from being enforced. */
	if ((!current || any_bare(&writer->interfaces)) && allow_first(writer))
		xb_warning("the automatic allowlist is not brought up to date: %s",
			   xb_error_message());
	error = xb_store_read(writer->store, &txn);
	if (error)
		return error;
	error = begin(writer, txn);
	if (error && error != -EAGAIN)
		error = go_without(writer, txn);
	xb_txn_abort(txn);
	if (!error)
		error = xb_trial_leave_slot(writer);
	if (error || !fresh)
		return error;
	error = carry_over(writer);
	return error ? error : xb_reconcile_look(writer);
}

static bool any_open(const struct xb_interfaces *all)
{
	for (size_t i = 0; i < all->count; i++)
		if (xb_interface_is_open(&all->item[i]))
			return true;
	return false;
}

/* In libxdp's dispatcher the older entry came first, and packets that it dropped reached ours not.
 */
static int begin_calls(struct xb_writer *writer)
{
	int error = 0;

	for (size_t i = 0; !error && i < writer->interfaces.count; i++) {
		const struct xb_interface *item = &writer->interfaces.item[i];

		if (item->now.ifindex && item->enrolled.ifindex == item->now.ifindex)
			error = xb_calls_begin(&writer->anchor, item->enrolled.row,
					       item->now.ifindex, 0);
	}
	return error;
}

static int match_interfaces(struct xb_writer *writer)
{
	int error = writer->anchored ? xb_reconcile(writer) : 0;

	if (!writer->anchored)
		return 0;
	/* What could not be attached anew had better keep the older entry. */
	if (error || any_open(&writer->interfaces) || !xb_upgrade_is_on(writer->paths->pins))
		return error;
	error = xb_upgrade_finish(writer->paths->pins, &writer->anchor);
	return error ? error : begin_calls(writer);
}

/* Before the filter, which may look them up. Nothing but that filter needs them: without them a
 * command does all else that it has to. */
static void settle_known(struct xb_writer *writer, uint64_t store, bool wanted)
{
	struct xb_known_wish wish = {.on = true};
	struct xb_txn *txn;
	int error = xb_store_read(writer->store, &txn);

	if (!error) {
		error = xb_known_wish_get(txn, &wish);
		xb_txn_abort(txn);
	}
	if (!error)
		error = xb_known_settle(writer->paths, store, &wish,
					wanted || writer->how & XB_WRITE_SETTLE);
	/* What nobody wants is ended by the next command. */
	if (error && wish.on)
		xb_warning("known sources are not remembered: %s", xb_error_message());
	if (writer->active)
		xb_generation_note_known(writer->paths, writer->active);
}

int xb_repair(struct xb_writer *writer)
{
	bool current = false;
	uint64_t store = 0;
	size_t count = 0;
	int error = xb_place_choose(writer);

	writer->unmet = false;
	if (error || writer->away)
		return error;
	error = carry_over(writer);
	if (!error)
		error = xb_trial_settle(writer);
	if (!error)
		error = read_wishes(writer, &store, &count, &current);
	if (error || writer->foreign)
		return error;
	settle_known(writer, store, count);
	if (!count)
		return writer->anchored ? xb_repair_end(writer, store) : 0;
	error = begin_wanted(writer, current);
	return error ? error : match_interfaces(writer);
}
