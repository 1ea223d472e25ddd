/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Frames of bloomd become requests: whole ones, in pieces, and those that are no request. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis/requests.h"
#include "support/cmocka.h"

static struct buffer in, out;
static struct redis_end ended;
static size_t count;

static int begin(void **state)
{
	in = out = (struct buffer){0};
	ended = (struct redis_end){.outcome = REDIS_OUTCOME_COUNT};
	count = 0;
	return 0;
}

static int end(void **state)
{
	buffer_free(&in);
	buffer_free(&out);
	return 0;
}

static void add_number(uint32_t number)
{
	assert_true(buffer_add(&in, &number, sizeof(number)));
}

static void add_word(const char *word, size_t size)
{
	add_number((uint32_t)size);
	assert_true(buffer_add(&in, word, size));
}

/* A frame of one or two words; the second may be NULL. */
static void add_frame(const char *one, const char *two)
{
	size_t size = sizeof(uint32_t) + strlen(one);

	add_number((uint32_t)(size + (two ? sizeof(uint32_t) + strlen(two) : 0)));
	add_word(one, strlen(one));
	if (two)
		add_word(two, strlen(two));
}

static bool take(void)
{
	return requests_take(&in, &out, &count, &ended);
}

static void assert_out(const char *expected)
{
	assert_int_equal(buffer_size(&out), strlen(expected));
	if (*expected)
		assert_memory_equal(buffer_at(&out), expected, strlen(expected));
}

static void assert_refused(const char *words)
{
	assert_false(take());
	assert_int_equal(ended.outcome, REDIS_FAILED);
	assert_string_equal(ended.text, words);
	assert_int_equal(count, 0);
}

#define NO_REQUEST "cannot send a request of bloomd"

TEST(nothing)
{
	assert_true(take());
	assert_int_equal(count, 0);
	assert_out("");
}

TEST(frames_become_requests)
{
	add_frame("PING", NULL);
	assert_true(take());
	assert_int_equal(count, 1);
	assert_out("*1\r\n$4\r\nPING\r\n");
	assert_int_equal(buffer_size(&in), 0);
	buffer_drop(&out, buffer_size(&out));
	add_frame("GET", "a");
	add_frame("DEL", "b");
	assert_true(take());
	assert_int_equal(count, 3);
	assert_out("*2\r\n$3\r\nGET\r\n$1\r\na\r\n*2\r\n$3\r\nDEL\r\n$1\r\nb\r\n");
}

TEST(words_may_have_any_bytes)
{
	add_number(4 + 3 + 4);
	add_word("\0\r\n", 3);
	add_word("", 0);
	assert_true(take());
	assert_int_equal(buffer_size(&out), 19);
	assert_memory_equal(buffer_at(&out), "*2\r\n$3\r\n\0\r\n\r\n$0\r\n\r\n", 19);
}

/* Byte by byte: nothing comes before the last one of a frame. */
TEST(frames_come_in_pieces)
{
	struct buffer whole = {0};
	size_t first;

	add_frame("GET", "a");
	first = buffer_size(&in);
	add_frame("PING", NULL);
	whole = in;
	in = (struct buffer){0};
	for (size_t i = 0; i < buffer_size(&whole); i++) {
		assert_int_equal(count, i >= first);
		assert_true(buffer_add(&in, buffer_at(&whole) + i, 1));
		assert_true(take());
	}
	assert_int_equal(count, 2);
	assert_out("*2\r\n$3\r\nGET\r\n$1\r\na\r\n*1\r\n$4\r\nPING\r\n");
	buffer_free(&whole);
}

TEST(a_frame_without_words)
{
	add_number(0);
	assert_refused(NO_REQUEST);
}

TEST(a_word_beyond_its_frame)
{
	add_number(5);
	add_number(2);
	assert_true(buffer_add(&in, "ab", 2)); /* one is behind it */
	assert_refused(NO_REQUEST);
}

TEST(a_size_beyond_its_frame)
{
	add_number(4 + 1 + 3);
	add_word("a", 1);
	add_number(0);
	assert_refused(NO_REQUEST);
}

TEST(a_word_of_the_largest_size)
{
	add_number(8);
	add_number(UINT32_MAX);
	add_number(0);
	assert_refused(NO_REQUEST);
}

static void add_many(uint32_t words)
{
	add_number(words * 5);
	for (uint32_t i = 0; i < words; i++)
		add_word("a", 1);
}

TEST(as_many_words_as_there_may_be)
{
	add_many(REDIS_WORDS_MAX);
	assert_true(take());
	assert_int_equal(count, 1);
	assert_memory_equal(buffer_at(&out), "*64\r\n", 5);
}

TEST(a_word_too_many)
{
	add_many(REDIS_WORDS_MAX + 1);
	assert_refused(NO_REQUEST);
}

/* It is waited for, not refused. */
TEST(the_largest_frame)
{
	add_number(REDIS_REQUEST_MAX);
	add_number(0);
	assert_true(take());
	assert_int_equal(count, 0);
	assert_int_equal(buffer_size(&in), 8);
}

/* Before it is there. */
TEST(a_larger_frame)
{
	add_number(REDIS_REQUEST_MAX + 1);
	assert_refused("bloomd sent a request too large");
}

/* Of what waits nothing is lost when room is made in front, and when it has to grow. */
TEST(a_buffer_keeps_the_order)
{
	uint32_t added = 0, dropped = 0, found;

	for (uint32_t round = 1; round < 200; round++) {
		for (uint32_t i = 0; i < round * 7; i++)
			add_number(added++);
		for (uint32_t i = 0; i < round * 6; i++) {
			assert_true(buffer_peek(&in, &found, sizeof(found)));
			assert_int_equal(found, dropped++);
			buffer_drop(&in, sizeof(found));
		}
		assert_int_equal(buffer_size(&in), (added - dropped) * sizeof(found));
	}
	while (buffer_peek(&in, &found, sizeof(found))) {
		assert_int_equal(found, dropped++);
		buffer_drop(&in, sizeof(found));
	}
	assert_int_equal(dropped, added);
}

TEST(an_empty_buffer_gives_much_memory_back)
{
	assert_null(buffer_at(&in));
	assert_false(buffer_peek(&in, &count, 0));
	assert_true(buffer_add(&in, NULL, 0));
	assert_non_null(buffer_room(&in, (size_t)3 << 20));
	in.end += (size_t)3 << 20;
	buffer_drop(&in, ((size_t)3 << 20) - 1);
	assert_non_null(in.bytes);
	buffer_drop(&in, 1);
	assert_null(in.bytes);
	add_number(7);
	buffer_drop(&in, 4);
	assert_non_null(in.bytes);
}

EACH_TEST(begin, end);
