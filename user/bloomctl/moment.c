/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The writer lock is only looked at: status must not keep anybody waiting. */
#include "bloomctl/moment.h"

#include <errno.h>

#include "base/lock.h"
#include "engine/repair.h"
#include "store/store.h"

static int read_transaction(const struct cli *cli, uint64_t *number)
{
	struct xb_store *store;
	struct xb_txn *txn;
	int error = xb_store_open(cli->paths.state, XB_STORE_READ, &store);

	if (error)
		return error == -ENOENT ? 0 : error;
	error = xb_store_read(store, &txn);
	if (!error) {
		*number = mdb_txn_id(txn->txn);
		xb_txn_abort(txn);
	}
	xb_store_close(store);
	return error;
}

int moment_take(const struct cli *cli, struct moment *moment)
{
	struct xb_writer view = {.paths = &cli->paths};
	int error;

	*moment = (struct moment){0};
	error = read_transaction(cli, &moment->transaction);
	if (!error)
		error = xb_enforce_open(&view);
	if (error)
		return error;
	if (view.linked)
		moment->slot = xb_link_slot(&view.link);
	if (view.active) {
		moment->generation = view.active->params.generation;
		error = xb_generation_policy(view.active, &moment->policy);
	}
	if (view.active && view.active->header) {
		moment->applied = view.active->header->applied;
		moment->mark = view.active->header->mark;
		moment->dirty = view.active->header->dirty;
	}
	xb_enforce_close(&view);
	return error;
}

bool moment_is_same(const struct moment *a, const struct moment *b)
{
	return a->transaction == b->transaction && a->generation == b->generation &&
	       a->applied == b->applied && a->mark == b->mark && a->slot == b->slot &&
	       a->dirty == b->dirty && a->policy == b->policy;
}

bool moment_is_busy(const struct cli *cli, char *holder, size_t size)
{
	return xb_lock_holder(cli->paths.state, XB_WRITER_LOCK, holder, size);
}
