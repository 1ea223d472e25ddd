/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reading list files of every kind, length and origin, and the real lists if they are at hand. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "lists/reader.h"
#include "lists/table.h"
#include "support/cmocka.h"
#include "support/listrows.h"

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

TEST(test_unknown_format)
{
	struct xb_listfile file;

	assert_int_equal(xb_listfile_read(path, "p2q", &file), -EINVAL);
	assert_string_equal(xb_error_message(), "unknown list format 'p2q'; known: " FORMAT_NAMES);
	assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	assert_empty(&file);
	assert_string_equal(xb_listfile_formats(), FORMAT_NAMES);
}

TEST(test_binary)
{
	static const char in_line[] = "192.0.2.1\n192.0.2.2\0\n",
			  in_comment[] = "192.0.2.1\n\n# \0\n";
	static const char wide[] = "\xff\xfe"
				   "1\0.\0\n\0",
			  middle[] = "192.0.2.1\n192.\0000.2.2\n";
	static const char behind_blank[] = "192.0.2.1\n192.0.2.2 \0 \n";

	write_list(in_line, sizeof(in_line) - 1);
	check_refused(NULL, ":2: binary data, not a list");
	write_list(in_comment, sizeof(in_comment) - 1);
	check_refused(NULL, ":3: binary data, not a list");
	write_list(wide, sizeof(wide) - 1);
	check_refused(NULL, ":1: '1.' is not an address or prefix");
	write_list(middle, sizeof(middle) - 1);
	check_refused(NULL, ":2: binary data, not a list");
	write_list(behind_blank, sizeof(behind_blank) - 1);
	check_refused("plain", ":2: binary data, not a list");
}

/* A list whose second line is an address and blanks up to `size` bytes, then `end`. */
static void write_long(size_t size, const char *end)
{
	FILE *list = fopen(path, "w");

	assert_non_null(list);
	fprintf(list, "192.0.2.1\n%-*s%s192.0.2.3\n", (int)size, "192.0.2.2", end);
	assert_int_equal(fclose(list), 0);
}

TEST(test_long_lines)
{
	static const char *const ends[] = {"\n", "\r\n"};
	struct xb_listfile file;

	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		write_long(4096, ends[i]);
		assert_int_equal(xb_listfile_read(path, NULL, &file), 0);
		assert_int_equal(file.count, 3);
		assert_int_equal(file.lines, 3);
		xb_listfile_free(&file);
		write_long(4097, ends[i]);
		check_refused(NULL, ":2: line longer than 4096 bytes");
		write_long(8193, ends[i]);
		check_refused(NULL, ":2: line longer than 4096 bytes");
		write_long(10000000, ends[i]);
		check_refused(NULL, ":2: line longer than 4096 bytes");
	}
	write_long(10000000, "");
	check_refused("ipset",
		      ":1: '192.0.2.1' is neither 'create' nor 'add', all that ipset save writes");
}

TEST(test_files_that_are_none)
{
	char expected[256], below[sizeof(path) + 8];
	struct xb_listfile file;

	check_refused(NULL, ": No such file or directory");
	write_list("192.0.2.1\n", 10);
	snprintf(below, sizeof(below), "%s/list", path);
	snprintf(expected, sizeof(expected), "%s: Not a directory", below);
	assert_int_equal(xb_listfile_read(below, NULL, &file), -EINVAL);
	assert_string_equal(xb_error_message(), expected);
	snprintf(expected, sizeof(expected), "%s: this is a directory, not a list", directory);
	assert_int_equal(xb_listfile_read(directory, NULL, &file), -EINVAL);
	assert_string_equal(xb_error_message(), expected);
	assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	assert_empty(&file);
}

TEST(test_no_permission)
{
	bool root = !geteuid();
	char expected[256];
	struct xb_listfile file;
	int error;

	write_list("192.0.2.1\n", 10);
	assert_int_equal(chmod(path, 0), 0);
	if (root && seteuid(65534))
		skip();
	error = xb_listfile_read(path, NULL, &file);
	if (root)
		assert_int_equal(seteuid(0), 0);
	snprintf(expected, sizeof(expected), "%s: Permission denied", path);
	assert_int_equal(error, -EACCES);
	assert_string_equal(xb_error_message(), expected);
	assert_int_equal(xb_error_class(), XB_ERROR_SYSTEM);
	assert_empty(&file);
}

/* Nothing is mapped at address 0, where reading this file starts. */
TEST(test_read_error)
{
	struct xb_listfile file;

	assert_int_equal(xb_listfile_read("/proc/self/mem", NULL, &file), -EIO);
	assert_string_equal(xb_error_message(), "/proc/self/mem: reading: Input/output error");
	assert_int_equal(xb_error_class(), XB_ERROR_SYSTEM);
	assert_empty(&file);
}

/* Reads from a pipe that is standard input for the time. */
static int read_from_stdin(const char *text, struct xb_listfile *file)
{
	int ends[2], kept = dup(STDIN_FILENO), error;

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
	close(ends[1]);
	assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	close(ends[0]);
	error = xb_listfile_read("-", NULL, file);
	assert_int_not_equal(fcntl(STDIN_FILENO, F_GETFD), -1);
	if (kept >= 0) {
		dup2(kept, STDIN_FILENO);
		close(kept);
	}
	return error;
}

TEST(test_stdin)
{
	struct xb_listfile file;

	assert_int_equal(read_from_stdin("192.0.2.1\n192.0.2.2", &file), 0);
	assert_int_equal(file.count, 2);
	xb_listfile_free(&file);
	assert_int_equal(read_from_stdin("192.0.2.1\nx\n", &file), -EINVAL);
	assert_string_equal(xb_error_message(), "stdin:2: 'x' is not an address or prefix");
	assert_int_equal(read_from_stdin("", &file), -ENODATA);
	assert_string_equal(xb_error_message(), "stdin: no entries");
}

static unsigned int reports, finished;
static unsigned long long last_done;

static void count_progress(const char *what, unsigned long long done, unsigned long long total)
{
	assert_string_equal(what, "reading");
	assert_true(done >= last_done && done <= total);
	last_done = done;
	reports++;
	finished += done == total;
}

/* Many buffers long, so that lines lie across their ends; descending, so that the sort has work. */
TEST(test_large_list_with_progress)
{
	const uint32_t count = 1500000;
	struct xb_listfile file;
	FILE *list = fopen(path, "w");
	struct stat about;

	assert_non_null(list);
	for (uint32_t i = count; i-- > 0;)
		fprintf(list, "10.%u.%u.%u\n", i >> 16, i >> 8 & 255, i & 255);
	assert_int_equal(fclose(list), 0);
	assert_int_equal(stat(path, &about), 0);
	xb_progress_sink(count_progress);
	assert_int_equal(xb_listfile_read(path, NULL, &file), 0);
	xb_progress_sink(NULL);
	assert_int_equal(file.count, count);
	assert_int_equal(file.lines, count);
	for (uint32_t i = 0; i < count; i++)
		if (xb_entry_ipv4(&file.items[i].entry) != (10U << 24 | i))
			fail_msg("item %u is another one", i);
	assert_true(reports > 1);
	assert_int_equal(finished, 1);
	assert_int_equal(last_done, about.st_size);
	xb_listfile_free(&file);
}

static int read_bare(const char *text, struct xb_listfile *file)
{
	FILE *list = fopen(path, "w");

	assert_non_null(list);
	assert_true(fputs(text, list) >= 0);
	assert_int_equal(fclose(list), 0);
	return xb_listfile_read_as(-1, path, &(struct xb_listfile_terms){.bare = true}, file);
}

/* Whether the file was held as it could be, and says what it says to who does not ask for that. */
static void says_the_same(const char *text, bool bare)
{
	struct xb_listfile asked, file;

	assert_int_equal(read_bare(text, &asked), 0);
	assert_int_equal(xb_listfile_read(path, NULL, &file), 0);
	assert_int_equal(asked.bare != NULL, bare);
	assert_int_equal(asked.items != NULL, !bare);
	assert_null(file.bare);
	assert_int_equal(asked.count, file.count);
	assert_int_equal(asked.repeats, file.repeats);
	assert_int_equal(asked.allowed, file.allowed);
	for (unsigned int wide = 0; wide < 2; wide++) {
		for (size_t i = 0; i < file.count; i++) {
			struct xb_item one = xb_listfile_at(&asked, i);

			assert_int_equal(xb_entry_compare(&one.entry, &file.items[i].entry), 0);
			assert_int_equal(one.entry.line, file.items[i].entry.line);
			assert_int_equal(one.timeout, file.items[i].timeout);
			assert_string_equal(xb_listfile_comment(&asked, &one),
					    xb_listfile_comment(&file, &file.items[i]));
		}
		assert_int_equal(xb_listfile_widen(&asked), 0);
		assert_null(asked.bare);
	}
	xb_listfile_free(&asked);
	xb_listfile_free(&file);
}

TEST(test_bare_addresses)
{
	struct xb_listfile file;

	says_the_same("192.0.2.7\n192.0.2.1\n\n# text\n  192.0.2.3\n192.0.2.1\n10.0.0.1/32\n",
		      true);
	says_the_same("192.0.2.7 # \n192.0.2.1\t\n192.0.2.2/32", true);
	says_the_same("192.0.2.7\t3\n192.0.2.1\t2\n", true);
	says_the_same("192.0.2.7\n192.0.2.1\n192.0.2.3 # why\n192.0.2.2\n", false);
	says_the_same("192.0.2.7\n192.0.2.1\n192.0.2.0/24\n192.0.2.2\n", false);
	says_the_same("192.0.2.7\n192.0.2.1-192.0.2.4\n192.0.2.1\n", false);
	says_the_same("192.0.2.7\n2001:db8::1\n192.0.2.1\n", false);
	says_the_same("create s hash:ip netmask 24\nadd s 192.0.2.7\nadd s 192.0.2.3\n", false);
	assert_int_equal(read_bare("192.0.2.7\n192.0.2.1\nx.example\n", &file), -EINVAL);
	assert_true(!file.bare && !file.items && !file.count);
	assert_int_equal(read_bare("# none\n", &file), -ENODATA);
	assert_null(file.bare);
}

/* More than was reserved for a pipe. */
TEST(test_bare_addresses_of_a_pipe)
{
	const uint32_t count = 5000;
	struct xb_listfile file;
	int ends[2];

	assert_int_equal(pipe(ends), 0);
	for (uint32_t i = count; i-- > 0;)
		dprintf(ends[1], "10.0.%u.%u\n", i >> 8, i & 255);
	close(ends[1]);
	assert_int_equal(xb_listfile_read_as(ends[0], "list",
					     &(struct xb_listfile_terms){.bare = true}, &file),
			 0);
	close(ends[0]);
	assert_non_null(file.bare);
	assert_int_equal(file.count, count);
	for (uint32_t i = 0; i < count; i++)
		assert_true(file.bare[i] == ((uint64_t)(10U << 24 | i) << 32 | (count - i)));
	xb_listfile_free(&file);
}

TEST(test_real_lists)
{
	static const struct {
		const char *name, *format;
		size_t count;
	} lists[] = {
		{"ipsum.txt", "ipsum", 120430},		  {"spamhaus-drop.txt", "plain", 989},
		{"spamhaus-edrop.txt", "plain", 322},	  {"spamhaus-dropv6.txt", "plain", 51},
		{"firehol-level1.netset", "plain", 2892},
	};

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct xb_listfile file;

		read_published(lists[i].name, lists[i].format, lists[i].count, &file);
		assert_int_equal(file.repeats, 0);
		assert_int_equal(file.host_bits, 0);
		for (size_t j = 1; j < file.count; j++)
			assert_true(xb_entry_compare(&file.items[j - 1].entry,
						     &file.items[j].entry) < 0);
		xb_listfile_free(&file);
	}
}

EACH_TEST(NULL, remove_list);
ALL_TESTS(make_directory, remove_directory);
