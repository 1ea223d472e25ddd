/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guava's example: keys user_0, user_1, ... at a rate of 1e-8, then twice as many queries, of which
 * the first half is listed. */
#ifndef XB_BENCH_USERS_H
#define XB_BENCH_USERS_H

#include <jansson.h>
#include <string.h>

#include "bench/filter.h"

#define USERS_RATE  1e-8
#define USERS_CHUNK 4096

/* A key as its bytes in words, zeros behind them; the last byte is the length (as in SipHash). */
struct user {
	uint64_t word[2];
};

static inline void make_user(struct user *user, uint32_t number)
{
	char digits[10], *text = (char *)user;
	size_t count = 0, length = 5;

	*user = (struct user){0};
	memcpy(text, "user_", length);
	do {
		digits[count++] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	while (count)
		text[length++] = digits[--count];
	text[15] = (char)length;
}

static inline uint64_t hash_user(const struct xb_key *key, const struct user *user)
{
	struct xb_sip sip = xb_sip_begin(key);

	xb_sip_take(&sip, user->word[0]);
	xb_sip_take(&sip, user->word[1]);
	return xb_sip_end(sip);
}

/* Nanoseconds of each step, over all keys. */
struct users_time {
	double make, hash, touch;
};

static inline void hash_users(const struct xb_key *key, uint32_t first, size_t count,
			      uint64_t *hashes, struct users_time *time)
{
	static struct user users[USERS_CHUNK];
	double start = now_ns(), made;

	for (size_t i = 0; i < count; i++)
		make_user(&users[i], first + (uint32_t)i);
	made = now_ns();
	for (size_t i = 0; i < count; i++)
		hashes[i] = hash_user(key, &users[i]);
	time->make += made - start;
	time->hash += now_ns() - made;
}

static inline size_t users_chunk(uint32_t first, uint32_t last)
{
	return last - first < USERS_CHUNK ? last - first : USERS_CHUNK;
}

static inline void list_users(struct filter *filter, uint32_t count, struct users_time *time)
{
	uint64_t hashes[USERS_CHUNK];

	for (uint32_t first = 0; first < count; first += USERS_CHUNK) {
		size_t part = users_chunk(first, count);
		double start;

		hash_users(&filter->counting.key, first, part, hashes, time);
		start = now_ns();
		filter_build(filter, hashes, part);
		time->touch += now_ns() - start;
	}
}

/* How many of first to last - 1 are found. */
static inline uint64_t find_users(struct filter *filter, uint32_t first, uint32_t last,
				  struct users_time *time)
{
	uint64_t hashes[USERS_CHUNK], found = 0;

	for (; first < last; first += USERS_CHUNK) {
		size_t part = users_chunk(first, last);
		double start;

		hash_users(&filter->counting.key, first, part, hashes, time);
		start = now_ns();
		for (size_t i = 0; i < part; i++)
			found += filter_contains(filter, hashes[i]);
		time->touch += now_ns() - start;
	}
	return found;
}

static inline json_t *users_time_json(const struct users_time *time)
{
	return json_pack("{s:f,s:f,s:f}", "make", time->make, "hash", time->hash, "filter",
			 time->touch);
}

static inline json_t *users_json(uint32_t count)
{
	struct filter filter = filter_open(count, USERS_RATE, 1);
	const struct xb_geometry *geometry = &filter.counting.geometry;
	struct users_time insert = {0}, query = {0};
	uint64_t members, others;
	json_t *all;

	list_users(&filter, count, &insert);
	members = find_users(&filter, 0, count, &query);
	others = find_users(&filter, count, 2 * count, &query);
	if (members != count)
		give_up("users: a false negative");
	all = json_pack("{s:I,s:I,s:f,s:f,s:I,s:I,s:I,s:i,s:I,s:I,s:o,s:o}", "keys",
			(json_int_t)count, "queries", (json_int_t)count * 2, "rate", USERS_RATE,
			"expected_rate",
			xb_expected_rate((double)count / geometry->blocks, geometry->probes),
			"false_negatives", (json_int_t)(count - members), "false_positives",
			(json_int_t)others, "blocks", (json_int_t)geometry->blocks, "probes",
			(int)geometry->probes, "bits_bytes", (json_int_t)filter.bits_bytes,
			"counters_bytes", (json_int_t)filter.counters_bytes, "insert_ns",
			users_time_json(&insert), "query_ns", users_time_json(&query));
	filter_close(&filter);
	return all;
}

#endif
