/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests as they come from a socket: whole, in pieces, one behind the other, and wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bloomd/api/resp.h"
#include "support/cmocka.h"

/* Words between '|', requests between ';', as they are read; NULs are shown as '0'. */
static char read_as[4096];

static void show(const struct resp *resp, const char *bytes)
{
	size_t used = strlen(read_as);

	for (size_t i = resp->first; i < resp->count; i++) {
		const struct resp_word *word = &resp->word[i];

		assert_int_equal(bytes[word->at + word->size], 0);
		for (uint32_t at = 0; at < word->size && used < sizeof(read_as) - 3; at++)
			read_as[used++] = bytes[word->at + at] ? bytes[word->at + at] : '0';
		if (used < sizeof(read_as) - 2)
			read_as[used++] = i + 1 < resp->count ? '|' : ';';
	}
	read_as[used] = '\0';
}

/* Reads the bytes in pieces. NULL, or why they are wrong. */
static const char *read_in(const char *text, size_t size, size_t piece)
{
	enum resp_result result = RESP_MORE;
	struct resp resp = {0};
	char *bytes = malloc(size + 1);
	const char *why = NULL;

	assert_non_null(bytes);
	memcpy(bytes, text, size);
	read_as[0] = '\0';
	for (size_t there = 0; there < size && result != RESP_WRONG;) {
		there = there + piece < size ? there + piece : size;
		while ((result = resp_read(&resp, bytes, there, &why)) == RESP_REQUEST) {
			show(&resp, bytes);
			resp_next(&resp);
		}
	}
	resp_free(&resp);
	free(bytes);
	return result == RESP_WRONG ? why : NULL;
}

static const struct {
	const char *text, *requests, *wrong;
} cases[] = {
	{"*1\r\n$4\r\nPING\r\n", "PING;", NULL},
	{"*2\r\n$4\r\nECHO\r\n$2\r\n\r\n\r\n*1\r\n$1\r\na\r\n", "ECHO|\r\n;a;", NULL},
	{"*2\r\n$1\r\na\r\n$0\r\n\r\n", "a|;", NULL},
	{"PING\r\nECHO  a\tb \n\r\n\n*1\r\n$1\r\na\r\n", "PING;ECHO|a|b;a;", NULL},
	{"*0\r\n*-1\r\nPING\r\n", "PING;", NULL},
	{"*1\r\n$4\r\nPI", "", NULL},
	{"*2\r\n$4\r\nPING\r\n", "", NULL},
	{"*1\r\n$1\r\na\r\n*", "a;", NULL},
	{"*-99999999\r\nPING\r\n", "PING;", NULL},
	{"*65537\r\n", "", "invalid multibulk length"},
	{"*99999999999999999999\r\n", "", "invalid multibulk length"},
	{"*1x\r\n", "", "invalid multibulk length"},
	{"*1\n$1\na\n", "", "invalid multibulk length"},
	{"*\r\n", "", "invalid multibulk length"},
	{"*-\r\n", "", "invalid multibulk length"},
	{"a\r\n*1\r\n$-1\r\n", "a;", "invalid bulk length"},
	{"*1\r\n$x\r\n", "", "invalid bulk length"},
	{"*1\r\n$18446744073709551617\r\n", "", "invalid bulk length"},
	{"*1\r\n$1048576\r\n", "", "the request is too large"},
	{"*1\r\n$999999999\r\n", "", "the request is too large"},
	{"*1\r\n*1\r\n$1\r\na\r\n", "", "expected '$': a request is an array of bulk strings"},
	{"*1\r\n:1\r\n", "", "expected '$': a request is an array of bulk strings"},
	{"*1\r\n$1\r\nabc\r\n", "", "a bulk string does not end where its length says"},
};

TEST(test_cases)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (size_t piece = 1; piece < 40; piece++) {
			const char *why = read_in(cases[i].text, strlen(cases[i].text), piece);

			assert_string_equal(read_as, cases[i].requests);
			assert_string_equal(why ? why : "", cases[i].wrong ?: "");
		}
}

TEST(test_nul_is_a_byte)
{
	assert_null(read_in("*1\r\n$3\r\na\0b\r\nc\0d e\n", 20, 100));
	assert_string_equal(read_as, "a0b;c0d|e;");
}

/* Of `size` bytes in all, with one word. */
static char *make_request(size_t size)
{
	char *text = malloc(size + 1);
	int used;

	assert_non_null(text);
	used = snprintf(text, size, "*1\r\n$%zu\r\n", size - 4 - 10 - 2);
	memset(text + used, 'a', size - (size_t)used);
	memcpy(text + size - 2, "\r\n", 3);
	return text;
}

TEST(test_size_is_bounded)
{
	char *text = make_request(RESP_BYTES);

	assert_null(read_in(text, RESP_BYTES, 4096));
	assert_true(strlen(read_as) > 1000);
	free(text);
	text = make_request(RESP_BYTES + 1);
	assert_string_equal(read_in(text, RESP_BYTES + 1, 4096), "the request is too large");
	free(text);
}

TEST(test_words_are_bounded_by_bytes)
{
	size_t size = 8 + 70000 * 26UL;
	char *text = malloc(size);
	size_t used = (size_t)sprintf(text, "*65536\r\n");

	for (size_t i = 0; i < 65536; i++, used += 24)
		memcpy(text + used, "$17\r\naaaaaaaaaaaaaaaaa\r\n", 24);
	assert_string_equal(read_in(text, used, 4096), "the request is too large");
	used = 8;
	for (size_t i = 0; i < 65536; i++, used += 7)
		memcpy(text + used, "$1\r\na\r\n", 7);
	assert_null(read_in(text, used, 4096));
	assert_true(read_as[0] == 'a');
	free(text);
}

TEST(test_line_is_bounded)
{
	char *text = malloc(5001);

	assert_non_null(text);
	memset(text, 'a', 5000);
	assert_string_equal(read_in(text, 5000, 100), "too big inline request");
	text[4000] = '\n';
	assert_null(read_in(text, 4001, 100));
	free(text);
}

/* The words of a request that is not complete move with its bytes. */
TEST(test_forgets_what_is_done)
{
	char text[] = "*1\r\n$1\r\na\r\n*2\r\n$2\r\nbc\r\n$1\r\nd\r\n";
	size_t size = strlen(text), half = size - 4;

	struct resp resp = {0};
	const char *why;

	assert_int_equal(resp_read(&resp, text, half, &why), RESP_REQUEST);
	resp_next(&resp);
	assert_int_equal(resp_read(&resp, text, half, &why), RESP_MORE);
	size -= resp.begin;
	memmove(text, text + resp.begin, size);
	resp_forget(&resp);
	assert_int_equal(resp.begin, 0);
	assert_int_equal(resp_read(&resp, text, size - 1, &why), RESP_MORE);
	assert_int_equal(resp_read(&resp, text, size, &why), RESP_REQUEST);
	assert_int_equal(resp.count, 2);
	assert_string_equal(text + resp.word[0].at, "bc");
	assert_string_equal(text + resp.word[1].at, "d");
	resp_free(&resp);
}
