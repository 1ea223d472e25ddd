/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays that grow and copies that stay where they are, of no bytes and of more than there can be.
 */
#include "base/arena.h"
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

TEST(copies_stay)
{
	static const size_t sizes[] = {1,    255,   4095,    4096, 4097,    3,
				       8192, 70000, 1 << 20, 5,	   3 << 20, 1};
	enum { COUNT = sizeof(sizes) / sizeof(sizes[0]) };
	static uint8_t bytes[3 << 20];
	struct xb_arena arena = {0};
	uint8_t *copies[COUNT];

	for (size_t i = 0; i < COUNT; i++) {
		memset(bytes, (int)i + 1, sizes[i]);
		copies[i] = xb_arena_copy(&arena, bytes, sizes[i]);
		assert_non_null(copies[i]);
	}
	for (size_t i = 0; i < COUNT; i++) {
		memset(bytes, (int)i + 1, sizes[i]);
		assert_memory_equal(copies[i], bytes, sizes[i]);
	}
	xb_arena_free(&arena);
}

TEST(many_small_ones)
{
	static const char *copies[50000];
	struct xb_arena arena = {0};

	for (size_t i = 0; i < 50000; i++) {
		copies[i] = xb_arena_copy(&arena, &i, sizeof(i));
		assert_non_null(copies[i]);
	}
	for (size_t i = 0; i < 50000; i++)
		assert_memory_equal(copies[i], &i, sizeof(i));
	xb_arena_free(&arena);
}

/* NULL would be an error without a message. */
TEST(no_bytes_are_a_copy)
{
	struct xb_arena arena = {0};
	char *first, *behind;

	assert_non_null(xb_arena_copy(&arena, "", 0));
	first = xb_arena_copy(&arena, "abc", 3);
	assert_non_null(first);
	assert_non_null(xb_arena_copy(&arena, "", 0));
	behind = xb_arena_copy(&arena, "def", 3);
	assert_ptr_equal(behind, first + 3);
	assert_memory_equal(first, "abcdef", 6);
	xb_arena_free(&arena);
}

TEST(too_many_bytes_are_refused)
{
	static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 1, SIZE_MAX - 7};
	struct xb_arena arena = {0};
	char *kept;

	kept = xb_arena_copy(&arena, "kept", 5);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		xb_error_clear();
		assert_null(xb_arena_copy(&arena, "", sizes[i]));
		assert_string_equal(xb_error_message(), "out of memory");
	}
	assert_string_equal(kept, "kept");
	assert_ptr_equal(xb_arena_copy(&arena, "more", 5), kept + 5);
	xb_arena_free(&arena);
}

TEST(a_freed_one_is_empty)
{
	static const struct xb_arena empty;
	struct xb_arena arena = {0};

	xb_arena_free(&arena);
	assert_non_null(xb_arena_copy(&arena, "once", 5));
	xb_arena_free(&arena);
	assert_memory_equal(&arena, &empty, sizeof(arena));
	assert_string_equal(xb_arena_copy(&arena, "again", 6), "again");
	xb_arena_free(&arena);
}
