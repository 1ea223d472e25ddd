/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/siphash.h"

#include <endian.h>
#include <string.h>

#define WORD sizeof(uint64_t)

static inline uint64_t rotated(uint64_t word, unsigned int bits)
{
	return word << bits | word >> (64 - bits);
}

static inline void mix(struct xb_siphash *hash)
{
	hash->v0 += hash->v1;
	hash->v1 = rotated(hash->v1, 13) ^ hash->v0;
	hash->v0 = rotated(hash->v0, 32);
	hash->v2 += hash->v3;
	hash->v3 = rotated(hash->v3, 16) ^ hash->v2;
	hash->v0 += hash->v3;
	hash->v3 = rotated(hash->v3, 21) ^ hash->v0;
	hash->v2 += hash->v1;
	hash->v1 = rotated(hash->v1, 17) ^ hash->v2;
	hash->v2 = rotated(hash->v2, 32);
}

static inline void take(struct xb_siphash *hash, uint64_t word)
{
	hash->v3 ^= word;
	mix(hash);
	mix(hash);
	hash->v0 ^= word;
}

static uint64_t half_of(struct xb_siphash *hash)
{
	for (int i = 0; i < 4; i++)
		mix(hash);
	return hash->v0 ^ hash->v1 ^ hash->v2 ^ hash->v3;
}

/* "somepseudorandomlygeneratedbytes", as in SipHash. */
void xb_siphash_begin(struct xb_siphash *hash, const uint64_t key[2])
{
	*hash = (struct xb_siphash){.v0 = 0x736f6d6570736575 ^ key[0],
				    .v1 = 0x646f72616e646f6d ^ key[1] ^ 0xee,
				    .v2 = 0x6c7967656e657261 ^ key[0],
				    .v3 = 0x7465646279746573 ^ key[1]};
}

static uint64_t word_at(const uint8_t *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, WORD);
	return le64toh(word);
}

void xb_siphash_add(struct xb_siphash *hash, const void *bytes, size_t size)
{
	struct xb_siphash now = *hash; /* in registers */
	const uint8_t *at = bytes, *end = at + size;
	size_t held = hash->size % WORD;

	now.size += size;
	if (held && held + size >= WORD) {
		memcpy(now.held + held, at, WORD - held);
		at += WORD - held;
		held = 0;
		take(&now, word_at(now.held));
	}
	if (!held)
		for (; (size_t)(end - at) >= WORD; at += WORD)
			take(&now, word_at(at));
	if (at < end)
		memcpy(now.held + held, at, (size_t)(end - at));
	*hash = now;
}

void xb_siphash_end(struct xb_siphash *hash, uint64_t half[2])
{
	size_t held = hash->size % WORD;

	memset(hash->held + held, 0, WORD - held);
	take(hash, word_at(hash->held) | hash->size << 56);
	hash->v2 ^= 0xee;
	half[0] = half_of(hash);
	hash->v1 ^= 0xdd;
	half[1] = half_of(hash);
}
