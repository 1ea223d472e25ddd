/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Who may change what: advisory locks in the state directory, dropped by the kernel with the
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

/* Creates missing lock files as far as it may: a group may have the right to use lock files, but
 * not to create any. */
void xb_locks_make(const char *directory);

/*
 * flock(2) that waits as long as the command has patience, see base/patience.h, and says for whom;
 * path: of the file, for messages. -EBUSY: others have it still.
 */
int xb_lock_wait(int fd, int operation, const char *path);

/* Waits for the lock like that. Returns the descriptor or a negative errno. */
int xb_lock(const char *directory, const char *name);

/*
 * For a command of several steps: instead of xb_unlock(). Until xb_locks_drop() a lock of this
 * name, a constant, stays taken, and xb_lock() gives this process another descriptor of it at once.
 */
void xb_lock_keep(const char *name, int lock);
void xb_locks_drop(void);

/* Does not wait: -EWOULDBLOCK (no message) when somebody has it. */
int xb_try_lock(const char *directory, const char *name);

/*
 * Whoever opens the store, to read or to write, holds this one meanwhile. It is the directory
 * itself: that is there for those who may make no file in it, and on a file system that cannot be
 * written.
 */
int xb_lock_opening(const char *directory);

void xb_unlock(int lock);

/* A number kept in the lock file for those who find it taken. The builder keeps the sequence number
 * of its snapshot. */
int xb_lock_note(int lock, uint64_t number);

/* Whether somebody holds the lock, and the note (0 while there is none). True if that cannot be
 * told. */
bool xb_lock_is_held(const char *directory, const char *name, uint64_t *note);

/*
 * For those who only read, and make no file: whether somebody holds the lock now, and then who, see
 * base/holder.h. False if there is no such file, or it may not be read.
 */
bool xb_lock_holder(const char *directory, const char *name, char *text, size_t size);

/*
 * The store's reader table knows processes by number, so all users of a state directory must share
 * a PID namespace. *lock is to be kept while the store is open; -1: on a file system that cannot be
 * written it is missing. Or an error that says what is the matter.
 */
int xb_lock_pid_namespace(const char *directory, int *lock);

/* For a reader without a place in that table: nobody writes while *lock is held, which others like
 * it may have, too. *lock and errors as above. */
int xb_lock_out_writers(const char *directory, int *lock);

#endif
