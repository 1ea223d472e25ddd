/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A reading as one JSON object, for scripts. */
#ifndef XB_CLI_TOP_TOPJSON_H
#define XB_CLI_TOP_TOPJSON_H

#include "bloomctl/top/meter.h"

json_t *top_json(const struct meter_view *view);

#endif
