/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bucketed cuckoo hashing with relocation by breadth-first search, so that few keys move. */
#include "bloom/exact.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <time.h>

/* Buckets of a part: small enough that a part stays in the cache while it is built, large enough
 * that parts fill evenly. */
#define PART_BUCKETS 4096

static uint32_t slots_of(enum xb_slots slots)
{
	return slots == XB_SLOTS_ADDRESS ? 16 : 8;
}

struct xb_buckets xb_size_exact(uint64_t keys, enum xb_slots slots)
{
	double buckets = ceil((double)keys / XB_CONFIRM_FILL / slots_of(slots)) + 1;
	double parts = floor(buckets / PART_BUCKETS) > 1 ? floor(buckets / PART_BUCKETS) : 1;

	return (struct xb_buckets){.parts = (uint32_t)parts,
				   .size = (uint32_t)ceil(buckets / parts)};
}

static uint32_t buckets_in(const struct xb_buckets *geometry)
{
	return xb_buckets_count(geometry->parts, geometry->size);
}

uint64_t xb_exact_room(const struct xb_buckets *geometry, enum xb_slots slots)
{
	return (uint64_t)((double)buckets_in(geometry) * slots_of(slots) * XB_CONFIRM_FULL);
}

uint64_t xb_exact_bytes(const struct xb_buckets *geometry)
{
	return geometry->parts ? ((uint64_t)buckets_in(geometry) + 1) * sizeof(struct xb_bucket)
			       : 0;
}

static struct xb_bucket *bucket_at(struct xb_exact *confirm, uint32_t index)
{
	return (struct xb_bucket *)(void *)confirm->buckets.base + index;
}

static uint64_t slot_get(struct xb_exact *confirm, uint32_t bucket, uint32_t slot)
{
	struct xb_bucket *place = bucket_at(confirm, bucket);

	return confirm->slots == XB_SLOTS_ADDRESS ? ((uint32_t *)(void *)place)[slot]
						  : place->word[slot];
}

static void slot_set(struct xb_exact *confirm, uint32_t bucket, uint32_t slot, uint64_t value)
{
	struct xb_bucket *place = bucket_at(confirm, bucket);

	if (confirm->slots == XB_SLOTS_ADDRESS)
		__atomic_store_n(&((uint32_t *)(void *)place)[slot], (uint32_t)value,
				 __ATOMIC_SEQ_CST);
	else
		__atomic_store_n(&place->word[slot], value, __ATOMIC_SEQ_CST);
}

/* The part of a slot that says which key it is. */
static uint64_t identity_of(const struct xb_exact *confirm, uint64_t value)
{
	return confirm->slots == XB_SLOTS_NAME ? value & XB_NAME_HASH : value;
}

/* The slot that holds the key of the value (0: a free one), or -1. */
static int slot_find(struct xb_exact *confirm, uint32_t bucket, uint64_t value)
{
	uint64_t identity = identity_of(confirm, value);

	for (uint32_t slot = 0; slot < slots_of(confirm->slots); slot++)
		if (identity_of(confirm, slot_get(confirm, bucket, slot)) == identity)
			return (int)slot;
	return -1;
}

static struct xb_choices choices_of(const struct xb_exact *confirm, uint64_t hash)
{
	return xb_choices_of(&confirm->key,
			     confirm->slots == XB_SLOTS_ADDRESS ? hash : xb_fingerprint(hash),
			     confirm->geometry.parts, confirm->geometry.size);
}

static uint64_t value_of(const struct xb_exact *confirm, uint64_t hash, uint32_t extra)
{
	if (confirm->slots == XB_SLOTS_ADDRESS)
		return extra;
	if (confirm->slots == XB_SLOTS_NAME)
		return xb_fingerprint(hash) | (uint64_t)extra << XB_DOMAIN_SHIFT;
	return xb_fingerprint(hash);
}

/* The hash of the key that a value stands for. */
static uint64_t hash_of(const struct xb_exact *confirm, uint64_t value)
{
	return confirm->slots == XB_SLOTS_ADDRESS ? xb_hash_ipv4(&confirm->key, (uint32_t)value)
						  : identity_of(confirm, value);
}

static __u64 *end_word(struct xb_exact *confirm, int word)
{
	return &bucket_at(confirm, buckets_in(&confirm->geometry))->word[word];
}

int xb_exact_prepare(struct xb_exact *confirm, uint64_t hash)
{
	struct xb_choices choices = choices_of(confirm, hash);
	const uint32_t touched[] = {choices.first, choices.second, buckets_in(&confirm->geometry)};
	int error = 0;

	for (int i = 0; !error && i < 3; i++)
		error = xb_mapping_map(&confirm->buckets, touched[i] * sizeof(struct xb_bucket),
				       sizeof(struct xb_bucket));
	return error;
}

/* A bucket the search has come to, and from which slot of which other node. */
struct node {
	uint32_t bucket;
	int16_t parent; /* -1: a bucket of the key itself */
	uint8_t slot;
};

#define NODES_MAX 1024

/* The other bucket of what stands in this slot. */
static uint32_t other_bucket(struct xb_exact *confirm, uint32_t bucket, uint32_t slot)
{
	uint64_t hash = hash_of(confirm, slot_get(confirm, bucket, slot));
	struct xb_choices choices = choices_of(confirm, hash);

	return bucket == choices.first ? choices.second : choices.first;
}

static bool seen(const struct node *nodes, int count, uint32_t bucket)
{
	for (int i = 0; i < count; i++)
		if (nodes[i].bucket == bucket)
			return true;
	return false;
}

/* Fills nodes until one has a free slot; its number, or -1. */
static int search(struct xb_exact *confirm, struct node *nodes, int count)
{
	for (int next = 0; next < count; next++) {
		for (uint32_t slot = 0; slot < slots_of(confirm->slots); slot++) {
			uint32_t other = other_bucket(confirm, nodes[next].bucket, slot);

			if (seen(nodes, count, other))
				continue;
			if (count == NODES_MAX ||
			    xb_mapping_map(&confirm->buckets, other * sizeof(struct xb_bucket),
					   sizeof(struct xb_bucket)))
				return -1;
			nodes[count] = (struct node){
				.bucket = other, .parent = (int16_t)next, .slot = (uint8_t)slot};
			if (slot_find(confirm, other, 0) >= 0)
				return count;
			count++;
		}
	}
	return -1;
}

#define READERS_SECONDS 1 /* a packet that looks again takes microseconds */

/* Lets packets look that have seen keys move at every try. */
static void wait_for_readers(struct xb_exact *confirm)
{
	time_t start = 0;

	while (__atomic_load_n(end_word(confirm, XB_BUCKET_READERS), __ATOMIC_SEQ_CST)) {
		struct timespec now;

		clock_gettime(CLOCK_MONOTONIC, &now);
		start = start ? start : now.tv_sec;
		if (now.tv_sec > start + READERS_SECONDS)
			return;
		sched_yield();
	}
}

/*
 * Moves keys along the path, its end first: each is copied, MOVES raised, and only then its old
 * slot overwritten by the next copy. See exact_again() in bpf/exact.h for who reads meanwhile.
 * *grown: the bucket that took one more.
 */
static int relocate(struct xb_exact *confirm, struct xb_choices choices, uint64_t value,
		    uint32_t *grown)
{
	struct node nodes[NODES_MAX] = {
		{.bucket = choices.first, .parent = -1},
		{.bucket = choices.second, .parent = -1},
	};
	int at = search(confirm, nodes, choices.first == choices.second ? 1 : 2);
	uint32_t bucket, slot;

	if (at < 0)
		return -EXFULL;
	bucket = *grown = nodes[at].bucket;
	slot = (uint32_t)slot_find(confirm, bucket, 0);
	for (; nodes[at].parent >= 0; at = nodes[at].parent) {
		uint32_t from = nodes[nodes[at].parent].bucket;

		wait_for_readers(confirm);
		slot_set(confirm, bucket, slot, slot_get(confirm, from, nodes[at].slot));
		__atomic_fetch_add(end_word(confirm, XB_BUCKET_MOVES), 1, __ATOMIC_SEQ_CST);
		bucket = from;
		slot = nodes[at].slot;
	}
	slot_set(confirm, bucket, slot, value);
	return 0;
}

/* Where the value (0: a free slot) stands, in the first bucket if it can; false if nowhere. */
static bool locate(struct xb_exact *confirm, uint64_t hash, uint64_t value, uint32_t *bucket,
		   int *slot)
{
	struct xb_choices choices = choices_of(confirm, hash);

	*bucket = choices.first;
	*slot = slot_find(confirm, *bucket, value);
	if (*slot < 0) {
		*bucket = choices.second;
		*slot = slot_find(confirm, *bucket, value);
	}
	return *slot >= 0;
}

static void count_unspecified(struct xb_exact *confirm, uint64_t one)
{
	__atomic_fetch_add(end_word(confirm, XB_BUCKET_ZERO), one, __ATOMIC_SEQ_CST);
}

int xb_exact_add(struct xb_exact *confirm, uint64_t hash, uint32_t extra)
{
	uint64_t value = value_of(confirm, hash, extra);
	uint32_t bucket;
	int slot;

	if (!value) {
		count_unspecified(confirm, 1);
		return 0;
	}
	if (!locate(confirm, hash, 0, &bucket, &slot))
		return relocate(confirm, choices_of(confirm, hash), value, &bucket);
	slot_set(confirm, bucket, (uint32_t)slot, value);
	return 0;
}

int xb_exact_delete(struct xb_exact *confirm, uint64_t hash, uint32_t extra)
{
	uint64_t value = value_of(confirm, hash, extra);
	uint32_t bucket;
	int slot;

	if (!value) {
		if (!*end_word(confirm, XB_BUCKET_ZERO))
			return -EUCLEAN;
		count_unspecified(confirm, (uint64_t)-1);
		return 0;
	}
	if (!locate(confirm, hash, value, &bucket, &slot))
		return -EUCLEAN;
	slot_set(confirm, bucket, (uint32_t)slot, 0);
	return 0;
}

int xb_exact_verdict(struct xb_exact *confirm, uint64_t hash, uint32_t *verdict)
{
	uint32_t bucket;
	int slot;

	if (!locate(confirm, hash, value_of(confirm, hash, 0), &bucket, &slot))
		return -EUCLEAN;
	*verdict = (uint32_t)(slot_get(confirm, bucket, (uint32_t)slot) >> XB_DOMAIN_SHIFT);
	return 0;
}

int xb_exact_alter(struct xb_exact *confirm, uint64_t hash, uint32_t verdict)
{
	uint64_t value = value_of(confirm, hash, verdict);
	uint32_t bucket;
	int slot;

	if (!locate(confirm, hash, value, &bucket, &slot))
		return -EUCLEAN;
	slot_set(confirm, bucket, (uint32_t)slot, value);
	return 0;
}

bool xb_exact_contains(struct xb_exact *confirm, uint64_t hash, uint32_t extra)
{
	uint64_t value = value_of(confirm, hash, extra);
	uint32_t bucket;
	int slot;

	if (!value)
		return *end_word(confirm, XB_BUCKET_ZERO);
	return locate(confirm, hash, value, &bucket, &slot);
}

/* Keys looked ahead, so that their buckets are on the way when they are needed. */
#define AHEAD 16

struct pending {
	struct xb_choices choices;
	uint64_t value;
};

/* used: from the first bucket of the share, how many of its slots, which fill from the lowest. */
static int build_one(struct xb_exact *confirm, const struct pending *key, uint32_t start,
		     uint8_t *used)
{
	uint32_t first = key->choices.first, second = key->choices.second;
	uint32_t bucket = used[first - start] < slots_of(confirm->slots) ? first : second;
	uint8_t *filled = &used[bucket - start];
	struct xb_bucket *place = bucket_at(confirm, bucket);

	if (!key->value) {
		count_unspecified(confirm, 1);
		return 0;
	}
	if (*filled == slots_of(confirm->slots)) {
		int error = relocate(confirm, key->choices, key->value, &bucket);

		if (!error)
			used[bucket - start]++;
		return error;
	}
	if (confirm->slots == XB_SLOTS_ADDRESS)
		((uint32_t *)(void *)place)[(*filled)++] = (uint32_t)key->value;
	else
		place->word[(*filled)++] = key->value;
	return 0;
}

int xb_exact_build(struct xb_exact *confirm, const uint64_t *hashes, const uint32_t *extras,
		   size_t count, uint32_t first, uint32_t last, uint8_t *used)
{
	uint32_t start = first * confirm->geometry.size, end = last * confirm->geometry.size;
	struct pending ahead[AHEAD];
	size_t queued = 0, done = 0;
	int error = 0;

	for (size_t i = 0; !error && i < count; i++) {
		struct pending key = {.choices = choices_of(confirm, hashes[i])};

		if (key.choices.first < start || key.choices.first >= end)
			continue;
		key.value = value_of(confirm, hashes[i], extras ? extras[i] : 0);
		__builtin_prefetch(bucket_at(confirm, key.choices.first), 1);
		__builtin_prefetch(bucket_at(confirm, key.choices.second), 1);
		if (queued - done == AHEAD)
			error = build_one(confirm, &ahead[done++ % AHEAD], start, used);
		ahead[queued++ % AHEAD] = key;
	}
	while (!error && done < queued)
		error = build_one(confirm, &ahead[done++ % AHEAD], start, used);
	return error;
}

void xb_exact_built(struct xb_exact *confirm)
{
	if (confirm->geometry.parts)
		*end_word(confirm, XB_BUCKET_MOVES) = 0;
}
