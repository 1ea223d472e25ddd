/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Rows of statistics: as many as there are, numbers that are too alike, and rows that are used
 * again; what is counted in them. */
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "attach/counts.h"
#include "attach/drops.h"
#include "base/error.h"
#include "support/cmocka.h"
#include "support/rowmaps.h"

static size_t enrolled_count(void)
{
	struct xb_enrolled *all;
	size_t count;

	assert_int_equal(xb_anchor_enrolled(&anchor, &all, &count), 0);
	free(all);
	return count;
}

/* ifindex 0: it is not enrolled. */
static struct xb_enrolled find(uint32_t ifindex)
{
	struct xb_enrolled *all, found = {0};
	size_t count;

	assert_int_equal(xb_anchor_enrolled(&anchor, &all, &count), 0);
	for (size_t i = 0; i < count; i++)
		if (all[i].ifindex == ifindex)
			found = all[i];
	free(all);
	return found;
}

static void enrol(uint32_t ifindex)
{
	if (xb_anchor_enrol(&anchor, ifindex, "some"))
		fail_msg("%u: %s", ifindex, xb_error_message());
	assert_int_equal(find(ifindex).ifindex, ifindex);
}

/* As much on each CPU. */
static void count_packets(uint32_t row, uint64_t packets)
{
	size_t cpus = (size_t)libbpf_num_possible_cpus();
	struct xb_counts *each = calloc(cpus, sizeof(*each));

	assert_non_null(each);
	for (size_t cpu = 0; cpu < cpus; cpu++) {
		each[cpu].reason[0].packets = packets;
		each[cpu].reason[XB_REASON_SLOTS - 1].bytes = packets + cpu;
	}
	assert_int_equal(bpf_map_update_elem(anchor.stats, &row, each, BPF_ANY), 0);
	free(each);
}

static struct xb_counts counts(uint32_t row)
{
	struct xb_counts sum;

	memset(&sum, 0xa5, sizeof(sum));
	assert_int_equal(xb_anchor_counts(&anchor, row, &sum), 0);
	return sum;
}

TEST(sums_of_all_processors)
{
	uint64_t cpus = (uint64_t)libbpf_num_possible_cpus();
	struct xb_counts sum;

	count_packets(7, 1000);
	sum = counts(7);
	assert_int_equal(sum.reason[0].packets, 1000 * cpus);
	assert_int_equal(sum.reason[0].bytes, 0);
	assert_int_equal(sum.reason[XB_REASON_SLOTS - 1].bytes,
			 1000 * cpus + cpus * (cpus - 1) / 2);
	assert_int_equal(counts(6).reason[0].packets, 0);
	assert_true(xb_anchor_counts(&anchor, XB_IFACE_ROWS, &sum) < 0);
	assert_non_null(strstr(xb_error_message(), "cannot read statistics"));
}

TEST(all_rows_at_once)
{
	static const uint32_t rows[] = {0, 1, 31, 32, 33, 63, 64, XB_IFACE_ROWS - 1};
	static const uint32_t ends[] = {1, 2, 32, 33, 64, 65, XB_IFACE_ROWS};
	static struct xb_iface_note notes[XB_IFACE_ROWS];
	static uint64_t packets[XB_IFACE_ROWS];
	uint64_t cpus = (uint64_t)libbpf_num_possible_cpus();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		count_packets(rows[i], 1000 + rows[i]);
		notes[0] = (struct xb_iface_note){.mtu = 1 + rows[i]};
		assert_int_equal(xb_anchor_note_put(&anchor, rows[i], &notes[0]), 0);
	}
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		memset(packets, 0xa5, sizeof(packets));
		memset(notes, 0xa5, sizeof(notes));
		assert_int_equal(xb_anchor_packets(&anchor, ends[i], packets), 0);
		assert_int_equal(xb_anchor_notes(&anchor, ends[i], notes), 0);
		for (uint32_t row = 0; row < ends[i]; row++) {
			bool filled = notes[row].mtu;

			assert_int_equal(packets[row], filled ? (1000 + row) * cpus : 0);
			assert_int_equal(packets[row], counts(row).reason[0].packets);
			assert_int_equal(notes[row].mtu, filled ? 1 + row : 0);
		}
		if (ends[i] < XB_IFACE_ROWS)
			assert_int_equal(packets[ends[i]], 0xa5a5a5a5a5a5a5a5ULL);
	}
	assert_int_equal(xb_anchor_packets(&anchor, 0, packets), 0);
	assert_true(xb_anchor_packets(&anchor, XB_IFACE_ROWS + 1, packets) < 0);
	assert_true(xb_anchor_notes(&anchor, XB_IFACE_ROWS + 1, notes) < 0);
}

/* Row 0 is of those that have none. */
TEST(each_has_a_row_of_its_own)
{
	assert_int_equal(enrolled_count(), 0);
	enrol(1);
	enrol(UINT32_MAX);
	enrol(4096);
	assert_int_equal(find(1).row, 1);
	assert_int_equal(find(UINT32_MAX).row, 2);
	assert_int_equal(find(4096).row, 3);
	assert_int_equal(enrolled_count(), 3);
}

TEST(enrolled_again)
{
	struct xb_iface_cell cell;
	off_t place = (off_t)(xb_iface_cell_first(5) * sizeof(cell));

	assert_int_equal(xb_anchor_enrol(&anchor, 5, "before"), 0);
	count_packets(1, 9);
	assert_int_equal(xb_anchor_enrol(&anchor, 5, "a23456789abcdefgh"), 0);
	assert_int_equal(enrolled_count(), 1);
	assert_int_equal(find(5).row, 1);
	assert_string_equal(find(5).name, "a23456789abcdef");
	assert_int_equal(pread(anchor.ifaces, &cell, sizeof(cell), place), sizeof(cell));
	assert_int_equal(cell.ifindex, 5);
	assert_memory_equal(cell.name, "a23456789abcdef", sizeof(cell.name));
	assert_true(counts(1).reason[0].packets > 0);
	/* Nothing of a longer name stays. */
	assert_int_equal(xb_anchor_enrol(&anchor, 5, "x"), 0);
	assert_memory_equal(find(5).name, "x\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
}

TEST(a_row_is_used_again)
{
	enrol(5);
	enrol(6);
	count_packets(1, 9);
	count_packets(2, 9);
	assert_int_equal(xb_anchor_dismiss(&anchor, 5), 0);
	assert_int_equal(xb_anchor_dismiss(&anchor, 77), 0);
	assert_int_equal(enrolled_count(), 1);
	assert_int_equal(find(5).ifindex, 0);
	enrol(7);
	assert_int_equal(find(7).row, 1);
	assert_int_equal(counts(1).reason[0].packets, 0);
	assert_true(counts(2).reason[0].packets > 0);
}

TEST(as_many_as_there_are_rows)
{
	uint8_t seen[XB_IFACE_ROWS] = {0};

	for (uint32_t i = 1; i < XB_IFACE_ROWS; i++) {
		enrol(i * 3);
		assert_in_range(find(i * 3).row, 1, XB_IFACE_ROWS - 1);
		assert_int_equal(seen[find(i * 3).row]++, 0);
	}
	xb_error_clear();
	assert_int_equal(xb_anchor_enrol(&anchor, 4000, "dev"), -EIO);
	assert_non_null(strstr(xb_error_message(), "dev: 255 interfaces are attached"));
	assert_int_equal(enrolled_count(), XB_IFACE_ROWS - 1);
	assert_int_equal(find(4000).ifindex, 0);
	/* Those that are there are no more than before. */
	enrol(3);
	assert_int_equal(xb_anchor_dismiss(&anchor, 300), 0);
	enrol(4000);
	assert_int_equal(find(4000).row, 100);
}

/* The number of this kind that begins at the cell. */
static uint32_t alike(uint32_t cell, uint32_t number)
{
	uint32_t ifindex = number << 12 | (cell ^ number);

	assert_int_equal(xb_iface_cell_first(ifindex) % XB_IFACE_CELLS, cell);
	return ifindex;
}

/* Each is found by the program at most so many cells behind its first one. */
static void assert_probed(uint32_t cell)
{
	static struct xb_iface_cell cells[XB_IFACE_CELLS];
	uint32_t at;

	assert_int_equal(pread(anchor.ifaces, cells, ROWMAPS_BYTES, 0), ROWMAPS_BYTES);
	for (uint32_t i = 1; i <= XB_IFACE_PROBES; i++) {
		for (at = 0; at < XB_IFACE_PROBES; at++)
			if (cells[(cell + at) % XB_IFACE_CELLS].ifindex == alike(cell, i))
				break;
		assert_true(at < XB_IFACE_PROBES);
	}
}

static void too_alike(uint32_t cell)
{
	for (uint32_t i = 1; i <= XB_IFACE_PROBES; i++)
		enrol(alike(cell, i));
	assert_probed(cell);
	xb_error_clear();
	assert_int_equal(xb_anchor_enrol(&anchor, alike(cell, 9), "dev"), -EIO);
	assert_non_null(strstr(xb_error_message(), "dev: no room for its statistics"));
	assert_int_equal(enrolled_count(), XB_IFACE_PROBES);
	/* A gap in front of others takes one, and hides none of them. */
	assert_int_equal(xb_anchor_dismiss(&anchor, alike(cell, 2)), 0);
	enrol(alike(cell, 8));
	assert_int_equal(enrolled_count(), XB_IFACE_PROBES - 1);
	enrol(alike(cell, 9));
	assert_int_equal(enrolled_count(), XB_IFACE_PROBES);
	for (uint32_t i = 1; i <= 9; i++)
		assert_int_equal(xb_anchor_dismiss(&anchor, alike(cell, i)), 0);
	assert_int_equal(enrolled_count(), 0);
}

TEST(numbers_that_are_too_alike)
{
	too_alike(100);
	too_alike(XB_IFACE_CELLS - 1); /* goes on at the first cell */
	too_alike(XB_IFACE_CELLS - XB_IFACE_PROBES);
}

/* What the interface was until now. */
static uint32_t mute(uint32_t ifindex, uint32_t how)
{
	uint32_t before;

	assert_int_equal(xb_anchor_mute(&anchor, ifindex, how, &before), 0);
	return before;
}

/* Nobody has looked at a new one; which row an interface has is found in every cell. */
TEST(muted_until_somebody_has_looked)
{
	for (uint32_t i = 1; i <= XB_IFACE_PROBES; i++) {
		enrol(alike(4093, i));
		assert_int_equal(mute(alike(4093, i), XB_MUTE_NONE), XB_MUTE_UNSEEN);
	}
	assert_int_equal(mute(alike(4093, 3), XB_MUTE_VLANS), XB_MUTE_NONE);
	assert_int_equal(mute(alike(4093, 4), XB_MUTE_NONE), XB_MUTE_NONE);
	enrol(alike(4093, 3)); /* again: it keeps its row */
	assert_int_equal(mute(alike(4093, 3), XB_MUTE_NONE), XB_MUTE_VLANS);
	assert_int_equal(mute(1, XB_MUTE_VLANS), XB_MUTE_NONE); /* it has no row */
}

static void since_is(uint64_t packets, uint64_t bytes, const struct xb_counts *then, uint64_t more,
		     uint64_t more_bytes)
{
	const struct xb_counts now = {.reason[XB_NOT_IP] = {packets, bytes}};
	struct xb_count since = xb_count_since(&now, then, XB_NOT_IP);

	assert_int_equal(since.packets, more);
	assert_int_equal(since.bytes, more_bytes);
	assert_int_equal(xb_count_since(&now, then, XB_CLEAN).packets, 0);
}

TEST(counted_between_two_readings)
{
	const struct xb_counts then = {.reason[XB_NOT_IP] = {10, 1000}};

	since_is(10, 1000, &then, 0, 0);
	since_is(17, 1700, &then, 7, 700);
	since_is(17, 1700, NULL, 17, 1700);
	/* Attached anew: fewer packets, or as many that are smaller. */
	since_is(3, 300, &then, 3, 300);
	since_is(12, 720, &then, 12, 720);
}

TEST(counts_by_number)
{
	struct xb_count_row rows[] = {{.ifindex = 7}, {.ifindex = 0}, {.ifindex = 9}};
	struct xb_count_table table = {.rows = rows, .count = 3}, none = {0};

	assert_ptr_equal(xb_counts_of(&table, 9), &rows[2].counts);
	assert_ptr_equal(xb_counts_of(&table, 0), &rows[1].counts);
	assert_null(xb_counts_of(&table, 8));
	assert_null(xb_counts_of(&none, 0));
}

TEST(sources_of_drops)
{
	static const char *const texts[] = {[4] = "253.119.0.3", [6] = "fd77:3::9"};
	char shown[XB_ENTRY_TEXT];

	for (uint8_t family = 4; family <= 6; family += 2) {
		struct xb_drop drop = {.family = family, .source = {0xfd, 0x77, 0, 3, [15] = 9}};
		struct xb_entry entry = xb_drop_source(&drop);

		assert_string_equal(xb_entry_format(&entry, shown), texts[family]);
	}
}

TEST(without_a_table)
{
	struct xb_enrolled *all = (void *)&anchor;
	size_t count = 7;
	int kept = anchor.ifaces;

	anchor.ifaces = -1;
	assert_true(xb_anchor_enrol(&anchor, 1, "dev") < 0);
	assert_true(xb_anchor_dismiss(&anchor, 1) < 0);
	assert_true(xb_anchor_enrolled(&anchor, &all, &count) < 0);
	assert_null(all);
	assert_int_equal(count, 0);
	anchor.ifaces = kept;
}

EACH_TEST(rowmaps_begin, rowmaps_end);
