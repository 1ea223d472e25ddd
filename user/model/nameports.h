/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The ports to which packets with names go, for each protocol that carries names: in order, packed
 * to the front. */
#ifndef XB_MODEL_NAMEPORTS_H
#define XB_MODEL_NAMEPORTS_H

#include <stdint.h>

#include "xdp_bloom/layout.h"

enum xb_carrier { XB_CARRIER_DNS, XB_CARRIER_TLS, XB_CARRIER_HTTP, XB_CARRIERS };

const char *xb_carrier_name(enum xb_carrier carrier);
int xb_carrier_parse(const char *text, enum xb_carrier *carrier);

uint16_t *xb_ports_of(struct xb_name_ports *ports, enum xb_carrier carrier);

/* Adds a port. An error if it is no port, is there already, or if there is no room. */
int xb_ports_add(uint16_t ports[XB_NAME_PORTS], uint64_t port);

/* PORT,... or "off". */
int xb_ports_parse(const char *text, uint16_t ports[XB_NAME_PORTS]);

#define XB_PORTS_TEXT 32 /* bytes, terminator included */

/* The text of them; returns out. */
const char *xb_ports_format(const uint16_t ports[XB_NAME_PORTS], char out[XB_PORTS_TEXT]);

/* An error if a port of this carrier belongs to another carrier too. The filter would try only
 * one of TLS and HTTP, and takes TCP to a port of DNS for DNS before either. */
int xb_ports_check(struct xb_name_ports *ports, enum xb_carrier carrier);

#endif
