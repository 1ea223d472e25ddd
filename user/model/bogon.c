/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What IANA's special-purpose address registries (RFC 6890, RFC 8190) call not globally reachable,
 * with multicast, and deprecated kinds of addresses. Blocks for which the registries leave it open
 * may carry traffic and are not here: 192.88.99.0/24 (6to4 relays), 2001::/32 (Teredo) and
 * 2002::/16 (6to4).
 */
#include "model/bogon.h"

struct range {
	uint64_t hi, lo;
	uint8_t length;	 /* not 0 */
	const char *why; /* NULL: globally reachable inside a range that is not */
};

#define TEXT(value)    #value
#define TEXT_OF(value) TEXT(value)

#define IPV4(a, b, c, d, bits, reason)                                                             \
	{                                                                                          \
		.hi = (uint64_t)((uint32_t)(a) << 24 | (b) << 16 | (c) << 8 | (d)) << 32,          \
		.length = (bits), .why = (reason)                                                  \
	}

#define IPV6(a, b, c, d, low, bits, reason)                                                        \
	{                                                                                          \
		.hi = (uint64_t)(a) << 48 | (uint64_t)(b) << 32 | (uint64_t)(c) << 16 | (d),       \
		.lo = (low), .length = (bits), .why = (reason)                                     \
	}

/* By address, the outer range first, so that the last one that holds an entry is the narrowest. */
static const struct range ipv4[] = {
	IPV4(0, 0, 0, 0, 8, "this network (RFC 791)"),
	IPV4(10, 0, 0, 0, 8, "private (RFC 1918)"),
	IPV4(100, 64, 0, 0, 10, "carrier-grade NAT (RFC 6598)"),
	IPV4(127, 0, 0, 0, 8, "loopback (RFC 1122)"),
	IPV4(169, 254, 0, 0, 16, "link-local (RFC 3927)"),
	IPV4(172, 16, 0, 0, 12, "private (RFC 1918)"),
	IPV4(192, 0, 0, 0, 24, "protocol assignments (RFC 6890)"),
	IPV4(192, 0, 0, 9, 32, NULL),  /* PCP anycast, RFC 7723 */
	IPV4(192, 0, 0, 10, 32, NULL), /* TURN anycast, RFC 8155 */
	IPV4(192, 0, 2, 0, 24, "documentation (RFC 5737)"),
	IPV4(192, 168, 0, 0, 16, "private (RFC 1918)"),
	IPV4(198, 18, 0, 0, 15, "benchmarking (RFC 2544)"),
	IPV4(198, 51, 100, 0, 24, "documentation (RFC 5737)"),
	IPV4(203, 0, 113, 0, 24, "documentation (RFC 5737)"),
	IPV4(224, 0, 0, 0, 4, "multicast (RFC 5771)"),
	IPV4(240, 0, 0, 0, 4, "reserved (RFC 1112)"),
	IPV4(255, 255, 255, 255, 32, "broadcast (RFC 919)"),
};

static const struct range ipv6[] = {
	IPV6(0, 0, 0, 0, 0, 96, "IPv4-compatible, deprecated (RFC 4291)"),
	IPV6(0, 0, 0, 0, 0, 128, "unspecified (RFC 4291)"),
	IPV6(0, 0, 0, 0, 1, 128, "loopback (RFC 4291)"),
	IPV6(0x64, 0xff9b, 1, 0, 0, 48, "local NAT64 (RFC 8215)"),
	IPV6(0x100, 0, 0, 0, 0, 64, "discard-only (RFC 6666)"),
	IPV6(0x100, 0, 0, 1, 0, 64, "dummy prefix (RFC 9780)"),
	IPV6(0x2001, 0, 0, 0, 0, 23, "protocol assignments (RFC 2928)"),
	IPV6(0x2001, 0, 0, 0, 0, 32, NULL),  /* Teredo, RFC 4380 */
	IPV6(0x2001, 1, 0, 0, 1, 128, NULL), /* PCP anycast, RFC 7723 */
	IPV6(0x2001, 1, 0, 0, 2, 128, NULL), /* TURN anycast, RFC 8155 */
	IPV6(0x2001, 1, 0, 0, 3, 128, NULL), /* DNS-SD SRP anycast, RFC 9665 */
	IPV6(0x2001, 2, 0, 0, 0, 48, "benchmarking (RFC 5180)"),
	IPV6(0x2001, 3, 0, 0, 0, 32, NULL),	/* AMT, RFC 7450 */
	IPV6(0x2001, 4, 0x112, 0, 0, 48, NULL), /* AS112, RFC 7535 */
	IPV6(0x2001, 0x10, 0, 0, 0, 28, "ORCHID, deprecated (RFC 4843)"),
	IPV6(0x2001, 0x20, 0, 0, 0, 28, NULL), /* ORCHIDv2, RFC 7343 */
	IPV6(0x2001, 0x30, 0, 0, 0, 28, NULL), /* drone remote ID, RFC 9374 */
	IPV6(0x2001, 0xdb8, 0, 0, 0, 32, "documentation (RFC 3849)"),
	IPV6(0x3fff, 0, 0, 0, 0, 20, "documentation (RFC 9637)"),
	IPV6(0x5f00, 0, 0, 0, 0, 16, "SRv6 segments (RFC 9602)"),
	IPV6(0xfc00, 0, 0, 0, 0, 7, "unique local (RFC 4193)"),
	IPV6(0xfe80, 0, 0, 0, 0, 10, "link-local (RFC 4291)"),
	IPV6(0xfec0, 0, 0, 0, 0, 10, "site-local, deprecated (RFC 3879)"),
	IPV6(0xff00, 0, 0, 0, 0, 8, "multicast (RFC 4291)"),
};

static bool holds(const struct range *range, const struct xb_entry *entry)
{
	uint64_t hi = range->hi ^ entry->hi, lo = range->lo ^ entry->lo;

	if (entry->length < range->length)
		return false;
	if (range->length <= 64)
		return !(hi >> (64 - range->length));
	return !hi && !(lo >> (128 - range->length));
}

static const char *why(const struct range *ranges, size_t count, const struct xb_entry *entry)
{
	const char *reason = NULL;

	for (size_t i = 0; i < count && ranges[i].hi <= entry->hi; i++)
		if (holds(&ranges[i], entry))
			reason = ranges[i].why;
	return reason;
}

const char *xb_too_wide(const struct xb_entry *entry)
{
	if (entry->kind == XB_EXCEPT_NAME)
		return NULL;
	if (xb_entry_is_name(entry))
		return xb_name_labels(entry->name, entry->length) == 1 ? "a single label" : NULL;
	if (xb_entry_is_ipv4(entry))
		return entry->length < XB_WIDEST4 ? "shorter than /" TEXT_OF(XB_WIDEST4) : NULL;
	return entry->length < XB_WIDEST6 ? "shorter than /" TEXT_OF(XB_WIDEST6) : NULL;
}

const char *xb_bogon(const struct xb_entry *entry)
{
	const char *reason = NULL;

	if (xb_entry_is_ipv4(entry))
		reason = why(ipv4, sizeof(ipv4) / sizeof(ipv4[0]), entry);
	else if (xb_entry_is_ipv6(entry))
		reason = why(ipv6, sizeof(ipv6) / sizeof(ipv6[0]), entry);
	return reason ? reason : xb_too_wide(entry);
}
