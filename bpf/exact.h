/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exact look-up behind a Bloom hit. For nearly every key it reads one bucket, a line; for the
 * others, and for keys that are not there, two. Userspace may move keys between them at any moment.
 */
#ifndef XDP_BLOOM_EXACT_H
#define XDP_BLOOM_EXACT_H

#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include "params.h"

struct bucket_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct xb_bucket);
};

struct bucket_map confirm4 SEC(".maps");
struct bucket_map confirm6 SEC(".maps");

/* What stands in a bucket: see struct xb_bucket. */
enum slots { SLOTS_ADDRESS, SLOTS_PREFIX, SLOTS_HASH, SLOTS_NAME };

/* Nonzero if one of the slots has this value; no branch, as in bloom.h. The test for a slot of 0 is
 * exact as a yes or no (Hacker's Delight, 6-1). words: of the bucket, a constant. */
static __always_inline __u64 bucket_has4(const __u64 *word, int words, __u32 bits, __u64 value)
{
	__u64 ones = xb_slot_ones(bits), pattern = value * ones, found = 0;

#pragma unroll
	for (int i = 0; i < words; i++) {
		__u64 x = word[i] ^ pattern;

		found |= (x - ones) & ~x;
	}
	return found & ones << (bits - 1);
}

/* Whether one of the 12 slots has this value. Less than all 64 bits of a word are 0 if 1 less is
 * negative. */
static __always_inline __u64 bucket_has6(const struct xb_bucket *bucket, __u64 value)
{
	const __u64 whole = (1ULL << XB_SLOT_PREFIX) - 1, half = (1ULL << XB_SLOT_HALF) - 1;
	__u64 even = value | (value & half) << XB_SLOT_PREFIX;
	__u64 odd = value | value >> XB_SLOT_HALF << XB_SLOT_PREFIX, found = 0;

#pragma unroll
	for (int i = 0; i < 8; i += 2) {
		__u64 x = bucket->word[i] ^ even, y = bucket->word[i + 1] ^ odd;

		found |= ((x | y) >> XB_SLOT_PREFIX) - 1;
		found |= (x & whole) - 1;
		found |= (y & whole) - 1;
	}
	return found >> 63;
}

/* Nonzero if one of the 8 words is the fingerprint. */
static __always_inline __u64 bucket_has_hash(const struct xb_bucket *bucket, __u64 fingerprint)
{
	__u64 found = 0;

#pragma unroll
	for (int i = 0; i < 8; i++) {
		__u64 x = bucket->word[i] ^ fingerprint;

		found |= (x - 1) & ~x;
	}
	return found >> 63;
}

/* The one of the 8 words that has the fingerprint, with its verdict; 0: none has it. */
static __always_inline __u64 bucket_name(const struct xb_bucket *bucket, __u64 fingerprint)
{
	__u64 found = 0;

#pragma unroll
	for (int i = 0; i < 8; i++) {
		__u64 word = bucket->word[i], x = (word ^ fingerprint) & XB_NAME_HASH;
		__s64 same = (__s64)(x - 1) >> 63;

		/* Otherwise the compiler makes a branch, and the verifier follows both ways 16
		 * times. */
		asm volatile("" : "+r"(same));
		found |= word & same;
	}
	return found;
}

/* slots is a constant wherever this is inlined, and slot_bits one to the verifier. 0: the value is
 * not there. */
static __always_inline __u64 bucket_find(void *map, const volatile struct xb_buckets *buckets,
					 const struct xb_spot *spot, enum slots slots)
{
	bool small = slots == SLOTS_ADDRESS && buckets->small;
	/* Of its own, so that the rest need not be in memory. */
	__u32 index = small ? spot->bucket / 4 : spot->bucket;
	struct xb_bucket *bucket = bpf_map_lookup_elem(map, &index);

	if (!bucket)
		return 0;
	if (slots == SLOTS_NAME)
		return bucket_name(bucket, spot->value);
	if (slots == SLOTS_HASH)
		return bucket_has_hash(bucket, spot->value);
	if (slots == SLOTS_PREFIX)
		return bucket_has6(bucket, spot->value);
	if (small)
		return bucket_has4(&bucket->word[spot->bucket % 4 * 2], 2, buckets->slot_bits,
				   spot->value);
	return bucket_has4(bucket->word, 8, buckets->slot_bits, spot->value);
}

/* One bucket after the other: nearly every key stands in its first. */
static __always_inline __u64 buckets_find(void *map, const volatile struct xb_buckets *buckets,
					  const struct xb_spot spot[2], enum slots slots)
{
	__u64 found = bucket_find(map, buckets, &spot[0], slots);

	return found ? found : bucket_find(map, buckets, &spot[1], slots);
}

#define CONFIRM_TRIES 4
#define CONFIRM_HELD  3

/* MOVES, behind all reads before it and before all that follow. Where the processor does not keep
 * reads in order, an atomic addition of 0: BPF has no other full barrier. */
static __always_inline __u64 exact_moves(struct xb_bucket *end, bool in_order)
{
	__u64 moves;

	if (!in_order)
		return __sync_fetch_and_add(&end->word[XB_BUCKET_MOVES], 0);
	asm volatile("" ::: "memory");
	moves = *(volatile __u64 *)&end->word[XB_BUCKET_MOVES];
	asm volatile("" ::: "memory");
	return moves;
}

/*
 * While READERS is not 0, the writer begins no move. So only the move that it is in the middle of
 * can interfere, and of three looks one is certain.
 */
static __always_inline __u64 exact_held(void *map, const volatile struct xb_buckets *buckets,
					struct xb_bucket *end, bool in_order,
					const struct xb_spot spot[2], enum slots slots)
{
	__u64 found = spot[0].value, moves;

	__sync_fetch_and_add(&end->word[XB_BUCKET_READERS], 1);
	moves = exact_moves(end, in_order);
	for (int i = 0; i < CONFIRM_HELD; i++) {
		__u64 before = moves, now = buckets_find(map, buckets, spot, slots);

		moves = exact_moves(end, in_order);
		if (now || moves == before) {
			found = now;
			break;
		}
	}
	__sync_fetch_and_add(&end->word[XB_BUCKET_READERS], -1);
	return found;
}

/*
 * To move a key, the writer copies it, raises MOVES, and overwrites the old place. A packet that
 * read the new place before the copy and the old one afterwards missed the key, but MOVES changed
 * meanwhile. So "not found" counts only if MOVES stayed the same, or if no key has moved since the
 * table was built. Only false positives of the Bloom filter come here. If keys move during every
 * try, the packet makes the writer wait.
 */
static __always_inline __u64 exact_again(void *map, const volatile struct xb_buckets *buckets,
					 const struct xb_spot spot[2], enum slots slots)
{
	__u32 last = xb_buckets_lines(buckets->parts, buckets->size, buckets->small);
	struct xb_bucket *end = bpf_map_lookup_elem(map, &last);
	bool in_order = params.reads_in_order;
	__u64 moves;

	if (!end)
		return 0;
	moves = exact_moves(end, in_order);
	if (!moves)
		return 0;
	for (int i = 0; i < CONFIRM_TRIES; i++) {
		__u64 found = buckets_find(map, buckets, spot, slots), before = moves;

		if (found)
			return found;
		moves = exact_moves(end, in_order);
		if (moves == before)
			return 0;
	}
	return exact_held(map, buckets, end, in_order, spot, slots);
}

/* Behind a first bucket that does not have it. */
static __always_inline __u64 exact_on(void *map, const volatile struct xb_buckets *buckets,
				      const struct xb_spot spot[2], enum slots slots)
{
	__u64 found = bucket_find(map, buckets, &spot[1], slots);

	return found ? found : exact_again(map, buckets, spot, slots);
}

/* Not 0: the fingerprint is there; for a name, the word with its verdict. */
static __always_inline __u64 exact_find(void *map, const volatile struct xb_buckets *buckets,
					const struct xb_key *key, __u64 fingerprint,
					enum slots slots)
{
	struct xb_choices choices = xb_choices_of(key, fingerprint, buckets->parts, buckets->size);
	const struct xb_spot spot[2] = {{fingerprint, choices.first},
					{fingerprint, choices.second}};
	__u64 found = bucket_find(map, buckets, &spot[0], slots);

	return found ? found : exact_on(map, buckets, spot, slots);
}

/* Not 0: the key is there. Its second place is only computed when it is needed. */
static __always_inline __u64 exact_find_quotient(void *map,
						 const volatile struct xb_buckets *buckets,
						 const struct xb_quotient_key *key,
						 const struct xb_quotient *quotient, __u32 bits,
						 enum slots slots)
{
	struct xb_spot spot[2] = {xb_quotient_first(quotient)};
	__u64 found = bucket_find(map, buckets, &spot[0], slots);

	if (found)
		return found;
	spot[1] = xb_quotient_second(key, quotient, buckets->size, bits);
	return exact_on(map, buckets, spot, slots);
}

/* address: host byte order. */
static __always_inline __u64 exact_find4(void *map, const volatile struct xb_buckets *buckets,
					 const struct xb_quotient_key *key, __u32 address)
{
	__u32 bits = buckets->slot_bits;
	struct xb_quotient quotient =
		xb_quotient_of(key, address, buckets->parts, buckets->size, bits);

	return exact_find_quotient(map, buckets, key, &quotient, bits, SLOTS_ADDRESS);
}

/* hash: of prefix and length. */
static __always_inline __u64 exact_find6(void *map, const volatile struct xb_buckets *buckets,
					 const struct xb_key *key,
					 const struct xb_quotient_key *step, __u64 hash)
{
	struct xb_quotient quotient = xb_quotient_of_hash(key, hash, buckets->parts, buckets->size);

	return exact_find_quotient(map, buckets, step, &quotient, XB_SLOT_PREFIX, SLOTS_PREFIX);
}

#endif
