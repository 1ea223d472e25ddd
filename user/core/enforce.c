/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Repair is the same work as starting: whatever is missing gets made. */
#include "enforce.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apply.h"
#include "attach.h"
#include "autoallow.h"
#include "changelog.h"
#include "error.h"
#include "fault.h"
#include "ifname.h"
#include "relief.h"
#include "rollback.h"
#include "upgrade.h"
#include "wanted.h"

int xb_enforce_open(struct xb_writer *writer)
{
	int error = xb_link_open(writer->paths->pins, &writer->link);

	writer->outdated = error == -ESTALE;
	if (error)
		return error == -ENOENT ? 0 : error;
	writer->linked = true;
	error = xb_generation_open(writer->paths, &writer->link, &writer->active);
	return error == -ENOENT ? 0 : error;
}

void xb_enforce_close(struct xb_writer *writer)
{
	xb_generation_close(writer->active);
	writer->active = NULL;
	if (writer->linked)
		xb_link_close(&writer->link);
	writer->linked = false;
}

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
	if (error)
		return error;
	error = xb_generation_publish(writer->paths, &writer->link, built);
	if (error) {
		xb_generation_discard(writer->paths, built);
		return error;
	}
	xb_generation_close(writer->active);
	writer->active = built;
	return 0;
}

int xb_enforce_begin(struct xb_writer *writer, struct xb_txn *txn)
{
	int error;

	if (!writer->linked) {
		if (writer->builder_lock < 0)
			return -EAGAIN;
		error = xb_link_create(writer->paths->pins, xb_link_flavour(), &writer->link);
		if (error)
			return error;
		writer->linked = true;
		writer->outdated = false;
	}
	return catch_up(writer, txn);
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

/* Interfaces on trial: wanted while it goes on, by nobody but the trial. */
static int add_tried(const struct xb_writer *writer, struct xb_wanted **wanted, size_t *count)
{
	const struct xb_trial *trial = &writer->trial;
	struct xb_wanted *grown;

	if (!trial->name_count)
		return 0;
	grown = realloc(*wanted, (*count + trial->name_count) * sizeof(*grown));
	if (!grown)
		return xb_out_of_memory();
	*wanted = grown;
	for (uint32_t i = 0; i < trial->name_count; i++) {
		struct xb_wanted one = {.mode = XB_MODE_AUTO};

		memcpy(one.name, trial->names[i], sizeof(one.name));
		grown[(*count)++] = one;
	}
	return 0;
}

/* Without any filter in force an interface is as good without a program. */
static int attach_wanted(struct xb_writer *writer, const struct xb_wanted *wanted, size_t count,
			 uint32_t *missing)
{
	if (!writer->linked || !xb_link_active(&writer->link)) {
		*missing = (uint32_t)count;
		return 0;
	}
	for (size_t i = 0; i < count; i++) {
		enum xb_mode mode;
		int is = xb_is_attached(&writer->link, wanted[i].name), error = is < 0 ? is : 0;

		if (!is)
			error = xb_attach(&writer->link, wanted[i].name, wanted[i].mode, &mode);
		if (error) {
			++*missing;
			xb_notice("warning: %s", xb_error_message());
		}
	}
	return 0;
}

int xb_enforce_end(struct xb_writer *writer, uint64_t store)
{
	int error = writer->outdated ? xb_link_set_aside(writer->paths->pins) : 0;

	if (!error && writer->linked)
		error = xb_detach_unwanted(&writer->link, NULL, 0);
	if (!error)
		error = xb_upgrade_finish(writer->paths->pins, NULL);
	if (error)
		return error;
	writer->outdated = false;
	xb_enforce_close(writer);
	xb_link_destroy(writer->paths->pins);
	xb_generation_sweep(writer->paths, store, NULL);
	return 0;
}

/*
 * A fresh store must neither switch off nor change what a lost one put in force: that goes on until
 * the state is back, or an attach, a restore or `detach --all` takes over.
 */
static bool is_foreign(const struct xb_writer *writer, uint64_t identity)
{
	/* Whose an older link is cannot be told: while nobody wants an interface it stays. */
	return writer->outdated || (writer->active && writer->active->params.store != identity);
}

int xb_enforce_allow(struct xb_writer *writer, bool all)
{
	const struct xb_trial *trial = &writer->trial;
	uint32_t *tried = calloc(trial->name_count + 1, sizeof(*tried));
	int error = 0;

	if (!tried)
		return xb_out_of_memory();
	for (uint32_t i = 0; !error && i < trial->name_count; i++)
		error = xb_ifindex(trial->names[i], &tried[i]);
	if (!error)
		error = xb_autoallow(writer->txn, writer->linked ? &writer->link : NULL, tried,
				     trial->name_count, all);
	free(tried);
	return error;
}

/* Whether repair has to publish a generation, or to attach an interface that is there. */
static bool puts_in_force(const struct xb_writer *writer, const struct xb_meta *meta,
			  const struct xb_wanted *wanted, size_t count)
{
	if (!writer->linked || !writer->active || !is_current(writer->active, meta))
		return true;
	for (size_t i = 0; i < count; i++) {
		uint32_t ifindex;

		if (xb_is_attached(&writer->link, wanted[i].name) == 0 &&
		    !xb_link_ifindex(&writer->link, wanted[i].name, &ifindex) && ifindex)
			return true;
	}
	return false;
}

/* Commits the lifelines of now. What is in force learns of them as of any change: from the log. */
static int allow_first(struct xb_writer *writer)
{
	int error = xb_store_write(writer->store, &writer->txn);

	if (error)
		return error;
	error = xb_enforce_allow(writer, true);
	if (!error && writer->txn->edits) {
		struct xb_txn *txn = writer->txn;

		error = xb_changes_any(&txn->change) ? xb_changelog_append(txn, false) : 0;
		if (!error) {
			writer->txn = NULL;
			error = xb_txn_commit(txn);
		}
	}
	xb_txn_abort(writer->txn);
	writer->txn = NULL;
	xb_fault("lifelines-known");
	return error;
}

/* A snapshot of what the store wants now. */
static int read_wishes(struct xb_writer *writer, struct xb_txn **txn, struct xb_wanted **wanted,
		       size_t *count)
{
	int error = xb_store_read(writer->store, txn);

	if (error)
		return error;
	error = xb_wanted_all(*txn, wanted, count);
	if (!error && *count && puts_in_force(writer, &(*txn)->meta, *wanted, *count)) {
		xb_txn_abort(*txn);
		*txn = NULL;
		/* A disk that cannot be written keeps nothing from being enforced. */
		if (allow_first(writer))
			xb_notice("warning: the automatic allowlist is not brought up to date: %s",
				  xb_error_message());
		error = xb_store_read(writer->store, txn);
	}
	return error;
}

int xb_enforce(struct xb_writer *writer, uint32_t *missing)
{
	struct xb_wanted *wanted = NULL;
	size_t lasting = 0, count;
	struct xb_txn *txn = NULL;
	uint32_t absent = 0;
	int error = xb_rollback_settle(writer);

	writer->unmet = false;
	if (!error)
		error = read_wishes(writer, &txn, &wanted, &lasting);
	count = lasting;
	if (!error)
		error = add_tried(writer, &wanted, &count);
	if (!error && !count && is_foreign(writer, txn->meta.identity)) {
		writer->foreign = true;
		xb_generation_close(writer->active);
		writer->active = NULL;
	}
	if (!error && count) {
		error = xb_enforce_begin(writer, txn);
		if (error && error != -EAGAIN)
			error = go_without(writer, txn);
	}
	if (!error && count && writer->linked)
		error = xb_upgrade_carry(&writer->link);
	if (!error && count)
		error = attach_wanted(writer, wanted, lasting, &absent);
	/* What could not be attached anew had better keep the older entry. */
	if (!error && count && writer->linked && !absent)
		error = xb_upgrade_finish(writer->paths->pins, &writer->link);
	if (!error && writer->linked && !writer->foreign)
		error = count ? xb_detach_unwanted(&writer->link, wanted, count)
			      : xb_enforce_end(writer, txn->meta.identity);
	if (missing)
		*missing = absent;
	free(wanted);
	xb_txn_abort(txn);
	return error;
}
