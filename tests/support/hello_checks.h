/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What tests of TLS and HTTP ask for in every family and with tags, cut at every byte, and the
 * names that both are asked with. */
#ifndef XB_TESTS_HELLO_CHECKS_H
#define XB_TESTS_HELLO_CHECKS_H

#include <stdio.h>
#include <string.h>

#include "support/hello_world.h"

/* What a row leaves out is the plain case. */
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"

/* A request, line by line. */
#define LINE   "GET / HTTP/1.1\r\n"
#define LISTED "Host: www.example.com\r\n"
#define EMPTY  "\r\n"

static inline void check_frame(const char *name, const struct dns_frame *frame,
			       enum xb_reason expected)
{
	enum xb_reason reason = reason_for(name, frame);

	if (reason != expected)
		fail_msg("%s: reason %d, expected %d", name, reason, expected);
}

static inline void check_wrapped(const char *name, const struct wrap *wrap, uint16_t port,
				 const uint8_t *data, uint32_t size, enum xb_reason reason)
{
	struct dns_frame frame;

	wrap_tcp(wrap, port, data, size, &frame);
	check_frame(name, &frame, reason);
}

/* In both families, behind everything that may stand below. */
static inline void check_data(const char *name, uint16_t port, const uint8_t *data, uint32_t size,
			      enum xb_reason reason)
{
	for (uint32_t kind = 0; kind < 2 * DNS_LINKS; kind++) {
		struct wrap wrap = {.shape = {.ipv6 = kind & 1, .link = kind / 2}};
		char text[512];

		snprintf(text, sizeof(text), "%s, IPv%d, link %u", name, kind & 1 ? 6 : 4,
			 kind / 2);
		check_wrapped(text, &wrap, port, data, size, reason);
	}
}

static inline void check_hello(const char *name, const struct hello *hello, enum xb_reason reason)
{
	check_data(name, TLS_PORT, hello->byte, hello->size, reason);
}

static inline void check_text(const char *text, enum xb_reason reason)
{
	check_data(text, HTTP_PORT, (const uint8_t *)text, (uint32_t)strlen(text), reason);
}

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

static inline enum xb_reason http_reason(enum xb_reason tls)
{
	return tls == XB_TLS_DROPPED	? XB_HTTP_DROPPED
	       : tls == XB_TLS_NAMELESS ? XB_HTTP_NAMELESS
					: tls;
}

/* The segment ends at every byte; in the second round what was cut off stands behind the packet. */
static inline void cut_data(uint16_t port, const uint8_t *data, uint32_t whole, uint32_t known,
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

/* The frame ends at every byte, and all lengths of the packet say it is whole: never worse than it
 * is. */
static inline void cut_frames(uint16_t port, const uint8_t *data, uint32_t size)
{
	for (uint32_t kind = 0; kind < 2 * DNS_LINKS; kind++) {
		const struct wrap wrap = {.shape = {.ipv6 = kind & 1, .link = kind / 2}};
		uint32_t start, named = 0, passed = 0;
		struct dns_frame frame;

		wrap_tcp(&wrap, port, data, size, &frame);
		start = frame.udp;
		for (; frame.size >= start; frame.size--) {
			enum xb_reason reason;

			dns_end_session(&wrap.shape, &frame);
			reason = reason_for("cut", &frame);
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

static inline void check_both(const char *name, const struct wrap *wrap, bool found)
{
	static const char text[] = LINE LISTED EMPTY;
	struct hello hello;

	make_named(&(struct hello_shape){0}, "www.example.com", &hello);
	check_wrapped(name, wrap, TLS_PORT, hello.byte, hello.size,
		      found ? XB_TLS_DROPPED : XB_CLEAN);
	check_wrapped(name, wrap, HTTP_PORT, (const uint8_t *)text, sizeof(text) - 1,
		      found ? XB_HTTP_DROPPED : XB_CLEAN);
}

#endif
