/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bucketed cuckoo hashing with relocation by breadth-first search, so that few keys move. */
#include "bloom/exact.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <string.h>
#include <time.h>

/* Buckets of a part: small enough that a part stays in the cache while it is built, large enough
 * that parts fill evenly. */
#define PART_BUCKETS 4096
#define PART_MOST    (1U << 31) /* so that 32 bits hold the sum of two places in it */

#define LINE_WORDS ((uint32_t)(sizeof(struct xb_bucket) / sizeof(__u64)))

/* The geometries of each kind of slots, those in which a key takes least first. */
#define FORMS 4
static const struct kind {
	struct form {
		uint16_t slot_bits, small;
	} form[FORMS];	/* in turn; 0: no more */
	uint32_t least; /* buckets */
} kinds[] = {
	[XB_SLOTS_ADDRESS] =
		{{{XB_SLOT_NARROW, 0}, {XB_SLOT_NARROW, 1}, {XB_SLOT_MIDDLE, 0}, {XB_SLOT_WIDE, 0}},
		 3},
	[XB_SLOTS_PREFIX] = {{{XB_SLOT_PREFIX, 0}}, 2},
	[XB_SLOTS_HASH] = {{{64, 0}}, 1},
	[XB_SLOTS_NAME] = {{{64, 0}}, 1},
};

static uint32_t words_of_bucket(const struct xb_buckets *geometry)
{
	return geometry->small ? LINE_WORDS / 4 : LINE_WORDS;
}

/* Whole ones. */
static uint32_t slots_of_word(const struct xb_buckets *geometry)
{
	return 64 / geometry->slot_bits;
}

static uint32_t slots_of_bucket(const struct xb_buckets *geometry)
{
	uint32_t halved = geometry->slot_bits == XB_SLOT_PREFIX ? LINE_WORDS / 2 : 0;

	return words_of_bucket(geometry) * slots_of_word(geometry) + halved;
}

static uint32_t buckets_in(const struct xb_buckets *geometry)
{
	return geometry->parts * geometry->size;
}

static uint32_t lines_in(const struct xb_buckets *geometry)
{
	return xb_buckets_lines(geometry->parts, geometry->size, geometry->small);
}

static bool suffices(const struct xb_buckets *geometry)
{
	return geometry->slot_bits > XB_SLOT_WIDE ||
	       xb_slot_suffices((uint64_t)geometry->parts * geometry->size, geometry->slot_bits);
}

static struct xb_buckets size_with(double keys, const struct form *form, uint32_t least)
{
	struct xb_buckets geometry = {.slot_bits = form->slot_bits, .small = form->small};
	double buckets = fmax(least, ceil(keys / XB_CONFIRM_FILL / slots_of_bucket(&geometry)) + 1);

	geometry.parts = (uint32_t)fmax(1, floor(buckets / PART_BUCKETS));
	geometry.size = (uint32_t)ceil(buckets / geometry.parts);
	return geometry;
}

struct xb_buckets xb_size_exact(uint64_t keys, enum xb_slots slots)
{
	const struct kind *kind = &kinds[slots];
	struct xb_buckets geometry;
	int i = 0;

	do
		geometry = size_with((double)keys, &kind->form[i++], kind->least);
	while (!suffices(&geometry));
	return geometry;
}

bool xb_exact_is_sound(const struct xb_buckets *geometry, enum xb_slots slots)
{
	const struct kind *kind = &kinds[slots];

	if (!geometry->parts)
		return !geometry->size && !geometry->slot_bits && !geometry->small;
	if (!geometry->size || geometry->size > PART_MOST ||
	    (uint64_t)geometry->parts * geometry->size >= UINT32_MAX)
		return false;
	for (int i = 0; i < FORMS && kind->form[i].slot_bits; i++)
		if (kind->form[i].slot_bits == geometry->slot_bits &&
		    kind->form[i].small == geometry->small)
			return suffices(geometry);
	return false;
}

uint64_t xb_exact_slots(const struct xb_buckets *geometry)
{
	return geometry->parts ? (uint64_t)buckets_in(geometry) * slots_of_bucket(geometry) : 0;
}

uint64_t xb_exact_room(const struct xb_buckets *geometry)
{
	return (uint64_t)((double)xb_exact_slots(geometry) * XB_CONFIRM_FULL);
}

uint64_t xb_exact_bytes(const struct xb_buckets *geometry)
{
	return geometry->parts ? ((uint64_t)lines_in(geometry) + 1) * sizeof(struct xb_bucket) : 0;
}

void xb_exact_key4(struct xb_quotient_key *key)
{
	for (int i = 0; i < 3; i++)
		key->factor[i] |= 1;
	key->step |= 1;
}

static size_t bucket_offset(const struct xb_exact *confirm, uint32_t index)
{
	return index * (size_t)words_of_bucket(&confirm->geometry) * sizeof(__u64);
}

static __u64 *bucket_at(const struct xb_exact *confirm, uint32_t index)
{
	return (__u64 *)(void *)(confirm->buckets.base + bucket_offset(confirm, index));
}

/* Where a slot lies: in one word, or in as many bits of two. */
struct place {
	uint32_t word, words, shift, bits;
};

static struct place place_of(const struct xb_buckets *geometry, uint32_t slot)
{
	uint32_t many = slots_of_word(geometry), bits = geometry->slot_bits;

	if (slot < LINE_WORDS * many)
		return (struct place){slot / many, 1, slot % many * bits, bits};
	return (struct place){(slot - LINE_WORDS) * 2, 2, XB_SLOT_PREFIX, XB_SLOT_HALF};
}

static uint64_t place_mask(const struct place *place)
{
	return ~0ULL >> (64 - place->bits) << place->shift;
}

/* What the place's word of this number, 0 or 1, has of a value. */
static uint64_t place_part(const struct place *place, uint64_t value, uint32_t number)
{
	return value >> number * XB_SLOT_HALF << place->shift & place_mask(place);
}

uint64_t xb_exact_slot(const struct xb_exact *confirm, uint32_t bucket, uint32_t slot)
{
	const struct place place = place_of(&confirm->geometry, slot);
	const __u64 *word = &bucket_at(confirm, bucket)[place.word];
	uint64_t value = 0;

	for (uint32_t i = 0; i < place.words; i++)
		value |= (word[i] & place_mask(&place)) >> place.shift << i * XB_SLOT_HALF;
	return value;
}

/* Nobody else writes, and readers see each word before or after. Of a slot in two words they may
 * see one before and one after: then it has neither key, as if both had come and gone. */
static void slot_set(struct xb_exact *confirm, uint32_t bucket, uint32_t slot, uint64_t value)
{
	const struct place place = place_of(&confirm->geometry, slot);
	__u64 *word = &bucket_at(confirm, bucket)[place.word];

	for (uint32_t i = 0; i < place.words; i++)
		__atomic_store_n(&word[i],
				 (word[i] & ~place_mask(&place)) | place_part(&place, value, i),
				 __ATOMIC_SEQ_CST);
}

/* The same of a free slot of a table that nobody reads yet. */
static void slot_fill(struct xb_exact *confirm, uint32_t bucket, uint32_t slot, uint64_t value)
{
	const struct place place = place_of(&confirm->geometry, slot);
	__u64 *word = &bucket_at(confirm, bucket)[place.word];

	for (uint32_t i = 0; i < place.words; i++)
		word[i] |= place_part(&place, value, i);
}

/* The part of a slot that says which key it is. */
static uint64_t identity_of(const struct xb_exact *confirm, uint64_t value)
{
	return confirm->slots == XB_SLOTS_NAME ? value & XB_NAME_HASH : value;
}

/* The slot of that bucket that holds the value, but for a verdict (0: a free one), or -1. */
static int slot_find(const struct xb_exact *confirm, uint32_t bucket, uint64_t value)
{
	uint64_t identity = identity_of(confirm, value);

	for (uint32_t slot = 0; slot < slots_of_bucket(&confirm->geometry); slot++)
		if (identity_of(confirm, xb_exact_slot(confirm, bucket, slot)) == identity)
			return (int)slot;
	return -1;
}

/* value: a fingerprint, with the verdict of a name. */
static void spots_of_hash(const struct xb_exact *confirm, uint64_t value, struct xb_spot spot[2])
{
	struct xb_choices choices = xb_choices_of(&confirm->key, identity_of(confirm, value),
						  confirm->geometry.parts, confirm->geometry.size);

	spot[0] = (struct xb_spot){value, choices.first};
	spot[1] = (struct xb_spot){value, choices.second};
}

static bool has_quotients(const struct xb_exact *confirm)
{
	return confirm->slots == XB_SLOTS_ADDRESS || confirm->slots == XB_SLOTS_PREFIX;
}

static void spots_of_quotient(const struct xb_exact *confirm, const struct xb_quotient *quotient,
			      struct xb_spot spot[2])
{
	spot[0] = xb_quotient_first(quotient);
	spot[1] = xb_quotient_second(&confirm->key4, quotient, confirm->geometry.size,
				     confirm->geometry.slot_bits);
}

void xb_exact_spots(const struct xb_exact *confirm, uint64_t hash, uint32_t extra,
		    struct xb_spot spot[2])
{
	const struct xb_buckets *geometry = &confirm->geometry;
	uint64_t verdict = confirm->slots == XB_SLOTS_NAME ? (uint64_t)extra << XB_DOMAIN_SHIFT : 0;
	struct xb_quotient quotient;

	if (!has_quotients(confirm)) {
		spots_of_hash(confirm, xb_fingerprint(hash) | verdict, spot);
		return;
	}
	quotient =
		confirm->slots == XB_SLOTS_PREFIX
			? xb_quotient_of_hash(&confirm->key, hash, geometry->parts, geometry->size)
			: xb_quotient_of(&confirm->key4, extra, geometry->parts, geometry->size,
					 geometry->slot_bits);
	spots_of_quotient(confirm, &quotient, spot);
}

void xb_exact_spots_at(const struct xb_exact *confirm, const struct xb_spot *at,
		       struct xb_spot spot[2])
{
	struct xb_quotient quotient;

	if (!has_quotients(confirm)) {
		spots_of_hash(confirm, at->value, spot);
		return;
	}
	quotient = xb_quotient_at(&confirm->key4, at, confirm->geometry.size,
				  confirm->geometry.slot_bits);
	spots_of_quotient(confirm, &quotient, spot);
}

static __u64 *end_word(struct xb_exact *confirm, int word)
{
	size_t line = lines_in(&confirm->geometry);

	return (__u64 *)(void *)confirm->buckets.base + line * LINE_WORDS + word;
}

static int map_bucket(struct xb_exact *confirm, uint32_t bucket)
{
	return xb_mapping_map(&confirm->buckets, bucket_offset(confirm, bucket),
			      bucket_offset(confirm, 1));
}

int xb_exact_prepare(struct xb_exact *confirm, uint64_t hash, uint32_t extra)
{
	size_t end = lines_in(&confirm->geometry) * sizeof(struct xb_bucket);
	int error = xb_mapping_map(&confirm->buckets, end, sizeof(struct xb_bucket));
	struct xb_spot spot[2];

	xb_exact_spots(confirm, hash, extra, spot);
	for (int i = 0; !error && i < 2; i++)
		error = map_bucket(confirm, spot[i].bucket);
	return error;
}

void xb_exact_fetch(const struct xb_exact *confirm, uint64_t hash, uint32_t extra)
{
	struct xb_spot spot[2];

	xb_exact_spots(confirm, hash, extra, spot);
	__builtin_prefetch(bucket_at(confirm, spot[0].bucket), 1);
}

/* A bucket the search has come to, and from which slot of which other node. */
struct node {
	uint32_t bucket;
	int16_t parent; /* -1: a bucket of the key itself */
	uint8_t slot;
};

#define NODES_MAX 1024

/* Where what stands in this slot may stand, too. */
static struct xb_spot other_spot(const struct xb_exact *confirm, uint32_t bucket, uint32_t slot)
{
	const struct xb_spot at = {xb_exact_slot(confirm, bucket, slot), bucket};
	struct xb_spot spot[2];

	xb_exact_spots_at(confirm, &at, spot);
	return bucket == spot[0].bucket ? spot[1] : spot[0];
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
		for (uint32_t slot = 0; slot < slots_of_bucket(&confirm->geometry); slot++) {
			uint32_t other = other_spot(confirm, nodes[next].bucket, slot).bucket;

			if (seen(nodes, count, other))
				continue;
			if (count == NODES_MAX || map_bucket(confirm, other))
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
static int relocate(struct xb_exact *confirm, const struct xb_spot spot[2], uint32_t *grown)
{
	struct node nodes[NODES_MAX] = {
		{.bucket = spot[0].bucket, .parent = -1},
		{.bucket = spot[1].bucket, .parent = -1},
	};
	int at = search(confirm, nodes, spot[0].bucket == spot[1].bucket ? 1 : 2);
	uint32_t bucket, slot;

	if (at < 0)
		return -EXFULL;
	bucket = *grown = nodes[at].bucket;
	slot = (uint32_t)slot_find(confirm, bucket, 0);
	for (; nodes[at].parent >= 0; at = nodes[at].parent) {
		uint32_t from = nodes[nodes[at].parent].bucket;

		wait_for_readers(confirm);
		slot_set(confirm, bucket, slot, other_spot(confirm, from, nodes[at].slot).value);
		__atomic_fetch_add(end_word(confirm, XB_BUCKET_MOVES), 1, __ATOMIC_SEQ_CST);
		bucket = from;
		slot = nodes[at].slot;
	}
	slot_set(confirm, bucket, slot, spot[at].value);
	return 0;
}

/* The slot of a key, in its first bucket if it is there: at spot[which]; -1: nowhere. */
static int locate(const struct xb_exact *confirm, const struct xb_spot spot[2], int *which)
{
	int slot = -1;

	for (*which = 0; *which < 2; ++*which) {
		slot = slot_find(confirm, spot[*which].bucket, spot[*which].value);
		if (slot >= 0)
			break;
	}
	return slot;
}

int xb_exact_add(struct xb_exact *confirm, uint64_t hash, uint32_t extra)
{
	struct xb_spot spot[2];
	uint32_t grown;

	xb_exact_spots(confirm, hash, extra, spot);
	for (int i = 0; i < 2; i++) {
		int slot = slot_find(confirm, spot[i].bucket, 0);

		if (slot < 0)
			continue;
		slot_set(confirm, spot[i].bucket, (uint32_t)slot, spot[i].value);
		return 0;
	}
	return relocate(confirm, spot, &grown);
}

int xb_exact_delete(struct xb_exact *confirm, uint64_t hash, uint32_t extra)
{
	struct xb_spot spot[2];
	int slot, which;

	xb_exact_spots(confirm, hash, extra, spot);
	slot = locate(confirm, spot, &which);
	if (slot < 0)
		return -EUCLEAN;
	slot_set(confirm, spot[which].bucket, (uint32_t)slot, 0);
	return 0;
}

int xb_exact_verdict(struct xb_exact *confirm, uint64_t hash, uint32_t *verdict)
{
	struct xb_spot spot[2];
	int slot, which;

	xb_exact_spots(confirm, hash, 0, spot);
	slot = locate(confirm, spot, &which);
	if (slot < 0)
		return -EUCLEAN;
	*verdict = (uint32_t)(xb_exact_slot(confirm, spot[which].bucket, (uint32_t)slot) >>
			      XB_DOMAIN_SHIFT);
	return 0;
}

int xb_exact_alter(struct xb_exact *confirm, uint64_t hash, uint32_t verdict)
{
	struct xb_spot spot[2];
	int slot, which;

	xb_exact_spots(confirm, hash, verdict, spot);
	slot = locate(confirm, spot, &which);
	if (slot < 0)
		return -EUCLEAN;
	slot_set(confirm, spot[which].bucket, (uint32_t)slot, spot[which].value);
	return 0;
}

bool xb_exact_contains(struct xb_exact *confirm, uint64_t hash, uint32_t extra)
{
	struct xb_spot spot[2];
	int which;

	xb_exact_spots(confirm, hash, extra, spot);
	return locate(confirm, spot, &which) >= 0;
}

/* Keys looked ahead, so that their buckets are on the way when they are needed. */
#define AHEAD 16

/* used: from the first bucket of the share, how many of its slots, which fill from the lowest. */
static int build_one(struct xb_exact *confirm, const struct xb_spot key[2], uint32_t start,
		     uint8_t *used)
{
	uint32_t all = slots_of_bucket(&confirm->geometry);
	const struct xb_spot *spot = &key[used[key[0].bucket - start] < all ? 0 : 1];
	uint32_t slot = used[spot->bucket - start], grown = spot->bucket;
	int error = 0;

	if (slot < all)
		slot_fill(confirm, spot->bucket, slot, spot->value);
	else
		error = relocate(confirm, key, &grown);
	if (!error)
		used[grown - start]++;
	return error;
}

int xb_exact_build(struct xb_exact *confirm, const uint64_t *hashes, const uint32_t *extras,
		   size_t count, uint32_t first, uint32_t last, uint8_t *used)
{
	uint32_t start = first * confirm->geometry.size, end = last * confirm->geometry.size;
	struct xb_spot ahead[AHEAD][2];
	size_t queued = 0, done = 0;
	int error = 0;

	for (size_t i = 0; !error && i < count; i++) {
		struct xb_spot key[2];

		xb_exact_spots(confirm, hashes[i], extras ? extras[i] : 0, key);
		if (key[0].bucket < start || key[0].bucket >= end)
			continue;
		__builtin_prefetch(bucket_at(confirm, key[0].bucket), 1);
		__builtin_prefetch(bucket_at(confirm, key[1].bucket), 1);
		if (queued - done == AHEAD)
			error = build_one(confirm, ahead[done++ % AHEAD], start, used);
		memcpy(ahead[queued++ % AHEAD], key, sizeof(key));
	}
	while (!error && done < queued)
		error = build_one(confirm, ahead[done++ % AHEAD], start, used);
	return error;
}

void xb_exact_built(struct xb_exact *confirm)
{
	if (confirm->geometry.parts)
		*end_word(confirm, XB_BUCKET_MOVES) = 0;
}
