/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The store: one LMDB file that holds what is listed and what is wanted. The only truth; survives
 * reboot and kill -9. */
#ifndef XB_STORE_STORE_H
#define XB_STORE_STORE_H

#include "base/paths.h"
#include "store/entrytable.h"
#include "store/lists.h"
#include "store/lmdberror.h"
#include "store/txn.h"

/* Readers write nothing: one of an earlier schema they read as a copy in memory. Writers bring it
 * up to date, under the writer lock, which they must not hold yet. */
enum xb_store_use { XB_STORE_READ, XB_STORE_WRITE, XB_STORE_CREATE };

/*
 * Opens, and with XB_STORE_CREATE makes, the store in the directory. The caller closes it. -ENOENT
 * without message: there is none. One that cannot be written can be read; nobody writes it then by
 * another way while it is open.
 */
int xb_store_open(const char *directory, enum xb_store_use use, struct xb_store **store);
void xb_store_close(struct xb_store *store);

/* Under the writer lock, before anything is read: what a writer that was killed had committed is
 * seen by readers from now on, too. See store/latest.h. */
int xb_store_recover(struct xb_store *store);

#endif
