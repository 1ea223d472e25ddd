/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bench_classic [--quick]: the experiments Bloom filters are known by, with the sizing, the hashes
 * and the filters that ship, in the memory of this process. Prints one JSON object: counts as they
 * were found. Elements are addresses, four bytes.
 */
#include <sys/mman.h>

#include "bench/addresses.h"
#include "bench/must.h"
#include "bloom/bloom.h"
#include "bloom/exact.h"
#include "bloom/sizing.h"
#include "store/store.h"
#include "xdp_bloom/bloom.h"

#define MILLION 1000000U
#define CHUNK	4096
/* Their filter stays in a cache at every rate: a rate of 1e-8 takes a thousand million queries. */
#define KEYS_BY_RATE 100000

/* A filter of packets, or one of those for programs. */
#define PACKETS (-1)

/* How much is done. */
struct effort {
	uint32_t keys_max;   /* of one filter */
	uint64_t positives;  /* false ones wanted of a point */
	uint64_t asked_most; /* queries of a point at most, whatever is wanted */
};

static const struct effort thorough = {10 * MILLION, 5000, 1000ULL * MILLION};
static const struct effort hasty = {MILLION, 1000, 30ULL * MILLION};
static const struct effort *effort;

struct filter {
	struct xb_filter *program; /* NULL: of packets */
	struct xb_bloom counting;
	size_t bits_bytes, counters_bytes;
	uint32_t seed;
};

static void *zeroed(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	must(memory == MAP_FAILED ? -errno : 0, "memory");
	madvise(memory, size, MADV_HUGEPAGE); /* as the kernel's own memory is mapped */
	return memory;
}

/* seed: the same one gives the same keys, so that every run counts the same false positives. */
static struct filter filter_open(int kind, uint32_t keys, double rate, uint32_t seed)
{
	const struct xb_filter_key key = {xb_mix64(2 * (uint64_t)seed + 1),
					  xb_mix64(2 * (uint64_t)seed + 2)};
	const struct xb_filter_options options = {.kind = (enum xb_filter_kind)kind, .key = &key};
	struct filter filter = {.seed = seed, .counting.key = {.a = key.a, .b = key.b}};
	struct xb_bloom *counting = &filter.counting;

	if (kind != PACKETS) {
		must(xb_filter_create(keys, rate, &options, &filter.program), "filter");
		return filter;
	}
	must(xb_size_bloom(keys, rate, &counting->geometry), "filter");
	filter.bits_bytes = (size_t)counting->geometry.blocks * sizeof(struct xb_block);
	filter.counters_bytes = (size_t)counting->geometry.blocks * sizeof(struct xb_counters);
	counting->bits = (struct xb_mapping){
		.base = zeroed(filter.bits_bytes), .size = filter.bits_bytes, .fd = -1};
	counting->counters = zeroed(filter.counters_bytes);
	return filter;
}

static void filter_close(struct filter *filter)
{
	if (filter->program) {
		xb_filter_free(filter->program);
		return;
	}
	munmap(filter->counting.bits.base, filter->bits_bytes);
	munmap(filter->counting.counters, filter->counters_bytes);
}

/* Guava's kinds have no key: each filter for programs has addresses of its own. */
static uint32_t element(const struct filter *filter, uint64_t number)
{
	return address_number((filter->program ? filter->seed * 0x04000000U : 0) +
			      (uint32_t)number);
}

static uint64_t hash_at(const struct filter *filter, uint64_t number)
{
	return xb_hash_ipv4(&filter->counting.key, element(filter, number));
}

/*
 * A look-up as the packet path has it: unrolled, without branches within 8 probes. (Userspace has
 * xb_bloom_contains() for single questions, which takes its number of probes as it comes.)
 */
static inline bool packets_contains(const struct filter *filter, uint64_t hash)
{
	struct xb_probes probes = xb_probes_of(&filter->counting.key, hash);
	const struct xb_block *block = (const struct xb_block *)(void *)filter->counting.bits.base +
				       xb_scale(probes.place, filter->counting.geometry.blocks);
	uint64_t few = 1, many = 1;

#pragma GCC unroll 8
	for (uint32_t i = 0; i < XB_PROBES_FEW; i++)
		few &= block->word[i] >> xb_probe_bit(&probes, i);
	if (!(few & 1) || filter->counting.geometry.probes == XB_PROBES_FEW)
		return few & 1;
#pragma GCC unroll 8
	for (uint32_t i = XB_PROBES_FEW; i < XB_PROBES_MANY; i++)
		many &= block->word[i % XB_BLOCK_WORDS] >> xb_probe_bit(&probes, i);
	return many & 1;
}

static bool contains(const struct filter *filter, uint64_t number)
{
	uint32_t asked = element(filter, number);

	return filter->program ? xb_filter_might_contain(filter->program, &asked, sizeof(asked))
			       : packets_contains(filter, hash_at(filter, number));
}

static void list(struct filter *filter, uint32_t keys)
{
	uint64_t hashes[CHUNK];
	uint32_t number = 0;

	while (number < keys) {
		size_t count = 0;

		for (; count < CHUNK && number < keys; count++, number++) {
			uint32_t key = element(filter, number);

			hashes[count] = hash_at(filter, number);
			if (filter->program)
				xb_filter_put(filter->program, &key, sizeof(key));
		}
		if (!filter->program)
			xb_bloom_build(&filter->counting, hashes, count, 0,
				       filter->counting.geometry.blocks);
	}
}

/* How many are found of so many that are not listed; all that are have to be, by both look-ups. */
static uint64_t find_others(struct filter *filter, uint32_t keys, uint64_t count)
{
	uint64_t found = 0;

	for (uint32_t i = 0; i < keys; i++)
		must(contains(filter, i) &&
				     (filter->program ||
				      xb_bloom_contains(&filter->counting, hash_at(filter, i)))
			     ? 0
			     : -EIO,
		     "a false negative");
	for (uint64_t i = keys; i < keys + count; i++)
		found += contains(filter, i);
	return found;
}

static double expected(const struct filter *filter, uint32_t keys)
{
	const struct xb_geometry *geometry = &filter->counting.geometry;

	return filter->program
		       ? xb_filter_expected_rate(filter->program)
		       : xb_expected_rate((double)keys / geometry->blocks, geometry->probes);
}

static uint64_t queries_for(double rate)
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

/* Filters filled to their capacity, asked for what is not listed. */
static json_t *full(int kind, uint32_t keys, double rate)
{
	static const char *const names[] = {"packets", "standard", "blocked", "guava-32",
					    "guava-64"};
	uint32_t filters = filters_for(keys);
	uint64_t each = queries_for(rate) / filters, positives = 0;
	uint64_t bits = 0;
	double should = 0;
	int probes = 0;

	for (uint32_t seed = 0; seed < filters; seed++) {
		struct filter filter = filter_open(kind, keys, rate, seed);

		list(&filter, keys);
		positives += find_others(&filter, keys, each);
		should += expected(&filter, keys) / filters;
		bits = 8 * filter.bits_bytes;
		probes = (int)filter.counting.geometry.probes;
		if (filter.program) {
			bits = xb_filter_inspect(filter.program).bits;
			probes = (int)xb_filter_inspect(filter.program).hashes;
		}
		filter_close(&filter);
	}
	return json_pack("{s:s,s:I,s:i,s:I,s:f,s:i,s:f,s:I,s:I}", "kind", names[kind + 1], "bits",
			 (json_int_t)bits, "probes", probes, "keys", (json_int_t)keys, "rate", rate,
			 "filters", (int)filters, "expected_rate", should, "queries",
			 (json_int_t)(each * filters), "false_positives", (json_int_t)positives);
}

static void by_keys(json_t *rows, int kind, double rate)
{
	for (uint32_t keys = 1000; keys <= effort->keys_max; keys *= 10)
		json_array_append_new(rows, full(kind, keys, rate));
}

/* but: a rate that is left out. */
static void by_rate(json_t *rows, int kind, int but)
{
	static const double rates[] = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8};

	for (int i = 0; i < (int)COUNT_OF(rates); i++)
		if (i != but)
			json_array_append_new(rows, full(kind, KEYS_BY_RATE, rates[i]));
}

/* What the sizing needs for so many keys; nothing is allocated. */
static json_t *memory_of(uint64_t keys, double rate)
{
	struct xb_buckets buckets = xb_size_exact(keys, XB_SLOTS_ADDRESS);
	struct xb_geometry geometry, confirmed;

	must(xb_size_bloom(keys, rate, &geometry), "size");
	must(xb_size_bloom(keys, XB_CONFIRMED_RATE, &confirmed), "size");
	return json_pack("{s:I,s:f,s:i,s:I,s:I,s:f,s:I,s:I}", "keys", (json_int_t)keys, "rate",
			 rate, "probes", (int)geometry.probes, "bits_bytes",
			 (json_int_t)geometry.blocks * (json_int_t)sizeof(struct xb_block),
			 "counters_bytes",
			 (json_int_t)geometry.blocks * (json_int_t)sizeof(struct xb_counters),
			 "confirmed_rate", XB_CONFIRMED_RATE, "confirmed_bits_bytes",
			 (json_int_t)confirmed.blocks * (json_int_t)sizeof(struct xb_block),
			 "confirmed_buckets_bytes", (json_int_t)xb_exact_bytes(&buckets));
}

int main(int argc, char **argv)
{
	bool quick = argc == 2 && !strcmp(argv[1], "--quick");
	json_t *keys = json_array(), *rates = json_array(), *programs = json_array();

	must_have_arguments(argc == 1 + quick, "[--quick]");
	effort = quick ? &hasty : &thorough;
	by_keys(keys, PACKETS, XB_CONFIRMED_RATE);
	by_keys(keys, PACKETS, XB_DEFAULT_RATE);
	by_rate(rates, PACKETS, -1);
	for (int kind = XB_FILTER_STANDARD; kind <= XB_FILTER_GUAVA_64; kind++) {
		by_keys(programs, kind, 1e-2);
		by_rate(programs, kind, 1); /* which is among the keys */
	}
	print_json(json_pack("{s:b,s:o,s:o,s:o,s:[o,o]}", "quick", quick, "by_keys", keys,
			     "by_rate", rates, "programs", programs, "memory",
			     memory_of(100ULL * MILLION, 1e-4), memory_of(100ULL * MILLION, 1e-8)));
	return 0;
}
