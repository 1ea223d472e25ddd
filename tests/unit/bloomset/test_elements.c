/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list for a filter that is read twice, first to count: what changed in between is no surprise.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "bloomset/elements.h"
#include "support/cmocka.h"

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

/* Returns what the second reading does. */
static int read_twice(const struct input_terms *terms, const char *first, const char *second,
		      unsigned int *count)
{
	unsigned int before = 0;
	struct input input;
	int error;

	write_list(first);
	assert_int_equal(elements_look(&input, path), 0);
	assert_int_equal(elements_read(&input, terms, count_one, &before), 0);
	write_list(second);
	*count = 0;
	error = elements_read(&input, terms, count_one, count);
	assert_true(error || *count == before);
	return error;
}

TEST(one_that_grows)
{
	unsigned int count;

	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(read_twice(&forms[i], "192.0.2.1\n192.0.2.2\n",
					    "192.0.2.1\n192.0.2.2\n192.0.2.3\n", &count),
				 0);
		assert_int_equal(count, 2);
	}
}

TEST(one_that_changes)
{
	static const char *const others[] = {"192.0.2.1\n", "192.0.2.1\n192.0.2.3\n",
					     "192.0.2.9\n192.0.2.8\n192.0.2.7\n", ""};
	unsigned int count;

	for (size_t i = 0; i < 2; i++)
		for (size_t j = 0; j < sizeof(others) / sizeof(others[0]); j++) {
			assert_int_not_equal(
				read_twice(&forms[i], "192.0.2.1\n192.0.2.2\n", others[j], &count),
				0);
			assert_non_null(strstr(xb_error_message(), "changed while it was read"));
		}
}

static int refuse_third(void *to, const char *text, size_t size)
{
	return ++*(unsigned int *)to == 3 ? xb_input_error("wrong") : 0;
}

TEST(an_error_has_its_line)
{
	struct input input;
	unsigned int count = 0;

	write_list("a\nb\nc\nd\n");
	assert_int_equal(elements_look(&input, path), 0);
	assert_int_not_equal(elements_read(&input, &forms[0], refuse_third, &count), 0);
	assert_non_null(strstr(xb_error_message(), ", line 3: wrong"));
}

static int begin(void **state)
{
	int fd = mkstemp(path);

	return fd < 0 ? -1 : close(fd);
}

static int end(void **state)
{
	return unlink(path);
}

ALL_TESTS(begin, end);
