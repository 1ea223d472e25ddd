/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The store's file: an LMDB environment. */
#ifndef XB_STORE_LMDBFILE_H
#define XB_STORE_LMDBFILE_H

#include <lmdb.h>
#include <stdbool.h>

#define XB_STORE_TABLES 16

/* Whether file and lock are plain files, or not there: LMDB opens by name and follows links. 0, or
 * an error with its message. */
int xb_storefile_check(const char *path);

/*
 * Opens it, and begins it if need be. Under xb_lock_opening(), and once in a process: the kernel
 * drops LMDB's locks when the process closes any descriptor of the lock file. An error of LMDB or a
 * positive errno, without a message; nothing is open then.
 */
int xb_storefile_open(const char *path, MDB_env **env);

/* Whether it is on a file system that cannot be written. LMDB has no lock file then: no table of
 * readers keeps what they read from being used again. */
bool xb_storefile_is_read_only(MDB_env *env);

void xb_storefile_close(MDB_env *env);

/* A look-up in a file cut short would end in SIGBUS. Errors as above. */
int xb_storefile_is_short(MDB_env *env, bool *is);

/* Makes it long enough. Under the writer lock. */
int xb_storefile_fill_up(MDB_env *env);

/* In place of *env, which is closed: what is in it, in memory, where nobody else sees changes.
 * *env: NULL after an error. Errors as above. */
int xb_storefile_copy(const char *path, MDB_env **env);

/* Of a store that has no tables yet: once it has, its beginning, its name and that of its directory
 * survive a power loss. 0, or an error with its message. */
int xb_storefile_sync(MDB_env *env, const char *directory);

#endif
