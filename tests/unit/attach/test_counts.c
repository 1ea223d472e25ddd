/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What was counted between two readings of the statistics. */
#include "attach/counts.h"
#include "attach/drops.h"
#include "support/cmocka.h"

static struct xb_counts counts_of(uint64_t packets, uint64_t bytes)
{
	struct xb_counts counts = {0};

	counts.reason[XB_NOT_IP].packets = packets;
	counts.reason[XB_NOT_IP].bytes = bytes;
	return counts;
}

static void since_is(uint64_t packets, uint64_t bytes, const struct xb_counts *then, uint64_t more,
		     uint64_t more_bytes)
{
	struct xb_counts now = counts_of(packets, bytes);
	struct xb_count since = xb_count_since(&now, then, XB_NOT_IP);

	assert_int_equal(since.packets, more);
	assert_int_equal(since.bytes, more_bytes);
	assert_int_equal(xb_count_since(&now, then, XB_CLEAN).packets, 0);
}

TEST(t_since)
{
	struct xb_counts then = counts_of(10, 1000);

	since_is(10, 1000, &then, 0, 0);
	since_is(17, 1700, &then, 7, 700);
	since_is(17, 1700, NULL, 17, 1700);
	/* Attached anew: fewer packets, or as many that are smaller. */
	since_is(3, 300, &then, 3, 300);
	since_is(12, 720, &then, 12, 720);
}

TEST(t_rows_by_number)
{
	struct xb_count_row rows[] = {{.ifindex = 7}, {.ifindex = 0}, {.ifindex = 9}};
	struct xb_count_table table = {.rows = rows, .count = 3}, none = {0};

	assert_ptr_equal(xb_counts_of(&table, 9), &rows[2].counts);
	assert_ptr_equal(xb_counts_of(&table, 0), &rows[1].counts);
	assert_null(xb_counts_of(&table, 8));
	assert_null(xb_counts_of(&none, 0));
}

static void source_is(uint8_t family, const char *text)
{
	struct xb_drop drop = {.family = family, .source = {0xfd, 0x77, 0, 3, [15] = 9}};
	struct xb_entry entry = xb_drop_source(&drop);
	char shown[XB_ENTRY_TEXT];

	assert_string_equal(xb_entry_format(&entry, shown), text);
}

TEST(t_sources)
{
	source_is(4, "253.119.0.3");
	source_is(6, "fd77:3::9");
}
