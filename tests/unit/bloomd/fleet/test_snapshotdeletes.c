/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Deletes that this host publishes again, and a snapshot that lists the entry: which of them is
 * later is known only if this host has gone through the snapshot's state. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bloomd/fleet/snapshot.h"
#include "support/fleettail.h"

#define ENTRY "192.0.2.3"

/* Its delete of the entry waits again. */
static void wait_again(void)
{
	const struct xb_shared_change change = {.entry = entry_of(ENTRY), .list = "bans"};

	assert_int_equal(xb_outbox_put_again(at(&taker), &change, XB_AGAIN_OWN), 1);
}

static void assert_gives_way(void)
{
	make();
	take();
	assert_store(at(&taker), ENTRY " bans");
	assert_int_equal(waiting(&taker), 0);
}

static void assert_stays(void)
{
	make();
	assert_int_equal(take().kept, 1);
	assert_store(at(&taker), "");
	assert_int_equal(waiting(&taker), 1);
}

/* Somebody has put the entry there since the log was lost, maybe. */
static void another_log(void **state)
{
	(void)state;
	list_entry(at(&maker), ENTRY, "bans");
	stand(&maker, other_epoch, 2, 51);
	wait_again();
	assert_gives_way();
}

static void a_name(void **state)
{
	const struct xb_shared_change change = {.entry = entry_of("a.example"), .list = "names"};

	(void)state;
	list_entry(at(&maker), "a.example", "names");
	stand(&maker, other_epoch, 2, 51);
	assert_int_equal(xb_outbox_put_again(at(&taker), &change, XB_AGAIN_OWN), 1);
	make();
	take();
	assert_store(at(&taker), "a.example names");
	assert_int_equal(waiting(&taker), 0);
}

static void further_on_in_this_log(void **state)
{
	(void)state;
	list_entry(at(&maker), ENTRY, "bans");
	stand(&maker, epoch, 1, 51);
	wait_again();
	assert_gives_way();
}

/* The server was restored from a copy: the delete came later than all that is there. */
static void a_place_in_this_log(void **state)
{
	(void)state;
	list_entry(at(&maker), ENTRY, "bans");
	stand(&maker, epoch, 1, 50);
	wait_again();
	assert_stays();
}

static void a_log_before_this_one(void **state)
{
	struct xb_ancestor ancestor = {.term = 1, .position = 40};

	(void)state;
	memcpy(ancestor.epoch, epoch, sizeof(ancestor.epoch));
	list_entry(at(&maker), ENTRY, "bans");
	stand(&maker, epoch, 1, 40);
	stand(&taker, other_epoch, 2, 50);
	assert_int_equal(xb_fleet_lineage_put(at(&taker), &ancestor, 1), 0);
	wait_again();
	assert_stays();
}

static void behind_what_was_left_of_a_log(void **state)
{
	struct xb_ancestor ancestor = {.term = 1, .position = 40};

	(void)state;
	memcpy(ancestor.epoch, epoch, sizeof(ancestor.epoch));
	list_entry(at(&maker), ENTRY, "bans");
	stand(&maker, epoch, 1, 41);
	stand(&taker, other_epoch, 2, 50);
	assert_int_equal(xb_fleet_lineage_put(at(&taker), &ancestor, 1), 0);
	wait_again();
	assert_gives_way();
}

/* After a failover the log went on another way: the tail has another entry at the position. */
static void another_way_of_this_log(void **state)
{
	(void)state;
	list_entry(at(&maker), ENTRY, "bans");
	list_entry(at(&maker), "filler.example.com", "names");
	stand(&maker, epoch, 1, 45);
	fill_tail(44, 50);
	unlist(at(&taker), "filler.example.com", "names");
	wait_again();
	make();
	take();
	assert_store(at(&taker), ENTRY " bans; filler.example.com names");
	assert_int_equal(waiting(&taker), 0);
}

/* One that was never published comes later than all. */
static void a_new_delete(void **state)
{
	(void)state;
	list_entry(at(&maker), ENTRY, "bans");
	stand(&maker, other_epoch, 2, 51);
	list_entry(at(&taker), ENTRY, "bans");
	change_here(&taker, ENTRY, false);
	assert_stays();
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_hosts, end_hosts)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(another_log),
		TEST(a_name),
		TEST(further_on_in_this_log),
		TEST(a_place_in_this_log),
		TEST(a_log_before_this_one),
		TEST(behind_what_was_left_of_a_log),
		TEST(another_way_of_this_log),
		TEST(a_new_delete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
