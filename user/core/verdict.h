/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What becomes of the listed domains of a list, and its names; enum xb_domain_verdict is in
 * xdp_bloom/layout.h. */
#ifndef XB_CORE_VERDICT_H
#define XB_CORE_VERDICT_H

#include <stdint.h>

#include "store.h"
#include "xdp_bloom/layout.h"

const char *xb_domain_verdict_name(uint32_t verdict);
int xb_domain_verdict_parse(const char *text, uint32_t *verdict);

/* In a write transaction: gives the list its verdict. */
int xb_domain_verdict_set(struct xb_txn *txn, struct xb_list *list, uint32_t verdict);

#endif
