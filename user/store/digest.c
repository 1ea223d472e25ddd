/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hash is SipHash-2-4 with 128 bits of output under a fixed key, of:
 * expiry, 4 bytes, little-endian; size of the entry's key, 1 byte (256 as 0); the key; the
 * comment. */
#include "store/digest.h"

#include <endian.h>
#include <string.h>

#include "base/siphash.h"
#include "model/comment.h"

/* 00 01 02 ... 0f. */
static const uint64_t key_of_all[2] = {0x0706050403020100, 0x0f0e0d0c0b0a0908};

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
	struct xb_siphash hash;
	struct xb_digest of = {0};
	size_t size = xb_entry_encode(entry, key);

	if (comment_size > XB_COMMENT_MAX)
		comment_size = XB_COMMENT_MAX;
	memcpy(bytes, &until, sizeof(until));
	bytes[4] = (uint8_t)size;
	if (comment_size)
		memcpy(key + size, comment, comment_size);
	xb_siphash_begin(&hash, key_of_all);
	xb_siphash_add(&hash, bytes, 5 + size + comment_size);
	xb_siphash_end(&hash, of.half);
	xb_digest_add(digest, &of, one);
}
