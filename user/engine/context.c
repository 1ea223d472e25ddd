/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/context.h"

#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "base/lock.h"
#include "engine/known.h"
#include "engine/relief.h"
#include "filter/build.h"
#include "filter/contents.h"
#include "filter/demand.h"
#include "filter/inforce.h"

/* With `built` NULL only asks whether there is room. */
static int try_build(const struct xb_build *build, const struct xb_contents *contents,
		     struct xb_generation **built)
{
	return built ? xb_build(build, contents, built) : xb_build_rehearse(build, contents);
}

static int build_within_room(const struct xb_writer *writer, struct xb_build *build,
			     const struct xb_contents *contents, struct xb_generation **built)
{
	uint64_t wanted = build->capacity;
	int error = try_build(build, contents, built);
	char why[512];

	if (!xb_build_lacks_room(error) || !wanted || writer->exact)
		return error;
	snprintf(why, sizeof(why), "%s", xb_error_message());
	build->capacity = 0;
	error = try_build(build, contents, built);
	if (!error)
		xb_warning("no room for a filter of %llu entries (%s); it is sized by what "
			   "is listed",
			   (unsigned long long)wanted, why);
	return error;
}

#define DOUBLED                                                                                    \
	1000000 /* keys up to which a filter that grows doubles; afterwards, by a quarter          \
		 */

/* So that what comes one by one causes few rebuilds, and memory stays near to what is listed. */
static uint64_t grown(uint64_t keys)
{
	uint64_t quarter = keys / 4 > DOUBLED ? keys / 4 : DOUBLED;

	return keys + (keys < quarter ? keys : quarter);
}

static int build(const struct xb_writer *writer, struct xb_build *build,
		 const struct xb_contents *contents, struct xb_generation **built)
{
	struct xb_build larger = *build;
	int error;

	larger.capacity = grown(xb_contents_keys(contents));
	if (!writer->grows || larger.capacity <= build->capacity)
		return build_within_room(writer, build, contents, built);
	error = try_build(&larger, contents, built);
	return xb_build_lacks_room(error) ? build_within_room(writer, build, contents, built)
					  : error;
}

/* What the transaction wants may be wanted for the first time, as by a restore. */
static int find_known(const struct xb_writer *writer, struct xb_txn *txn,
		      struct xb_knownpins *known)
{
	struct xb_known_wish wish;
	int error = xb_knownpins_open(writer->paths->pins, known);

	if (error != -ENOENT)
		return error;
	error = xb_known_wish_get(txn, &wish);
	if (!error && wish.on)
		error = xb_known_settle(writer->paths, txn->meta.identity, &wish, true);
	return error ? error : xb_knownpins_open(writer->paths->pins, known);
}

/* admits: the policy needs them. Limits do without. */
static int open_known(const struct xb_writer *writer, struct xb_txn *txn, bool admits,
		      struct xb_knownpins *known)
{
	int error = find_known(writer, txn, known);

	if (error && !admits) {
		if (error != -ENOENT)
			xb_warning("limits find no source known: %s", xb_error_message());
		xb_error_clear();
		return 0;
	}
	return error == -ENOENT ? xb_system_error(0,
						  "known sources are to be admitted, but their "
						  "maps are missing in %s",
						  writer->paths->pins)
				: error;
}

static bool admits_known(const struct xb_txn *txn)
{
	return txn->meta.policy == XB_POLICY_ALLOW_ONLY && txn->meta.admits_known;
}

static int rebuild(struct xb_writer *writer, struct xb_txn *txn, uint64_t sequence,
		   struct xb_generation **built)
{
	struct xb_build wanted = {
		.paths = writer->paths,
		.anchor = &writer->anchor,
		.store = txn->meta.identity,
		.sequence = sequence,
		.mark = sequence == txn->meta.sequence ? txn->meta.mark : txn->next_mark,
		.capacity = txn->meta.capacity,
		.rate = xb_meta_rate(&txn->meta),
		.confirm = !txn->meta.unconfirmed,
		.policy = txn->meta.policy,
		.ports = txn->meta.ports,
		.answer_limit = txn->meta.answer_limit,
		.admits_known = admits_known(txn),
	};
	struct xb_knownpins known = xb_no_knownpins;
	struct xb_contents contents;
	int error = xb_contents_take(txn, &contents);

	if (error)
		return error;
	if (built && (wanted.admits_known || xb_limits_know(&contents.limits)))
		error = open_known(writer, txn, wanted.admits_known, &known);
	wanted.known = known.known ? &known : NULL;
	if (!error)
		error = build(writer, &wanted, &contents, built);
	xb_contents_free(&contents);
	xb_knownpins_close(&known);
	return error;
}

int xb_writer_rebuild(struct xb_writer *writer, struct xb_txn *txn, uint64_t sequence,
		      struct xb_generation **built)
{
	return rebuild(writer, txn, sequence, built);
}

int xb_writer_check_room(struct xb_writer *writer)
{
	const struct xb_meta *meta = &writer->txn->meta;
	const struct xb_totals *totals = &meta->totals;
	uint64_t keys = totals->host4_keys + totals->net6 + totals->names + totals->exceptions;

	if (writer->txn->classes & ~XB_CLASSES_ALL) /* each may have all addresses */
		keys = (keys + totals->prefix4) * XB_CLASSES;
	if (xb_relief_is(&writer->before, writer->txn) ||
	    xb_demand_is_met(writer->paths,
			     totals->allow + (keys > meta->capacity ? keys : meta->capacity)))
		return 0;
	return rebuild(writer, writer->txn, meta->sequence, NULL);
}

int xb_writer_lock(struct xb_writer *writer)
{
	if (writer->store->read_only)
		return xb_system_error(EROFS, "cannot write the store");
	writer->writer_lock = xb_lock(writer->paths->state, XB_WRITER_LOCK);
	return writer->writer_lock < 0 ? writer->writer_lock : xb_store_recover(writer->store);
}

int xb_writer_publish(struct xb_writer *writer, struct xb_generation *built)
{
	int error = xb_generation_publish(writer->paths, &writer->anchor, built);

	if (error) {
		xb_generation_discard(writer->paths, built);
		return error;
	}
	xb_generation_close(writer->active);
	writer->active = built;
	return 0;
}

int xb_anchored_refuse_newer(const struct xb_anchor *anchor)
{
	int error = xb_generation_refuse_newer(anchor);

	return error ? error : xb_knownpins_refuse_newer(anchor->pins);
}

int xb_writer_open_kernel(struct xb_writer *writer)
{
	int error = xb_anchor_open(writer->paths->pins, &writer->anchor);

	writer->outdated = error == -ESTALE;
	writer->outmoded = false;
	if (error && error != -ENOENT)
		return error;
	writer->anchored = !error;
	if (writer->anchored)
		error = xb_generation_open(writer->paths, &writer->anchor, &writer->active);
	writer->outmoded = error == -ESTALE;
	return error && error != -ENOENT && error != -ESTALE
		       ? error
		       : xb_knownpins_refuse_newer(writer->paths->pins);
}

void xb_writer_close_kernel(struct xb_writer *writer)
{
	xb_generation_close(writer->active);
	writer->active = NULL;
	if (writer->anchored)
		xb_anchor_close(&writer->anchor);
	writer->anchored = false;
}
