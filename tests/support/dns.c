/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DNS messages and frames. */
#include "dns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t dns_labels(const char *text, uint8_t *out)
{
	uint32_t size = 0;

	while (*text) {
		uint32_t length = (uint32_t)strcspn(text, ".");

		out[size++] = (uint8_t)length;
		memcpy(out + size, text, length);
		size += length;
		text += length + (text[length] == '.');
	}
	return size;
}

uint32_t dns_bytes(const char *text, uint8_t *out)
{
	uint32_t size = 0;

	while (*text) {
		unsigned int byte;

		if (*text == ' ') {
			text++;
		} else if (*text == '\'') {
			char name[1024];
			size_t length = strcspn(text + 1, "'");

			memcpy(name, text + 1, length);
			name[length] = '\0';
			size += dns_labels(name, out + size);
			text += length + 2;
		} else if (sscanf(text, "%2x", &byte) == 1) {
			out[size++] = (uint8_t)byte;
			text += 2;
		} else {
			fprintf(stderr, "not in hexadecimal: %s\n", text);
			exit(1);
		}
	}
	return size;
}

static void put(struct dns_frame *frame, const void *bytes, uint32_t size)
{
	memcpy(frame->byte + frame->size, bytes, size);
	frame->size += size;
}

static void put_text(struct dns_frame *frame, const char *text)
{
	frame->size += dns_bytes(text, frame->byte + frame->size);
}

static void set16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

uint16_t dns_checksum(const uint8_t *bytes, uint32_t size, uint32_t sum)
{
	for (uint32_t i = 0; i < size; i++)
		sum += i & 1 ? bytes[i] : (uint32_t)bytes[i] << 8;
	while (sum > 0xffff)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

#define CLIENT	"020000000002"
#define SERVER	"020000000001"
#define CLIENT4 "c6336408"
#define SERVER4 "c0000201"
#define CLIENT6 "20010db800010002ff03fffe00000001"
#define SERVER6 "20010db8000000000000000000000002"

static void put_ethernet(const struct dns_shape *shape, struct dns_frame *frame)
{
	put_text(frame, shape->reply ? CLIENT SERVER : SERVER CLIENT);
	for (uint32_t i = shape->link % 3; i > 0; i--)
		put_text(frame, i == 2 ? "88a8 2064" : "8100 6065");
	put_text(frame, shape->link >= 3 ? "8864 1100 0007 0000" : shape->ipv6 ? "86dd" : "0800");
	if (shape->link >= 3 && shape->link < 6)
		put_text(frame, "00");
	if (shape->link >= 3)
		put_text(frame, shape->ipv6 ? "57" : "21");
	frame->network = frame->size;
}

/* Its PPPoE session, if it has one, ends with the frame. */
static void end_session(const struct dns_shape *shape, struct dns_frame *frame)
{
	uint32_t protocol = shape->link < 6 ? 2 : 1;

	if (shape->link >= 3)
		set16(frame->byte + frame->network - protocol - 2,
		      frame->size - frame->network + protocol);
}

static void put_ipv4(const struct dns_shape *shape, uint32_t payload, struct dns_frame *frame)
{
	uint8_t *ip = frame->byte + frame->size, options[64];
	uint32_t more = shape->options ? dns_bytes(shape->options, options) : 0;

	put_text(frame, "45 00 0000 1234 0000 40 11 0000");
	put_text(frame, shape->reply ? SERVER4 CLIENT4 : CLIENT4 SERVER4);
	put(frame, options, more);
	ip[0] = (uint8_t)(0x45 + more / 4);
	set16(ip + 2, 20 + more + payload + (uint32_t)shape->ip_more);
	set16(ip + 6, shape->field);
	ip[8] = shape->reply ? 64 : 57;
	ip[9] = shape->protocol ? shape->protocol : 17;
	set16(ip + 10, dns_checksum(ip, 20 + more, 0));
}

static void put_ipv6(const struct dns_shape *shape, uint32_t payload, struct dns_frame *frame)
{
	uint8_t *ip = frame->byte + frame->size, extensions[1024];
	uint32_t more = shape->extensions ? dns_bytes(shape->extensions, extensions) : 0;

	put_text(frame, "60054321 0000 11 39");
	put_text(frame, shape->reply ? SERVER6 CLIENT6 : CLIENT6 SERVER6);
	if (more)
		put(frame, extensions + 1, more - 1);
	set16(ip + 4, (more ? more - 1 : 0) + payload + (uint32_t)shape->ip_more);
	ip[6] = more ? extensions[0] : shape->protocol ? shape->protocol : 17;
	ip[7] = shape->reply ? 64 : 57;
}

static void put_udp(const struct dns_shape *shape, const uint8_t *message, uint32_t size,
		    struct dns_frame *frame)
{
	const uint8_t *addresses = frame->byte + frame->network + (shape->ipv6 ? 8 : 12);
	uint8_t *udp = frame->byte + frame->size;
	uint32_t port = shape->port ? shape->port : 53, pseudo;
	uint16_t sum;

	frame->udp = frame->size;
	put_text(frame, "0000 0000 0000 0000");
	set16(udp + (shape->reply ? 0 : 2), port);
	set16(udp + (shape->reply ? 2 : 0), 54321);
	set16(udp + 4, 8 + size + (uint32_t)shape->udp_more);
	frame->message = frame->size;
	put(frame, message, size);
	pseudo = (uint16_t)~dns_checksum(addresses, shape->ipv6 ? 32 : 8, 17 + 8 + size);
	sum = dns_checksum(udp, 8 + size, pseudo);
	set16(udp + 6, sum ? sum : 0xffff);
}

void dns_wrap(const struct dns_shape *shape, const uint8_t *message, uint32_t size,
	      struct dns_frame *frame)
{
	frame->size = 0;
	put_ethernet(shape, frame);
	if (shape->ipv6)
		put_ipv6(shape, 8 + size, frame);
	else
		put_ipv4(shape, 8 + size, frame);
	put_udp(shape, message, size, frame);
	end_session(shape, frame);
	memset(frame->byte + frame->size, 0x5a, shape->fill);
	frame->size += shape->fill;
}

void dns_query(const char *name, bool ipv6, struct dns_frame *frame)
{
	const struct dns_shape shape = {.ipv6 = ipv6};
	uint8_t message[512] = {0x12, 0x34, 1, 0, 0, 1};
	uint32_t size = 12 + dns_labels(name, message + 12);

	memcpy(message + size, "\0\0\x01\0\x01", 5);
	dns_wrap(&shape, message, size + 5, frame);
}

uint32_t dns_answer(const uint8_t *query, bool truncated, uint8_t code, uint8_t *out)
{
	uint32_t end = 12;

	while (query[end])
		end += query[end] + 1U;
	end += 5;
	memcpy(out, query, end);
	out[2] = (uint8_t)(0x80 | (truncated ? 0x02 : 0) | (query[2] & 0x01));
	out[3] = (uint8_t)(0x80 | (query[3] & 0x10) | code);
	if (!query[11])
		return end;
	memcpy(out + end, "\0\0\x29\x04\xd0\0\0\0\0\0\0", 11);
	out[end + 7] = query[end + 7] & 0x80;
	return end + 11;
}
