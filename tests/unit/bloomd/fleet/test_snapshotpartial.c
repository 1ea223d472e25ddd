/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Snapshots of a state that lacks what this host has seen, and of which its tail does not have all:
 * it takes nothing out, and what the snapshot lacks is published if that can be recent. */
#include <string.h>

#include "bloomd/fleet/snapshot.h"
#include "support/cmocka.h"
#include "support/fleettail.h"

TEST(a_partial_tail_takes_nothing_out)
{
	struct snapshot_result result;

	list_entry(at(&maker), "192.0.2.1", "bans");
	list_with(at(&taker), "192.0.2.1", "bans", 0, "old");
	list_entry(at(&taker), "192.0.2.3", "bans");
	part_at_40();
	fill_tail(42, 50);
	make();
	result = take();
	assert_true(result.partial);
	assert_int_equal(result.removed, 0);
	assert_store(at(&taker), "192.0.2.1 bans; 192.0.2.3 bans; filler.example.com names");
}

static uint32_t expiry_of(const char *text)
{
	struct xb_entry entry = entry_of(text);
	struct xb_members members;
	struct xb_membership member = {0};

	assert_int_equal(xb_members_of(at(&taker), &entry, &members), 0);
	assert_true(xb_members_have(members, list_of(at(&taker), "bans")->id, &member));
	return member.expires;
}

/* Somebody may have lengthened it in the part of the log that neither has. */
TEST(a_partial_tail_shortens_nothing)
{
	struct snapshot_result result;

	list_with(at(&maker), "192.0.2.1", "bans", NOW + 10, "");
	list_with(at(&maker), "192.0.2.2", "bans", NOW + 10, "");
	list_with(at(&maker), "192.0.2.3", "bans", NOW + 30, "longer");
	list_with(at(&maker), "192.0.2.4", "bans", 0, "");
	list_with(at(&taker), "192.0.2.1", "bans", NOW + 20, "mine");
	list_with(at(&taker), "192.0.2.2", "bans", 0, "");
	list_with(at(&taker), "192.0.2.3", "bans", NOW + 20, "");
	list_with(at(&taker), "192.0.2.4", "bans", NOW + 20, "");
	part_at_40();
	fill_tail(42, 50);
	make();
	result = take();
	assert_true(result.partial);
	assert_int_equal(result.kept, 3); /* two of them, and the filler, which is uncovered */
	assert_int_equal(result.renewed, 2);
	assert_int_equal(expiry_of("192.0.2.1"), NOW + 20);
	assert_int_equal(expiry_of("192.0.2.2"), 0);
	assert_int_equal(expiry_of("192.0.2.3"), NOW + 30);
	assert_int_equal(expiry_of("192.0.2.4"), 0);
}

/* The maker does not know the epoch at all, and the tail has not its beginning. */
TEST(an_unknown_epoch_is_partial)
{
	list_entry(at(&maker), "192.0.2.1", "bans");
	list_entry(at(&taker), "192.0.2.3", "bans");
	stand(&maker, other_epoch, 2, 100);
	fill_tail(2, 50);
	make();
	assert_true(take().partial);
}

/* A host that was not away for long. */
TEST(what_the_snapshot_lacks_is_published)
{
	struct xb_shared_changes given;
	struct snapshot_result result;

	list_with(at(&maker), "192.0.2.1", "bans", NOW + 10, "");
	list_entry(at(&maker), "192.0.2.2", "bans");
	list_with(at(&taker), "192.0.2.1", "bans", NOW + 20, "longer");
	list_entry(at(&taker), "192.0.2.2", "bans");
	list_with(at(&taker), "192.0.2.3", "bans", NOW + 5, "mine");
	part_at_40();
	tail_time = (NOW - 3000) * 1000ULL;
	fill_tail(42, 50);
	make();
	result = take();
	assert_true(result.partial);
	assert_int_equal(result.given, 2);
	assert_int_equal(result.removed, 0);
	assert_int_equal(expiry_of("192.0.2.1"), NOW + 20);
	assert_int_equal(xb_outbox_read(at(&taker), 10, 10000, &given), 0);
	assert_int_equal(given.count, 3); /* and the filler, which is uncovered */
	assert_true(given.item[1].put && given.item[2].put);
	assert_int_equal(given.item[1].expires, NOW + 20);
	assert_int_equal(given.item[2].expires, NOW + 5);
	assert_int_equal(given.item[2].comment_size, 4);
	xb_shared_changes_free(&given);
}

/* Others may have deleted it in the meantime. */
TEST(not_after_an_hour)
{
	struct snapshot_result result;

	list_entry(at(&taker), "192.0.2.3", "bans");
	part_at_40();
	tail_time = (NOW - 3700) * 1000ULL;
	fill_tail(42, 50);
	make();
	result = take();
	assert_true(result.partial);
	assert_int_equal(result.given, 0);
	assert_store(at(&taker), "192.0.2.3 bans; filler.example.com names");
}

static int begin(void **state)
{
	tail_time = 1;
	return begin_hosts(state);
}

EACH_TEST(begin, end_hosts);
