/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What becomes of an HTTP connection's first data, by the host in it, however it is cut. Against a
 * second parser: see test_hellos_oracle.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/hello_checks.h"

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

#define BLANKS8	 "        "
#define BLANKS64 BLANKS8 BLANKS8 BLANKS8 BLANKS8 BLANKS8 BLANKS8 BLANKS8 BLANKS8
#define UNLISTED "Host: www.example.org\r\n"

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
	{LINE "Host:         www.example.com\r\n\r\n", XB_HTTP_DROPPED}, /* 9 blanks */
	{LINE "Host:" BLANKS64 "www.example.com\r\n\r\n", XB_HTTP_DROPPED},
	{LINE "Host:" BLANKS64 " www.example.com\r\n\r\n", XB_HTTP_NAMELESS},
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
	{LINE "Host: www\r\n .example.com\r\n\r\n", XB_HTTP_AMBIGUOUS},
	{LINE UNLISTED "A: b\r\n\tc\r\n\r\n", XB_HTTP_AMBIGUOUS},
	{LINE LISTED " \r\n\r\n", XB_HTTP_DROPPED},
	/* Only line feeds. */
	{"GET / HTTP/1.1\nHost: www.example.com\n\n", XB_HTTP_DROPPED},
	{"GET / HTTP/1.1\nA: b\nHost: www.example.com\nC: d\n\n", XB_HTTP_DROPPED},
	{"GET / HTTP/1.1\n\nHost: www.example.com\n\n", XB_HTTP_NAMELESS},
	{"GET / HTTP/1.1\rHost: www.example.com\r\r", XB_HTTP_NAMELESS},
	/* The first of two. */
	{LINE LISTED UNLISTED EMPTY, XB_HTTP_DROPPED},
	{LINE UNLISTED LISTED EMPTY, XB_HTTP_AMBIGUOUS},
	{LINE UNLISTED "A: b\r\nhost:www.example.com\r\n\r\n", XB_HTTP_AMBIGUOUS},
	/* Cut off where the one before, which lies in the same place, went on. */
	{LINE UNLISTED "A: b\r\nhos", XB_NAME_CLEAN},
	{LINE UNLISTED EMPTY LISTED, XB_NAME_CLEAN},
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
	/* A target that has a host counts, whatever the Host says (RFC 9112, section 3.2). */
	{"GET http://www.example.com/ HTTP/1.1\r\n" UNLISTED EMPTY, XB_HTTP_DROPPED},
	{"GET http://www.example.org/ HTTP/1.1\r\n" LISTED EMPTY, XB_NAME_CLEAN},
	{"GET http://www.example.com/ HTTP/1.1\r\n\r\n", XB_HTTP_DROPPED},
	{"GET  \tHTTP://WWW.EXAMPLE.COM:80 HTTP/1.1\r\n" UNLISTED EMPTY, XB_HTTP_DROPPED},
	{"GET https://www.example.com?a HTTP/1.1\r\n" UNLISTED EMPTY, XB_HTTP_DROPPED},
	{"GET ws://www.example.com.#a HTTP/1.1\r\n" UNLISTED EMPTY, XB_HTTP_DROPPED},
	{"GET http://www.example.com HTTP/1.1\r\n\r\n", XB_HTTP_DROPPED},
	{"GET http://www.example.com", XB_HTTP_NAMELESS},
	{"GET http:///www.example.com HTTP/1.1\r\n" UNLISTED EMPTY, XB_HTTP_NAMELESS},
	{"GET http://a@www.example.com/ HTTP/1.1\r\n" UNLISTED EMPTY, XB_HTTP_NAMELESS},
	{"GET /http://www.example.com/ HTTP/1.1\r\n" UNLISTED EMPTY, XB_NAME_CLEAN},
	{"GET /a://www.example.com/ HTTP/1.1\r\n" LISTED EMPTY, XB_HTTP_DROPPED},
	{"GET a:/www.example.org/ HTTP/1.1\r\n" LISTED EMPTY, XB_HTTP_DROPPED},
	{"CONNECT www.example.com:443 HTTP/1.1\r\n" UNLISTED EMPTY, XB_HTTP_DROPPED},
	{"CONNECT www.example.org:443 HTTP/1.1\r\n" LISTED EMPTY, XB_NAME_CLEAN},
	{"OPTIONS * HTTP/1.1\r\n" LISTED EMPTY, XB_HTTP_DROPPED},
	/* Methods. */
	{"HEAD / HTTP/1.1\r\n" LISTED EMPTY, XB_HTTP_DROPPED},
	{"POST / HTTP/1.1\r\n" LISTED EMPTY, XB_HTTP_DROPPED},
	{"PUT / HTTP/1.1\r\n" LISTED EMPTY, XB_HTTP_DROPPED},
	{"DELETE / HTTP/1.1\r\n" LISTED EMPTY, XB_HTTP_DROPPED},
	{"TRACE / HTTP/1.1\r\n" LISTED EMPTY, XB_HTTP_DROPPED},
	{"PATCH / HTTP/1.1\r\n" LISTED EMPTY, XB_HTTP_DROPPED},
	{"GETS / HTTP/1.1\r\n" LISTED EMPTY, XB_HTTP_DROPPED},
	{"get / HTTP/1.1\r\n" LISTED EMPTY, XB_HTTP_DROPPED},
	{"GET\t/ HTTP/1.1\r\n" LISTED EMPTY, XB_HTTP_DROPPED},
	{" GET / HTTP/1.1\r\n" LISTED EMPTY, XB_CLEAN},
	{"\r\nGET / HTTP/1.1\r\n" LISTED EMPTY, XB_HTTP_DROPPED},
	{"\n\r\n\nGET / HTTP/1.1\r\n" LISTED EMPTY, XB_HTTP_DROPPED},
	{"POSTED / HTTP/1.1\r\n" LISTED EMPTY, XB_HTTP_DROPPED},
	{"M-SEARCH / HTTP/1.1\n" LISTED EMPTY, XB_HTTP_DROPPED},
	{"BASELINE-CONTROL-AND-23 / HTTP/1.1\r\n" LISTED EMPTY, XB_HTTP_DROPPED},
	{"BASELINE-CONTROL-AND-24- / HTTP/1.1\r\n" LISTED EMPTY, XB_CLEAN},
	{"FOO / HTTP/1.1"
	 "\r\r\n" LISTED EMPTY,
	 XB_CLEAN},
	{"FOO / HTTP/1.x\r\n" LISTED EMPTY, XB_CLEAN},
	{"FOO HTTP/1.1\r\n" LISTED EMPTY, XB_CLEAN},
	{"/ / HTTP/1.1\r\n" LISTED EMPTY, XB_CLEAN},
	{"FOO / HTTP/1.1", XB_CLEAN},
	{"HEADING\r\n" LISTED EMPTY, XB_CLEAN},
	{"DELETED a\r\n" LISTED EMPTY, XB_CLEAN},
	{"OPTION  / HTTP/1.1\r\n" LISTED EMPTY, XB_HTTP_DROPPED},
	{"CONNECTED\r\n" LISTED EMPTY, XB_CLEAN},
	{"PATCHES\r\n" LISTED EMPTY, XB_CLEAN},
	{"TRACES of\r\n" LISTED EMPTY, XB_CLEAN},
	{"PROPFIND / HTTP/1.1\r\n" LISTED EMPTY, XB_HTTP_DROPPED},
	{"PROPFIND http://www.example.com/ HTTP/1.1\r\n" UNLISTED EMPTY, XB_HTTP_DROPPED},
	{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", XB_HTTP_NAMELESS},
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(request_names),
		cmocka_unit_test(requests),
		cmocka_unit_test(request_names_of_any_bytes),
		cmocka_unit_test(far_hosts),
		cmocka_unit_test(requests_after_longer_ones),
		cmocka_unit_test(cut_requests),
	};

	return cmocka_run_group_tests_name("requests", tests, begin, end);
}
