/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files of filters: they come back as they were, and what is cut short or damaged is refused. */
#include <fcntl.h>
#include <math.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <signal.h>
#include <unistd.h>

#include "base/error.h"
#include "bloom/filterfile.h"
#include "support/cmocka.h"

/* It is of the whole process: a file that another thread makes meanwhile would be for anybody. */
mode_t umask(mode_t mask)
{
	fail_msg("the library changes the umask of its program");
	return 0;
}

static char directory[] = "/tmp/xbt-filter-XXXXXX";
static char path[64];

static int begin(void **state)
{
	if (!mkdtemp(directory))
		return -1;
	snprintf(path, sizeof(path), "%s/filter", directory);
	return 0;
}

/* Fails if anything was left beside the file. */
static int end(void **state)
{
	unlink(path);
	return rmdir(directory);
}

static struct xb_filter *make(enum xb_filter_kind kind, bool counting)
{
	struct xb_filter_options options = {.kind = kind, .counting = counting};
	struct xb_filter *filter = NULL;

	assert_int_equal(xb_filter_create(100, 0.01, &options, &filter), 0);
	for (uint64_t i = 0; i < 100; i++)
		xb_filter_put(filter, &i, sizeof(i));
	return filter;
}

static void must_be_equal(const struct xb_filter *one, const struct xb_filter *other)
{
	assert_true(xb_filter_is_compatible(one, other));
	assert_memory_equal(one->bits, other->bits,
			    xb_filter_bits_bytes(&one->info) +
				    xb_filter_counters_bytes(&one->info));
	assert_int_equal(one->fingerprints.slots, other->fingerprints.slots);
	if (one->info.counting)
		assert_memory_equal(one->fingerprints.slot, other->fingerprints.slot,
				    one->fingerprints.slots * 8);
	if (!xb_filter_is_guava(one->info.kind)) {
		assert_int_equal(one->info.insertions, other->info.insertions);
		assert_int_equal(one->info.expected, other->info.expected);
		assert_true(one->info.rate <= other->info.rate &&
			    one->info.rate >= other->info.rate);
	}
}

/* Of each kind, and the counting one. */
#define KINDS 5
static struct xb_filter *make_number(int number)
{
	return make((enum xb_filter_kind)(number % 4), number == 4);
}

TEST(written_and_read)
{
	for (int i = 0; i < KINDS; i++) {
		struct xb_filter *filter = make_number(i), *asked, *changed;
		uint64_t more = 1234567;

		assert_int_equal(xb_filter_write(filter, path), 0);
		assert_int_equal(xb_filter_read(path, XB_FILTER_ASK, XB_FUNNEL_STRING, &asked), 0);
		must_be_equal(filter, asked);
		assert_int_equal(xb_filter_read(path, XB_FILTER_CHANGE, XB_FUNNEL_STRING, &changed),
				 0);
		while (!xb_filter_put(changed, &more, sizeof(more)))
			more++;
		/* The file does not see it, until it is written. */
		assert_false(xb_filter_might_contain(asked, &more, sizeof(more)));
		assert_int_equal(xb_filter_write(changed, path), 0);
		must_be_equal(filter, asked);
		xb_filter_free(asked);
		assert_int_equal(xb_filter_read(path, XB_FILTER_ASK, XB_FUNNEL_STRING, &asked), 0);
		must_be_equal(changed, asked);
		xb_filter_free(asked);
		xb_filter_free(changed);
		xb_filter_free(filter);
	}
}

static size_t written(const struct xb_filter *filter, uint8_t bytes[16384])
{
	FILE *file;
	size_t size;

	assert_int_equal(xb_filter_write(filter, path), 0);
	file = fopen(path, "re");
	assert_non_null(file);
	size = fread(bytes, 1, 16384, file);
	fclose(file);
	assert_true(size < 16384);
	return size;
}

static int read_bytes(const uint8_t *bytes, size_t size, struct xb_filter **filter)
{
	int fd = memfd_create("filter", MFD_CLOEXEC), got;

	assert_int_equal(write(fd, bytes, size), size);
	xb_error_clear();
	*filter = NULL;
	got = xb_filter_read_fd(fd, path, XB_FILTER_ASK, XB_FUNNEL_STRING, filter);
	close(fd);
	if (got) {
		assert_int_equal(got, -EINVAL);
		assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
		assert_non_null(strstr(xb_error_message(), path));
		assert_null(strchr(xb_error_message(), '\n'));
		assert_null(*filter);
	}
	return got;
}

TEST(cut_short_or_too_long)
{
	uint8_t bytes[16384] = {0};

	for (int i = 0; i < KINDS; i++) {
		struct xb_filter *filter = make_number(i), *got;
		size_t size = written(filter, bytes);

		for (size_t cut = 0; cut < size; cut++)
			assert_int_equal(read_bytes(bytes, cut, &got), -EINVAL);
		bytes[size] = 0;
		assert_int_equal(read_bytes(bytes, size + 1, &got), -EINVAL);
		assert_int_equal(read_bytes(bytes, size, &got), 0);
		xb_filter_free(got);
		xb_filter_free(filter);
	}
}

/* Every bit that is not as it was written; Guava's format has no check sum. */
TEST(damaged)
{
	uint8_t bytes[16384];

	for (int i = 0; i < KINDS; i++) {
		struct xb_filter *filter = make_number(i), *got;
		size_t size = written(filter, bytes);

		for (size_t bit = 0; !xb_filter_is_guava(filter->info.kind) && bit < size * 8;
		     bit++) {
			bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
			assert_int_equal(read_bytes(bytes, size, &got), -EINVAL);
			bytes[bit / 8] ^= (uint8_t)(1U << bit % 8);
		}
		xb_filter_free(filter);
	}
}

TEST(of_guavas_only_what_it_reads)
{
	static const uint8_t wrong[][14] = {
		{2, 1, 0, 0, 0, 1},	     {0, 0, 0, 0, 0, 1},    {0, 1, 0, 0, 0, 0},
		{0, 1, 0xff, 0xff, 0xff, 1}, {1, 1, 0, 0, 0, 2},    {255, 1, 0, 0, 0, 1},
		{0, 1, 1, 0, 0, 1},	     {0, 1, 0x80, 0, 0, 0},
	};
	static const uint8_t right[14] = {1, 255, 0, 0, 0, 1};
	struct xb_filter *got;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(read_bytes(wrong[i], sizeof(wrong[i]), &got), -EINVAL);
	assert_int_equal(read_bytes(right, sizeof(right), &got), 0);
	assert_int_equal(xb_filter_inspect(got).hashes, 255);
	xb_filter_free(got);
}

/* A sum that is right does not make a header right. */
TEST(a_header_of_nonsense)
{
	uint8_t bytes[16384];
	struct xb_filter *filter = make(XB_FILTER_STANDARD, false), *got;
	size_t size = written(filter, bytes);

	for (int i = 0; i < 13; i++) {
		struct xb_filter_header header;
		uint8_t changed[16384];

		memcpy(changed, bytes, size);
		memcpy(&header, bytes, sizeof(header));
		header.kind = i == 0 ? XB_FILTER_GUAVA_64 : i == 1 ? 77 : header.kind;
		header.funnel = i == 2 ? 5 : header.funnel;
		header.counting = i == 3 ? 1 : i == 4 ? 2 : header.counting;
		header.hashes = i == 5 ? 0 : i == 6 ? 256 : header.hashes;
		header.bits = i == 7 ? 0 : i == 8 ? UINT64_MAX : header.bits;
		header.rate = i == 9 ? (double)NAN : header.rate;
		header.zero[3] = i == 10;
		header.form = i == 11 ? 2 : header.form;
		header.slots = i == 12;
		header.header_sum = xb_filter_header_sum(&header);
		memcpy(changed, &header, sizeof(header));
		assert_int_equal(read_bytes(changed, size, &got), -EINVAL);
	}
	xb_filter_free(filter);
}

TEST(by_a_pipe)
{
	for (int i = 0; i < KINDS; i++) {
		struct xb_filter *filter = make_number(i), *got;
		int ends[2];

		assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
		assert_int_equal(xb_filter_write_fd(filter, ends[1], "pipe"), 0);
		close(ends[1]);
		assert_int_equal(xb_filter_read_fd(ends[0], "pipe", XB_FILTER_CHANGE,
						   XB_FUNNEL_STRING, &got),
				 0);
		close(ends[0]);
		must_be_equal(filter, got);
		xb_filter_free(got);
		xb_filter_free(filter);
	}
}

/* Where there is no room, the former file stays, and nothing else. */
TEST(no_room)
{
	struct xb_filter *small = make(XB_FILTER_STANDARD, false), *large, *got;
	struct rlimit before, limit;

	assert_int_equal(xb_filter_write(small, path), 0);
	assert_int_equal(xb_filter_create(100000, 0.01, &(struct xb_filter_options){0}, &large), 0);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &before);
	limit = before;
	limit.rlim_cur = 4096;
	setrlimit(RLIMIT_FSIZE, &limit);
	assert_true(xb_filter_write(large, path) < 0);
	assert_int_equal(xb_error_class(), XB_ERROR_SYSTEM);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_int_equal(xb_filter_read(path, XB_FILTER_ASK, XB_FUNNEL_STRING, &got), 0);
	must_be_equal(small, got);
	xb_filter_free(got);
	xb_filter_free(small);
	xb_filter_free(large);
}

TEST(links_and_permissions_stay)
{
	struct xb_filter *filter = make(XB_FILTER_STANDARD, false);
	char link[80];
	struct stat st;

	assert_int_equal(xb_filter_write(filter, path), 0);
	chmod(path, 0640);
	snprintf(link, sizeof(link), "%s/link", directory);
	assert_int_equal(symlink("filter", link), 0);
	assert_int_equal(xb_filter_write(filter, link), 0);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	unlink(link);
	xb_filter_free(filter);
}

TEST(what_is_no_file)
{
	struct xb_filter *filter = make(XB_FILTER_STANDARD, false), *got;

	assert_int_equal(xb_filter_read(directory, XB_FILTER_ASK, XB_FUNNEL_STRING, &got), -EINVAL);
	assert_int_equal(xb_filter_read("/nowhere/x", XB_FILTER_ASK, XB_FUNNEL_STRING, &got),
			 -EINVAL);
	assert_int_equal(xb_filter_write(filter, "/dev/null"), 0);
	assert_true(xb_filter_write(filter, "/dev/full") < 0);
	assert_true(xb_filter_write(filter, "/nowhere/x") < 0);
	xb_filter_free(filter);
}

ALL_TESTS(begin, end);
