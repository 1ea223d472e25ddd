/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The addresses of network devices. */
#ifndef XB_MACHINE_ADDRESSES_H
#define XB_MACHINE_ADDRESSES_H

#include "machine/devices.h"
#include "machine/lifelines.h"

/* Adds the addresses of the chosen devices. Other devices that run and have addresses are noted
 * as seen: neither their addresses nor their gateways are lifelines. */
int xb_device_addresses(const struct xb_devices *devices, struct xb_lifelines *out);

#endif
