/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Settings as JSON, the same in a dump and in answers. The caller owns what is returned. */
#ifndef XB_ENGINE_SETTINGSJSON_H
#define XB_ENGINE_SETTINGSJSON_H

#include <jansson.h>
#include <stdint.h>

#include "xdp_bloom/layout.h"

/* Names of kinds of lifelines, a bit each. */
json_t *xb_kinds_json(uint32_t kinds);

/* Numbers of ports, packed to the front. */
json_t *xb_ports_json(const uint16_t ports[XB_NAME_PORTS]);

/* {"dns": [...], "tls": [...], "http": [...]} */
json_t *xb_all_ports_json(struct xb_name_ports ports);

#endif
