/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of files that match a pattern: ends of lines, order, errors, files that cannot be read. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "machine/sysfile.h"
#include "support/cmocka.h"

static char directory[] = "/tmp/xb-sysfile-XXXXXX";
static char found[1024], noticed[256];
static unsigned int notices;

static void take_notice(enum xb_notice_kind kind, const char *message)
{
	assert_int_equal(kind, XB_NOTE);
	notices++;
	snprintf(noticed, sizeof(noticed), "%s", message);
}

static int begin(void **state)
{
	strcpy(directory, "/tmp/xb-sysfile-XXXXXX");
	notices = 0;
	xb_notice_sink(take_notice);
	return mkdtemp(directory) && !chdir(directory) ? 0 : -1;
}

static int end(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -r %s", directory);
	return chdir("/") || system(command) ? -1 : 0;
}

static void write_file(const char *name, const char *text, size_t size)
{
	FILE *file = fopen(name, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
}

/* "PATH:LINE|" each; takes the line apart. "stop" is an error. */
static int on_line(char *line, const char *path, void *context)
{
	size_t used = strlen(found);

	assert_ptr_equal(context, &notices);
	snprintf(found + used, sizeof(found) - used, "%s:%s|", path, line);
	if (!strcmp(line, "stop"))
		return xb_input_error("stopped");
	memset(line, 'x', strlen(line));
	return 0;
}

static void assert_lines(const char *pattern, int error, const char *expected)
{
	*found = '\0';
	assert_int_equal(xb_sysfile_lines(pattern, on_line, &notices), error);
	assert_string_equal(found, expected);
	xb_error_clear();
}

TEST(ends_of_lines)
{
	static const char text[] = "a\n\n b \r\nc\\\nlast";

	write_file("f", text, strlen(text));
	assert_lines("f", 0, "f:a|f:|f: b |f:c\\|f:last|");
	write_file("f", "a\n", 2);
	assert_lines("f", 0, "f:a|");
	write_file("f", "\n", 1);
	assert_lines("f", 0, "f:|");
	write_file("f", "", 0);
	assert_lines("f", 0, "");
	write_file("f", "a\0b\nc\n", 6); /* no text: up to the zero */
	assert_lines("f", 0, "f:a|f:c|");
	assert_int_equal(notices, 0);
}

static int count_bytes(char *line, const char *path, void *context)
{
	*(size_t *)context += strlen(line);
	return 0;
}

TEST(a_line_of_any_length)
{
	size_t size = 1 << 20, bytes = 0;
	char *text = malloc(size);

	assert_non_null(text);
	memset(text, 'a', size);
	write_file("f", text, size);
	free(text);
	assert_int_equal(xb_sysfile_lines("f", count_bytes, &bytes), 0);
	assert_int_equal(bytes, size);
}

TEST(files_of_a_pattern)
{
	write_file("b.conf", "2\n", 2);
	write_file("a.conf", "1", 1);
	write_file("c.conf~", "no\n", 3);
	write_file(".d.conf", "no\n", 3);
	assert_lines("*.conf", 0, "a.conf:1|b.conf:2|");
	assert_lines("?.conf", 0, "a.conf:1|b.conf:2|");
	assert_lines("*.none", 0, "");
	assert_lines("none", 0, "");
	assert_lines("a.conf/none", 0, "");
	assert_lines("none/*", 0, "");
	assert_int_equal(notices, 0);
}

TEST(an_error_ends_it)
{
	write_file("a", "1\nstop\n2\n", 9);
	write_file("b", "3\n", 2);
	*found = '\0';
	assert_int_equal(xb_sysfile_lines("?", on_line, &notices), -EINVAL);
	assert_string_equal(found, "a:1|a:stop|");
	assert_string_equal(xb_error_message(), "stopped");
	xb_error_clear();
}

/* What cannot be read is a notice, and no reason to leave out the others. */
TEST(files_that_cannot_be_read)
{
	write_file("a", "1\n", 2);
	write_file("c", "2\n", 2);
	assert_int_equal(symlink("b", "b"), 0);
	assert_lines("[abc]", 0, "a:1|c:2|");
	assert_int_equal(notices, 1);
	assert_non_null(strstr(noticed, "cannot read b:"));
	assert_int_equal(mkdir("d", 0700), 0);
	assert_lines("[cd]", 0, "c:2|");
	assert_int_equal(notices, 2);
	assert_non_null(strstr(noticed, "cannot read d"));
	/* one that was there when the names were read */
	assert_int_equal(symlink("none", "e"), 0);
	assert_lines("e", 0, "");
	assert_int_equal(notices, 2);
}

EACH_TEST(begin, end);
