/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a service manager shows of bloomd, in one line: what is listed, where it is enforced, and
 * what is not as it should be. */
#ifndef XB_BLOOMD_STATUS_H
#define XB_BLOOMD_STATUS_H

#include "engine/health.h"

#define STATUS_BYTES 768

/* Such as "2 entries; policy enforce on 1 of 2 interfaces; x1 is not filtered". */
void status_compose(const struct xb_health *health, char text[STATUS_BYTES]);

#endif
