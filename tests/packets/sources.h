/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses and prefixes that are listed or allowed, as the reference has them. */
#ifndef XB_PACKETS_SOURCES_H
#define XB_PACKETS_SOURCES_H

#include <stdbool.h>
#include <stdint.h>

struct address {
	bool ipv6;
	uint8_t byte[16]; /* of IPv4 the first four */
};

enum source_found {
	SOURCE_CLEAN,
	SOURCE_IN_PREFIX4, /* up to /24 */
	SOURCE_IS_HOST4,   /* or in a /25 to /31 */
	SOURCE_IN_NET6,
};

struct sources;

struct sources *sources_new(void);
void sources_free(struct sources *sources);

struct xb_entry;

/* Something listed or allowed, as the entry says. */
void sources_add(struct sources *sources, const struct xb_entry *entry);
/* After the last add, before the first question. */
void sources_sort(struct sources *sources);

enum source_found sources_find(const struct sources *sources, const struct address *address);
bool sources_allow(const struct sources *sources, const struct address *address);

/* Whether a Bloom filter is asked for addresses of this family. */
bool sources_guess(const struct sources *sources, bool ipv6);

#endif
