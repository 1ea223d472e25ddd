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
	const char *name;
	uint64_t source, packets;
};

static void advance(const struct row *rows, size_t count)
{
	struct xb_carry_live *live = calloc(count + 1, sizeof(*live));

	assert_non_null(live);
	for (size_t i = 0; i < count; i++) {
		strcpy(live[i].name, rows[i].name);
		live[i].source = rows[i].source;
		live[i].counts.reason[XB_CLEAN].packets = rows[i].packets;
		live[i].counts.reason[XB_CLEAN].bytes = 100 * rows[i].packets;
	}
	xb_carry_advance(&book, live, count);
	free(live);
}

#define ADVANCE(...)                                                                               \
	do {                                                                                       \
		const struct row rows[] = {__VA_ARGS__};                                           \
		advance(rows, sizeof(rows) / sizeof(rows[0]));                                     \
	} while (0)

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

TEST(follows_the_row)
{
	ADVANCE({"eth0", 1, 5}, {"eth1", 2, 7});
	ADVANCE({"eth0", 1, 6}, {"eth1", 2, 7});
	assert_int_equal(packets("eth0"), 6);
	assert_int_equal(packets("eth1"), 7);
	assert_int_equal(packets("_other"), 0);
}

TEST(stays_when_the_row_is_gone)
{
	ADVANCE({"eth0", 1, 5});
	advance(NULL, 0);
	assert_int_equal(packets("eth0"), 5);
	advance(NULL, 0);
	assert_int_equal(packets("eth0"), 5);
	ADVANCE({"eth0", 9, 100});
	assert_int_equal(packets("eth0"), 105);
}

TEST(goes_on_over_a_cleared_row)
{
	ADVANCE({"eth0", 1, 5});
	ADVANCE({"eth0", 1, 3});
	assert_int_equal(packets("eth0"), 8);
	ADVANCE({"eth0", 1, 4});
	assert_int_equal(packets("eth0"), 9);
}

TEST(goes_on_in_another_table)
{
	ADVANCE({"eth0", 1, 5});
	ADVANCE({"eth0", 2, 50});
	assert_int_equal(packets("eth0"), 55);
}

TEST(counts_under_a_new_name_from_then_on)
{
	ADVANCE({"eth0", 1, 5});
	ADVANCE({"lan0", 1, 8});
	assert_int_equal(packets("eth0"), 5);
	assert_int_equal(packets("lan0"), 3);
	ADVANCE({"lan0", 1, 10});
	assert_int_equal(packets("lan0"), 5);
	ADVANCE({"eth0", 1, 11});
	assert_int_equal(packets("lan0"), 5);
	assert_int_equal(packets("eth0"), 6);
	assert_int_equal(packets(NULL), 11);
}

TEST(exchanges_names)
{
	ADVANCE({"eth0", 1, 5}, {"eth1", 2, 7});
	ADVANCE({"eth1", 1, 6}, {"eth0", 2, 9});
	assert_int_equal(packets("eth0"), 7);
	assert_int_equal(packets("eth1"), 8);
	assert_int_equal(packets(NULL), 15);
}

/* Two rows have one name until a writer looks again. */
TEST(adds_rows_of_one_name_up)
{
	ADVANCE({"eth0", 1, 5}, {"eth0", 2, 7});
	assert_int_equal(packets("eth0"), 12);
	ADVANCE({"eth0", 2, 8});
	assert_int_equal(packets("eth0"), 13);
}

TEST(another_gets_the_number)
{
	ADVANCE({"eth0", 1, 5});
	ADVANCE({"eth1", 1, 2}); /* cleared */
	assert_int_equal(packets("eth0"), 5);
	assert_int_equal(packets("eth1"), 2);
}

TEST(those_that_are_gone_make_room)
{
	char name[16];
	uint64_t before = 0;

	for (unsigned int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "veth%u", i);
		ADVANCE({"eth0", 1, i}, {name, i + 2, 10});
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
	char name[XB_IFACE_ROWS][16];

	for (unsigned int turn = 0; turn < 4; turn++) {
		for (unsigned int i = 0; i < XB_IFACE_ROWS; i++) {
			snprintf(name[i], sizeof(name[i]), "v%u.%u", turn, i);
			rows[i] = (struct row){name[i], turn * 1000 + i + 1, 3};
		}
		advance(rows, XB_IFACE_ROWS);
		assert_int_equal(packets(NULL), 3 * XB_IFACE_ROWS * (turn + 1));
		assert_int_equal(packets(name[255]), 3);
	}
}

/* Whatever comes: each figure only grows, and their sum is what was counted in all, as each row is
 * looked at before it is cleared. */
TEST(a_thousand_events)
{
	struct row rows[8];
	uint64_t counted = 0, next = 100, shown[8] = {0};
	char name[8][16];

	srand(17);
	for (unsigned int i = 0; i < 8; i++) {
		snprintf(name[i], sizeof(name[i]), "eth%u", i);
		rows[i] = (struct row){name[i], i + 1, 0};
	}
	for (unsigned int i = 0; i < 1000; i++) {
		unsigned int which = (unsigned int)rand() % 8, other = (unsigned int)rand() % 8;
		uint64_t more = (uint64_t)rand() % 50;
		const char *swapped = rows[which].name;

		switch (rand() % 4) {
		case 0:
			advance(rows, 8);
			rows[which].packets = 0; /* detached, attached */
			rows[which].source = next++;
			break;
		case 1:
			advance(rows, 8);
			rows[which].name = rows[other].name;
			rows[other].name = swapped;
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
