/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages: their class and code, what is too long, and what is not safe for a terminal. */
#include "base/error.h"
#include "base/text.h"
#include "support/cmocka.h"

#define MESSAGE_MOST 1023 /* bytes */

static char told[4096];
static enum xb_notice_kind told_kind;
static int times;

static void keep(enum xb_notice_kind kind, const char *message)
{
	snprintf(told, sizeof(told), "%s", message);
	told_kind = kind;
	times++;
}

/* Of this many bytes; it lasts until the next call. */
static const char *of_length(size_t length, char byte)
{
	static char text[8192];

	memset(text, byte, length);
	text[length] = '\0';
	return text;
}

static void is_clean(const char *message)
{
	char copy[4096];

	snprintf(copy, sizeof(copy), "%s", message);
	xb_utf8_clean(copy);
	assert_string_equal(message, copy);
}

TEST(codes_and_classes)
{
	xb_error_clear();
	assert_int_equal(xb_error_class(), XB_ERROR_NONE);
	assert_string_equal(xb_error_message(), "");
	assert_int_equal(xb_input_error("%s is %d", "x", 7), -EINVAL);
	assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	assert_string_equal(xb_error_message(), "x is 7");
	assert_int_equal(xb_system_error(0, "it broke"), -EIO);
	assert_int_equal(xb_error_class(), XB_ERROR_SYSTEM);
	assert_string_equal(xb_error_message(), "it broke");
	assert_int_equal(xb_system_error(ENOENT, "cannot open %s", "x"), -ENOENT);
	assert_string_equal(xb_error_message(), "cannot open x: No such file or directory");
	assert_int_equal(xb_input_error("no"), -EINVAL);
	assert_int_equal(xb_out_of_memory(), -EIO);
	assert_int_equal(xb_error_class(), XB_ERROR_SYSTEM);
	assert_string_equal(xb_error_message(), "out of memory");
	xb_error_clear();
	assert_int_equal(xb_error_class(), XB_ERROR_NONE);
	assert_string_equal(xb_error_message(), "");
}

TEST(a_prefix_keeps_code_and_class)
{
	xb_input_error("bad");
	assert_int_equal(xb_error_prefix(-ESTALE, "%s:%d", "file", 3), -ESTALE);
	assert_string_equal(xb_error_message(), "file:3: bad");
	assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	assert_int_equal(xb_error_prefix(-1, "there"), -1);
	assert_string_equal(xb_error_message(), "there: file:3: bad");
}

TEST(what_is_too_long_is_cut)
{
	xb_input_error("%s", of_length(MESSAGE_MOST, 'x'));
	assert_int_equal(strlen(xb_error_message()), MESSAGE_MOST);
	xb_input_error("%s", of_length(5000, 'x'));
	assert_int_equal(strlen(xb_error_message()), MESSAGE_MOST);
	assert_int_equal(xb_system_error(EIO, "%s", of_length(5000, 'x')), -EIO);
	assert_int_equal(strlen(xb_error_message()), MESSAGE_MOST);
	assert_int_equal(xb_error_prefix(-EIO, "%s", of_length(5000, 'p')), -EIO);
	assert_int_equal(strlen(xb_error_message()), MESSAGE_MOST);
	assert_int_equal(xb_error_message()[MESSAGE_MOST - 1], 'p');
	xb_input_error("%s", of_length(5000, 'x'));
	xb_error_prefix(-EIO, "file:1");
	assert_memory_equal(xb_error_message(), "file:1: xxx", 11);
}

/* No cut leaves half of a character. */
TEST(characters_are_not_cut)
{
	static char text[3 * 1024];

	for (size_t i = 0; i < 1000; i++)
		memcpy(text + 3 * i, "€", 4);
	for (size_t shift = 0; shift < 3; shift++) {
		xb_input_error("%.*s%s", (int)shift, "ab", text);
		is_clean(xb_error_message());
		xb_error_prefix(0, "%.*s", (int)shift, "ab");
		is_clean(xb_error_message());
		xb_system_error(EIO, "%.*s%s", (int)shift, "ab", text);
		is_clean(xb_error_message());
		xb_error_prefix(0, "%.*s%s", (int)shift, "ab", text);
		is_clean(xb_error_message());
	}
}

TEST(nothing_breaks_the_terminal)
{
	xb_input_error("'%s'", "a\n\033[2J\xff\xc2\x85z\x7f");
	assert_string_equal(xb_error_message(), "'a??[2J???z?'");
	xb_system_error(EIO, "'%s'", "\r");
	assert_string_equal(xb_error_message(), "'?': Input/output error");
	xb_input_error("bad");
	xb_error_prefix(0, "%s", "\xe2\x80\xaex");
	assert_string_equal(xb_error_message(), "???x: bad");
}

TEST(notices_reach_the_sink)
{
	xb_notice_sink(keep);
	xb_error_clear();
	times = 0;
	xb_notice("%d lines", 3);
	assert_string_equal(told, "3 lines");
	assert_int_equal(told_kind, XB_NOTE);
	xb_warning("\033[%s", "open");
	assert_string_equal(told, "?[open");
	assert_int_equal(told_kind, XB_WARNING);
	assert_int_equal(times, 2);
	/* Neither is a failure. */
	assert_int_equal(xb_error_class(), XB_ERROR_NONE);
	assert_string_equal(xb_error_message(), "");
	xb_notice("%s", of_length(8000, 'x'));
	assert_in_range(strlen(told), MESSAGE_MOST, sizeof(told) - 1);
}

TEST(what_is_held_is_said_or_forgotten)
{
	xb_notice_sink(keep);
	times = 0;
	xb_notices_hold();
	xb_warning("first");
	xb_notice("second");
	assert_int_equal(times, 0);
	xb_notices_resume();
	xb_warning("at once");
	assert_int_equal(times, 1);
	assert_string_equal(told, "at once");
	xb_notices_settle(true);
	assert_int_equal(times, 3);
	assert_string_equal(told, "second");
	assert_int_equal(told_kind, XB_NOTE);
	xb_notices_settle(true);
	assert_int_equal(times, 3);
	xb_notices_hold();
	xb_warning("taken back");
	xb_notices_resume();
	xb_notices_settle(false);
	xb_notices_settle(true);
	assert_int_equal(times, 3);
}

TEST(what_does_not_fit_is_said_at_once)
{
	const int many = 100;

	xb_notice_sink(keep);
	times = 0;
	xb_notices_hold();
	for (int i = 0; i < many; i++)
		xb_warning("%s", of_length(MESSAGE_MOST, 'x'));
	assert_in_range(times, 1, many - 1);
	xb_notices_resume();
	xb_notices_settle(true);
	assert_int_equal(times, many);
}

static unsigned long long last_done, last_total;

static void keep_progress(const char *what, unsigned long long done, unsigned long long total)
{
	assert_string_equal(what, "counting");
	last_done = done;
	last_total = total;
}

TEST(progress_reaches_its_sink)
{
	xb_progress("unheard", 1, 2);
	xb_progress_sink(keep_progress);
	xb_progress("counting", UINT64_MAX - 1, UINT64_MAX);
	assert_true(last_done == UINT64_MAX - 1 && last_total == UINT64_MAX);
	xb_progress_sink(NULL);
	xb_progress("unheard", 1, 2);
	assert_true(last_total == UINT64_MAX);
}
