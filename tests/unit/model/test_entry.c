/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries: text both ways, their kinds, and what covers what. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/entry.h"
#include "support/cmocka.h"

/* Room for the forms of some names at once. */
static struct xb_entry parse(const char *text)
{
	static uint8_t forms[8][XB_NAME_BYTES];
	static unsigned int next;
	struct xb_entry entry;

	memset(&entry, 0xa5, sizeof(entry));
	if (xb_entry_parse(text, strlen(text), forms[next++ % 8], &entry, NULL))
		fail_msg("%s: %s", text, xb_error_message());
	return entry;
}

static void is_text(const char *text, const char *canonical, uint8_t kind, bool cut)
{
	uint8_t form[XB_NAME_BYTES];
	char out[XB_ENTRY_TEXT];
	bool host_bits = !cut;
	struct xb_entry entry;

	if (xb_entry_parse(text, strlen(text), form, &entry, &host_bits))
		fail_msg("%s: %s", text, xb_error_message());
	assert_string_equal(xb_entry_format(&entry, out), canonical);
	assert_int_equal(entry.kind, kind);
	assert_int_equal(host_bits, cut);
	assert_int_equal(entry.line, 0);
}

TEST(text_is_canonical)
{
	is_text("0.0.0.0", "0.0.0.0", XB_HOST4, false);
	is_text("255.255.255.255/32", "255.255.255.255", XB_HOST4, false);
	is_text("192.0.2.255/25", "192.0.2.128/25", XB_HOST4, true);
	is_text("192.0.2.255/24", "192.0.2.0/24", XB_PREFIX4, true);
	is_text("192.0.2.0/24", "192.0.2.0/24", XB_PREFIX4, false);
	is_text("255.255.255.255/0", "0.0.0.0/0", XB_PREFIX4, true);
	is_text("::", "::", XB_NET6, false);
	is_text("2001:DB8::1/128", "2001:db8::1", XB_NET6, false);
	is_text("2001:db8::1/64", "2001:db8::/64", XB_NET6, true);
	is_text("2001:db8:0:0:8000::/65", "2001:db8:0:0:8000::/65", XB_NET6, false);
	is_text("2001:db8:0:0:8000::/64", "2001:db8::/64", XB_NET6, true);
	is_text("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/0", "::/0", XB_NET6, true);
	is_text("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/127",
		"ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe/127", XB_NET6, true);
	is_text("Example.COM.", "example.com", XB_NAME, false);
}

TEST(mapped_addresses_are_ipv4)
{
	is_text("::ffff:192.0.2.1", "192.0.2.1", XB_HOST4, false);
	is_text("::FFFF:c000:201/128", "192.0.2.1", XB_HOST4, false);
	is_text("::ffff:192.0.2.1/120", "192.0.2.0/24", XB_PREFIX4, true);
	is_text("::ffff:192.0.2.1/96", "0.0.0.0/0", XB_PREFIX4, true);
	is_text("::ffff:0.0.0.0/96", "0.0.0.0/0", XB_PREFIX4, false);
	is_text("::ffff:0.0.0.0/95", "::fffe:0:0/95", XB_NET6, true);
	is_text("::192.0.2.1", "::192.0.2.1", XB_NET6, false);
	is_text("::1:ffff:192.0.2.1", "::1:ffff:c000:201", XB_NET6, false);
}

TEST(the_mapped_form_is_known)
{
	struct xb_entry entry = {.lo = UINT64_C(0xffffc0000201), .kind = XB_NET6, .length = 128};
	struct xb_entry allow = {.lo = UINT64_C(0xffffc0000200), .kind = XB_ALLOW6, .length = 121};
	struct xb_entry wide = {.lo = UINT64_C(0xfffe00000000), .kind = XB_NET6, .length = 95};
	struct xb_entry name = parse("example.com"), ipv4 = parse("192.0.2.1");

	assert_true(xb_entry_is_mapped(&entry));
	assert_true(xb_entry_is_mapped(&allow));
	assert_false(xb_entry_is_mapped(&wide));
	assert_false(xb_entry_is_mapped(&name));
	assert_false(xb_entry_is_mapped(&ipv4));
}

static void is_refused(const char *text, size_t size, bool names)
{
	char *copy = malloc(size ? size : 1); /* the sanitizer sees what is read behind it */
	uint8_t form[XB_NAME_BYTES] = {0};
	struct xb_entry entry;

	assert_non_null(copy);
	memcpy(copy, text, size);
	xb_error_clear();
	if (xb_entry_parse(copy, size, names ? form : NULL, &entry, NULL) != -EINVAL)
		fail_msg("'%s' is taken", text);
	assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	free(copy);
}

TEST(what_is_no_entry)
{
	static const char *const rows[] = {
		"",
		"/",
		"/24",
		"1.2.3",
		"1.2.3.4.5",
		"1.2.3.256",
		"01.2.3.4",
		"1.2.3.4/",
		"1.2.3.4/33",
		"1.2.3.4/032",
		"1.2.3.4/00",
		"1.2.3.4/-1",
		"1.2.3.4/+8",
		"1.2.3.4/ 8",
		"1.2.3.4/8 ",
		"1.2.3.4/8/8",
		"1.2.3.4/0x8",
		"1.2.3.4/1e1",
		"1.2.3.4/256",
		"1.2.3.4/4294967320",
		" 1.2.3.4",
		"1.2.3.4 ",
		":",
		":::",
		"1::2::3",
		"::1/129",
		"::1/1000",
		"::12345",
		"::ffff:1.2.3",
		"fe80::1%lo",
		"[::1]",
		"1.2.3.4:80",
		"::g",
		"1:2:3:4:5:6:7",
		"...",
		"1234",
		"1.2.3.4\n",
		"1.2.3.4/24\n",
		"::1\r",
	};
	char longest[300];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		is_refused(rows[i], strlen(rows[i]), false);
		is_refused(rows[i], strlen(rows[i]), true);
	}
	is_refused("1.2.3.4\0", 8, true);
	is_refused("1.2.3.4\0/8", 10, true);
	is_refused("::1\0", 4, true);
	is_refused("example.com", 11, false);
	memset(longest, ':', sizeof(longest));
	for (size_t size = 60; size < 70; size++)
		is_refused(longest, size, true);
}

static struct xb_entry allowed(const char *text)
{
	struct xb_entry entry = parse(text);

	return xb_entry_allow(&entry);
}

TEST(kinds)
{
	struct xb_entry entry = allowed("192.0.2.0/24");

	assert_int_equal(entry.kind, XB_ALLOW4);
	assert_true(xb_entry_is_allow(&entry) && xb_entry_is_ipv4(&entry));
	assert_int_equal(xb_entry_full_length(&entry), 32);
	assert_int_equal(xb_entry_ipv4(&entry), 0xc0000200);
	assert_int_equal(xb_entry_keys(&entry), 0);
	entry = allowed("2001:db8::/32");
	assert_int_equal(entry.kind, XB_ALLOW6);
	assert_true(xb_entry_is_ipv6(&entry));
	assert_int_equal(xb_entry_full_length(&entry), 128);
	assert_int_equal(xb_entry_keys(&entry), 0);
	entry = allowed("example.com");
	assert_int_equal(entry.kind, XB_ALLOW_NAME);
	assert_true(xb_entry_is_name(&entry));
	assert_false(xb_entry_is_ipv4(&entry));
	assert_int_equal(xb_entry_keys(&entry), 0);
	entry = xb_entry_allow(&entry);
	assert_int_equal(entry.kind, XB_ALLOW_NAME);
	entry = parse("192.0.2.0/25");
	assert_int_equal(xb_entry_keys(&entry), 128);
	entry = parse("192.0.2.0/32");
	assert_int_equal(xb_entry_keys(&entry), 1);
	entry = parse("192.0.2.0/24");
	assert_int_equal(xb_entry_keys(&entry), 0);
	entry = parse("::/0");
	assert_int_equal(xb_entry_keys(&entry), 1);
	entry = parse("com");
	assert_int_equal(xb_entry_keys(&entry), 1);
}

TEST(wider_ones)
{
	struct xb_entry entry = parse("255.255.255.255"), covering;
	char out[XB_ENTRY_TEXT];
	int steps = 0;

	covering = xb_entry_covering(&entry, 32);
	assert_int_equal(xb_entry_compare(&entry, &covering), 0);
	covering = xb_entry_covering(&entry, 25);
	assert_int_equal(covering.kind, XB_HOST4);
	covering = xb_entry_covering(&entry, 24);
	assert_int_equal(covering.kind, XB_PREFIX4);
	assert_string_equal(xb_entry_format(&covering, out), "255.255.255.0/24");
	for (; xb_entry_widen(&entry); steps++)
		assert_int_equal(entry.kind, entry.length > 24 ? XB_HOST4 : XB_PREFIX4);
	assert_int_equal(steps, 32);
	assert_string_equal(xb_entry_format(&entry, out), "0.0.0.0/0");
	entry = allowed("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff");
	covering = xb_entry_covering(&entry, 64);
	assert_string_equal(xb_entry_format(&covering, out), "ffff:ffff:ffff:ffff::/64");
	for (steps = 0; xb_entry_widen(&entry); steps++)
		assert_int_equal(entry.kind, XB_ALLOW6);
	assert_int_equal(steps, 128);
	assert_true(entry.hi == 0 && entry.lo == 0);
	entry = parse("=a.example");
	for (steps = 0; xb_entry_widen(&entry); steps++)
		;
	assert_int_equal(steps, 2);
}

static void is_inside(const char *outer, const char *inner, bool expected)
{
	struct xb_entry out = parse(outer), in = parse(inner), allow = xb_entry_allow(&in);

	if (xb_entry_inside(&out, &in) != expected || xb_entry_inside(&out, &allow) != expected)
		fail_msg("%s in %s: %d", inner, outer, !expected);
}

TEST(what_covers_what)
{
	is_inside("0.0.0.0/0", "255.255.255.255", true);
	is_inside("192.0.2.0/24", "192.0.2.0/24", true);
	is_inside("192.0.2.0/24", "192.0.2.255", true);
	is_inside("192.0.2.0/24", "192.0.3.0", false);
	is_inside("192.0.2.0/25", "192.0.2.0/24", false);
	is_inside("192.0.2.1", "192.0.2.0/31", false);
	is_inside("::/0", "192.0.2.1", false);
	is_inside("0.0.0.0/0", "::1", false);
	is_inside("2001:db8::/64", "2001:db8::ffff:ffff:ffff:ffff", true);
	is_inside("2001:db8::/65", "2001:db8::8000:0:0:0", false);
	is_inside("::/0", "ffff::", true);
	is_inside("example.com", "www.example.com", true);
	is_inside("example.com", "example.com", true);
	is_inside("example.com", "=example.com", true);
	is_inside("example.com", "notexample.com", false);
	is_inside("example.com", "com", false);
	is_inside("=example.com", "=example.com", true);
	is_inside("=example.com", "example.com", false);
	is_inside("=example.com", "www.example.com", false);
	is_inside("0.0.0.0/0", "example.com", false);
	is_inside("com", "::1", false);
}
