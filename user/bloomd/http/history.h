/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets by reason over the last minutes, for a page that is opened just now. */
#ifndef XB_BLOOMD_HISTORY_H
#define XB_BLOOMD_HISTORY_H

#include <jansson.h>

#include "bloomd/base/agent.h"

#define HISTORY_STEP	10 /* seconds */
#define HISTORY_SAMPLES 61 /* ten minutes */

struct history;

/* Takes a sample now, and one each HISTORY_STEP. */
int history_start(struct agent *agent, struct history **history);
void history_stop(struct history *history);

/* [{"time": SECONDS, "packets": {REASON: NUMBER, ...}}, ...], oldest first; reasons with 0 are left
 * out. NULL: out of memory. */
json_t *history_json(const struct history *history);

#endif
