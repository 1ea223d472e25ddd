/* SPDX-License-Identifier: GPL-2.0-or-later */
/* UTF-8 and what is safe for a terminal; numbers as people write them; paths that fit to the last
 * byte, and one byte more. */
#include "base/error.h"
#include "base/paths.h"
#include "base/text.h"
#include "support/cmocka.h"

TEST(numbers)
{
	assert_string_equal(XB_NUMBER(0.0), "0");
	assert_string_equal(XB_NUMBER(1.5), "1.5");
	assert_string_equal(XB_NUMBER(0.1), "0.1");
	assert_string_equal(XB_NUMBER(0.0001), "0.0001");
	assert_string_equal(XB_NUMBER(1e-5), "1e-5");
	assert_string_equal(XB_NUMBER(1e-9), "1e-9");
	assert_string_equal(XB_NUMBER(2.5e-6), "2.5e-6");
	assert_string_equal(XB_NUMBER(1.23456e-10), "1.23456e-10");
	assert_string_equal(XB_NUMBER(-1.23456e-308), "-1.23456e-308");
	assert_string_equal(XB_NUMBER(1e100), "1e+100");
}

/* RFC 3629: the first and the last of each length, and what lies just beside them. */
TEST(characters)
{
	static const char *const of_bytes[][19] = {
		{"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2\x7f", "\xc2\xc0", "\xc2",
		 "\xe0\x9f\xbf", "\xed\xa0\x80", "\xed\xbf\xbf", "\xef\xbf", "\xe1\x80\x7f",
		 "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xf1\x80\x80\xc0",
		 "\xf1\x80\x80", "\xff"},
		{"a", "\x7f"},
		{"\xc2\x80", "\xdf\xbf"},
		{"\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf"},
		{"\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"},
	};

	assert_int_equal(xb_utf8_character("a", 0), 0);
	assert_int_equal(xb_utf8_character("\xc2\x80", 0), 0);
	for (size_t bytes = 0; bytes < sizeof(of_bytes) / sizeof(of_bytes[0]); bytes++) {
		for (const char *const *text = of_bytes[bytes]; *text; text++) {
			assert_int_equal(xb_utf8_character(*text, strlen(*text)), bytes);
			/* What lies behind the end is no part of it. */
			for (size_t less = 1; less < bytes; less++)
				assert_int_equal(xb_utf8_character(*text, less), 0);
		}
	}
	assert_int_equal(xb_utf8_character("", 1), 1);
}

TEST(control_characters)
{
	assert_false(xb_utf8_is_control("\n", 0));
	assert_true(xb_utf8_is_control("", 1));
	assert_true(xb_utf8_is_control("\x1f", 1));
	assert_false(xb_utf8_is_control(" ", 1));
	assert_false(xb_utf8_is_control("~", 1));
	assert_true(xb_utf8_is_control("\x7f", 1));
	assert_true(xb_utf8_is_control("\xc2\x80", 2));
	assert_true(xb_utf8_is_control("\xc2\x9f", 2));
	assert_false(xb_utf8_is_control("\xc2\xa0", 2));
	assert_false(xb_utf8_is_control("\xc2\x80", 1));
}

TEST(cleaned)
{
	static const char *const rows[][2] = {
		{"", ""},
		{"plain ü€😀", "plain ü€😀"},
		{"a\nb\tc\033[m", "a?b?c?[m"},
		{"\xff\xfeok", "??ok"},
		{"\xc2\x85", "??"},
		{"cut\xe2\x82", "cut??"},
		{"\xed\xa0\x80", "???"},
		{"\xef\xbb\xbf#", "???#"}, /* U+FEFF */
		{"\xe2\x80\x8a|\xe2\x80\x90", "\xe2\x80\x8a|\xe2\x80\x90"},
		{"\xe2\x80\x8b|\xe2\x80\x8f", "???|???"}, /* U+200B, U+200F */
		{"\xe2\x80\xa9|\xe2\x80\xaf", "\xe2\x80\xa9|\xe2\x80\xaf"},
		{"\xe2\x80\xaa|\xe2\x80\xae", "???|???"}, /* U+202A, U+202E */
		{"\xe2\x81\x9f|\xe2\x81\xb0", "\xe2\x81\x9f|\xe2\x81\xb0"},
		{"\xe2\x81\xa0|\xe2\x81\xaf", "???|???"}, /* U+2060, U+206F */
	};
	char text[64];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		strcpy(text, rows[i][0]);
		xb_utf8_clean(text);
		assert_string_equal(text, rows[i][1]);
	}
}

static void shown(const char *text, size_t size, size_t room, const char *expected)
{
	char out[64];

	memset(out, 'z', sizeof(out));
	assert_ptr_equal(xb_utf8_show(text, size, out, room), out);
	assert_string_equal(out, expected);
	for (size_t i = room; i < sizeof(out); i++)
		assert_int_equal(out[i], 'z');
}

TEST(shown_as_far_as_there_is_room)
{
	shown("", 5, 1, "");
	shown("abc", 0, 8, "");
	shown("abc", 2, 8, "ab");
	shown("abc", SIZE_MAX, 8, "abc");
	shown("abc", 3, 4, "abc");
	shown("abc", 3, 3, "ab");
	shown("abc", 3, 1, "");
	shown("a\0c", 3, 8, "a");
	shown("a\nc", 3, 8, "a?c");
	shown("ab€", 5, 6, "ab€");
	shown("ab€", 5, 5, "ab");
	shown("ab€", 5, 4, "ab");
	shown("€€", 6, 6, "€");
	shown("😀", 4, 4, "");
	shown("ab😀", 6, 6, "ab");
	/* The rest of the character is behind what may be read. */
	shown("ab😀", 5, 5, "ab");
}

/* There is no character to be kept whole in them. */
TEST(bytes_that_only_go_on_are_shown)
{
	char text[50];

	memset(text, 0x80, sizeof(text));
	shown(text, sizeof(text), 11, "??????????");
	text[0] = 'a';
	shown(text, sizeof(text), 11, "a?????????");
}

TEST(a_line_is_cut_where_it_is_full)
{
	char text[8] = "";
	struct xb_line line = {.text = text, .room = sizeof(text)};

	xb_line_put(&line, "%s", "ab");
	xb_line_put(&line, " %d", 12);
	assert_string_equal(text, "ab 12");
	xb_line_put(&line, "%s", "345");
	assert_string_equal(text, "ab 1234");
	assert_int_equal(line.used, 7);
	xb_line_put(&line, "%s", "6");
	assert_string_equal(text, "ab 1234");
}

static char longest[XB_PATH_MAX + 1]; /* "/dddd..." */

static const char *of_length(size_t length)
{
	memset(longest, 'd', sizeof(longest));
	longest[0] = '/';
	longest[length] = '\0';
	return longest;
}

TEST(joined_if_it_fits)
{
	char path[XB_PATH_MAX];

	assert_int_equal(xb_path_join(path, "/run/here", "name"), 0);
	assert_string_equal(path, "/run/here/name");
	assert_int_equal(xb_path_join(path, of_length(XB_PATH_MAX - 1 - strlen("/name")), "name"),
			 0);
	assert_int_equal(strlen(path), XB_PATH_MAX - 1);
	assert_true(xb_path_join(path, of_length(XB_PATH_MAX - strlen("/name")), "name") < 0);
	assert_non_null(strstr(xb_error_message(), "...: path too long"));
}

TEST(the_parent_of_what_fits)
{
	char parent[XB_PATH_MAX];

	assert_int_equal(xb_path_parent(parent, "/sys/fs/bpf/xdp-bloom"), 0);
	assert_string_equal(parent, "/sys/fs/bpf");
	assert_int_equal(xb_path_parent(parent, "/bpf"), 0);
	assert_string_equal(parent, "/");
	assert_int_equal(xb_path_parent(parent, of_length(XB_PATH_MAX - 1)), 0);
	assert_true(xb_path_parent(parent, of_length(XB_PATH_MAX)) < 0);
	assert_non_null(strstr(xb_error_message(), "...: path too long"));
}
