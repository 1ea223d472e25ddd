/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Opening the store: the directory, the file, its tables. */
#include "store/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/faultpoint.h"
#include "base/lock.h"
#include "base/paths.h"
#include "store/kept.h"
#include "store/latest.h"
#include "store/lmdbfile.h"
#include "store/lmdbpage.h"
#include "store/trialtext.h"

static int make_directory(const char *directory)
{
	char trials[XB_PATH_MAX];
	struct stat st;
	int error;

	if (mkdir(directory, 0700) < 0 && errno != EEXIST)
		return xb_system_error(errno, "cannot make the state directory %s", directory);
	if (stat(directory, &st) < 0)
		return xb_system_error(errno, "cannot use the state directory %s", directory);
	if (!S_ISDIR(st.st_mode))
		return xb_input_error("%s is not a directory", directory);
	error = xb_path_join(trials, directory, XB_TRIAL_DIRECTORY);
	if (error)
		return error;
	mkdir(trials, 0770); /* a failure is reported on first use */
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
		error = xb_lmdbpage_open(txn, tables[i].name,
					 tables[i].flags | (create ? MDB_CREATE : 0),
					 tables[i].dbi);
	if (error) {
		mdb_txn_abort(txn);
		return error;
	}
	return mdb_txn_commit(txn);
}

void xb_store_close(struct xb_store *store)
{
	if (!store || xb_kept_release(store))
		return;
	xb_lmdbfile_close(store->env);
	xb_unlock(store->out_writers);
	xb_unlock(store->namespace_lock);
	free(store);
}

void xb_store_keep(bool keep)
{
	xb_kept_want(keep);
	xb_store_close(xb_kept_drop());
}

int xb_store_recover(struct xb_store *store)
{
	MDB_txn *txn;
	int error = xb_latest_begin(store->env, 0, &txn);

	if (error) {
		xb_kept_fail(store);
		return xb_lmdb_error(error, "cannot begin a transaction");
	}
	mdb_txn_abort(txn);
	return 0;
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

#define CANNOT_OPEN "cannot open the store "

/* What keeps a directory without a store from getting one. */
static bool keeps_from_writing(int error)
{
	return error == EROFS || error == EACCES || error == EPERM;
}

static int cannot_open(int error, const char *path)
{
	char doing[sizeof(CANNOT_OPEN) + XB_PATH_MAX];

	if (keeps_from_writing(error) && access(path, F_OK) && errno == ENOENT)
		return xb_system_error(error, "there is no store %s, and none can be made", path);
	snprintf(doing, sizeof(doing), CANNOT_OPEN "%s", path);
	return xb_lmdb_error(error, doing);
}

static int open_file(struct xb_store *store, const char *directory, const char *path)
{
	int lock = xb_lock_opening(directory), error;

	if (lock < 0)
		return lock;
	error = xb_lmdbfile_check(path);
	if (!error) {
		error = xb_lmdbfile_open(path, &store->env);
		store->read_only = !error && xb_lmdbfile_is_read_only(store->env);
		error = error ? cannot_open(error, path) : 0;
	}
	xb_unlock(lock);
	return error;
}

static int fill_up(struct xb_store *store, const char *directory, const char *path)
{
	bool is_short;
	int error = xb_lmdbfile_is_short(store->env, &is_short), lock;

	if (error || !is_short)
		return error ? cannot_open(error, path) : 0;
	lock = xb_lock(directory, XB_WRITER_LOCK);
	if (lock < 0)
		return lock;
	xb_fault("store-short");
	error = xb_lmdbfile_fill_up(store->env);
	xb_unlock(lock);
	return error ? cannot_open(error, path) : 0;
}

static int make_tables(struct xb_store *store, const char *directory, const char *path)
{
	int lock = xb_lock(directory, XB_WRITER_LOCK), error;

	if (lock < 0)
		return lock;
	xb_fault("store-tables");
	error = xb_lmdbfile_sync(store->env, directory);
	if (!error) {
		error = open_tables(store, true);
		error = error ? cannot_open(error, path) : 0;
	}
	xb_unlock(lock);
	return error;
}

/* Some table was not there. 0: there is a record of this version, and tables are made before it;
 * -ENOENT without a message: nothing was committed, since the file's maker died. */
static int find_record(struct xb_store *store, const char *path)
{
	MDB_val key = {4, "meta"}, value = {0};
	struct xb_meta meta;
	MDB_txn *txn;
	MDB_dbi table;
	int error = xb_latest_begin(store->env, MDB_RDONLY, &txn);

	if (error)
		return cannot_open(error, path);
	error = xb_lmdbpage_open(txn, "meta", 0, &table);
	if (!error)
		error = mdb_get(txn, table, &key, &value);
	if (!error)
		error = xb_meta_decode(&value, &meta);
	else if (error != MDB_NOTFOUND)
		error = cannot_open(error, path);
	else
		error = mdb_txn_id(txn) <= XB_NEW_STORE ? -ENOENT
							: cannot_open(MDB_CORRUPTED, path);
	mdb_txn_abort(txn);
	return error;
}

/* With the file open: the tables, and what earlier processes left. */
static int open_contents(struct xb_store *store, const char *directory, const char *path,
			 enum xb_store_use use)
{
	bool writes = use != XB_STORE_READ && !store->read_only;
	int dead, error = writes ? fill_up(store, directory, path) : 0;

	if (error)
		return error;
	mdb_reader_check(store->env, &dead);
	error = open_tables(store, false);
	if (error != MDB_NOTFOUND)
		return error ? cannot_open(error, path) : 0;
	xb_fault("store-bare");
	error = find_record(store, path);
	if (error == -ENOENT && writes)
		return make_tables(store, directory, path);
	if (error)
		return error;
	/* Somebody has made them meanwhile, or they are lost. */
	error = open_tables(store, false);
	return error ? cannot_open(error == MDB_NOTFOUND ? MDB_CORRUPTED : error, path) : 0;
}

/* One that is open already: what may have happened to it meanwhile. */
static int use_again(struct xb_store *store, const char *directory, const char *path,
		     enum xb_store_use use, struct xb_store **out)
{
	int dead, error = use == XB_STORE_READ ? 0 : fill_up(store, directory, path);

	if (error) {
		xb_kept_fail(store);
		xb_store_close(store);
		return error;
	}
	mdb_reader_check(store->env, &dead);
	*out = store;
	return 0;
}

static int open_anew(const char *directory, const char *path, enum xb_store_use use,
		     struct xb_store **out)
{
	static uint64_t openings;
	struct xb_store *store;
	int error = find_store(directory, path);

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
	store->opening = ++openings;
	error = xb_lock_pid_namespace(directory, &store->namespace_lock);
	if (!error)
		error = open_file(store, directory, path);
	if (!error && store->read_only)
		error = xb_lock_out_writers(directory, &store->out_writers);
	if (!error)
		error = open_contents(store, directory, path, use);
	if (error) {
		xb_store_close(store);
		return error;
	}
	xb_kept_put(store, path);
	*out = store;
	return 0;
}

int xb_store_open(const char *directory, enum xb_store_use use, struct xb_store **out)
{
	struct xb_store *kept;
	char path[XB_PATH_MAX];
	int error = xb_path_join(path, directory, XB_STORE_FILE);

	*out = NULL;
	if (error)
		return error;
	xb_store_close(xb_kept_drop());
	kept = xb_kept_take(path);
	return kept ? use_again(kept, directory, path, use, out)
		    : open_anew(directory, path, use, out);
}

int xb_store_begin_reading(const char *directory, struct xb_store **store, struct xb_txn **txn)
{
	int error = xb_store_open(directory, XB_STORE_READ, store);

	*txn = NULL;
	if (!error)
		error = xb_store_read(*store, txn);
	if (error) {
		xb_store_close(*store);
		*store = NULL;
	}
	return error;
}

void xb_store_end_reading(struct xb_store *store, struct xb_txn *txn)
{
	xb_txn_abort(txn);
	xb_store_close(store);
}
