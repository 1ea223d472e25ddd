/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where frames come from: some listed, the others not, by draws that are the same in every run. */
#ifndef XB_BENCH_SOURCES_H
#define XB_BENCH_SOURCES_H

#include <arpa/inet.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/addresses.h"

struct range {
	uint32_t first, last; /* IPv4, host byte order */
};

/* What is listed: the first `entries` random addresses, or the ranges of a file in ascending order,
 * none of which touches another. */
struct sources {
	uint32_t entries;
	struct range *ranges; /* NULL: random */
	size_t range_count;
	uint32_t drawn;
};

static inline int compare_ranges(const void *a, const void *b)
{
	const struct range *left = a, *right = b;

	return left->first < right->first ? -1 : left->first > right->first;
}

static inline void merge_ranges(struct sources *sources)
{
	size_t count = 0;

	qsort(sources->ranges, sources->range_count, sizeof(*sources->ranges), compare_ranges);
	for (size_t i = 0; i < sources->range_count; i++) {
		struct range next = sources->ranges[i], *last = sources->ranges + count;

		if (!count || next.first > (uint64_t)last[-1].last + 1)
			sources->ranges[count++] = next;
		else if (next.last > last[-1].last)
			last[-1].last = next.last;
	}
	sources->range_count = count;
}

/* "192.0.2.0/24" or "192.0.2.1" */
static inline int parse_range(char *line, struct range *range)
{
	char *slash = strchr(line, '/');
	unsigned long length = 32;
	struct in_addr address;
	uint32_t host;

	line[strcspn(line, "\n")] = '\0';
	if (slash) {
		*slash = '\0';
		length = strtoul(slash + 1, NULL, 10);
	}
	if (length < 1 || length > 32 || inet_pton(AF_INET, line, &address) != 1)
		return -EINVAL;
	host = length == 32 ? 0 : ~0U >> length;
	range->first = ntohl(address.s_addr) & ~host;
	range->last = range->first | host;
	return 0;
}

/* Of a file with an IPv4 prefix a line. 0 or a negative errno. */
static inline int sources_read(struct sources *sources, const char *path)
{
	FILE *file = fopen(path, "r");
	size_t room = 0;
	char line[64];
	int error = 0;

	if (!file)
		return -errno;
	while (!error && fgets(line, sizeof(line), file)) {
		if (sources->range_count == room) {
			struct range *grown;

			room = room ? 2 * room : 1024;
			grown = realloc(sources->ranges, room * sizeof(*grown));
			if (!grown)
				error = -ENOMEM;
			else
				sources->ranges = grown;
		}
		if (!error)
			error = parse_range(line, &sources->ranges[sources->range_count++]);
	}
	fclose(file);
	if (!error && !sources->range_count)
		error = -ENODATA;
	if (!error)
		merge_ranges(sources);
	return error;
}

static inline bool in_ranges(const struct sources *sources, uint32_t address)
{
	size_t low = 0, high = sources->range_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (sources->ranges[middle].last < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < sources->range_count && sources->ranges[low].first <= address;
}

/* Loopback and link-local: the filter that ships lets them pass, whatever is listed. */
static inline bool passes_anyway(uint32_t address)
{
	return address >> 24 == 127 || address >> 16 == 0xa9fe;
}

/* Random 64 bits; the next ones with each call. */
static inline uint64_t sources_draw(struct sources *sources)
{
	return address_mix((uint64_t)1 << 63 | sources->drawn++);
}

/* An entry with equal chances, whatever its size, then an address in it. */
static inline uint32_t source_listed(struct sources *sources)
{
	const struct range *range;
	uint32_t address;
	uint64_t random;

	do {
		random = sources_draw(sources);
		if (!sources->ranges) {
			address = address_number((uint32_t)(random % sources->entries));
			continue;
		}
		range = &sources->ranges[random % sources->range_count];
		random = sources_draw(sources);
		address = range->first +
			  (uint32_t)(random % ((uint64_t)range->last - range->first + 1));
	} while (passes_anyway(address));
	return address;
}

static inline uint32_t source_clean(struct sources *sources)
{
	uint32_t address;

	do
		address = address_number(ADDRESSES_CLEAN + sources->drawn++);
	while (in_ranges(sources, address) || passes_anyway(address));
	return address;
}

static inline void source6(struct sources *sources, bool listed, uint64_t address[2])
{
	uint32_t number = ADDRESSES_CLEAN + sources->drawn++;

	if (listed)
		number = (uint32_t)(sources_draw(sources) % sources->entries);
	address6_number(number, address);
}

#endif
