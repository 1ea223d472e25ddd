/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/txn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/program.h"
#include "store/entrytable.h"
#include "store/fleettable.h"
#include "store/journal.h"
#include "store/kept.h"
#include "store/latest.h"
#include "store/lists.h"
#include "store/lmdberror.h"
#include "store/lmdbpage.h"
#include "store/origins.h"
#include "store/outbox.h"
#include "store/renamed.h"
#include "store/shares.h"
#include "store/sharing.h"

/* The number of the last transaction before this one, or of the one that it sees. */
static uint64_t last_commit(const struct xb_txn *txn)
{
	return mdb_txn_id(txn->txn) - txn->writes;
}

static int damaged(void)
{
	return xb_lmdb_error(MDB_CORRUPTED, "cannot read the store");
}

static int load_meta(struct xb_txn *txn)
{
	MDB_val key = {4, "meta"}, value = {0};
	int error = mdb_get(txn->txn, txn->store->meta, &key, &value);

	if (error == MDB_NOTFOUND)
		return last_commit(txn) <= XB_NEW_STORE ? xb_meta_new(&txn->meta) : damaged();
	if (error)
		return xb_lmdb_error(error, "cannot read the store");
	error = xb_meta_decode(&value, &txn->meta);
	return error || txn->meta.transaction == last_commit(txn) ? error : damaged();
}

static int begin_at_meta(struct xb_txn *txn, unsigned int flags)
{
	int error = xb_latest_begin(txn->store->env, flags, &txn->txn);

	if (error) {
		txn->txn = NULL;
		return xb_lmdb_error(error, "cannot begin a transaction");
	}
	return load_meta(txn);
}

/* Whoever has the store open opens the tables of a fleet when it has joined one. */
static int begin_at_tables(struct xb_txn *txn, unsigned int flags)
{
	int error = begin_at_meta(txn, flags);

	if (error || !xb_fleettables_are(txn) || txn->store->has_fleet)
		return error;
	mdb_txn_abort(txn->txn);
	txn->txn = NULL;
	error = xb_fleettables_open(txn->store);
	return error ? error : begin_at_meta(txn, flags);
}

static int begin(struct xb_store *store, unsigned int flags, struct xb_txn **out)
{
	struct xb_txn *txn = calloc(1, sizeof(*txn));
	int error;

	*out = NULL;
	if (!txn)
		return xb_out_of_memory();
	txn->store = store;
	txn->writes = !(flags & MDB_RDONLY);
	error = begin_at_tables(txn, flags);
	if (!error && txn->writes)
		error = xb_meta_draw(&txn->next_mark);
	if (!error)
		error = xb_shares_load(txn);
	if (!error)
		error = xb_lists_load(txn);
	if (!error)
		error = xb_origins_load(txn);
	if (!error)
		error = xb_entries_open(txn);
	if (error) {
		xb_txn_abort(txn);
		xb_kept_fail(store);
		return error;
	}
	*out = txn;
	return 0;
}

int xb_store_read(struct xb_store *store, struct xb_txn **txn)
{
	return begin(store, MDB_RDONLY, txn);
}

int xb_store_write(struct xb_store *store, struct xb_txn **txn)
{
	return begin(store, 0, txn);
}

static void free_txn(struct xb_txn *txn)
{
	xb_changes_free(&txn->change);
	xb_shares_free(txn);
	xb_lists_free(txn);
	free(txn);
}

/* Who watches the file with inotify hears of its pages before LMDB lets readers see them, and looks
 * in vain. This is told when they do. */
static void tell_watchers(const struct xb_store *store)
{
	int file;

	if (!mdb_env_get_fd(store->env, &file))
		futimens(file, NULL);
}

int xb_txn_commit(struct xb_txn *txn)
{
	MDB_val key = {4, "meta"}, value = {sizeof(txn->meta), &txn->meta};
	struct xb_store *store = txn->store;
	int error = xb_sharing_settle(txn);

	if (!error)
		error = xb_outbox_settle(txn);
	if (!error)
		error = xb_shares_save(txn);
	if (!error)
		error = xb_entries_flush(txn);
	if (!error)
		error = xb_renamed_carry(txn);
	if (!error)
		error = xb_origins_save(txn);
	if (!error)
		error = xb_journal_append(txn);
	if (error) {
		xb_txn_abort(txn);
		return error;
	}
	txn->meta.transaction = mdb_txn_id(txn->txn);
	xb_meta_checksum(&txn->meta);
	error = xb_lists_save(txn);
	if (!error)
		error = mdb_put(txn->txn, txn->store->meta, &key, &value, 0);
	xb_entries_close(txn);
	if (error)
		mdb_txn_abort(txn->txn);
	else
		error = mdb_txn_commit(txn->txn);
	xb_fleettables_end(txn, !error);
	free_txn(txn);
	if (!error) {
		tell_watchers(store);
		return 0;
	}
	xb_kept_fail(store);
	return xb_lmdb_error(error, "cannot write the store");
}

void xb_txn_abort(struct xb_txn *txn)
{
	if (!txn)
		return;
	xb_entries_close(txn);
	mdb_txn_abort(txn->txn);
	xb_fleettables_end(txn, false);
	free_txn(txn);
}

int xb_txn_end(struct xb_txn *txn, int error)
{
	if (!error)
		return xb_txn_commit(txn);
	xb_txn_abort(txn);
	return error;
}
