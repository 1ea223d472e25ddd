/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames from nothing: Ethernet, tags, IP, and what is between IP and the message. */
#include "generate.h"

#include <string.h>

#define PAYLOAD_BYTES 3300 /* with all headers a test run takes it in one buffer */

static void put(struct frame *frame, const void *bytes, uint32_t size)
{
	if (size > FRAME_BYTES - frame->size)
		size = FRAME_BYTES - frame->size;
	memcpy(frame->byte + frame->size, bytes, size);
	frame->size += size;
}

static void put8(struct frame *frame, uint32_t value)
{
	uint8_t byte = (uint8_t)value;

	put(frame, &byte, 1);
}

static void put16(struct frame *frame, uint32_t value)
{
	put8(frame, value >> 8);
	put8(frame, value);
}

static void set16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static void put_random(struct frame *frame, uint64_t *chance, uint32_t size)
{
	while (size--)
		put8(frame, below(chance, 256));
}

static uint32_t pick(uint64_t *chance, const uint32_t *from, uint32_t count)
{
	return from[below(chance, count)];
}

#define PICK(chance, ...)                                                                          \
	pick(chance, (const uint32_t[]){__VA_ARGS__},                                              \
	     sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* A PPPoE session of any version, type and code. Returns where its length stands. */
static uint32_t put_session(struct frame *frame, uint64_t *chance, bool ipv6)
{
	uint32_t length;

	put16(frame, 0x8864);
	put8(frame, one_in(chance, 20) ? below(chance, 256) : 0x11);
	put8(frame, one_in(chance, 20) ? below(chance, 256) : 0);
	put_random(frame, chance, 4);
	length = frame->size - 2;
	if (!below(chance, 10))
		put16(frame, PICK(chance, 0xc021, 0x8021, 0x0121, 0x2100, 0x00fd, 0x0000,
				  below(chance, 0x10000)));
	else if (below(chance, 3))
		put16(frame, ipv6 ? 0x0057 : 0x0021);
	else
		put8(frame, ipv6 ? 0x57 : 0x21);
	return length;
}

/* Returns where the length of its session stands, 0: nowhere. */
static uint32_t put_ethernet(struct frame *frame, uint64_t *chance, bool ipv6)
{
	uint32_t tags = below(chance, 10) < 6 ? 0 : below(chance, 8) ? 1 + below(chance, 2) : 3;

	put(frame, "\2\0\0\0\0\1\2\0\0\0\0\2", 12);
	if (one_in(chance, 30))
		frame->byte[below(chance, 2) * 6] = (uint8_t)below(chance, 256);
	while (tags--) {
		put16(frame, PICK(chance, 0x8100, 0x8100, 0x88a8));
		put16(frame, below(chance, 0x10000));
	}
	if (one_in(chance, 6))
		return put_session(frame, chance, ipv6);
	if (below(chance, 25))
		put16(frame, ipv6 ? 0x86dd : 0x0800);
	else
		put16(frame, PICK(chance, 0x0806, 0x8864, 0x8863, 0x88cc, 0x8847, 0x9100, 0x05dc,
				  below(chance, 0x10000)));
	return 0;
}

/* The length a header says: true mostly. */
static uint32_t said(uint64_t *chance, uint32_t truth)
{
	if (below(chance, 25))
		return truth;
	return PICK(chance, 0, truth + 1, truth - 1, truth + below(chance, 40),
		    truth - below(chance, 40), below(chance, 100), below(chance, 0x10000), 0xffff);
}

/* UDP and TCP mostly, else of those that a filter must not fall for. */
static uint8_t random_protocol(uint64_t *chance, bool ipv6, bool names)
{
	if (names || below(chance, 10) < 8)
		return below(chance, 5) < 3 ? 17 : 6;
	return (uint8_t)PICK(chance, 1, 2, 4, 41, 47, 50, 132, 136, ipv6 ? 58 : 1, ipv6 ? 58 : 47,
			     ipv6 ? 58 : 50, ipv6 ? 58 : 51, ipv6 ? 59 : 50, below(chance, 256));
}

static uint16_t random_port(uint64_t *chance, uint8_t protocol)
{
	if (protocol == 17)
		return (uint16_t)(below(chance, 6) ? PICK(chance, 53, 53, PORTS_DNS)
						   : PICK(chance, 123, 5354, 52, PORTS_TLS,
							  below(chance, 0x10000)));
	return (uint16_t)(below(chance, 8)
				  ? PICK(chance, 53, PORTS_TLS, PORTS_TLS, PORTS_HTTP, PORTS_HTTP)
				  : PICK(chance, 22, 25, PORTS_DNS, below(chance, 0x10000)));
}

static uint16_t source_port(uint64_t *chance)
{
	return (uint16_t)(one_in(chance, 100) ? 0 : 1 + below(chance, 0xffff));
}

/* What a DHCP server says to a client, nearly always; the headers in front are made to fit, if they
 * have neither options nor extensions. */
static void put_dhcp(struct frame *frame, uint64_t *chance, bool ipv6)
{
	static const uint8_t ours[] = {2, 0, 0, 0, 0, 1};
	uint8_t *behind = frame->byte + frame->size;

	if (ipv6 && below(chance, 8)) {
		memcpy(behind - 32, "\xfe\x80", 2);
		memcpy(behind - 16, one_in(chance, 8) ? "\xff\2" : "\xfe\xbf", 2);
	} else if (!ipv6 && below(chance, 2)) {
		memset(frame->byte, 255, one_in(chance, 8) ? 5 : 6);
		memset(behind - 4, 255, one_in(chance, 8) ? 3 : 4);
	}
	put16(frame, PICK(chance, ipv6 ? 547 : 67, ipv6 ? 547 : 67, 68, 53));
	put16(frame, one_in(chance, 8) ? 67 : ipv6 ? 546 : 68);
	put_random(frame, chance, 4);
	put8(frame, one_in(chance, 8) ? 1 : 2);
	put8(frame, one_in(chance, 16) ? 6 : 1);
	put8(frame, one_in(chance, 16) ? 8 : 6);
	put_random(frame, chance, 25);
	put(frame, ours, one_in(chance, 8) ? below(chance, 6) : 6);
	put_random(frame, chance, below(chance, 2) ? 0 : below(chance, 300));
}

static void put_udp(struct frame *frame, const struct universe *universe, uint64_t *chance)
{
	uint8_t message[FRAME_BYTES];
	uint32_t size = generate_message(universe, chance, message);

	put16(frame, source_port(chance));
	put16(frame, random_port(chance, 17));
	put16(frame, said(chance, 8 + size));
	put16(frame, below(chance, 0x10000));
	put(frame, message, size);
	/* What the packet has behind the datagram. */
	if (one_in(chance, 16))
		put_random(frame, chance, 1 + below(chance, 200));
}

static void put_tcp(struct frame *frame, const struct universe *universe, uint64_t *chance)
{
	uint32_t port = random_port(chance, 6),
		 words = below(chance, 3) ? 5 : 5 + below(chance, 11);
	uint8_t data[FRAME_BYTES];
	uint32_t size = generate_stream(universe, chance, port, data);

	put16(frame, source_port(chance));
	put16(frame, port);
	put_random(frame, chance, 8);
	put8(frame, (one_in(chance, 30) ? below(chance, 16) : words) << 4);
	put8(frame, one_in(chance, 4) ? below(chance, 256) : 0x18);
	put_random(frame, chance, 6);
	put_random(frame, chance, (words - 5) * 4);
	put(frame, data, size < PAYLOAD_BYTES ? size : PAYLOAD_BYTES);
}

static void put_payload(struct frame *frame, const struct universe *universe, uint64_t *chance,
			uint8_t protocol, bool ipv6)
{
	if (protocol == 17 && one_in(chance, 24))
		put_dhcp(frame, chance, ipv6);
	else if (protocol == 17)
		put_udp(frame, universe, chance);
	else if (protocol == 6)
		put_tcp(frame, universe, chance);
	else if (protocol == 58)
		put8(frame, PICK(chance, 128, 133, 134, 135, 136, 137, 132, 138));
	if (protocol != 17 && protocol != 6)
		put_random(frame, chance, below(chance, 60));
}

static void put_destination(struct frame *frame, const struct universe *universe, uint64_t *chance,
			    bool ipv6)
{
	uint8_t address[16] = {192, 0, 2, 1};

	if (ipv6)
		memcpy(address, "\x20\1\xd\xb8\0\1\0\0\0\0\0\0\0\0\0\1", 16);
	if (one_in(chance, 12))
		universe_address(universe, chance, ipv6, address);
	if (one_in(chance, 30))
		address[0] = (uint8_t)PICK(chance, 0, 127, 223, 224, 239, 255);
	if (one_in(chance, 60))
		memset(address, 0, below(chance, ipv6 ? 17 : 5));
	put(frame, address, ipv6 ? 16 : 4);
}

static void put_source(struct frame *frame, const struct universe *universe, uint64_t *chance,
		       bool ipv6)
{
	uint8_t address[16];

	universe_address(universe, chance, ipv6, address);
	if (one_in(chance, 60))
		address[0] = (uint8_t)PICK(chance, 0, 127, 224, 255);
	if (one_in(chance, 200))
		memset(address, 0, below(chance, ipv6 ? 17 : 5));
	put(frame, address, ipv6 ? 16 : 4);
}

static uint32_t fragment_field(uint64_t *chance)
{
	if (below(chance, 16))
		return PICK(chance, 0, 0x4000, 0x4000, one_in(chance, 8) ? 0x8000 : 0);
	return PICK(chance, 0x2000, 1, 0x1fff, below(chance, 0x10000));
}

static void put_ipv4(struct frame *frame, const struct universe *universe, uint64_t *chance,
		     bool names)
{
	uint32_t start = frame->size, options = one_in(chance, 10) ? below(chance, 11) : 0;
	uint8_t protocol = random_protocol(chance, false, names), *ip = frame->byte + start;

	put8(frame, one_in(chance, 60) ? below(chance, 256) : 0x45 + options);
	put_random(frame, chance, 1);
	put16(frame, 0);
	put_random(frame, chance, 2);
	put16(frame, fragment_field(chance));
	put8(frame, below(chance, 256));
	put8(frame, protocol);
	put_random(frame, chance, 2);
	put_source(frame, universe, chance, false);
	put_destination(frame, universe, chance, false);
	put_random(frame, chance, options * 4);
	put_payload(frame, universe, chance, protocol, false);
	set16(ip + 2, said(chance, frame->size - start));
}

/* Of one extension header all but what comes next; its size is a true one. */
static void put_extension(struct frame *frame, uint64_t *chance, uint8_t kind)
{
	uint32_t length = one_in(chance, 6) ? below(chance, 5) : 0;

	if (kind == 44) {
		put8(frame, below(chance, 256));
		put16(frame, below(chance, 2)
				     ? 0
				     : PICK(chance, 1, 2, 6, 8, 0xfff8, below(chance, 0x10000)));
		put_random(frame, chance, 4);
		return;
	}
	put8(frame, length);
	put_random(frame, chance, kind == 51 ? (length + 2) * 4 - 2 : (length + 1) * 8 - 2);
}

static uint32_t extension_count(uint64_t *chance)
{
	if (below(chance, 10) < 7)
		return 0;
	return one_in(chance, 4) ? 6 + below(chance, 5) : 1 + below(chance, 3);
}

static void put_ipv6(struct frame *frame, const struct universe *universe, uint64_t *chance,
		     bool names)
{
	uint32_t start = frame->size, extensions = extension_count(chance), next;
	uint8_t protocol = random_protocol(chance, true, names), *ip = frame->byte + start;

	put8(frame, one_in(chance, 60) ? below(chance, 256) : 0x60 + below(chance, 16));
	put_random(frame, chance, 3);
	put16(frame, 0);
	put8(frame, 0);
	put8(frame, PICK(chance, 255, 255, 254, below(chance, 256)));
	put_source(frame, universe, chance, true);
	put_destination(frame, universe, chance, true);
	for (next = start + 6; extensions--;) {
		uint8_t kind = (uint8_t)PICK(chance, 0, 43, 44, 51, 60, 60);

		frame->byte[next] = kind;
		next = frame->size;
		put8(frame, 0);
		put_extension(frame, chance, kind);
	}
	frame->byte[next] = protocol;
	put_payload(frame, universe, chance, protocol, true);
	set16(ip + 4, one_in(chance, 12) ? 0 : said(chance, frame->size - start - 40));
}

void generate(const struct universe *universe, uint64_t *chance, bool names, struct frame *frame)
{
	bool ipv6 = below(chance, 2);
	uint32_t session;

	frame->size = 0;
	session = put_ethernet(frame, chance, ipv6);
	if (ipv6)
		put_ipv6(frame, universe, chance, names);
	else
		put_ipv4(frame, universe, chance, names);
	if (session)
		set16(frame->byte + session, said(chance, frame->size - session - 2));
	/* What Ethernet fills short frames up to, or more. */
	if (frame->size < 60 && below(chance, 2))
		put_random(frame, chance, 60 - frame->size);
	else if (one_in(chance, 8))
		put_random(frame, chance, 1 + below(chance, 30));
}
