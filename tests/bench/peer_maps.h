/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The maps of the peers the shipped filter is timed beside: their sizes, their contents, their
 * memory. */
#ifndef XB_BENCH_PEER_MAPS_H
#define XB_BENCH_PEER_MAPS_H

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/timing.h"
#include "store/store.h"

/* A trie of random addresses grows by one update at a time, a microsecond or more each. */
#define TRIE_MAX 1000000U

/* Of a classic filter with as many hashes: the rate is (1 - exp(-hashes * keys / bits)) ^ hashes
 * (Bloom, CACM 1970). As many hashes as a filter with that rate has. */
static inline uint64_t classic_words(size_t keys)
{
	double full = pow(XB_CONFIRMED_RATE, 1.0 / PEER_HASHES);

	must((int)ceil(-log2(XB_CONFIRMED_RATE)) != PEER_HASHES, "hashes");
	return (uint64_t)ceil(-PEER_HASHES * (double)keys / log1p(-full) / 64);
}

static inline bool has_trie(const struct xb_contents *keys)
{
	return keys->host4_count <= TRIE_MAX;
}

/* Before the programs are loaded. */
static inline void peers_size(struct measure_bpf *measure, const struct xb_contents *keys)
{
	uint32_t count = (uint32_t)keys->host4_count, words = (uint32_t)classic_words(count);

	measure->rodata->classic_bits = words * 64;
	must(bpf_map__set_max_entries(measure->maps.exact, count), "size");
	must(bpf_map__set_max_entries(measure->maps.classic, words), "size");
	must(bpf_map__set_max_entries(measure->maps.bloom, count), "size");
	must(bpf_map__set_map_extra(measure->maps.bloom, PEER_HASHES), "hashes");
	must(bpf_map__set_max_entries(measure->maps.trie, has_trie(keys) ? count : 1), "size");
}

static inline void fill_hash(int map, const struct xb_contents *keys)
{
	uint32_t value = 1;

	for (size_t i = 0; i < keys->host4_count; i++)
		must(bpf_map_update_elem(map, &keys->host4[i], &value, BPF_ANY) ? -errno : 0,
		     "hash");
}

static inline void fill_bloom(int map, const struct xb_contents *keys)
{
	for (size_t i = 0; i < keys->host4_count; i++)
		must(bpf_map_update_elem(map, NULL, &keys->host4[i], BPF_ANY) ? -errno : 0,
		     "bloom filter");
}

static inline void fill_trie(int map, const struct xb_contents *keys)
{
	uint32_t value = 1;

	for (size_t i = 0; i < keys->host4_count; i++) {
		struct xb_allow4_key key = {32, htonl(keys->host4[i])};

		must(bpf_map_update_elem(map, &key, &value, BPF_ANY) ? -errno : 0, "trie");
	}
}

/* The words of an array map that can be mapped. */
static inline uint64_t *map_words(const struct bpf_map *map, size_t *bytes)
{
	void *words;

	*bytes = (size_t)bpf_map__value_size(map) * bpf_map__max_entries(map);
	words = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	must(words == MAP_FAILED ? -errno : 0, "map");
	return words;
}

static inline void fill_classic(const struct measure_bpf *measure, const struct xb_contents *keys)
{
	struct xb_key key = measure->rodata->classic_key;
	size_t bytes;
	uint64_t *words = map_words(measure->maps.classic, &bytes);

	for (size_t i = 0; i < keys->host4_count; i++) {
		uint64_t hash = xb_hash_ipv4(&key, keys->host4[i]);

		for (uint32_t k = 0; k < PEER_HASHES; k++) {
			uint32_t bit = classic_bit(hash, k, measure->rodata->classic_bits);

			words[bit / 64] |= 1ULL << (bit % 64);
		}
	}
	munmap(words, bytes);
}

static inline void peers_fill(const struct measure_bpf *measure, const struct xb_contents *keys)
{
	fill_hash(bpf_map__fd(measure->maps.exact), keys);
	fill_bloom(bpf_map__fd(measure->maps.bloom), keys);
	fill_classic(measure, keys);
	if (has_trie(keys))
		fill_trie(bpf_map__fd(measure->maps.trie), keys);
}

/* Bytes of kernel memory, as the kernel accounts for them. */
static inline json_int_t memlock(int map)
{
	unsigned long long bytes = 0;
	char path[64], line[128];
	bool found = false;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", map);
	file = fopen(path, "re");
	must(file ? 0 : -errno, "fdinfo");
	while (!found && fgets(line, sizeof(line), file))
		found = sscanf(line, "memlock: %llu", &bytes) == 1;
	fclose(file);
	must(found ? 0 : -ENOENT, "memlock");
	return (json_int_t)bytes;
}

/* The same set in a hash that takes its elements one by one, as ipset does. */
static inline json_int_t memlock_of_grown_hash(const struct xb_contents *keys)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_NO_PREALLOC);
	int map = bpf_map_create(BPF_MAP_TYPE_HASH, "grown", sizeof(uint32_t), sizeof(uint32_t),
				 (uint32_t)keys->host4_count, &options);
	json_int_t bytes;

	must(map < 0 ? map : 0, "hash");
	fill_hash(map, keys);
	bytes = memlock(map);
	close(map);
	return bytes;
}

static inline json_t *peers_report(const struct measure_bpf *measure,
				   const struct xb_contents *keys)
{
	json_t *report = json_pack("{s:{s:I,s:I},s:{s:i,s:I},s:{s:i,s:I}}", "bpf_hash", "memlock",
				   memlock(bpf_map__fd(measure->maps.exact)), "grown_memlock",
				   memlock_of_grown_hash(keys), "bpf_bloom", "hashes", PEER_HASHES,
				   "memlock", memlock(bpf_map__fd(measure->maps.bloom)),
				   "classic_bloom", "hashes", PEER_HASHES, "memlock",
				   memlock(bpf_map__fd(measure->maps.classic)));
	if (has_trie(keys))
		json_object_set_new(
			report, "lpm_trie",
			json_pack("{s:I}", "memlock", memlock(bpf_map__fd(measure->maps.trie))));
	return report;
}

#endif
