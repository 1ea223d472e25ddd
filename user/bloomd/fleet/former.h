/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a host leaves behind when it goes back in the log. */
#ifndef XB_BLOOMD_FORMER_H
#define XB_BLOOMD_FORMER_H

#include <stdint.h>

#include "store/fleet.h"

/* Takes out of the tail what is behind the position of this term; the store knows these entries as
 * former ones. Returns 0 or an error with its message. */
int former_cut(struct xb_txn *txn, uint64_t term, uint64_t position);

#endif
