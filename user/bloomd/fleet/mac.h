/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The keyed digest of the fleet's log and snapshots: HMAC-SHA-256 (RFC 2104, FIPS 180-4), cut to 16
 * bytes. */
#ifndef XB_BLOOMD_MAC_H
#define XB_BLOOMD_MAC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAC_BYTES 16
#define MAC_KEY	  32

/* The secret of the fleet; all zero without one. */
struct mac_key {
	uint8_t bytes[MAC_KEY];
};

/* A part of what is digested. What digests with one key begins with a part of its own, so that none
 * can stand for another. */
struct mac_part {
	const void *bytes;
	size_t size;
};

/* Of the parts one after the other. Returns 0 or an error with its message. */
int mac_of(const struct mac_key *key, const struct mac_part *parts, size_t count,
	   uint8_t mac[MAC_BYTES]);

/* Takes the same time wherever they differ. */
bool mac_equal(const uint8_t a[MAC_BYTES], const uint8_t b[MAC_BYTES]);

/* Derives the key from the content of a key file: SHA-256 of it, without line ends behind it. An
 * empty one is an input error. */
int mac_key_of(const void *secret, size_t size, struct mac_key *key);

#endif
