/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses and prefixes: text, order, keys. */
#include "entry.h"

#include <arpa/inet.h>
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "error.h"

static uint64_t leading_ones(unsigned int count)
{
	return count ? ~0ULL << (64 - count) : 0;
}

static void cut(struct xb_entry *entry, uint8_t length)
{
	entry->hi &= leading_ones(length < 64 ? length : 64);
	entry->lo &= leading_ones(length > 64 ? length - 64U : 0);
	entry->length = length;
}

static uint8_t kind_of(bool ipv4, uint8_t length)
{
	return (uint8_t)(!ipv4 ? XB_NET6 : length <= 24 ? XB_PREFIX4 : XB_HOST4);
}

static int parse_length(const char *text, uint8_t most, uint8_t *length)
{
	unsigned int value = 0;
	size_t digits = strspn(text, "0123456789");

	if (!digits || digits > 3 || text[digits] || (digits > 1 && text[0] == '0'))
		return -1;
	for (size_t i = 0; i < digits; i++)
		value = value * 10 + (unsigned int)(text[i] - '0');
	if (value > most)
		return -1;
	*length = (uint8_t)value;
	return 0;
}

int xb_entry_parse(const char *text, size_t size, struct xb_entry *entry, bool *host_bits)
{
	char copy[XB_ENTRY_TEXT];
	struct xb_entry whole;
	uint8_t bytes[16] = {0};
	char *slash;
	bool ipv4;

	if (!size || size >= sizeof(copy) || memchr(text, '\0', size))
		return xb_input_error("'%.*s%s' is not an address or prefix",
				      size > 60 ? 60 : (int)size, text, size > 60 ? "..." : "");
	memcpy(copy, text, size);
	copy[size] = '\0';
	slash = strchr(copy, '/');
	if (slash)
		*slash = '\0';
	ipv4 = !strchr(copy, ':');
	if (inet_pton(ipv4 ? AF_INET : AF_INET6, copy, bytes) != 1)
		return xb_input_error("'%.*s' is not an address or prefix", (int)size, text);
	memset(entry, 0, sizeof(*entry));
	memcpy(&entry->hi, bytes, 8);
	memcpy(&entry->lo, bytes + 8, 8);
	entry->hi = be64toh(entry->hi);
	entry->lo = be64toh(entry->lo);
	entry->length = ipv4 ? 32 : 128;
	if (slash && parse_length(slash + 1, entry->length, &entry->length))
		return xb_input_error("'%.*s': the prefix length must be 0 to %d", (int)size, text,
				      ipv4 ? 32 : 128);
	whole = *entry;
	cut(entry, entry->length);
	entry->kind = kind_of(ipv4, entry->length);
	if (host_bits)
		*host_bits = whole.hi != entry->hi || whole.lo != entry->lo;
	return 0;
}

const char *xb_entry_format(const struct xb_entry *entry, char out[XB_ENTRY_TEXT])
{
	uint64_t parts[2] = {htobe64(entry->hi), htobe64(entry->lo)};
	size_t used;

	inet_ntop(xb_entry_is_ipv4(entry) ? AF_INET : AF_INET6, parts, out, XB_ENTRY_TEXT);
	used = strlen(out);
	if (entry->length != xb_entry_full_length(entry))
		snprintf(out + used, XB_ENTRY_TEXT - used, "/%u", entry->length);
	return out;
}

int xb_entry_compare(const struct xb_entry *a, const struct xb_entry *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->hi != b->hi)
		return a->hi < b->hi ? -1 : 1;
	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	return (a->length > b->length) - (a->length < b->length);
}

struct xb_entry xb_entry_allow(const struct xb_entry *entry)
{
	struct xb_entry allow = *entry;

	allow.kind = xb_entry_is_ipv4(entry) ? XB_ALLOW4 : XB_ALLOW6;
	return allow;
}

struct xb_entry xb_entry_covering(const struct xb_entry *entry, uint8_t length)
{
	struct xb_entry covering = *entry;

	cut(&covering, length);
	if (!xb_entry_is_allow(entry))
		covering.kind = kind_of(xb_entry_is_ipv4(entry), length);
	return covering;
}

bool xb_entry_inside(const struct xb_entry *outer, const struct xb_entry *inner)
{
	struct xb_entry covering;

	if (xb_entry_is_ipv4(outer) != xb_entry_is_ipv4(inner) || inner->length < outer->length)
		return false;
	covering = xb_entry_covering(inner, outer->length);
	return covering.hi == outer->hi && covering.lo == outer->lo;
}

size_t xb_entry_encode(const struct xb_entry *entry, uint8_t key[XB_ENTRY_KEY_BYTES])
{
	uint64_t hi = htobe64(entry->hi), lo = htobe64(entry->lo);
	size_t bytes = xb_entry_is_ipv4(entry) ? 4 : 16;

	key[0] = entry->kind;
	if (bytes == 4) {
		memcpy(key + 1, &hi, 4);
	} else {
		memcpy(key + 1, &hi, 8);
		memcpy(key + 9, &lo, 8);
	}
	key[1 + bytes] = entry->length;
	return bytes + 2;
}

size_t xb_entry_decode(const uint8_t *key, size_t size, struct xb_entry *entry)
{
	size_t bytes;

	memset(entry, 0, sizeof(*entry));
	if (size < 6 || key[0] < XB_PREFIX4 || key[0] > XB_ALLOW6)
		return 0;
	entry->kind = key[0];
	bytes = xb_entry_is_ipv4(entry) ? 4 : 16;
	if (size < bytes + 2)
		return 0;
	memcpy(&entry->hi, key + 1, bytes == 4 ? 4 : 8);
	if (bytes == 16)
		memcpy(&entry->lo, key + 9, 8);
	entry->hi = be64toh(entry->hi);
	entry->lo = be64toh(entry->lo);
	entry->length = key[1 + bytes];
	return bytes + 2;
}

/* Byte number `digit` of the sort key, least significant first: length, lo, hi, kind. */
static inline uint8_t sort_digit(const struct xb_entry *entry, unsigned int digit)
{
	if (digit == 0)
		return entry->length;
	if (digit <= 8)
		return (uint8_t)(entry->lo >> (8 * (digit - 1)));
	if (digit <= 16)
		return (uint8_t)(entry->hi >> (8 * (digit - 9)));
	return entry->kind;
}

#define SORT_DIGITS 18

/* Least significant digit radix sort; digits that are the same in all records are passed over. */
void xb_entry_sort(void *records, size_t count, size_t size, void *scratch)
{
	static _Thread_local size_t histogram[SORT_DIGITS][256];
	uint8_t *from = records, *to = scratch;

	memset(histogram, 0, sizeof(histogram));
	for (size_t i = 0; i < count; i++)
		for (unsigned int digit = 0; digit < SORT_DIGITS; digit++)
			histogram[digit][sort_digit((void *)(from + i * size), digit)]++;
	for (unsigned int digit = 0; count && digit < SORT_DIGITS; digit++) {
		size_t *place = histogram[digit], start = 0;
		uint8_t *swap;

		if (place[sort_digit((void *)from, digit)] == count)
			continue;
		for (unsigned int value = 0; value < 256; value++) {
			size_t held = place[value];

			place[value] = start;
			start += held;
		}
		for (size_t i = 0; i < count; i++) {
			const uint8_t *record = from + i * size;

			memcpy(to + place[sort_digit((const void *)record, digit)]++ * size, record,
			       size);
		}
		swap = from;
		from = to;
		to = swap;
	}
	if (from != records)
		memcpy(records, from, count * size);
}
