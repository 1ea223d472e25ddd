/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays that grow, up to more than there can be. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "support/cmocka.h"

/* Too much memory is then refused as without the sanitizer. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

TEST(an_empty_one_begins)
{
	uint64_t *array = NULL;
	size_t room = 0;

	assert_int_equal(xb_array_grow(&array, &room, 0, sizeof(*array)), 0);
	assert_null(array);
	assert_int_equal(room, 0);
	assert_int_equal(xb_array_grow(&array, &room, 1, sizeof(*array)), 0);
	assert_true(room > 1);
	array[0] = 1;
	array[room - 1] = 2;
	free(array);
}

TEST(contents_stay)
{
	uint32_t *array = NULL;
	size_t room = 0, moved = 0;

	for (uint32_t i = 0; i < 300000; i++) {
		size_t before = room;

		assert_int_equal(xb_array_grow(&array, &room, i + 1U, sizeof(*array)), 0);
		moved += room != before ? before : 0;
		array[i] = i;
	}
	for (uint32_t i = 0; i < 300000; i++)
		assert_int_equal(array[i], i);
	/* Appending is cheap: the room doubles each time, so that fewer elements are moved than
	 * twice as many as there are. */
	assert_in_range(moved, 1, 600000);
	free(array);
}

TEST(what_fits_does_not_move)
{
	uint32_t *array = NULL, *before;
	size_t room = 0, had;

	assert_int_equal(xb_array_grow(&array, &room, 10, sizeof(*array)), 0);
	before = array;
	had = room;
	assert_int_equal(xb_array_grow(&array, &room, had, sizeof(*array)), 0);
	assert_ptr_equal(array, before);
	assert_int_equal(room, had);
	assert_int_equal(xb_array_grow(&array, &room, had + 1, sizeof(*array)), 0);
	assert_true(room > had);
	array[had] = 1;
	free(array);
}

/* A count that wraps would be a small array that is taken for a large one. */
TEST(too_much_is_refused)
{
	static const struct {
		size_t need, size;
	} rows[] = {
		{SIZE_MAX, 1},	   {SIZE_MAX - 1, 1},	{SIZE_MAX - 15, 1}, {SIZE_MAX / 2 + 1, 2},
		{SIZE_MAX / 8, 8}, {SIZE_MAX / 24, 24}, {SIZE_MAX, 24},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint8_t *array = NULL, *before;
		size_t room = 0, had;

		assert_int_equal(xb_array_grow(&array, &room, 3, rows[i].size), 0);
		array[0] = 7;
		before = array;
		had = room;
		xb_error_clear();
		if (xb_array_grow(&array, &room, rows[i].need, rows[i].size) != -EIO)
			fail_msg("room for %zu times %zu bytes", rows[i].need, rows[i].size);
		assert_string_equal(xb_error_message(), "out of memory");
		assert_ptr_equal(array, before);
		assert_int_equal(room, had);
		assert_int_equal(array[0], 7);
		free(array);
	}
}

TEST(allocations_that_wrap_are_refused)
{
	volatile size_t most = SIZE_MAX; /* the compiler knows better, too */

	assert_null(xb_array_alloc(most, 2));
	assert_null(xb_array_alloc(most / 8 + 1, 8));
	assert_null(xb_array_alloc(most / 24 + 1, 24));
}

/* With huge pages and without, every byte is ours. */
TEST(large_ones_are_whole)
{
	static const size_t sizes[] = {1, XB_HUGE_PAGE - 1, XB_HUGE_PAGE, 2 * XB_HUGE_PAGE + 3,
				       XB_HUGE_MOST + 2 * XB_HUGE_PAGE};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint8_t *array = xb_array_alloc(sizes[i], 1);

		assert_non_null(array);
		array[0] = 1;
		array[sizes[i] - 1] = 1;
		free(array);
	}
}
