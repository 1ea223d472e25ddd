/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lists/nftoperand.h"

#include "base/array.h"
#include "base/error.h"
#include "lists/nft.h"
#include "lists/sources.h"

static struct xb_nft_operand operand_of_payload(const json_t *payload)
{
	static const struct {
		const char *protocol;
		unsigned int families;
	} protocols[] = {{"ip", XB_FAMILY4},  {"icmp", XB_FAMILY4},   {"igmp", XB_FAMILY4},
			 {"ip6", XB_FAMILY6}, {"icmpv6", XB_FAMILY6}, {"arp", 0}};
	const char *protocol = xb_nft_text(payload, "protocol"),
		   *field = xb_nft_text(payload, "field");
	bool is_source = !strcmp(field, "saddr");
	struct xb_nft_operand operand = {XB_NFT_OTHER, XB_FAMILIES, -1,
					 .words = "what else its packets say"};

	/* With more keys it is about a packet in the packet. */
	if (json_object_size(payload) != 2)
		return operand;
	for (size_t i = 0; i < ARRAY_SIZE(protocols); i++) {
		if (strcmp(protocol, protocols[i].protocol) != 0)
			continue;
		operand.families = protocols[i].families;
		if (is_source && (!strcmp(protocol, "ip") || !strcmp(protocol, "ip6")))
			operand.kind = XB_NFT_SOURCE;
	}
	operand.for_service = !strcmp(field, "dport") || !strcmp(field, "nexthdr") ||
			      !strcmp(field, "protocol") || !strncmp(protocol, "icmp", 4);
	if (operand.for_service)
		operand.words = "a port or protocol";
	return operand;
}

static struct xb_nft_operand operand_of_meta(const char *key)
{
	static const struct xb_nft_operand others = {XB_NFT_OTHER, XB_FAMILIES, -1,
						     .words = "what else is known of its packets"};
	struct xb_nft_operand operand = others;

	if (!strcmp(key, "nfproto") || !strcmp(key, "protocol"))
		operand.kind = XB_NFT_FAMILY;
	if (!strcmp(key, "iif") || !strcmp(key, "iifname")) {
		operand.kind = XB_NFT_INTERFACE;
		operand.words = "an interface";
	}
	if (!strcmp(key, "l4proto")) {
		operand.for_service = true;
		operand.words = "a port or protocol";
	}
	return operand;
}

/* Of several expressions together: the source among them. */
static struct xb_nft_operand operand_of_parts(const json_t *parts)
{
	struct xb_nft_operand all = {XB_NFT_OTHER, XB_FAMILIES, -1, .words = "more than a source"};
	unsigned int families = XB_FAMILIES;
	const json_t *part;
	size_t index;

	json_array_foreach(parts, index, part)
	{
		struct xb_nft_operand operand = xb_nft_operand_of(part);

		families &= operand.families;
		if (operand.kind != XB_NFT_SOURCE || operand.mask >= 0)
			continue;
		all.kind = XB_NFT_SOURCE;
		all.part = index;
	}
	all.in_parts = true;
	all.families = families;
	return all;
}

/* {"&": [EXPRESSION, "255.255.255.0"]} */
static struct xb_nft_operand operand_of_masked(const json_t *parts)
{
	struct xb_nft_operand operand = xb_nft_operand_of(json_array_get(parts, 0));
	const char *text = json_string_value(json_array_get(parts, 1));
	struct xb_entry mask;
	bool host_bits;
	uint64_t hi, lo;

	if (operand.kind != XB_NFT_SOURCE || operand.in_parts || operand.mask >= 0 || !text ||
	    xb_entry_parse(text, strlen(text), NULL, &mask, &host_bits)) {
		xb_error_clear();
		operand.kind = XB_NFT_OTHER;
		return operand;
	}
	hi = ~mask.hi;
	lo = ~mask.lo;
	if (operand.families == XB_FAMILY4)
		hi >>= 32;
	operand.mask = (operand.families == XB_FAMILY4 ? 32 : 128) - __builtin_popcountll(hi) -
		       (operand.families == XB_FAMILY4 ? 0 : __builtin_popcountll(lo));
	if (operand.families == XB_FAMILY4 ? (hi & (hi + 1)) != 0
					   : (hi & (hi + 1)) || (lo & (lo + 1)) || (hi && ~lo))
		operand.kind = XB_NFT_OTHER;
	return operand;
}

struct xb_nft_operand xb_nft_operand_of(const json_t *expression)
{
	static const struct {
		const char *key, *words;
	} kinds[] = {{"ct", "the state of a connection"},
		     {"fib", "the way back to it"},
		     {"socket", "a socket"}};
	const json_t *payload = json_object_get(expression, "payload"),
		     *meta = json_object_get(expression, "meta"),
		     *parts = json_object_get(expression, "concat"),
		     *masked = json_object_get(expression, "&");
	struct xb_nft_operand operand = {XB_NFT_OTHER, XB_FAMILIES, -1,
					 .words = "what else its packets say"};

	if (payload)
		return operand_of_payload(payload);
	if (meta)
		return operand_of_meta(xb_nft_text(meta, "key"));
	if (parts)
		return operand_of_parts(parts);
	if (masked)
		return operand_of_masked(masked);
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (json_object_get(expression, kinds[i].key))
			operand.words = kinds[i].words;
	return operand;
}
