/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is carried on of each interface: whatever happens to the kernel's rows, no figure goes back,
 * and no packet is counted twice. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/carry.h"
#include "support/cmocka.h"
#include "xdp_bloom/reason.h"

static struct xb_carry_book book;

static int begin(void **state)
{
	book.state = calloc(XB_CARRY_ROWS, sizeof(*book.state));
	if (!book.state)
		return -1;
	strcpy(book.state[0].name, XB_CARRY_OTHER);
	book.count = 1;
	return 0;
}

static int end(void **state)
{
	free(book.state);
	return 0;
}

/* A row of the table `source`. */
struct row {
	char name[16];
	unsigned int source, packets;
};

static void advance(const struct row *rows, size_t count)
{
	struct xb_carry_live *live = calloc(count + 1, sizeof(*live));

	assert_non_null(live);
	for (size_t i = 0; i < count; i++) {
		strcpy(live[i].name, rows[i].name);
		live[i].source = rows[i].source;
		live[i].counts.reason[XB_CLEAN].packets = rows[i].packets;
		live[i].counts.reason[XB_CLEAN].bytes = (uint64_t)100 * rows[i].packets;
	}
	xb_carry_advance(&book, live, count);
	free(live);
}

static uint64_t packets(const char *name)
{
	uint64_t all = 0;

	for (size_t i = 0; i < book.count; i++) {
		struct xb_counts sum;

		xb_carry_sum(&book.state[i], &sum);
		assert_int_equal(sum.reason[XB_CLEAN].bytes, 100 * sum.reason[XB_CLEAN].packets);
		if (!name || !strcmp(book.state[i].name, name))
			all += sum.reason[XB_CLEAN].packets;
	}
	return all;
}

/* Looks at the kernel's rows: "NAME SOURCE PACKETS" each, with a comma between them. */
static void look_at(char *look)
{
	struct row rows[4];
	char *row;
	size_t count = 0;

	while ((row = strsep(&look, ",")))
		count += sscanf(row, " %15s %u %u", rows[count].name, &rows[count].source,
				&rows[count].packets) == 3;
	advance(rows, count);
}

/* Looks, and the packets of eth0, of a second interface and of all behind them. */
TEST(what_happens_to_rows)
{
	static const struct {
		const char *looks, *other;
		uint64_t eth0, second, all;
	} table[] = {
		{"eth0 1 5, eth1 2 7; eth0 1 6, eth1 2 7", "eth1", 6, 7, 13},
		/* The row is gone, and another one comes. */
		{"eth0 1 5; ; ; eth0 9 100", "eth1", 105, 0, 105},
		{"eth0 1 5; ; ", "eth1", 5, 0, 5},
		/* It was cleared, or is in another table. */
		{"eth0 1 5; eth0 1 3; eth0 1 4", "eth1", 9, 0, 9},
		{"eth0 1 5; eth0 2 50", "eth1", 55, 0, 55},
		/* From its new name on, packets count under that. */
		{"eth0 1 5; lan0 1 8; lan0 1 10", "lan0", 5, 5, 10},
		{"eth0 1 5; lan0 1 8; lan0 1 10; eth0 1 11", "lan0", 6, 5, 11},
		{"eth0 1 5, eth1 2 7; eth1 1 6, eth0 2 9", "eth1", 7, 8, 15},
		/* Two rows have one name until a writer looks again. */
		{"eth0 1 5, eth0 2 7; eth0 2 8", "eth1", 13, 0, 13},
		/* Another interface gets the number, after its row was cleared. */
		{"eth0 1 5; eth1 1 2", "eth1", 5, 2, 7},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		char copy[128], *rest = copy, *look;

		strcpy(copy, table[i].looks);
		while ((look = strsep(&rest, ";")))
			look_at(look);
		if (packets("eth0") != table[i].eth0 ||
		    packets(table[i].other) != table[i].second || packets(NULL) != table[i].all)
			fail_msg("%s: %d, %d, %d in all", table[i].looks, (int)packets("eth0"),
				 (int)packets(table[i].other), (int)packets(NULL));
		assert_int_equal(packets("_other"), 0);
		end(NULL);
		begin(NULL);
	}
}

TEST(those_that_are_gone_make_room)
{
	uint64_t before = 0;

	for (unsigned int i = 0; i < 1000; i++) {
		struct row rows[] = {{"eth0", 1, i}, {"", i + 2, 10}};

		snprintf(rows[1].name, sizeof(rows[1].name), "veth%u", i);
		advance(rows, 2);
		assert_true(packets(NULL) > before);
		before = packets(NULL);
	}
	assert_int_equal(book.count, XB_CARRY_ROWS);
	assert_int_equal(packets("eth0"), 999);
	assert_int_equal(packets(NULL), 999 + 10 * 1000);
}

TEST(has_room_for_all_that_can_be)
{
	struct row rows[XB_IFACE_ROWS];

	for (unsigned int turn = 0; turn < 4; turn++) {
		for (unsigned int i = 0; i < XB_IFACE_ROWS; i++) {
			rows[i] = (struct row){"", turn * 1000 + i + 1, 3};
			snprintf(rows[i].name, sizeof(rows[i].name), "v%u.%u", turn, i);
		}
		advance(rows, XB_IFACE_ROWS);
		assert_int_equal(packets(NULL), 3 * XB_IFACE_ROWS * (turn + 1));
		assert_int_equal(packets(rows[255].name), 3);
	}
}

/* Whatever comes: each figure only grows, and their sum is what was counted in all, as each row is
 * looked at before it is cleared. */
TEST(a_thousand_events)
{
	struct row rows[8], swapped;
	uint64_t counted = 0, shown[8] = {0};
	unsigned int next = 100;
	char name[8][16];

	srand(17);
	for (unsigned int i = 0; i < 8; i++) {
		snprintf(name[i], sizeof(name[i]), "eth%u", i);
		rows[i] = (struct row){"", i + 1, 0};
		strcpy(rows[i].name, name[i]);
	}
	for (unsigned int i = 0; i < 1000; i++) {
		unsigned int which = (unsigned int)rand() % 8, other = (unsigned int)rand() % 8;
		unsigned int more = (unsigned int)rand() % 50;

		switch (rand() % 4) {
		case 0:
			advance(rows, 8);
			rows[which].packets = 0; /* detached, attached */
			rows[which].source = next++;
			break;
		case 1:
			advance(rows, 8);
			swapped = rows[which];
			memmove(rows[which].name, rows[other].name, sizeof(swapped.name));
			memmove(rows[other].name, swapped.name, sizeof(swapped.name));
			break;
		default:
			rows[which].packets += more;
			counted += more;
		}
		if (rand() % 2)
			continue;
		advance(rows, 8);
		assert_int_equal(packets(NULL), counted);
		for (unsigned int j = 0; j < 8; j++) {
			assert_true(packets(name[j]) >= shown[j]);
			shown[j] = packets(name[j]);
		}
	}
}

EACH_TEST(begin, end);
