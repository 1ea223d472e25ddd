/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What has to become of a packet for the name it carries: where one may stand behind the IP header,
 * and what is found in TCP. */
#include "reference.h"

#include "support/second.h"

#define UDP 17
#define TCP 6

#define HEADERS_MAX 8

/* What stands behind the IP header and its extensions. */
struct payload {
	enum xb_reason reason; /* XB_NAME_CLEAN: it may have a name; else this is the end */
	uint8_t protocol;
	uint32_t at;
	bool plain; /* nothing is in between */
};

static bool is_among(const uint16_t ports[REFERENCE_PORTS], uint32_t port)
{
	for (int i = 0; i < REFERENCE_PORTS; i++)
		if (ports[i] && ports[i] == port)
			return true;
	return false;
}

enum xb_reason reference_name(const struct rules *rules, const uint8_t *wire, uint32_t size)
{
	static const enum xb_reason reasons[] = {XB_NAME_DROPPED, XB_NAME_REFUSED, XB_NAME_NXDOMAIN,
						 XB_NAME_TRUNCATED, XB_NAME_COUNTED};
	enum domain_verdict verdict = domains_find(&rules->listed, wire, size);

	if (verdict == DOMAIN_NONE)
		return XB_NAME_CLEAN;
	return domains_find(&rules->exempt, wire, size) != DOMAIN_NONE ? XB_NAME_ALLOWED
								       : reasons[verdict];
}

static bool is_extension(uint8_t protocol)
{
	return protocol == 0 || protocol == 43 || protocol == 44 || protocol == 51 ||
	       protocol == 60;
}

/* A fragment of UDP, whatever its ports are; of others no name is looked for. */
static enum xb_reason fragment_of(const struct packet *packet, uint8_t protocol)
{
	return protocol == UDP ? XB_DNS_FRAGMENT : packet->passes;
}

static struct payload payload_ipv4(const struct packet *packet)
{
	const uint8_t *ip = packet->frame->byte + packet->network;
	uint32_t words = ip[0] % 16;
	struct payload payload = {
		.reason = XB_NAME_CLEAN,
		.protocol = ip[9],
		.at = packet->network + words * 4,
		.plain = words == 5,
	};

	if (get16(ip + 6) & 0x3fff)
		payload.reason = fragment_of(packet, payload.protocol);
	return payload;
}

/* Fragments that a header says are whole are whole (RFC 6946). */
static struct payload payload_ipv6(const struct packet *packet)
{
	const uint8_t *frame = packet->frame->byte;
	struct payload payload = {
		.reason = XB_NAME_CLEAN,
		.protocol = frame[packet->network + 6],
		.at = packet->network + 40,
		.plain = !is_extension(frame[packet->network + 6]),
	};
	bool fragment = false;

	for (int headers = 0; is_extension(payload.protocol); headers++) {
		const uint8_t *header = frame + payload.at;
		uint8_t kind = payload.protocol;
		uint32_t field;

		payload.reason = XB_DNS_HEADERS;
		if (headers == HEADERS_MAX)
			return payload;
		payload.reason = packet->passes;
		if (payload.at + 4 > packet->frame->size)
			return payload;
		payload.protocol = header[0];
		payload.at += kind == 44   ? 8
			      : kind == 51 ? (header[1] + 2U) * 4
					   : (header[1] + 1U) * 8;
		field = kind == 44 ? get16(header + 2) : 0;
		fragment = fragment || field & 0xfff9;
		payload.reason = fragment_of(packet, payload.protocol);
		if (field & 0xfff8) /* what follows is no header */
			return payload;
	}
	payload.reason = fragment ? fragment_of(packet, payload.protocol) : XB_NAME_CLEAN;
	return payload;
}

/* In TCP nothing is answered: TLS and HTTP have one reason for all verdicts but count. */
static enum xb_reason judge_host(const struct packet *packet, const struct second_name *host,
				 enum xb_reason dropped)
{
	uint8_t wire[DOMAIN_BYTES];
	uint32_t size = domains_wire(host->text, host->size, wire);
	enum xb_reason reason = reference_name(packet->rules, wire, size);

	if (reason == XB_NAME_CLEAN && host->doubt)
		return XB_HTTP_AMBIGUOUS;
	if (reason == XB_NAME_CLEAN || reason == XB_NAME_ALLOWED || reason == XB_NAME_COUNTED)
		return reason;
	return packet->rules->policy == POLICY_MONITOR ? XB_MONITORED : dropped;
}

/* A hello is read as far as the frame goes. */
static enum xb_reason tls(const struct packet *packet, uint32_t at)
{
	uint32_t end = packet->end < packet->frame->size ? packet->end : packet->frame->size;
	struct second_name host;

	if (at >= end)
		return packet->passes;
	switch (second_tls(packet->frame->byte + at, end - at, &host)) {
	case SECOND_NAME:
		return judge_host(packet, &host, XB_TLS_DROPPED);
	case SECOND_NAMELESS:
		return XB_TLS_NAMELESS;
	default:
		return packet->passes;
	}
}

/* Of a request that has been cut, within what is looked at, nothing is read. */
static enum xb_reason http(const struct packet *packet, uint32_t at)
{
	uint32_t bytes = packet->end > at ? packet->end - at : 0;
	struct second_name host;

	bytes = bytes < 2048 ? bytes : 2048;
	if (at + bytes > packet->frame->size)
		return packet->passes;
	switch (second_http(packet->frame->byte + at, bytes, &host)) {
	case SECOND_NAME:
		return judge_host(packet, &host, XB_HTTP_DROPPED);
	case SECOND_NAMELESS:
		return XB_HTTP_NAMELESS;
	default:
		return packet->passes;
	}
}

static enum xb_reason tcp(const struct packet *packet, uint32_t at, uint32_t port)
{
	const struct rules *rules = packet->rules;
	uint32_t words, data;

	if (is_among(rules->dns, port))
		return XB_DNS_TCP;
	if (!is_among(rules->tls, port) && !is_among(rules->http, port))
		return packet->passes;
	if (at + 20 > packet->frame->size)
		return packet->passes;
	words = packet->frame->byte[at + 12] / 16;
	data = at + words * 4;
	if (words < 5)
		return packet->passes;
	return is_among(rules->tls, port) ? tls(packet, data) : http(packet, data);
}

/* Ports are read wherever the frame has them, in the first buffer if nothing stands before them;
 * what the IP header claims is asked only of what is behind them. */
enum xb_reason reference_names(const struct packet *packet, struct frame *answer)
{
	struct payload payload = packet->ipv6 ? payload_ipv6(packet) : payload_ipv4(packet);
	uint32_t room = payload.plain ? packet->frame->first : packet->frame->size, port;

	if (payload.reason != XB_NAME_CLEAN)
		return payload.reason;
	if (payload.at + 4 > room)
		return packet->passes;
	port = get16(packet->frame->byte + payload.at + 2);
	if (payload.protocol == TCP)
		return tcp(packet, payload.at, port);
	if (payload.protocol == UDP && is_among(packet->rules->dns, port))
		return reference_query(packet, payload.at, payload.plain, answer);
	return packet->passes;
}
