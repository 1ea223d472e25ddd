/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A comparison as the file of engine/fleetstate.h says it. */
#ifndef XB_BLOOMD_VERIFYREPORT_H
#define XB_BLOOMD_VERIFYREPORT_H

#include <jansson.h>

#include "bloomd/fleet/comparison.h"

/* A new reference; NULL with a message. Token and name of the fleet are the caller's to add. */
json_t *verifyreport(const struct snapshot_parts *parts, const struct comparison *comparison);

#endif
