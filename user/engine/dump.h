/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the text of a store: JSON objects, one a line, from which xb_restore() makes the same
 * store again. */
#ifndef XB_ENGINE_DUMP_H
#define XB_ENGINE_DUMP_H

#include <stdio.h>

#include "store/store.h"

/* Writes what the transaction sees, except automatic entries of the allowlist. The caller checks
 * the stream for errors (ferror(), fflush()). */
int xb_dump(struct xb_txn *txn, FILE *out);

/* The same of the store in this directory, without what has expired by now. -ENOENT without a
 * message: there is none. */
int xb_dump_store(const char *state, FILE *out);

#endif
