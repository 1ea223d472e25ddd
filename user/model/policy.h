/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of the policies; enum xb_policy is in xdp_bloom/layout.h. */
#ifndef XB_MODEL_POLICY_H
#define XB_MODEL_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "xdp_bloom/layout.h"

const char *xb_policy_name(uint32_t policy);
int xb_policy_parse(const char *text, uint32_t *policy);

/* Checks whether the policy is possible: allow-only needs the exact look-up, because otherwise
 * wrong hits would pass. */
int xb_policy_check(uint32_t policy, bool confirm);

#endif
