/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The body of an answer: gzip of any shape, in pieces of any size, and its limits. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fetch/body.h"
#include "fetch/result.h"
#include "support/cmocka.h"

static const char list[] = "5.9.0.1\n5.9.0.2\n5.9.0.3\n5.9.0.4\n5.9.0.5\n";

static size_t pack(const void *data, size_t size, uint8_t *out, size_t room)
{
	z_stream stream = {0};

	assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
	stream.next_in = (uint8_t *)(uintptr_t)data;
	stream.avail_in = (uInt)size;
	stream.next_out = out;
	stream.avail_out = (uInt)room;
	assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
	deflateEnd(&stream);
	return stream.total_out;
}

/* What comes of a body of these bytes that comes in pieces of `step`. */
struct outcome {
	bool whole;
	enum fetch_outcome why;
	uint64_t size;
	bool shows_end;
	char text[4096];
};

static struct outcome pass(const uint8_t *data, size_t size, size_t step, uint64_t max)
{
	struct outcome outcome = {.whole = true};
	struct body body;
	int fd = memfd_create("body", MFD_CLOEXEC);

	body_begin(&body, fd, max);
	for (size_t at = 0; outcome.whole && at < size; at += step)
		outcome.whole = body_take(&body, data + at, size - at < step ? size - at : step);
	outcome.whole = outcome.whole && body_end(&body);
	outcome.why = body.why;
	outcome.size = body.out;
	outcome.shows_end = body_shows_end(&body);
	assert_true(pread(fd, outcome.text, sizeof(outcome.text) - 1, 0) >= 0);
	assert_true(outcome.whole == !body.detail);
	body_free(&body);
	close(fd);
	return outcome;
}

/* However it is cut into pieces. gzip: the bytes say by themselves where they end. */
static void assert_passes(const void *data, size_t size, const char *text, bool gzip)
{
	for (size_t step = 1; step < size + 2; step++) {
		struct outcome outcome = pass(data, size, step, 1000);

		assert_true(outcome.whole);
		assert_int_equal(outcome.size, strlen(text));
		assert_string_equal(outcome.text, text);
		assert_int_equal(outcome.shows_end, gzip);
	}
}

TEST(plain_passes)
{
	char text[sizeof(list)] = "";

	for (size_t size = 0; size < sizeof(list); size++) {
		memcpy(text, list, size);
		assert_passes(list, size, text, false);
	}
}

TEST(gzip_is_whole_or_refused)
{
	uint8_t packed[512];
	size_t size = pack(list, sizeof(list) - 1, packed, sizeof(packed)), one;

	assert_passes(packed, size, list, true);
	/* Cut anywhere behind the bytes that say it is gzip. */
	for (size_t end = 2; end < size; end++)
		assert_int_equal(pass(packed, end, 7, 1000).why, FETCH_TRUNCATED);
	for (size_t at = 10; at < size; at++) {
		packed[at] ^= 0x20;
		assert_false(pass(packed, size, 16, 1000).whole);
		packed[at] ^= 0x20;
	}
	memcpy(packed + size, "junk", 4);
	assert_int_equal(pass(packed, size + 4, 16, 1000).why, FETCH_CORRUPT);
	/* Members follow each other. */
	one = pack(list, 8, packed, sizeof(packed));
	size = one + pack(list + 8, sizeof(list) - 9, packed + one, sizeof(packed) - one);
	assert_passes(packed, size, list, true);
	assert_int_equal(pass(packed, size - 1, 16, 1000).why, FETCH_TRUNCATED);
}

TEST(limits_hold)
{
	static char zeros[1 << 20];
	static uint8_t packed[1 << 16];
	size_t size = pack(zeros, sizeof(zeros), packed, sizeof(packed));
	struct outcome outcome;

	outcome = pass(packed, size, 4096, sizeof(zeros));
	assert_true(outcome.whole);
	assert_int_equal(outcome.size, sizeof(zeros));
	outcome = pass(packed, size, 4096, sizeof(zeros) - 1);
	assert_int_equal(outcome.why, FETCH_TOO_LARGE);
	assert_true(outcome.size < sizeof(zeros));
	assert_true(pass((uint8_t *)zeros, 100, 9, 100).whole);
	assert_int_equal(pass((uint8_t *)zeros, 101, 9, 100).why, FETCH_TOO_LARGE);
}

TEST(texts_of_the_server_are_checked)
{
	struct fetch_result result;
	char kept[FETCH_HEADER_MAX];

	result_keep(kept, "\"abc\"", 5);
	assert_string_equal(kept, "\"abc\"");
	result_keep(kept, "a\r\nX: y", 7);
	assert_string_equal(kept, "");
	result_keep(kept, "\xff", 1);
	assert_string_equal(kept, "");
	result_keep(kept, (char[300]){[0 ... 298] = 'x'}, 299);
	assert_string_equal(kept, "");
	result_set(&result, FETCH_TLS, "%s", "a\033[2Jb\x80");
	assert_string_equal(result.detail, "a?[2Jb?");
	assert_false(wire_text_ok((char[3]){'a', 'b', 'c'}, 3));
	assert_true(wire_text_ok((char[3]){'a', 'b', 0}, 3));
}
