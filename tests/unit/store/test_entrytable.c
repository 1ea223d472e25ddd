/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of entries against a plain array, through commits and aborts, and the room it takes. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/membership.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/random.h"
#include "support/scratch_store.h"

#define UNIVERSE 6000
#define LARGEST	 50000

/* Every entry there can be, in order, and the value it has: a size and a seed, 0 and 0 for none. */
struct kept {
	uint32_t size, seed;
};

static struct xb_entry universe[UNIVERSE];
static uint8_t forms[UNIVERSE][XB_NAME_BYTES];
static struct kept kept[UNIVERSE], committed[UNIVERSE];

static void make_text(size_t i, char *text, size_t room)
{
	uint32_t r = random_word();

	if (i % 4 == 0)
		snprintf(text, room, "%u.%u.%u.%u", r >> 24, r >> 16 & 255, r >> 8 & 255, r & 255);
	else if (i % 4 == 1) /* neighbours */
		snprintf(text, room, "198.51.%u.%u", r >> 8 & 255, r & 255);
	else if (i % 4 == 2)
		snprintf(text, room, "2001:db8:%x:%x::/%u", r & 15, r >> 16, 64 + r % 65);
	else
		snprintf(text, room, "%s%x.%x.example.%s", r & 1 ? "=" : "", r >> 8 & 63, r >> 20,
			 r & 2 ? "com" : "org");
}

static int compare(const void *a, const void *b)
{
	return xb_entry_compare(a, b);
}

static size_t fill_universe(void)
{
	static char text[XB_ENTRY_TEXT];
	size_t count = 0;

	for (size_t i = 0; i < UNIVERSE; i++) {
		make_text(i, text, sizeof(text));
		assert_int_equal(xb_entry_parse(text, strlen(text), forms[i], &universe[i], NULL),
				 0);
	}
	qsort(universe, UNIVERSE, sizeof(universe[0]), compare);
	for (size_t i = 0; i < UNIVERSE; i++)
		if (!count || xb_entry_compare(&universe[i], &universe[count - 1]))
			universe[count++] = universe[i];
	return count;
}

static MDB_val value_of(const struct kept *one)
{
	static uint8_t bytes[LARGEST];
	uint32_t x = one->seed;

	for (uint32_t i = 0; i < one->size; i++) {
		x = x * 1664525 + 1013904223;
		bytes[i] = (uint8_t)(x >> 24);
	}
	return (MDB_val){one->size, bytes};
}

static void assert_value(MDB_val found, const struct kept *one)
{
	MDB_val wanted = value_of(one);

	assert_int_equal(found.mv_size, wanted.mv_size);
	assert_memory_equal(found.mv_data, wanted.mv_data, wanted.mv_size);
}

/* `kinds` different values; now and then one that takes a record of its own. */
static struct kept any_value(uint32_t kinds)
{
	uint32_t seed = random_word() % kinds + 1;
	uint32_t size = random_word() % 2000 ? 16 + seed % 24 : random_word() % LARGEST + 1;

	return (struct kept){size, seed};
}

static void set(struct xb_txn *txn, const struct xb_entry *entry, MDB_val value)
{
	MDB_val before;
	int error = xb_entries_get(txn, entry, &before);

	assert_true(!error || error == -ENOENT);
	assert_int_equal(xb_entries_set(txn, &value), 0);
}

static void put(struct xb_txn *txn, size_t i, uint32_t kinds)
{
	kept[i] = any_value(kinds);
	set(txn, &universe[i], value_of(&kept[i]));
}

static void remove_one(struct xb_txn *txn, size_t i)
{
	if (kept[i].size)
		set(txn, &universe[i], (MDB_val){0, NULL});
	kept[i] = (struct kept){0};
}

static void get(struct xb_txn *txn, size_t i)
{
	MDB_val found;
	int error = xb_entries_get(txn, &universe[i], &found);

	assert_int_equal(error, kept[i].size ? 0 : -ENOENT);
	if (!error)
		assert_value(found, &kept[i]);
}

/* From i on; with edits, entries change under the scan, behind it and before it. */
static void scan_from(struct xb_txn *txn, size_t i, size_t count, uint32_t kinds, bool edits)
{
	uint8_t key[XB_ENTRY_KEY_BYTES];
	struct xb_scan scan;
	int more;

	assert_int_equal(xb_scan_begin(&scan, txn), 0);
	more = xb_scan_seek(&scan, key, xb_entry_encode(&universe[i], key));
	for (; i < count; i++) {
		struct xb_entry entry;

		if (!kept[i].size)
			continue;
		assert_int_equal(more, 1);
		assert_int_equal(xb_entry_decode(xb_leaf_key(&scan.reader),
						 xb_leaf_key_size(&scan.reader), &entry),
				 xb_leaf_key_size(&scan.reader));
		assert_int_equal(xb_entry_compare(&entry, &universe[i]), 0);
		assert_value(
			(MDB_val){scan.reader.value_size, (void *)(uintptr_t)scan.reader.value},
			&kept[i]);
		if (edits && random_word() % 8 == 0)
			remove_one(txn, i);
		if (edits && random_word() % 8 == 0)
			put(txn, random_word() % count, kinds);
		if (edits && random_word() % 8 == 0)
			get(txn, random_word() % count);
		more = xb_scan_next(&scan);
	}
	assert_int_equal(more, 0);
	xb_scan_end(&scan);
}

static void change_range(struct xb_txn *txn, size_t count, uint32_t kinds)
{
	size_t first = random_word() % count, last = first + random_word() % 800;
	bool removes = random_word() % 3 == 0;

	for (size_t i = first; i < last && i < count; i++) {
		if (removes)
			remove_one(txn, i);
		else if (random_word() % 4)
			put(txn, i, kinds);
	}
}

static void change_some(struct xb_txn *txn, size_t count, uint32_t kinds)
{
	for (uint32_t n = random_word() % 300; n; n--) {
		size_t i = random_word() % count;

		if (random_word() % 2)
			put(txn, i, kinds);
		else if (random_word() % 2)
			remove_one(txn, i);
		else
			get(txn, i);
	}
}

static void transaction(size_t count, uint32_t kinds)
{
	struct xb_txn *txn;

	memcpy(committed, kept, sizeof(kept));
	assert_int_equal(xb_store_write(store, &txn), 0);
	for (uint32_t steps = random_word() % 6; steps; steps--) {
		uint32_t what = random_word() % 32;

		if (what < 12)
			change_range(txn, count, kinds);
		else if (what < 24)
			change_some(txn, count, kinds);
		else if (what < 31)
			scan_from(txn, random_word() % count, count, kinds, what < 29);
		else if (random_word() % 4 == 0) {
			assert_int_equal(xb_entries_remove_all(txn), 0);
			memset(kept, 0, sizeof(kept));
		}
	}
	if (random_word() % 4) {
		assert_int_equal(xb_txn_commit(txn), 0);
	} else {
		xb_txn_abort(txn);
		memcpy(kept, committed, sizeof(kept));
	}
	assert_int_equal(xb_store_read(store, &txn), 0);
	scan_from(txn, 0, count, kinds, false);
	for (int i = 0; i < 50; i++)
		get(txn, random_word() % count);
	xb_txn_abort(txn);
}

static void against_an_array(uint32_t kinds)
{
	size_t count;

	random_begin();
	memset(kept, 0, sizeof(kept));
	count = fill_universe();
	for (uint32_t round = 0; round < amount(50, 150); round++)
		transaction(count, kinds);
}

TEST_WITH(few_values, begin, end)
{
	against_an_array(3);
}

TEST_WITH(each_its_value, begin, end)
{
	against_an_array(1U << 30);
}

/* What is in order takes little room, and gives it back. */
TEST_WITH(room, begin, end)
{
	struct xb_entry entry = {.kind = XB_HOST4, .length = 32};
	struct kept one = {16, 1};
	struct xb_txn *txn;
	MDB_stat stat;

	assert_int_equal(xb_store_write(store, &txn), 0);
	for (uint32_t i = 0; i < 200000; i++) {
		entry.hi = (uint64_t)(i * 20011) << 32;
		set(txn, &entry, value_of(&one));
	}
	assert_int_equal(xb_entries_flush(txn), 0);
	mdb_stat(txn->txn, store->leaves, &stat);
	assert_in_range(stat.ms_leaf_pages, 1, 200000 * 8 / 4096);
	for (uint32_t i = 0; i < 200000; i++) {
		entry.hi = (uint64_t)(i * 20011) << 32;
		if (i % 100)
			set(txn, &entry, (MDB_val){0, NULL});
	}
	assert_int_equal(xb_entries_flush(txn), 0);
	mdb_stat(txn->txn, store->leaves, &stat);
	assert_in_range(stat.ms_entries, 1, 2000 * 16 / 250);
	xb_txn_abort(txn);
}
