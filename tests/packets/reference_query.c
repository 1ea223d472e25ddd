/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What has to become of a DNS query, and the answer that a frame has to become. */
#include "reference.h"

#include <string.h>

#include "support/dns.h"

#define UDP_BYTES 8
#define HEADER	  12
#define LOOKED_AT                                                                                  \
	290	 /* of UDP header and message: the longest name and what an OPT begins with        \
		  */
#define FLOOR 60 /* what Ethernet fills short frames up to */

/* The name of the question: XB_NAME_CLEAN, and its size with the root. What is met first, from the
 * left, is what is wrong with it. */
static enum xb_reason read_name(const uint8_t *message, uint32_t size, uint32_t *bytes)
{
	uint32_t at = HEADER;

	for (;;) {
		if (at >= size)
			return XB_DNS_SHORT;
		if (!message[at])
			break;
		if (message[at] > 63)
			return message[at] >= 0xc0 ? XB_DNS_COMPRESSED : XB_DNS_LABEL;
		at += message[at] + 1U;
		if (at + 1 - HEADER > 255)
			return XB_DNS_LONG;
	}
	*bytes = at + 1 - HEADER;
	return *bytes + HEADER + 4 > size ? XB_DNS_SHORT : XB_NAME_CLEAN;
}

/* Nothing behind the question, or an OPT record of version 0 up to the end. */
static bool ends_well(const uint8_t *message, uint32_t size, uint32_t question)
{
	const uint8_t *opt = message + question;

	if (get16(message + 6) || get16(message + 8) || get16(message + 10) > 1)
		return false;
	if (!message[11])
		return size == question;
	return size >= question + 11 && !opt[0] && get16(opt + 1) == 41 && !opt[6] &&
	       size == question + 11 + get16(opt + 9);
}

/* Somebody who can be answered: 0/8, 127/8, groups and ::/96 cannot. */
static bool is_somebody(const uint8_t *address, bool ipv6)
{
	static const uint8_t zeros[12];

	if (ipv6)
		return address[0] != 0xff && memcmp(address, zeros, sizeof(zeros));
	return address[0] && address[0] != 127 && address[0] < 224;
}

static bool can_answer(const struct packet *packet, uint32_t udp, uint32_t size, uint32_t question)
{
	const struct frame *frame = packet->frame;
	const uint8_t *source = frame->byte + packet->network + (packet->ipv6 ? 8 : 12);
	const uint8_t *destination = source + (packet->ipv6 ? 16 : 4);

	return frame->size == frame->first && udp + UDP_BYTES + size <= frame->size &&
	       !(frame->byte[0] & 1) && !(frame->byte[6] & 1) && get16(frame->byte + udp) &&
	       is_somebody(source, packet->ipv6) && is_somebody(destination, packet->ipv6) &&
	       ends_well(frame->byte + udp + UDP_BYTES, size, question);
}

static void put16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static void exchange(uint8_t *a, uint8_t *b, uint32_t size)
{
	uint8_t kept[16];

	memcpy(kept, a, size);
	memcpy(a, b, size);
	memcpy(b, kept, size);
}

static void answer_ip(uint8_t *ip, bool ipv6, uint32_t payload)
{
	if (ipv6) {
		exchange(ip + 8, ip + 24, 16);
		put16(ip + 4, payload);
		ip[7] = 64;
		return;
	}
	exchange(ip + 12, ip + 16, 4);
	put16(ip + 2, 20 + payload);
	ip[8] = 64;
	put16(ip + 10, 0);
	put16(ip + 10, dns_checksum(ip, 20, 0));
}

static void answer_udp(uint8_t *ip, bool ipv6, uint8_t *udp, uint32_t payload)
{
	uint32_t pseudo =
		(uint16_t)~dns_checksum(ip + (ipv6 ? 8 : 12), ipv6 ? 32 : 8, 17 + payload);
	uint16_t sum;

	exchange(udp, udp + 2, 2);
	put16(udp + 4, payload);
	put16(udp + 6, 0);
	sum = dns_checksum(udp, payload, pseudo);
	put16(udp + 6, sum ? sum : 0xffff);
}

bool reference_answer(const struct packet *packet, uint32_t udp, uint32_t size, uint32_t question,
		      enum xb_reason reason, struct frame *answer)
{
	uint32_t before = packet->frame->size, message = udp + UDP_BYTES, payload;
	uint8_t *frame = answer->byte;

	if (!can_answer(packet, udp, size, question))
		return false;
	memcpy(frame, packet->frame->byte, before);
	payload = UDP_BYTES + dns_answer(packet->frame->byte + message, reason == XB_NAME_TRUNCATED,
					 reason == XB_NAME_REFUSED    ? 5
					 : reason == XB_NAME_NXDOMAIN ? 3
								      : 0,
					 frame + message);
	exchange(frame, frame + 6, 6);
	answer_ip(frame + packet->network, packet->ipv6, payload);
	if (packet->session)
		put16(frame + packet->session + 4, udp + payload - packet->session - 6);
	answer_udp(frame + packet->network, packet->ipv6, frame + udp, payload);
	answer->size = udp + payload;
	if (answer->size < FLOOR)
		answer->size = before < FLOOR ? before : FLOOR;
	answer->first = answer->size;
	return true;
}

enum xb_reason reference_query(const struct packet *packet, uint32_t udp, bool plain,
			       struct frame *answer)
{
	const uint8_t *header = packet->frame->byte + udp, *message = header + UDP_BYTES;
	uint32_t room = packet->end > udp ? packet->end - udp : 0, length, bytes;
	enum xb_reason reason;

	if (room < UDP_BYTES + HEADER ||
	    udp + (room < LOOKED_AT ? room : LOOKED_AT) > packet->frame->size)
		return XB_DNS_SHORT;
	length = get16(header + 4);
	if (!length && packet->ipv6)
		length = room;
	if (length < UDP_BYTES + HEADER || length > room)
		return XB_DNS_SHORT;
	if (message[2] & 0x80)
		return XB_DNS_RESPONSE;
	if (message[2] & 0x78)
		return XB_DNS_OPCODE;
	if (get16(message + 4) != 1)
		return XB_DNS_QUESTIONS;
	reason = read_name(message, length - UDP_BYTES, &bytes);
	if (reason != XB_NAME_CLEAN)
		return reason;
	reason = reference_name(packet->rules, message + HEADER, bytes);
	if (reason == XB_NAME_CLEAN || reason == XB_NAME_ALLOWED || reason == XB_NAME_COUNTED)
		return reason;
	if (packet->rules->policy == POLICY_MONITOR)
		return XB_MONITORED;
	if (reason == XB_NAME_DROPPED ||
	    (plain &&
	     reference_answer(packet, udp, length - UDP_BYTES, HEADER + bytes + 4, reason, answer)))
		return reason;
	return XB_NAME_UNANSWERED;
}
