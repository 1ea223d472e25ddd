/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What can be listed, excepted or allowed: an address, a prefix or a domain, its text, its order,
 * and its key in the store. */
#ifndef XB_MODEL_ENTRY_H
#define XB_MODEL_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/name.h"

/* The numbers are the first byte of the key in the store; each kind is a key range of its own. */
enum xb_kind {
	XB_PREFIX4 = 1,	    /* IPv4 /0 to /24 */
	XB_HOST4 = 2,	    /* IPv4 /25 to /32 */
	XB_NET6 = 3,	    /* IPv6 /0 to /128 */
	XB_ALLOW4 = 4,	    /* on the allowlist: IPv4 /0 to /32 */
	XB_ALLOW6 = 5,	    /* on the allowlist: IPv6 /0 to /128 */
	XB_NAME = 6,	    /* a domain */
	XB_EXCEPT_NAME = 7, /* a domain that its list lets pass, whatever wider ones it has */
	XB_ALLOW_NAME = 8,
};

/*
 * An address: the network, left-aligned in hi:lo, host byte order, bits beyond the length zero;
 * IPv4 fills the top 32. A domain: `length` bytes of its form, see model/name.h; whoever holds the
 * entry says who owns them.
 */
struct xb_entry {
	union {
		struct {
			uint64_t hi, lo;
		};
		const uint8_t *name;
	};
	uint8_t kind;
	uint8_t length;
	uint32_t line; /* where it was read, 0: nowhere; no part of what it is */
};
_Static_assert(sizeof(struct xb_entry) == 24, "millions of them are in memory");

#define XB_ENTRY_TEXT	     257 /* bytes, terminator included */
#define XB_ADDRESS_KEY_BYTES 18	 /* at most */
#define XB_ENTRY_KEY_BYTES   256 /* at most */

/*
 * Parses ADDRESS, ADDRESS/LENGTH or DOMAIN of size bytes. ::ffff:192.0.2.1 becomes 192.0.2.1, and
 * so do prefixes of /96 and longer. name: room for the form of a domain, to which the entry then
 * points; NULL: only addresses are taken. *host_bits (may be NULL): whether bits behind the length
 * were cut off.
 */
int xb_entry_parse(const char *text, size_t size, uint8_t name[XB_NAME_BYTES],
		   struct xb_entry *entry, bool *host_bits);

/* The same for what can stand in a list: `!DOMAIN` is an exception. */
int xb_entry_parse_listed(const char *text, size_t size, uint8_t name[XB_NAME_BYTES],
			  struct xb_entry *entry, bool *host_bits);

/* Whether it has the form ::ffff:192.0.2.1, which no packet has. */
bool xb_entry_is_mapped(const struct xb_entry *entry);

/* Writes the canonical text (no length for single addresses) and returns out. */
const char *xb_entry_format(const struct xb_entry *entry, char out[XB_ENTRY_TEXT]);

/* Order of the store: kind, then address and length, or the form of the name. */
int xb_entry_compare(const struct xb_entry *a, const struct xb_entry *b);

static inline bool xb_entry_is_name(const struct xb_entry *entry)
{
	return entry->kind >= XB_NAME;
}

/* Whether the lists, each by itself, decide by it about names. */
static inline bool xb_entry_is_rule(const struct xb_entry *entry)
{
	return entry->kind == XB_NAME || entry->kind == XB_EXCEPT_NAME;
}

static inline bool xb_entry_is_ipv6(const struct xb_entry *entry)
{
	return entry->kind == XB_NET6 || entry->kind == XB_ALLOW6;
}

static inline bool xb_entry_is_ipv4(const struct xb_entry *entry)
{
	return !xb_entry_is_name(entry) && !xb_entry_is_ipv6(entry);
}

static inline bool xb_entry_is_allow(const struct xb_entry *entry)
{
	return entry->kind == XB_ALLOW4 || entry->kind == XB_ALLOW6 || entry->kind == XB_ALLOW_NAME;
}

/* Whether packets come from it, as the filter judges them. */
static inline bool xb_entry_is_source(const struct xb_entry *entry)
{
	return !xb_entry_is_name(entry) && !xb_entry_is_allow(entry);
}

/* The same address, prefix or domain, as an entry of the allowlist. */
struct xb_entry xb_entry_allow(const struct xb_entry *entry);

/* The same domain, as an entry of another kind of names. */
static inline struct xb_entry xb_entry_as(const struct xb_entry *name, enum xb_kind kind)
{
	struct xb_entry entry = *name;

	entry.kind = (uint8_t)kind;
	return entry;
}

/* The address as IPv4, host byte order. */
static inline uint32_t xb_entry_ipv4(const struct xb_entry *entry)
{
	return (uint32_t)(entry->hi >> 32);
}

static inline uint8_t xb_entry_full_length(const struct xb_entry *entry)
{
	return xb_entry_is_ipv4(entry) ? 32 : 128;
}

/* Whether its kind, one of addresses, has the length. */
static inline bool xb_entry_length_ok(const struct xb_entry *entry)
{
	uint8_t least = entry->kind == XB_HOST4 ? 25 : 0;
	uint8_t most = entry->kind == XB_PREFIX4 ? 24 : xb_entry_full_length(entry);

	return entry->length >= least && entry->length <= most;
}

/* How many keys the entry has in its Bloom filter: up to 128 for an expanded XB_HOST4, 0 for
 * kinds that have no filter. */
static inline uint32_t xb_entry_keys(const struct xb_entry *entry)
{
	return entry->kind == XB_HOST4 ? 1U << (32 - entry->length)
				       : entry->kind == XB_NET6 || entry->kind == XB_NAME;
}

/* The entry of the given length, at most its own, that covers it. Addresses only. */
struct xb_entry xb_entry_covering(const struct xb_entry *entry, uint8_t length);

/* Widens the entry to the next one that covers it; false: there is none. A name stays where it
 * is in memory. */
bool xb_entry_widen(struct xb_entry *entry);

/* Whether inner lies within outer, or is the same; both of one family. */
bool xb_entry_inside(const struct xb_entry *outer, const struct xb_entry *inner);

/* Writes the key and returns its size; keys compare as entries do. */
size_t xb_entry_encode(const struct xb_entry *entry, uint8_t key[XB_ENTRY_KEY_BYTES]);

/* Returns the size taken, 0 if this is no key: of no kind, of a length that its kind has not, or
 * cut short. A name is not copied: it stays in the key. */
size_t xb_entry_decode(const uint8_t *key, size_t size, struct xb_entry *entry);

/*
 * Sorts records of the given size that begin with a struct xb_entry; the sort is stable. array: the
 * address of the pointer to the records, which must be allocated; afterwards they may be elsewhere,
 * without room for more. -EIO without memory, or -EINVAL for 2^32 records, with a message; all
 * records are then still there, perhaps in another order.
 */
int xb_entry_sort(void *array, size_t count, size_t size);

/* Does the same with words of which the upper half is an IPv4 address (host byte order), by which
 * they are sorted. */
int xb_ipv4_sort(uint64_t **words, size_t count);

#endif
