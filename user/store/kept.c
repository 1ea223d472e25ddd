/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/kept.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/paths.h"
#include "base/plainfile.h"

#define LOCK "-lock" /* LMDB's, behind the path of the store */

static struct {
	bool wanted;
	struct xb_store *store;
	pid_t owner;
	unsigned int users;
	bool failed; /* LMDB may refuse all that follows */
	struct stat lock;
	char path[XB_PATH_MAX];
} kept;

/* What a parent process kept is none of this one's. */
static void forget_parent(void)
{
	if (kept.store && kept.owner != getpid())
		kept.store = NULL;
}

static bool stat_lock(struct stat *st)
{
	char path[XB_PATH_MAX + sizeof(LOCK)];

	snprintf(path, sizeof(path), "%s" LOCK, kept.path);
	return !lstat(path, st);
}

/* Who opens the store now goes by the lock file that stands there now. */
static bool is_in_place(void)
{
	struct stat lock;
	mdb_filehandle_t fd;

	return !mdb_env_get_fd(kept.store->env, &fd) && xb_plainfile_is(kept.path, fd) &&
	       stat_lock(&lock) && lock.st_dev == kept.lock.st_dev &&
	       lock.st_ino == kept.lock.st_ino;
}

static bool is_usable(void)
{
	return !kept.failed && is_in_place();
}

void xb_kept_want(bool want)
{
	kept.wanted = want;
}

struct xb_store *xb_kept_drop(void)
{
	struct xb_store *store;

	forget_parent();
	store = kept.store;
	if (!store || kept.users || (kept.wanted && is_usable()))
		return NULL;
	kept.store = NULL;
	return store;
}

struct xb_store *xb_kept_take(const char *path)
{
	forget_parent();
	if (!kept.store || strcmp(kept.path, path) != 0 || !is_usable())
		return NULL;
	kept.users++;
	return kept.store;
}

void xb_kept_put(struct xb_store *store, const char *path)
{
	if (!kept.wanted || kept.store || store->read_only)
		return;
	kept.store = store;
	kept.owner = getpid();
	kept.users = 1;
	kept.failed = false;
	snprintf(kept.path, sizeof(kept.path), "%s", path);
	if (!stat_lock(&kept.lock) || !is_in_place()) /* a copy in memory */
		kept.store = NULL;
}

bool xb_kept_release(const struct xb_store *store)
{
	if (!store || store != kept.store)
		return false;
	if (--kept.users)
		return true;
	if (!kept.wanted || !is_usable())
		kept.store = NULL;
	return kept.store;
}

void xb_kept_fail(const struct xb_store *store)
{
	if (store == kept.store)
		kept.failed = true;
}
