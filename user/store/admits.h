/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether anything that is listed admits a source under the policy allow-only: an address in a list
 * that does not only count. */
#ifndef XB_STORE_ADMITS_H
#define XB_STORE_ADMITS_H

#include "store/types.h"

/* 1: something admits; 0: nothing does; negative: error with its message. Looks at no entry unless
 * some lists count and others do not; then at all that only count, in front of the first other. */
int xb_listed_admit(struct xb_txn *txn);

/* What the sizes of the lists say of it. False: perhaps something admits. */
bool xb_listed_admit_none(const struct xb_txn *txn);

#endif
