/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries and the store: text, order, keys, memberships, expiry, the change log. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "store/changelog.h"
#include "store/expiry.h"
#include "store/flush.h"
#include "store/walk.h"
#include "store/wanted.h"
#include "support/cmocka.h"
#include "support/entryof.h"
#include "support/scratch_store.h"

TEST(text_and_back)
{
	static const struct {
		const char *in, *out;
		bool host_bits;
	} good[] = {
		{"1.2.3.4", "1.2.3.4", false},
		{"1.2.3.4/32", "1.2.3.4", false},
		{"1.2.3.4/24", "1.2.3.0/24", true},
		{"255.255.255.255/0", "0.0.0.0/0", true},
		{"0.0.0.0", "0.0.0.0", false},
		{"10.0.0.0/8", "10.0.0.0/8", false},
		{"10.0.0.128/25", "10.0.0.128/25", false},
		{"::", "::", false},
		{"::/0", "::/0", false},
		{"2001:DB8::1/128", "2001:db8::1", false},
		{"2001:db8:ffff::/33", "2001:db8:8000::/33", true},
		{"::ffff:1.2.3.4", "1.2.3.4", false},
		{"::FFFF:102:304/128", "1.2.3.4", false},
		{"::ffff:1.2.3.4/120", "1.2.3.0/24", true},
		{"::ffff:0:0/96", "0.0.0.0/0", false},
		{"::ffff:0:0/95", "::fffe:0:0/95", true},
		{"::1.2.3.4", "::1.2.3.4", false},
		{"::1:ffff:1.2.3.4", "::1:ffff:102:304", false},
	};
	static const char *const bad[] = {"",
					  "1.2.3",
					  "1.2.3.4.5",
					  "1.2.3.256",
					  "01.2.3.4",
					  "1.2.3.4/33",
					  "1.2.3.4/",
					  "1.2.3.4/-1",
					  "1.2.3.4/ 8",
					  "1.2.3.4/024",
					  "1.2.3.4/8/8",
					  "::/129",
					  ":::",
					  "g::",
					  "1.2.3.4 ",
					  "fe80::1%eth0",
					  "example.com",
					  "1.2.3.4/999999999999"};
	char text[XB_ENTRY_TEXT];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct xb_entry entry, back;
		uint8_t key[XB_ENTRY_KEY_BYTES];
		bool host_bits;

		assert_int_equal(
			xb_entry_parse(good[i].in, strlen(good[i].in), NULL, &entry, &host_bits),
			0);
		assert_string_equal(xb_entry_format(&entry, text), good[i].out);
		assert_int_equal(host_bits, good[i].host_bits);
		assert_true(xb_entry_decode(key, xb_entry_encode(&entry, key), &back));
		assert_int_equal(xb_entry_compare(&entry, &back), 0);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct xb_entry entry;

		xb_error_clear();
		assert_true(xb_entry_parse(bad[i], strlen(bad[i]), NULL, &entry, NULL) < 0);
		assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
		assert_true(strlen(xb_error_message()) > 0);
	}
}

TEST(keys_order_as_entries_do)
{
	enum { COUNT = 2000 };
	struct xb_entry *entries = calloc(COUNT, sizeof(*entries));
	uint64_t seed = 1;

	for (int i = 0; i < COUNT; i++) {
		struct xb_entry whole = {.kind = XB_NET6, .length = 128};

		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		whole.hi = seed & (i % 3 ? ~0ULL : 0xffff000000000000ULL);
		if (i % 2)
			whole = (struct xb_entry){
				.hi = whole.hi & ~0xffffffffULL, .kind = XB_HOST4, .length = 32};
		entries[i] =
			xb_entry_covering(&whole, (uint8_t)((seed >> 40) % (whole.length + 1U)));
	}
	assert_int_equal(xb_entry_sort(&entries, COUNT, sizeof(*entries)), 0);
	for (int i = 1; i < COUNT; i++) {
		uint8_t left[XB_ENTRY_KEY_BYTES], right[XB_ENTRY_KEY_BYTES];
		size_t size = xb_entry_encode(&entries[i - 1], left),
		       other = xb_entry_encode(&entries[i], right);
		int order = xb_entry_compare(&entries[i - 1], &entries[i]);
		int bytes = memcmp(left, right, size < other ? size : other);

		assert_true(order <= 0);
		assert_true(order ? bytes < 0 : !bytes);
	}
	free(entries);
}

static enum xb_put put(struct xb_txn *txn, const char *text, const char *name, uint32_t expires,
		       const char *comment, unsigned int renew)
{
	struct xb_entry entry = entry_of(text);
	struct xb_membership member = {.added = 100,
				       .expires = expires,
				       .comment = comment,
				       .comment_size = comment ? (uint32_t)strlen(comment) : 0};
	struct xb_list *list;
	enum xb_put result;

	assert_int_equal(xb_list_need(txn, name, &list), 0);
	member.list = list->id;
	assert_int_equal(xb_member_put(txn, &entry, &member, renew, &result), 0);
	return result;
}

static enum xb_removal take(struct xb_txn *txn, const char *text, const char *name)
{
	struct xb_entry entry = entry_of(text);
	struct xb_list *list = name ? xb_list_find(txn, name) : NULL;
	enum xb_removal result;

	assert_int_equal(xb_member_remove(txn, &entry, list ? list->id : XB_ANY_LIST, &result), 0);
	return result;
}

TEST(memberships)
{
	struct xb_entry entry = entry_of("192.0.2.1");
	struct xb_membership member;
	struct xb_members members;
	struct xb_txn *txn;

	assert_int_equal(xb_store_write(store, &txn), 0);
	assert_int_equal(put(txn, "192.0.2.1", "a", 0, "why", 0), XB_PUT_LISTED);
	assert_int_equal(put(txn, "192.0.2.1", "a", 0, "other", 0), XB_PUT_SAME);
	assert_int_equal(put(txn, "192.0.2.1", "b", 900, NULL, 0), XB_PUT_JOINED);
	assert_int_equal(put(txn, "192.0.2.1", "a", 500, NULL, XB_RENEW_EXPIRY), XB_PUT_RENEWED);
	assert_int_equal(xb_members_of(txn, &entry, &members), 0);
	assert_true(xb_members_have(members, xb_list_find(txn, "a")->id, &member));
	assert_int_equal(member.expires, 500);
	assert_int_equal(member.comment_size, 3);
	assert_memory_equal(member.comment, "why", 3);
	assert_int_equal(txn->change.count, 1);
	assert_int_equal(txn->meta.totals.host4, 1);
	assert_int_equal(take(txn, "192.0.2.2", NULL), XB_REMOVAL_ABSENT);
	assert_int_equal(take(txn, "192.0.2.1", "a"), XB_REMOVAL_LEFT);
	assert_int_equal(take(txn, "192.0.2.1", "a"),
			 XB_REMOVAL_UNLISTED); /* a is no list now: any */
	assert_int_equal(txn->change.count, 2);
	assert_int_equal(txn->meta.totals.host4, 0);
	assert_null(xb_list_find(txn, "b"));
	assert_int_equal(xb_txn_commit(txn), 0);
}

TEST(expiry_takes_out_what_is_due)
{
	struct xb_txn *txn;
	uint64_t swept;

	assert_int_equal(xb_store_write(store, &txn), 0);
	put(txn, "192.0.2.1", "a", 500, NULL, 0);
	put(txn, "192.0.2.1", "b", 700, NULL, 0);
	put(txn, "2001:db8::/32", "a", 500, NULL, 0);
	put(txn, "192.0.2.9", "a", 0, NULL, 0);
	put(txn, "192.0.2.8", "a", 500, NULL, 0);
	put(txn, "192.0.2.8", "a", 800, NULL, XB_RENEW_EXPIRY);
	assert_int_equal(xb_expiry_sweep(txn, 499, &swept), 0);
	assert_int_equal(swept, 0);
	assert_int_equal(xb_expiry_sweep(txn, 500, &swept), 0);
	assert_int_equal(swept, 2);
	assert_int_equal(txn->meta.totals.net6, 0);
	assert_int_equal(txn->meta.totals.host4, 3);
	assert_int_equal(xb_expiry_sweep(txn, 800, &swept), 0);
	assert_int_equal(swept, 2);
	assert_int_equal(txn->meta.totals.host4, 1);
	assert_int_equal(take(txn, "192.0.2.9", NULL), XB_REMOVAL_UNLISTED);
	assert_int_equal(xb_txn_commit(txn), 0);
}

TEST(the_log_tells_what_changed)
{
	struct xb_changes changes;
	struct xb_step step;
	struct xb_txn *txn;
	uint64_t sequence, mark, first;

	assert_int_equal(xb_store_write(store, &txn), 0);
	put(txn, "192.0.2.1", "a", 0, NULL, 0);
	put(txn, "2001:db8::/32", "a", 0, NULL, 0);
	take(txn, "192.0.2.1", NULL);
	first = txn->meta.mark;
	assert_int_equal(xb_changelog_append(txn, false), 0);
	sequence = txn->meta.sequence;
	mark = txn->meta.mark;
	assert_true(mark != first);
	assert_int_equal(xb_txn_commit(txn), 0);
	assert_int_equal(xb_store_write(store, &txn), 0);
	assert_int_equal(txn->meta.sequence, sequence);
	assert_int_equal(xb_changelog_read(txn, sequence, &step, &changes), 0);
	assert_int_equal(changes.count, 3);
	assert_true(step.from == first && step.to == mark);
	assert_true(changes.change[0].what == XB_LISTED && changes.change[1].what == XB_LISTED &&
		    changes.change[2].what == XB_GONE);
	assert_int_equal(changes.change[1].entry.kind, XB_NET6);
	xb_changes_free(&changes);
	assert_int_equal(xb_changelog_append(txn, true), 0);
	assert_int_equal(xb_changelog_read(txn, sequence + 1, &step, &changes), 0);
	assert_true(changes.bulk);
	assert_true(step.from == mark && step.to == txn->meta.mark && step.to != mark);
	assert_int_equal(xb_changelog_trim(txn, sequence), 0);
	assert_int_equal(xb_changelog_read(txn, sequence, &step, &changes), -ENOENT);
	assert_int_equal(xb_changelog_read(txn, sequence + 1, &step, &changes), 0);
	xb_txn_abort(txn);
}

/* Entries out of order after an empty start, walked while being removed. */
TEST(a_walk_survives_removals)
{
	const struct xb_entry first = {.kind = XB_PREFIX4};
	struct xb_walk walk;
	struct xb_txn *txn;
	uint32_t seen = 0;

	assert_int_equal(xb_store_write(store, &txn), 0);
	assert_int_equal(xb_flush_all(txn), 0);
	for (uint32_t i = 0; i < 3000; i++) {
		char text[64];

		snprintf(text, sizeof(text), "10.%u.%u.1", i * 7919 % 3000 / 250,
			 i * 7919 % 3000 % 250);
		assert_int_equal(put(txn, text, "a", 0, NULL, 0), XB_PUT_LISTED);
		assert_int_equal(put(txn, text, "a", 0, NULL, 0), XB_PUT_SAME);
	}
	assert_int_equal(txn->meta.totals.host4, 3000);
	assert_int_equal(xb_walk_begin(&walk, txn, &first), 0);
	while (xb_walk_next(&walk) > 0) {
		enum xb_removal removal;

		if (seen++ % 3)
			assert_int_equal(xb_member_remove(txn, &walk.entry, XB_ANY_LIST, &removal),
					 0);
	}
	xb_walk_end(&walk);
	assert_int_equal(seen, 3000);
	assert_int_equal(txn->meta.totals.host4, 1000);
	xb_txn_abort(txn);
}

TEST(names_and_comments)
{
	static const char *const bad[] = {"", "../../x", "-a", ".a", "a/b", "a b", "\xc3\xa4"};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(xb_list_name_ok(bad[i]));
	assert_true(xb_list_name_ok("a") && xb_list_name_ok("spamhaus-drop_v6.2"));
	assert_int_equal(xb_comment_check("gr\xc3\xbc\xc3\x9f dich", 11), 0);
	assert_true(xb_comment_check("a\nb", 3) < 0);
	assert_true(xb_comment_check("\xc0\x80", 2) < 0);
	assert_true(xb_comment_check("\xed\xa0\x80", 3) < 0);
	assert_true(xb_comment_check("\xe2\x82", 2) < 0);
	assert_true(xb_comment_check("\xc2\x9b", 2) < 0);
	assert_int_equal(xb_comment_check("\xc2\xa0", 2), 0);
}

ALL_TESTS(begin, end);
