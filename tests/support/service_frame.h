/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames that ask for a service: from any source, to a port of TCP or UDP or by ICMP, plain or
 * behind what may stand in between. */
#ifndef XB_TEST_SERVICE_FRAME_H
#define XB_TEST_SERVICE_FRAME_H

#include <arpa/inet.h>
#include <endian.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <stdint.h>
#include <string.h>

#include "model/entry.h"
#include "model/scope.h"

enum frame_form {
	FRAME_PLAIN,
	FRAME_OPTIONS, /* IP options; IPv6: destination options */
	FRAME_FIRST,   /* a first fragment */
	FRAME_LATER,   /* a later one */
	FRAME_VLAN,
	FRAME_FORMS,
};

struct service_frame {
	uint8_t byte[128];
	uint32_t size;
};

static inline void put_bytes(struct service_frame *frame, const void *bytes, size_t size)
{
	memcpy(frame->byte + frame->size, bytes, size);
	frame->size += (uint32_t)size;
}

static inline void put_two(struct service_frame *frame, uint16_t value)
{
	value = htons(value);
	put_bytes(frame, &value, sizeof(value));
}

static inline uint8_t protocol_number(enum xb_service_protocol protocol, bool ipv6)
{
	return protocol == XB_SERVICE_TCP   ? IPPROTO_TCP
	       : protocol == XB_SERVICE_UDP ? IPPROTO_UDP
	       : ipv6			    ? IPPROTO_ICMPV6
					    : IPPROTO_ICMP;
}

static inline void put_ipv4(struct service_frame *frame, uint32_t source, uint8_t protocol,
			    enum frame_form form)
{
	const uint8_t options[4] = {1, 1, 1, 0};
	uint8_t head[20] = {form == FRAME_OPTIONS ? 0x46 : 0x45};

	source = htonl(source);
	head[3] = form == FRAME_OPTIONS ? 48 : 44;
	head[6] = form == FRAME_FIRST || form == FRAME_LATER ? 0x20 : 0;
	head[7] = form == FRAME_LATER ? 5 : 0;
	head[8] = 64;
	head[9] = protocol;
	memcpy(head + 12, &source, sizeof(source));
	head[16] = 192;
	put_bytes(frame, head, sizeof(head));
	if (form == FRAME_OPTIONS)
		put_bytes(frame, options, sizeof(options));
}

static inline void put_ipv6(struct service_frame *frame, uint64_t hi, uint64_t lo, uint8_t protocol,
			    enum frame_form form)
{
	bool fragment = form == FRAME_FIRST || form == FRAME_LATER;
	bool extended = fragment || form == FRAME_OPTIONS;
	uint8_t head[40] = {0x60}, more[8] = {protocol, 0, 1, 4};

	hi = htobe64(hi);
	lo = htobe64(lo);
	head[5] = extended ? 32 : 24;
	head[6] = fragment ? IPPROTO_FRAGMENT : extended ? IPPROTO_DSTOPTS : protocol;
	head[7] = 64;
	memcpy(head + 8, &hi, sizeof(hi));
	memcpy(head + 16, &lo, sizeof(lo));
	head[24] = 0x20;
	put_bytes(frame, head, sizeof(head));
	if (fragment) {
		more[2] = 0;
		more[3] = form == FRAME_LATER ? 0x29 : 1;
	}
	if (extended)
		put_bytes(frame, more, sizeof(more));
}

/* source: a single address. */
static inline struct service_frame frame_to(const struct xb_entry *source,
					    enum xb_service_protocol protocol, uint16_t port,
					    enum frame_form form)
{
	bool ipv6 = xb_entry_is_ipv6(source);
	uint8_t number = protocol_number(protocol, ipv6);
	struct service_frame frame = {.size = 0};
	const uint8_t rest[20] = {0};

	put_bytes(&frame, "\x02\0\0\0\0\x01\x02\0\0\0\0\x02", 12);
	if (form == FRAME_VLAN) {
		put_two(&frame, ETH_P_8021Q);
		put_two(&frame, 7);
	}
	put_two(&frame, ipv6 ? ETH_P_IPV6 : ETH_P_IP);
	if (ipv6)
		put_ipv6(&frame, source->hi, source->lo, number, form);
	else
		put_ipv4(&frame, xb_entry_ipv4(source), number, form);
	put_two(&frame, 40000);
	put_two(&frame, protocol == XB_SERVICE_ICMP ? 0 : port);
	put_bytes(&frame, rest, sizeof(rest));
	return frame;
}

#endif
