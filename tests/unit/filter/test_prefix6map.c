/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The map of IPv6 prefixes up to /32: heads of each length, what is left after deletes against a
 * plain list of prefixes, pages that run out, words that are mapped. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "filter/prefix6map.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/listed.h"
#include "support/random.h"
#include "support/scratch_txn.h"

#define PAGES 16
#define WORDS (XB_PREFIX6_DIRECTORY_WORDS + PAGES * XB_PREFIX6_PAGE_WORDS)

static struct xb_mapping words;
static uint32_t taken;
static const struct xb_prefix6map map = {.words = &words, .pages = PAGES, .taken = &taken};
static int file;

static bool contains(uint32_t head)
{
	return xb_prefix6map_word(&map, head) >> (head & 63) & 1;
}

static int begin_map(void **state)
{
	taken = 0;
	file = memfd_create("prefixes", MFD_CLOEXEC);
	return file < 0 || ftruncate(file, WORDS * 8L) ||
	       xb_mapping_open(&words, file, WORDS * 8L) || begin_txn(state);
}

static int end_map(void **state)
{
	xb_mapping_close(&words);
	close(file);
	return end_txn(state);
}

static void map_all(void)
{
	assert_int_equal(xb_mapping_map_all(&words), 0);
}

static void add(const char *text)
{
	struct xb_entry prefix = entry_of(text);

	list_entry(txn, text, "a");
	assert_int_equal(xb_prefix6map_prepare(&map, &prefix, 1), 0);
	assert_int_equal(xb_prefix6map_add(&map, &prefix), 0);
}

static void settle(const struct xb_entry *prefix)
{
	assert_int_equal(xb_prefix6map_settle(&map, txn, prefix), 0);
}

static void drop(const char *text)
{
	struct xb_entry prefix = entry_of(text);
	enum xb_removal removal;

	assert_int_equal(xb_member_remove(txn, &prefix, XB_ANY_LIST, &removal), 0);
	settle(&prefix);
}

/* Just from the first /32 to the last, and around. */
static void assert_on(uint32_t first, uint32_t last)
{
	assert_true(contains(first));
	assert_true(contains(last));
	assert_true(contains(first + (last - first) / 2));
	if (first)
		assert_false(contains(first - 1));
	if (~last)
		assert_false(contains(last + 1));
}

/* For a short length each /16, and the ends of each; for another one each /32 of the page. */
static void assert_off(void)
{
	for (uint32_t block = 0; block < XB_PREFIX6_BLOCKS; block++) {
		assert_false(contains(block << 16));
		assert_false(contains(block << 16 | 0xffff));
	}
	for (uint32_t head = 0; head <= 0xffff; head++)
		assert_false(contains(0x20010000 | head));
}

TEST(heads_of_each_length)
{
	static const uint32_t heads[] = {0, ~0U, 0x20010db8};

	map_all();
	for (size_t i = 0; i < 3; i++)
		for (uint8_t length = 0; length <= 32; length++) {
			const struct xb_entry host = {
				.hi = (uint64_t)heads[i] << 32, .kind = XB_NET6, .length = 128};
			struct xb_entry prefix = xb_entry_covering(&host, length);
			uint32_t first = (uint32_t)(prefix.hi >> 32);

			assert_int_equal(xb_prefix6map_add(&map, &prefix), 0);
			assert_on(first, first + (length ? (1U << (32 - length)) - 1 : ~0U));
			settle(&prefix); /* which the store does not list */
		}
	assert_off();
	assert_int_equal(taken, 3);
}

TEST(a_wider_one_leaves_the_narrower)
{
	map_all();
	add("2001:db8::/32");
	add("2001:400::/23");
	add("2003::/16");
	add("2000::/12");
	add("2000::/3");
	assert_on(0x20000000, 0x3fffffff);
	drop("2000::/3");
	assert_on(0x20000000, 0x200fffff);
	drop("2000::/12");
	assert_on(0x20010db8, 0x20010db8);
	assert_on(0x20010400, 0x200105ff);
	assert_on(0x20030000, 0x2003ffff);
	drop("2003::/16");
	drop("2001:400::/23");
	drop("2001:db8::/32");
	assert_off();
	/* They had no page as long as they lay in the wider one. */
	add("2600::/12");
	add("2600:db8::/32");
	add("2601::/20");
	assert_int_equal(taken, 1);
	drop("2600::/12");
	assert_int_equal(taken, 3);
	assert_on(0x26000db8, 0x26000db8);
	assert_on(0x26010000, 0x26010fff);
}

/* Longer ones, other kinds, and what is for services alone have no part in it. */
TEST(only_its_prefixes_count)
{
	struct xb_entry prefix = entry_of("2001::/16");

	map_all();
	list_entry(txn, "2001:db8::1", "a");
	list_entry(txn, "2001:db8::/33", "a");
	list_entry(txn, "!2001:db8::/32", "a");
	assert_int_equal(xb_prefix6map_add(&map, &prefix), 0);
	settle(&prefix);
	assert_off();
	/* One that is listed again, or still: a replay settles what a later change decided. */
	prefix = entry_of("2001:db8::/30");
	list_entry(txn, "2001:db8::/30", "a");
	for (int i = 0; i < 2; i++) {
		settle(&prefix);
		assert_on(0x20010db8, 0x20010dbb);
	}
	/* And a wider one that is in the map, but not in the store any more. */
	prefix = entry_of("2001::/16");
	assert_int_equal(xb_prefix6map_add(&map, &prefix), 0);
	prefix = entry_of("2001:400::/23");
	settle(&prefix);
	prefix = entry_of("2001::/16");
	settle(&prefix);
	assert_on(0x20010db8, 0x20010dbb);
}

TEST(damage_is_told)
{
	struct xb_entry prefix = entry_of("2001:db8::/32");

	add("2001:d00::/24");
	assert_int_equal(xb_txn_commit(txn), 0);
	assert_int_equal(xb_store_write(store, &txn), 0);
	damage_record_of(txn, "2001:d00::/24");
	map_all();
	assert_told(xb_prefix6map_settle(&map, txn, &prefix));
	assert_on(0x20010d00, 0x20010dff);
}

TEST(pages_run_out)
{
	struct xb_entry last = entry_of("3001:db8::/32"), wide = entry_of("2000::/4");
	char text[64];

	map_all();
	for (unsigned int i = 0; i < PAGES; i++) {
		snprintf(text, sizeof(text), "20%02x:db8::/32", i);
		add(text);
	}
	assert_int_equal(xb_prefix6map_add(&map, &last), -EXFULL);
	assert_false(contains(0x30010db8));
	/* What needs none has room. */
	add("2001:db9::/32");
	add("2000::/4");
	list_entry(txn, "2f01:db8::/32", "a");
	assert_int_equal(xb_member_remove(txn, &wide, XB_ANY_LIST, &(enum xb_removal){0}), 0);
	assert_int_equal(xb_prefix6map_settle(&map, txn, &wide), -EXFULL);
	/* Nothing that is listed passes. */
	assert_true(contains(0x2f010db8));
	assert_true(contains(0x20010db9));
}

/* Outside of them a touch is a fault; a page that was not mapped is none. */
TEST(just_the_words_are_mapped)
{
	struct xb_entry prefix = entry_of("2001:db8::/32"), other = entry_of("2600:db8::/32");
	uint32_t pages = 0;

	assert_int_equal(xb_prefix6map_prepare(&map, &prefix, 1), 0);
	for (size_t i = 0; i < words.size / (size_t)sysconf(_SC_PAGESIZE); i++)
		pages += words.mapped[i];
	assert_int_equal(pages, 3);
	assert_int_equal(xb_prefix6map_add(&map, &prefix), 0);
	assert_true(contains(0x20010db8));
	assert_int_equal(xb_prefix6map_prepare(&map, &other, 0), 0);
	assert_int_equal(xb_prefix6map_add(&map, &other), -EXFULL);
}

#define PREFIXES 300

/* Few heads, so that they often cover each other. */
static struct xb_entry any_prefix(void)
{
	const struct xb_entry host = {.hi = (uint64_t)(0x20000000 | (random_word() & 0x00033fff))
					    << 32,
				      .kind = XB_NET6,
				      .length = 128};

	return xb_entry_covering(&host, (uint8_t)(13 + random_word() % 20));
}

static bool is_covered(const struct xb_entry *listed, const bool *is, size_t count, uint32_t head)
{
	const struct xb_entry one = {.hi = (uint64_t)head << 32, .kind = XB_NET6, .length = 32};

	for (size_t i = 0; i < count; i++)
		if (is[i] && xb_entry_inside(&listed[i], &one))
			return true;
	return false;
}

/* At the ends of each prefix, and beside them. */
static void assert_model(const struct xb_entry *listed, const bool *is, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t first = (uint32_t)(listed[i].hi >> 32);
		uint32_t last = first + (1U << (32 - listed[i].length)) - 1;
		const uint32_t heads[] = {first - 1, first, last, last + 1};

		for (size_t j = 0; j < 4; j++)
			if (contains(heads[j]) != is_covered(listed, is, count, heads[j]))
				fail_msg("%x:%x::/32", heads[j] >> 16, heads[j] & 0xffff);
	}
}

TEST(against_a_list)
{
	static struct xb_entry listed[PREFIXES];
	static bool is[PREFIXES];

	random_begin();
	map_all();
	memset(is, 0, sizeof(is));
	for (size_t i = 0; i < PREFIXES; i++)
		do
			listed[i] = any_prefix();
		while (entry_is_among(listed, i, &listed[i]));
	for (uint32_t round = 0; round < amount(2000, 20000); round++) {
		size_t i = random_word() % PREFIXES;
		struct xb_membership member = {.list = list_of(txn, "a")->id};
		enum xb_removal removal;
		enum xb_put put;

		is[i] = random_word() % 8 == 0;
		if (is[i]) {
			assert_int_equal(xb_member_put(txn, &listed[i], &member, 0, &put), 0);
			assert_int_equal(xb_prefix6map_add(&map, &listed[i]), 0);
		} else {
			assert_int_equal(xb_member_remove(txn, &listed[i], XB_ANY_LIST, &removal),
					 0);
			settle(&listed[i]);
		}
		if (round % 40 == 0)
			assert_model(listed, is, PREFIXES);
	}
}

EACH_TEST(begin_map, end_map);
