/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Advisory locks in the state directory say who may change what. The kernel drops them with the
 * process. */
#ifndef XB_BASE_LOCK_H
#define XB_BASE_LOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Writer: the store and the active generation. Builder: a new generation. One that takes both takes
 * the builder first. A lock is a file descriptor; xb_unlock(-1) does nothing.
 */
#define XB_WRITER_LOCK	"writer.lock"
#define XB_BUILDER_LOCK "builder.lock"
/* Taken before both; says that the trial's commit is alive. */
#define XB_COMMIT_LOCK "commit.lock"

/* Taken behind them: the file of known sources. */
#define XB_KNOWN_LOCK "known.lock"

/* Creates missing lock files as far as it may: a group may have the right to use lock files, but
 * not to create any. */
void xb_locks_make(const char *directory);

/* A flock(2) that waits as long as the command has patience (base/patience.h), and says which
 * process it waits for. path: of the file, for messages. -EBUSY: others still hold the lock. */
int xb_lock_wait(int fd, int operation, const char *path);

/* Waits for the lock like that. Returns the descriptor or a negative errno. */
int xb_lock(const char *directory, const char *name);

/*
 * For a command of several steps, instead of xb_unlock(): until xb_locks_drop(), the lock of this
 * name (a constant) stays taken, and xb_lock() gives this process another descriptor of it at once.
 */
void xb_lock_keep(const char *name, int lock);
void xb_locks_drop(void);

/* Does not wait: -EWOULDBLOCK (no message) when somebody has it. */
int xb_try_lock(const char *directory, const char *name);

/*
 * Every process that opens the store, to read or to write, holds this lock meanwhile. The lock is
 * on the directory itself, which is there also for users who may create no file in it, and on a
 * file system that cannot be written.
 */
int xb_lock_opening(const char *directory);

void xb_unlock(int lock);

/* Writes a number into the lock file, for processes that find the lock taken. The builder keeps
 * the sequence number of its snapshot there. */
int xb_lock_note(int lock, uint64_t number);

/* Whether somebody holds the lock, and its number (0 while there is none). True if that cannot
 * be determined. */
bool xb_lock_is_held(const char *directory, const char *name, uint64_t *note);

/* For readers, which create no file: whether somebody holds the lock now, and who
 * (base/holder.h). False if there is no such file, or if this process may not read it. */
bool xb_lock_holder(const char *directory, const char *name, char *text, size_t size);

/*
 * The store's reader table knows processes by number, so all users of a state directory must share
 * a PID namespace. The caller keeps *lock while the store is open; it is -1 if it is missing on a
 * file system that cannot be written. An error says what is wrong.
 */
int xb_lock_pid_namespace(const char *directory, int *lock);

/* For a reader without a place in that table: nobody writes while it holds *lock, which other
 * such readers may hold too. *lock and errors as above. */
int xb_lock_out_writers(const char *directory, int *lock);

#endif
