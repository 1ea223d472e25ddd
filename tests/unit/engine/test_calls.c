/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether a driver calls the program, by two counters: what is seen, missing, or in doubt. The maps
 * are those of a kernel; interfaces and their counters are made up. Each test has a row of its own,
 * since a process remembers what it saw. */
#include <stdlib.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

#include "engine/calls.h"
#include "support/cmocka.h"
#include "support/rowmaps.h"

#define LATER 210000 /* us: a verdict takes 200 ms */

static struct xb_netdev device;
static uint32_t row;
static uint64_t calls;

static int begin(void **state)
{
	row++;
	calls = 0;
	device = (struct xb_netdev){.ifindex = 100 + row,
				    .name = "x0",
				    .program = 7,
				    .ups = 1,
				    .mtu = 1500,
				    .received = 1000};
	return 0;
}

static void count_to(uint64_t packets)
{
	int cpus = libbpf_num_possible_cpus();
	struct xb_counts *each = calloc((size_t)cpus, sizeof(*each));

	assert_non_null(each);
	each[0].reason[XB_CLEAN].packets = packets;
	assert_int_equal(bpf_map_update_elem(anchor.stats, &row, each, 0), 0);
	free(each);
	calls = packets;
}

static struct xb_calls_view look(uint64_t came, uint64_t called)
{
	struct xb_calls_row now;
	struct xb_calls_view view;

	device.received += came;
	count_to(calls + called);
	assert_int_equal(xb_calls_read(&anchor, row, &now), 0);
	xb_calls_look(row, &now, &device, &view);
	return view;
}

static void noted(struct xb_iface_note note)
{
	assert_int_equal(xb_anchor_note_put(&anchor, row, &note), 0);
}

TEST(packets_that_the_program_sees)
{
	assert_int_equal(look(0, 0).calls, XB_CALLS_QUIET);
	assert_int_equal(look(0, 0).calls, XB_CALLS_QUIET);
	assert_int_equal(look(5, 5).calls, XB_CALLS_SEEN);
	assert_int_equal(look(0, 0).calls, XB_CALLS_SEEN);
	/* A driver may count what it lets pass alone. */
	assert_int_equal(look(0, 50).calls, XB_CALLS_SEEN);
}

TEST(packets_that_no_program_sees)
{
	struct xb_calls_view view;

	noted((struct xb_iface_note){.received = 1000, .seen = 1});
	assert_int_equal(look(1, 0).calls, XB_CALLS_QUIET);
	assert_int_equal(look(1, 0).calls, XB_CALLS_QUIET);
	assert_int_equal(look(1, 0).calls, XB_CALLS_DOUBTED);
	assert_int_equal(look(1, 0).calls, XB_CALLS_DOUBTED);
	usleep(LATER);
	view = look(0, 0);
	assert_int_equal(view.calls, XB_CALLS_MISSING);
	assert_int_equal(view.missed, 4);
	assert_false(view.ever);
	assert_int_equal(look(3, 3).calls, XB_CALLS_SEEN);
}

/* However many: one look at which packets had come is a driver that counts once a second, or after
 * it has called the program. */
TEST(one_burst_is_no_verdict)
{
	assert_int_equal(look(0, 0).calls, XB_CALLS_QUIET);
	assert_int_equal(look(64, 64).calls, XB_CALLS_SEEN);
	assert_int_equal(look(64, 0).calls, XB_CALLS_SEEN);
	usleep(LATER);
	for (int i = 0; i < 10; i++)
		assert_int_equal(look(0, 0).calls, XB_CALLS_SEEN);
	assert_int_equal(look(1000000, 0).calls, XB_CALLS_DOUBTED);
	for (int i = 0; i < 10; i++)
		assert_int_equal(look(0, 0).calls, XB_CALLS_DOUBTED);
	assert_int_equal(look(0, 64).calls, XB_CALLS_SEEN);
}

/* As a process that has just begun finds them. */
TEST(what_came_before_the_first_look)
{
	struct xb_calls_view view;

	noted((struct xb_iface_note){.received = 1000, .calls = 0, .seen = 1});
	view = look(20, 5);
	assert_int_equal(view.calls, XB_CALLS_DOUBTED);
	assert_int_equal(view.missed, 15);
	assert_int_equal(view.seen, 1);
	view = look(1, 1);
	assert_int_equal(view.calls, XB_CALLS_SEEN);
	assert_true(view.stale);
}

TEST(what_may_have_been_under_way)
{
	noted((struct xb_iface_note){.received = 1000, .calls = 0, .seen = 1, .slack = 128});
	assert_int_equal(look(130, 5).calls, XB_CALLS_SEEN);
	begin(NULL);
	noted((struct xb_iface_note){.received = 1000, .calls = 0, .seen = 1, .slack = 128});
	assert_int_equal(look(136, 5).calls, XB_CALLS_DOUBTED);
}

TEST(counters_that_begin_anew)
{
	noted((struct xb_iface_note){.received = 5000, .calls = 40, .seen = 1});
	assert_int_equal(look(0, 0).calls, XB_CALLS_QUIET);
	assert_int_equal(look(2, 2).calls, XB_CALLS_SEEN);
	device.received = 0;
	assert_int_equal(look(0, 0).calls, XB_CALLS_QUIET);
	/* Another interface has the row. */
	device.ifindex++;
	assert_int_equal(look(0, 0).calls, XB_CALLS_QUIET);
}

TEST(an_interface_that_was_opened_anew)
{
	noted((struct xb_iface_note){
		.received = 1000, .seen = 1, .ups = 1, .mtu = 1500, .cures = 1});
	assert_false(look(0, 0).reopened);
	assert_int_equal(look(0, 0).cures, 1);
	device.ups++;
	assert_true(look(0, 0).reopened);
	device.ups--;
	device.mtu = 9000;
	assert_true(look(0, 0).reopened);
	assert_int_equal(look(2, 2).cures, 0);
}

EACH_TEST(begin, NULL);
ALL_TESTS(rowmaps_begin, rowmaps_end);
