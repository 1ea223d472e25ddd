/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What has to become of a frame for its source. */
#include "reference.h"

#include <string.h>

#define DOT1Q  0x8100
#define DOT1AD 0x88a8
#define IPV4   0x0800
#define IPV6   0x86dd
#define PPPOE  0x8864

static enum reference_verdict verdict_of(enum xb_reason reason)
{
	switch (reason) {
	case XB_LISTED_IPV4_HOST:
	case XB_LISTED_IPV4_PREFIX:
	case XB_LISTED_IPV6:
	case XB_SCOPED_DROPPED:
	case XB_NOT_ADMITTED:
	case XB_LIMITED:
	case XB_NAME_DROPPED:
	case XB_NAME_UNANSWERED:
	case XB_NAME_LIMITED:
	case XB_TLS_DROPPED:
	case XB_HTTP_DROPPED:
		return VERDICT_DROP;
	case XB_NAME_REFUSED:
	case XB_NAME_NXDOMAIN:
	case XB_NAME_TRUNCATED:
	case XB_OVER_TRUNCATED:
		return VERDICT_ANSWER;
	default:
		return VERDICT_PASS;
	}
}

static bool is_tag(uint32_t type)
{
	return type == DOT1Q || type == DOT1AD;
}

/* Where the IP header begins behind a PPPoE header at packet->session, 0: nowhere, for *reason. */
static uint32_t find_in_session(struct packet *packet, enum xb_reason *reason)
{
	const uint8_t *session = packet->frame->byte + packet->session;
	uint32_t protocol = session[6], length = get16(session + 4), bytes = 1;

	*reason = XB_PPPOE_SHORT;
	if (packet->session + 8 > packet->frame->first)
		return 0;
	if (!(protocol & 1)) {
		protocol = get16(session + 6);
		bytes = 2;
	}
	*reason = XB_PPPOE_HEADER;
	if (length < bytes || packet->session + 6 + length > packet->frame->size)
		return 0;
	*reason = XB_PPPOE;
	packet->ipv6 = protocol == 0x57;
	return protocol == 0x21 || protocol == 0x57 ? packet->session + 6 + bytes : 0;
}

/* Where the IP header begins, in the first buffer; 0: there is none, for this reason. */
static uint32_t find_network(struct packet *packet, enum xb_reason *reason)
{
	const struct frame *frame = packet->frame;
	uint32_t at = 12, type;

	*reason = XB_ETHERNET_SHORT;
	if (frame->first < 14)
		return 0;
	type = get16(frame->byte + at);
	for (at += 2; is_tag(type); at += 4) {
		*reason = at == 22 ? XB_VLAN_DEPTH : XB_VLAN_SHORT;
		if (at == 22 || at + 4 > frame->first)
			return 0;
		type = get16(frame->byte + at + 2);
	}
	if (type == PPPOE) {
		packet->session = at;
		return find_in_session(packet, reason);
	}
	*reason = XB_NOT_IP;
	packet->ipv6 = type == IPV6;
	return type == IPV4 || type == IPV6 ? at : 0;
}

static enum xb_reason check_header(const struct frame *frame, uint32_t network, bool ipv6)
{
	const uint8_t *ip = frame->byte + network;

	if (network + (ipv6 ? 40 : 20) > frame->first)
		return ipv6 ? XB_IPV6_SHORT : XB_IPV4_SHORT;
	if (ip[0] / 16 != (ipv6 ? 6 : 4))
		return ipv6 ? XB_IPV6_VERSION : XB_IPV4_VERSION;
	return !ipv6 && ip[0] % 16 < 5 ? XB_IPV4_IHL : XB_CLEAN;
}

static struct address source_of(const struct packet *packet)
{
	const uint8_t *ip = packet->frame->byte + packet->network;
	struct address source = {.ipv6 = packet->ipv6};

	memcpy(source.byte, ip + (packet->ipv6 ? 8 : 12), packet->ipv6 ? 16 : 4);
	return source;
}

static enum xb_reason look_up(const struct rules *rules, const struct address *source)
{
	switch (sources_find(rules->sources, source)) {
	case SOURCE_IN_PREFIX4:
		return XB_LISTED_IPV4_PREFIX;
	case SOURCE_IS_HOST4:
		return XB_LISTED_IPV4_HOST;
	case SOURCE_IN_NET6:
		return XB_LISTED_IPV6;
	default:
		return XB_CLEAN;
	}
}

/* RFC 4861: solicitations, advertisements, redirects, that no router has passed on. */
static bool is_neighbour(const struct packet *packet)
{
	const uint8_t *ip = packet->frame->byte + packet->network;

	return packet->ipv6 && packet->network + 41 <= packet->frame->size && ip[6] == 58 &&
	       ip[7] == 255 && ip[40] >= 133 && ip[40] <= 137;
}

/* An offer or acknowledgement of DHCP (RFC 2131) to the MAC address it is for, or to all of the
 * link; a message of DHCPv6 (RFC 8415) from an address of the link to another. */
static bool is_dhcp(const struct packet *packet)
{
	static const uint8_t all[6] = {255, 255, 255, 255, 255, 255};
	const uint8_t *frame = packet->frame->byte, *ip = frame + packet->network;
	const uint8_t *udp = ip + (packet->ipv6 ? 40 : 20), *message = udp + 8;
	uint32_t from, to;

	if (udp + 4 > frame + packet->frame->first || ip[packet->ipv6 ? 6 : 9] != 17)
		return false;
	from = udp[0] * 256U + udp[1];
	to = udp[2] * 256U + udp[3];
	if (packet->ipv6)
		return from == 547 && to == 546 && ip[8] == 0xfe && ip[9] / 64 == 2 &&
		       ip[24] == 0xfe && ip[25] / 64 == 2;
	if (from != 67 || to != 68 || ip[0] != 0x45 || (ip[6] & 0x3f) || ip[7] ||
	    message + 34 > frame + packet->frame->size)
		return false;
	if (message[0] != 2 || message[1] != 1 || message[2] != 6)
		return false;
	return !memcmp(frame, message + 28, 6) ||
	       (!memcmp(frame, all, 6) && !memcmp(ip + 16, all, 4));
}

/* What the policy makes of it. *goes_on: a name in it counts. */
static enum xb_reason settle(const struct packet *packet, const struct address *source,
			     enum xb_reason found, bool *goes_on)
{
	const struct rules *rules = packet->rules;
	bool listed = verdict_of(found) == VERDICT_DROP;

	*goes_on = true;
	if (rules->policy == POLICY_ALLOW_ONLY) {
		if (listed)
			return XB_ADMITTED;
		if (is_neighbour(packet))
			return XB_NEIGHBOUR;
		if (sources_allow(rules->sources, source))
			return XB_ALLOWED;
		if (rules->known && sources_find(rules->known, source) != SOURCE_CLEAN)
			return XB_ADMITTED_KNOWN;
		if (is_dhcp(packet))
			return XB_DHCP;
		*goes_on = false;
		return XB_NOT_ADMITTED;
	}
	if (!listed && found != XB_SCOPED_COUNTED)
		return found;
	if (sources_allow(rules->sources, source))
		return XB_ALLOWED;
	*goes_on = !listed;
	return listed && rules->policy == POLICY_MONITOR ? XB_MONITORED : found;
}

/* What a source is found as. *may_hit: a Bloom filter was asked for it, and has it not. */
static enum xb_reason find_source(const struct packet *packet, const struct address *source,
				  bool *may_hit)
{
	enum xb_reason found = look_up(packet->rules, source);
	bool asked = false;

	*may_hit = false;
	if (found == XB_CLEAN && packet->rules->has_scopes)
		found = reference_service(packet, source, &asked);
	if (found == XB_SCOPED_COUNTED || found == XB_SCOPED_DROPPED)
		return found;
	*may_hit =
		asked || (found == XB_CLEAN && sources_guess(packet->rules->sources, packet->ipv6));
	return found;
}

static enum xb_reason judge(struct packet *packet, struct outcome *outcome)
{
	const struct rules *rules = packet->rules;
	const uint8_t *ip = packet->frame->byte + packet->network;
	struct address source = source_of(packet);
	enum xb_reason found, reason;
	bool goes_on, may_hit;

	packet->claimed = packet->network + (packet->ipv6 ? 40 + get16(ip + 4) : get16(ip + 2));
	packet->end =
		packet->ipv6 && !get16(ip + 4) && !ip[6] ? packet->frame->size : packet->claimed;
	found = find_source(packet, &source, &may_hit);
	reason = settle(packet, &source, found, &goes_on);
	packet->passes = reason;
	if (goes_on && rules->listed.count)
		reason = reference_names(packet, &outcome->answer);
	outcome->may_hit = may_hit && reason == found;
	return reason;
}

/* The first buffer is taken for all of the frame unless the IP header claims more. */
static uint64_t bytes_counted(const struct frame *frame, uint32_t claimed)
{
	return claimed > frame->first ? frame->size : frame->first;
}

void reference(const struct rules *rules, const struct frame *frame, struct outcome *outcome)
{
	struct packet packet = {.rules = rules, .frame = frame};

	outcome->may_hit = false;
	if (rules->slot == SLOT_FILTER) {
		packet.network = find_network(&packet, &outcome->reason);
		if (packet.network)
			outcome->reason = check_header(frame, packet.network, packet.ipv6);
		if (packet.network && outcome->reason == XB_CLEAN)
			outcome->reason = judge(&packet, outcome);
	} else {
		outcome->reason = rules->slot == SLOT_EMPTY ? XB_NO_GENERATION : XB_ROLLED_BACK;
	}
	outcome->verdict = verdict_of(outcome->reason);
	outcome->counted = outcome->verdict == VERDICT_ANSWER
				   ? outcome->answer.size
				   : bytes_counted(frame, packet.claimed);
}

void reference_limited(const struct frame *frame, struct outcome *outcome)
{
	outcome->reason = XB_NAME_LIMITED;
	outcome->verdict = verdict_of(outcome->reason);
	outcome->counted = frame->size;
}
