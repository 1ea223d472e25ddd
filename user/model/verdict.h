/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of the verdicts for queries for listed domains: enum xb_domain_verdict, which is in
 * xdp_bloom/layout.h. */
#ifndef XB_MODEL_VERDICT_H
#define XB_MODEL_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

#include "xdp_bloom/layout.h"

const char *xb_domain_verdict_name(uint32_t verdict);
int xb_domain_verdict_parse(const char *text, uint32_t *verdict);

/* Whether the filter answers queries with this verdict itself. */
bool xb_domain_verdict_answers(uint32_t verdict);

#endif
