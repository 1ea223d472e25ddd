/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines come as they are in the file, in their order, however long they are and wherever blocks end
 * in them; also what is wrong with the file. */
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "bloomset/cut.h"
#include "bloomset/lines.h"
#include "bloomset/texthash.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/random.h"

#define MOST ((uint64_t)4 << 20)

static const struct xb_key key = {0x0123456789abcdefULL, 0xfedcba9876543210ULL};

struct text {
	char *bytes;
	size_t size, room;
};

struct taken {
	struct text text; /* with line ends */
	uint64_t lines, numbers, sum;
};

static char *make_room(struct text *text, size_t size)
{
	if (text->size + size > text->room) {
		text->room = 2 * (text->size + size);
		text->bytes = realloc(text->bytes, text->room);
		assert_non_null(text->bytes);
	}
	return text->bytes + text->size;
}

static void put(struct text *text, const char *bytes, size_t size)
{
	if (size)
		memcpy(make_room(text, size), bytes, size);
	text->size += size;
}

static int take(void *to, const struct batch *batch)
{
	struct taken *taken = to;

	assert_true(batch->records_count + batch->numbers_count > 0);
	assert_true(batch->records_count <= BATCH_RECORDS);
	assert_true(batch->numbers_count <= BATCH_NUMBERS);
	for (size_t i = 0; i < batch->records_count; i++) {
		const struct record *record = &batch->records[i];

		assert_true(record->hash == texthash(&key, record->text, record->size));
		put(&taken->text, record->text, record->size);
		put(&taken->text, "\n", 1);
		taken->sum += record->hash;
		taken->lines++;
	}
	for (size_t i = 0; i < batch->numbers_count; i++)
		taken->sum += batch_sum(batch->numbers[i]);
	taken->numbers += batch->numbers_count;
	return 0;
}

static int read_lines(int fd, uint64_t until, enum number_form form, struct taken *taken)
{
	const struct input_terms terms = {
		.lines = true, .numbers = form, .key = key, .most = MOST, .unpacking = 1 << 23};
	struct input input = {.path = "list", .name = "list"};
	struct input_result result = {0};
	int error;

	*taken = (struct taken){0};
	error = lines_read(&input, fd, until, &terms, take, taken, &result);
	if (!error)
		assert_true(result.sum == taken->sum);
	return error;
}

static int file_with(const struct text *text)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text->bytes, text->size), text->size);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* Bytes of any value but a line end, zero among them. */
static void put_line(struct text *text, size_t size, uint32_t *dice)
{
	char *at = make_room(text, size + 1); /* also where the first line is empty */

	for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
		uint64_t word = xb_mix64(*dice += 0x9e3779b9U);

		memcpy(at + i, &word, size - i < sizeof(word) ? size - i : sizeof(word));
	}
	for (char *end = at; (end = memchr(end, '\n', size - (size_t)(end - at)));)
		*end = '\r';
	text->size += size;
	put(text, "\n", 1);
}

/* As they are, and without the last line end, unless the line would vanish with it. */
static void expect_same(struct text *text)
{
	int most = text->bytes[text->size - 2] != '\n';
	struct taken taken;

	for (int cut = 0; cut <= most; cut++) {
		struct text less = *text;
		int fd;

		less.size -= (size_t)cut;
		fd = file_with(&less);
		assert_int_equal(read_lines(fd, 0, NUMBERS_NONE, &taken), 0);
		close(fd);
		assert_int_equal(taken.text.size, text->size);
		assert_memory_equal(taken.text.bytes, text->bytes, text->size);
		free(taken.text.bytes);
	}
	text->size = 0;
}

TEST(lines_of_all_sizes)
{
	static const size_t around[] = {1, CUT_BYTES / 2, CUT_BYTES, 2 * CUT_BYTES, MOST - 2};
	struct text text = {0};
	uint32_t dice = 1;

	for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++)
		for (int more = -1; more < 3; more++) {
			put_line(&text, 5, &dice);
			put_line(&text, around[i] + (size_t)more, &dice);
			expect_same(&text);
			put_line(&text, around[i] + (size_t)more, &dice);
			put_line(&text, around[i] + (size_t)more, &dice);
			put_line(&text, 0, &dice);
			put_line(&text, 1, &dice);
			expect_same(&text);
		}
	free(text.bytes);
}

TEST(lines_by_dice)
{
	struct text text = {0};
	uint32_t dice;

	random_begin();
	dice = random_word();
	for (uint32_t round = 0; round < amount(20, 20); round++) {
		while (text.size < 3 * (size_t)CUT_BYTES) {
			uint32_t kind;

			dice = (uint32_t)xb_mix64(dice);
			kind = dice >> 28;
			put_line(&text, dice % (kind ? 40U : 2U * CUT_BYTES), &dice);
		}
		expect_same(&text);
	}
	free(text.bytes);
}

/* More than a block has records for. */
TEST(many_short_lines)
{
	struct text text = {0};

	for (uint32_t i = 0; i < 3 * CUT_BYTES; i++)
		put(&text, "ab\n" + i % 3, 3 - i % 3);
	expect_same(&text);
	for (uint32_t i = 0; i < 2 * CUT_BYTES; i++)
		put(&text, "\n", 1);
	expect_same(&text);
	free(text.bytes);
}

TEST(numbers_and_others)
{
	struct text text = {0};
	struct taken taken;
	char line[32];
	int fd;

	for (uint32_t i = 0; i < 100000; i++) {
		snprintf(line, sizeof(line), "%s%u\n", i % 1000 ? "" : "x", i);
		put(&text, line, strlen(line));
	}
	fd = file_with(&text);
	assert_int_equal(read_lines(fd, 0, NUMBERS_INTEGERS, &taken), 0);
	assert_int_equal(taken.numbers, 99900);
	assert_int_equal(taken.lines, 100);
	assert_memory_equal(taken.text.bytes, "x0\nx1000\n", 9);
	free(taken.text.bytes);
	/* No more than so many bytes. */
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(read_lines(fd, 7, NUMBERS_INTEGERS, &taken), 0);
	assert_int_equal(taken.numbers, 2);
	assert_int_equal(taken.lines, 1);
	free(taken.text.bytes);
	close(fd);
	free(text.bytes);
}

TEST(an_error_has_its_line)
{
	struct text text = {0};
	struct taken taken;
	uint32_t dice = 7;
	int fd;

	for (int i = 0; i < 3; i++)
		put_line(&text, CUT_BYTES, &dice);
	put_line(&text, MOST + 1, &dice);
	fd = file_with(&text);
	assert_int_equal(read_lines(fd, 0, NUMBERS_NONE, &taken), -EINVAL);
	assert_string_equal(xb_error_message(), "list, line 4: it is longer than 4 MiB");
	free(taken.text.bytes);
	close(fd);
	free(text.bytes);
}

/* The beginning of a gzip file, and no more. */
TEST(an_error_of_the_file)
{
	static char head[] = {0x1f, (char)0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
	const struct text text = {head, sizeof(head), 0};
	struct taken taken;
	int fd = file_with(&text);

	xb_error_clear();
	assert_int_equal(read_lines(fd, 0, NUMBERS_NONE, &taken), -EINVAL);
	assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	assert_non_null(strstr(xb_error_message(), "ends early"));
	close(fd);
}

struct asked {
	int to; /* what writes waits for the answer of what reads */
	uint64_t lines;
};

static int take_and_ask(void *to, const struct batch *batch)
{
	struct asked *asked = to;

	asked->lines += batch->records_count;
	if (asked->lines < 50000)
		assert_int_equal(write(asked->to, "next\n", 5), 5);
	else if (asked->to >= 0) {
		close(asked->to);
		asked->to = -1;
	}
	return 0;
}

/* Each line is given before the next one is written. */
TEST(a_line_is_not_held_back)
{
	const struct input_terms terms = {
		.lines = true, .key = key, .most = MOST, .unpacking = 1 << 23};
	struct input input = {.path = "pipe", .name = "pipe"};
	struct input_result result = {0};
	struct asked asked = {0};
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	asked.to = ends[1];
	assert_int_equal(write(ends[1], "first\nhalf", 10), 10);
	assert_int_equal(lines_read(&input, ends[0], 0, &terms, take_and_ask, &asked, &result), 0);
	assert_int_equal(asked.lines, 50000);
	close(ends[0]);
}
