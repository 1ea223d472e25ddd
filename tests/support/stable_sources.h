/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sources that are listed and stay, of both families. */
#ifndef XB_TESTS_STABLE_SOURCES_H
#define XB_TESTS_STABLE_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

#include "support/rig.h"
#include "support/source.h"

static inline struct xb_entry host(uint32_t address)
{
	return (struct xb_entry){.hi = (uint64_t)address << 32, .kind = XB_HOST4, .length = 32};
}

static inline struct xb_entry net(uint64_t hi)
{
	return (struct xb_entry){.hi = hi, .kind = XB_NET6, .length = 64};
}

/* Sources that stay: 10.0.0.1 and on, 2001:db8:0:0::/64 and on. */
static inline uint64_t stable_source(uint32_t number, bool ipv4)
{
	return ipv4 ? 0x0a000001 + number : 0x20010db800000000 + number;
}

static inline void list_stable(struct rig *rig)
{
	struct xb_entry entries[2 * SOURCE_STABLE];

	for (uint32_t i = 0; i < SOURCE_STABLE; i++) {
		entries[2 * i] = host((uint32_t)stable_source(i, true));
		entries[2 * i + 1] = net(stable_source(i, false));
	}
	rig_add_all(rig, entries, 2 * SOURCE_STABLE);
}

#endif
