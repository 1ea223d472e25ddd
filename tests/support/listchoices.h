/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists as rows of a table that have to be asked for by more than the format. */
#ifndef XB_TESTS_LISTCHOICES_H
#define XB_TESTS_LISTCHOICES_H

#include "support/listrows.h"

/* As struct row; `choice` is how the list is read beside its format. */
struct choice_row {
	const char *text;
	const char *told;
	struct xb_list_choice choice;
	const char *outcome;
};

static inline void check_choice(const char *told, const struct xb_list_choice *choice,
				const char *outcome)
{
	const struct xb_listfile_terms terms = {.format = told, .choice = *choice};
	char found[4096], expected[4096];
	struct xb_listfile file;

	xb_error_clear();
	memset(&file, 0x5a, sizeof(file));
	if (xb_listfile_read_as(-1, path, &terms, &file)) {
		snprintf(expected, sizeof(expected), "%s%s", path, outcome);
		/* What is wrong with the choice is no fault of the file. */
		assert_string_equal(xb_error_message(), *outcome == '!' ? outcome + 1 : expected);
		assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
		assert_empty(&file);
		return;
	}
	describe(&file, found, sizeof(found));
	assert_string_equal(found, outcome);
	assert_int_equal(xb_error_class(), XB_ERROR_NONE);
	for (size_t i = 0; i < file.count; i++)
		assert_in_range(file.items[i].entry.line, 1, file.lines);
	xb_listfile_free(&file);
	assert_empty(&file);
}

static inline void test_choice_rows(void **state)
{
	for (const struct choice_row *row = *state; row->text; row++) {
		write_list(row->text, strlen(row->text));
		check_choice(row->told, &row->choice, row->outcome);
	}
}

#define CHOICES(rows) TEST_OF(rows, test_choice_rows, rows)

#define COLUMN(which)                                                                              \
	{                                                                                          \
		.column = (which)                                                                  \
	}
#define WHERE(which, values)                                                                       \
	{                                                                                          \
		.column = (which), .where = (values)                                               \
	}
#define JSON(which)                                                                                \
	{                                                                                          \
		.json = (which)                                                                    \
	}
#define SKIP(number)                                                                               \
	{                                                                                          \
		.bounded = true, .most_wrong = (number)                                            \
	}

#endif
