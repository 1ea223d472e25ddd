/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What becomes of the first data of a TCP connection: TLS hellos and HTTP requests, by the name in
 * them, however they are cut and whatever their lengths say. Against a second parser: see
 * test_hellos_oracle.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <bpf/bpf.h>
#include <cmocka.h>
#include <linux/bpf.h>
#include <net/if.h>

#include "core/error.h"
#include "core/pin.h"
#include "core/watcher.h"
#include "support/hello_world.h"

/* What a row leaves out is the plain case. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

static void check_frame(const char *name, const struct dns_frame *frame, enum xb_reason expected)
{
	enum xb_reason reason = reason_for(name, frame);

	if (reason != expected)
		fail_msg("%s: reason %d, expected %d", name, reason, expected);
}

static void check_wrapped(const char *name, const struct wrap *wrap, uint16_t port,
			  const uint8_t *data, uint32_t size, enum xb_reason reason)
{
	struct dns_frame frame;

	wrap_tcp(wrap, port, data, size, &frame);
	check_frame(name, &frame, reason);
}

/* In both families, with every number of tags. */
static void check_data(const char *name, uint16_t port, const uint8_t *data, uint32_t size,
		       enum xb_reason reason)
{
	for (uint32_t kind = 0; kind < 6; kind++) {
		struct wrap wrap = {.shape = {.ipv6 = kind & 1, .tags = kind / 2}};
		char text[512];

		snprintf(text, sizeof(text), "%s, IPv%d, %u tags", name, kind & 1 ? 6 : 4,
			 kind / 2);
		check_wrapped(text, &wrap, port, data, size, reason);
	}
}

static void check_hello(const char *name, const struct hello *hello, enum xb_reason reason)
{
	check_data(name, TLS_PORT, hello->byte, hello->size, reason);
}

/* ---- Names, in both ---- */

struct name_row {
	const char *text;
	enum xb_reason reason; /* as of TLS */
};

static const struct name_row names_table[] = {
	{"example.com", XB_TLS_DROPPED},
	{"www.example.com", XB_TLS_DROPPED},
	{"a.b.c.d.e.f.g.example.com", XB_TLS_DROPPED},
	{"eXaMPle.CoM", XB_TLS_DROPPED},
	{"example.com.", XB_TLS_DROPPED},
	{"www.example.com.", XB_TLS_DROPPED},
	{"example.org", XB_NAME_CLEAN},
	{"example.org.", XB_NAME_CLEAN},
	{"com", XB_NAME_CLEAN},
	{"com.", XB_NAME_CLEAN},
	{"x", XB_NAME_CLEAN},
	{"aexample.com", XB_NAME_CLEAN},
	{"www.aexample.com", XB_NAME_CLEAN},
	{"example.comm", XB_NAME_CLEAN},
	{"example.com.net", XB_NAME_CLEAN},
	{"com.example", XB_NAME_CLEAN},
	{"examplecom", XB_NAME_CLEAN},
	{"exact.test", XB_TLS_DROPPED},
	{"a.exact.test", XB_NAME_CLEAN},
	{"parent.test", XB_NAME_CLEAN},
	{"child.parent.test", XB_TLS_DROPPED},
	{"a.child.parent.test", XB_TLS_DROPPED},
	{"other.parent.test", XB_NAME_CLEAN},
	{"gluedchild.parent.test", XB_NAME_CLEAN},
	{"allowed.example.com", XB_NAME_ALLOWED},
	{"a.ALLOWED.example.com.", XB_NAME_ALLOWED},
	{"nallowed.example.com", XB_TLS_DROPPED},
	{"refused.test", XB_TLS_DROPPED},
	{"nxdomain.test", XB_TLS_DROPPED},
	{"truncate.test", XB_TLS_DROPPED},
	{"count.test", XB_NAME_COUNTED},
	{"a.count.test.", XB_NAME_COUNTED},
	{"\xc3\xa9.example.com", XB_TLS_DROPPED},
	{"\xe5xample.com", XB_NAME_CLEAN},
	{"www_1-2.example.com", XB_TLS_DROPPED},
	{"*.example.com", XB_TLS_DROPPED},
	{"192.0.2.1", XB_NAME_CLEAN},
	{"192.0.2.1.", XB_NAME_CLEAN},
	{"", XB_TLS_NAMELESS},
	{".", XB_TLS_NAMELESS},
	{"..", XB_TLS_NAMELESS},
	{".example.com", XB_TLS_NAMELESS},
	{"www..example.com", XB_TLS_NAMELESS},
	{"example..com", XB_TLS_NAMELESS},
	{"example.com..", XB_TLS_NAMELESS},
	{L63 ".example.com", XB_TLS_DROPPED},
	{L64 ".example.com", XB_TLS_NAMELESS},
	{L64 "aaaaaaaaaaaaaaaaaaaaa.example.com", XB_TLS_NAMELESS},
	{L63 ".example.com.", XB_TLS_DROPPED},
	{"a.com." L64, XB_TLS_NAMELESS},
	{LONG ".example.com", XB_TLS_DROPPED},	/* 252 bytes */
	{LONG "a.example.com", XB_TLS_DROPPED}, /* 253 bytes */
	{LONG "a.example.com.", XB_TLS_DROPPED},
	{LONG "a.example.org", XB_NAME_CLEAN},
	{LONG "a.example.org.", XB_NAME_CLEAN},
	{LONG "aa.example.com", XB_TLS_NAMELESS},
	{LONG "aa.example.com.", XB_TLS_NAMELESS},
	{LONG "aaa.example.com", XB_TLS_NAMELESS},
	{LONG "aaaa.example.com", XB_TLS_NAMELESS},
	{A125 "d.d", XB_TLS_DROPPED}, /* 127 labels */
	{A125 "d.d.", XB_TLS_DROPPED},
	{A125 "d.e", XB_NAME_CLEAN},
	{A125 "a.d.d", XB_TLS_NAMELESS},
	{A125 "aa.d.d", XB_TLS_NAMELESS},
};

static void hello_names(void **state)
{
	struct hello hello;

	(void)state;
	for (size_t i = 0; i < ROWS(names_table); i++) {
		make_named(&(struct hello_shape){.before = 2, .after = 2, .filler = 5},
			   names_table[i].text, &hello);
		check_hello(names_table[i].text, &hello, names_table[i].reason);
		make_named(&(struct hello_shape){0}, names_table[i].text, &hello);
		check_hello(names_table[i].text, &hello, names_table[i].reason);
	}
}

/* Any byte in a name counts, but for the dots. */
static void hello_names_of_any_bytes(void **state)
{
	uint8_t below[] = "x.example.com", listed[] = "example.com";
	struct hello hello;

	(void)state;
	for (int value = 0; value < 256; value++) {
		below[0] = (uint8_t)value;
		make_hello(&(struct hello_shape){0}, below, sizeof(below) - 1, &hello);
		check_hello("a byte below", &hello,
			    value == '.' ? XB_TLS_NAMELESS : XB_TLS_DROPPED);
		listed[2] = (uint8_t)value;
		make_hello(&(struct hello_shape){0}, listed, sizeof(listed) - 1, &hello);
		check_hello("a byte in it", &hello,
			    value == 'a' || value == 'A' ? XB_TLS_DROPPED : XB_NAME_CLEAN);
	}
	make_hello(&(struct hello_shape){0}, "example.com\0", 12, &hello);
	check_hello("a zero behind it", &hello, XB_NAME_CLEAN);
}

/* What the last name left behind must not lengthen this one. */
static void names_after_longer_ones(void **state)
{
	struct hello hello;

	(void)state;
	for (int i = 0; i < 3; i++) {
		make_named(&(struct hello_shape){0}, "www.example.com.", &hello);
		check_hello("long", &hello, XB_TLS_DROPPED);
		make_named(&(struct hello_shape){0}, "www", &hello);
		check_hello("its first label", &hello, XB_NAME_CLEAN);
		make_named(&(struct hello_shape){0}, "www.", &hello);
		check_hello("with the dot", &hello, XB_NAME_CLEAN);
		make_named(&(struct hello_shape){0}, "www.exampl", &hello);
		check_hello("and a part", &hello, XB_NAME_CLEAN);
		make_named(&(struct hello_shape){0}, LONG "aaaa.example.com", &hello);
		check_hello("too long", &hello, XB_TLS_NAMELESS);
		make_named(&(struct hello_shape){0}, LONG "a", &hello);
		check_hello("and without its end", &hello, XB_NAME_CLEAN);
	}
}

/* ---- Hellos: their parts ---- */

static void hello_parts(void **state)
{
	struct hello hello;

	(void)state;
	for (uint32_t before = 0; before <= 66; before++) {
		for (uint32_t filler = 0; filler < 10; filler += 3) {
			const struct hello_shape shape = {
				.before = before, .after = before % 3, .filler = filler};

			make_named(&shape, "example.com", &hello);
			check_hello("extensions", &hello,
				    before < 64 ? XB_TLS_DROPPED : XB_TLS_NAMELESS);
		}
	}
	for (uint32_t session = 0; session < 256; session++) {
		make_named(&(struct hello_shape){.session = session}, "example.com", &hello);
		check_hello("session id", &hello, XB_TLS_DROPPED);
		/* Lengths that lie lead elsewhere: to no name, by what stands there. */
		hello.byte[hello.session] = (uint8_t)(session + 9);
		check_hello("false session id", &hello, XB_TLS_NAMELESS);
	}
	for (uint32_t ciphers = 2; ciphers < 3000; ciphers += 166) {
		make_named(&(struct hello_shape){.ciphers = ciphers}, "example.com", &hello);
		check_hello("cipher suites", &hello, XB_TLS_DROPPED);
	}
}

static void hello_versions(void **state)
{
	static const uint16_t versions[] = {0x0300, 0x0301, 0x0302, 0x0303, 0x0304, 0x03ff};
	struct hello hello;

	(void)state;
	for (size_t i = 0; i < ROWS(versions); i++) {
		for (size_t j = 0; j < ROWS(versions); j++) {
			make_named(
				&(struct hello_shape){.version = versions[i], .inner = versions[j]},
				"example.com", &hello);
			check_hello("version", &hello, XB_TLS_DROPPED);
		}
	}
	for (int type = 0; type < 256; type++) {
		make_named(&(struct hello_shape){0}, "example.com", &hello);
		hello.byte[0] = (uint8_t)type;
		check_hello("record type", &hello, type == 22 ? XB_TLS_DROPPED : XB_CLEAN);
		make_named(&(struct hello_shape){0}, "example.com", &hello);
		hello.byte[1] = (uint8_t)type;
		check_hello("version", &hello, type == 3 ? XB_TLS_DROPPED : XB_CLEAN);
		make_named(&(struct hello_shape){0}, "example.com", &hello);
		hello.byte[5] = (uint8_t)type;
		check_hello("message type", &hello, type == 1 ? XB_TLS_DROPPED : XB_CLEAN);
	}
	make_hello(&(struct hello_shape){.nameless = true, .before = 3}, "", 0, &hello);
	check_hello("no server name", &hello, XB_TLS_NAMELESS);
	hello.size = hello.extensions;
	set16(hello.byte + 3, hello.size - 5);
	set16(hello.byte + 7, hello.size - 9);
	check_hello("no extensions", &hello, XB_TLS_NAMELESS);
}

/* The lengths of the name and of what it lies in. */
static void hello_name_lengths(void **state)
{
	static const uint32_t lengths[] = {0,	12,  13,  252,	253,   254,
					   255, 256, 511, 4096, 32767, 65535};
	static const struct hello_shape shape = {.after = 1, .filler = 300};
	struct hello hello;

	(void)state;
	for (size_t i = 0; i < ROWS(lengths); i++) {
		make_named(&shape, "example.com", &hello);
		set16(hello.byte + hello.name, lengths[i]);
		check_hello("name", &hello, XB_TLS_NAMELESS);
	}
	for (uint32_t length = 1; length < 11; length++) {
		make_named(&shape, "example.com", &hello);
		set16(hello.byte + hello.name, length);
		check_hello("name, shorter", &hello, XB_NAME_CLEAN);
	}
	for (uint32_t length = 0; length < 65536; length = length < 20 ? length + 1 : length * 2) {
		enum xb_reason list = length < 14 ? XB_TLS_NAMELESS : XB_TLS_DROPPED;
		enum xb_reason extension = length < 16 ? XB_TLS_NAMELESS : XB_TLS_DROPPED;

		make_named(&shape, "example.com", &hello);
		set16(hello.byte + hello.name - 3, length);
		check_hello("list", &hello, list);
		make_named(&shape, "example.com", &hello);
		set16(hello.byte + hello.name - 5, length);
		check_hello("extension", &hello, extension);
	}
}

/* A vector that ends before the name does has none; one that ends behind the segment may. */
static void hello_vector_lengths(void **state)
{
	static const struct hello_shape shape = {.before = 2, .filler = 20};
	struct hello hello;

	(void)state;
	make_named(&shape, "www.example.com", &hello);
	for (uint32_t length = 0; length < 3000; length++) {
		make_named(&shape, "www.example.com", &hello);
		set16(hello.byte + 3, length);
		check_hello("record", &hello,
			    length + 5 < hello.size ? XB_TLS_NAMELESS : XB_TLS_DROPPED);
		make_named(&shape, "www.example.com", &hello);
		set16(hello.byte + 7, length);
		check_hello("message", &hello,
			    length + 9 < hello.size ? XB_TLS_NAMELESS : XB_TLS_DROPPED);
		make_named(&shape, "www.example.com", &hello);
		set16(hello.byte + hello.extensions, length);
		check_hello("extensions", &hello,
			    length + hello.extensions + 2 < hello.size ? XB_TLS_NAMELESS
								       : XB_TLS_DROPPED);
	}
	for (uint32_t value = 1; value < 256; value++) {
		make_named(&shape, "www.example.com", &hello);
		hello.byte[6] = (uint8_t)value;
		check_hello("a large message", &hello, XB_TLS_DROPPED);
		make_named(&shape, "www.example.com", &hello);
		hello.byte[hello.name - 1] = (uint8_t)value;
		check_hello("another kind of name", &hello, XB_TLS_NAMELESS);
	}
}

/* Kinds other than a host name are not gone past. */
static void hello_other_kind_first(void **state)
{
	struct hello hello;

	(void)state;
	make_hello(&(struct hello_shape){0},
		   "abc\0\0\x0b"
		   "example.com",
		   17, &hello);
	hello.byte[hello.name - 1] = 1;
	set16(hello.byte + hello.name, 3);
	check_hello("another kind first", &hello, XB_TLS_NAMELESS);
	make_hello(&(struct hello_shape){0}, "example.com\1\0\3abc", 17, &hello);
	set16(hello.byte + hello.name, 11);
	check_hello("another kind behind", &hello, XB_TLS_DROPPED);
}

/* Puts a record's header into the hello, as a client does that sends it in two records. */
static void split_record(const struct hello *whole, uint32_t at, struct hello *hello)
{
	*hello = *whole;
	memcpy(hello->byte + at + 5, whole->byte + at, whole->size - at);
	memcpy(hello->byte + at, whole->byte, 3);
	set16(hello->byte + at + 3, whole->size - at);
	set16(hello->byte + 3, at - 5);
	hello->size += 5;
}

static void hello_in_two_records(void **state)
{
	struct hello whole, hello;
	uint32_t end;

	(void)state;
	make_named(&(struct hello_shape){.before = 1, .after = 1, .filler = 8}, "www.example.com",
		   &whole);
	end = whole.name + 2 + 15;
	for (uint32_t at = 6; at < whole.size; at++) {
		split_record(&whole, at, &hello);
		check_hello("split", &hello, at < end ? XB_TLS_NAMELESS : XB_TLS_DROPPED);
	}
}

/* The segment ends at every byte; in the second round what was cut off stands behind the packet. */
static void cut_data(uint16_t port, const uint8_t *data, uint32_t whole, uint32_t known,
		     uint32_t named)
{
	enum xb_reason nameless = port == TLS_PORT ? XB_TLS_NAMELESS : XB_HTTP_NAMELESS;

	for (uint32_t kind = 0; kind < 4; kind++) {
		const struct wrap wrap = {
			.shape = {.ipv6 = kind & 1, .fill = kind & 2 ? whole : 0}};

		for (uint32_t size = 0; size <= whole; size++) {
			struct dns_frame frame;
			char name[64];

			wrap_tcp(&wrap, port, data, size, &frame);
			if (wrap.shape.fill)
				memcpy(frame.byte + frame.udp + 20 + size, data + size,
				       whole - size);
			snprintf(name, sizeof(name), "kind %u of %u bytes", kind, size);
			check_frame(name, &frame,
				    size < known   ? XB_CLEAN
				    : size < named ? nameless
				    : port == 443  ? XB_TLS_DROPPED
						   : XB_HTTP_DROPPED);
		}
	}
}

/* The frame ends at every byte, and all lengths say it is whole: never worse than it is. */
static void cut_frames(uint16_t port, const uint8_t *data, uint32_t size)
{
	for (uint32_t kind = 0; kind < 6; kind++) {
		const struct wrap wrap = {.shape = {.ipv6 = kind & 1, .tags = kind / 2}};
		uint32_t start, named = 0, passed = 0;
		struct dns_frame frame;

		wrap_tcp(&wrap, port, data, size, &frame);
		start = frame.udp;
		for (; frame.size >= start; frame.size--) {
			enum xb_reason reason = reason_for("cut", &frame);

			if (xb_reason_drops(reason) && passed)
				fail_msg("dropped, but not when there was more of it");
			named += xb_reason_drops(reason) != 0;
			passed += !xb_reason_drops(reason);
			if (frame.size < start + 24 && reason != XB_CLEAN)
				fail_msg("reason %d for next to nothing", reason);
		}
		assert_true(named && passed);
	}
}

static void cut_hellos(void **state)
{
	struct hello hello;

	(void)state;
	make_named(&(struct hello_shape){.before = 3, .after = 2, .session = 32, .filler = 9},
		   "www.example.com", &hello);
	cut_data(TLS_PORT, hello.byte, hello.size, 6, hello.name + 2 + 15);
	cut_frames(TLS_PORT, hello.byte, hello.size);
}

/* ---- Requests ---- */

static enum xb_reason http_reason(enum xb_reason tls)
{
	return tls == XB_TLS_DROPPED	? XB_HTTP_DROPPED
	       : tls == XB_TLS_NAMELESS ? XB_HTTP_NAMELESS
					: tls;
}

static void check_text(const char *text, enum xb_reason reason)
{
	check_data(text, HTTP_PORT, (const uint8_t *)text, (uint32_t)strlen(text), reason);
}

static void request_names(void **state)
{
	static const char *const forms[] = {
		"GET / HTTP/1.1\r\nHost: %s\r\n\r\n",
		"GET / HTTP/1.1\r\nHost:%s\r\nAccept: *\r\n\r\n",
		"GET / HTTP/1.1\nHost: %s\n\n",
		"GET / HTTP/1.1\r\nA: b\r\nhOST:\t%s:80\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: %s \r\n",
	};
	char text[1024];

	(void)state;
	for (size_t i = 0; i < ROWS(names_table); i++) {
		for (size_t j = 0; j < ROWS(forms); j++) {
			snprintf(text, sizeof(text), forms[j], names_table[i].text);
			check_text(text, http_reason(names_table[i].reason));
		}
	}
}

struct text_row {
	const char *text;
	enum xb_reason reason;
};

#define LINE	 "GET / HTTP/1.1\r\n"
#define LISTED	 "Host: www.example.com\r\n"
#define UNLISTED "Host: www.example.org\r\n"
#define EMPTY	 "\r\n"

static const struct text_row requests_table[] = {
	{LINE LISTED EMPTY, XB_HTTP_DROPPED},
	{LINE UNLISTED EMPTY, XB_NAME_CLEAN},
	{LINE "Accept: */*\r\nUser-Agent: any\r\n" LISTED EMPTY, XB_HTTP_DROPPED},
	{LINE LISTED "Accept: */*\r\nUser-Agent: any\r\n" EMPTY, XB_HTTP_DROPPED},
	{LINE LISTED, XB_HTTP_DROPPED},
	{LINE "Host: www.example.com\r", XB_HTTP_DROPPED},
	{LINE "Host: www.example.com:", XB_HTTP_DROPPED},
	{LINE "Host: www.example.com ", XB_HTTP_DROPPED},
	{LINE "Host: www.example.com", XB_HTTP_NAMELESS},
	{LINE "Host: www.example.com.", XB_HTTP_NAMELESS},
	{LINE "Host: ", XB_HTTP_NAMELESS},
	{LINE "Host:", XB_HTTP_NAMELESS},
	{LINE "Host", XB_HTTP_NAMELESS},
	{LINE, XB_HTTP_NAMELESS},
	{LINE EMPTY, XB_HTTP_NAMELESS},
	{"GET / HTTP/1.0\r\nAccept: */*\r\n\r\n", XB_HTTP_NAMELESS},
	{"GET / HTTP/1.1", XB_HTTP_NAMELESS},
	{LINE "HOST: WWW.EXAMPLE.COM\r\n\r\n", XB_HTTP_DROPPED},
	{LINE "host:www.example.com\r\n\r\n", XB_HTTP_DROPPED},
	{LINE "hOsT:\t \twww.example.com\t\r\n\r\n", XB_HTTP_DROPPED},
	{LINE "Host:        www.example.com\r\n\r\n", XB_HTTP_DROPPED},	  /* 8 blanks */
	{LINE "Host:         www.example.com\r\n\r\n", XB_HTTP_NAMELESS}, /* 9 */
	{LINE "Host: www.example.com:8080\r\n\r\n", XB_HTTP_DROPPED},
	{LINE "Host: www.example.com.:8080\r\n\r\n", XB_HTTP_DROPPED},
	{LINE "Host: :8080\r\n\r\n", XB_HTTP_NAMELESS},
	{LINE "Host: \r\n\r\n", XB_HTTP_NAMELESS},
	{LINE "Host:\r\n\r\n", XB_HTTP_NAMELESS},
	/* Only a name that stands behind the field's is one. */
	{LINE "Host : www.example.com\r\n\r\n", XB_HTTP_NAMELESS},
	{LINE "Host www.example.com\r\n\r\n", XB_HTTP_NAMELESS},
	{LINE "Hosts: www.example.com\r\n\r\n", XB_HTTP_NAMELESS},
	{LINE "X-Host: www.example.com\r\n\r\n", XB_HTTP_NAMELESS},
	{LINE "XHost: www.example.com\r\n" UNLISTED EMPTY, XB_NAME_CLEAN},
	{LINE "Referer: Host: www.example.com\r\n" UNLISTED EMPTY, XB_NAME_CLEAN},
	{LINE "(ost: www.example.com\r\n" UNLISTED EMPTY, XB_NAME_CLEAN},
	{LINE "H\x4fST\x1a www.example.com\r\n" UNLISTED EMPTY, XB_NAME_CLEAN},
	{LINE "Ho\x73t: www.example.com\r\n" EMPTY, XB_HTTP_DROPPED},
	{LINE "Ho\xf3t: www.example.com\r\n" EMPTY, XB_HTTP_NAMELESS},
	/* Folded lines. */
	{LINE "X-Long: a\r\n Host: www.example.com\r\n\r\n", XB_HTTP_NAMELESS},
	{LINE "X-Long: a\r\n\tHost: www.example.com\r\n" UNLISTED EMPTY, XB_NAME_CLEAN},
	{LINE "Host:\r\n www.example.com\r\n\r\n", XB_HTTP_NAMELESS},
	{LINE "Host: www\r\n .example.com\r\n\r\n", XB_NAME_CLEAN},
	/* Only line feeds. */
	{"GET / HTTP/1.1\nHost: www.example.com\n\n", XB_HTTP_DROPPED},
	{"GET / HTTP/1.1\nA: b\nHost: www.example.com\nC: d\n\n", XB_HTTP_DROPPED},
	{"GET / HTTP/1.1\n\nHost: www.example.com\n\n", XB_HTTP_NAMELESS},
	{"GET / HTTP/1.1\rHost: www.example.com\r\r", XB_HTTP_NAMELESS},
	/* The first of two. */
	{LINE LISTED UNLISTED EMPTY, XB_HTTP_DROPPED},
	{LINE UNLISTED LISTED EMPTY, XB_NAME_CLEAN},
	{LINE "Host:\r\n" LISTED EMPTY, XB_HTTP_NAMELESS},
	/* What stands behind the empty line is no field. */
	{LINE EMPTY LISTED EMPTY, XB_HTTP_NAMELESS},
	{"POST / HTTP/1.1\r\nContent-Length: 23\r\n\r\n" LISTED, XB_HTTP_NAMELESS},
	{"POST / HTTP/1.1\r\n" UNLISTED "Content-Length: 23\r\n\r\n" LISTED, XB_NAME_CLEAN},
	{LINE UNLISTED EMPTY LINE LISTED EMPTY, XB_NAME_CLEAN},
	/* Literals. */
	{LINE "Host: 192.0.2.1\r\n\r\n", XB_NAME_CLEAN},
	{LINE "Host: [2001:db8::1]\r\n\r\n", XB_NAME_CLEAN},
	{LINE "Host: [2001:db8::1]:80\r\n\r\n", XB_NAME_CLEAN},
	/* The target does not count. */
	{"GET http://www.example.com/ HTTP/1.1\r\n" UNLISTED EMPTY, XB_NAME_CLEAN},
	{"GET http://www.example.org/ HTTP/1.1\r\n" LISTED EMPTY, XB_HTTP_DROPPED},
	{"GET http://www.example.com/ HTTP/1.1\r\n\r\n", XB_HTTP_NAMELESS},
	{"CONNECT www.example.com:443 HTTP/1.1\r\n" LISTED EMPTY, XB_HTTP_DROPPED},
	{"OPTIONS * HTTP/1.1\r\n" LISTED EMPTY, XB_HTTP_DROPPED},
	/* Methods. */
	{"HEAD / HTTP/1.1\r\n" LISTED EMPTY, XB_HTTP_DROPPED},
	{"POST / HTTP/1.1\r\n" LISTED EMPTY, XB_HTTP_DROPPED},
	{"PUT / HTTP/1.1\r\n" LISTED EMPTY, XB_HTTP_DROPPED},
	{"DELETE / HTTP/1.1\r\n" LISTED EMPTY, XB_HTTP_DROPPED},
	{"TRACE / HTTP/1.1\r\n" LISTED EMPTY, XB_HTTP_DROPPED},
	{"PATCH / HTTP/1.1\r\n" LISTED EMPTY, XB_HTTP_DROPPED},
	{"GETS / HTTP/1.1\r\n" LISTED EMPTY, XB_CLEAN},
	{"get / HTTP/1.1\r\n" LISTED EMPTY, XB_CLEAN},
	{"GET\t/ HTTP/1.1\r\n" LISTED EMPTY, XB_CLEAN},
	{" GET / HTTP/1.1\r\n" LISTED EMPTY, XB_CLEAN},
	{"\r\nGET / HTTP/1.1\r\n" LISTED EMPTY, XB_CLEAN},
	{"POSTED / HTTP/1.1\r\n" LISTED EMPTY, XB_CLEAN},
	{"HEADING\r\n" LISTED EMPTY, XB_CLEAN},
	{"DELETED a\r\n" LISTED EMPTY, XB_CLEAN},
	{"OPTION  / HTTP/1.1\r\n" LISTED EMPTY, XB_CLEAN},
	{"CONNECTED\r\n" LISTED EMPTY, XB_CLEAN},
	{"PATCHES\r\n" LISTED EMPTY, XB_CLEAN},
	{"TRACES of\r\n" LISTED EMPTY, XB_CLEAN},
	{"PROPFIND / HTTP/1.1\r\n" LISTED EMPTY, XB_CLEAN},
	{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", XB_CLEAN},
	/* Later segments, and what is no request. */
	{"some data\r\n" LISTED EMPTY, XB_CLEAN},
	{"\n" LISTED EMPTY, XB_CLEAN},
	{LISTED EMPTY, XB_CLEAN},
	{"HTTP/1.1 200 OK\r\n" LISTED EMPTY, XB_CLEAN},
	{"x", XB_CLEAN},
};

static void requests(void **state)
{
	(void)state;
	for (size_t i = 0; i < ROWS(requests_table); i++)
		check_text(requests_table[i].text, requests_table[i].reason);
}

/* A zero ends a name, as does every other sign below a blank. */
static void request_names_of_any_bytes(void **state)
{
	char text[] = LINE "Host: x.example.com\r\n\r\n";
	char *at = strstr(text, "x.");

	(void)state;
	for (int value = 0; value < 256; value++) {
		bool none = value <= ' ' || value == '.' || value == ':';
		enum xb_reason reason = value == ' ' || value == '\t' ? XB_HTTP_NAMELESS
					: none			      ? XB_HTTP_NAMELESS
								      : XB_HTTP_DROPPED;

		*at = (char)value;
		check_data("a byte", HTTP_PORT, (const uint8_t *)text, sizeof(text) - 1, reason);
		at[1] = (char)value;
		reason = value > ' ' && value != '.' && value != ':' ? XB_NAME_CLEAN
								     : XB_HTTP_NAMELESS;
		*at = 'y';
		if (value <= ' ' || value == ':')
			reason = XB_NAME_CLEAN;
		if (value == '.')
			reason = XB_HTTP_DROPPED;
		check_data("the second byte", HTTP_PORT, (const uint8_t *)text, sizeof(text) - 1,
			   reason);
		at[1] = '.';
	}
}

/* A request of `lines` lines with `bytes` each before the host, then that. */
static uint32_t long_request(uint32_t lines, uint32_t bytes, uint32_t more, char *text)
{
	uint32_t size = (uint32_t)sprintf(text, "GET /");

	memset(text + size, 'a', more);
	size += more;
	text[size++] = '\n';
	for (uint32_t i = 0; i < lines; i++) {
		memset(text + size, 'b', bytes - 1);
		size += bytes;
		text[size - 1] = '\n';
	}
	return size + (uint32_t)sprintf(text + size, "Host: www.example.com\n\n");
}

/* Only the first 2,048 bytes are looked through, however short the lines are. */
static void far_hosts(void **state)
{
	char text[DATA_MAX + 64];

	(void)state;
	for (uint32_t more = 0; more < 2100; more += more < 1980 ? 90 : 1) {
		uint32_t size = long_request(0, 0, more, text);

		check_data("a long target", HTTP_PORT, (const uint8_t *)text, size,
			   size - 2 < 2048 ? XB_HTTP_DROPPED : XB_HTTP_NAMELESS);
	}
	for (uint32_t bytes = 2; bytes < 40; bytes++) {
		for (uint32_t more = 0; more < 16; more++) {
			uint32_t lines = (2048 - 40 - more) / bytes;
			uint32_t size = long_request(lines, bytes, more, text);

			if (size - 2 >= 2048)
				fail_msg("%u bytes are no test", size);
			check_data("short lines", HTTP_PORT, (const uint8_t *)text, size,
				   XB_HTTP_DROPPED);
		}
	}
}

/* What the request before left behind is not this one's. */
static void requests_after_longer_ones(void **state)
{
	static const char whole[] = LINE "A: b\r\n" LISTED "\r\n";

	(void)state;
	for (uint32_t size = 1; size < sizeof(whole); size++) {
		const struct wrap wrap = {0};

		check_wrapped("whole", &wrap, HTTP_PORT, (const uint8_t *)whole, sizeof(whole) - 1,
			      XB_HTTP_DROPPED);
		check_wrapped("its beginning", &wrap, HTTP_PORT, (const uint8_t *)whole, size,
			      size < 8			 ? XB_CLEAN
			      : size < sizeof(whole) - 4 ? XB_HTTP_NAMELESS
							 : XB_HTTP_DROPPED);
	}
}

static void cut_requests(void **state)
{
	static const char text[] = "OPTIONS * HTTP/1.1\r\nA: b\r\nHost: www.example.com\r\n\r\n";

	(void)state;
	cut_data(HTTP_PORT, (const uint8_t *)text, sizeof(text) - 1, 8, sizeof(text) - 4);
	cut_frames(HTTP_PORT, (const uint8_t *)text, sizeof(text) - 1);
}

/* ---- Headers before the data ---- */

#define PADS " 00 0104 00000000 "

static void check_both(const char *name, const struct wrap *wrap, bool found)
{
	static const char text[] = LINE LISTED EMPTY;
	struct hello hello;

	make_named(&(struct hello_shape){0}, "www.example.com", &hello);
	check_wrapped(name, wrap, TLS_PORT, hello.byte, hello.size,
		      found ? XB_TLS_DROPPED : XB_CLEAN);
	check_wrapped(name, wrap, HTTP_PORT, (const uint8_t *)text, sizeof(text) - 1,
		      found ? XB_HTTP_DROPPED : XB_CLEAN);
}

static void ip_headers(void **state)
{
	static const char *const options[] = {
		"01010101", "94040000", "0101010101010101",
		"01010101010101010101010101010101010101010101010101010101010101010101010101010101"};
	static const char *const extensions[] = {
		"00 06" PADS, "3c 06" PADS, "00 3c" PADS "2b" PADS "3c" PADS "06" PADS,
		"2c 06 00 0000 00000001", "33 06 01 0000 00000001 00000001"};

	(void)state;
	for (uint32_t tags = 0; tags < 3; tags++) {
		for (size_t i = 0; i < ROWS(options); i++)
			check_both(options[i],
				   &(struct wrap){.shape = {.tags = tags, .options = options[i]}},
				   true);
		for (size_t i = 0; i < ROWS(extensions); i++)
			check_both(extensions[i],
				   &(struct wrap){.shape = {.ipv6 = true,
							    .tags = tags,
							    .extensions = extensions[i]}},
				   true);
		check_both("first fragment",
			   &(struct wrap){.shape = {.tags = tags, .field = 0x2000}}, false);
		check_both("last fragment",
			   &(struct wrap){.shape = {.tags = tags, .field = 0x0001}}, false);
		check_both("first fragment",
			   &(struct wrap){.shape = {.ipv6 = true,
						    .tags = tags,
						    .extensions = "2c 06 00 0001 00000001"}},
			   false);
		check_both("later fragment",
			   &(struct wrap){.shape = {.ipv6 = true,
						    .tags = tags,
						    .extensions = "2c 06 00 0008 00000001"}},
			   false);
		check_both(
			"UDP",
			&(struct wrap){
				.shape = {.ipv6 = true, .tags = tags, .extensions = "00 11" PADS}},
			false);
	}
}

static void tcp_headers(void **state)
{
	(void)state;
	for (uint32_t ipv6 = 0; ipv6 < 2; ipv6++) {
		for (uint32_t words = 5; words < 16; words++) {
			struct wrap wrap = {.shape = {.ipv6 = ipv6}, .words = words};

			check_both("options", &wrap, true);
			for (uint32_t lie = 0; lie < 16; lie++) {
				wrap.lie = lie + 1;
				check_both("header length", &wrap, lie == words);
			}
		}
	}
}

/* A header that says it is shorter than it can be would make data of what is none. */
static void short_tcp_headers(void **state)
{
	static const uint8_t start[] = {22, 3, 1, 0, 200, 1};
	struct hello hello;

	(void)state;
	make_named(&(struct hello_shape){0}, "www.example.com", &hello);
	for (uint32_t ipv6 = 0; ipv6 < 2; ipv6++) {
		struct wrap wrap = {.shape = {.ipv6 = ipv6}, .lie = 4 + 1};
		struct dns_frame frame;

		/* All of a hello but its first four bytes, with these in the header. */
		wrap_tcp(&wrap, TLS_PORT, hello.byte + 4, hello.size - 4, &frame);
		memcpy(frame.byte + frame.udp + 16, start, 4);
		check_frame("a hello from the header on", &frame, XB_CLEAN);
	}
}

static void other_ports(void **state)
{
	static const char text[] = LINE LISTED EMPTY;
	struct hello hello;

	(void)state;
	make_named(&(struct hello_shape){0}, "www.example.com", &hello);
	check_data("a hello to HTTP", HTTP_PORT, hello.byte, hello.size, XB_CLEAN);
	check_data("a request to TLS", TLS_PORT, (const uint8_t *)text, sizeof(text) - 1, XB_CLEAN);
	check_data("a hello elsewhere", 444, hello.byte, hello.size, XB_CLEAN);
	check_data("a request elsewhere", 81, (const uint8_t *)text, sizeof(text) - 1, XB_CLEAN);
	check_data("a hello to the second port", 8443, hello.byte, hello.size, XB_TLS_DROPPED);
	check_data("a request to the second port", 65535, (const uint8_t *)text, sizeof(text) - 1,
		   XB_HTTP_DROPPED);
	check_data("DNS over TCP", 53, hello.byte, hello.size, XB_DNS_TCP);
	check_data("no data", TLS_PORT, hello.byte, 0, XB_CLEAN);
}

static void off(void **state)
{
	static const struct xb_name_ports none = {.dns = {53}}, tls = {.dns = {53}, .tls = {443}};
	static const char text[] = LINE LISTED EMPTY;
	struct hello hello;

	(void)state;
	make_named(&(struct hello_shape){0}, "www.example.com", &hello);
	rig_ports(&rig, &none);
	check_both("off", &(struct wrap){0}, false);
	check_both("off", &(struct wrap){.shape = {.options = "01010101"}}, false);
	check_both("off", &(struct wrap){.shape = {.ipv6 = true, .extensions = "00 06" PADS}},
		   false);
	check_hello("off", &hello, XB_CLEAN);
	rig_ports(&rig, &tls);
	check_hello("on", &hello, XB_TLS_DROPPED);
	check_data("off", HTTP_PORT, (const uint8_t *)text, sizeof(text) - 1, XB_CLEAN);
	rig_ports(&rig, &all_ports);
	check_both("on", &(struct wrap){0}, true);
}

/* ---- Policies ---- */

static enum xb_reason monitored(enum xb_reason reason)
{
	return xb_reason_drops(reason) ? XB_MONITORED : reason;
}

static int enforce(void **state)
{
	(void)state;
	rig_policy(&rig, XB_POLICY_ENFORCE);
	return 0;
}

static void monitor(void **state)
{
	struct hello hello;
	char text[1024];

	(void)state;
	rig_policy(&rig, XB_POLICY_MONITOR);
	for (size_t i = 0; i < ROWS(names_table); i++) {
		const struct name_row *row = &names_table[i];

		make_named(&(struct hello_shape){0}, row->text, &hello);
		check_hello(row->text, &hello, monitored(row->reason));
		snprintf(text, sizeof(text), LINE "Host: %s\r\n\r\n", row->text);
		check_text(text, monitored(http_reason(row->reason)));
	}
	rig_policy(&rig, XB_POLICY_ENFORCE);
	check_both("enforced", &(struct wrap){0}, true);
}

/* With addresses of both families listed the program is at its largest. */
static void beside_addresses(void **state)
{
	static const char *const addresses[] = {"203.0.113.1", "203.0.114.0/24", "2001:db8:bad::1"};

	(void)state;
	for (size_t i = 0; i < ROWS(addresses); i++)
		rig_add(&rig, addresses[i], "default");
	rig_rotate(&rig);
	hello_names(state);
	requests(state);
	for (size_t i = 0; i < ROWS(addresses); i++)
		assert_true(rig_del(&rig, addresses[i], NULL));
	rig_rotate(&rig);
	check_both("no addresses", &(struct wrap){0}, true);
}

/* ---- What is told ---- */

struct seen {
	struct xb_name_drop last;
	uint32_t count;
};

static int see(const struct xb_drop *drop, void *context)
{
	struct seen *seen = context;

	seen->count++;
	memset(&seen->last, 0, sizeof(seen->last));
	memcpy(&seen->last, drop, drop->name_bytes ? sizeof(seen->last) : sizeof(*drop));
	return 0;
}

/* Test runs come in through the loopback: only if it is attached it is told of them. */
static int attach(void **state)
{
	struct xb_enrolled *all;
	size_t count;

	(void)state;
	assert_int_equal(xb_link_enrol(&counts_link, if_nametoindex("lo"), "lo"), 0);
	assert_int_equal(xb_link_enrolled(&counts_link, &all, &count), 0);
	assert_int_equal(count, 1);
	counts_row = all[0].row;
	free(all);
	read_counts(&last_counts);
	return 0;
}

static int detach(void **state)
{
	(void)state;
	assert_int_equal(xb_link_dismiss(&counts_link, if_nametoindex("lo")), 0);
	counts_row = 0;
	read_counts(&last_counts);
	return 0;
}

static void check_told(struct xb_watcher *watcher, struct seen *seen, const char *name,
		       enum xb_reason reason, uint16_t port)
{
	uint8_t labels[512];
	uint32_t size = dns_labels(name, labels);
	const struct xb_drop *drop = &seen->last.drop;

	for (int i = 0; !seen->count && i < 20; i++)
		assert_int_equal(xb_watcher_poll(watcher), 0);
	if (seen->count != 1)
		fail_msg("%s: told %u times", name, seen->count);
	seen->count = 0;
	assert_int_equal(drop->reason, reason);
	assert_int_equal(drop->protocol, 6);
	assert_int_equal(ntohs(drop->sport), 54321);
	assert_int_equal(ntohs(drop->dport), port);
	assert_int_equal(drop->name_bytes, size);
	if (memcmp(seen->last.name, labels, size))
		fail_msg("%s: another name was told", name);
}

static void told(void **state)
{
	static const char *const names[] = {"example.com",
					    "WWW.example.com",
					    "refused.test",
					    "count.test",
					    "a.b.c.d.e.f.g.example.com",
					    L63 ".example.com",
					    LONG "a.example.com",
					    A125 "d.d"};
	struct seen seen = {0};
	struct xb_watcher watcher;
	struct hello hello;
	char text[1024];

	(void)state;
	if (xb_watcher_open(&watcher, rig.pins, 1000, see, &seen))
		fail_msg("%s", xb_error_message());
	for (size_t i = 0; i < ROWS(names); i++) {
		bool counted = !strcmp(names[i], "count.test");

		for (uint32_t kind = 0; kind < 2; kind++) {
			const struct wrap wrap = {.shape = {.ipv6 = kind}, .words = 5 + 3 * kind};
			const char *dot = kind ? "." : "";

			snprintf(text, sizeof(text), "%s%s", names[i], dot);
			make_named(&(struct hello_shape){.before = 1}, text, &hello);
			check_wrapped(names[i], &wrap, TLS_PORT, hello.byte, hello.size,
				      counted ? XB_NAME_COUNTED : XB_TLS_DROPPED);
			check_told(&watcher, &seen, names[i],
				   counted ? XB_NAME_COUNTED : XB_TLS_DROPPED, TLS_PORT);
			snprintf(text, sizeof(text), LINE "Host: %s%s\r\n\r\n", names[i], dot);
			check_wrapped(names[i], &wrap, HTTP_PORT, (const uint8_t *)text,
				      (uint32_t)strlen(text),
				      counted ? XB_NAME_COUNTED : XB_HTTP_DROPPED);
			check_told(&watcher, &seen, names[i],
				   counted ? XB_NAME_COUNTED : XB_HTTP_DROPPED, HTTP_PORT);
		}
	}
	make_named(&(struct hello_shape){0}, "example.org", &hello);
	check_wrapped("not listed", &(struct wrap){0}, TLS_PORT, hello.byte, hello.size,
		      XB_NAME_CLEAN);
	assert_int_equal(xb_watcher_poll(&watcher), 0);
	assert_int_equal(seen.count, 0);
	xb_watcher_close(&watcher);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hello_names),
		cmocka_unit_test(hello_names_of_any_bytes),
		cmocka_unit_test(names_after_longer_ones),
		cmocka_unit_test(hello_parts),
		cmocka_unit_test(hello_versions),
		cmocka_unit_test(hello_name_lengths),
		cmocka_unit_test(hello_vector_lengths),
		cmocka_unit_test(hello_other_kind_first),
		cmocka_unit_test(hello_in_two_records),
		cmocka_unit_test(cut_hellos),
		cmocka_unit_test(request_names),
		cmocka_unit_test(requests),
		cmocka_unit_test(request_names_of_any_bytes),
		cmocka_unit_test(far_hosts),
		cmocka_unit_test(requests_after_longer_ones),
		cmocka_unit_test(cut_requests),
		cmocka_unit_test(ip_headers),
		cmocka_unit_test(tcp_headers),
		cmocka_unit_test(short_tcp_headers),
		cmocka_unit_test(other_ports),
		cmocka_unit_test(off),
		cmocka_unit_test_teardown(monitor, enforce),
		cmocka_unit_test(beside_addresses),
		cmocka_unit_test_setup_teardown(told, attach, detach),
	};

	return cmocka_run_group_tests_name("hellos", tests, begin, end);
}
