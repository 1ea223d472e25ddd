/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The record of renamed interfaces: none, one, as many as a kernel has rows for; removed, carried
 * on, outdated, damaged. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/renamed.h"
#include "store/sealedrecord.h"
#include "store/wanted.h"
#include "support/cmocka.h"
#include "support/scratch_txn.h"
#include "xdp_bloom/layout.h"

static void fill(struct xb_renamed *renamed, size_t count)
{
	memset(renamed, 0, count * sizeof(*renamed));
	for (size_t i = 0; i < count; i++) {
		renamed[i].ifindex = (uint32_t)(i * 1000 + 1);
		snprintf(renamed[i].former, sizeof(renamed[i].former), "from-%zu-15-chars", i % 10);
		snprintf(renamed[i].name, sizeof(renamed[i].name), "e%zu", i);
	}
}

static void assert_record(const struct xb_renamed *expected, size_t expected_count)
{
	struct xb_renamed *renamed;
	size_t count;

	assert_int_equal(xb_renamed_get(txn, &renamed, &count), expected_count > 0);
	assert_int_equal(count, expected_count);
	if (count)
		assert_memory_equal(renamed, expected, count * sizeof(*renamed));
	free(renamed);
}

static void assert_damaged(void)
{
	struct xb_renamed *renamed;
	size_t count;

	assert_told(xb_renamed_get(txn, &renamed, &count));
	assert_null(renamed);
	assert_int_equal(count, 0);
}

static void commit_and_read(void)
{
	assert_int_equal(xb_txn_commit(txn), 0);
	assert_int_equal(xb_store_read(store, &txn), 0);
}

static void write_on(void)
{
	xb_txn_abort(txn);
	assert_int_equal(xb_store_write(store, &txn), 0);
}

TEST(put_and_removed)
{
	static const size_t counts[] = {1, XB_IFACE_ROWS, 2};
	struct xb_renamed renamed[XB_IFACE_ROWS];

	fill(renamed, XB_IFACE_ROWS);
	assert_record(NULL, 0);
	assert_int_equal(xb_renamed_remove(txn), 0);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		assert_int_equal(xb_renamed_put(txn, renamed, counts[i]), 0);
		assert_record(renamed, counts[i]);
		commit_and_read();
		assert_record(renamed, counts[i]);
		write_on();
	}
	assert_int_equal(xb_renamed_remove(txn), 0);
	assert_record(NULL, 0);
	commit_and_read();
	assert_record(NULL, 0);
}

TEST(the_next_transaction_carries_it)
{
	struct xb_wanted wanted = {.name = "e1"};
	struct xb_renamed renamed[2];

	fill(renamed, 2);
	assert_int_equal(xb_renamed_put(txn, renamed, 2), 0);
	commit_and_read();
	for (int i = 0; i < 2; i++) {
		write_on();
		assert_int_equal(xb_wanted_put(txn, &wanted), 0);
		commit_and_read();
		assert_record(renamed, 2);
	}
}

/* As when a program that does not know the record has written since. */
TEST(an_older_one_says_nothing)
{
	struct xb_renamed renamed, *found;
	uint8_t record[sizeof(uint64_t) + sizeof(renamed) + sizeof(uint32_t)] = {0xff};
	size_t count;

	fill(&renamed, 1);
	memcpy(record + sizeof(uint64_t), &renamed, sizeof(renamed));
	assert_int_equal(xb_sealed_put(txn, "renamed", record, sizeof(record)), 0);
	commit_and_read();
	assert_int_equal(xb_renamed_get(txn, &found, &count), 1);
	assert_null(found);
	assert_int_equal(count, 0);
}

TEST(what_is_no_record)
{
	struct xb_renamed renamed[2];
	uint8_t record[2 * sizeof(*renamed)] = {0};

	fill(renamed, 2);
	memset(renamed[1].former, 'x', sizeof(renamed[1].former));
	assert_int_equal(xb_renamed_put(txn, renamed, 2), 0);
	assert_damaged();
	fill(renamed, 2);
	renamed[0].name[0] = 0;
	assert_int_equal(xb_renamed_put(txn, renamed, 2), 0);
	assert_damaged();
	for (size_t size = sizeof(uint32_t); size < sizeof(record); size += sizeof(uint32_t)) {
		if (size == sizeof(uint64_t) + sizeof(*renamed) + sizeof(uint32_t))
			continue;
		assert_int_equal(xb_sealed_put(txn, "renamed", record, size), 0);
		assert_damaged();
	}
}

EACH_TEST(begin_txn, end_txn);
