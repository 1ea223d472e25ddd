/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings as JSON, the same in a dump and in answers. The caller owns the result; NULL: out of
 * memory. */
#ifndef XB_ENGINE_SETTINGSJSON_H
#define XB_ENGINE_SETTINGSJSON_H

#include <jansson.h>
#include <stdint.h>

#include "model/limit.h"
#include "xdp_bloom/layout.h"

/* An array with the names of these kinds of lifelines (a bit 1U << kind each). */
json_t *xb_kinds_json(uint32_t kinds);

/* An array with the names of these origins of a list (a bit 1U << origin each); NULL also if there
 * are none. */
json_t *xb_origins_json(uint32_t origins);

/* An array of the port numbers up to the first 0. */
json_t *xb_ports_json(const uint16_t ports[XB_NAME_PORTS]);

/* {"dns": [...], "tls": [...], "http": [...]} */
json_t *xb_all_ports_json(struct xb_name_ports ports);

/* {KEY: name, "to", "rate", "burst", "of", "per4", "per6", "over", "capacity"} */
json_t *xb_limit_json(const char *key, const struct xb_limit *limit);

#endif
