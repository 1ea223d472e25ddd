/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the list formats share: words, comments, record types, addresses, domains, lines that are
 * not understood; and items. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lists/line.h"
#include "support/cmocka.h"
#include "support/listlines.h"

TEST(blanks_are_trimmed)
{
	static const struct {
		const char *text, *trimmed;
	} cases[] = {{"", ""},		{" \t\r", ""}, {"a", "a"},
		     {" a", "a"},	{"a\r", "a"},  {"\t a \t b \r\t", "a \t b"},
		     {"\na\n", "\na\n"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[32];

		strcpy(text, cases[i].text);
		assert_string_equal(xb_line_trim(text), cases[i].trimmed);
	}
}

TEST(words)
{
	char text[] = "\t one two\t\rthree ", *rest = text, none[] = " \t", *empty = none;

	assert_string_equal(xb_line_word(&rest), "one");
	assert_string_equal(xb_line_word(&rest), "two");
	assert_string_equal(xb_line_word(&rest), "three");
	assert_null(xb_line_word(&rest));
	assert_null(xb_line_word(&rest));
	assert_null(xb_line_word(&empty));
}

TEST(comments_are_cut_off)
{
	static const struct {
		const char *text, *marks, *before, *comment;
	} cases[] = {{"a # b", "#", "a ", "b"},
		     {"a", "#", "a", ""},
		     {"# b ", "#", "", "b"},
		     {"a #", "#", "a ", ""},
		     {"a ; b # c", "#;", "a ", "b # c"},
		     {"a ; b # c", "#", "a ; b ", "c"},
		     {"", "#", "", ""}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[32];

		strcpy(text, cases[i].text);
		assert_string_equal(xb_line_comment(text, cases[i].marks), cases[i].comment);
		assert_string_equal(text, cases[i].before);
	}
}

TEST(types_of_records)
{
	static const struct {
		const char *text, *type, *rest;
	} cases[] = {{"A 192.0.2.1", "A", "192.0.2.1"},
		     {"IN A 192.0.2.1", "A", "192.0.2.1"},
		     {"300 in cname .", "cname", "."},
		     {"In 1h30m CNAME .", "CNAME", "."},
		     {"1W2D AAAA ::", "AAAA", "::"},
		     {"1x A", "1x", "A"},
		     {"INA", "INA", ""},
		     {"h30 A", "h30", "A"}};
	char only[] = "300 IN", *rest = only, none[] = "", *nothing = none;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char text[32], *next = text;

		strcpy(text, cases[i].text);
		assert_string_equal(xb_line_record_type(&next), cases[i].type);
		assert_string_equal(next, cases[i].rest);
	}
	assert_null(xb_line_record_type(&rest));
	assert_null(xb_line_record_type(&nothing));
}

TEST(addresses_lead_nowhere)
{
	static const char *const nowhere[] = {"0.0.0.0", "127.0.0.0",	"127.255.255.255", "::",
					      "::1",	 "fe80::1%lo0", "::ffff:127.0.0.1"};
	static const char *const somewhere[] = {"",	"0.0.0.1",     "126.0.0.1",    "128.0.0.1",
						"::2",	"fe80::1",     "fe80::2%lo",   "0.0.0.0/0",
						"::/0", "127.0.0.0/8", "127.0.0.1%lo", "localhost",
						"%lo0", "1::1",	       "0.0.0.0 "};

	for (size_t i = 0; i < sizeof(nowhere) / sizeof(nowhere[0]); i++)
		if (!xb_line_is_nowhere(nowhere[i]))
			fail_msg("%s", nowhere[i]);
	for (size_t i = 0; i < sizeof(somewhere) / sizeof(somewhere[0]); i++)
		if (xb_line_is_nowhere(somewhere[i]))
			fail_msg("%s", somewhere[i]);
	assert_int_equal(xb_error_class(), XB_ERROR_NONE);
}

TEST(the_first_cut_off_host_bits_are_kept)
{
	struct xb_entry entry;
	char longest[1000];

	file.lines = 3;
	assert_int_equal(xb_line_address(&file, "192.0.2.0/24", &entry), 0);
	assert_int_equal(file.host_bits, 0);
	assert_int_equal(file.first_host_bits_line, 0);
	assert_int_equal(xb_line_address(&file, "192.0.2.1/24", &entry), 0);
	assert_int_equal(entry.hi, 0xc000020000000000);
	file.lines = 4;
	assert_int_equal(xb_line_address(&file, "2001:db8::1/32", &entry), 0);
	assert_int_equal(file.host_bits, 2);
	assert_int_equal(file.first_host_bits_line, 3);
	assert_string_equal(file.first_host_bits, "192.0.2.1/24");
	assert_int_equal(xb_line_address(&file, "example.com", &entry), -EINVAL);
	assert_int_equal(xb_line_address(&file, "", &entry), -EINVAL);
	assert_int_equal(xb_line_address(&file, "\x1b[31m", &entry), -EINVAL);
	assert_null(strchr(xb_error_message(), '\x1b'));
	memset(longest, '1', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_int_equal(xb_line_address(&file, longest, &entry), -EINVAL);
	assert_int_equal(file.host_bits, 2);
}

static void keep_domain(const char *text, unsigned int how, const char *comment)
{
	file.lines++;
	assert_int_equal(xb_line_keep_domain(&file, text, how, comment), 0);
}

TEST(domains_are_kept)
{
	reading.format = &xb_domains_format;
	keep_domain("Example.COM.", 0, "");
	keep_domain("a.example", XB_LINE_EXACT, "why");
	keep_domain("b.example", XB_LINE_ALLOW, "why");
	keep_domain("c.example", XB_LINE_ALLOW | XB_LINE_EXACT | XB_LINE_DOUBTFUL, "");
	keep_domain("7.example", 0, "");
	assert_file("domains: example.com, =a.example (why), allow b.example (why), "
		    "allow =c.example, 7.example");
	for (size_t i = 0; i < file.count; i++) {
		assert_int_equal(file.items[i].entry.line, i + 1);
		assert_int_equal(file.items[i].doubtful, i == 3);
	}
}

TEST(domains_that_are_none)
{
	static const char *const texts[] = {"",		 "=a.example",	"a..b",
					    "192.0.2.1", "192.0.2.256", "a.1b",
					    "a b",	 "a/b",		"a.example:53"};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(xb_line_keep_domain(&file, texts[i], 0, "why"), -EINVAL);
		assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
		xb_error_clear();
	}
	assert_int_equal(file.count, 0);
}

/* Its form leaves no byte of the room; one more label says that it stands alone. */
TEST(the_longest_domain)
{
	char text[255], expected[300];

	reading.format = &xb_domains_format;
	memset(text, 'a', sizeof(text) - 1);
	text[63] = text[127] = text[191] = '.';
	text[253] = '\0';
	keep_domain(text, XB_LINE_EXACT, "");
	snprintf(expected, sizeof(expected), "domains: =%s", text);
	assert_file(expected);
	strcpy(text + 253, "a");
	assert_int_equal(xb_line_keep_domain(&file, text, 0, ""), -EINVAL);
}

static void keep_comment(const char *comment)
{
	struct xb_item item = {.entry = {.kind = XB_HOST4, .length = 32}};

	assert_int_equal(xb_line_keep_with_comment(&file, &item, comment), 0);
}

/* One that no entry can have is left out, and the entry is not. */
TEST(comments_are_kept)
{
	char longest[257];

	memset(longest, 'c', sizeof(longest));
	longest[256] = '\0';
	keep_comment("");
	keep_comment("one");
	keep_comment("a\x1b[31m");
	keep_comment("\xff");
	keep_comment(longest);
	keep_comment(longest + 1);
	keep_comment("one");
	assert_int_equal(xb_error_class(), XB_ERROR_NONE);
	assert_int_equal(file.count, 7);
	for (size_t i = 0; i < file.count; i++) {
		const char *expected = i == 1 || i == 6 ? "one" : i == 5 ? longest + 1 : "";

		assert_string_equal(xb_listfile_comment(&file, &file.items[i]), expected);
	}
}

TEST(lines_that_were_not_understood)
{
	char longest[300];

	memset(longest, 'l', sizeof(longest));
	longest[299] = '\0';
	for (uint64_t i = 0; i < 3000; i++)
		assert_int_equal(xb_line_unknown(&file, i, "line %llu", (unsigned long long)i), 0);
	assert_int_equal(xb_line_unknown(&file, UINT64_MAX, "%s", longest), 0);
	assert_int_equal(file.unknown, 3001);
	assert_string_equal(file.first_unknown[0].text, "line 0");
	assert_string_equal(file.first_unknown[2999].text, "line 2999");
	assert_int_equal(file.first_unknown[3000].line, UINT64_MAX);
	assert_int_equal(strlen(file.first_unknown[3000].text), XB_UNKNOWN_TEXT - 1);
}

/* By number, although they were found in other order. */
TEST(what_is_doubtful_is_settled)
{
	reading.format = &xb_domains_format;
	file.lines = 4;
	keep_domain("a.example", 0, "");
	keep_domain("b.example", XB_LINE_DOUBTFUL, "");
	file.lines = 1;
	keep_domain("c.example", XB_LINE_DOUBTFUL | XB_LINE_EXACT, "");
	keep_domain("d.example", 0, "");
	assert_int_equal(xb_line_unknown(&file, 4, "odd"), 0);
	assert_int_equal(xb_line_settle(&file, "is odd"), 0);
	assert_file("domains: a.example, d.example; "
		    "3 unknown (2: '=c.example' is odd, 4: odd, 6: 'b.example' is odd)");
	assert_int_equal(xb_line_settle(&file, "is odd"), 0);
	assert_int_equal(file.unknown, 3);
}

TEST(a_freed_file_is_empty)
{
	keep_domain("a.example", 0, "why");
	assert_int_equal(xb_line_unknown(&file, 4, "odd"), 0);
	xb_listfile_free(&file);
	assert_empty(&file);
	xb_listfile_free(&file);
}

EACH_TEST(begin_reading, end_reading);
