/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records of the change log: what comes back, which go, byte order; checksums. */
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

static void move(const char *text, uint32_t before, uint32_t after)
{
	struct xb_entry entry = entry_of(text);

	assert_int_equal(xb_changes_move(&txn->change, &entry, before, after), 0);
}

static void assert_comes_back(void)
{
	const struct xb_change *written = txn->change.change;
	struct xb_changes changes;
	struct xb_step step;

	assert_int_equal(xb_changelog_append(txn, false), 0);
	assert_int_equal(xb_changelog_read(txn, txn->meta.sequence, &step, &changes), 0);
	assert_false(changes.bulk);
	assert_int_equal(changes.tightens, txn->change.tightens);
	assert_int_equal(changes.count, txn->change.count);
	for (size_t i = 0; i < changes.count; i++) {
		const struct xb_change *read = &changes.change[i];

		assert_int_equal(xb_entry_compare(&read->entry, &written[i].entry), 0);
		assert_int_equal(read->what, written[i].what);
		assert_int_equal(read->before, written[i].before);
		assert_int_equal(read->after, written[i].after);
	}
	xb_changes_free(&changes);
}

/* Each kind, the shortest and the longest keys, and a name before and behind keys of addresses. */
TEST(every_kind_comes_back)
{
	static const char *const texts[] = {
		"a.example",  "0.0.0.0/0",   "255.255.255.255",
		"::/0",	      "=b.example",  "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
		"!0.0.0.0/0", "!192.0.2.1",  "!2001:db8::/32",
		"!c.example", "192.0.2.0/25"};
	char longest[254];

	memset(longest, 'a', sizeof(longest) - 1);
	longest[63] = longest[127] = longest[191] = '.';
	longest[253] = '\0';
	for (unsigned int i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		change(texts[i], i % 3);
	change(longest, XB_LISTED);
	assert_comes_back();
}

/* Each class alone, some at once, and beside changes without. */
TEST(classes_come_back)
{
	static const char *const texts[] = {"0.0.0.0/0",     "192.0.2.1", "192.0.2.0/25", "::/0",
					    "2001:db8::/32", "a.example", "!192.0.2.1"};

	for (unsigned int i = 0; i < 5; i++)
		for (unsigned int class = 0; class < XB_CLASSES; class ++) {
			move(texts[i], 0, 1U << class);
			move(texts[i], 1U << class, 0xffff);
			move(texts[i], 0xffff, 1U << class);
			move(texts[i], 1U << class, 0);
			change(texts[5 + class % 2], XB_LISTED);
		}
	move("192.0.2.9", 1, 0x8000);
	assert_comes_back();
}

TEST(bulk_has_no_changes)
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

TEST(marks_are_a_chain)
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
	commit_and_go_on();
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
TEST(trim_goes_by_number)
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

/* CRC-32/ISO-HDLC and its check value, wherever the key ends. */
TEST(checksums)
{
	static const char text[] = "123456789";

	for (size_t i = 0; i <= 9; i++)
		assert_int_equal(xb_checksum(text, i, text + i, 9 - i), 0xcbf43926);
	assert_int_equal(xb_checksum("", 0, "", 0), 0);
	assert_int_not_equal(xb_checksum("\0", 1, "", 0), 0);
}

EACH_TEST(begin_txn, end_txn);
