/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Filters for programs (xdp_bloom/bloom.h), full, asked for what is not in them; addresses are four
 * bytes. */
#ifndef XB_BENCH_PROGRAMS_H
#define XB_BENCH_PROGRAMS_H

#include <jansson.h>

#include "bench/addresses.h"
#include "bench/filter.h"
#include "xdp_bloom/bloom.h"

static inline struct xb_filter *programs_filter(enum xb_filter_kind kind, uint32_t keys,
						double rate, uint32_t seed)
{
	const struct xb_filter_key key = {xb_mix64(2 * seed + 1), xb_mix64(2 * seed + 2)};
	struct xb_filter_options options = {.kind = kind, .key = &key};
	struct xb_filter *filter;

	if (xb_filter_create(keys, rate, &options, &filter))
		give_up(xb_error_message());
	return filter;
}

/* Guava's kinds have no key: each filter has addresses of its own. */
static inline uint32_t programs_element(uint32_t seed, uint64_t number)
{
	return address_number(seed * 0x04000000U + (uint32_t)number);
}

static inline void programs_fill(struct xb_filter *filter, uint32_t seed, uint32_t keys)
{
	for (uint32_t i = 0; i < keys; i++) {
		uint32_t element = programs_element(seed, i);

		xb_filter_put(filter, &element, sizeof(element));
	}
	for (uint32_t i = 0; i < keys; i++) {
		uint32_t element = programs_element(seed, i);

		if (!xb_filter_might_contain(filter, &element, sizeof(element)))
			give_up("filters for programs: a false negative");
	}
}

static inline uint64_t programs_find(const struct xb_filter *filter, uint32_t seed, uint64_t first,
				     uint64_t count)
{
	uint64_t found = 0;

	for (uint64_t i = first; i < first + count; i++) {
		uint32_t element = programs_element(seed, i);

		found += xb_filter_might_contain(filter, &element, sizeof(element));
	}
	return found;
}

/* filters: so many, with keys and addresses of their own, share the queries. */
static inline json_t *programs_row(enum xb_filter_kind kind, uint32_t keys, double rate,
				   uint32_t filters, uint64_t queries)
{
	static const char *const names[] = {"standard", "blocked", "guava-32", "guava-64"};
	uint64_t each = queries / filters, positives = 0;
	struct xb_filter_info info = {0};
	double expected = 0;

	for (uint32_t seed = 0; seed < filters; seed++) {
		struct xb_filter *filter = programs_filter(kind, keys, rate, seed);

		programs_fill(filter, seed, keys);
		positives += programs_find(filter, seed, keys, each);
		expected += xb_filter_expected_rate(filter) / filters;
		info = xb_filter_inspect(filter);
		xb_filter_free(filter);
	}
	return json_pack("{s:s,s:I,s:f,s:i,s:I,s:i,s:f,s:I,s:I}", "kind", names[kind], "keys",
			 (json_int_t)keys, "rate", rate, "filters", (int)filters, "bits",
			 (json_int_t)info.bits, "hashes", (int)info.hashes, "expected_rate",
			 expected, "queries", (json_int_t)(each * filters), "false_positives",
			 (json_int_t)positives);
}

#endif
