/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries: text, order, keys. */
#include "model/entry.h"

#include <arpa/inet.h>
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/program.h"
#include "base/text.h"
#include "model/nearmiss.h"

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

#define ADDRESS_TEXT 64
#define SHOWN	     60

/* What only addresses are written with. */
static bool looks_like_address(const char *text, size_t size)
{
	size_t digits = 0;

	for (size_t i = 0; i < size; i++) {
		if (text[i] == ':' || text[i] == '/')
			return true;
		digits += (text[i] >= '0' && text[i] <= '9') || text[i] == '.';
	}
	return digits == size;
}

static int no_entry(const char *text, size_t size, bool names)
{
	char shown[SHOWN + 1];

	xb_utf8_show(text, size, shown, sizeof(shown));
	return xb_input_error("'%s%s' is not an address%s", shown, size > SHOWN ? "..." : "",
			      names ? ", prefix or domain" : " or prefix");
}

/* ::ffff:a.b.c.d (RFC 4291, section 2.5.5.2) is how programs write an IPv4 address on an IPv6
 * socket: no packet has it, so what is meant is the IPv4 address. */
static bool is_mapped(const struct xb_entry *entry)
{
	return entry->length >= 96 && !entry->hi && entry->lo >> 32 == 0xffff;
}

bool xb_entry_is_mapped(const struct xb_entry *entry)
{
	return xb_entry_is_ipv6(entry) && is_mapped(entry);
}

static void unmap(struct xb_entry *entry)
{
	entry->hi = entry->lo << 32;
	entry->lo = 0;
	entry->length = (uint8_t)(entry->length - 96);
}

static int parse_address(const char *text, size_t size, bool names, struct xb_entry *entry,
			 bool *host_bits)
{
	char copy[ADDRESS_TEXT];
	struct xb_entry whole;
	uint8_t bytes[16] = {0};
	char *slash;
	bool ipv4;

	if (!size || size >= sizeof(copy) || memchr(text, '\0', size))
		return no_entry(text, size, names);
	memcpy(copy, text, size);
	copy[size] = '\0';
	slash = strchr(copy, '/');
	if (slash)
		*slash = '\0';
	ipv4 = !strchr(copy, ':');
	if (inet_pton(ipv4 ? AF_INET : AF_INET6, copy, bytes) != 1)
		return no_entry(text, size, names);
	memset(entry, 0, sizeof(*entry));
	memcpy(&entry->hi, bytes, 8);
	memcpy(&entry->lo, bytes + 8, 8);
	entry->hi = be64toh(entry->hi);
	entry->lo = be64toh(entry->lo);
	entry->length = ipv4 ? 32 : 128;
	if (slash && parse_length(slash + 1, entry->length, &entry->length))
		return xb_input_error("'%.*s': the prefix length must be 0 to %d", (int)size, text,
				      ipv4 ? 32 : 128);
	if (!ipv4 && is_mapped(entry)) {
		unmap(entry);
		ipv4 = true;
	}
	whole = *entry;
	cut(entry, entry->length);
	entry->kind = kind_of(ipv4, entry->length);
	if (host_bits)
		*host_bits = whole.hi != entry->hi || whole.lo != entry->lo;
	return 0;
}

int xb_entry_parse(const char *text, size_t size, uint8_t name[XB_NAME_BYTES],
		   struct xb_entry *entry, bool *host_bits)
{
	int error;

	if (!name || looks_like_address(text, size)) {
		error = parse_address(text, size, name, entry, host_bits);
	} else {
		*entry = (struct xb_entry){.kind = XB_NAME, .name = name};
		if (host_bits)
			*host_bits = false;
		error = xb_name_parse(text, size, name, &entry->length);
	}
	if (error == -EINVAL)
		xb_near_miss_explain(text, size, name);
	return error;
}

static int no_exception(const char *text, size_t size)
{
	char shown[SHOWN + 1];

	xb_utf8_show(text, size, shown, sizeof(shown));
	return xb_input_error(
		"'%s%s': lists except domains alone; an address that is to pass belongs "
		"on the allowlist%s",
		shown, size > SHOWN ? "..." : "", xb_advice(XB_ADVICE_ALLOW));
}

int xb_entry_parse_listed(const char *text, size_t size, uint8_t name[XB_NAME_BYTES],
			  struct xb_entry *entry, bool *host_bits)
{
	bool excepts = size && *text == '!';
	int error;

	if (excepts && looks_like_address(text + 1, size - 1))
		return no_exception(text, size);
	error = xb_entry_parse(text + excepts, size - excepts, name, entry, host_bits);
	if (!error && excepts)
		entry->kind = XB_EXCEPT_NAME;
	return error;
}

const char *xb_entry_format(const struct xb_entry *entry, char out[XB_ENTRY_TEXT])
{
	uint64_t parts[2];
	size_t used;

	if (xb_entry_is_name(entry)) {
		used = entry->kind == XB_EXCEPT_NAME;
		out[0] = '!';
		xb_name_format(entry->name, entry->length, out + used);
		return out;
	}
	parts[0] = htobe64(entry->hi);
	parts[1] = htobe64(entry->lo);
	inet_ntop(xb_entry_is_ipv4(entry) ? AF_INET : AF_INET6, parts, out, XB_ENTRY_TEXT);
	used = strlen(out);
	if (entry->length != xb_entry_full_length(entry))
		snprintf(out + used, XB_ENTRY_TEXT - used, "/%u", entry->length);
	return out;
}

static int compare_names(const struct xb_entry *a, const struct xb_entry *b)
{
	int order = memcmp(a->name, b->name, a->length < b->length ? a->length : b->length);

	return order ? order : (a->length > b->length) - (a->length < b->length);
}

int xb_entry_compare(const struct xb_entry *a, const struct xb_entry *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (xb_entry_is_name(a))
		return compare_names(a, b);
	if (a->hi != b->hi)
		return a->hi < b->hi ? -1 : 1;
	if (a->lo != b->lo)
		return a->lo < b->lo ? -1 : 1;
	return (a->length > b->length) - (a->length < b->length);
}

struct xb_entry xb_entry_allow(const struct xb_entry *entry)
{
	struct xb_entry allow = *entry;

	allow.kind = xb_entry_is_name(entry)   ? XB_ALLOW_NAME
		     : xb_entry_is_ipv6(entry) ? XB_ALLOW6
					       : XB_ALLOW4;
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

bool xb_entry_widen(struct xb_entry *entry)
{
	if (xb_entry_is_name(entry)) {
		entry->length = xb_name_wider(entry->name, entry->length);
		return entry->length;
	}
	if (!entry->length)
		return false;
	*entry = xb_entry_covering(entry, (uint8_t)(entry->length - 1));
	return true;
}

bool xb_entry_inside(const struct xb_entry *outer, const struct xb_entry *inner)
{
	struct xb_entry covering;

	if (xb_entry_is_ipv4(outer) != xb_entry_is_ipv4(inner) ||
	    xb_entry_is_name(outer) != xb_entry_is_name(inner) || inner->length < outer->length)
		return false;
	if (xb_entry_is_name(outer))
		return !memcmp(outer->name, inner->name, outer->length);
	covering = xb_entry_covering(inner, outer->length);
	return covering.hi == outer->hi && covering.lo == outer->lo;
}

static size_t address_bytes(const struct xb_entry *entry)
{
	return xb_entry_is_ipv6(entry) ? 16 : 4;
}

size_t xb_entry_encode(const struct xb_entry *entry, uint8_t key[XB_ENTRY_KEY_BYTES])
{
	size_t bytes = address_bytes(entry);
	uint64_t parts[2];

	key[0] = entry->kind;
	if (xb_entry_is_name(entry)) {
		memcpy(key + 1, entry->name, entry->length);
		return entry->length + 1U;
	}
	parts[0] = htobe64(entry->hi);
	parts[1] = htobe64(entry->lo);
	memcpy(key + 1, parts, bytes);
	key[1 + bytes] = entry->length;
	return bytes + 2;
}

/* A name ends where its labels end: with one of no bytes, or with the key. */
static size_t decode_name(const uint8_t *key, size_t size, struct xb_entry *entry)
{
	if (size < 2 || size > XB_ENTRY_KEY_BYTES)
		return 0;
	for (size_t at = 1; at < size; at += key[at] + 1U)
		if (key[at] >= size - at || (!key[at] && (at == 1 || at + 1 < size)))
			return 0;
	entry->name = key + 1;
	entry->length = (uint8_t)(size - 1);
	return size;
}

static void decode_address(const uint8_t *key, size_t bytes, struct xb_entry *entry)
{
	uint32_t ipv4;
	uint64_t parts[2];

	if (bytes == sizeof(ipv4)) {
		memcpy(&ipv4, key, sizeof(ipv4));
		entry->hi = (uint64_t)be32toh(ipv4) << 32;
		return;
	}
	memcpy(parts, key, sizeof(parts));
	entry->hi = be64toh(parts[0]);
	entry->lo = be64toh(parts[1]);
}

size_t xb_entry_decode(const uint8_t *key, size_t size, struct xb_entry *entry)
{
	size_t bytes;

	*entry = (struct xb_entry){0};
	if (!size || key[0] < XB_PREFIX4 || key[0] > XB_ALLOW_NAME)
		return 0;
	entry->kind = key[0];
	if (xb_entry_is_name(entry))
		return decode_name(key, size, entry);
	bytes = address_bytes(entry);
	if (size < bytes + 2)
		return 0;
	decode_address(key + 1, bytes, entry);
	entry->length = key[1 + bytes];
	return xb_entry_length_ok(entry) ? bytes + 2 : 0;
}
