/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The store that a process keeps open from one use to the next, for a program that uses it again
 * and again. LMDB allows a process to open a file once, so all uses at a time share it. */
#ifndef XB_STORE_KEPT_H
#define XB_STORE_KEPT_H

#include <stdbool.h>

#include "store/types.h"

/* Whether this process keeps the store that it opens next. */
void xb_kept_want(bool want);

/* The kept store of this path, used once more; NULL: there is none. */
struct xb_store *xb_kept_take(const char *path);

/* After a store was opened: keeps it if that is wanted and nothing else is kept. */
void xb_kept_put(struct xb_store *store, const char *path);

/* At the end of a use: whether the store stays open. */
bool xb_kept_release(const struct xb_store *store);

/* Gives up a kept store that nobody uses, if it is not wanted any more, has failed, or other
 * files have taken its place; the caller closes it. NULL: there is none. What a parent process kept
 * is left alone.
 */
struct xb_store *xb_kept_drop(void);

/* A transaction of this store could not begin or be committed: if it is the kept one, it is closed
 * at the end of its use. LMDB refuses every transaction after it could not write a meta page, and
 * does not notice what was done to the file by other means. */
void xb_kept_fail(const struct xb_store *store);

#endif
