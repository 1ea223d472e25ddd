/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Requests as they come from a socket: whole, in pieces, one behind the other, and wrong. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bloomd/api/resp.h"
#include "support/cmocka.h"
#include "support/texts.h"

/* Words between '|', requests before '/', as they are read; NULs are shown as '0'. */
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
			read_as[used++] = i + 1 < resp->count ? '|' : '/';
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

/* rows: "TEXT -> REQUESTS": read so in pieces of any size, and then wrong for that reason, NULL:
 * not. */
static void check(const char *rows, const char *wrong)
{
	struct texts texts = texts_of(rows);
	char *text, *requests;

	while ((text = next_pair(&texts, &requests)))
		for (size_t piece = 1; piece < 40; piece++) {
			const char *why = read_in(text, strlen(text), piece);

			assert_row(text, read_as, requests);
			assert_row(text, why ?: "right", wrong ?: "right");
		}
}

TEST(test_cases)
{
	check("*1\r\n$4\r\nPING\r\n -> PING/; *1\r\n$4\r\nPI -> ; *2\r\n$4\r\nPING\r\n -> ; "
	      "*2\r\n$4\r\nECHO\r\n$2\r\n\r\n\r\n*1\r\n$1\r\na\r\n -> ECHO|\r\n/a/; "
	      "*2\r\n$1\r\na\r\n$0\r\n\r\n -> a|/; *1\r\n$1\r\na\r\n* -> a/; "
	      "PING\r\nECHO  a\tb \n\r\n\n*1\r\n$1\r\na\r\n -> PING/ECHO|a|b/a/; "
	      "*0\r\n*-1\r\nPING\r\n -> PING/; *-99999999\r\nPING\r\n -> PING/",
	      NULL);
	check("*65537\r\n -> ; *99999999999999999999\r\n -> ; *1x\r\n -> ; *1\n$1\na\n -> ; "
	      "*\r\n -> ; *-\r\n -> ",
	      "invalid multibulk length");
	check("a\r\n*1\r\n$-1\r\n -> a/; *1\r\n$x\r\n -> ; *1\r\n$18446744073709551617\r\n -> ",
	      "invalid bulk length");
	check("*1\r\n$1048576\r\n -> ; *1\r\n$999999999\r\n -> ", "the request is too large");
	check("*1\r\n*1\r\n$1\r\na\r\n -> ; *1\r\n:1\r\n -> ",
	      "expected '$': a request is an array of bulk strings");
	check("*1\r\n$1\r\nabc\r\n -> ", "a bulk string does not end where its length says");
}

TEST(test_nul_is_a_byte)
{
	assert_null(read_in("*1\r\n$3\r\na\0b\r\nc\0d e\n", 20, 100));
	assert_string_equal(read_as, "a0b/c0d|e/");
}

/* Of `size` bytes in all, with one word. */
static const char *read_request(size_t size)
{
	char *text = malloc(size + 1);
	const char *why;
	int used;

	assert_non_null(text);
	used = snprintf(text, size, "*1\r\n$%zu\r\n", size - 4 - 10 - 2);
	memset(text + used, 'a', size - (size_t)used);
	memcpy(text + size - 2, "\r\n", 3);
	why = read_in(text, size, 4096);
	free(text);
	return why;
}

/* Of 65,536 such words. */
static const char *read_words(const char *word)
{
	size_t size = strlen(word), used = 8;
	char *text = malloc(used + 65536 * size + 1);
	const char *why;

	assert_non_null(text);
	strcpy(text, "*65536\r\n");
	for (size_t i = 0; i < 65536; i++, used += size)
		memcpy(text + used, word, size);
	why = read_in(text, used, 4096);
	free(text);
	return why;
}

TEST(test_size_is_bounded)
{
	char line[5001];

	assert_null(read_request(RESP_BYTES));
	assert_true(strlen(read_as) > 1000);
	assert_string_equal(read_request(RESP_BYTES + 1), "the request is too large");
	assert_string_equal(read_words("$17\r\naaaaaaaaaaaaaaaaa\r\n"), "the request is too large");
	assert_null(read_words("$1\r\na\r\n"));
	assert_true(read_as[0] == 'a');
	memset(line, 'a', sizeof(line));
	assert_string_equal(read_in(line, 5000, 100), "too big inline request");
	line[4000] = '\n';
	assert_null(read_in(line, 4001, 100));
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
