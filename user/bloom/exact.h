/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exact table behind the Bloom filter: two buckets for each key (Pagh, Rodler, 2004; buckets:
 * Dietzfelbinger, Weidling, 2007), changed while the kernel reads it. */
#ifndef XB_BLOOM_EXACT_H
#define XB_BLOOM_EXACT_H

#include "base/mapping.h"
#include "xdp_bloom/layout.h"

/*
 * The kernel may read buckets at any moment; calls belong to one writer at a time. A key in the
 * table is found at every moment, also while it moves. A key may be there several times (ranges
 * that overlap, prefixes with the same quotient); a delete takes one.
 */
/* What stands in a bucket. */
enum xb_slots {
	XB_SLOTS_ADDRESS, /* 16, 24 or 32 IPv4 addresses, or 8 in a small one */
	XB_SLOTS_PREFIX,  /* 12 IPv6 prefixes, 41 bits of the hash each */
	XB_SLOTS_HASH,	  /* 8 fingerprints of prefixes in classes, the whole hash */
	XB_SLOTS_NAME,	  /* 8 fingerprints of XB_NAME_HASH, each with a verdict */
};

struct xb_exact {
	struct xb_buckets geometry;
	struct xb_key key;
	struct xb_quotient_key key4; /* of addresses; the step also of prefixes */
	struct xb_mapping buckets;   /* struct xb_bucket each, and the one behind the last */
	enum xb_slots slots;
};

/* How full a table is made that has all the keys it is sized for, and how full it may get. A key
 * stands in its first bucket unless that is full: at FILL 97 of 100 addresses (93 in
 * small buckets), 95 of 100 prefixes, 93 of 100 fingerprints do, so that they cost a packet one
 * line. */
#define XB_CONFIRM_FILL 0.80
#define XB_CONFIRM_FULL 0.97

/* Makes a key of random bits. */
void xb_exact_key4(struct xb_quotient_key *key);

struct xb_buckets xb_size_exact(uint64_t keys, enum xb_slots slots);

/* Whether a table of that kind can have this geometry: no parts, or slots that hold its keys. */
bool xb_exact_is_sound(const struct xb_buckets *geometry, enum xb_slots slots);

/* Slots of the whole table, and keys that fit before XB_CONFIRM_FULL. */
uint64_t xb_exact_slots(const struct xb_buckets *geometry);
uint64_t xb_exact_room(const struct xb_buckets *geometry);

/* Bytes of the whole table. */
uint64_t xb_exact_bytes(const struct xb_buckets *geometry);

/*
 * hash: see xdp_bloom/hash.h; not read where slots have addresses. extra: the address in host byte
 * order, or the verdict of a name; not read elsewhere.
 */

/* The two places of a key; xb_exact_spots_at(): of what stands at this one. */
void xb_exact_spots(const struct xb_exact *confirm, uint64_t hash, uint32_t extra,
		    struct xb_spot spot[2]);
void xb_exact_spots_at(const struct xb_exact *confirm, const struct xb_spot *at,
		       struct xb_spot spot[2]);

/* Maps the two buckets of the key. */
int xb_exact_prepare(struct xb_exact *confirm, uint64_t hash, uint32_t extra);

/* Asks memory for the first bucket of the key. */
void xb_exact_fetch(const struct xb_exact *confirm, uint64_t hash, uint32_t extra);

/* What stands in a slot, 0: nothing. Its bucket must be mapped. */
uint64_t xb_exact_slot(const struct xb_exact *confirm, uint32_t bucket, uint32_t slot);

/*
 * -EXFULL without a message: no place was found, nothing changed but where other keys stand.
 */
int xb_exact_add(struct xb_exact *confirm, uint64_t hash, uint32_t extra);

/* The verdict of a name that is there. -EUCLEAN without a message: it is not there. */
int xb_exact_verdict(struct xb_exact *confirm, uint64_t hash, uint32_t *verdict);

/* Gives a name that is there another verdict. -EUCLEAN without a message: it is not there. */
int xb_exact_alter(struct xb_exact *confirm, uint64_t hash, uint32_t verdict);

/* -EUCLEAN without a message: it is not there. */
int xb_exact_delete(struct xb_exact *confirm, uint64_t hash, uint32_t extra);

bool xb_exact_contains(struct xb_exact *confirm, uint64_t hash, uint32_t extra);

/*
 * Adds one builder's share to a table that nobody reads yet: the keys of parts first to last - 1.
 * extras: NULL, if there are none. Everything must be mapped. used: a zeroed byte for each bucket
 * of these parts, kept between the calls of one builder.
 */
int xb_exact_build(struct xb_exact *confirm, const uint64_t *hashes, const uint32_t *extras,
		   size_t count, uint32_t first, uint32_t last, uint8_t *used);

/* Called when all shares are built, if there is a table: resets the count of moves, because
 * nobody read the table meanwhile and no packet needs a second look. */
void xb_exact_built(struct xb_exact *confirm);

#endif
