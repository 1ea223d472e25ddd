/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's maps that could do the same, and a Bloom filter without blocks: their sizes, what
 * they list, and their memory. */
#ifndef XB_BENCH_PEERS_H
#define XB_BENCH_PEERS_H

#include <math.h>

#include "bench/timing.h"

/* A trie of random addresses grows by one update at a time, a microsecond or more each. */
#define TRIE_MAX   1000000U
#define TRIE_FEWER 8

enum form { HASH, HALF, BLOOM, CLASSIC, TRIE }; /* HALF: a hash of the first 64 bits */

static const struct peer {
	const char *name, *map; /* of its program as well */
	enum list list;
	enum form form;
} peers[] = {
	{"bpf_bloom", "bloom", HOSTS4, BLOOM},
	{"classic_bloom", "classic", HOSTS4, CLASSIC},
	{"bpf_hash", "exact", HOSTS4, HASH},
	{"lpm_trie", "trie", HOSTS4, TRIE},
	{"bpf_bloom6", "bloom6", HOSTS6, BLOOM},
	{"bpf_hash6", "exact6", HOSTS6, HASH},
	{"lpm_trie6", "trie6", HOSTS6, TRIE},
	{"bpf_hash_nets6", "exact64", NETS6, HALF},
	{"lpm_trie_nets6", "trie_nets6", NETS6, TRIE},
	{"lpm_trie_six_lengths6", "trie_six6", SIX_LENGTHS, TRIE},
	{"lpm_trie_all_lengths6", "trie_all6", ALL_LENGTHS, TRIE},
	{"lpm_trie_country32", "trie_country32", COUNTRY32, TRIE},
	{"lpm_trie_country", "trie_country", COUNTRY, TRIE},
};

static uint32_t listed(enum list list)
{
	return (uint32_t)(list == HOSTS4 ? bench.keys[list].host4_count
					 : bench.keys[list].net6_count);
}

static struct bpf_map *map_of(const struct peer *peer)
{
	return bpf_object__find_map_by_name(bench.measure->obj, peer->map);
}

static bool takes_part(const struct peer *peer, bool six)
{
	return listed(peer->list) && (peer->list != HOSTS4) == six &&
	       (peer->form != TRIE || listed(peer->list) <= TRIE_MAX);
}

/* Of a classic filter with as many hashes: the rate is (1 - exp(-hashes * keys / bits)) ^ hashes
 * (Bloom, CACM 1970). As many hashes as a filter with that rate has. */
static uint32_t classic_words(size_t keys)
{
	double full = pow(XB_CONFIRMED_RATE, 1.0 / PEER_HASHES);

	must((int)ceil(-log2(XB_CONFIRMED_RATE)) != PEER_HASHES, "hashes");
	return (uint32_t)ceil(-PEER_HASHES * (double)keys / log1p(-full) / 64);
}

static void fill_classic(const struct xb_contents *keys)
{
	struct xb_key key = bench.measure->rodata->classic_key;
	size_t bytes;
	uint64_t *words = map_words(bench.measure->maps.classic, &bytes);

	for (size_t i = 0; i < keys->host4_count; i++) {
		uint64_t hash = xb_hash_ipv4(&key, keys->host4[i]);

		for (uint32_t k = 0; k < PEER_HASHES; k++) {
			uint32_t bit = classic_bit(hash, k, bench.measure->rodata->classic_bits);

			words[bit / 64] |= 1ULL << (bit % 64);
		}
	}
	munmap(words, bytes);
}

/* The i-th of what it lists, as its map has it. */
static void put(const struct peer *peer, int map, size_t i)
{
	const struct xb_contents *keys = &bench.keys[peer->list];
	const struct xb_entry *entry = peer->list == HOSTS4 ? NULL : &keys->net6[i];
	struct address6 address = {entry ? entry->hi : 0, entry ? entry->lo : 0};
	struct xb_allow6_key prefix6 = {.length = entry ? entry->length : 0};
	const uint64_t words[2] = {htobe64(address.hi), htobe64(address.lo)};
	struct xb_allow4_key prefix4 = {32, entry ? 0 : htonl(keys->host4[i])};
	const void *key = &address;
	uint32_t one = 1;

	memcpy(prefix6.address, words, sizeof(words));
	if (peer->form == TRIE)
		key = entry ? (const void *)&prefix6 : (const void *)&prefix4;
	else if (!entry)
		key = &keys->host4[i];
	/* A Bloom filter has values alone. */
	must(bpf_map_update_elem(map, peer->form == BLOOM ? NULL : key,
				 peer->form == BLOOM ? key : &one, BPF_ANY)
		     ? -errno
		     : 0,
	     peer->name);
}

static void size_peers(bool six)
{
	for (const struct peer *peer = peers; peer < peers + COUNT_OF(peers); peer++) {
		uint32_t count = takes_part(peer, six) ? listed(peer->list) : 1;

		if (peer->form == CLASSIC)
			count = classic_words(count);
		must(bpf_map__set_max_entries(map_of(peer), count), peer->name);
		if (peer->form == BLOOM)
			must(bpf_map__set_map_extra(map_of(peer), PEER_HASHES), peer->name);
		if (peer->form == CLASSIC)
			bench.measure->rodata->classic_bits = 64 * count;
	}
}

/* Fills them, and tells their memory; of the hash also what it has if it takes its elements one by
 * one, as ipset does. */
static void fill_peers(bool six)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_NO_PREALLOC);
	json_t *told = object_in(bench.report, "peers");

	for (const struct peer *peer = peers; peer < peers + COUNT_OF(peers); peer++) {
		int map = bpf_map__fd(map_of(peer)), grown = -1;

		if (!takes_part(peer, six))
			continue;
		if (peer->form == HASH && !six)
			grown = bpf_map_create(BPF_MAP_TYPE_HASH, "grown", sizeof(uint32_t),
					       sizeof(uint32_t), listed(peer->list), &options);
		for (size_t i = 0; i < listed(peer->list) && peer->form != CLASSIC; i++) {
			put(peer, map, i);
			if (grown >= 0)
				put(peer, grown, i);
		}
		if (peer->form == CLASSIC)
			fill_classic(&bench.keys[HOSTS4]);
		put_number(told, peer->name, map_bytes(map));
		if (grown < 0)
			continue;
		put_number(told, "bpf_hash_grown", map_bytes(grown));
		close(grown);
	}
}

#endif
