/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is read ahead comes as it is in the file, also what is wrong with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/error.h"
#include "bloomset/ahead.h"

#define NUMBERS 1000000U

static int file_with(const void *bytes, size_t size)
{
	int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

static uint32_t *numbers(void)
{
	uint32_t *number = malloc(NUMBERS * sizeof(*number));

	assert_non_null(number);
	for (uint32_t i = 0; i < NUMBERS; i++)
		number[i] = i * 2654435761U;
	return number;
}

static void all_of_it_in_order(void **state)
{
	uint32_t *expected = numbers();
	int fd = file_with(expected, NUMBERS * sizeof(*expected));
	struct xb_unpack *unpack = xb_unpack_open(fd, "numbers", 0);
	char *got = malloc(NUMBERS * sizeof(*expected) + XB_UNPACK_ROOM);
	struct ahead *ahead;
	size_t held = 0;
	ssize_t size;

	(void)state;
	assert_non_null(unpack);
	assert_non_null(got);
	xb_unpack_as_is(unpack);
	ahead = ahead_open(unpack);
	assert_non_null(ahead);
	for (size_t room = XB_UNPACK_ROOM;; room = room * 5 % 100003 + XB_UNPACK_ROOM) {
		size_t left = NUMBERS * sizeof(*expected) + XB_UNPACK_ROOM - held;

		size = ahead_read(ahead, got + held, room < left ? room : left);
		if (size <= 0)
			break;
		held += (size_t)size;
	}
	assert_int_equal(size, 0);
	assert_int_equal(ahead_read(ahead, got, XB_UNPACK_ROOM), 0);
	assert_int_equal(held, NUMBERS * sizeof(*expected));
	assert_memory_equal(got, expected, held);
	assert_int_equal(ahead_done(ahead), held);
	ahead_close(ahead);
	xb_unpack_close(unpack);
	close(fd);
	free(got);
	free(expected);
}

/* The beginning of a gzip file, and no more. */
static void an_error_has_its_message(void **state)
{
	const uint8_t head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
	int fd = file_with(head, sizeof(head));
	struct xb_unpack *unpack = xb_unpack_open(fd, "list.gz", 0);
	struct ahead *ahead;
	char text[XB_UNPACK_ROOM];

	(void)state;
	assert_non_null(unpack);
	ahead = ahead_open(unpack);
	assert_non_null(ahead);
	for (int i = 0; i < 2; i++) {
		xb_error_clear();
		assert_int_equal(ahead_read(ahead, text, sizeof(text)), -EINVAL);
		assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
		assert_non_null(strstr(xb_error_message(), "ends early"));
	}
	ahead_close(ahead);
	xb_unpack_close(unpack);
	close(fd);
}

static void it_ends_though_nobody_writes(void **state)
{
	struct xb_unpack *unpack;
	struct ahead *ahead;
	int ends[2];

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	unpack = xb_unpack_open(ends[0], "pipe", 0);
	assert_non_null(unpack);
	ahead = ahead_open(unpack);
	assert_non_null(ahead);
	ahead_close(ahead);
	ahead_close(NULL);
	xb_unpack_close(unpack);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it_in_order),
		cmocka_unit_test(an_error_has_its_message),
		cmocka_unit_test(it_ends_though_nobody_writes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
