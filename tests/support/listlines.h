/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of lists without a file: what a test hands over, and what became of it. */
#ifndef XB_TESTS_LISTLINES_H
#define XB_TESTS_LISTLINES_H

#include "lists/table.h"
#include "support/listrows.h"

static struct xb_listfile file;
static struct xb_reading reading;

static inline int begin_reading(void **state)
{
	memset(&file, 0, sizeof(file));
	reading = (struct xb_reading){.file = &file};
	xb_error_clear();
	return 0;
}

static inline int end_reading(void **state)
{
	xb_listformat_end(&reading);
	xb_listfile_free(&file);
	return 0;
}

/* The next line, of size bytes, with no more behind it than is promised. */
static inline int take_bytes(const char *line, size_t size)
{
	char *copy = calloc(size + 1 + XB_LIST_SLACK, 1);
	int error;

	assert_non_null(copy);
	memcpy(copy, line, size);
	file.lines++;
	error = xb_listformat_take(&reading, copy, size);
	free(copy);
	return error;
}

static inline int take(const char *line)
{
	return take_bytes(line, strlen(line));
}

static inline void assert_taken(const char *line)
{
	if (take(line) < 0)
		fail_msg("%s: %s", line, xb_error_message());
}

static inline void assert_input_error(int error, const char *message)
{
	assert_int_equal(error, -EINVAL);
	assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	assert_string_equal(xb_error_message(), message);
	xb_error_clear();
}

/* As describe() says it. */
static inline void assert_file(const char *expected)
{
	char found[2048];

	file.format = xb_listformat_name(&reading);
	describe(&file, found, sizeof(found));
	assert_string_equal(found, expected);
}

#endif
