/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The newest entries of the log: what is there, what a rewind takes out, what becomes too old. */
#include "store/logtail.h"
#include "support/cmocka.h"
#include "support/waiting.h"

static void append(uint64_t term, uint64_t position, const char *entry)
{
	assert_int_equal(xb_logtail_append(txn, term, position, entry, strlen(entry)), 0);
}

static void assert_entry(uint64_t term, uint64_t position, const char *expected)
{
	const void *entry;
	size_t size;

	assert_int_equal(xb_logtail_get(txn, term, position, &entry, &size), expected != NULL);
	assert_int_equal(size, expected ? strlen(expected) : 0);
	if (expected)
		assert_memory_equal(entry, expected, size);
}

static void assert_span(uint64_t term, uint64_t first, uint64_t last)
{
	uint64_t from, to;

	assert_int_equal(xb_logtail_span(txn, term, &from, &to), 0);
	assert_int_equal(from, first);
	assert_int_equal(to, last);
}

/* Of terms 1 and 2; there are no others. */
static void assert_spans(uint64_t first, uint64_t last, uint64_t first2, uint64_t last2)
{
	assert_span(0, 0, 0);
	assert_span(1, first, last);
	assert_span(2, first2, last2);
	assert_span(3, 0, 0);
}

TEST(entries_in_a_row)
{
	assert_int_equal(xb_logtail_append(txn, 1, 1, "x", 1), -EINVAL);
	assert_int_equal(xb_logtail_cut(txn, 1, 1), -EINVAL);
	assert_entry(1, 1, NULL);
	assert_spans(0, 0, 0, 0);
	share("a", XB_SHARE_FOLLOW);
	assert_spans(0, 0, 0, 0);
	append(1, 7, "seven");
	append(1, 8, "eight");
	append(2, 9, "nine");
	commit_and_go_on();
	assert_entry(1, 7, "seven");
	assert_entry(1, 8, "eight");
	assert_entry(2, 8, NULL);
	assert_entry(2, 9, "nine");
	assert_spans(7, 8, 9, 9);
	/* What stands before a gap does not lead to what stands behind it. */
	append(2, 13, "later");
	assert_spans(7, 8, 13, 13);
	assert_entry(2, 9, NULL);
}

TEST(a_rewind)
{
	share("a", XB_SHARE_FOLLOW);
	for (uint64_t i = 1; i <= 600; i++)
		append(1, i, "x");
	append(2, 601, "y");
	assert_int_equal(xb_logtail_cut(txn, 1, 598), 0);
	commit_and_go_on();
	assert_spans(1, 598, 0, 0);
	append(1, 599, "x");
	append(1, 300, "other");
	assert_spans(1, 300, 0, 0);
	assert_entry(1, 300, "other");
	assert_entry(1, 301, NULL);
	assert_int_equal(xb_logtail_cut(txn, 1, 0), 0);
	assert_spans(0, 0, 0, 0);
}

TEST(the_oldest_go)
{
	const size_t size = (size_t)10 << 20;
	char *bytes = calloc(1, size);
	const void *entry;
	size_t found;

	assert_non_null(bytes);
	share("a", XB_SHARE_FOLLOW);
	for (uint64_t i = 1; i <= 8; i++) {
		assert_int_equal(xb_logtail_append(txn, 1 + i / 4, i, bytes, size), 0);
		commit_and_go_on();
	}
	assert_span(1, 3, 3);
	assert_span(2, 4, 7);
	/* What was cut counts no more. */
	assert_int_equal(xb_logtail_cut(txn, 2, 4), 0);
	for (uint64_t i = 5; i <= 7; i++)
		assert_int_equal(xb_logtail_append(txn, 2, i, bytes, size), 0);
	assert_spans(3, 3, 4, 7);
	/* One that is too large by itself is kept alone. */
	free(bytes);
	bytes = calloc(1, XB_LOGTAIL_BYTES + 1);
	assert_non_null(bytes);
	assert_int_equal(xb_logtail_append(txn, 2, 8, bytes, XB_LOGTAIL_BYTES + 1), 0);
	assert_spans(0, 0, 8, 8);
	assert_int_equal(xb_logtail_get(txn, 2, 8, &entry, &found), 1);
	assert_int_equal(found, XB_LOGTAIL_BYTES + 1);
	free(bytes);
}

EACH_TEST(begin_txn, end_txn);
