/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines come as they are in the file, in their order, however long they are and wherever blocks end
 * in them; also what is wrong with the file. And a list for a filter, which is read twice, first to
 * count: what changed in between is no surprise. */
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "bloomset/cut.h"
#include "bloomset/elements.h"
#include "bloomset/lines.h"
#include "bloomset/texthash.h"
#include "support/cmocka.h"
#include "support/texts.h"

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

static char *make_room(struct text *to, size_t size)
{
	if (to->size + size > to->room) {
		to->room = 2 * (to->size + size);
		to->bytes = realloc(to->bytes, to->room);
		assert_non_null(to->bytes);
	}
	return to->bytes + to->size;
}

static void put(struct text *to, const char *bytes, size_t size)
{
	if (size)
		memcpy(make_room(to, size), bytes, size);
	to->size += size;
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

/* What is read, and what is taken of it; both are freed behind each test. */
static struct text given;
static struct taken taken;

static int file_with(size_t size)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, given.bytes, size), size);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* Of the text without the last `less` bytes. */
static int read_lines(size_t less, uint64_t until, enum number_form form)
{
	const struct input_terms terms = {
		.lines = true, .numbers = form, .key = key, .most = MOST, .unpacking = 1 << 23};
	struct input input = {.path = "list", .name = "list"};
	struct input_result result = {0};
	int error, fd = file_with(given.size - less);

	free(taken.text.bytes);
	taken = (struct taken){0};
	error = lines_read(&input, fd, until, &terms, take, &taken, &result);
	close(fd);
	if (!error)
		assert_true(result.sum == taken.sum);
	return error;
}

static int free_texts(void **state)
{
	free(given.bytes);
	free(taken.text.bytes);
	given = (struct text){0};
	taken = (struct taken){0};
	return 0;
}

/* Bytes of any value but a line end, zero among them. */
static void put_line(size_t size)
{
	static uint32_t dice = 1;
	char *at = make_room(&given, size + 1); /* also where the first line is empty */

	for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
		uint64_t word = xb_mix64(dice += 0x9e3779b9U);

		memcpy(at + i, &word, size - i < sizeof(word) ? size - i : sizeof(word));
	}
	for (char *end = at; (end = memchr(end, '\n', size - (size_t)(end - at)));)
		*end = '\r';
	given.size += size;
	put(&given, "\n", 1);
}

/* As they are, and without the last line end, unless the line would vanish with it. */
static void expect_same(void)
{
	size_t most = given.bytes[given.size - 2] != '\n';

	for (size_t less = 0; less <= most; less++) {
		assert_int_equal(read_lines(less, 0, NUMBERS_NONE), 0);
		assert_int_equal(taken.text.size, given.size);
		assert_memory_equal(taken.text.bytes, given.bytes, given.size);
	}
	given.size = 0;
}

TEST(lines_of_all_sizes)
{
	static const size_t around[] = {1, CUT_BYTES / 2, CUT_BYTES, 2 * CUT_BYTES, MOST - 2};

	for (size_t i = 0; i < sizeof(around) / sizeof(around[0]); i++)
		for (int more = -1; more < 3; more++) {
			put_line(5);
			put_line(around[i] + (size_t)more);
			expect_same();
			put_line(around[i] + (size_t)more);
			put_line(around[i] + (size_t)more);
			put_line(0);
			put_line(1);
			expect_same();
		}
}

/* More than a block has records for. */
TEST(many_short_lines)
{
	for (uint32_t i = 0; i < 3 * CUT_BYTES; i++)
		put(&given, "ab\n" + i % 3, 3 - i % 3);
	expect_same();
	for (uint32_t i = 0; i < 2 * CUT_BYTES; i++)
		put(&given, "\n", 1);
	expect_same();
}

TEST(numbers_and_others)
{
	char line[32];

	for (uint32_t i = 0; i < 100000; i++) {
		snprintf(line, sizeof(line), "%s%u\n", i % 1000 ? "" : "x", i);
		put(&given, line, strlen(line));
	}
	assert_int_equal(read_lines(0, 0, NUMBERS_INTEGERS), 0);
	assert_int_equal(taken.numbers, 99900);
	assert_int_equal(taken.lines, 100);
	assert_memory_equal(taken.text.bytes, "x0\nx1000\n", 9);
	/* No more than so many bytes. */
	assert_int_equal(read_lines(0, 7, NUMBERS_INTEGERS), 0);
	assert_int_equal(taken.numbers, 2);
	assert_int_equal(taken.lines, 1);
}

TEST(errors)
{
	static const char head[] = {0x1f, (char)0x8b, 8, 0, 0, 0, 0, 0, 0, 3};

	for (int i = 0; i < 3; i++)
		put_line(CUT_BYTES);
	put_line(MOST + 1);
	assert_int_equal(read_lines(0, 0, NUMBERS_NONE), -EINVAL);
	assert_string_equal(xb_error_message(), "list, line 4: it is longer than 4 MiB");
	/* The beginning of a gzip file, and no more. */
	given.size = 0;
	put(&given, head, sizeof(head));
	xb_error_clear();
	assert_int_equal(read_lines(0, 0, NUMBERS_NONE), -EINVAL);
	assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	assert_non_null(strstr(xb_error_message(), "ends early"));
}

#define LINES_ASKED 5000

struct asked {
	int to; /* what writes waits for the answer of what reads */
	uint64_t lines;
};

static int take_and_ask(void *to, const struct batch *batch)
{
	struct asked *asked = to;

	asked->lines += batch->records_count;
	if (asked->lines < LINES_ASKED)
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
	assert_int_equal(asked.lines, LINES_ASKED);
	close(ends[0]);
}

/* --- read twice --- */

static char path[] = "/tmp/bloomset-elements-XXXXXX";

static void write_list(const char *text)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static int count_one(void *to, const char *text, size_t size)
{
	++*(unsigned int *)to;
	return 0;
}

static const struct input_terms forms[] = {{.lines = true}, {.lines = false}};

/* first: of two elements. Returns what the second reading does. */
static int read_twice(const struct input_terms *terms, const char *first, const char *second)
{
	unsigned int before = 0, count = 0;
	struct input input;
	int error;

	write_list(first);
	assert_int_equal(elements_look(&input, path), 0);
	assert_int_equal(elements_read(&input, terms, count_one, &before), 0);
	write_list(second);
	error = elements_read(&input, terms, count_one, &count);
	assert_true(error || (count == 2 && before == 2));
	return error;
}

/* One that grows is read as far as it was counted, one that changes otherwise is refused. */
TEST(a_list_that_changes_between_two_readings)
{
	struct texts others = texts_of("192.0.2.1\n; 192.0.2.1\n192.0.2.3\n; "
				       "192.0.2.9\n192.0.2.8\n192.0.2.7\n; ");
	static const char two[] = "192.0.2.1\n192.0.2.2\n";

	for (size_t i = 0; i < 2; i++)
		assert_int_equal(read_twice(&forms[i], two, "192.0.2.1\n192.0.2.2\n192.0.2.3\n"),
				 0);
	for (const char *other; (other = next_text(&others));)
		for (size_t i = 0; i < 2; i++) {
			assert_int_not_equal(read_twice(&forms[i], two, other), 0);
			assert_non_null(strstr(xb_error_message(), "changed while it was read"));
		}
}

static int refuse_third(void *to, const char *text, size_t size)
{
	return ++*(unsigned int *)to == 3 ? xb_input_error("wrong") : 0;
}

TEST(an_error_of_an_element_has_its_line)
{
	struct input input;
	unsigned int count = 0;

	write_list("a\nb\nc\nd\n");
	assert_int_equal(elements_look(&input, path), 0);
	assert_int_not_equal(elements_read(&input, &forms[0], refuse_third, &count), 0);
	assert_non_null(strstr(xb_error_message(), ", line 3: wrong"));
}

static int begin_list(void **state)
{
	int fd = mkstemp(path);

	return fd < 0 ? -1 : close(fd);
}

static int end_list(void **state)
{
	return unlink(path);
}

ALL_TESTS(begin_list, end_list);
EACH_TEST(NULL, free_texts);
