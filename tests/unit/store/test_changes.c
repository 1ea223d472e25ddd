/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes of a transaction: when they are bulk, what they tighten, what comes of many for one
 * entry.
 */
#include <stdio.h>
#include <stdlib.h>

#include "store/changes.h"
#include "support/cmocka.h"
#include "support/entryof.h"

/* "+ENTRY": listed; "-ENTRY": gone; "~ENTRY": altered; with "@BEFORE>AFTER" behind it, of an
 * address whose classes are these, hexadecimal. */
static void add(struct xb_changes *changes, const char *text)
{
	enum xb_what what = *text == '+' ? XB_LISTED : *text == '-' ? XB_GONE : XB_ALTERED;
	char copy[64], *classes = copy, *name, *before;
	struct xb_entry entry;

	snprintf(copy, sizeof(copy), "%s", text + 1);
	name = strsep(&classes, "@");
	entry = entry_of(name);
	before = classes ? strsep(&classes, ">") : NULL;
	if (before)
		assert_int_equal(xb_changes_move(changes, &entry,
						 (uint32_t)strtoul(before, NULL, 16),
						 (uint32_t)strtoul(classes, NULL, 16)),
				 0);
	else
		assert_int_equal(xb_changes_add(changes, &entry, what), 0);
}

/* The same text for all of them, with blanks between. */
static void add_all(struct xb_changes *changes, const char *texts)
{
	char copy[512], *rest = copy, *word;

	assert_true(strlen(texts) < sizeof(copy));
	strcpy(copy, texts);
	while ((word = strsep(&rest, " ")))
		if (*word)
			add(changes, word);
}

/* Those of all classes are written without them. */
static void assert_changes(const struct xb_changes *changes, const char *expected)
{
	char text[512] = "", entry[XB_ENTRY_TEXT];
	size_t used = 0;

	for (size_t i = 0; i < changes->count; i++) {
		const struct xb_change *change = &changes->change[i];

		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%c%s%s", i ? " " : "",
					 "-+~"[change->what],
					 xb_entry_is_allow(&change->entry) ? "!" : "",
					 xb_entry_format(&change->entry, entry));
		if ((change->before | change->after) != XB_CLASSES_ALL)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "@%x>%x",
						 change->before, change->after);
	}
	assert_string_equal(text, expected);
}

static void fill(struct xb_changes *changes, uint32_t count, enum xb_what what)
{
	struct xb_entry entry = {.kind = XB_HOST4, .length = 32};

	for (uint32_t i = 0; i < count; i++) {
		entry.hi = (uint64_t)i << 32;
		assert_int_equal(xb_changes_add(changes, &entry, what), 0);
	}
}

TEST(names_are_copied)
{
	struct xb_changes changes = {0};

	assert_false(xb_changes_any(&changes));
	add_all(&changes, "+b.example +a.example -192.0.2.1 ~=c.example +!a.example");
	assert_true(xb_changes_any(&changes));
	assert_changes(&changes, "+b.example +a.example -192.0.2.1 ~=c.example +!a.example");
	xb_changes_free(&changes);
	assert_false(xb_changes_any(&changes));
	assert_null(changes.change);
}

TEST(only_a_listing_tightens)
{
	static const struct {
		const char *changes;
		bool tightens;
	} cases[] = {
		{"", false},
		{"-192.0.2.1 -example.com -!192.0.2.1", false},
		{"+!192.0.2.1 +!2001:db8::/32 +!example.com", false},
		{"~example.com", false},
		{"+192.0.2.1", true},
		{"+192.0.2.0/24", true},
		{"+2001:db8::/32", true},
		{"+example.com", true},
		{"+example.com -example.com", true},
		/* A class that is left is not listed more strictly; one that is new may be. */
		{"+10.0.0.1@0>2", true},
		{"~10.0.0.1@2>4", true},
		{"~10.0.0.1@2>6", true},
		{"~10.0.0.1@1>2", true},
		{"~10.0.0.1@6>2", false},
		{"-10.0.0.1@6>0", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct xb_changes changes = {0}, copied = {0};

		add_all(&changes, cases[i].changes);
		assert_int_equal(changes.tightens, cases[i].tightens);
		assert_int_equal(xb_changes_append(&copied, &changes), 0);
		assert_int_equal(copied.tightens, cases[i].tightens);
		assert_changes(&copied, cases[i].changes);
		assert_int_equal(xb_changes_settle(&changes), 0);
		assert_int_equal(changes.tightens, cases[i].tightens);
		xb_changes_free(&copied);
		xb_changes_free(&changes);
	}
}

/* One by one, or appended. */
static void add_more(struct xb_changes *changes, const char *texts, bool appends)
{
	struct xb_changes more = {0};

	add_all(appends ? &more : changes, texts);
	assert_int_equal(xb_changes_append(changes, &more), 0);
	xb_changes_free(&more);
}

TEST(more_than_the_most_are_bulk)
{
	for (int appends = 0; appends < 2; appends++) {
		struct xb_changes changes = {0};

		fill(&changes, XB_CHANGES_MAX - 2, XB_GONE);
		add_more(&changes, "-192.0.2.1 -192.0.2.2", appends);
		assert_false(changes.bulk);
		assert_int_equal(changes.count, XB_CHANGES_MAX);
		add_more(&changes, "-192.0.2.3", appends);
		assert_true(changes.bulk && xb_changes_any(&changes));
		assert_int_equal(changes.count, 0);
		assert_null(changes.change);
		assert_false(changes.tightens);
		add_more(&changes, "+192.0.2.1", appends);
		assert_true(changes.bulk && changes.tightens);
		assert_int_equal(changes.count, 0);
		assert_int_equal(xb_changes_settle(&changes), 0);
		assert_true(changes.bulk && changes.tightens);
		xb_changes_free(&changes);
	}
}

/* The one that makes it bulk, and those before. */
TEST(bulk_keeps_that_it_tightens)
{
	struct xb_changes changes = {0};

	fill(&changes, XB_CHANGES_MAX, XB_GONE);
	add(&changes, "+192.0.2.1");
	assert_true(changes.bulk && changes.tightens);
	xb_changes_free(&changes);
	add(&changes, "+192.0.2.1");
	for (int again = 0; again < 2; again++) {
		xb_changes_set_bulk(&changes);
		assert_true(changes.bulk && changes.tightens);
		assert_int_equal(changes.count, 0);
	}
	xb_changes_free(&changes);
	xb_changes_set_bulk(&changes);
	assert_true(changes.bulk && !changes.tightens);
	xb_changes_free(&changes);
}

TEST(append_copies)
{
	struct xb_changes changes = {0};

	add_more(&changes, "", true);
	assert_false(xb_changes_any(&changes));
	add_all(&changes, "+a.example");
	add_more(&changes, "-a.example +b.example +192.0.2.1", true);
	assert_changes(&changes, "+a.example -a.example +b.example +192.0.2.1");
	assert_true(changes.tightens);
	xb_changes_free(&changes);
}

/* Whatever is bulk on either side, and also if the changes alone do not show it. */
TEST(append_keeps_that_it_tightens)
{
	for (unsigned int bits = 0; bits < 16; bits++) {
		struct xb_changes changes = {0}, more = {0};

		add(&changes, "~a.example");
		add(&more, "~b.example");
		if (bits & 1)
			xb_changes_set_bulk(&changes);
		if (bits & 2)
			xb_changes_set_bulk(&more);
		changes.tightens = bits & 4;
		more.tightens = bits & 8;
		assert_int_equal(xb_changes_append(&changes, &more), 0);
		assert_int_equal(changes.bulk, (bits & 3) != 0);
		assert_int_equal(changes.tightens, (bits & 12) != 0);
		assert_int_equal(changes.count, bits & 3 ? 0 : 2);
		xb_changes_free(&changes);
		xb_changes_free(&more);
	}
}

TEST(settle_leaves_the_net_result)
{
	static const struct {
		const char *changes, *net;
	} cases[] = {
		{"", ""},
		{"-192.0.2.1", "-192.0.2.1"},
		{"~a.example", "~a.example"},
		/* in order */
		{"+192.0.2.2 -192.0.2.1", "-192.0.2.1 +192.0.2.2"},
		{"+a.example +!192.0.2.1 +2001:db8::1 +192.0.2.1 +192.0.2.0/24 +!a.example",
		 "+192.0.2.0/24 +192.0.2.1 +2001:db8::1 +!192.0.2.1 +a.example +!a.example"},
		/* came and went, went and came */
		{"+192.0.2.1 -192.0.2.1", ""},
		{"-192.0.2.1 +192.0.2.1", ""},
		{"+192.0.2.1 -192.0.2.1 +192.0.2.1", "+192.0.2.1"},
		{"-192.0.2.1 +192.0.2.1 -192.0.2.1", "-192.0.2.1"},
		/* another entry between them, and of the same bytes on the other side */
		{"+192.0.2.1 -192.0.2.2 -192.0.2.1", "-192.0.2.2"},
		{"+192.0.2.1 -!192.0.2.1", "+192.0.2.1 -!192.0.2.1"},
		{"+192.0.2.0/24 -192.0.2.0/25", "+192.0.2.0/24 -192.0.2.0/25"},
		/* a domain that came again may be in other lists; an allowed one has no verdict */
		{"-a.example +a.example", "~a.example"},
		{"-!a.example +!a.example", ""},
		{"+a.example -a.example", ""},
		{"+a.example ~a.example", "+a.example"},
		{"~a.example -a.example", "-a.example"},
		{"~a.example ~a.example", "~a.example"},
		{"~a.example -a.example +a.example", "~a.example"},
		{"+a.example ~a.example -a.example", ""},
		{"+a.example -=a.example", "+a.example -=a.example"},
		/* an address moves between classes */
		{"+10.0.0.1@0>2", "+10.0.0.1@0>2"},
		{"-10.0.0.1@2>0", "-10.0.0.1@2>0"},
		{"~10.0.0.1@2>4", "~10.0.0.1@2>4"},
		{"~10.0.0.1@2>6 ~10.0.0.1@6>4", "~10.0.0.1@2>4"},
		{"+10.0.0.1@0>2 ~10.0.0.1@2>6", "+10.0.0.1@0>6"},
		{"+10.0.0.1@0>2 ~10.0.0.1@2>4", "+10.0.0.1@0>4"},
		{"~10.0.0.1@6>2 -10.0.0.1@2>0", "-10.0.0.1@6>0"},
		{"-10.0.0.1@2>0 +10.0.0.1@0>4", "~10.0.0.1@2>4"},
		{"-10.0.0.1@1>0 +10.0.0.1@0>4", "~10.0.0.1@1>4"},
		{"~2001:db8::/32@2>3 ~2001:db8::/32@3>1", "~2001:db8::/32@2>1"},
		{"+10.0.0.1@0>8000 ~10.0.0.1@8000>fffe", "+10.0.0.1@0>fffe"},
		/* to the same classes, and there and back */
		{"~10.0.0.1@2>2", ""},
		{"~10.0.0.1@2>4 ~10.0.0.1@4>2", ""},
		{"+10.0.0.1@0>4 -10.0.0.1@4>0", ""},
		{"-10.0.0.1@6>0 +10.0.0.1@0>6", ""},
		{"~2001:db8::/32@1>2 ~2001:db8::/32@2>1", ""},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct xb_changes changes = {0};

		add_all(&changes, cases[i].changes);
		assert_int_equal(xb_changes_settle(&changes), 0);
		assert_changes(&changes, cases[i].net);
		assert_true(changes.room >= changes.count);
		add(&changes, "+255.255.255.255"); /* there is room again */
		xb_changes_free(&changes);
	}
}
