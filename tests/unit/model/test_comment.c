/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comments, to the last byte, and what is none. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/comment.h"
#include "support/cmocka.h"

/* In memory of its own: the sanitizer sees any byte that is read behind the end. */
static int check(const char *text, size_t size)
{
	char *copy = malloc(size ? size : 1);
	int error;

	assert_non_null(copy);
	memcpy(copy, text, size);
	xb_error_clear();
	error = xb_comment_check(copy, size);
	free(copy);
	return error;
}

TEST(taken)
{
	static const char *const rows[] = {
		"",    " ",	   "#", "a comment",	"\"quoted\\\"",
		"ü€😀", "\xc2\xa0", "~", "\xef\xbf\xbf", "\xf4\x8f\xbf\xbf"};

	assert_int_equal(XB_COMMENT_MAX, 255);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(check(rows[i], strlen(rows[i])), 0);
	assert_int_equal(xb_comment_check(NULL, 0), 0);
}

static void refused(const char *text, size_t size, const char *why)
{
	assert_int_equal(check(text, size), -EINVAL);
	assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	assert_string_equal(xb_error_message(), why);
}

TEST(as_long_as_may_be)
{
	char text[300];

	memset(text, 'x', sizeof(text));
	assert_int_equal(check(text, 255), 0);
	refused(text, 256, "a comment has at most 255 bytes");
	refused(text, 300, "a comment has at most 255 bytes");
	/* Bytes, not characters. */
	for (size_t i = 0; i < 256; i += 2)
		memcpy(text + i, "ü", 2);
	assert_int_equal(check(text, 254), 0);
	refused(text, 256, "a comment has at most 255 bytes");
	refused(text, 255, "a comment must be UTF-8");
}

TEST(no_text)
{
	static const char *const rows[] = {
		"\x80",		 "\xff",     "a\xc3",	     "\xc3z",
		"\xc0\x80",	 "\xe2\x82", "\xed\xa0\x80", "\xf4\x90\x80\x80",
		"ok\xf0\x9f\x98"};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		refused(rows[i], strlen(rows[i]), "a comment must be UTF-8");
}

TEST(control_characters)
{
	for (int byte = 0; byte < 0x20; byte++) {
		const char text[] = {'a', (char)byte, 'b'};

		refused(text, sizeof(text), "a comment has no control characters");
	}
	refused("\x7f", 1, "a comment has no control characters");
	refused("a\xc2\x80", 3, "a comment has no control characters");
	refused("\xc2\x9f", 2, "a comment has no control characters");
}
