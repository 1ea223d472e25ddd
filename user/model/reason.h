/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The names of the reasons why packets leave the filter, and of what then becomes of them: enum
 * xb_reason, which is in xdp_bloom/reason.h. */
#ifndef XB_MODEL_REASON_H
#define XB_MODEL_REASON_H

#include <stdbool.h>

#include "xdp_bloom/reason.h"

const char *xb_reason_name(unsigned int reason);
const char *xb_reason_meaning(unsigned int reason);

/* Whether a limit is why a packet did not go on. */
bool xb_reason_is_over_limit(unsigned int reason);

/* "pass", "drop" or "answer". */
const char *xb_reason_verdict(unsigned int reason);

#endif
