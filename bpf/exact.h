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
enum slots { SLOTS_ADDRESS, SLOTS_HASH, SLOTS_NAME };

/* Nonzero if one of the 16 addresses is the one that fills both halves of `pattern`; no branch, as
 * in bloom.h. The test for a zero half is exact as a yes or no (Hacker's Delight, 6-1). */
static __always_inline __u64 bucket_has4(const struct xb_bucket *bucket, __u64 pattern)
{
	__u64 found = 0;

#pragma unroll
	for (int i = 0; i < 8; i++) {
		__u64 x = bucket->word[i] ^ pattern;

		found |= (x - 0x0000000100000001ULL) & ~x & 0x8000000080000000ULL;
	}
	return found;
}

/* Nonzero if one of the 8 words is the fingerprint. */
static __always_inline __u64 bucket_has6(const struct xb_bucket *bucket, __u64 fingerprint)
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

/* slots is a constant wherever this is inlined. 0: none has the value. */
static __always_inline __u64 bucket_find(void *map, __u32 index, enum slots slots, __u64 value)
{
	struct xb_bucket *bucket = bpf_map_lookup_elem(map, &index);

	if (!bucket)
		return 0;
	if (slots == SLOTS_NAME)
		return bucket_name(bucket, value);
	if (slots == SLOTS_HASH)
		return bucket_has6(bucket, value);
	return bucket_has4(bucket, value | value << 32);
}

/* One bucket after the other: nearly every key stands in its first. */
static __always_inline __u64 buckets_find(void *map, const struct xb_choices *choices,
					  enum slots slots, __u64 value)
{
	__u64 found = bucket_find(map, choices->first, slots, value);

	return found ? found : bucket_find(map, choices->second, slots, value);
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
static __always_inline __u64 exact_held(void *map, struct xb_bucket *end, bool in_order,
					const struct xb_choices *choices, enum slots slots,
					__u64 value)
{
	__u64 found = value, moves;

	__sync_fetch_and_add(&end->word[XB_BUCKET_READERS], 1);
	moves = exact_moves(end, in_order);
	for (int i = 0; i < CONFIRM_HELD; i++) {
		__u64 before = moves, now = buckets_find(map, choices, slots, value);

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
static __always_inline __u64 exact_again(void *map, __u32 last, const struct xb_choices *choices,
					 enum slots slots, __u64 value)
{
	struct xb_bucket *end = bpf_map_lookup_elem(map, &last);
	bool in_order = params.reads_in_order;
	__u64 moves;

	if (!end)
		return 0;
	moves = exact_moves(end, in_order);
	if (!moves)
		return 0;
	for (int i = 0; i < CONFIRM_TRIES; i++) {
		__u64 found = buckets_find(map, choices, slots, value), before = moves;

		if (found)
			return found;
		moves = exact_moves(end, in_order);
		if (moves == before)
			return 0;
	}
	return exact_held(map, end, in_order, choices, slots, value);
}

/* Not 0: the value is there; for a name, the word with its verdict. */
static __always_inline __u64 exact_find(void *map, const volatile struct xb_buckets *buckets,
					const struct xb_key *key, __u64 hash, enum slots slots,
					__u64 value)
{
	struct xb_choices choices = xb_choices_of(key, hash, buckets->parts, buckets->size);
	__u64 found = buckets_find(map, &choices, slots, value);

	return found ? found
		     : exact_again(map, xb_buckets_count(buckets->parts, buckets->size), &choices,
				   slots, value);
}

/* Whether 0.0.0.0, which has no slot, is listed. */
static __always_inline bool exact_unspecified(void)
{
	__u32 last = xb_buckets_count(params.confirm4.parts, params.confirm4.size);
	struct xb_bucket *end = bpf_map_lookup_elem(&confirm4, &last);

	return end && end->word[XB_BUCKET_ZERO];
}

#endif
