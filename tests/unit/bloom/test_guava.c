/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Guava's filters: byte for byte what Guava itself wrote (guava/Make.java), and the false positives
 * that its own tests count (BloomFilterTest, release 33). */
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "base/error.h"
#include "bloom/murmur.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "xdp_bloom/bloom.h"

#define DIRECTORY  "tests/unit/bloom/guava/"
#define INSERTIONS 500

static struct xb_filter *make(uint64_t insertions, double rate, bool wide, enum xb_funnel funnel)
{
	struct xb_filter_options options = {.kind = wide ? XB_FILTER_GUAVA_64 : XB_FILTER_GUAVA_32,
					    .funnel = funnel};
	struct xb_filter *filter = NULL;

	assert_int_equal(xb_filter_create(insertions, rate, &options, &filter), 0);
	return filter;
}

static int put_line(struct xb_filter *filter, enum xb_funnel funnel, const char *line)
{
	uint8_t element[XB_FUNNEL_ROOM(256)];
	int64_t size = xb_funnel_take(funnel, line, strlen(line), element);

	assert_true(size >= 0);
	return xb_filter_put(filter, element, (size_t)size);
}

static bool has_line(struct xb_filter *filter, enum xb_funnel funnel, const char *line)
{
	uint8_t element[XB_FUNNEL_ROOM(256)];
	int64_t size = xb_funnel_take(funnel, line, strlen(line), element);

	assert_true(size >= 0);
	return xb_filter_might_contain(filter, element, (size_t)size);
}

/* Element i of a fixture, as a line: see guava/Make.java. */
static void line_of(enum xb_funnel funnel, int i, char line[256])
{
	if (funnel == XB_FUNNEL_INTEGER) {
		snprintf(line, 256, "%d", (int32_t)((uint32_t)i * 0x9e3779b9U));
	} else if (funnel == XB_FUNNEL_LONG) {
		snprintf(line, 256, "%lld", (long long)((uint64_t)i * 0x9e3779b97f4a7c15ULL));
	} else if (funnel == XB_FUNNEL_BYTES) {
		*line = '\0';
		for (int j = 0; j < i % 41; j++)
			snprintf(line + 2 * j, 3, "%02x", (i * 7 + j * 31) & 0xff);
	} else {
		snprintf(line, 256, "user_%d%s", i, i % 3 ? "" : " ä€😀");
	}
}

static size_t slurp(const char *path, char *out, size_t room)
{
	FILE *file = fopen(path, "re");
	size_t size;

	assert_non_null(file);
	size = fread(out, 1, room, file);
	fclose(file);
	return size;
}

static void must_be_written_as(const struct xb_filter *filter, const char *path)
{
	char theirs[4096], ours[4096], made[] = "/tmp/xbt-guava-XXXXXX";
	size_t size = slurp(path, theirs, sizeof(theirs));
	int fd = mkstemp(made);

	assert_int_equal(xb_filter_write_fd(filter, fd, made), 0);
	assert_int_equal(slurp(made, ours, sizeof(ours)), size);
	assert_memory_equal(ours, theirs, size);
	close(fd);
	unlink(made);
}

TEST(the_same_byte_for_byte)
{
	static const char *const names[] = {"strings", "chars", "integers", "longs", "bytes"};

	for (int i = 0; i < 10; i++) {
		enum xb_funnel funnel = (enum xb_funnel)(i / 2);
		struct xb_filter *made = make(INSERTIONS, 0.01, i % 2, funnel), *theirs;
		char path[256], line[256];

		snprintf(path, sizeof(path), DIRECTORY "%s-%s", names[funnel], i % 2 ? "64" : "32");
		assert_int_equal(xb_filter_read(path, XB_FILTER_ASK, funnel, &theirs), 0);
		for (int j = 0; j < INSERTIONS; j++) {
			line_of(funnel, j, line);
			put_line(made, funnel, line);
			assert_true(has_line(theirs, funnel, line));
		}
		must_be_written_as(made, path);
		must_be_written_as(theirs, path);
		assert_true(xb_filter_is_compatible(made, theirs));
		xb_filter_free(made);
		xb_filter_free(theirs);
	}
}

TEST(the_same_sizes_and_figures)
{
	FILE *file = fopen(DIRECTORY "sizes", "re");
	unsigned long n, bits, count;
	unsigned int hashes;
	double rate, expected;
	int lines = 0;

	assert_non_null(file);
	while (fscanf(file, "%lu %lf %lu %u %lf %lu", &n, &rate, &bits, &hashes, &expected,
		      &count) == 6) {
		struct xb_filter *filter = make(n, rate, true, XB_FUNNEL_INTEGER);
		struct xb_filter_info info;

		for (uint32_t i = 0; n <= 1000 && i < n; i++)
			xb_filter_put(filter, &i, sizeof(i));
		info = xb_filter_inspect(filter);
		assert_int_equal(info.bits, bits);
		assert_int_equal(info.hashes, hashes);
		if (expected > 0) {
			double fill = (double)info.set_bits / (double)info.bits;

			assert_true(fabs(pow(fill, info.hashes) / expected - 1) < 1e-12);
			assert_true(xb_filter_expected_rate(filter) >= expected * (1 - 1e-12));
		}
		assert_int_equal(xb_filter_approximate_count(filter), count);
		xb_filter_free(filter);
		lines++;
	}
	fclose(file);
	assert_int_equal(lines, 36);
}

/* What Guava's own test counts, and the first of them below 900 that it names. */
static const struct counts {
	bool wide;
	enum xb_funnel funnel;
	int known, first[17];
} counts[] = {
	{false,
	 XB_FUNNEL_CHARS,
	 29824,
	 {49, 51, 59, 163, 199, 321, 325, 363, 367, 469, 545, 561, 727, 769, 773, 781}},
	{true, XB_FUNNEL_CHARS, 30104, {15, 25, 287, 319, 381, 399, 421, 465, 529, 697, 767, 857}},
	{true, XB_FUNNEL_STRING, 29763, {89, 129, 471, 723, 751, 835, 871}},
};

/* Even numbers in, odd ones asked. */
TEST(its_own_counts)
{
	for (size_t row = 0; !is_slowed() && row < sizeof(counts) / sizeof(counts[0]); row++) {
		const struct counts *expected = &counts[row];
		struct xb_filter *filter = make(1000000, 0.03, expected->wide, expected->funnel);
		int found = 0, below = 0;
		char line[16];

		for (int i = 0; i < 2000000; i += 2) {
			snprintf(line, sizeof(line), "%d", i);
			put_line(filter, expected->funnel, line);
		}
		for (int i = 0; i < 2000000; i++) {
			bool has;

			snprintf(line, sizeof(line), "%d", i);
			has = has_line(filter, expected->funnel, line);
			assert_true(has || i % 2);
			found += has && i % 2;
			if (i < 900 && has && i % 2)
				assert_int_equal(i, expected->first[below++]);
		}
		assert_int_equal(expected->first[below], 0);
		assert_int_equal(found, expected->known);
		assert_true(fabs(xb_filter_expected_rate(filter) - found / 1e6) < 0.00033);
		assert_true(fabs((double)xb_filter_approximate_count(filter) / 1e6 - 1) < 0.01);
		xb_filter_free(filter);
	}
}

/* The tail is mixed as a whole word: nothing behind the end counts. */
TEST(nothing_behind_the_end)
{
	uint8_t bytes[64];

	for (size_t size = 0; size < 48; size++) {
		struct xb_murmur one, other;

		memset(bytes, 0xaa, sizeof(bytes));
		one = xb_murmur128(bytes, size);
		memset(bytes + size, 0x55, sizeof(bytes) - size);
		other = xb_murmur128(bytes, size);
		assert_true(one.low == other.low && one.high == other.high);
	}
}

TEST(lines_that_are_no_elements)
{
	static const struct {
		enum xb_funnel funnel;
		const char *line;
	} wrong[] = {
		{XB_FUNNEL_INTEGER, "2147483648"},
		{XB_FUNNEL_INTEGER, "-2147483649"},
		{XB_FUNNEL_INTEGER, ""},
		{XB_FUNNEL_INTEGER, "-"},
		{XB_FUNNEL_INTEGER, "1.2.3"},
		{XB_FUNNEL_INTEGER, "1 "},
		{XB_FUNNEL_LONG, "9223372036854775808"},
		{XB_FUNNEL_LONG, "1.2.3.4"},
		{XB_FUNNEL_LONG, "-9223372036854775809"},
		{XB_FUNNEL_LONG, "18446744073709551616"},
		{XB_FUNNEL_BYTES, "abc"},
		{XB_FUNNEL_BYTES, "0g"},
		{XB_FUNNEL_CHARS, "\xff"},
		{XB_FUNNEL_CHARS, "\xed\xa0\x80"},
	};
	uint8_t element[XB_FUNNEL_ROOM(64)];

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		assert_int_equal(xb_funnel_take(wrong[i].funnel, wrong[i].line,
						strlen(wrong[i].line), element),
				 -EINVAL);
	assert_int_equal(xb_funnel_take(XB_FUNNEL_INTEGER, "-2147483648", 11, element), 4);
	assert_memory_equal(element, "\0\0\0\x80", 4);
	assert_int_equal(xb_funnel_take(XB_FUNNEL_INTEGER, "255.0.0.1", 9, element), 4);
	assert_memory_equal(element, "\1\0\0\xff", 4);
	assert_int_equal(xb_funnel_take(XB_FUNNEL_LONG, "-9223372036854775808", 20, element), 8);
	assert_memory_equal(element, "\0\0\0\0\0\0\0\x80", 8);
}
