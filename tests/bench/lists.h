/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is listed and allowed while the filter is timed. */
#ifndef XB_BENCH_LISTS_H
#define XB_BENCH_LISTS_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bench/addresses.h"
#include "filter/contents.h"
#include "xdp_bloom/layout.h"

#define ALLOW_FEW  8
#define ALLOW_MANY 10000

/* What a machine allows by itself: loopback and link-local, its own addresses, gateway, resolvers
 * and ssh peer. */
static const struct xb_entry allow_few[ALLOW_FEW] = {
	{.hi = 0x7f00000000000000, .kind = XB_ALLOW4, .length = 8},
	{.hi = 0xa9fe000000000000, .kind = XB_ALLOW4, .length = 16},
	{.hi = 0xc000020100000000, .kind = XB_ALLOW4, .length = 32},
	{.hi = 0xc000020200000000, .kind = XB_ALLOW4, .length = 32},
	{.hi = 0xc633640100000000, .kind = XB_ALLOW4, .length = 32},
	{.hi = 0xcb00710100000000, .kind = XB_ALLOW4, .length = 32},
	{.hi = 0xfe80000000000000, .kind = XB_ALLOW6, .length = 10},
	{.lo = 1, .kind = XB_ALLOW6, .length = 128},
};

static int ascending(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return left < right ? -1 : left > right;
}

static inline int list_hosts(struct xb_contents *keys, size_t count)
{
	keys->host4 = malloc(count * sizeof(*keys->host4));
	if (!keys->host4)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		keys->host4[i] = address_number((uint32_t)i);
	qsort(keys->host4, count, sizeof(*keys->host4), ascending);
	keys->host4_count = count;
	return 0;
}

/* /24s, so that random traffic stays clean. */
static inline int list_prefixes(struct xb_contents *keys, size_t count)
{
	uint32_t step = (uint32_t)((1U << 24) / count);

	keys->prefix4 = calloc(count, sizeof(*keys->prefix4));
	if (!keys->prefix4)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		keys->prefix4[i] = (struct xb_entry){
			.hi = (uint64_t)(i * step) << 40, .kind = XB_PREFIX4, .length = 24};
	keys->prefix4_count = count;
	return 0;
}

/* Behind those that are listed; the caller has made room. 0 or a negative errno. */
static inline int list_name(struct xb_contents *keys, const char *text,
			    enum xb_domain_verdict verdict)
{
	struct xb_named *named = &keys->names[keys->names_count];
	uint8_t form[XB_NAME_BYTES];
	int error = xb_entry_parse(text, strlen(text), form, &named->entry, NULL);

	if (error)
		return error;
	named->entry.name = xb_arena_copy(&keys->arena, form, named->entry.length);
	if (!named->entry.name)
		return -ENOMEM;
	named->verdict = verdict;
	keys->names_count++;
	return 0;
}

/* The few, then random prefixes of /20 to /32: ALLOW_MANY in all. */
static inline int list_allowed(struct xb_contents *keys)
{
	keys->allow = calloc(ALLOW_MANY, sizeof(*keys->allow));
	if (!keys->allow)
		return -ENOMEM;
	for (uint32_t i = 0; i < ALLOW_MANY; i++) {
		uint8_t length = (uint8_t)(20 + i % 13);
		uint32_t address = address_number(0x80000000U + i) & ~0U << (32 - length);

		keys->allow[i] = i < ALLOW_FEW ? allow_few[i]
					       : (struct xb_entry){.hi = (uint64_t)address << 32,
								   .kind = XB_ALLOW4,
								   .length = length};
	}
	keys->allow_count = ALLOW_MANY;
	return 0;
}

static inline bool is_allowed(const struct xb_contents *keys, uint32_t address)
{
	for (size_t i = 0; i < keys->allow_count; i++) {
		const struct xb_entry *entry = &keys->allow[i];

		if (entry->kind == XB_ALLOW4 &&
		    !((address ^ xb_entry_ipv4(entry)) >> (32 - entry->length)))
			return true;
	}
	return false;
}

/*
 * Listed addresses for which the gate in front of the allowlist opens in vain: next to one of the
 * random prefixes, in none. At most max of them, in random order; returns how many.
 */
static inline size_t near_allowed(const struct xb_contents *keys, uint32_t *near, size_t max)
{
	uint8_t *open = calloc(1U << XB_GATE_BITS, 1);
	size_t count = 0;

	if (!open)
		return 0;
	for (size_t i = ALLOW_FEW; i < keys->allow_count; i++)
		open[xb_entry_ipv4(&keys->allow[i]) >> (32 - XB_GATE_BITS)] = 1;
	for (size_t i = 0; i < keys->host4_count && count < max; i++) {
		uint32_t address = address_number((uint32_t)i);

		if (open[address >> (32 - XB_GATE_BITS)] && !is_allowed(keys, address))
			near[count++] = address;
	}
	free(open);
	return count;
}

#endif
