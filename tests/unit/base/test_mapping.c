/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows into files: pages as they are touched, and never one beyond the end. */
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mapping.h"
#include "support/cmocka.h"

#define PAGES 8

static size_t page;
static int file = -1;
static struct xb_mapping window;

/* Each byte of a page is its number and one. */
static int begin(void **state)
{
	page = (size_t)sysconf(_SC_PAGESIZE);
	file = memfd_create("test", MFD_CLOEXEC);
	if (file < 0 || ftruncate(file, (off_t)(PAGES * page)))
		return -1;
	for (size_t i = 0; i < PAGES; i++) {
		const uint8_t number = (uint8_t)(i + 1);

		if (pwrite(file, &number, 1, (off_t)(i * page)) != 1 ||
		    pwrite(file, &number, 1, (off_t)((i + 1) * page - 1)) != 1)
			return -1;
	}
	return xb_mapping_open(&window, file, PAGES * page);
}

static int end(void **state)
{
	xb_mapping_close(&window);
	return close(file);
}

static unsigned int pages_mapped(const struct xb_mapping *of)
{
	unsigned int count = 0;

	for (size_t i = 0; i < of->size / page; i++)
		count += of->mapped[i];
	return count;
}

TEST(only_what_is_touched)
{
	assert_int_equal(window.size, PAGES * page);
	assert_int_equal(pages_mapped(&window), 0);
	assert_int_equal(xb_mapping_map(&window, 2 * page, 1), 0);
	assert_int_equal(pages_mapped(&window), 1);
	assert_int_equal(window.base[2 * page], 3);
	assert_int_equal(xb_mapping_map(&window, 3 * page - 1, 1), 0);
	assert_int_equal(pages_mapped(&window), 1);
	assert_int_equal(window.base[3 * page - 1], 3);
	xb_mapping_close(&window);
	assert_null(window.base);
	assert_null(window.mapped);
	xb_mapping_close(&window);
}

TEST(bytes_that_span_pages)
{
	uint8_t byte;

	assert_int_equal(xb_mapping_map(&window, 3 * page - 1, 2), 0);
	assert_int_equal(pages_mapped(&window), 2);
	assert_int_equal(window.base[3 * page - 1], 3);
	assert_int_equal(window.base[3 * page], 4);
	/* What is mapped already stays, and is the file. */
	window.base[3 * page] = 99;
	assert_int_equal(xb_mapping_map(&window, 3 * page - 1, page + 2), 0);
	assert_int_equal(pages_mapped(&window), 3);
	assert_int_equal(window.base[3 * page], 99);
	assert_int_equal(window.base[4 * page], 5);
	assert_int_equal(pread(file, &byte, 1, (off_t)(3 * page)), 1);
	assert_int_equal(byte, 99);
	assert_int_equal(xb_mapping_map(&window, 0, PAGES * page), 0);
	assert_int_equal(pages_mapped(&window), PAGES);
	assert_int_equal(window.base[PAGES * page - 1], PAGES);
}

TEST(all_at_once)
{
	assert_int_equal(xb_mapping_map(&window, 0, 1), 0);
	assert_int_equal(xb_mapping_map_all(&window), 0);
	assert_null(window.mapped);
	for (size_t i = 0; i < PAGES; i++)
		assert_int_equal(window.base[i * page], i + 1);
	assert_int_equal(xb_mapping_map_all(&window), 0);
	assert_int_equal(xb_mapping_map(&window, page, page), 0);
	assert_true(xb_mapping_map(&window, PAGES * page, 1) < 0);
}

TEST(whole_pages_are_reserved)
{
	struct xb_mapping other;

	assert_int_equal(xb_mapping_open(&other, file, 1), 0);
	assert_int_equal(other.size, page);
	xb_mapping_close(&other);
	assert_int_equal(xb_mapping_open(&other, file, page + 1), 0);
	assert_int_equal(other.size, 2 * page);
	assert_int_equal(xb_mapping_map(&other, 2 * page - 1, 1), 0);
	assert_true(xb_mapping_map(&other, 2 * page, 1) < 0);
	xb_mapping_close(&other);
}

TEST(nothing_beyond_the_end)
{
	const struct {
		size_t offset, size;
	} rows[] = {{PAGES * page, 1},
		    {PAGES * page - 1, 2},
		    {0, PAGES * page + 1},
		    {0, SIZE_MAX},
		    {SIZE_MAX, 1},
		    {SIZE_MAX, SIZE_MAX},
		    {page, SIZE_MAX - page + 1},
		    {page, SIZE_MAX},
		    {0, 0},
		    {page, 0}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		xb_error_clear();
		assert_int_equal(xb_mapping_map(&window, rows[i].offset, rows[i].size), -EIO);
		assert_int_equal(xb_error_class(), XB_ERROR_SYSTEM);
		assert_non_null(strstr(xb_error_message(), "the filter has no "));
		assert_int_equal(pages_mapped(&window), 0);
	}
}

TEST(what_cannot_be_mapped)
{
	struct xb_mapping other;

	assert_int_equal(xb_mapping_open(&other, -1, PAGES * page), 0);
	assert_int_equal(xb_mapping_map(&other, 0, 1), -EBADF);
	assert_non_null(strstr(xb_error_message(), "cannot map "));
	assert_int_equal(pages_mapped(&other), 0);
	assert_int_equal(xb_mapping_map_all(&other), -EBADF);
	assert_non_null(other.mapped);
	xb_mapping_close(&other);
	/* Nothing to reserve, and more than there is. */
	assert_true(xb_mapping_open(&other, file, 0) < 0);
	xb_mapping_close(&other);
	assert_true(xb_mapping_open(&other, file, SIZE_MAX) < 0);
	assert_non_null(strstr(xb_error_message(), "cannot reserve "));
	assert_null(other.mapped);
	xb_mapping_close(&other);
}

EACH_TEST(begin, end);
