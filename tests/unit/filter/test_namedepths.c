/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How deep names go: the range widens, whatever comes in which order, and never shrinks. */
#include "filter/namedepths.h"
#include "support/cmocka.h"
#include "support/entryof.h"

static void add(struct xb_depths *depths, const char *text)
{
	struct xb_entry entry = entry_of(text);

	if (xb_entry_is_allow(&entry))
		xb_namedepths_allow(depths, &entry);
	else
		xb_namedepths_list(depths, &entry);
}

/* The names as they come, each with the depths from then on. */
TEST(each_name_widens)
{
	static const struct {
		const char *name;
		uint32_t first, last, exact, allowed;
	} rows[] = {
		/* The label that says that a name stands alone counts for nothing. */
		{"=a.example.com", 0, 0, 3, 0},
		{"=com", 0, 0, 3, 0},
		{"=a.b.example.com", 0, 0, 4, 0},
		{"!example.com", 0, 0, 4, 2},
		{"!com", 0, 0, 4, 2},
		{"!=a.example.com", 0, 0, 4, 3},
		{"a.b.example.com", 4, 4, 4, 3},
		{"example.com", 2, 4, 4, 3},
		{"a.example.com", 2, 4, 4, 3},
		{"com", 1, 4, 4, 3},
		{"a.b.c.d.e.f", 1, 6, 4, 3},
	};
	struct xb_depths depths = {0};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		add(&depths, rows[i].name);
		if (depths.first != rows[i].first || depths.last != rows[i].last ||
		    depths.exact != rows[i].exact || depths.allowed != rows[i].allowed)
			fail_msg("%s: %u to %u, %u, %u", rows[i].name, depths.first, depths.last,
				 depths.exact, depths.allowed);
	}
}

TEST(the_most_labels)
{
	struct xb_depths depths = {0};
	char text[254];

	for (size_t i = 0; i < sizeof(text) - 1; i++)
		text[i] = i % 2 ? '.' : 'a';
	text[sizeof(text) - 1] = '\0';
	add(&depths, text);
	assert_int_equal(depths.first, XB_NAME_LABELS);
	assert_int_equal(depths.last, XB_NAME_LABELS);
}
