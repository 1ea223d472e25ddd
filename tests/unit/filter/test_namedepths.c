/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How deep names go: the range widens, whatever comes in which order, and never shrinks. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "filter/namedepths.h"
#include "support/cmocka.h"

static void add(struct xb_depths *depths, const char *text)
{
	bool allow = *text == '!';
	uint8_t form[XB_NAME_BYTES];
	struct xb_entry entry;

	text += allow;
	assert_int_equal(xb_entry_parse(text, strlen(text), form, &entry, NULL), 0);
	if (allow)
		xb_namedepths_allow(depths, &entry);
	else
		xb_namedepths_list(depths, &entry);
}

static void assert_depths(const struct xb_depths *depths, uint32_t first, uint32_t last,
			  uint32_t exact, uint32_t allowed)
{
	assert_int_equal(depths->first, first);
	assert_int_equal(depths->last, last);
	assert_int_equal(depths->exact, exact);
	assert_int_equal(depths->allowed, allowed);
}

TEST(each_name_widens)
{
	struct xb_depths depths = {0};

	add(&depths, "a.b.example.com");
	assert_depths(&depths, 4, 4, 0, 0);
	add(&depths, "example.com");
	assert_depths(&depths, 2, 4, 0, 0);
	add(&depths, "a.example.com");
	assert_depths(&depths, 2, 4, 0, 0);
	add(&depths, "com");
	assert_depths(&depths, 1, 4, 0, 0);
	add(&depths, "a.b.c.d.e.f");
	assert_depths(&depths, 1, 6, 0, 0);
}

/* The label that says so counts for nothing. */
TEST(names_alone_are_apart)
{
	struct xb_depths depths = {0};

	add(&depths, "=a.example.com");
	assert_depths(&depths, 0, 0, 3, 0);
	add(&depths, "=com");
	assert_depths(&depths, 0, 0, 3, 0);
	add(&depths, "=a.b.example.com");
	assert_depths(&depths, 0, 0, 4, 0);
	add(&depths, "example.com");
	assert_depths(&depths, 2, 2, 4, 0);
}

TEST(allowed_names_are_apart)
{
	struct xb_depths depths = {0};

	add(&depths, "!example.com");
	assert_depths(&depths, 0, 0, 0, 2);
	add(&depths, "!com");
	assert_depths(&depths, 0, 0, 0, 2);
	add(&depths, "!=a.example.com");
	assert_depths(&depths, 0, 0, 0, 3);
	add(&depths, "com");
	assert_depths(&depths, 1, 1, 0, 3);
}

TEST(the_most_labels)
{
	struct xb_depths depths = {0};
	char text[254];

	for (size_t i = 0; i < sizeof(text) - 1; i++)
		text[i] = i % 2 ? '.' : 'a';
	text[sizeof(text) - 1] = '\0';
	add(&depths, text);
	assert_depths(&depths, XB_NAME_LABELS, XB_NAME_LABELS, 0, 0);
}
