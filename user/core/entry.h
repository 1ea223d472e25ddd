/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What can be listed or allowed: an address or a prefix, its text, its order, and its key in the
 * store. */
#ifndef XB_CORE_ENTRY_H
#define XB_CORE_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers are the first byte of the key in the store; each kind is a key range of its own. */
enum xb_kind {
	XB_PREFIX4 = 1, /* IPv4 /0 to /24 */
	XB_HOST4 = 2,	/* IPv4 /25 to /32 */
	XB_NET6 = 3,	/* IPv6 /0 to /128 */
	XB_ALLOW4 = 4,	/* on the allowlist: IPv4 /0 to /32 */
	XB_ALLOW6 = 5,	/* on the allowlist: IPv6 /0 to /128 */
};

/* The network address is left-aligned in hi:lo, host byte order, bits beyond the length zero. IPv4
 * fills the top 32. */
struct xb_entry {
	uint64_t hi, lo;
	uint8_t kind;
	uint8_t length;
};

#define XB_ENTRY_TEXT	   64 /* bytes, terminator included */
#define XB_ENTRY_KEY_BYTES 18 /* at most */

/* ADDRESS or ADDRESS/LENGTH of size bytes. *host_bits (may be NULL) tells whether bits behind the
 * length were cut off. */
int xb_entry_parse(const char *text, size_t size, struct xb_entry *entry, bool *host_bits);

/* Writes the canonical text (no length for single addresses) and returns out. */
const char *xb_entry_format(const struct xb_entry *entry, char out[XB_ENTRY_TEXT]);

/* Order of the store: kind, address, length. */
int xb_entry_compare(const struct xb_entry *a, const struct xb_entry *b);

static inline bool xb_entry_is_ipv4(const struct xb_entry *entry)
{
	return entry->kind != XB_NET6 && entry->kind != XB_ALLOW6;
}

static inline bool xb_entry_is_allow(const struct xb_entry *entry)
{
	return entry->kind >= XB_ALLOW4;
}

/* The same address or prefix, as an entry of the allowlist. */
struct xb_entry xb_entry_allow(const struct xb_entry *entry);

/* The address as IPv4, host byte order. */
static inline uint32_t xb_entry_ipv4(const struct xb_entry *entry)
{
	return (uint32_t)(entry->hi >> 32);
}

static inline uint8_t xb_entry_full_length(const struct xb_entry *entry)
{
	return xb_entry_is_ipv4(entry) ? 32 : 128;
}

/* Keys the entry takes in its Bloom filter: up to 128 for an expanded XB_HOST4, 0 for what has
 * none.
 */
static inline uint32_t xb_entry_keys(const struct xb_entry *entry)
{
	return entry->kind == XB_HOST4 ? 1U << (32 - entry->length) : entry->kind == XB_NET6;
}

/* The entry of the given length, at most its own, that covers it. */
struct xb_entry xb_entry_covering(const struct xb_entry *entry, uint8_t length);

/* The first entry behind all that lie inside this one, for scans in store order within one kind. */
bool xb_entry_inside(const struct xb_entry *outer, const struct xb_entry *inner);

/* Writes the key and returns its size; keys compare as entries do. */
size_t xb_entry_encode(const struct xb_entry *entry, uint8_t key[XB_ENTRY_KEY_BYTES]);

/* Returns the size taken, 0 if this is no key. */
size_t xb_entry_decode(const uint8_t *key, size_t size, struct xb_entry *entry);

/* Sorts records of the given size that begin with a struct xb_entry, stable. scratch: as large as
 * records. */
void xb_entry_sort(void *records, size_t count, size_t size, void *scratch);

#endif
