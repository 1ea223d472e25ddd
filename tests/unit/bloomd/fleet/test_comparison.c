/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A host compared with a snapshot: exactly what was planted is found, and no more is loaded for it
 * than needs to be. */
#include <stdlib.h>
#include <string.h>

#include "support/amount.h"
#include "support/cmocka.h"
#include "support/comparing.h"
#include "support/fleettail.h"
#include "support/random.h"

/* An entry of the log behind the snapshot, which the taker has applied. */
static void apply_behind(uint64_t position, const struct change_row *row)
{
	unlist(at(&taker), row->entry, row->list);
	apply(1, position, epoch, stranger, position, row);
	stand(&taker, epoch, 1, position);
}

/* --- tests --- */

TEST(what_is_equal_loads_nothing)
{
	fill_both();
	list_with(at(&maker), "a.example.com", "names", NOW + 1, "comment");
	list_with(at(&taker), "a.example.com", "names", NOW + 1, "comment");
	list_entry(at(&taker), "192.0.2.1", "private");
	list_with(at(&taker), "192.0.2.2", "bans", 5, "expired long ago, and not swept yet");
	list_entry(at(&taker), "10.0.0.0/7", "bans");
	list_entry(at(&taker), "!192.0.2.66", "bans");
	make();
	assert_true(manifest.chunk_count > 2);
	compare();
	assert_int_equal(found.count, 0);
	assert_int_equal(chunks_loaded + blooms_loaded, 0);
	assert_int_equal(found.list_count, 2);
	assert_int_equal(of("bans")->here, 10000);
	assert_int_equal(of("bans")->there, 10000);
	assert_int_equal(of("names")->here, 1);
	assert_false(found.behind || found.partial);
}

TEST(extras_load_bloom_digests_alone)
{
	fill_both();
	list_with(at(&taker), "192.0.2.1", "bans", NOW + 5, "why");
	make();
	compare();
	assert_int_equal(found.count, 1);
	assert_int_equal(found.item[0].kind, DIFFERENCE_EXTRA);
	assert_string_equal(found.item[0].list, "bans");
	assert_int_equal(found.item[0].here.expires, NOW + 5);
	assert_int_equal(found.item[0].here.comment_size, 3);
	assert_memory_equal(found.item[0].here.comment, "why", 3);
	assert_int_equal(blooms_loaded, 1);
	/* One in a hundred hits by accident. */
	assert_true(chunks_loaded <= 1);
}

TEST(what_is_missing_loads_its_chunk_alone)
{
	fill_both();
	list_with(at(&maker), "192.0.2.1", "bans", NOW + 5, "why");
	make();
	compare();
	assert_int_equal(found.count, 1);
	assert_int_equal(found.item[0].kind, DIFFERENCE_MISSING);
	assert_int_equal(found.item[0].there.expires, NOW + 5);
	assert_memory_equal(found.item[0].there.comment, "why", 3);
	assert_int_equal(of("bans")->missing, 1);
	assert_int_equal(chunks_loaded, 1);
	assert_int_equal(blooms_loaded, 0);
}

/* Behind the last one of a chunk, and in front of the next. */
TEST(what_is_extra_at_the_end_of_a_range)
{
	char text[XB_ENTRY_TEXT];
	struct xb_entry extra;

	fill_both();
	list_entry(at(&maker), "192.0.2.1", "bans");
	make();
	extra = manifest.chunks[1].first;
	extra.hi -= (uint64_t)1 << 32;
	list_entry(at(&taker), xb_entry_format(&extra, text), "bans");
	compare();
	assert_int_equal(found.count, 2);
	assert_int_equal(found.item[0].kind, DIFFERENCE_MISSING);
	assert_int_equal(found.item[1].kind, DIFFERENCE_EXTRA);
	assert_int_equal(xb_entry_compare(&found.item[1].entry, &extra), 0);
	assert_int_equal(chunks_loaded, 1);
	assert_int_equal(blooms_loaded, 0);
}

TEST(what_has_expired_is_no_difference)
{
	list_with(at(&maker), "192.0.2.1", "bans", NOW, "expires before it is compared");
	list_with(at(&maker), "192.0.2.2", "bans", NOW, "the same, swept here");
	list_with(at(&taker), "192.0.2.1", "bans", NOW - 1, "");
	list_with(at(&taker), "192.0.2.3", "bans", NOW, "");
	list_with(at(&taker), "192.0.2.4", "bans", 5, "long ago");
	list_with(at(&maker), "192.0.2.5", "bans", NOW, "");
	list_with(at(&taker), "192.0.2.5", "bans", NOW + 1, "");
	make();
	compare();
	assert_int_equal(found.count, 1);
	assert_int_equal(found.item[0].kind, DIFFERENCE_CHANGED);
	assert_int_equal(found.item[0].here.expires, NOW + 1);
	assert_int_equal(found.item[0].there.expires, NOW);
	assert_int_equal(of("bans")->here, 1);
}

TEST(what_the_log_says_is_no_difference)
{
	list_entry(at(&maker), "192.0.2.1", "bans");
	list_entry(at(&maker), "192.0.2.2", "bans");
	list_entry(at(&maker), "192.0.2.3", "bans");
	list_entry(at(&maker), "192.0.2.4", "bans");
	list_entry(at(&taker), "192.0.2.1", "bans");
	list_entry(at(&taker), "192.0.2.2", "bans");
	list_entry(at(&taker), "192.0.2.3", "bans");
	list_entry(at(&taker), "192.0.2.4", "bans");
	apply_behind(101, &(struct change_row){"bans", "192.0.2.1", NULL, 0, 0});
	apply_behind(102, &(struct change_row){"bans", "192.0.2.2", "new", 1, NOW + 1});
	apply_behind(103, &(struct change_row){"bans", "192.0.2.5", "", 1, 0});
	/* Expired since, and swept. */
	apply_behind(104, &(struct change_row){"bans", "192.0.2.3", "", 1, NOW});
	unlist(at(&taker), "192.0.2.3", "bans");
	make();
	compare();
	assert_int_equal(found.count, 0);
	assert_int_equal(of("bans")->of_log, 4);
	assert_false(found.behind || found.partial);
	/* These are not as the log says. */
	unlist(at(&taker), "192.0.2.2", "bans");
	unlist(at(&taker), "192.0.2.5", "bans");
	list_with(at(&taker), "192.0.2.1", "bans", NOW + 9, "");
	compare();
	assert_int_equal(of("bans")->of_log, 1);
	assert_int_equal(of("bans")->changed, 1);
	assert_int_equal(of("bans")->missing, 1);
	assert_int_equal(found.count, 2);
}

TEST(what_waits_is_no_difference)
{
	list_entry(at(&maker), "192.0.2.1", "bans");
	list_entry(at(&taker), "192.0.2.1", "bans");
	change_here(&taker, "192.0.2.2", true);
	change_here(&taker, "192.0.2.1", false);
	make();
	compare();
	assert_int_equal(found.count, 0);
	assert_int_equal(of("bans")->of_outbox, 2);
}

TEST(lists_that_only_one_side_has)
{
	list_entry(at(&maker), "192.0.2.1", "names");
	assert_int_equal(xb_share_set(at(&maker), "theirs", ALL), 0);
	list_entry(at(&maker), "192.0.2.1", "theirs");
	make();
	assert_int_equal(xb_share_set(at(&taker), "names", XB_SHARE_PUBLISH), 0);
	assert_int_equal(xb_share_set(at(&taker), "ours", XB_SHARE_FOLLOW), 0);
	list_entry(at(&taker), "192.0.2.2", "ours");
	compare();
	assert_null(of("theirs"));
	assert_null(of("names"));
	assert_int_equal(found.list_count, 2);
	assert_int_equal(of("ours")->extra, 1);
	assert_int_equal(found.count, 1);
}

TEST(a_host_that_is_behind)
{
	list_entry(at(&maker), "192.0.2.1", "bans");
	make();
	stand(&taker, epoch, 1, 99);
	compare();
	assert_true(found.behind);
	assert_int_equal(found.position, 99);
	assert_int_equal(of("bans")->missing, 1);
	stand(&taker, other_epoch, 1, 101);
	assert_int_equal(xb_fleet_mark_raise(at(&taker), stranger, 1), 0);
	compare();
	assert_true(found.behind);
	/* The tail has nothing of that epoch. */
	assert_true(found.partial);
}

TEST(a_limit_keeps_the_first)
{
	fill_bans(at(&maker), 0, 100);
	make();
	assert_int_equal(try_compare(7), 0);
	assert_int_equal(found.count, 7);
	assert_int_equal(comparison_total(&found), 100);
	for (size_t i = 1; i < 7; i++)
		assert_true(xb_entry_compare(&found.item[i - 1].entry, &found.item[i].entry) < 0);
	comparison_free(&found);
	assert_int_equal(try_compare(0), 0);
	assert_int_equal(found.count, 0);
	assert_int_equal(of("bans")->missing, 100);
}

/* --- anything --- */

#define UNIVERSE 9000

/* What a list may have of an entry. */
struct held {
	bool is;
	uint32_t expires;
	const char *comment;
};

static struct planted {
	struct xb_entry entry; /* first, for xb_entry_sort() */
	uint8_t *name;
	char text[64];
	struct held here, there;
	bool of_log; /* the log says what this host has */
} * planted;

static void name_it(struct planted *plant, uint32_t i)
{
	static const char *const forms[] = {"198.51.%u.%u",    "203.%u.%u.0/24",
					    "192.%u.2.%u",     "2001:db8:%x:%x::/64",
					    "2001:db8::%x:%x", "n%u.example%u.com"};

	snprintf(plant->text, sizeof(plant->text), forms[i % 6], i >> 8, i & 255);
	plant->name = malloc(strlen(plant->text) + 1);
	assert_non_null(plant->name);
	plant->entry = entry_of(plant->text);
	if (xb_entry_is_name(&plant->entry))
		plant->entry.name = memcpy(plant->name, plant->entry.name, plant->entry.length);
}

/* In several chunks, too. */
static struct held any_state(void)
{
	static char comments[3][256];

	memset(comments[1], 'a', 250);
	memset(comments[2], 'b', 250);
	return (struct held){.is = random_word() % 8,
			     .expires = random_word() % 4 ? 0 : NOW - 1 + random_word() % 4,
			     .comment = comments[random_word() % 3]};
}

/* One in `rarity` differs; more: in that this host alone has it. */
static void plant(uint32_t rarity, bool more)
{
	planted = calloc(UNIVERSE, sizeof(*planted));
	assert_non_null(planted);
	for (uint32_t i = 0; i < UNIVERSE; i++) {
		struct planted *plant = &planted[i];

		name_it(plant, i);
		plant->here = plant->there = any_state();
		if (random_word() % rarity)
			continue;
		plant->there = any_state();
		plant->there.is &= !more;
		plant->of_log = !(random_word() % 4);
	}
	assert_int_equal(xb_entry_sort(&planted, UNIVERSE, sizeof(*planted)), 0);
}

static void put_state(struct xb_txn *txn, const char *text, const struct held *held)
{
	if (held->is)
		list_with(txn, text, "bans", held->expires, held->comment);
}

static void grow(void)
{
	uint64_t position = 100;

	for (uint32_t i = 0; i < UNIVERSE; i++)
		put_state(at(&maker), planted[i].text, &planted[i].there);
	for (uint32_t i = 0; i < UNIVERSE; i++) {
		const struct held *here = &planted[i].here;

		if (planted[i].of_log)
			apply_behind(++position,
				     &(struct change_row){"bans", planted[i].text,
							  here->is ? here->comment : NULL, here->is,
							  here->is ? here->expires : 0});
		else
			put_state(at(&taker), planted[i].text, here);
	}
}

static bool lives(const struct held *held)
{
	return held->is && (!held->expires || held->expires > NOW);
}

static bool is_same(const struct held *here, const struct held *there)
{
	return here->is == there->is && (!here->is || (here->expires == there->expires &&
						       !strcmp(here->comment, there->comment)));
}

static bool differs(const struct planted *plant)
{
	return !is_same(&plant->here, &plant->there) &&
	       (lives(&plant->here) || lives(&plant->there));
}

static enum difference_kind kind_of(const struct planted *plant)
{
	return !plant->there.is	 ? DIFFERENCE_EXTRA
	       : !plant->here.is ? DIFFERENCE_MISSING
				 : DIFFERENCE_CHANGED;
}

static void harvest(void)
{
	size_t next = 0;
	uint64_t of_log = 0, here = 0;

	for (uint32_t i = 0; i < UNIVERSE; i++) {
		const struct difference *difference = &found.item[next];

		here += lives(&planted[i].here);
		if (!differs(&planted[i]))
			continue;
		of_log += planted[i].of_log;
		if (planted[i].of_log)
			continue;
		assert_true(next < found.count);
		assert_int_equal(xb_entry_compare(&difference->entry, &planted[i].entry), 0);
		assert_int_equal(difference->kind, kind_of(&planted[i]));
		next++;
	}
	assert_int_equal(next, found.count);
	assert_int_equal(of("bans")->of_log, of_log);
	assert_int_equal(of("bans")->here, here);
}

static void uproot(void)
{
	for (uint32_t i = 0; i < UNIVERSE; i++)
		free(planted[i].name);
	free(planted);
}

TEST(anything_is_found_exactly)
{
	static const uint32_t rarities[] = {3000, 300, 10, 1};

	random_begin();
	for (uint32_t round = 0; round < amount(8, 8); round++) {
		plant(rarities[round / 2], round % 2);
		grow();
		make();
		assert_true(round > 5 || manifest.chunk_count > 1);
		compare();
		harvest();
		uproot();
		end(state);
		begin(state);
	}
}

EACH_TEST(begin, end);
