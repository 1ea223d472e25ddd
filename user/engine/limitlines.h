/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The limits of a text that is restored: they take the place of those that there are. */
#ifndef XB_ENGINE_LIMITLINES_H
#define XB_ENGINE_LIMITLINES_H

#include <jansson.h>

#include "store/limits.h"

/* Reads a line with "limit", as xb_limit_json() makes them, into limits. Without a key, it is as
 * without the option of `limit add`; "to" and "rate" are needed. An error with its message. */
int xb_limit_line(struct xb_limits_wanted *limits, const json_t *line);

/* Behind the last line: writes these limits, and removes all others. One whose name was there keeps
 * its number, so that its statistics go on. An error with its message. */
int xb_limit_lines_end(struct xb_txn *txn, const struct xb_limits_wanted *limits);

#endif
