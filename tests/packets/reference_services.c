/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What has to become of a packet for the service it asks for: where its port stands, which lists
 * have that, and whether its source is in them. */
#include "reference.h"

#define ICMP   1
#define TCP    6
#define UDP    17
#define ICMPV6 58

#define HEADERS_MAX 8

/* What a packet asks for. */
struct asks {
	enum xb_reason reason; /* not XB_CLEAN: it cannot be told */
	uint8_t protocol;      /* ICMP for both; 0: none that lists know */
	uint32_t port;
};

/* What stands behind the IP header. */
struct behind {
	enum xb_reason reason;
	uint8_t protocol;
	uint32_t at;
	bool later; /* a fragment that is not the first */
};

static struct behind behind_ipv4(const struct packet *packet)
{
	const uint8_t *ip = packet->frame->byte + packet->network;

	return (struct behind){
		.reason = XB_CLEAN,
		.protocol = ip[9] == ICMPV6 ? 0 : ip[9],
		.at = packet->network + (ip[0] & 15) * 4U,
		.later = get16(ip + 6) & 0x1fff,
	};
}

static uint32_t header_bytes(uint8_t protocol, const uint8_t *header)
{
	switch (protocol) {
	case 44:
		return 8;
	case 51:
		return 4U * header[1] + 8;
	default:
		return 8U * header[1] + 8;
	}
}

static struct behind behind_ipv6(const struct packet *packet)
{
	const uint8_t *frame = packet->frame->byte;
	struct behind behind = {.reason = XB_CLEAN,
				.protocol = frame[packet->network + 6],
				.at = packet->network + 40};

	for (int passed = 0;; passed++) {
		const uint8_t *header = frame + behind.at;
		uint8_t kind = behind.protocol;

		if (kind != 0 && kind != 43 && kind != 44 && kind != 51 && kind != 60)
			break;
		if (passed == HEADERS_MAX || behind.at + 4 > packet->frame->size) {
			behind.reason = passed == HEADERS_MAX ? XB_SCOPED_HEADERS : XB_SCOPED_SHORT;
			return behind;
		}
		behind.protocol = header[0];
		behind.at += header_bytes(kind, header);
		behind.later = kind == 44 && get16(header + 2) >> 3;
		if (behind.later)
			break;
	}
	behind.protocol = behind.protocol == ICMPV6 ? ICMP
			  : behind.protocol == ICMP ? 0
						    : behind.protocol;
	return behind;
}

static bool has(const struct scoped *list, uint8_t protocol, uint32_t port, bool any_port)
{
	for (int i = 0; i < SCOPED_SERVICES; i++)
		if (list->service[i].protocol && list->service[i].protocol == protocol &&
		    (any_port || list->service[i].port == port))
			return true;
	return false;
}

static bool any_has(const struct rules *rules, uint8_t protocol)
{
	for (int i = 0; i < SCOPED_LISTS; i++)
		if (has(&rules->scoped[i], protocol, 0, true))
			return true;
	return false;
}

static struct asks asks_for(const struct packet *packet)
{
	struct behind behind = packet->ipv6 ? behind_ipv6(packet) : behind_ipv4(packet);
	struct asks asks = {.reason = behind.reason, .protocol = 0};

	if (behind.reason != XB_CLEAN)
		return asks;
	if (behind.protocol == ICMP) {
		asks.protocol = ICMP;
		return asks;
	}
	if ((behind.protocol != TCP && behind.protocol != UDP) ||
	    !any_has(packet->rules, behind.protocol))
		return asks;
	if (behind.later)
		asks.reason = XB_SCOPED_FRAGMENT;
	else if (behind.at + 4 > packet->frame->size)
		asks.reason = XB_SCOPED_SHORT;
	else {
		asks.protocol = behind.protocol;
		asks.port = get16(packet->frame->byte + behind.at + 2);
	}
	return asks;
}

enum xb_reason reference_service(const struct packet *packet, const struct address *source,
				 bool *asked)
{
	struct asks asks = asks_for(packet);

	*asked = false;
	for (int i = 0; i < SCOPED_LISTS; i++) {
		const struct scoped *list = &packet->rules->scoped[i];

		if (!list->all && !has(list, asks.protocol, asks.port, false))
			continue;
		*asked = true;
		if (sources_find(list->sources, source) != SOURCE_CLEAN)
			return list->counts ? XB_SCOPED_COUNTED : XB_SCOPED_DROPPED;
	}
	return asks.reason;
}
