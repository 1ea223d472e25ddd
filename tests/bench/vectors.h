/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Query time over queries of vectors of 128 integers, hashed byte by byte and word by word: the
 * experiment of Shuai et al., A Bloom Filter for High Dimensional Vectors, Information 9(7), 2018.
 * Filter and probes are the same for every hash.
 */
#ifndef XB_BENCH_VECTORS_H
#define XB_BENCH_VECTORS_H

#include <jansson.h>
#include <string.h>

#include "bench/filter.h"

#define VECTOR_DIMENSIONS 128
#define VECTOR_MEMBERS	  10000
#define VECTOR_RATE	  0.01

static const size_t vector_queries[] = {2500, 5000, 10000, 15000, 20000, 25000};

#define VECTOR_POINTS	   (sizeof(vector_queries) / sizeof(vector_queries[0]))
#define VECTOR_QUERIES_MAX 25000

struct vector {
	uint32_t value[VECTOR_DIMENSIONS];
};

/* FNV-1a of 64 bits (RFC 9923), which is taken a byte at a time. */
static inline uint64_t fnv1a(const struct xb_key *key, const struct vector *vector)
{
	const uint8_t *byte = (const uint8_t *)vector;
	uint64_t hash = 0xcbf29ce484222325ULL ^ key->a;

	for (size_t i = 0; i < sizeof(*vector); i++)
		hash = (hash ^ byte[i]) * 0x100000001b3ULL;
	return hash;
}

/* The hash of the filter, given a byte at a time: what words save, the hash being the same. */
static inline uint64_t sip_by_byte(const struct xb_key *key, const struct vector *vector)
{
	const uint8_t *byte = (const uint8_t *)vector;
	struct xb_sip sip = xb_sip_begin(key);

	for (size_t i = 0; i < sizeof(*vector); i++)
		xb_sip_take(&sip, byte[i]);
	return xb_sip_end(sip);
}

/* The hash of the filter as it is: 8 bytes, two integers, at a time. */
static inline uint64_t sip_by_word(const struct xb_key *key, const struct vector *vector)
{
	struct xb_sip sip = xb_sip_begin(key);

	for (size_t i = 0; i < VECTOR_DIMENSIONS; i += 2) {
		uint64_t word;

		memcpy(&word, &vector->value[i], sizeof(word));
		xb_sip_take(&sip, word);
	}
	return xb_sip_end(sip);
}

struct vector_hash {
	const char *name;
	uint64_t (*of)(const struct xb_key *key, const struct vector *vector);
};

static const struct vector_hash vector_hashes[] = {
	{"fnv1a_by_byte", fnv1a},
	{"siphash13_by_byte", sip_by_byte},
	{"siphash13_by_word", sip_by_word},
};

#define VECTOR_HASHES (sizeof(vector_hashes) / sizeof(vector_hashes[0]))

/* Components of 0 to 255, as those of SIFT features. */
static inline struct vector *make_vectors(size_t count)
{
	struct vector *vectors = zeroed(count * sizeof(*vectors));

	for (size_t i = 0; i < count * VECTOR_DIMENSIONS; i++)
		vectors[i / VECTOR_DIMENSIONS].value[i % VECTOR_DIMENSIONS] = xb_mix64(~i) & 255;
	return vectors;
}

/* Every other query is a member. */
static inline void make_queries(struct vector *queries, const struct vector *vectors)
{
	for (size_t i = 0; i < VECTOR_QUERIES_MAX; i++)
		queries[i] = vectors[i % 2 ? VECTOR_MEMBERS + i / 2 : i / 2 % VECTOR_MEMBERS];
}

struct vector_answers {
	uint64_t members, others;
	double ns;
};

static inline struct vector_answers ask_vectors(struct filter *filter,
						const struct vector_hash *hash,
						const struct vector *queries, size_t count)
{
	struct vector_answers answers = {0};
	uint64_t found[2] = {0};
	double start = now_ns();

	for (size_t i = 0; i < count; i++)
		found[i % 2] +=
			filter_contains(filter, hash->of(&filter->counting.key, &queries[i]));
	answers.ns = now_ns() - start;
	answers.members = found[0];
	answers.others = found[1];
	return answers;
}

/* Every hash at every number of queries, in turns: their nanoseconds, one number a round. */
static inline void time_vectors(struct filter *filters, const struct vector *queries,
				uint32_t rounds, json_t *samples[VECTOR_HASHES][VECTOR_POINTS])
{
	const size_t cells = VECTOR_HASHES * VECTOR_POINTS;

	for (size_t cell = 0; cell < cells; cell++)
		samples[cell % VECTOR_HASHES][cell / VECTOR_HASHES] = json_array();
	for (uint32_t round = 0; round <= rounds; round++)
		for (size_t i = 0; i < cells; i++) {
			size_t cell = (i + round) % cells, hash = cell % VECTOR_HASHES,
			       point = cell / VECTOR_HASHES;
			struct vector_answers answers =
				ask_vectors(&filters[hash], &vector_hashes[hash], queries,
					    vector_queries[point]);

			if (answers.members != vector_queries[point] / 2)
				give_up("vectors: a false negative");
			if (round)
				json_array_append_new(samples[hash][point], json_real(answers.ns));
		}
}

static inline json_t *vector_hash_json(struct filter *filter, const struct vector_hash *hash,
				       const struct vector *queries, json_t **samples)
{
	struct vector_answers all = ask_vectors(filter, hash, queries, VECTOR_QUERIES_MAX);
	json_t *ns = json_array();

	for (size_t point = 0; point < VECTOR_POINTS; point++)
		json_array_append_new(ns, json_pack("{s:I,s:o}", "queries",
						    (json_int_t)vector_queries[point], "ns",
						    samples[point]));
	return json_pack("{s:o,s:I,s:I}", "points", ns, "others", VECTOR_QUERIES_MAX / 2,
			 "false_positives", (json_int_t)all.others);
}

static inline json_t *vectors_json(uint32_t rounds)
{
	struct vector *vectors = make_vectors(VECTOR_MEMBERS + VECTOR_QUERIES_MAX / 2),
		      *queries = zeroed(VECTOR_QUERIES_MAX * sizeof(*queries));
	json_t *samples[VECTOR_HASHES][VECTOR_POINTS], *hashes = json_object();
	struct filter filters[VECTOR_HASHES];

	make_queries(queries, vectors);
	for (size_t i = 0; i < VECTOR_HASHES; i++) {
		filters[i] = filter_open(VECTOR_MEMBERS, VECTOR_RATE, 1);
		for (size_t number = 0; number < VECTOR_MEMBERS; number++)
			xb_bloom_add(
				&filters[i].counting,
				vector_hashes[i].of(&filters[i].counting.key, &vectors[number]));
	}
	time_vectors(filters, queries, rounds, samples);
	for (size_t i = 0; i < VECTOR_HASHES; i++) {
		json_object_set_new(
			hashes, vector_hashes[i].name,
			vector_hash_json(&filters[i], &vector_hashes[i], queries, samples[i]));
		filter_close(&filters[i]);
	}
	munmap(vectors, (VECTOR_MEMBERS + VECTOR_QUERIES_MAX / 2) * sizeof(*vectors));
	munmap(queries, VECTOR_QUERIES_MAX * sizeof(*queries));
	return json_pack("{s:i,s:i,s:f,s:i,s:o}", "dimensions", VECTOR_DIMENSIONS, "members",
			 VECTOR_MEMBERS, "rate", VECTOR_RATE, "rounds", (int)rounds, "hashes",
			 hashes);
}

#endif
