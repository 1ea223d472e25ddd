/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths that fit to the last byte, and one byte more. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/paths.h"
#include "support/cmocka.h"

static char longest[XB_PATH_MAX + 1]; /* "/dddd..." */

static const char *of_length(size_t length)
{
	memset(longest, 'd', sizeof(longest));
	longest[0] = '/';
	longest[length] = '\0';
	return longest;
}

TEST(joined_if_it_fits)
{
	char path[XB_PATH_MAX];

	assert_int_equal(xb_path_join(path, "/run/here", "name"), 0);
	assert_string_equal(path, "/run/here/name");
	assert_int_equal(xb_path_join(path, of_length(XB_PATH_MAX - 1 - strlen("/name")), "name"),
			 0);
	assert_int_equal(strlen(path), XB_PATH_MAX - 1);
	assert_true(xb_path_join(path, of_length(XB_PATH_MAX - strlen("/name")), "name") < 0);
	assert_non_null(strstr(xb_error_message(), "...: path too long"));
}

TEST(the_parent_of_what_fits)
{
	char parent[XB_PATH_MAX];

	assert_int_equal(xb_path_parent(parent, "/sys/fs/bpf/xdp-bloom"), 0);
	assert_string_equal(parent, "/sys/fs/bpf");
	assert_int_equal(xb_path_parent(parent, "/bpf"), 0);
	assert_string_equal(parent, "/");
	assert_int_equal(xb_path_parent(parent, of_length(XB_PATH_MAX - 1)), 0);
	assert_true(xb_path_parent(parent, of_length(XB_PATH_MAX)) < 0);
	assert_non_null(strstr(xb_error_message(), "...: path too long"));
}
