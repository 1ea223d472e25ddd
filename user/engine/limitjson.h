/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits with what was counted over them, as JSON and in words: the same wherever they are shown.
 */
#ifndef XB_ENGINE_LIMITJSON_H
#define XB_ENGINE_LIMITJSON_H

#include <jansson.h>

#include "engine/limitfigures.h"

/* As xb_limit_json() with the key "name", and "over_packets" and "over_bytes". The caller owns
 * it; NULL: out of memory. */
json_t *xb_limit_figure_json(const struct xb_limit_figure *figure);

/* An array of all. */
json_t *xb_limit_figures_json(const struct xb_limit_figures *figures);

#define XB_LIMIT_TEXT (XB_SCOPE_TEXT + 64)

/* "100/s packets per /32 and /64 to tcp/443"; returns out. */
const char *xb_limit_describe(const struct xb_limit *limit, char out[XB_LIMIT_TEXT]);

#endif
