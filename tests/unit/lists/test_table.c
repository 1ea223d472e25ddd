/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of formats: how they are chosen and recognized, and what becomes of lines before a
 * format sees them. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lists/line.h"
#include "support/cmocka.h"
#include "support/listlines.h"

#define FORMATS 34

TEST(names_of_formats)
{
	char names[] = FORMAT_NAMES, *rest = names, *name;
	size_t count = 0;

	assert_string_equal(xb_listfile_formats(), FORMAT_NAMES);
	assert_null(xb_listformat_name(&reading));
	while ((name = strsep(&rest, ", "))) {
		if (!*name)
			continue;
		assert_int_equal(xb_listformat_choose(&reading, name), 0);
		assert_string_equal(xb_listformat_name(&reading), name);
		count++;
	}
	assert_int_equal(count, FORMATS);
}

TEST(names_of_none)
{
	static const char *const names[] = {"plai", "plain ", "Plain", "plain, netset"};
	char message[512];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(message, sizeof(message), "unknown list format '%s'; known: " FORMAT_NAMES,
			 names[i]);
		assert_input_error(xb_listformat_choose(&reading, names[i]), message);
	}
	assert_input_error(xb_listformat_choose(&reading, ""),
			   "unknown list format ''; known: " FORMAT_NAMES);
	assert_input_error(xb_listformat_choose(&reading, "\x1b[31m"),
			   "unknown list format '?[31m'; known: " FORMAT_NAMES);
}

/* By their first line; two, which are plain but for comments, only by name. */
TEST_WITH(formats_are_recognized, NULL, NULL)
{
	static const struct {
		const char *line, *format;
	} cases[] = {{"192.0.2.1", "plain"},
		     {"192.0.2.0/24 # why", "plain"},
		     {"2001:db8::/32 ; SBL1", "plain"},
		     {"{\"cidr\":\"192.0.2.0/24\"}", "spamhaus-json"},
		     {"192.0.2.1\t7", "ipsum"},
		     {"create a hash:ip", "ipset"},
		     {"add a 192.0.2.1", "ipset"},
		     {"0.0.0.0 a.example", "hosts"},
		     {"||a.example^", "adblock"},
		     {"address=/a.example/", "dnsmasq"},
		     {"local-zone: \"a.example\" refuse", "unbound"},
		     {"$TTL 60", "rpz"},
		     {"a.example", "domains"},
		     {"192.0.2.1-192.0.2.9", "plain"},
		     {"192.0.2.1 - 192.0.2.9 # why", "plain"},
		     {"2001:db8::1-2001:db8::9", "plain"},
		     {"192.0.2.0/255.255.255.0", "plain"},
		     {"192.0.2.1:80", "plain"},
		     {"[2001:db8::1]:80", "plain"},
		     {"192.0.2.1 // why", "plain"},
		     {"a: b:192.0.2.1-192.0.2.9", "p2p"},
		     {"192.000.002.001 - 192.000.002.009 , 000 , a", "ipfilter"},
		     {"192.0.2.1 - 192.0.2.9 , 100 , a", "ipfilter"},
		     {"{", "json"},
		     {"[\"192.0.2.1\"]", "json"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin_reading(NULL);
		assert_taken(cases[i].line);
		if (!xb_listformat_name(&reading))
			fail_msg("%s", cases[i].line);
		assert_string_equal(xb_listformat_name(&reading), cases[i].format);
		end_reading(NULL);
	}
}

TEST(a_line_in_no_format)
{
	assert_input_error(take("<html>"),
			   "not in a known list format: '<html>'; known: " FORMAT_NAMES);
	assert_null(xb_listformat_name(&reading));
	assert_taken("192.0.2.1");
	assert_file("plain: 192.0.2.1");
}

/* Until the format is known, comments of any; then its own. */
TEST(comments_and_blanks)
{
	assert_taken("# a");
	assert_taken(" ; b");
	assert_taken("\t! c");
	assert_taken("");
	assert_taken(" \t\r");
	assert_null(xb_listformat_name(&reading));
	assert_taken("  192.0.2.1\t\r");
	assert_true(reading.indented);
	assert_taken("#d");
	assert_taken(";e");
	assert_input_error(take("!f"), "'!f' is not an address or prefix");
	assert_taken("192.0.2.2");
	assert_file("plain: 192.0.2.1, 192.0.2.2");
}

TEST(a_mark_of_byte_order)
{
	assert_taken("\xef\xbb\xbf"
		     "192.0.2.1");
	assert_taken("192.0.2.2");
	assert_int_equal(take("\xef\xbb\xbf"
			      "192.0.2.3"),
			 -EINVAL);
	xb_error_clear();
	assert_file("plain: 192.0.2.1, 192.0.2.2");
}

TEST(only_a_mark_of_byte_order)
{
	assert_taken("\xef\xbb\xbf");
	assert_taken("192.0.2.1");
	assert_file("plain: 192.0.2.1");
}

TEST(binary_data)
{
	assert_input_error(take_bytes("192.0.2.1\0", 10), "binary data, not a list");
	assert_input_error(take_bytes("\0", 1), "binary data, not a list");
	assert_taken("a.example");
	/* also for a format that leaves out what it does not understand */
	assert_input_error(take_bytes("b.example\0x", 11), "binary data, not a list");
	assert_file("domains: a.example");
}

/* With blanks behind it, and at last a return, which does not count. */
static int take_of_size(const char *text, size_t size, bool with_return)
{
	static char line[XB_LIST_LINE_BYTES + 3];

	memset(line, ' ', sizeof(line));
	memcpy(line, text, strlen(text));
	line[size] = '\r';
	return take_bytes(line, size + with_return);
}

TEST(the_longest_line)
{
	assert_int_equal(take_of_size("2001:db8::1", XB_LIST_LINE_BYTES, false), 0);
	assert_int_equal(take_of_size("2001:db8::2", XB_LIST_LINE_BYTES, true), 0);
	assert_input_error(take_of_size("2001:db8::3", XB_LIST_LINE_BYTES + 1, false),
			   "line longer than 4096 bytes");
	assert_input_error(take_of_size("# why", XB_LIST_LINE_BYTES + 1, true),
			   "line longer than 4096 bytes");
	assert_file("plain: 2001:db8::1, 2001:db8::2");
}

TEST(the_longest_line_of_domains)
{
	assert_int_equal(take_of_size("a.example", XB_LIST_LINE_BYTES, true), 0);
	assert_int_equal(take_of_size("b.example", XB_LIST_LINE_BYTES + 1, true), 0);
	assert_file("domains: a.example; 1 unknown (2: line longer than 4096 bytes)");
}

/* As a whole or not at all: what the first words of a line said goes with it. */
TEST(lines_are_taken_loosely)
{
	assert_taken("0.0.0.0 a.example");
	assert_taken("0.0.0.0 b.example 0..example");
	assert_taken("\x1b[31m");
	assert_taken("0.0.0.0 c.example");
	assert_int_equal(xb_error_class(), XB_ERROR_NONE);
	assert_int_equal(file.count, 2);
	assert_int_equal(file.unknown, 2);
	assert_int_equal(file.first_unknown[0].line, 2);
	assert_int_equal(file.first_unknown[1].line, 3);
	assert_null(strchr(file.first_unknown[1].text, '\x1b'));
}

TEST(a_finished_file_is_in_order)
{
	assert_taken("198.51.100.1");
	assert_taken("192.0.2.1");
	assert_taken("2001:db8::1");
	assert_taken("192.0.2.0/24");
	assert_taken("192.0.2.1");
	assert_int_equal(xb_listformat_finish(&reading), 0);
	assert_file("plain: 192.0.2.0/24, 192.0.2.1, 192.0.2.1, 198.51.100.1, 2001:db8::1");
	assert_int_equal(file.items[1].entry.line, 2);
	assert_int_equal(file.items[2].entry.line, 5);
}

TEST(an_empty_file_is_finished)
{
	assert_int_equal(xb_listformat_finish(&reading), 0);
	assert_null(xb_listformat_name(&reading));
	assert_int_equal(file.count, 0);
}

EACH_TEST(begin_reading, end_reading);
