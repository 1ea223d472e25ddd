/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hashes of all that is in a counting filter: what is deleted must be in, and the bits cannot
 * tell, since they are those of others, too. Open addressing with linear probing (Knuth, TAOCP 3,
 * section 6.4, algorithms L and R). */
#ifndef XB_BLOOM_FINGERPRINTS_H
#define XB_BLOOM_FINGERPRINTS_H

#include <stdbool.h>
#include <stdint.h>

/* As many of one hash as a counter counts. */
#define XB_FINGERPRINT_COPIES 15

struct xb_fingerprints {
	uint64_t *slot; /* 0: free; at least one is */
	uint64_t slots;
	uint64_t held;
	bool owned; /* slot was allocated, and not mapped with a file */
};

/* Slots for so many. */
uint64_t xb_fingerprints_slots(uint64_t count);

/* Empty ones, of so many slots. */
int xb_fingerprints_make(struct xb_fingerprints *set, uint64_t slots);
void xb_fingerprints_free(struct xb_fingerprints *set);

/* Those of a file. False: all slots are taken. */
bool xb_fingerprints_adopt(struct xb_fingerprints *set, uint64_t *slot, uint64_t slots);

/* Adds one of the hash, up to the most copies; grows. An error leaves everything as it was. */
int xb_fingerprints_add(struct xb_fingerprints *set, uint64_t hash);

/* Takes one out; if there are as many as may be, none. False: there was none. */
bool xb_fingerprints_take(struct xb_fingerprints *set, uint64_t hash);

#endif
