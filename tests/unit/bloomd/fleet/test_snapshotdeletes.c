/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Deletes that this host publishes again, and a snapshot that lists the entry: which of them is
 * later is known only if this host has gone through the snapshot's state. */
#include <string.h>

#include "bloomd/fleet/snapshot.h"
#include "support/cmocka.h"
#include "support/fleettail.h"

#define ENTRY "192.0.2.3"

/* Its delete of the entry waits again. */
static void wait_again(void)
{
	const struct xb_shared_change change = {.entry = entry_of(ENTRY), .list = "bans"};

	assert_int_equal(xb_outbox_put_again(at(&taker), &change, XB_AGAIN_OWN), 1);
}

/* What came of the delete: the put is published again, since others may have had the delete. */
static void assert_put_waits(const char *text, const char *list)
{
	struct xb_shared_changes again;
	char shown[XB_ENTRY_TEXT];

	assert_int_equal(xb_outbox_read(at(&taker), 10, 10000, &again), 0);
	assert_int_equal(again.count, 1);
	assert_true(again.item[0].put);
	assert_string_equal(again.item[0].list, list);
	assert_string_equal(xb_entry_format(&again.item[0].entry, shown), text);
	xb_shared_changes_free(&again);
}

static void assert_gives_way(void)
{
	make();
	take();
	assert_store(at(&taker), ENTRY " bans");
	assert_put_waits(ENTRY, "bans");
}

static void assert_stays(void)
{
	make();
	assert_int_equal(take().kept, 1);
	assert_store(at(&taker), "");
	assert_int_equal(waiting(&taker), 1);
}

static void stand_by(struct host *host, uint64_t term, uint64_t position,
		     const uint8_t chain[MAC_BYTES])
{
	struct xb_fleet fleet;

	stand(host, term == 1 ? epoch : other_epoch, term, position);
	assert_int_equal(xb_fleet_get(at(host), &fleet), 1);
	memcpy(fleet.chain, chain, sizeof(fleet.chain));
	assert_int_equal(xb_fleet_put(at(host), &fleet), 0);
}

/* The chain of the taker's entry of the log; those of fill_tail() have one of zeros before them. */
static void chain_at(uint64_t position, uint8_t chain[MAC_BYTES])
{
	const void *bytes;
	size_t size;

	assert_int_equal(xb_logtail_get(at(&taker), 1, position, &bytes, &size), 1);
	memcpy(chain, (const uint8_t *)bytes + size - MAC_BYTES, MAC_BYTES);
}

static const uint8_t nothing[MAC_BYTES], other[MAC_BYTES] = {9};

/* The taker has gone through 44 to 50 of the first log, and is at 50 of the second now. */
static void go_on(void)
{
	fill_tail(44, 50);
	unlist(at(&taker), "filler.example.com", "names");
	stand_by(&taker, 2, 50, other);
	wait_again();
	list_entry(at(&maker), ENTRY, "bans");
}

/* Somebody has put the entry there since the log was lost, maybe. */
TEST(another_log)
{
	list_entry(at(&maker), ENTRY, "bans");
	stand_by(&maker, 2, 40, nothing);
	wait_again();
	assert_gives_way();
}

TEST(a_name)
{
	const struct xb_shared_change change = {.entry = entry_of("a.example"), .list = "names"};

	list_entry(at(&maker), "a.example", "names");
	stand_by(&maker, 2, 51, nothing);
	assert_int_equal(xb_outbox_put_again(at(&taker), &change, XB_AGAIN_OWN), 1);
	make();
	take();
	assert_store(at(&taker), "a.example names");
	assert_put_waits("a.example", "names");
}

TEST(further_on_in_this_log)
{
	list_entry(at(&maker), ENTRY, "bans");
	stand_by(&maker, 1, 51, nothing);
	wait_again();
	assert_gives_way();
}

/* The delete came later than all that is there. */
TEST(the_own_place)
{
	list_entry(at(&maker), ENTRY, "bans");
	stand_by(&maker, 1, 50, nothing);
	wait_again();
	assert_stays();
}

TEST(the_own_place_on_another_way)
{
	list_entry(at(&maker), ENTRY, "bans");
	stand_by(&maker, 1, 50, other);
	wait_again();
	assert_gives_way();
}

/* The server was restored from a copy. */
TEST(a_place_of_the_tail)
{
	uint8_t chain[MAC_BYTES];

	go_on();
	chain_at(45, chain);
	stand_by(&maker, 1, 45, chain);
	assert_stays();
}

/* As that of a host that has taken this snapshot, and gone on from there. */
TEST(the_place_before_the_tail)
{
	go_on();
	stand_by(&maker, 1, 43, nothing);
	assert_stays();
}

TEST(before_the_tail)
{
	go_on();
	stand_by(&maker, 1, 42, nothing);
	assert_gives_way();
}

/* After a failover the log went on another way: the tail has another entry at the position. */
TEST(a_place_on_another_way)
{
	go_on();
	stand_by(&maker, 1, 45, other);
	assert_gives_way();
}

/* What this host has seen of the log, it has not seen of this list. */
TEST(a_list_that_is_followed_anew)
{
	list_entry(at(&maker), ENTRY, "bans");
	stand_by(&maker, 1, 50, nothing);
	wait_again();
	assert_int_equal(xb_share_set(at(&taker), "bans", BOTH), 0);
	assert_gives_way();
}

TEST(an_entry_of_another_list_too)
{
	list_entry(at(&maker), ENTRY, "bans");
	list_entry(at(&maker), ENTRY, "names");
	list_entry(at(&taker), ENTRY, "names");
	stand_by(&maker, 2, 51, nothing);
	wait_again();
	make();
	take();
	assert_store(at(&taker), ENTRY " names bans");
	assert_put_waits(ENTRY, "bans");
}

/* This host's clock may be ahead. */
TEST(a_put_that_has_expired_here)
{
	list_with(at(&maker), ENTRY, "bans", NOW - 1, "");
	stand_by(&maker, 2, 51, nothing);
	wait_again();
	make();
	take();
	assert_store(at(&taker), "");
	assert_put_waits(ENTRY, "bans");
}

TEST(a_put_does_not_make_way)
{
	const struct xb_shared_change change = {
		.entry = entry_of(ENTRY), .list = "bans", .put = true, .added = 1};

	list_with(at(&maker), ENTRY, "bans", NOW + 10, "");
	list_entry(at(&taker), ENTRY, "bans");
	stand_by(&maker, 2, 51, nothing);
	assert_int_equal(xb_outbox_put_again(at(&taker), &change, XB_AGAIN_OWN), 1);
	make();
	assert_int_equal(take().kept, 1);
	assert_store(at(&taker), ENTRY " bans");
	assert_int_equal(waiting(&taker), 1);
}

/* What others have put there, this host does not have. */
TEST(of_a_list_that_is_not_followed)
{
	list_entry(at(&maker), "192.0.2.1", "bans");
	list_with(at(&maker), "192.0.2.2", "bans", NOW - 1, "");
	list_entry(at(&maker), ENTRY, "bans");
	list_entry(at(&maker), "192.0.2.4", "bans");
	stand_by(&maker, 2, 51, nothing);
	wait_again();
	assert_int_equal(xb_share_set(at(&taker), "bans", XB_SHARE_PUBLISH), 0);
	make();
	take();
	assert_store(at(&taker), "");
	assert_int_equal(waiting(&taker), 0);
}

/* A put of a snapshot waits again, and this host meets a later snapshot. */
static void wait_older(void)
{
	struct xb_shared_change change = {.entry = entry_of(ENTRY),
					  .list = "bans",
					  .put = true,
					  .added = 1,
					  .expires = NOW + 5};

	assert_int_equal(xb_outbox_put_again(at(&taker), &change, XB_AGAIN_OLDER), 1);
	list_with(at(&taker), ENTRY, "bans", NOW + 5, "");
	stand_by(&maker, 2, 51, nothing);
}

TEST(a_later_snapshot_without_the_put)
{
	list_entry(at(&maker), "192.0.2.1", "bans");
	wait_older();
	make();
	take_with(true);
	assert_store(at(&taker), "192.0.2.1 bans");
	assert_int_equal(waiting(&taker), 0);
}

/* It is of a place before the one from which the put came. */
TEST(a_known_snapshot_without_the_put)
{
	list_entry(at(&maker), "192.0.2.1", "bans");
	wait_older();
	stand_by(&maker, 1, 50, nothing);
	make();
	take();
	assert_store(at(&taker), "192.0.2.1 bans; " ENTRY " bans until 2000000005");
	assert_put_waits(ENTRY, "bans");
}

TEST(a_later_snapshot_that_prolongs_the_put)
{
	struct xb_shared_changes again;

	list_entry(at(&maker), ENTRY, "bans");
	wait_older();
	make();
	take();
	assert_store(at(&taker), ENTRY " bans");
	assert_int_equal(xb_outbox_read(at(&taker), 10, 10000, &again), 0);
	assert_int_equal(again.count, 1);
	assert_int_equal(again.item[0].expires, 0);
	xb_shared_changes_free(&again);
}

/* The log behind the snapshot has the delete: all is as before. */
TEST(a_delete_that_was_not_lost)
{
	struct xb_shared_change change = {.entry = entry_of(ENTRY), .list = "bans"};

	another_log(state);
	assert_int_equal(xb_outbox_meets(at(&taker), &change, true), 0);
	settle(&taker);
	assert_int_equal(waiting(&taker), 0);
}

/* One that was never published comes later than all. */
TEST(a_new_delete)
{
	list_entry(at(&maker), ENTRY, "bans");
	stand(&maker, other_epoch, 2, 51);
	list_entry(at(&taker), ENTRY, "bans");
	change_here(&taker, ENTRY, false);
	assert_stays();
}

EACH_TEST(begin_hosts, end_hosts);
