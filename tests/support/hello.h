/* SPDX-License-Identifier: GPL-2.0-or-later */
/* First data of TCP connections, TLS hellos above all, made byte by byte; nothing is shared with
 * what is tested. */
#ifndef XB_TESTS_HELLO_H
#define XB_TESTS_HELLO_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "support/dns.h"

#define DATA_MAX  3400 /* of a segment; what a test run takes */
#define TLS_PORT  443
#define HTTP_PORT 80

/* How the data is wrapped. Zero is the plain case: IPv4, no tags, no options. */
struct wrap {
	struct dns_shape shape;
	uint32_t words; /* of the TCP header; 0: 5 */
	uint32_t lie;	/* words that the header says it has; 0: the truth */
};

/* The first eight bytes of a TCP header stand where those of UDP do. */
static inline void wrap_tcp(const struct wrap *wrap, uint16_t port, const uint8_t *data,
			    uint32_t size, struct dns_frame *frame)
{
	uint32_t words = wrap->words ? wrap->words : 5, more = (words - 5) * 4;
	struct dns_shape shape = wrap->shape;
	uint8_t segment[DNS_FRAME_MAX] = {0x12, 0x34, 0x56, 0x78, 0, 0x18, 0xfa, 0xf0};

	segment[4] = (uint8_t)((wrap->lie ? wrap->lie - 1 : words) << 4);
	memset(segment + 12, 1, more);
	memcpy(segment + 12 + more, data, size);
	shape.protocol = 6;
	shape.port = shape.port ? shape.port : port;
	dns_wrap(&shape, segment, 12 + more + size, frame);
}

/* Zero: a short hello whose one extension is the server name. */
struct hello_shape {
	uint32_t session, ciphers; /* bytes */
	uint32_t before, after;	   /* extensions around the server name */
	uint32_t filler;	   /* bytes in each of them */
	uint16_t version;	   /* of the record; 0: 0x0301 */
	uint16_t inner;		   /* of the message; 0: 0x0303 */
	bool nameless;
};

struct hello {
	uint8_t byte[DATA_MAX];
	uint32_t size;
	uint32_t session, ciphers, methods, extensions, name; /* offsets of their lengths */
};

static inline void add_byte(struct hello *hello, uint32_t value)
{
	assert_true(hello->size < DATA_MAX);
	hello->byte[hello->size++] = (uint8_t)value;
}

static inline void add16(struct hello *hello, uint32_t value)
{
	add_byte(hello, value >> 8);
	add_byte(hello, value);
}

static inline void add_fill(struct hello *hello, uint8_t value, uint32_t size)
{
	while (size--)
		add_byte(hello, value);
}

static inline void set16(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 8);
	at[1] = (uint8_t)value;
}

static inline void add_fillers(struct hello *hello, uint32_t count, uint32_t filler)
{
	for (uint32_t i = 0; i < count; i++) {
		add16(hello, 0x0a0a + 0x1010 * (i % 15));
		add16(hello, filler);
		add_fill(hello, 0, filler);
	}
}

/* Gives the lengths of all that the name lies in their true values. */
static inline void set_lengths(struct hello *hello)
{
	set16(hello->byte + 3, hello->size - 5);
	hello->byte[6] = 0;
	set16(hello->byte + 7, hello->size - 9);
	set16(hello->byte + hello->extensions, hello->size - hello->extensions - 2);
}

static inline void make_hello(const struct hello_shape *shape, const void *name, uint32_t size,
			      struct hello *hello)
{
	uint32_t ciphers = shape->ciphers ? shape->ciphers : 4;

	hello->size = 0;
	add_byte(hello, 22);
	add16(hello, shape->version ? shape->version : 0x0301);
	add16(hello, 0);
	add_byte(hello, 1);
	add_fill(hello, 0, 3);
	add16(hello, shape->inner ? shape->inner : 0x0303);
	add_fill(hello, 0x77, 32);
	hello->session = hello->size;
	add_byte(hello, shape->session);
	add_fill(hello, 0x55, shape->session);
	hello->ciphers = hello->size;
	add16(hello, ciphers);
	add_fill(hello, 0x13, ciphers);
	hello->methods = hello->size;
	add16(hello, 0x0100);
	hello->extensions = hello->size;
	add16(hello, 0);
	add_fillers(hello, shape->before, shape->filler);
	hello->name = hello->size + 7;
	if (!shape->nameless) {
		add16(hello, 0);
		add16(hello, size + 5);
		add16(hello, size + 3);
		add_byte(hello, 0);
		add16(hello, size);
		for (uint32_t i = 0; i < size; i++)
			add_byte(hello, ((const uint8_t *)name)[i]);
	}
	add_fillers(hello, shape->after, shape->filler);
	set_lengths(hello);
}

static inline void make_named(const struct hello_shape *shape, const char *name,
			      struct hello *hello)
{
	make_hello(shape, name, (uint32_t)strlen(name), hello);
}

/* Names as long, and with as many labels, as can be. */
#define L62 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define L63 L62 "a"
#define L64 L63 "a"
/* 252 bytes with the name behind it. */
#define LONG                                                                                       \
	L63 "." L63 "." L63 "."                                                                    \
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define TEN  "a.a.a.a.a.a.a.a.a.a."
#define A60  TEN TEN TEN TEN TEN TEN
#define A125 A60 A60 "a.a.a.a.a."

#endif
