/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Snapshot, build, replay what came meanwhile, then for a moment the writer lock: last replay,
 * record, swap. */
#include "engine/rotate.h"

#include <errno.h>
#include <stdio.h>

#include "base/error.h"
#include "base/faultpoint.h"
#include "base/lock.h"
#include "base/program.h"
#include "engine/repair.h"
#include "engine/trial.h"
#include "engine/writepath.h"
#include "filter/apply.h"
#include "filter/build.h"
#include "filter/contents.h"
#include "model/policy.h"
#include "store/journal.h"
#include "store/trialtext.h"
#include "store/wanted.h"

/* A change in bulk makes a build start over; after so many times the writers wait. */
#define PATIENCE 3

static void apply_request(struct xb_meta *meta, const struct xb_rotate_request *request)
{
	if (request->rate > 0)
		meta->rate = request->rate;
	if (request->set_capacity)
		meta->capacity = request->capacity;
	if (request->set_confirm)
		meta->unconfirmed = !request->confirm;
}

static bool asks_anything(const struct xb_rotate_request *request)
{
	return request->rate > 0 || request->set_capacity || request->set_confirm;
}

static int build_from_contents(struct xb_writer *builder, const struct xb_wish *wish,
			       struct xb_generation **built)
{
	struct xb_txn *txn;
	int error = xb_lock_note(builder->builder_lock, 0);

	if (error)
		return error;
	error = xb_store_read(builder->store, &txn);
	if (error)
		return error;
	/* From here on writers keep in the log what comes after this number. */
	error = xb_lock_note(builder->builder_lock, txn->meta.sequence);
	apply_request(&txn->meta, &wish->request->rotate);
	if (!error)
		error = xb_policy_check(txn->meta.policy, !txn->meta.unconfirmed);
	if (!error)
		error = xb_writer_rebuild(builder, txn, txn->meta.sequence, built);
	xb_txn_abort(txn);
	xb_fault("rotate-built");
	return error;
}

static int replay(struct xb_writer *builder, struct xb_generation *built, uint64_t *left)
{
	uint64_t before = built->header->applied;
	struct xb_txn *txn;
	int error = xb_store_read(builder->store, &txn);

	if (error)
		return error;
	*left = txn->meta.sequence - before;
	error = xb_apply_replay(built, txn);
	xb_txn_abort(txn);
	return error;
}

/* Under the writer lock: the changes that came last, then what the log does not have. */
static int bring_up_to_date(struct xb_writer *builder, const struct xb_wish *wish,
			    struct xb_generation *built)
{
	struct xb_txn *txn;
	int error = xb_store_read(builder->store, &txn);

	if (error)
		return error;
	apply_request(&txn->meta, &wish->request->rotate);
	error = xb_apply_replay(built, txn);
	if (!error)
		error = xb_generation_match(built, &txn->meta);
	xb_txn_abort(txn);
	return error;
}

/* Follows the writers until they are close. */
static int chase(struct xb_writer *builder, struct xb_generation *built)
{
	uint64_t left = UINT64_MAX;

	for (int round = 0; round < 16 && left > 16; round++) {
		int error = replay(builder, built, &left);

		if (error)
			return error;
	}
	return 0;
}

/* built: what makes them true; NULL: nothing of this store is in force. */
static int record_wishes(struct xb_writer *builder, const struct xb_wish *wish,
			 const struct xb_generation *built)
{
	int error = xb_store_write(builder->store, &builder->txn);

	if (error)
		return error;
	builder->before = builder->txn->meta;
	apply_request(&builder->txn->meta, &wish->request->rotate);
	xb_journal_note(builder->txn);
	error = xb_policy_check(builder->txn->meta.policy, !builder->txn->meta.unconfirmed);
	if (!error && !built)
		error = xb_writer_check_room(builder);
	if (!error && wish->commits)
		error = xb_trial_delete(builder->txn);
	if (!error) {
		error = xb_txn_commit(builder->txn);
		builder->txn = NULL;
	}
	return error;
}

/* Under the writer lock. */
static int finish(struct xb_writer *builder, const struct xb_wish *wish,
		  struct xb_generation *built)
{
	int error = xb_anchor_find_guard(&builder->anchor);

	if (!error && wish->commits && builder->anchor.guard.state.identity != wish->commits)
		error = xb_system_error(0, "the trial ended while it was being committed");
	if (!error)
		error = bring_up_to_date(builder, wish, built);
	if (error)
		return error;
	xb_fault("rotate-replayed");
	if (wish->seconds)
		return xb_trial_begin(builder, built, wish);
	if (asks_anything(&wish->request->rotate) || wish->commits) {
		error = record_wishes(builder, wish, built);
		if (error)
			return error;
		xb_fault("rotate-recorded");
	}
	error = xb_generation_publish(builder->paths, &builder->anchor, built);
	return !error && wish->commits ? xb_trial_end(builder, built) : error;
}

static void drop_writer_lock(struct xb_writer *builder)
{
	xb_unlock(builder->writer_lock);
	builder->writer_lock = -1;
}

/* -ENOENT without a message: what the log does not tell one by one has changed, start over. */
static int rotate_once(struct xb_writer *builder, const struct xb_wish *wish, bool hold_writers,
		       struct xb_generation **out)
{
	struct xb_generation *built = NULL;
	int error = hold_writers ? xb_writer_lock(builder) : 0;

	if (!error)
		error = build_from_contents(builder, wish, &built);
	if (!error && !hold_writers)
		error = chase(builder, built);
	if (!error && !hold_writers)
		error = xb_writer_lock(builder);
	if (!error)
		error = finish(builder, wish, built);
	drop_writer_lock(builder);
	if (error) {
		xb_generation_discard(builder->paths, built);
		return error;
	}
	*out = built;
	return 0;
}

static int rotate(struct xb_writer *builder, const struct xb_wish *wish, struct xb_params *params)
{
	struct xb_generation *built;
	int error = -ENOENT;

	for (int tries = 0; error == -ENOENT && tries <= PATIENCE; tries++)
		error = rotate_once(builder, wish, tries == PATIENCE, &built);
	if (error)
		return error;
	if (params)
		*params = built->params;
	xb_generation_close(built);
	return 0;
}

/* Nothing is attached: only the wish is kept. */
static int keep_wishes(struct xb_writer *builder, const struct xb_wish *wish)
{
	int error;

	if (wish->seconds)
		return xb_trial_baseless();
	error = xb_writer_lock(builder);
	return error ? error : record_wishes(builder, wish, NULL);
}

/* Opens all, mends what is broken first: a rotation starts from an anchor that stands. */
static int open_builder(struct xb_writer *builder)
{
	int error = xb_store_open(builder->paths->state, XB_STORE_CREATE, &builder->store);

	if (error)
		return error;
	error = xb_writer_lock(builder);
	if (!error)
		error = xb_writer_open_kernel(builder);
	if (!error || error == -ESTALE)
		error = xb_repair(builder);
	drop_writer_lock(builder);
	return error;
}

static void close_builder(struct xb_writer *builder)
{
	xb_txn_abort(builder->txn);
	xb_trial_free(&builder->trial);
	xb_interfaces_free(&builder->interfaces);
	xb_writer_close_kernel(builder);
	xb_store_close(builder->store);
	xb_unlock(builder->writer_lock);
	xb_unlock(builder->builder_lock);
}

/* Nothing is in force, but only because it could not be made as it was wanted. */
static bool is_awaited(const struct xb_writer *builder, const struct xb_wish *wish)
{
	return builder->unmet && builder->anchored && !wish->seconds;
}

/* Interfaces may have waited for a filter. */
static int serve_waiting(const struct xb_paths *paths, struct xb_written *written)
{
	int error;

	xb_fault("rotate-unlocked");
	error = xb_write(paths, XB_WRITE_HEAVY, NULL, NULL, written);
	return error ? xb_error_prefix(error,
				       "rotated, but interfaces may still wait for the "
				       "filter%s",
				       xb_advice(XB_ADVICE_ATTACH_WAITING))
		     : 0;
}

static int rotate_now(const struct xb_paths *paths, const struct xb_wish *wish,
		      struct xb_params *params, struct xb_written *written)
{
	struct xb_writer builder = {.paths = paths,
				    .builder_lock = xb_lock(paths->state, XB_BUILDER_LOCK),
				    .writer_lock = -1,
				    .how = wish->commits ? XB_WRITE_COMMIT : 0,
				    .commits = wish->commits,
				    .exact = wish->request->rotate.set_capacity};
	bool unmet;
	int error = builder.builder_lock < 0 ? builder.builder_lock : open_builder(&builder);

	if (!error)
		error = builder.active || is_awaited(&builder, wish)
				? rotate(&builder, wish, params)
				: keep_wishes(&builder, wish);
	unmet = builder.unmet;
	close_builder(&builder);
	return error || !unmet || wish->seconds ? error : serve_waiting(paths, written);
}

int xb_rotate_wish(const struct xb_paths *paths, const struct xb_wish *wish,
		   struct xb_params *params, struct xb_written *written)
{
	int error;

	if (params)
		*params = (struct xb_params){0};
	do {
		/* A commit has to keep the trial until its own swap; nobody else goes on before. */
		error = wish->commits ? 0 : xb_write(paths, XB_WRITE_SURVEY, NULL, NULL, written);
		if (!error || error == XB_UNMET)
			error = rotate_now(paths, wish, params, written);
	} while (error == -EINPROGRESS);
	return error;
}

int xb_rotate(const struct xb_paths *paths, const struct xb_rotate_request *request,
	      struct xb_params *params, struct xb_written *written)
{
	const struct xb_request whole = {.kind = XB_REQUEST_ROTATE, .rotate = *request};

	return xb_rotate_wish(paths, &(struct xb_wish){.request = &whole}, params, written);
}

static void tell_grown(const struct xb_params *params)
{
	const struct {
		uint64_t capacity;
		const char *what;
	} stages[] = {
		{params->host4.capacity, "IPv4 addresses"},
		{params->net6.capacity, "IPv6 prefixes"},
		{params->names.capacity, "domains"},
	};
	char text[128] = "";
	size_t used = 0;

	for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++)
		if (stages[i].capacity)
			used += (size_t)snprintf(
				text + used, sizeof(text) - used, "%s%llu %s", used ? ", " : "",
				(unsigned long long)stages[i].capacity, stages[i].what);
	xb_notice("the filter was full; it now has room for %s", text);
}

/* Rotates if the filter in force is full and nobody else is building. */
static int grow(const struct xb_paths *paths)
{
	struct xb_writer builder = {
		.paths = paths, .builder_lock = -1, .writer_lock = -1, .grows = true};
	const struct xb_request request = {.kind = XB_REQUEST_ROTATE};
	const struct xb_wish as_it_is = {.request = &request};
	struct xb_params params;
	int error;

	builder.builder_lock = xb_try_lock(paths->state, XB_BUILDER_LOCK);
	if (builder.builder_lock < 0)
		return builder.builder_lock == -EWOULDBLOCK ? 0 : builder.builder_lock;
	error = open_builder(&builder);
	if (!error && !builder.unmet && builder.active && xb_generation_is_full(builder.active)) {
		error = rotate(&builder, &as_it_is, &params);
		if (!error)
			tell_grown(&params);
	}
	close_builder(&builder);
	return error == -EINPROGRESS ? 0 : error;
}

void xb_write_settle(const struct xb_paths *paths, struct xb_written *written)
{
	bool due = written->growth_due;

	written->growth_due = false;
	/* The change stands; growing keeps the promised rate, and its failure is not the change's.
	 */
	if (due && grow(paths))
		xb_warning("the filter is full and could not be grown, its false-positive "
			   "rate rises: %s",
			   xb_error_message());
}
