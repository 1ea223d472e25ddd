/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The store's file: an LMDB environment. */
#ifndef XB_STORE_LMDBFILE_H
#define XB_STORE_LMDBFILE_H

#include <lmdb.h>
#include <stdbool.h>

#define XB_STORE_TABLES 16

/* Whether file and lock are plain files, or not there: LMDB opens by name and follows links. 0, or
 * an error with its message. */
int xb_lmdbfile_check(const char *path);

/*
 * Opens the file, and creates it if need be. The caller holds xb_lock_opening(). Only once in a
 * process: the kernel drops LMDB's locks when the process closes any descriptor of the lock file.
 * Returns an error of LMDB or a positive errno, without a message; nothing is open then.
 */
int xb_lmdbfile_open(const char *path, MDB_env **env);

/* Whether the file is on a file system that cannot be written. LMDB then has no lock file, and
 * no table of readers protects the pages that they read from being used again. */
bool xb_lmdbfile_is_read_only(MDB_env *env);

void xb_lmdbfile_close(MDB_env *env);

/* Whether the file was cut short; a look-up in it would end in SIGBUS. Errors as above. */
int xb_lmdbfile_is_short(MDB_env *env, bool *is);

/* Lengthens a file that was cut short. The caller holds the writer lock. */
int xb_lmdbfile_fill_up(MDB_env *env);

/* For a store that has no tables yet: syncs its first pages, its name and that of its directory,
 * so that they survive a power loss before it gets tables. 0, or an error with its message. */
int xb_lmdbfile_sync(MDB_env *env, const char *directory);

#endif
