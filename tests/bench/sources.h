/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where frames come from: some listed, the others not, by draws that are the same in every run. */
#ifndef XB_BENCH_SOURCES_H
#define XB_BENCH_SOURCES_H

#include "bench/addresses.h"
#include "bench/must.h"
#include "support/oracle.h"

/* What is listed: the first `entries` random addresses, or those of a file. */
struct sources {
	uint32_t entries, drawn;
	struct xb_entry *of_file; /* NULL: random */
	struct oracle oracle;
	uint64_t seed;
};

/* Of a file with a prefix a line, all of one family. */
static inline void sources_read(struct sources *sources, const char *path)
{
	FILE *file = fopen(path, "re");
	char line[64];

	must(file ? 0 : -errno, path);
	while (fgets(line, sizeof(line), file)) {
		struct xb_entry *entry;

		sources->of_file =
			reallocarray(sources->of_file, sources->entries + 1, sizeof(*entry));
		must(sources->of_file ? 0 : -ENOMEM, path);
		entry = &sources->of_file[sources->entries++];
		must(xb_entry_parse(line, strcspn(line, "\n"), NULL, entry, NULL), line);
		oracle_add(&sources->oracle, entry);
	}
	fclose(file);
	must(sources->entries ? 0 : -ENODATA, path);
	oracle_sort(&sources->oracle);
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
	uint32_t number = (uint32_t)(sources_draw(sources) % sources->entries),
		 address = address_number(number);
	struct xb_entry inside;

	if (sources->of_file) {
		inside = oracle_address_in(&sources->seed, &sources->of_file[number]);
		address = xb_entry_ipv4(&inside);
	}
	return passes_anyway(address) ? source_listed(sources) : address;
}

static inline uint32_t source_clean(struct sources *sources)
{
	uint32_t address = address_number(ADDRESSES_CLEAN + sources->drawn++);
	const struct xb_entry entry = {
		.hi = (uint64_t)address << 32, .kind = XB_HOST4, .length = 32};

	return passes_anyway(address) || oracle_covers(&sources->oracle, &entry)
		       ? source_clean(sources)
		       : address;
}

/* The address that the random bits make in the first so many bits of the entry. Returns whether
 * nothing covers it. */
static inline bool unlisted_beside(const struct oracle *oracle, struct xb_entry *entry,
				   uint8_t length, uint64_t bits)
{
	entry->hi = entry->hi >> (64 - length) << (64 - length) | bits >> length;
	entry->lo = address_mix(bits);
	entry->length = 128;
	return !oracle_covers(oracle, entry);
}

/* Not listed, and in a /16 in which something is: where lists of countries are asked most. */
static inline struct xb_entry entry6_clean(struct sources *sources)
{
	struct xb_entry found;

	do
		found = sources->of_file[sources_draw(sources) % sources->entries];
	while (found.length <= 16 ||
	       !unlisted_beside(&sources->oracle, &found, 16, sources_draw(sources)));
	return found;
}

static inline void source6(struct sources *sources, bool listed, uint64_t address[2])
{
	uint32_t number = listed ? (uint32_t)(sources_draw(sources) % sources->entries)
				 : ADDRESSES_CLEAN + sources->drawn++;
	struct xb_entry found;

	address6_number(number, address);
	if (!sources->of_file)
		return;
	found = listed ? oracle_address_in(&sources->seed, &sources->of_file[number])
		       : entry6_clean(sources);
	address[0] = htobe64(found.hi);
	address[1] = htobe64(found.lo);
}

#endif
