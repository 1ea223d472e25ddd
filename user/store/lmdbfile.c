/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What can be wrong with the file before it is a database: planted, never written, cut short. */
#include "store/lmdbfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/paths.h"
#include "base/plainfile.h"
#include "store/latest.h"
#include "store/lmdbcrash.h"
#include "store/lmdberror.h"
#include "store/lmdbpage.h"
#include "store/openenv.h"

int xb_lmdbfile_check(const char *path)
{
	int error = xb_plainfile_check(path);
	char lock[XB_PATH_MAX];

	if (error)
		return error;
	if (snprintf(lock, sizeof(lock), "%s-lock", path) >= XB_PATH_MAX)
		return xb_input_error("%.64s...: path too long", path);
	return xb_plainfile_check(lock);
}

static int sync_directory(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), error = 0;

	/* One that may not be read was made by somebody else, long ago. */
	if (fd < 0 && errno == EACCES)
		return 0;
	/* Some file systems have nothing to sync there. */
	if (fd < 0 || (fsync(fd) < 0 && errno != EINVAL))
		error = xb_system_error(errno, "cannot sync %s to disk", path);
	if (fd >= 0)
		close(fd);
	return error;
}

int xb_lmdbfile_sync(MDB_env *env, const char *directory)
{
	char parent[XB_PATH_MAX];
	int error = mdb_env_sync(env, 1);

	if (error)
		return xb_lmdb_error(error, "cannot sync the store to disk");
	error = xb_path_join(parent, directory, "..");
	if (error)
		return error;
	return sync_directory(directory) || sync_directory(parent) ? -EIO : 0;
}

/* Of the two pages that LMDB 0.9 begins a file with, beside what store/lmdbpage.h tells. */
#define LMDB_PAGE	       4096
#define LMDB_TRANSACTION_PLACE 144
/* What no file system divides when it loses the end of a file. */
#define SECTOR 512

static bool is_empty(const uint8_t *page)
{
	return !page[0] && !memcmp(page, page + 1, LMDB_PAGE - 1);
}

static bool is_begun(const uint8_t *page)
{
	uint32_t magic;

	memcpy(&magic, page + XB_LMDB_MAGIC_PLACE, sizeof(magic));
	return magic == XB_LMDB_MAGIC;
}

static bool is_used(const uint8_t *page)
{
	uint64_t transaction;

	memcpy(&transaction, page + LMDB_TRANSACTION_PLACE, sizeof(transaction));
	return transaction;
}

static bool is_unused(const uint8_t *page)
{
	return is_empty(page) || (is_begun(page) && !is_used(page));
}

/*
 * A file that was begun when the power went: of its two pages something was never written. Nothing
 * was acknowledged with it, so it is emptied, and LMDB begins again. A file that was in use and was
 * cut short is none of these. Returns whether the file may be opened again.
 */
static bool empty_stillborn(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	uint8_t first[2 * LMDB_PAGE + 1] = {0}, *second = first + LMDB_PAGE;
	bool again;
	ssize_t bytes;

	if (fd < 0)
		return false;
	bytes = pread(fd, first, sizeof(first), 0);
	if (bytes < 0 || bytes > 2 * LMDB_PAGE)
		again = false;
	else if (is_begun(first) && is_begun(second))
		again = true; /* somebody completed it meanwhile */
	else if (bytes % SECTOR == 0 && is_unused(first) && is_unused(second))
		again = !ftruncate(fd, 0);
	else
		again = false;
	close(fd);
	return again;
}

void xb_lmdbfile_close(MDB_env *env)
{
	if (!env)
		return;
	mdb_env_close(env);
	xb_lmdbpage_forget();
	xb_openenv_set(NULL);
}

/* LMDB 0.9's lock file for XB_STORE_READERS: two cache lines, and one for each of them. */
#define LOCK_BYTES ((XB_STORE_READERS + 2) * 64)

static bool is_full(int error)
{
	return error == ENOSPC || error == EDQUOT;
}

/* LMDB leaves holes in its lock file; on a full disk, the first touch of one is a fault. An error
 * only if the file is new: in one that is used, what is needed may be there. */
static int fill_holes(int fd, const char *path)
{
	struct stat st;
	off_t size;

	if (fstat(fd, &st) < 0 || (st.st_size && st.st_blocks * 512 >= st.st_size))
		return 0;
	size = st.st_size ? st.st_size : LOCK_BYTES;
	if (!fallocate(fd, 0, 0, size) || !is_full(errno))
		return 0; /* or this file system cannot */
	if (!st.st_size)
		return errno;
	xb_lmdbcrash_expect_full(path);
	return 0;
}

/* Nobody in this process has the lock file open: closing it would drop LMDB's locks. What cannot be
 * opened is LMDB's to report. */
static int reserve_lock(const char *path)
{
	char lock[XB_PATH_MAX];
	int fd, error;

	snprintf(lock, sizeof(lock), "%s-lock", path);
	fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0660);
	if (fd < 0)
		return is_full(errno) ? errno : 0;
	error = fill_holes(fd, path);
	close(fd);
	return error;
}

static int set_up(MDB_env *env, const char *path, unsigned int flags)
{
	mdb_filehandle_t fd;
	int error = mdb_env_set_maxdbs(env, XB_STORE_TABLES);

	xb_lmdbcrash_expect(env, path);
	if (!error && !(flags & MDB_RDONLY))
		error = reserve_lock(path);
	if (!error)
		error = mdb_env_set_maxreaders(env, XB_STORE_READERS);
	if (!error)
		error = mdb_env_set_mapsize(env, XB_STORE_BYTES);
	if (!error)
		error = mdb_env_open(env, path, flags | MDB_NOSUBDIR | MDB_NOTLS | MDB_NORDAHEAD,
				     0660);
	if (error)
		return error;
	mdb_env_get_fd(env, &fd);
	return xb_plainfile_is(path, fd) ? 0 : EAGAIN; /* swapped since it was checked */
}

static int open_as(const char *path, unsigned int flags, MDB_env **env)
{
	MDB_txn *txn;
	int error = mdb_env_create(env);

	if (error) {
		*env = NULL;
		return error;
	}
	error = set_up(*env, path, flags);
	if (!error)
		error = xb_latest_begin(*env, MDB_RDONLY, &txn);
	if (!error) {
		mdb_txn_abort(txn);
		return 0;
	}
	mdb_env_close(*env);
	xb_lmdbpage_forget();
	*env = NULL;
	return error;
}

static int open_environment(const char *path, MDB_env **env)
{
	int error = open_as(path, 0, env);

	if (error != EROFS)
		return error;
	error = open_as(path, MDB_RDONLY, env);
	return error == ENOENT ? EROFS : error;
}

bool xb_lmdbfile_is_read_only(MDB_env *env)
{
	unsigned int flags;

	return !mdb_env_get_flags(env, &flags) && (flags & MDB_RDONLY);
}

#define TRIES 20
#define PAUSE 10000 /* us */

/* Whoever is alone with a lock file makes it anew, so a lag is put right once those who brought it
 * about are gone. */
static int open_latest(const char *path, MDB_env **env)
{
	int error = open_environment(path, env);

	for (int i = 0; error == XB_NOT_LATEST && i < TRIES; i++) {
		usleep(PAUSE);
		error = open_environment(path, env);
	}
	return error;
}

static off_t whole_size(MDB_env *env)
{
	MDB_envinfo info;
	MDB_stat pages;

	mdb_env_info(env, &info);
	mdb_env_stat(env, &pages);
	return (off_t)((info.me_last_pgno + 1) * pages.ms_psize);
}

int xb_lmdbfile_is_short(MDB_env *env, bool *is)
{
	mdb_filehandle_t fd;
	struct stat st;

	mdb_env_get_fd(env, &fd);
	if (fstat(fd, &st) < 0)
		return errno;
	*is = st.st_size < whole_size(env);
	return 0;
}

static int lengthen(MDB_env *env)
{
	mdb_filehandle_t fd;

	mdb_env_get_fd(env, &fd);
	return ftruncate(fd, whole_size(env)) < 0 ? errno : 0;
}

/* Free pages at the end may rightly never have been written; zeros where there should be pages are
 * told as damage. */
int xb_lmdbfile_fill_up(MDB_env *env)
{
	MDB_txn *txn;
	bool is_short = false;
	/* Nobody may write meanwhile, also an older bloomctl, which knows no other lock for it: a
	 * file that grew would be cut. */
	int error = xb_latest_begin(env, 0, &txn);

	if (error)
		return error;
	error = xb_lmdbfile_is_short(env, &is_short);
	if (!error && is_short)
		error = lengthen(env);
	mdb_txn_abort(txn);
	return error;
}

int xb_lmdbfile_open(const char *path, MDB_env **env)
{
	int error;

	*env = NULL;
	if (xb_openenv())
		return EBUSY;
	error = open_latest(path, env);
	if (error == MDB_INVALID && empty_stillborn(path))
		error = open_latest(path, env);
	xb_openenv_set(*env);
	return error;
}
