/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The writer lock is only looked at: who asks must not keep anybody waiting. */
#include "engine/moment.h"

#include <errno.h>

#include "base/lock.h"
#include "engine/context.h"
#include "store/store.h"

static int read_transaction(const struct xb_paths *paths, uint64_t *number)
{
	struct xb_store *store;
	struct xb_txn *txn;
	int error = xb_store_begin_reading(paths->state, &store, &txn);

	if (error)
		return error == -ENOENT ? 0 : error;
	*number = mdb_txn_id(txn->txn);
	xb_store_end_reading(store, txn);
	return 0;
}

int xb_moment_take(const struct xb_paths *paths, struct xb_moment *moment)
{
	struct xb_writer view = {.paths = paths};
	int error;

	*moment = (struct xb_moment){0};
	error = read_transaction(paths, &moment->transaction);
	if (!error)
		error = xb_writer_open_kernel(&view);
	if (error)
		return error;
	if (view.anchored)
		error = xb_anchor_slot(&view.anchor, &moment->slot);
	if (!error && view.active) {
		moment->generation = view.active->params.generation;
		error = xb_generation_policy(view.active, &moment->policy);
	}
	if (view.active && view.active->header) {
		moment->applied = view.active->header->applied;
		moment->mark = view.active->header->mark;
		moment->dirty = view.active->header->dirty;
	}
	xb_writer_close_kernel(&view);
	return error;
}

bool xb_moment_is_same(const struct xb_moment *a, const struct xb_moment *b)
{
	return a->transaction == b->transaction && a->generation == b->generation &&
	       a->applied == b->applied && a->mark == b->mark && a->slot == b->slot &&
	       a->dirty == b->dirty && a->policy == b->policy;
}

bool xb_moment_is_busy(const struct xb_paths *paths, char *holder, size_t size)
{
	return xb_lock_holder(paths->state, XB_WRITER_LOCK, holder, size);
}
