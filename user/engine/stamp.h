/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A mark on a list, by which who fills it knows that it is still as he has left it: the mark goes
 * with the next change of the list, whoever makes it. It stands in the place of an imprint
 * (engine/imprint.h), and is that of no file. */
#ifndef XB_ENGINE_STAMP_H
#define XB_ENGINE_STAMP_H

#include <stdbool.h>

#include "store/store.h"

#define XB_STAMP_TEXT 33 /* bytes, terminator included */

/* In a write, after all changes of the list, which is there: marks it, unless it has this mark
 * still. stamp: that of the last time, or ""; then what the list has now. Returns 0, or an error
 * with its message. */
int xb_stamp_put(struct xb_txn *txn, const char *list, char stamp[XB_STAMP_TEXT]);

/* Whether the list of the store in the state directory has this mark. What cannot be looked at has
 * none, nor has an empty list. */
bool xb_stamp_holds(const char *state, const char *list, const char *stamp);

#endif
