/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A multiset digest of memberships: the sum, modulo 2^128, of a hash of each, so that it can be
 * kept up with every change, in any order (Clarke, Devadas, van Dijk, Gassend, Suh: Incremental
 * Multiset Hash Functions, 2003). All hosts of a fleet compute the same; it shows accidents, since
 * the hash has no secret.
 */
#ifndef XB_STORE_DIGEST_H
#define XB_STORE_DIGEST_H

#include "model/entry.h"

/* 128 bits, low half first. All zero: of nothing. */
struct xb_digest {
	uint64_t half[2];
};

/* Adds a membership to a digest, or takes it out (one: 1 or -1). */
void xb_digest_count(struct xb_digest *digest, const struct xb_entry *entry, uint32_t expires,
		     const char *comment, size_t comment_size, int one);

static inline bool xb_digest_equals(const struct xb_digest *a, const struct xb_digest *b)
{
	return a->half[0] == b->half[0] && a->half[1] == b->half[1];
}

/* Adds another digest, or takes it out (one: 1 or -1). */
void xb_digest_add(struct xb_digest *digest, const struct xb_digest *other, int one);

#endif
