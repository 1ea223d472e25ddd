/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/latest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include "store/freelist.h"
#include "store/lmdbpage.h"

#define TRIES 20
#define PAUSE 1000 /* us */

static size_t newest_meta_page(MDB_env *env)
{
	MDB_envinfo info;

	mdb_env_info(env, &info);
	return info.me_last_txnid;
}

/* Under LMDB's mutex, where the number of one that died has been put right. */
static int begin_write(MDB_env *env, MDB_txn **txn)
{
	int error = mdb_txn_begin(env, NULL, 0, txn);

	/* LMDB's word for an environment that is for reading. */
	if (error)
		return error == EACCES ? EROFS : error;
	error = mdb_txn_id(*txn) == newest_meta_page(env) + 1 ? xb_lmdbpage_begin(*txn)
							      : XB_NOT_LATEST;
	if (!error)
		error = xb_freelist_check(*txn);
	if (!error)
		return 0;
	mdb_txn_abort(*txn);
	*txn = NULL;
	return error;
}

/*
 * Whether the transaction before the newest one was taken over whole. Its meta page is overwritten
 * by the second transaction after it, which cannot begin until readers go by the first.
 */
static int is_one_behind(MDB_env *env, const MDB_txn *txn, bool *is)
{
	size_t number = mdb_txn_id((MDB_txn *)(uintptr_t)txn);
	MDB_txn *later;
	int error = mdb_txn_begin(env, NULL, MDB_RDONLY, &later);

	if (error)
		return error;
	*is = mdb_txn_id(later) == number && newest_meta_page(env) == number + 1;
	mdb_txn_abort(later);
	return 0;
}

/* Between LMDB's look at the number and its look at the page others may have committed. */
static int begin_read(MDB_env *env, MDB_txn **txn)
{
	for (int i = 0; i < TRIES; i++) {
		bool good;
		int error = mdb_txn_begin(env, NULL, MDB_RDONLY, txn);

		if (error)
			return error;
		good = mdb_txn_id(*txn) == newest_meta_page(env);
		if (!good)
			error = is_one_behind(env, *txn, &good);
		if (!error && good)
			error = xb_lmdbpage_begin(*txn);
		if (!error && good)
			return 0;
		mdb_txn_abort(*txn);
		*txn = NULL;
		if (error)
			return error;
		usleep(PAUSE);
	}
	return XB_NOT_LATEST;
}

int xb_latest_begin(MDB_env *env, unsigned int flags, MDB_txn **txn)
{
	return (flags & MDB_RDONLY) ? begin_read(env, txn) : begin_write(env, txn);
}
