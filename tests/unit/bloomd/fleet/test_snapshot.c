/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A snapshot made on one host and taken on another: the other's lists are as the maker's, but for
 * what the maker had not seen. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "bloomd/fleet/logentry.h"
#include "bloomd/fleet/snapshot.h"
#include "store/logtail.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/fleethosts.h"
#include "support/fleettail.h"
#include "support/random.h"

static void assert_digest(const char *list)
{
	const struct xb_share *share = xb_share_of(at(&taker), list);
	struct xb_digest digest;

	assert_int_equal(xb_share_digest(at(&taker), share, NOW, &digest), 0);
	assert_true(xb_digest_equals(&digest, &manifest_list_of(&manifest, list)->digest));
}

/* --- tests --- */

TEST(the_taker_becomes_as_the_maker)
{
	struct xb_ancestor lineage[XB_LINEAGE_MAX];
	struct snapshot_result result;
	struct xb_fleet fleet;
	uint64_t mark;

	list_with(at(&maker), "192.0.2.1", "bans", 0, "same");
	list_with(at(&maker), "192.0.2.2", "bans", NOW + 9, "new comment");
	list_entry(at(&maker), "2001:db8::/32", "bans");
	list_with(at(&maker), "a.example.com", "names", 0, "ü");
	list_with(at(&maker), "192.0.2.9", "bans", NOW, "expired by now");
	list_with(at(&maker), "192.0.2.8", "bans", 1, "expired long ago");
	list_entry(at(&maker), "192.0.2.77", "private");
	list_entry(at(&maker), "10.0.0.0/7", "bans");
	list_entry(at(&maker), "!192.0.2.66", "bans");
	assert_int_equal(xb_fleet_mark_raise(at(&maker), stranger, 5), 0);
	part_at_40();
	stand(&taker, epoch, 1, 40);
	list_with(at(&taker), "192.0.2.1", "bans", 0, "same");
	list_with(at(&taker), "192.0.2.2", "bans", 0, "old comment");
	list_entry(at(&taker), "192.0.2.3", "bans");
	list_entry(at(&taker), "192.0.2.3", "private");
	list_entry(at(&taker), "128.0.0.0/7", "bans");
	list_entry(at(&taker), "!192.0.2.65", "bans");
	list_entry(at(&taker), "a.example.com", "private");
	make();
	assert_int_equal(manifest_list_of(&manifest, "bans")->count, 4);
	result = take();
	assert_store(at(&taker),
		     "128.0.0.0/7 bans; 192.0.2.1 bans (same); 192.0.2.2 bans until 2000000009 "
		     "(new comment); 192.0.2.3 private; 2001:db8::/32 bans; a.example.com private "
		     "names (ü); !192.0.2.65 bans");
	assert_int_equal(result.added, 2);
	assert_int_equal(result.renewed, 1);
	assert_int_equal(result.removed, 1);
	assert_int_equal(result.unchanged, 1);
	assert_int_equal(result.kept + result.republished + result.partial, 0);
	assert_digest("names");
	assert_int_equal(xb_fleet_get(at(&taker), &fleet), 1);
	assert_memory_equal(fleet.epoch, other_epoch, XB_FLEET_ID);
	assert_int_equal(fleet.term, 2);
	assert_int_equal(fleet.position, 100);
	assert_memory_equal(fleet.chain, manifest.chain, MAC_BYTES);
	assert_int_equal(xb_fleet_lineage_get(at(&taker), lineage), 1);
	assert_memory_equal(lineage[0].epoch, epoch, XB_FLEET_ID);
	assert_int_equal(lineage[0].position, 40);
	assert_int_equal(xb_fleet_mark_get(at(&taker), stranger, &mark), 0);
	assert_int_equal(mark, 5);
	settle(&taker);
	assert_int_equal(waiting(&taker), 0);
}

TEST(what_waits_here_is_passed_by)
{
	struct snapshot_result result;

	list_with(at(&maker), "192.0.2.1", "bans", 0, "theirs");
	list_entry(at(&maker), "192.0.2.4", "bans");
	make();
	list_entry(at(&taker), "192.0.2.4", "bans");
	change_here(&taker, "192.0.2.1", true);
	change_here(&taker, "192.0.2.2", true);
	change_here(&taker, "192.0.2.4", false);
	assert_int_equal(waiting(&taker), 3);
	result = take();
	assert_store(at(&taker), "192.0.2.1 bans; 192.0.2.2 bans");
	assert_int_equal(result.kept, 3);
	assert_int_equal(waiting(&taker), 3);
}

/* This host died between adding to the log and noting that; then the log was trimmed. */
TEST(what_the_snapshot_has_waits_no_more)
{
	uint8_t own[XB_FLEET_ID];

	own_id(own);
	change_here(&taker, "192.0.2.1", true);
	change_here(&taker, "192.0.2.2", true);
	assert_int_equal(xb_fleet_mark_raise(at(&maker), own, 1), 0);
	make();
	take_with(true);
	/* It was deleted since: its own put does not bring it back. */
	assert_store(at(&taker), "192.0.2.2 bans");
	assert_int_equal(waiting(&taker), 1);
}

/* What another has listed stays, and is published again. What another has taken out may have been
 * listed again since: its publisher knows. */
TEST(uncovered_puts_of_others_stay)
{
	struct snapshot_result result;
	uint64_t mark;

	list_entry(at(&maker), "192.0.2.1", "bans");
	list_entry(at(&maker), "192.0.2.2", "bans");
	list_entry(at(&taker), "192.0.2.2", "bans");
	list_entry(at(&taker), "192.0.2.3", "bans");
	part_at_40();
	fill_tail(40, 48);
	apply(1, 49, epoch, stranger, 49, &(struct change_row){"bans", "192.0.2.4", "", 1, 0});
	apply(1, 50, epoch, stranger, 50, &(struct change_row){"bans", "192.0.2.2", NULL, 0, 0});
	make();
	result = take();
	assert_false(result.partial);
	assert_int_equal(result.kept, 2);
	assert_int_equal(result.republished, 2);
	assert_store(at(&taker), "192.0.2.1 bans; 192.0.2.2 bans; 192.0.2.4 bans; "
				 "filler.example.com names");
	assert_int_equal(waiting(&taker), 2);
	/* A snapshot of this host must not say that it has the delete. */
	assert_int_equal(xb_fleet_mark_get(at(&taker), stranger, &mark), 0);
	assert_int_equal(mark, 0);
}

/* The maker had the change, and went back in the log since: what this host deleted long ago is not
 * deleted again. */
TEST(a_maker_that_went_back_has_it_all_the_same)
{
	struct snapshot_result result;
	uint8_t own[XB_FLEET_ID];

	own_id(own);
	list_entry(at(&maker), "192.0.2.1", "bans");
	part_at_40();
	assert_int_equal(xb_fleet_mark_raise(at(&maker), own, 1), 0);
	list_entry(at(&taker), "192.0.2.1", "bans");
	apply(1, 50, epoch, own, 1, &(struct change_row){"bans", "192.0.2.1", NULL, 0, 0});
	make();
	result = take();
	assert_int_equal(result.republished, 0);
	assert_store(at(&taker), "192.0.2.1 bans");
}

/* By a clock that is ahead it is over; by this host's clock it ends by itself. */
TEST(what_is_over_for_the_maker_alone_stays)
{
	list_entry(at(&maker), "192.0.2.3", "bans");
	list_with(at(&taker), "192.0.2.1", "bans", NOW + 9, "");
	list_with(at(&taker), "192.0.2.2", "bans", NOW + 99, "");
	make();
	manifest.time = (NOW + 9) * 1000ULL;
	assert_int_equal(take().removed, 1);
	assert_store(at(&taker), "192.0.2.1 bans until 2000000009; 192.0.2.3 bans");
}

TEST(covered_changes_are_not_passed_by)
{
	list_entry(at(&maker), "192.0.2.1", "bans");
	assert_int_equal(xb_fleet_mark_raise(at(&maker), stranger, 50), 0);
	apply(1, 49, epoch, stranger, 49, &(struct change_row){"bans", "192.0.2.4", "", 1, 0});
	apply(1, 50, epoch, stranger, 50, &(struct change_row){"bans", "192.0.2.1", "", 1, 0});
	make();
	assert_int_equal(take().kept, 0);
	assert_store(at(&taker), "192.0.2.1 bans");
}

/* After a failover the log has other entries at the same positions: numbers tell. */
TEST(lost_changes_at_covered_positions_are_passed_by)
{
	list_entry(at(&maker), "192.0.2.1", "bans");
	assert_int_equal(xb_fleet_mark_raise(at(&maker), stranger, 49), 0);
	apply(1, 49, epoch, stranger, 49, &(struct change_row){"bans", "192.0.2.4", "", 1, 0});
	apply(1, 50, epoch, stranger, 50, &(struct change_row){"bans", "192.0.2.5", "", 1, 0});
	make();
	assert_int_equal(take().kept, 1);
	assert_store(at(&taker), "192.0.2.1 bans; 192.0.2.5 bans");
}

TEST(own_uncovered_changes_wait_again)
{
	struct xb_shared_changes again;
	struct snapshot_result result;
	char text[XB_ENTRY_TEXT];
	uint8_t own[XB_FLEET_ID];

	own_id(own);
	list_entry(at(&maker), "192.0.2.3", "bans");
	list_entry(at(&taker), "192.0.2.3", "bans");
	list_entry(at(&taker), "192.0.2.4", "bans");
	part_at_40();
	fill_tail(41, 43);
	/* Deleted, twice; put again later, in force; put, then deleted by another; put, but gone
	 * since. */
	apply(1, 44, epoch, own, 1, &(struct change_row){"bans", "192.0.2.4", NULL, 0, 0});
	apply(1, 45, epoch, own, 2, &(struct change_row){"bans", "192.0.2.3", NULL, 0, 0});
	apply(1, 46, epoch, own, 3, &(struct change_row){"bans", "192.0.2.1", "mine", 9, NOW + 5});
	apply(1, 47, epoch, own, 4, &(struct change_row){"bans", "192.0.2.2", "", 1, 0});
	apply(1, 48, epoch, stranger, 48, &(struct change_row){"bans", "192.0.2.2", NULL, 0, 0});
	apply(1, 49, epoch, own, 5, &(struct change_row){"bans", "192.0.2.5", "", 1, 0});
	apply(1, 50, epoch, own, 6, &(struct change_row){"bans", "192.0.2.6", "", 1, NOW - 1});
	unlist(at(&taker), "192.0.2.5", "bans");
	make();
	result = take();
	assert_false(result.partial);
	assert_int_equal(result.republished, 4);
	/* The maker's put of what was deleted may be later: test_snapshotdeletes.c. */
	assert_store(at(&taker), "192.0.2.1 bans until 2000000005 (mine); 192.0.2.3 bans; "
				 "filler.example.com names");
	assert_int_equal(xb_outbox_read(at(&taker), 10, 10000, &again), 0);
	assert_int_equal(again.count, 4);
	assert_string_equal(again.item[0].list, "names");
	assert_true(again.item[1].put);
	assert_int_equal(again.item[1].expires, NOW + 5);
	assert_int_equal(again.item[1].comment_size, 4);
	assert_false(again.item[2].put);
	assert_string_equal(xb_entry_format(&again.item[2].entry, text), "192.0.2.4");
	assert_true(again.item[3].put);
	assert_string_equal(xb_entry_format(&again.item[3].entry, text), "192.0.2.3");
	xb_shared_changes_free(&again);
}

TEST(lists_that_are_not_followed_stay)
{
	list_entry(at(&maker), "192.0.2.1", "bans");
	list_entry(at(&maker), "192.0.2.1", "names");
	list_entry(at(&taker), "192.0.2.2", "bans");
	assert_int_equal(xb_share_set(at(&taker), "bans", XB_SHARE_PUBLISH), 0);
	assert_int_equal(xb_share_set(at(&taker), "more", ALL), 0);
	list_entry(at(&taker), "192.0.2.5", "more");
	make();
	take();
	assert_store(at(&taker), "192.0.2.1 names; 192.0.2.2 bans; 192.0.2.5 more");
}

TEST(a_snapshot_waits_for_an_empty_outbox_unless_it_begins)
{
	change_here(&maker, "192.0.2.1", true);
	xb_error_clear();
	assert_int_equal(snapshot_make(at(&maker), &key, false, chunks, blooms, &manifest),
			 -EAGAIN);
	assert_int_equal(xb_error_class(), XB_ERROR_NONE);
	assert_int_equal(snapshot_make(at(&maker), &key, true, chunks, blooms, &manifest), 0);
	assert_int_equal(manifest_list_of(&manifest, "bans")->count, 1);
	assert_int_equal(manifest.term, 2);
	assert_int_equal(manifest.ancestors, 1);
	assert_memory_equal(manifest.lineage[0].epoch, epoch, XB_FLEET_ID);
	assert_int_equal(manifest.lineage[0].position, 100);
}

/* --- any two states --- */

#define UNIVERSE 96

/* What a list may have of an entry. */
struct held {
	bool is;
	uint32_t expires;
	const char *comment;
};

static const char *text_of(int i, char text[64])
{
	static const char *const forms[] = {"198.51.%d.7",	"203.0.%d.0/24", "192.0.2.%d",
					    "2001:db8:%d::/48", "2001:db8::%d",	 "n%d.example.com"};

	snprintf(text, 64, forms[i % 6], i);
	return text;
}

static struct held any_state(void)
{
	static const char *const comments[] = {"", "one", "two"};

	return (struct held){.is = random_word() % 3,
			     .expires = random_word() % 2 ? 0 : NOW - 1 + random_word() % 4,
			     .comment = comments[random_word() % 3]};
}

static void put_state(struct xb_txn *txn, const char *text, const struct held *held)
{
	if (held->is)
		list_with(txn, text, "bans", held->expires, held->comment);
}

static bool lives(const struct held *held)
{
	return held->is && (!held->expires || held->expires > NOW);
}

static void assert_state(const char *text, const struct held *expected)
{
	struct xb_entry entry = entry_of(text);
	struct xb_members members;
	struct xb_membership member;
	bool has = !xb_members_of(at(&taker), &entry, &members) &&
		   xb_members_have(members, list_of(at(&taker), "bans")->id, &member);

	assert_int_equal(has, lives(expected));
	if (!has)
		return;
	assert_int_equal(member.expires, expected->expires);
	assert_int_equal(member.comment_size, strlen(expected->comment));
	assert_memory_equal(member.comment, expected->comment, member.comment_size);
}

static void any_two_states_become_one(bool some_pass)
{
	struct held expected[UNIVERSE];
	uint64_t position = 40;
	char text[64];

	part_at_40();
	for (int i = 0; i < UNIVERSE; i++) {
		expected[i] = any_state();
		put_state(at(&maker), text_of(i, text), &expected[i]);
	}
	for (int i = 0; i < UNIVERSE; i++) {
		struct held ours = any_state();
		bool passes = some_pass && !(random_word() % 4);

		text_of(i, text);
		if (passes && ours.is) {
			position++;
			apply(1, position, epoch, stranger, position,
			      &(struct change_row){"bans", text, ours.comment, 1, ours.expires});
			if (lives(&ours))
				expected[i] = ours;
		} else if (passes) {
			list_entry(at(&taker), text, "bans");
			position++;
			apply(1, position, epoch, stranger, position,
			      &(struct change_row){"bans", text, NULL, 0, 0});
		} else {
			put_state(at(&taker), text, &ours);
			if (random_word() % 2)
				list_entry(at(&taker), text, "private");
		}
	}
	stand(&taker, epoch, 1, position);
	make();
	assert_false(take_with(true).partial);
	for (int i = 0; i < UNIVERSE; i++)
		assert_state(text_of(i, text), &expected[i]);
}

TEST(any_two_states)
{
	random_begin();
	for (uint32_t round = 0; round < amount(20, 20); round++) {
		any_two_states_become_one(round % 2);
		end_hosts(state);
		begin_hosts(state);
	}
}

TEST(many_chunks_come_back)
{
	fill_bans(at(&maker), 0, 60000);
	for (uint32_t i = 0; i < 40000; i++) {
		char text[64];

		snprintf(text, sizeof(text), "some-longer-name-%u.example.com", i);
		list_with(at(&maker), text, "bans", 0, "with a comment");
	}
	make();
	assert_true(manifest.chunk_count > 2);
	assert_int_equal(take().added, 100000);
	assert_digest("bans");
	assert_int_equal(take().unchanged, 100000);
}

EACH_TEST(begin_hosts, end_hosts);
