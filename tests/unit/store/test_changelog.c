/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of the change log: what comes back, which go, byte order, damage; checksums. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/changelog.h"
#include "store/checksum.h"
#include "support/cmocka.h"
#include "support/listed.h"
#include "support/scratch_txn.h"

static void change(const char *text, enum xb_what what)
{
	struct xb_entry entry = entry_of(text);

	assert_int_equal(xb_changes_add(&txn->change, &entry, what), 0);
}

static void assert_same(const struct xb_changes *read, const struct xb_changes *written)
{
	assert_int_equal(read->count, written->count);
	for (size_t i = 0; i < read->count; i++) {
		assert_int_equal(
			xb_entry_compare(&read->change[i].entry, &written->change[i].entry), 0);
		assert_int_equal(read->change[i].what, written->change[i].what);
		assert_int_equal(read->change[i].before, written->change[i].before);
		assert_int_equal(read->change[i].after, written->change[i].after);
	}
}

/* Each kind, the shortest and the longest keys, and a name before and behind keys of addresses. */
TEST_WITH(every_kind_comes_back, begin_txn, end_txn)
{
	static const char *const texts[] = {
		"a.example",  "0.0.0.0/0",   "255.255.255.255",
		"::/0",	      "=b.example",  "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
		"!0.0.0.0/0", "!192.0.2.1",  "!2001:db8::/32",
		"!c.example", "192.0.2.0/25"};
	char longest[254];
	struct xb_changes changes;
	struct xb_step step;

	memset(longest, 'a', sizeof(longest) - 1);
	longest[63] = longest[127] = longest[191] = '.';
	longest[253] = '\0';
	for (unsigned int i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		change(texts[i], i % 3);
	change(longest, XB_LISTED);
	assert_int_equal(xb_changelog_append(txn, false), 0);
	assert_int_equal(xb_changelog_read(txn, txn->meta.sequence, &step, &changes), 0);
	assert_false(changes.bulk);
	assert_same(&changes, &txn->change);
	xb_changes_free(&changes);
}

static void move(const char *text, uint32_t before, uint32_t after)
{
	struct xb_entry entry = entry_of(text);

	assert_int_equal(xb_changes_move(&txn->change, &entry, before, after), 0);
}

/* Each class alone, some at once, and beside changes without. */
TEST_WITH(classes_come_back, begin_txn, end_txn)
{
	static const char *const texts[] = {"0.0.0.0/0",     "192.0.2.1", "192.0.2.0/25", "::/0",
					    "2001:db8::/32", "a.example", "!192.0.2.1"};
	struct xb_changes changes;
	struct xb_step step;

	for (unsigned int i = 0; i < 5; i++)
		for (unsigned int class = 0; class < XB_CLASSES; class ++) {
			move(texts[i], 0, 1U << class);
			move(texts[i], 1U << class, 0xffff);
			move(texts[i], 0xffff, 1U << class);
			move(texts[i], 1U << class, 0);
			change(texts[5 + class % 2], XB_LISTED);
		}
	move("192.0.2.9", 1, 0x8000);
	assert_int_equal(xb_changelog_append(txn, false), 0);
	assert_int_equal(xb_changelog_read(txn, txn->meta.sequence, &step, &changes), 0);
	assert_same(&changes, &txn->change);
	assert_int_equal(changes.count, 5 * 16 * 5 + 1);
	assert_true(changes.tightens);
	xb_changes_free(&changes);
}

TEST_WITH(bulk_has_no_changes, begin_txn, end_txn)
{
	struct xb_changes changes;
	struct xb_step step;

	change("192.0.2.1", XB_LISTED);
	assert_int_equal(xb_changelog_append(txn, true), 0);
	assert_int_equal(txn->change.count, 1);
	assert_int_equal(xb_changelog_read(txn, txn->meta.sequence, &step, &changes), 0);
	assert_true(changes.bulk);
	assert_int_equal(changes.count, 0);
	xb_changes_free(&changes);
	xb_changes_set_bulk(&txn->change);
	assert_int_equal(xb_changelog_append(txn, false), 0);
	assert_int_equal(xb_changelog_read(txn, txn->meta.sequence, &step, &changes), 0);
	assert_true(changes.bulk);
	xb_changes_free(&changes);
}

TEST_WITH(marks_are_a_chain, begin_txn, end_txn)
{
	uint64_t sequence = txn->meta.sequence, mark = txn->meta.mark;
	struct xb_changes changes;
	struct xb_step step;

	xb_changelog_advance(txn);
	assert_int_equal(txn->meta.sequence, sequence + 1);
	assert_int_equal(txn->meta.mark, txn->next_mark);
	assert_int_not_equal(txn->meta.mark, mark);
	/* it left nothing in the log */
	assert_int_equal(xb_changelog_read(txn, sequence + 1, &step, &changes), -ENOENT);
	assert_false(xb_changes_any(&changes));
	mark = txn->meta.mark;
	assert_int_equal(xb_txn_commit(txn), 0);
	assert_int_equal(xb_store_write(store, &txn), 0);
	assert_int_equal(txn->meta.mark, mark);
	assert_int_not_equal(txn->next_mark, mark);
	assert_int_equal(xb_changelog_append(txn, false), 0);
	assert_int_equal(xb_changelog_read(txn, sequence + 2, &step, &changes), 0);
	assert_int_equal(step.from, mark);
	assert_int_equal(step.to, txn->meta.mark);
	xb_changes_free(&changes);
}

static bool has(uint64_t sequence)
{
	struct xb_changes changes;
	struct xb_step step;
	int error = xb_changelog_read(txn, sequence, &step, &changes);

	assert_true(!error || error == -ENOENT);
	xb_changes_free(&changes);
	return !error;
}

/* Past the numbers at which a byte more of them counts, which are in order as big-endian. */
TEST_WITH(trim_goes_by_number, begin_txn, end_txn)
{
	assert_int_equal(xb_changelog_trim(txn, UINT64_MAX), 0);
	txn->meta.sequence = 250;
	while (txn->meta.sequence < 260)
		assert_int_equal(xb_changelog_append(txn, true), 0);
	txn->meta.sequence = UINT32_MAX - 1;
	while (txn->meta.sequence < UINT32_MAX + 2ULL)
		assert_int_equal(xb_changelog_append(txn, true), 0);
	assert_int_equal(xb_changelog_trim(txn, 250), 0);
	assert_true(has(251));
	assert_int_equal(xb_changelog_trim(txn, 255), 0);
	assert_false(has(255));
	assert_true(has(256) && has(260) && has(UINT32_MAX));
	assert_int_equal(xb_changelog_trim(txn, UINT32_MAX), 0);
	assert_false(has(260) || has(UINT32_MAX));
	assert_true(has(UINT32_MAX + 1ULL) && has(UINT32_MAX + 2ULL));
	assert_int_equal(xb_changelog_trim(txn, UINT64_MAX), 0);
	assert_false(has(UINT32_MAX + 1ULL) || has(UINT32_MAX + 2ULL));
}

static void put_raw(const void *at, size_t at_size, const void *bytes, size_t size)
{
	MDB_val key = {at_size, (void *)(uintptr_t)at}, value = {size, (void *)(uintptr_t)bytes};

	assert_int_equal(mdb_put(txn->txn, store->changes, &key, &value, 0), 0);
}

/* Behind the step: XB_LISTED and 192.0.2.1, XB_GONE and the name "com". */
TEST_WITH(damage_is_noticed, begin_txn, end_txn)
{
	static const uint8_t order[] = {0, 0, 0, 0, 0, 0, 0, 7};
	static const uint8_t whole[] = {1,    XB_HOST4, 192,	 0, 2,	 1,   32,
					0x80, 4,	XB_NAME, 3, 'c', 'o', 'm'};
	static const struct {
		size_t at;
		uint8_t byte;
	} wrong[] = {
		{0, 3},					       /* no change is this */
		{0, 0x7f}, {0, 0x81},			       /* an address is no name */
		{1, 0},					       /* no kind */
		{1, 8},	   {6, 33},			       /* no length of its kind */
		{6, 24},   {1, XB_PREFIX4}, {7, 0x83}, {7, 0}, /* a name without its length */
		{8, 5},					       /* a name behind the end */
		{8, 255},  {9, XB_HOST4},		       /* a name is no address */
	};
	struct xb_changes changes;
	struct xb_step step;
	uint8_t bytes[sizeof(struct xb_step) + sizeof(whole)] = {0};
	uint8_t *behind = bytes + sizeof(step);

	memcpy(behind, whole, sizeof(whole));
	put_raw(order, sizeof(order), bytes, sizeof(bytes));
	assert_int_equal(xb_changelog_read(txn, 7, &step, &changes), 0);
	assert_int_equal(changes.count, 2);
	assert_int_equal(xb_entry_ipv4(&changes.change[0].entry), 0xc0000201);
	assert_int_equal(changes.change[1].entry.length, 4);
	xb_changes_free(&changes);
	for (size_t size = 1; size < sizeof(bytes); size++) {
		if (size == sizeof(step) || size == sizeof(step) + 7)
			continue; /* right, though less */
		put_raw(order, sizeof(order), bytes, size);
		assert_told(xb_changelog_read(txn, 7, &step, &changes));
		assert_false(xb_changes_any(&changes));
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		behind[wrong[i].at] = wrong[i].byte;
		put_raw(order, sizeof(order), bytes, sizeof(bytes));
		assert_told(xb_changelog_read(txn, 7, &step, &changes));
		assert_false(xb_changes_any(&changes));
		memcpy(behind, whole, sizeof(whole));
	}
}

/* Behind the step: 192.0.2.1 from class 1 to class 2, big-endian. */
TEST_WITH(damaged_classes, begin_txn, end_txn)
{
	static const uint8_t order[] = {0, 0, 0, 0, 0, 0, 0, 7};
	static const uint8_t whole[] = {0x42, 0, 2, 0, 4, XB_HOST4, 192, 0, 2, 1, 32};
	static const struct {
		size_t at;
		uint8_t byte;
	} wrong[] = {
		{0, 0xc2},		   /* a name has none */
		{0, 0x43},		   /* no change is this */
		{0, 0x41},	{0, 0x40}, /* it did not come, nor go */
		{2, 4},			   /* the same before and after */
		{5, 0},			   /* no kind */
		{5, XB_NAME},		   /* a name without its length */
		{5, XB_ALLOW4},		   /* what is allowed is in no class */
		{10, 33},
	};
	uint8_t bytes[sizeof(struct xb_step) + sizeof(whole)] = {0};
	uint8_t *behind = bytes + sizeof(struct xb_step);
	struct xb_changes changes;
	struct xb_step step;

	memcpy(behind, whole, sizeof(whole));
	put_raw(order, sizeof(order), bytes, sizeof(bytes));
	assert_int_equal(xb_changelog_read(txn, 7, &step, &changes), 0);
	assert_int_equal(changes.count, 1);
	assert_int_equal(changes.change[0].before, 2);
	assert_int_equal(changes.change[0].after, 4);
	assert_int_equal(changes.change[0].what, XB_ALTERED);
	xb_changes_free(&changes);
	for (size_t size = sizeof(step) + 1; size < sizeof(bytes); size++) {
		put_raw(order, sizeof(order), bytes, size);
		assert_told(xb_changelog_read(txn, 7, &step, &changes));
		assert_false(xb_changes_any(&changes));
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		behind[wrong[i].at] = wrong[i].byte;
		put_raw(order, sizeof(order), bytes, sizeof(bytes));
		if (xb_changelog_read(txn, 7, &step, &changes) != -EIO)
			fail_msg("byte %zu is %u", wrong[i].at, wrong[i].byte);
		xb_error_clear();
		assert_false(xb_changes_any(&changes));
		memcpy(behind, whole, sizeof(whole));
	}
}

/* Keys that would be right the other way. */
TEST_WITH(names_and_addresses_are_told_apart, begin_txn, end_txn)
{
	static const uint8_t order[] = {0, 0, 0, 0, 0, 0, 0, 7};
	static const uint8_t name[] = {1, XB_NAME, 3, 'c', 'o', 'm'};
	static const uint8_t address[] = {0x81, 5, XB_HOST4, 192, 0, 2, 1, 32};
	uint8_t bytes[sizeof(struct xb_step) + sizeof(address)] = {0};
	struct xb_changes changes;
	struct xb_step step;

	memcpy(bytes + sizeof(step), name, sizeof(name));
	put_raw(order, sizeof(order), bytes, sizeof(step) + sizeof(name));
	assert_told(xb_changelog_read(txn, 7, &step, &changes));
	memcpy(bytes + sizeof(step), address, sizeof(address));
	put_raw(order, sizeof(order), bytes, sizeof(bytes));
	assert_told(xb_changelog_read(txn, 7, &step, &changes));
}

TEST_WITH(a_key_of_another_size, begin_txn, end_txn)
{
	put_raw("1234567", 7, "", 0);
	assert_told(xb_changelog_trim(txn, 5));
}

/* CRC-32/ISO-HDLC and its check value, wherever the key ends. */
TEST(checksums)
{
	static const char text[] = "123456789";

	for (size_t i = 0; i <= 9; i++)
		assert_int_equal(xb_checksum(text, i, text + i, 9 - i), 0xcbf43926);
	assert_int_equal(xb_checksum("", 0, "", 0), 0);
	assert_int_not_equal(xb_checksum("\0", 1, "", 0), 0);
}
