/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is said about text that is nearly an entry. */
#include "model/nearmiss.h"

#include <string.h>

#include "base/error.h"
#include "model/entry.h"
#include "support/cmocka.h"

static void says(const char *text, bool names, const char *why)
{
	uint8_t form[XB_NAME_BYTES] = {0};
	struct xb_entry entry;

	if (!xb_entry_parse(text, strlen(text), names ? form : NULL, &entry, NULL))
		fail_msg("'%s' is taken", text);
	assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	if (!strstr(xb_error_message(), why))
		fail_msg("'%s': \"%s\" lacks \"%s\"", text, xb_error_message(), why);
}

TEST(ranges_want_prefixes)
{
	for (int names = 0; names < 2; names++) {
		says("192.0.2.1-192.0.2.9", names,
		     "'192.0.2.1-192.0.2.9': ranges of addresses are not supported; use prefixes");
		says("2001:db8::1-2001:db8::9", names, "use prefixes");
	}
	says("192.0.2.1-", true, "is not a valid domain");
	says("-192.0.2.1", true, "is not a valid domain");
	says("192.0.2.1-9", true, "is not a valid domain");
}

TEST(urls_name_their_host)
{
	static const char *const rows[][2] = {
		{"https://evil.example.com/a?b", "to list its host: evil.example.com"},
		{"http://evil.example.com", "to list its host: evil.example.com"},
		{"http://u:p@evil.example.com:8080/a@b", "to list its host: evil.example.com"},
		{"http://[2001:db8::1]:80/", "to list its host: 2001:db8::1"},
		{"http://[2001:db8::1", "to list its host: 2001:db8::1"},
		{"http://\x1b[31m.example/", "to list its host: ?[31m.example"},
		{"http://", "is not an address"},
		{"http:///path", "is not an address"},
		{"http://user@/", "is not an address"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		says(rows[i][0], true, rows[i][1]);
	says("http://evil.example.com/", false, "is not an address or prefix");
}

TEST(wildcards_are_left_out)
{
	says("*.example.net", true,
	     "'*.example.net': leave out \"*.\"; example.net stands for all names below it too");
	says("*.", true, "is not a valid domain");
	says("*.*.example.net", true, "is not a valid domain");
	says("*.example.net", false, "is not an address or prefix");
}

/* The text need not end with a zero byte. */
TEST(no_byte_behind_it_is_read)
{
	static const char text[] = {'h', 't', 't', 'p', ':', '/', '/', 'a'};

	xb_input_error("before");
	xb_near_miss_explain(text, sizeof(text) - 1, true);
	assert_string_equal(xb_error_message(), "before");
	xb_near_miss_explain(text, sizeof(text), true);
	assert_string_equal(xb_error_message(), "'http://a' is a URL; to list its host: a");
	xb_input_error("before");
	xb_near_miss_explain(text, 0, true);
	assert_string_equal(xb_error_message(), "before");
}
