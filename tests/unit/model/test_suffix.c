/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of public suffixes: what is read of a file, and what is refused. What the filter makes
 * of it: prog/test_suffixes. */
#include <stdio.h>
#include <unistd.h>

#include "base/error.h"
#include "model/name.h"
#include "model/suffix.h"
#include "support/cmocka.h"

static char path[] = "/tmp/suffixes-XXXXXX";

static int begin(void **state)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	return 0;
}

static int end(void **state)
{
	unlink(path);
	return 0;
}

/* What is read of this text: each domain with its bits, in order. */
static void reads(const char *text, const char *wanted)
{
	FILE *file = fopen(path, "w");
	struct xb_suffixes suffixes;
	char found[1024] = "", name[XB_NAME_TEXT];

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
	if (xb_suffixes_read(path, &suffixes)) {
		assert_int_equal(suffixes.count, 0);
		assert_string_equal(xb_error_message() + strlen(path), wanted);
		return;
	}
	for (size_t i = 0; i < suffixes.count; i++)
		snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s:%u",
			 i ? " " : "",
			 xb_name_format(suffixes.item[i].form, suffixes.item[i].length, name),
			 suffixes.item[i].says);
	xb_suffixes_free(&suffixes);
	assert_string_equal(found, wanted);
}

TEST(rules)
{
	reads("// a comment\n\ncom\n", "com:1");
	reads("com\r\nnet // words\n// net\n", "com:1 net:1");
	reads("com", "com:1");
	reads("COM\ncom\n", "com:1");
	reads("uk\nco.uk\n", "uk:9 co.uk:1");
	reads("co.uk\n", "uk:8 co.uk:1");
	reads("a.b.c.d\n", "d:8 c.d:8 b.c.d:8 a.b.c.d:1");
	reads("*.ck\n!www.ck\n", "ck:10 www.ck:4");
	reads("*.x.jp\nx.jp\njp\n", "jp:9 x.jp:3");
	reads("\xe5\x85\xac\xe5\x8f\xb8.cn\n", "cn:8 xn--55qx5d.cn:1");
}

TEST(no_rules)
{
	reads("", " has no public suffixes");
	reads("// words\n\n", " has no public suffixes");
	reads("com\n*.\n", ": line 2: '*.' is not a valid domain: it has other characters than "
			   "letters, digits, '-' and '_'");
	reads("a..b\n", ": line 1: 'a..b' is not a valid domain: it has an empty label");
	reads("com\n\n!=com\n", ": line 3: '=' is no rule");
	reads("a.*.com\n", ": line 1: 'a.*.com' is not a valid domain: it has other characters "
			   "than letters, digits, '-' and '_'");
}

TEST(no_list)
{
	struct xb_suffixes suffixes;

	assert_int_equal(xb_suffixes_read("/nowhere/list", &suffixes), -ENOENT);
	assert_string_equal(xb_error_message(),
			    "a limit for each name needs the public suffixes of the package "
			    "publicsuffix: cannot read /nowhere/list: No such file or directory");
}

ALL_TESTS(begin, end);
