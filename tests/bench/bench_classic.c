/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_classic [--quick]: the experiments Bloom filters are known by, with the sizing, the hashes
 * and the filter that ship, in the memory of this process. Prints one JSON object: counts as they
 * were found, nanoseconds of CPU, one number for each round.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "bench/addresses.h"
#include "bench/filter.h"
#include "bench/programs.h"
#include "bench/users.h"
#include "bench/vectors.h"
#include "bloom/exact.h"
#include "store/store.h"

#define MILLION 1000000U
#define CHUNK	4096
/* Their filter stays in a cache at every rate: a rate of 1e-8 takes a thousand million queries. */
#define KEYS_BY_RATE 100000

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* How much is done. */
struct effort {
	uint32_t keys_max;   /* of one filter */
	uint64_t positives;  /* false ones wanted of a point */
	uint64_t asked_most; /* queries of a point at most, whatever is wanted */
	uint32_t users;
	uint32_t rounds; /* of what is timed */
};

static const struct effort thorough = {10 * MILLION, 5000, 1000ULL * MILLION, 10 * MILLION, 27};
static const struct effort hasty = {MILLION, 1000, 30ULL * MILLION, MILLION, 9};

static uint64_t hash_at(const struct filter *filter, uint64_t number)
{
	return xb_hash_ipv4(&filter->counting.key, address_number((uint32_t)number));
}

static void list_addresses(struct filter *filter, uint32_t first, uint32_t last)
{
	uint64_t hashes[CHUNK];

	while (first < last) {
		size_t count = 0;

		for (; count < CHUNK && first < last; count++, first++)
			hashes[count] = hash_at(filter, first);
		filter_build(filter, hashes, count);
	}
}

/* How many of the addresses of that number on are found. */
static uint64_t find_addresses(struct filter *filter, uint64_t first, uint64_t count)
{
	uint64_t found = 0;

	for (uint64_t i = first; i < first + count; i++)
		found += filter_contains(filter, hash_at(filter, i));
	return found;
}

/* Both look-ups, of all that is listed. */
static void check_listed(struct filter *filter, uint32_t keys)
{
	for (uint32_t i = 0; i < keys; i++)
		if (!filter_contains(filter, hash_at(filter, i)) ||
		    !xb_bloom_contains(&filter->counting, hash_at(filter, i)))
			give_up("addresses: a false negative");
}

static double expected(const struct filter *filter, uint32_t keys)
{
	const struct xb_geometry *geometry = &filter->counting.geometry;

	return xb_expected_rate((double)keys / geometry->blocks, geometry->probes);
}

static uint64_t queries_for(const struct effort *effort, double rate)
{
	double wanted = (double)effort->positives / rate;

	return wanted < (double)effort->asked_most ? (uint64_t)wanted : effort->asked_most;
}

/* One filter is lucky with its keys or not: many small ones, each with its own hash, share the
 * queries. */
static uint32_t filters_for(uint32_t keys)
{
	uint32_t filters = MILLION / keys;

	return filters < 1 ? 1 : filters > 64 ? 64 : filters;
}

/* A filter filled to its capacity, asked for what is not listed. */
static json_t *full_filter(const struct effort *effort, uint32_t keys, double rate)
{
	uint32_t filters = filters_for(keys);
	uint64_t each = queries_for(effort, rate) / filters, positives = 0;
	struct xb_geometry geometry = {0};
	double should = 0;

	for (uint32_t i = 0; i < filters; i++) {
		struct filter filter = filter_open(keys, rate, i);

		list_addresses(&filter, 0, keys);
		check_listed(&filter, keys);
		positives += find_addresses(&filter, keys, each);
		geometry = filter.counting.geometry;
		should = expected(&filter, keys);
		filter_close(&filter);
	}
	return json_pack("{s:I,s:f,s:i,s:I,s:i,s:f,s:I,s:I}", "keys", (json_int_t)keys, "rate",
			 rate, "filters", (int)filters, "blocks", (json_int_t)geometry.blocks,
			 "probes", (int)geometry.probes, "expected_rate", should, "queries",
			 (json_int_t)(each * filters), "false_positives", (json_int_t)positives);
}

static json_t *by_keys(const struct effort *effort)
{
	static const double rates[] = {XB_CONFIRMED_RATE, XB_DEFAULT_RATE};
	json_t *rows = json_array();

	for (size_t i = 0; i < COUNT_OF(rates); i++)
		for (uint32_t keys = 1000; keys <= effort->keys_max; keys *= 10)
			json_array_append_new(rows, full_filter(effort, keys, rates[i]));
	return rows;
}

static json_t *by_rate(const struct effort *effort)
{
	static const double rates[] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8};
	json_t *rows = json_array();

	for (size_t i = 0; i < COUNT_OF(rates); i++)
		json_array_append_new(rows, full_filter(effort, KEYS_BY_RATE, rates[i]));
	return rows;
}

/* Of each kind: by keys and by rate, as above. */
static json_t *programs(const struct effort *effort)
{
	static const double rates[] = {1e-1, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8};
	json_t *rows = json_array();

	for (int kind = XB_FILTER_STANDARD; kind <= XB_FILTER_GUAVA_64; kind++) {
		for (uint32_t keys = 1000; keys <= effort->keys_max; keys *= 10)
			json_array_append_new(rows, programs_row((enum xb_filter_kind)kind, keys,
								 1e-2, filters_for(keys),
								 queries_for(effort, 1e-2)));
		for (size_t i = 0; i < COUNT_OF(rates); i++)
			json_array_append_new(rows,
					      programs_row((enum xb_filter_kind)kind, KEYS_BY_RATE,
							   rates[i], filters_for(KEYS_BY_RATE),
							   queries_for(effort, rates[i])));
	}
	return rows;
}

/* One filter, filled below and beyond what it was made for. */
static json_t *by_load(const struct effort *effort)
{
	static const double shares[] = {0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4};
	struct filter filter = filter_open(MILLION, XB_CONFIRMED_RATE, 1);
	uint64_t queries = queries_for(effort, XB_CONFIRMED_RATE);
	json_t *rows = json_array();
	uint32_t keys = 0;

	for (size_t i = 0; i < COUNT_OF(shares); i++) {
		uint32_t target = (uint32_t)(shares[i] * MILLION);
		uint64_t positives;

		list_addresses(&filter, keys, target);
		keys = target;
		positives = find_addresses(&filter, keys, queries);
		json_array_append_new(rows, json_pack("{s:I,s:I,s:f,s:f,s:I,s:I}", "capacity",
						      (json_int_t)MILLION, "keys", (json_int_t)keys,
						      "rate", XB_CONFIRMED_RATE, "expected_rate",
						      expected(&filter, keys), "queries",
						      (json_int_t)queries, "false_positives",
						      (json_int_t)positives));
	}
	filter_close(&filter);
	return rows;
}

/* What the sizing needs for so many keys; nothing is allocated. */
static json_t *memory_of(uint64_t keys, double rate)
{
	struct xb_buckets buckets = xb_size_exact(keys, XB_SLOTS_ADDRESS);
	struct xb_geometry geometry, confirmed;

	if (xb_size_bloom(keys, rate, &geometry) ||
	    xb_size_bloom(keys, XB_CONFIRMED_RATE, &confirmed))
		give_up(xb_error_message());
	return json_pack("{s:I,s:f,s:i,s:I,s:I,s:f,s:I,s:I}", "keys", (json_int_t)keys, "rate",
			 rate, "probes", (int)geometry.probes, "bits_bytes",
			 (json_int_t)geometry.blocks * (json_int_t)sizeof(struct xb_block),
			 "counters_bytes",
			 (json_int_t)geometry.blocks * (json_int_t)sizeof(struct xb_counters),
			 "confirmed_rate", XB_CONFIRMED_RATE, "confirmed_bits_bytes",
			 (json_int_t)confirmed.blocks * (json_int_t)sizeof(struct xb_block),
			 "confirmed_buckets_bytes", (json_int_t)xb_exact_bytes(&buckets));
}

static json_int_t peak_bytes(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_SELF, &usage) ? 0 : (json_int_t)usage.ru_maxrss * 1024;
}

int main(int argc, char **argv)
{
	bool quick = argc == 2 && !strcmp(argv[1], "--quick");
	const struct effort *effort = quick ? &hasty : &thorough;
	json_t *all = json_object();

	if (argc != 1 + quick) {
		fprintf(stderr, "usage: bench_classic [--quick]\n");
		return 2;
	}
	json_object_set_new(all, "quick", json_boolean(quick));
	json_object_set_new(all, "vectors", vectors_json(effort->rounds));
	json_object_set_new(all, "users", users_json(effort->users));
	json_object_set_new(all, "by_keys", by_keys(effort));
	json_object_set_new(all, "by_rate", by_rate(effort));
	json_object_set_new(all, "by_load", by_load(effort));
	json_object_set_new(all, "programs", programs(effort));
	json_object_set_new(all, "memory",
			    json_pack("[o,o]", memory_of(100ULL * MILLION, 1e-4),
				      memory_of(100ULL * MILLION, 1e-8)));
	json_object_set_new(all, "peak_bytes", json_integer(peak_bytes()));
	json_dumpf(all, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
	putchar('\n');
	json_decref(all);
	return fflush(stdout) || ferror(stdout);
}
