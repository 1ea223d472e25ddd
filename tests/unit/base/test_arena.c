/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Copies that stay where they are, of no bytes and of more than there can be. */
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "support/cmocka.h"

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
