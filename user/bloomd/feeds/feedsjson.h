/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the tallies know of feeds, as JSON for the page. */
#ifndef XB_BLOOMD_FEEDSJSON_H
#define XB_BLOOMD_FEEDSJSON_H

#include <jansson.h>

#include "base/paths.h"

/* [{"name", "last_success"?, "content"?, "entries"?, "period"?, "fetches": {OUTCOME: NUMBER},
 * "refusals": {GUARD: NUMBER}}, ...]. NULL: out of memory. */
json_t *feeds_json(const struct xb_paths *paths);

#endif
