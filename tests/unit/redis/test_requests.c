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

static bool take(void)
{
	return requests_take(&in, &out, &count, &ended);
}

#define NO_REQUEST  "cannot send a request of bloomd"
#define BYTES(text) (text), sizeof(text) - 1

/* A size, a frame with one word of four letters, and one with two words of three and one. */
#define SIZE(n)	       n "\0\0\0"
#define PING	       SIZE("\10") SIZE("\4") "PING"
#define PING_RESP      "*1\r\n$4\r\nPING\r\n"
#define TWO(a, b)      SIZE("\14") SIZE("\3") a SIZE("\1") b
#define TWO_RESP(a, b) "*2\r\n$3\r\n" a "\r\n$1\r\n" b "\r\n"

/* count: of the requests that it becomes, so that nothing is left. */
static const struct {
	const char *frames;
	size_t size;
	const char *requests;
	size_t requests_size, count;
	bool refused;
} rows[] = {
	{BYTES(""), BYTES(""), 0, false},
	{BYTES(PING), BYTES(PING_RESP), 1, false},
	{BYTES(TWO("GET", "a") TWO("DEL", "b") PING),
	 BYTES(TWO_RESP("GET", "a") TWO_RESP("DEL", "b") PING_RESP), 3, false},
	/* Words may have any bytes, and none. */
	{BYTES(SIZE("\13") SIZE("\3") "\0\r\n" SIZE("\0")),
	 BYTES("*2\r\n$3\r\n\0\r\n\r\n$0\r\n\r\n"), 1, false},
	/* A frame without words; words, and sizes of words, beyond their frame. */
	{BYTES(SIZE("\0")), BYTES(""), 0, true},
	{BYTES(SIZE("\5") SIZE("\2") "ab"), BYTES(""), 0, true},
	{BYTES(SIZE("\10") SIZE("\1") "a" SIZE("\0")), BYTES(""), 0, true},
	{BYTES(SIZE("\10") "\377\377\377\377" SIZE("\0")), BYTES(""), 0, true},
};

static bool is_out(const void *expected, size_t size)
{
	return buffer_size(&out) == size && (!size || !memcmp(buffer_at(&out), expected, size));
}

/* At once, or byte by byte: of a frame nothing comes before its last one. */
static void assert_row(size_t i, size_t piece)
{
	bool taken = true;

	assert_int_equal(begin(NULL), 0);
	for (size_t at = 0; taken && at < rows[i].size; at += piece) {
		assert_true(count < rows[i].count || rows[i].refused);
		assert_true(buffer_add(&in, rows[i].frames + at, piece));
		taken = take();
	}
	assert_int_equal(take(), taken);
	if (taken == rows[i].refused || count != rows[i].count ||
	    !is_out(rows[i].requests, rows[i].requests_size) || (taken && buffer_size(&in)))
		fail_msg("row %zu in pieces of %zu", i, piece);
	if (!taken) {
		assert_int_equal(ended.outcome, REDIS_FAILED);
		assert_string_equal(ended.text, NO_REQUEST);
	}
	assert_int_equal(end(NULL), 0);
}

TEST(frames_become_requests)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_row(i, rows[i].size + !rows[i].size);
		assert_row(i, 1);
	}
}

/* As many words as there may be, and one more. */
TEST(words_of_a_frame)
{
	for (uint32_t words = REDIS_WORDS_MAX; words <= REDIS_WORDS_MAX + 1; words++) {
		add_number(words * 5);
		for (uint32_t i = 0; i < words; i++) {
			add_number(1);
			assert_true(buffer_add(&in, "a", 1));
		}
		assert_int_equal(take(), words == REDIS_WORDS_MAX);
		assert_int_equal(count, 1);
		assert_memory_equal(buffer_at(&out), "*64\r\n", 5);
	}
	assert_string_equal(ended.text, NO_REQUEST);
}

/* The largest is waited for; a larger one is refused before it is there. */
TEST(sizes_of_frames)
{
	add_number(REDIS_REQUEST_MAX);
	add_number(0);
	assert_true(take());
	assert_int_equal(count, 0);
	assert_int_equal(buffer_size(&in), 8);
	buffer_drop(&in, 8);
	add_number(REDIS_REQUEST_MAX + 1);
	assert_false(take());
	assert_int_equal(ended.outcome, REDIS_FAILED);
	assert_string_equal(ended.text, "bloomd sent a request too large");
}

/* Of what waits nothing is lost when room is made in front, and when it has to grow. */
TEST(a_buffer_keeps_the_order)
{
	uint32_t added = 0, dropped = 0, found;

	for (uint32_t round = 1; round < 200; round++) {
		for (uint32_t i = 0; i < round * 7; i++)
			add_number(added++);
		for (uint32_t i = 0; i < round * (round < 199 ? 6 : 250); i++) {
			if (!buffer_peek(&in, &found, sizeof(found)))
				break;
			assert_int_equal(found, dropped++);
			buffer_drop(&in, sizeof(found));
		}
		assert_int_equal(buffer_size(&in), (added - dropped) * sizeof(found));
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
