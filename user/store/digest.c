/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hash is SipHash-2-4 with 128 bits of output (Aumasson, Bernstein 2012) under a fixed key, of:
 * expiry, 4 bytes, little-endian; size of the entry's key, 1 byte (256 as 0); the key; the
 * comment. */
#include "store/digest.h"

#include <endian.h>
#include <string.h>

#include "model/comment.h"

struct sip {
	uint64_t v0, v1, v2, v3;
};

static uint64_t rotated(uint64_t word, unsigned int bits)
{
	return word << bits | word >> (64 - bits);
}

static void mix(struct sip *sip)
{
	sip->v0 += sip->v1;
	sip->v1 = rotated(sip->v1, 13) ^ sip->v0;
	sip->v0 = rotated(sip->v0, 32);
	sip->v2 += sip->v3;
	sip->v3 = rotated(sip->v3, 16) ^ sip->v2;
	sip->v0 += sip->v3;
	sip->v3 = rotated(sip->v3, 21) ^ sip->v0;
	sip->v2 += sip->v1;
	sip->v1 = rotated(sip->v1, 17) ^ sip->v2;
	sip->v2 = rotated(sip->v2, 32);
}

static void take(struct sip *sip, uint64_t word)
{
	sip->v3 ^= word;
	mix(sip);
	mix(sip);
	sip->v0 ^= word;
}

static uint64_t half_of(struct sip *sip)
{
	for (int i = 0; i < 4; i++)
		mix(sip);
	return sip->v0 ^ sip->v1 ^ sip->v2 ^ sip->v3;
}

/* "somepseudorandomlygeneratedbytes", as in SipHash, and the key 00 01 02 ... 0f. */
static const struct sip start = {
	0x736f6d6570736575 ^ 0x0706050403020100,
	0x646f72616e646f6d ^ 0x0f0e0d0c0b0a0908 ^ 0xee,
	0x6c7967656e657261 ^ 0x0706050403020100,
	0x7465646279746573 ^ 0x0f0e0d0c0b0a0908,
};

static struct xb_digest hash(const uint8_t *bytes, size_t size)
{
	struct sip sip = start;
	uint64_t word, last = (uint64_t)size << 56;
	struct xb_digest digest;

	for (; size >= sizeof(word); bytes += sizeof(word), size -= sizeof(word)) {
		memcpy(&word, bytes, sizeof(word));
		take(&sip, le64toh(word));
	}
	word = 0;
	memcpy(&word, bytes, size);
	take(&sip, last | le64toh(word));
	sip.v2 ^= 0xee;
	digest.half[0] = half_of(&sip);
	sip.v1 ^= 0xdd;
	digest.half[1] = half_of(&sip);
	return digest;
}

void xb_digest_add(struct xb_digest *digest, const struct xb_digest *other, int one)
{
	unsigned __int128 sum = (unsigned __int128)digest->half[1] << 64 | digest->half[0];
	unsigned __int128 of = (unsigned __int128)other->half[1] << 64 | other->half[0];

	sum = one < 0 ? sum - of : sum + of;
	digest->half[0] = (uint64_t)sum;
	digest->half[1] = (uint64_t)(sum >> 64);
}

void xb_digest_count(struct xb_digest *digest, const struct xb_entry *entry, uint32_t expires,
		     const char *comment, size_t comment_size, int one)
{
	uint8_t bytes[sizeof(expires) + 1 + XB_ENTRY_KEY_BYTES + XB_COMMENT_MAX], *key = bytes + 5;
	uint32_t until = htole32(expires);
	struct xb_digest of;
	size_t size = xb_entry_encode(entry, key);

	if (comment_size > XB_COMMENT_MAX)
		comment_size = XB_COMMENT_MAX;
	memcpy(bytes, &until, sizeof(until));
	bytes[4] = (uint8_t)size;
	if (comment_size)
		memcpy(key + size, comment, comment_size);
	of = hash(bytes, 5 + size + comment_size);
	xb_digest_add(digest, &of, one);
}
