/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Transactions and the meta record. */
#include "store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"
#include "fault.h"
#include "latest.h"
#include "lists.h"
#include "lock.h"
#include "seal.h"
#include "storefile.h"
#include "trialinput.h"
#include "schema.h"

int xb_store_error(int error, const char *doing)
{
	if (error == MDB_MAP_FULL)
		return xb_system_error(
			0, "%s: the store has reached %zu GiB, the size it is built for", doing,
			XB_STORE_BYTES >> 30);
	if (error == MDB_READERS_FULL)
		return xb_system_error(0, "%s: %d processes read the store already", doing,
				       XB_STORE_READERS);
	if (error == ENOMEM)
		return xb_system_error(0,
				       "%s: too little memory, or less than %zu GiB of address "
				       "space (ulimit -v)",
				       doing, XB_STORE_BYTES >> 30);
	if (error == ENOSPC)
		return xb_system_error(0, "%s: no space left on the disk of the state directory",
				       doing);
	if (error == XB_NOT_LATEST)
		return xb_system_error(0,
				       "%s: a process that has it open goes by an old state of it "
				       "(an older bloomctl?); try again when that has ended",
				       doing);
	if (error > 0)
		return xb_system_error(error, "%s", doing);
	return xb_system_error(
		0, "%s: %s; the store file is damaged: move it away and restore a `save`", doing,
		mdb_strerror(error));
}

static int make_directory(const char *directory)
{
	char trials[4096];
	struct stat st;

	if (mkdir(directory, 0700) < 0 && errno != EEXIST)
		return xb_system_error(errno, "cannot make the state directory %s", directory);
	if (stat(directory, &st) < 0)
		return xb_system_error(errno, "cannot use the state directory %s", directory);
	if (!S_ISDIR(st.st_mode))
		return xb_input_error("%s is not a directory", directory);
	/* Who may not make it is told when it is needed. */
	if ((size_t)snprintf(trials, sizeof(trials), "%s/" XB_TRIAL_DIRECTORY, directory) <
	    sizeof(trials))
		mkdir(trials, 0770);
	xb_locks_make(directory);
	return 0;
}

static int open_tables(struct xb_store *store, bool create)
{
	const struct {
		const char *name;
		MDB_dbi *dbi;
		unsigned int flags;
	} tables[] = {
		{"meta", &store->meta, 0},	   {"sealed", &store->leaves, 0},
		{"lists", &store->lists, 0},	   {"expiry", &store->expiry, 0},
		{"ifaces", &store->ifaces, 0},	   {"changes", &store->changes, 0},
		{"sessions", &store->sessions, 0},
	};
	MDB_txn *txn;
	int error = xb_latest_begin(store->env, create ? 0 : MDB_RDONLY, &txn);

	if (error)
		return error;
	for (size_t i = 0; !error && i < sizeof(tables) / sizeof(tables[0]); i++)
		error = mdb_dbi_open(txn, tables[i].name,
				     tables[i].flags | (create ? MDB_CREATE : 0), tables[i].dbi);
	if (!error)
		store->outdated = xb_schema_is_old(txn);
	if (error) {
		mdb_txn_abort(txn);
		return error;
	}
	return mdb_txn_commit(txn);
}

void xb_store_close(struct xb_store *store)
{
	if (!store)
		return;
	xb_storefile_close(store->env);
	xb_unlock(store->out_writers);
	xb_unlock(store->namespace_lock);
	free(store);
}

/* Never 0. */
static int draw(uint64_t *number)
{
	*number = 0;
	while (!*number)
		if (getrandom(number, sizeof(*number), 0) < 0)
			return xb_system_error(errno, "no random numbers");
	return 0;
}

static int new_meta(struct xb_meta *meta)
{
	*meta = (struct xb_meta){.schema = XB_SCHEMA, .next_list = 1, .ports.dns[0] = XB_DNS_PORT};
	return draw(&meta->identity);
}

double xb_meta_rate(const struct xb_meta *meta)
{
	return meta->rate > 0 ? meta->rate
			      : (meta->unconfirmed ? XB_DEFAULT_RATE : XB_CONFIRMED_RATE);
}

/* Made while the seal itself is 0. */
static uint32_t seal_meta(struct xb_meta *meta)
{
	meta->seal = 0;
	meta->seal = xb_seal(NULL, 0, meta, sizeof(*meta));
	return meta->seal;
}

bool xb_store_has_all(struct xb_txn *txn, MDB_dbi table, size_t found)
{
	MDB_stat stat;

	return !mdb_stat(txn->txn, table, &stat) && stat.ms_entries == found;
}

/* Tables are made by the first transaction, or by a few if that was cut off in earlier versions. */
#define NEW_STORE 4

/* The number of the last transaction before this one, or of the one that it sees. */
static uint64_t last_commit(const struct xb_txn *txn)
{
	return mdb_txn_id(txn->txn) - txn->writes;
}

static int damaged(void)
{
	return xb_store_error(MDB_CORRUPTED, "cannot read the store");
}

static int load_meta(struct xb_txn *txn)
{
	MDB_val key = {4, "meta"}, value;
	int error = mdb_get(txn->txn, txn->store->meta, &key, &value);
	uint32_t seal;

	if (error == MDB_NOTFOUND)
		return last_commit(txn) <= NEW_STORE ? new_meta(&txn->meta) : damaged();
	if (error)
		return xb_store_error(error, "cannot read the store");
	if (value.mv_size == sizeof(txn->meta))
		memcpy(&txn->meta, value.mv_data, sizeof(txn->meta));
	if (txn->meta.schema > XB_SCHEMA)
		return xb_system_error(0,
				       "the store was written by a newer bloomctl (schema %u, "
				       "this one has %d): use that one; what is in force stays. "
				       "The way back: DOWNGRADE in bloomctl(8)",
				       txn->meta.schema, XB_SCHEMA);
	if (txn->meta.schema < XB_SCHEMA) {
		txn->unmarked = true;
		return xb_schema_upgrade_meta(&txn->meta, &value);
	}
	seal = txn->meta.seal;
	return seal == seal_meta(&txn->meta) && txn->meta.transaction == last_commit(txn)
		       ? 0
		       : damaged();
}

int xb_store_recover(struct xb_store *store)
{
	MDB_txn *txn;
	int error = xb_latest_begin(store->env, 0, &txn);

	if (error)
		return xb_store_error(error, "cannot begin a transaction");
	mdb_txn_abort(txn);
	return 0;
}

/* What an earlier schema logged cannot be joined to a filter of this one. */
static int begin_history(struct xb_txn *txn)
{
	int error = txn->unmarked ? mdb_drop(txn->txn, txn->store->changes, 0) : 0;

	return error ? xb_store_error(error, "cannot write the store") : draw(&txn->next_mark);
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
	error = xb_latest_begin(store->env, flags, &txn->txn);
	if (error) {
		free(txn);
		return xb_store_error(error, "cannot begin a transaction");
	}
	error = load_meta(txn);
	if (!error && txn->writes)
		error = begin_history(txn);
	if (!error)
		error = xb_lists_load(txn);
	if (!error)
		error = xb_entries_open(txn);
	if (error) {
		xb_txn_abort(txn);
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
	xb_lists_free(txn);
	free(txn);
}

int xb_txn_commit(struct xb_txn *txn)
{
	MDB_val key = {4, "meta"}, value = {sizeof(txn->meta), &txn->meta};
	int error = xb_entries_flush(txn);

	if (error) {
		xb_txn_abort(txn);
		return error;
	}
	txn->meta.transaction = mdb_txn_id(txn->txn);
	seal_meta(&txn->meta);
	error = xb_lists_save(txn);
	if (!error)
		error = mdb_put(txn->txn, txn->store->meta, &key, &value, 0);
	xb_entries_close(txn);
	if (error)
		mdb_txn_abort(txn->txn);
	else
		error = mdb_txn_commit(txn->txn);
	free_txn(txn);
	return error ? xb_store_error(error, "cannot write the store") : 0;
}

void xb_txn_abort(struct xb_txn *txn)
{
	if (!txn)
		return;
	xb_entries_close(txn);
	mdb_txn_abort(txn->txn);
	free_txn(txn);
}

/* Whether there is one: 1, 0, or an error. */
static int find_store(const char *directory, const char *path)
{
	if (!access(path, F_OK))
		return 1;
	if (errno == ENOTDIR)
		return xb_input_error("%s is not a directory", directory);
	if (errno != ENOENT)
		return xb_system_error(errno, "cannot use the state directory %s", directory);
	return 0;
}

static int cannot_open(int error, const char *path)
{
	char doing[4200];

	snprintf(doing, sizeof(doing), "cannot open the store %s", path);
	return xb_store_error(error, doing);
}

static int open_file(struct xb_store *store, const char *directory, const char *path)
{
	int lock = xb_lock_opening(directory), error;

	if (lock < 0)
		return lock;
	error = xb_storefile_check(path);
	if (!error) {
		error = xb_storefile_open(path, &store->env);
		store->read_only = !error && xb_storefile_is_read_only(store->env);
		error = error ? cannot_open(error, path) : 0;
	}
	xb_unlock(lock);
	return error;
}

static int fill_up(struct xb_store *store, const char *directory, const char *path)
{
	bool is_short;
	int error = xb_storefile_is_short(store->env, &is_short), lock;

	if (error || !is_short)
		return error ? cannot_open(error, path) : 0;
	lock = xb_lock(directory, XB_WRITER_LOCK);
	if (lock < 0)
		return lock;
	xb_fault("store-short");
	error = xb_storefile_fill_up(store->env);
	xb_unlock(lock);
	return error ? cannot_open(error, path) : 0;
}

/* Tables that are not there yet, and what is in those of an earlier version. */
static int bring_up_to_date(struct xb_store *store, const char *directory, const char *path)
{
	int lock = xb_lock(directory, XB_WRITER_LOCK), error;

	if (lock < 0)
		return lock;
	xb_fault("store-older");
	error = xb_storefile_sync(store->env, directory);
	if (!error) {
		error = open_tables(store, true);
		error = error ? cannot_open(error, path) : 0;
	}
	if (!error && store->outdated)
		error = xb_schema_upgrade(store);
	xb_unlock(lock);
	return error;
}

/* Whether anything was committed: a file whose maker died has no tables. */
static int find_contents(struct xb_store *store)
{
	MDB_val key = {4, "meta"}, value;
	MDB_txn *txn;
	MDB_dbi meta;
	int error = xb_latest_begin(store->env, MDB_RDONLY, &txn);

	if (error)
		return error;
	error = mdb_dbi_open(txn, "meta", 0, &meta);
	if (!error)
		error = mdb_get(txn, meta, &key, &value);
	if (error == MDB_NOTFOUND)
		error = mdb_txn_id(txn) <= NEW_STORE ? ENOENT : MDB_CORRUPTED;
	mdb_txn_abort(txn);
	return error;
}

/* As a copy that may be written. */
static int read_older(struct xb_store *store, const char *path)
{
	int error = find_contents(store);

	if (error == ENOENT)
		return -ENOENT;
	if (!error)
		error = xb_storefile_copy(path, &store->env);
	if (!error)
		error = open_tables(store, true);
	if (error)
		return cannot_open(error, path);
	return store->outdated ? xb_schema_upgrade(store) : 0;
}

/* With the file open: the tables, and what earlier versions and processes left. */
static int open_contents(struct xb_store *store, const char *directory, const char *path,
			 enum xb_store_use use)
{
	bool writes = use != XB_STORE_READ && !store->read_only;
	int dead, error = writes ? fill_up(store, directory, path) : 0;

	if (error)
		return error;
	mdb_reader_check(store->env, &dead);
	error = open_tables(store, false);
	if (error && error != MDB_NOTFOUND)
		return cannot_open(error, path);
	if (!error && !store->outdated)
		return 0;
	return writes ? bring_up_to_date(store, directory, path) : read_older(store, path);
}

int xb_store_open(const char *directory, enum xb_store_use use, struct xb_store **out)
{
	struct xb_store *store;
	char path[4096];
	int error;

	*out = NULL;
	if ((size_t)snprintf(path, sizeof(path), "%s/%s", directory, XB_STORE_FILE) >= sizeof(path))
		return xb_input_error("%s: path too long", directory);
	error = find_store(directory, path);
	if (error < 0)
		return error;
	if (!error && use != XB_STORE_CREATE)
		return -ENOENT;
	error = use == XB_STORE_CREATE ? make_directory(directory) : 0;
	if (error)
		return error;
	store = calloc(1, sizeof(*store));
	if (!store)
		return xb_out_of_memory();
	store->out_writers = -1;
	error = xb_lock_pid_namespace(directory, &store->namespace_lock);
	if (!error)
		error = open_file(store, directory, path);
	if (!error && store->read_only)
		error = xb_lock_out_writers(directory, &store->out_writers);
	if (!error)
		error = open_contents(store, directory, path, use);
	if (error)
		xb_store_close(store);
	else
		*out = store;
	return error;
}
