/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The map of IPv4 prefixes: bits of each length, what is left after deletes against a plain list of
 * prefixes, words that are mapped. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "filter/prefixmap.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/random.h"
#include "support/listed.h"
#include "support/scratch_txn.h"

static struct xb_mapping words;
static int file;

#define WORDS (XB_PREFIX4_WORDS + XB_PREFIX4_TOP_WORDS)

static int begin_map(void **state)
{
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

/* All of them, from the file. */
static const uint64_t *read_words(void)
{
	static uint64_t all[WORDS];

	assert_int_equal(pread(file, all, sizeof(all), 0), sizeof(all));
	return all;
}

static bool bit(const uint64_t *all, uint32_t i)
{
	return all[i / 64] >> i % 64 & 1;
}

/* Bit by bit in the whole map: on from first to last, and the bits of words as they say. */
static void assert_on(uint32_t first, uint32_t last)
{
	const uint64_t *all = read_words();

	for (uint32_t i = 0; i < XB_PREFIX4_WORDS; i++) {
		uint64_t word = 0;

		for (uint32_t b = 0; b < 64 && i * 64 + 63 >= first && i * 64 <= last; b++)
			if (i * 64 + b >= first && i * 64 + b <= last)
				word |= 1ULL << b;
		if (all[i] != word || bit(all + XB_PREFIX4_WORDS, i) != !!word)
			fail_msg("word %u", i);
	}
}

static void prepare(const struct xb_entry *prefix)
{
	assert_int_equal(xb_mapping_map(&words, 0, 8), 0);
	assert_int_equal(xb_prefixmap_prepare(&words, prefix), 0);
}

static void add(const char *text)
{
	struct xb_entry prefix = entry_of(text);

	prepare(&prefix);
	list_entry(txn, text, "a");
	xb_prefixmap_add(&words, &prefix);
}

static void settle(const struct xb_entry *prefix)
{
	assert_int_equal(xb_prefixmap_settle(&words, txn, prefix), 0);
}

/* All addresses of these /24, and none beside them. */
static void assert_contained(uint32_t first, uint32_t last)
{
	assert_true(xb_prefixmap_contains(&words, first << 8));
	assert_true(xb_prefixmap_contains(&words, last << 8 | 0xff));
	if (first > 0)
		assert_false(xb_prefixmap_contains(&words, (first << 8) - 1));
	if (last < 0xffffff)
		assert_false(xb_prefixmap_contains(&words, (last + 1) << 8));
}

TEST(bits_of_each_length)
{
	static const char *const addresses[] = {"0.0.0.0", "255.255.255.255", "192.0.2.0"};
	char text[64];

	assert_int_equal(xb_mapping_map_all(&words), 0);
	for (size_t i = 0; i < 3; i++)
		for (unsigned int length = 0; length <= 24; length++) {
			struct xb_entry prefix;
			uint32_t first, last;

			snprintf(text, sizeof(text), "%s/%u", addresses[i], length);
			prefix = entry_of(text);
			first = xb_entry_ipv4(&prefix) >> 8;
			prepare(&prefix);
			xb_prefixmap_add(&words, &prefix);
			last = first + (1U << (24 - length)) - 1;
			assert_on(first, last);
			assert_contained(first, last);
			settle(&prefix); /* which the store does not list */
			assert_on(1, 0);
		}
}

/* Other kinds, which stand behind it in the store, have no part in it. */
TEST(only_prefixes_count)
{
	struct xb_entry prefix = entry_of("10.0.0.0/8");

	list_entry(txn, "10.0.0.1", "a");
	list_entry(txn, "10.0.0.128/25", "a");
	list_entry(txn, "!10.0.0.0/8", "a");
	prepare(&prefix);
	xb_prefixmap_add(&words, &prefix);
	settle(&prefix);
	assert_on(1, 0);
	/* One that is listed again, or still: a replay settles what a later change decided. */
	prefix = entry_of("10.0.0.0/20");
	list_entry(txn, "10.0.0.0/20", "a");
	for (int i = 0; i < 2; i++) {
		settle(&prefix);
		assert_on(0x0a0000, 0x0a000f);
	}
}

TEST(damage_is_told)
{
	struct xb_entry prefix = entry_of("10.0.0.0/24");

	add("10.0.0.0/16");
	assert_int_equal(xb_txn_commit(txn), 0);
	assert_int_equal(xb_store_write(store, &txn), 0);
	damage_record_of(txn, "10.0.0.0/16");
	prepare(&prefix);
	assert_told(xb_prefixmap_settle(&words, txn, &prefix));
	assert_on(0x0a0000, 0x0a00ff);
}

/* Outside of them a touch is a fault. */
TEST(just_the_words_are_mapped)
{
	struct xb_entry prefix = entry_of("10.0.0.0/24");
	uint32_t pages = 0;

	assert_int_equal(xb_prefixmap_prepare(&words, &prefix), 0);
	for (size_t i = 0; i < words.size / (size_t)sysconf(_SC_PAGESIZE); i++)
		pages += words.mapped[i];
	assert_int_equal(pages, 2);
	xb_prefixmap_add(&words, &prefix);
	assert_true(xb_prefixmap_contains(&words, 0x0a0000ff));
}

#define PREFIXES 300

/* Few addresses, so that they often cover each other. */
static struct xb_entry any_prefix(void)
{
	struct xb_entry host = {.kind = XB_PREFIX4, .length = 24};
	uint32_t address = 10U << 24 | (random_word() & 0x7ff00);

	host.hi = (uint64_t)address << 32;
	return xb_entry_covering(&host, (uint8_t)(12 + random_word() % 13));
}

static void assert_model(const struct xb_entry *listed, const bool *is, size_t count)
{
	const uint64_t *all = read_words();

	for (uint32_t i = 0; i < 0x1000; i++) {
		struct xb_entry one = {.kind = XB_PREFIX4, .length = 24};
		bool expected = false;

		one.hi = (uint64_t)(0x0a0000 + i) << 40;
		for (size_t j = 0; !expected && j < count; j++)
			expected = is[j] && xb_entry_inside(&listed[j], &one);
		if (bit(all, 0x0a0000 + i) != expected)
			fail_msg("10.%u.%u.0/24", i >> 8, i & 255);
	}
	for (uint32_t i = 0; i < XB_PREFIX4_WORDS; i++)
		if (bit(all + XB_PREFIX4_WORDS, i) != !!all[i])
			fail_msg("word %u", i);
}

TEST(against_a_list)
{
	static struct xb_entry listed[PREFIXES];
	static bool is[PREFIXES];

	random_begin();
	memset(is, 0, sizeof(is));
	for (size_t i = 0; i < PREFIXES; i++) {
		do
			listed[i] = any_prefix();
		while (entry_is_among(listed, i, &listed[i]));
		prepare(&listed[i]);
	}
	for (uint32_t round = 0; round < amount(2000, 20000); round++) {
		size_t i = random_word() % PREFIXES;
		struct xb_membership member = {.list = list_of(txn, "a")->id};
		enum xb_removal removal;
		enum xb_put put;

		is[i] = random_word() % 8 == 0;
		if (is[i]) {
			assert_int_equal(xb_member_put(txn, &listed[i], &member, 0, &put), 0);
			xb_prefixmap_add(&words, &listed[i]);
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
