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

/* Readers write nothing. Writers make tables that are not there; for that they take the writer
 * lock, which they must not hold yet. */
enum xb_store_use { XB_STORE_READ, XB_STORE_WRITE, XB_STORE_CREATE };

/*
 * Opens the store in the directory, and creates it with XB_STORE_CREATE. The caller closes it.
 * -ENOENT without a message: there is none. A store on a read-only file system can be read; while
 * it is open, nobody can write it through another mount.
 */
int xb_store_open(const char *directory, enum xb_store_use use, struct xb_store **store);
void xb_store_close(struct xb_store *store);

/* Opens the store for reading, with a transaction that sees what is there now. After an error, both
 * are NULL; -ENOENT as above. The end takes NULL, too. */
int xb_store_begin_reading(const char *directory, struct xb_store **store, struct xb_txn **txn);
void xb_store_end_reading(struct xb_store *store, struct xb_txn *txn);

/*
 * For a program that uses the store again and again: from now on it stays open, and every
 * xb_store_open() gives the same one, which is in use until each of them has closed it. A child
 * that is forked opens its own.
 */
void xb_store_keep(bool keep);

/* Called with the writer lock held, before anything is read: makes readers see what a killed
 * writer had committed. See store/latest.h. */
int xb_store_recover(struct xb_store *store);

#endif
