/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The text of a store: JSON objects, one a line, of which xb_restore() makes the same store again.
 */
#ifndef XB_ENGINE_DUMP_H
#define XB_ENGINE_DUMP_H

#include <stdio.h>

#include "store/store.h"

/* Writes what the transaction sees, but for what the machine allowed automatically. Whether the
 * stream took it is for the caller to ask. */
int xb_dump(struct xb_txn *txn, FILE *out);

#endif
