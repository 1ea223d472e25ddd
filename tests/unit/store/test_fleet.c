/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a store keeps of its fleet: the record, shares, marks, lineage; digests of lists, which
 * changes by chance keep; and a store without a fleet. */
#include "store/checksum.h"
#include "store/expiry.h"
#include "store/flush.h"
#include "store/logtail.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/random.h"
#include "support/waiting.h"

/* As a walk finds it, without what has expired by that time. */
static struct xb_digest walked(const char *name, uint32_t by)
{
	const struct xb_list *list = xb_list_by_name(txn, name);
	struct xb_digest digest = {0};
	struct xb_membership member;
	struct xb_walk walk;

	assert_int_equal(xb_walk_begin(&walk, txn, &XB_WALK_LISTED), 0);
	while (list && xb_walk_next(&walk) > 0) {
		walk.members.as_of = 0;
		if (!xb_members_have(walk.members, list->id, &member) ||
		    !xb_entry_is_shared(&walk.entry) || (member.expires && member.expires <= by))
			continue;
		xb_digest_count(&digest, &walk.entry, member.expires, member.comment,
				member.comment_size, 1);
	}
	xb_walk_end(&walk);
	return digest;
}

/* Those in the store are what walks find, also without what has expired by that time. */
static void assert_digests(uint32_t by)
{
	size_t count;
	const struct xb_share *shares = xb_shares(txn, &count);

	for (size_t i = 0; i < count; i++) {
		struct xb_digest all = walked(shares[i].list, 0), late = walked(shares[i].list, by),
				 found;

		assert_true(xb_digest_equals(&shares[i].digest, &all));
		assert_int_equal(xb_share_digest(txn, &shares[i], by, &found), 0);
		assert_true(xb_digest_equals(&found, &late));
	}
}

/* --- shares --- */

static void assert_digest(const char *list)
{
	struct xb_digest digest = walked(list, 0);

	assert_true(xb_digest_equals(&xb_share_of(txn, list)->digest, &digest));
}

TEST(a_list_that_is_there_already)
{
	commit_change("192.0.2.1 a until 500 (x); 192.0.2.2 b; 0.0.0.0/1 a; c.example a");
	share("a", XB_SHARE_FOLLOW);
	assert_waiting("");
	assert_digest("a");
	assert_null(xb_share_of(txn, "b"));
	share("a", XB_SHARE_FOLLOW | XB_SHARE_PUBLISH);
	assert_digest("a");
	commit_and_go_on();
	assert_waiting("1+192.0.2.1 a until 500 (x); 2+c.example a");
	share("a", XB_SHARE_FOLLOW | XB_SHARE_PUBLISH | XB_SHARE_JOINED);
	commit_and_go_on();
	assert_waiting("1+192.0.2.1 a until 500 (x); 2+c.example a");
	assert_int_equal(xb_share_of(txn, "a")->flags,
			 XB_SHARE_FOLLOW | XB_SHARE_PUBLISH | XB_SHARE_JOINED);
	share("a", 0);
	commit_and_go_on();
	commit_change("192.0.2.9 a");
	assert_null(xb_share_of(txn, "a"));
	assert_waiting("1+192.0.2.1 a until 500 (x); 2+c.example a");
}

/* One that goes leaves its place to another; changes before that are still published as theirs. */
TEST(shares_come_and_go)
{
	share("a", XB_SHARE_PUBLISH);
	share("b", XB_SHARE_PUBLISH);
	share("c", XB_SHARE_PUBLISH);
	commit_and_go_on();
	change_lists(txn, "192.0.2.1 a; 192.0.2.3 c");
	share("a", 0);
	commit_change("192.0.2.4 c a");
	assert_waiting("1+192.0.2.1 a; 2+192.0.2.3 c; 3+192.0.2.4 c");
	assert_null(xb_share_of(txn, "a"));
	assert_digest("c");
	assert_digest("b");
}

TEST(so_many_and_no_more)
{
	char name[16];
	size_t count;

	for (uint32_t i = 0; i < XB_SHARES_MAX; i++) {
		snprintf(name, sizeof(name), "list%u", i);
		share(name, XB_SHARE_PUBLISH);
	}
	commit_and_go_on();
	xb_shares(txn, &count);
	assert_int_equal(count, XB_SHARES_MAX);
	commit_change("192.0.2.1 list63");
	assert_waiting("1+192.0.2.1 list63");
	assert_int_equal(xb_share_set(txn, "more", XB_SHARE_FOLLOW), -EINVAL);
}

TEST(whose_a_list_is)
{
	assert_int_equal(xb_share_set(txn, "a", XB_SHARE_FOLLOW), -EINVAL);
	share("a", XB_SHARE_FOLLOW);
	share("b", XB_SHARE_FOLLOW | XB_SHARE_PUBLISH);
	assert_false(xb_share_is_ours(txn, "a"));
	assert_true(xb_share_is_ours(txn, "b"));
	assert_true(xb_share_is_ours(txn, "c"));
	assert_int_equal(xb_share_check_ours(txn, "b"), 0);
	assert_int_equal(xb_share_check_ours(txn, "a"), -EINVAL);
	assert_string_equal(xb_error_message(),
			    "list a follows fleet f: change it on a host that publishes it");
}

/* --- the record --- */

static struct xb_fleet fleet_of(void)
{
	struct xb_fleet fleet;

	assert_int_equal(xb_fleet_get(txn, &fleet), 1);
	return fleet;
}

static void reopen(void)
{
	assert_int_equal(xb_txn_commit(txn), 0);
	xb_store_close(store);
	assert_int_equal(xb_store_open(directory, XB_STORE_WRITE, &store), 0);
	assert_int_equal(xb_store_write(store, &txn), 0);
}

TEST(the_record_lasts)
{
	struct xb_fleet fleet, found;

	assert_int_equal(xb_fleet_get(txn, &fleet), 0);
	assert_int_equal(xb_fleet_put(txn, &fleet), -EINVAL);
	assert_int_equal(xb_fleet_join(txn, "no such name"), -EINVAL);
	share("a", XB_SHARE_PUBLISH);
	fleet = fleet_of();
	assert_string_equal(fleet.name, "f");
	assert_int_equal(fleet.term, 0);
	fleet.term = 3;
	fleet.position = 77;
	fleet.epoch[0] = 4;
	fleet.chain[15] = 5;
	assert_int_equal(xb_fleet_put(txn, &fleet), 0);
	list_entry(txn, "192.0.2.1", "a");
	for (int i = 0; i < 2; i++) {
		reopen();
		assert_int_equal(xb_fleet_join(txn, "f"), 0);
		found = fleet_of();
		assert_memory_equal(&found, &fleet, sizeof(fleet));
		assert_waiting("1+192.0.2.1 a");
		assert_digests(1050);
		assert_int_equal(txn->meta.schema, XB_SCHEMA_FLEET);
	}
}

/* A reader that had the store open before finds the tables, too. */
TEST(others_see_it)
{
	struct xb_txn *reader, *older;
	struct xb_fleet fleet;

	commit_and_go_on();
	assert_int_equal(xb_store_read(store, &older), 0);
	share("a", XB_SHARE_FOLLOW);
	assert_int_equal(xb_store_read(store, &reader), 0);
	assert_int_equal(xb_fleet_get(reader, &fleet), 0);
	xb_txn_abort(reader);
	assert_int_equal(xb_txn_commit(txn), 0);
	assert_int_equal(xb_fleet_get(older, &fleet), 0);
	store->has_fleet = false; /* as in another process */
	assert_int_equal(xb_store_read(store, &reader), 0);
	assert_int_equal(xb_fleet_get(reader, &fleet), 1);
	assert_non_null(xb_share_of(reader, "a"));
	xb_txn_abort(reader);
	assert_int_equal(xb_fleet_get(older, &fleet), 0);
	xb_txn_abort(older);
	assert_int_equal(xb_store_write(store, &txn), 0);
}

TEST(leaving)
{
	struct xb_fleet fleet, other;
	struct xb_ancestor lineage[XB_LINEAGE_MAX] = {{.term = 1}};
	uint64_t number[3];

	assert_int_equal(xb_fleet_leave(txn), 0);
	share("a", XB_SHARE_PUBLISH);
	fleet = fleet_of();
	list_entry(txn, "192.0.2.1", "a");
	assert_int_equal(xb_fleet_mark_raise(txn, fleet.host, 5), 0);
	assert_int_equal(xb_fleet_lineage_put(txn, lineage, 1), 0);
	assert_int_equal(xb_logtail_append(txn, 1, 1, "x", 1), 0);
	commit_and_go_on();
	list_entry(txn, "192.0.2.2", "a");
	assert_int_equal(xb_fleet_leave(txn), 0);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(txn->meta.schema, XB_SCHEMA);
		assert_int_equal(xb_fleet_get(txn, &other), 0);
		assert_null(xb_share_of(txn, "a"));
		commit_change("192.0.2.3 a");
	}
	assert_store(txn, "192.0.2.1 a; 192.0.2.2 a; 192.0.2.3 a");
	share("a", XB_SHARE_FOLLOW);
	other = fleet_of();
	assert_memory_not_equal(other.host, fleet.host, sizeof(other.host));
	assert_int_equal(xb_fleet_mark_get(txn, fleet.host, &number[0]), 0);
	assert_int_equal(number[0], 0);
	assert_int_equal(xb_fleet_lineage_get(txn, lineage), 0);
	assert_int_equal(xb_logtail_span(txn, 1, &number[0], &number[1]), 0);
	assert_int_equal(number[1], 0);
	assert_int_equal(xb_outbox_span(txn, &number[0], &number[1], &number[2]), 0);
	assert_int_equal(number[0], 0);
	assert_digests(1050);
	assert_int_equal(xb_fleet_join(txn, "g"), 0);
	fleet = fleet_of();
	assert_string_equal(fleet.name, "g");
	assert_memory_not_equal(other.host, fleet.host, sizeof(other.host));
	assert_null(xb_share_of(txn, "a"));
}

/* Its store was copied to another machine. */
TEST(another_machine)
{
	uint8_t name = 'f';
	MDB_val key = {1, &name}, value;
	struct xb_fleet fleet, other;
	uint8_t bytes[256];
	uint32_t checksum;

	share("a", XB_SHARE_PUBLISH);
	list_entry(txn, "192.0.2.1", "a");
	fleet = fleet_of();
	fleet.position = 9;
	assert_int_equal(xb_fleet_put(txn, &fleet), 0);
	assert_int_equal(mdb_get(txn->txn, store->fleet, &key, &value), 0);
	memcpy(bytes, value.mv_data, value.mv_size);
	bytes[32 + 16] ^= 1; /* of machine-id, behind name and host */
	checksum = xb_checksum(&name, 1, bytes, value.mv_size - sizeof(checksum));
	memcpy(bytes + value.mv_size - sizeof(checksum), &checksum, sizeof(checksum));
	value.mv_data = bytes;
	assert_int_equal(mdb_put(txn->txn, store->fleet, &key, &value, 0), 0);
	assert_int_equal(xb_fleet_join(txn, "f"), 0);
	commit_and_go_on();
	other = fleet_of();
	assert_memory_not_equal(other.host, fleet.host, sizeof(other.host));
	memcpy(other.host, fleet.host, sizeof(other.host));
	assert_memory_equal(&other, &fleet, sizeof(other));
	assert_waiting("1+192.0.2.1 a");
}

/* --- marks and lineage --- */

static const uint8_t one[XB_FLEET_ID] = {1}, two[XB_FLEET_ID] = {2, 9};

/* The marks of the two publishers above; 0: there is none. */
static void assert_marks(uint64_t of_one, uint64_t of_two)
{
	struct xb_fleet_mark *marks = NULL;
	uint64_t last[2];
	size_t count;

	assert_int_equal(xb_fleet_mark_get(txn, one, &last[0]), 0);
	assert_int_equal(xb_fleet_mark_get(txn, two, &last[1]), 0);
	assert_true(last[0] == of_one && last[1] == of_two);
	assert_int_equal(xb_fleet_marks(txn, &marks, &count), 0);
	assert_int_equal(count, (of_one != 0) + (of_two != 0));
	for (size_t i = 0; i < count; i++) {
		bool first = i == 0 && of_one;

		assert_memory_equal(marks[i].publisher, first ? one : two, sizeof(one));
		assert_int_equal(marks[i].last, first ? of_one : of_two);
	}
	free(marks);
}

/* A rewind lowers the mark of a publisher to 0, if the log has lost all that he had. */
TEST(marks_only_rise_or_go)
{
	assert_marks(0, 0);
	assert_int_equal(xb_fleet_mark_raise(txn, one, 5), -EINVAL);
	share("a", XB_SHARE_FOLLOW);
	assert_marks(0, 0);
	assert_int_equal(xb_fleet_mark_raise(txn, two, 7), 0);
	assert_int_equal(xb_fleet_mark_raise(txn, one, 5), 0);
	assert_int_equal(xb_fleet_mark_raise(txn, one, 4), 0);
	commit_and_go_on();
	assert_marks(5, 7);
	assert_int_equal(xb_fleet_mark_set(txn, one, 0), 0);
	assert_marks(0, 7);
	assert_int_equal(xb_fleet_mark_set(txn, two, 0), 0);
	assert_marks(0, 0);
}

static void assert_former(uint64_t position, const uint8_t *chain, int has, uint64_t expected)
{
	uint64_t last;

	assert_int_equal(xb_fleet_former_has(txn, position, chain), has);
	assert_int_equal(xb_fleet_former_last(txn, &last), 0);
	assert_int_equal(last, expected);
}

TEST(former_entries)
{
	assert_former(7, one, 0, 0);
	share("a", XB_SHARE_FOLLOW);
	assert_former(7, one, 0, 0);
	assert_int_equal(xb_fleet_former_put(txn, 7, one), 0);
	assert_int_equal(xb_fleet_former_put(txn, 256, two), 0);
	assert_int_equal(xb_fleet_former_trim(txn), 0);
	commit_and_go_on();
	assert_former(7, one, 1, 256);
	assert_former(7, two, 0, 256);
	assert_former(8, one, 0, 256);
	assert_int_equal(xb_fleet_former_end(txn, 256, two), 0);
	assert_int_equal(xb_fleet_former_end(txn, 256, two), 0);
	assert_former(256, two, 0, 7);
	/* The first are forgotten. */
	for (uint64_t position = 8; position <= XB_FLEET_FORMER_MOST + 8; position++)
		assert_int_equal(xb_fleet_former_put(txn, position, one), 0);
	assert_int_equal(xb_fleet_former_trim(txn), 0);
	assert_former(8, one, 0, XB_FLEET_FORMER_MOST + 8);
	assert_former(9, one, 1, XB_FLEET_FORMER_MOST + 8);
}

TEST(the_lineage_is_cut)
{
	struct xb_ancestor lineage[XB_LINEAGE_MAX + 1] = {0}, found[XB_LINEAGE_MAX];

	assert_int_equal(xb_fleet_lineage_get(txn, found), 0);
	share("a", XB_SHARE_FOLLOW);
	for (size_t i = 0; i <= XB_LINEAGE_MAX; i++)
		lineage[i] = (struct xb_ancestor){.term = 100 - i, .position = i};
	assert_int_equal(xb_fleet_lineage_put(txn, lineage, 2), 0);
	commit_and_go_on();
	assert_int_equal(xb_fleet_lineage_get(txn, found), 2);
	assert_memory_equal(found, lineage, 2 * sizeof(*found));
	assert_int_equal(xb_fleet_lineage_put(txn, lineage, XB_LINEAGE_MAX + 1), 0);
	commit_and_go_on();
	assert_int_equal(xb_fleet_lineage_get(txn, found), XB_LINEAGE_MAX);
	assert_memory_equal(found, lineage, sizeof(found));
}

/* --- digests --- */

/* Hosts of other versions have to compute the same. The number is from another program. */
TEST(a_digest_stays_what_it_is)
{
	static const uint64_t known[2] = {0x10c63fdf84b37aae, 0xb9870c1228dee307};
	const struct xb_entry address = entry_of("192.0.2.1");
	struct xb_digest digest = {0}, none = {0};

	xb_digest_count(&digest, &address, 1700000000, "port scan", 9, 1);
	assert_memory_equal(digest.half, known, sizeof(known));
	xb_digest_count(&digest, &address, 1700000000, "port scan", 9, -1);
	assert_true(xb_digest_equals(&digest, &none));
}

static struct xb_digest digest_of(const char *text, uint32_t expires, const char *comment)
{
	const struct xb_entry entry = entry_of(text);
	struct xb_digest digest = {0};

	xb_digest_count(&digest, &entry, expires, comment, strlen(comment), 1);
	return digest;
}

static void assert_differ(struct xb_digest a, struct xb_digest b)
{
	assert_false(xb_digest_equals(&a, &b));
	assert_true(a.half[0] != b.half[0] && a.half[1] != b.half[1]);
}

TEST(everything_counts)
{
	const struct xb_digest digest = digest_of("192.0.2.1", 7, "x");

	assert_differ(digest, digest_of("192.0.2.2", 7, "x"));
	assert_differ(digest, digest_of("192.0.2.0/31", 7, "x"));
	assert_differ(digest, digest_of("192.0.2.1", 8, "x"));
	assert_differ(digest, digest_of("192.0.2.1", 7, ""));
	assert_differ(digest_of("a.example", 7, ""), digest_of("a.example", 7, "\1"));
}

#define LISTS	5 /* the last one is not shared, the one before follows */
#define ENTRIES 40
#define NOW	1000

static const char *list_name(uint32_t number)
{
	static char name[16];

	snprintf(name, sizeof(name), "list%u", number);
	return name;
}

static const char *entry_text(uint32_t number)
{
	static const char *const forms[] = {"192.0.2.%u", "10.%u.0.0/16", "2001:db8:%x::/48",
					    "n%u.example", "!192.0.2.%u"};
	static char text[64];

	if (number >= ENTRIES - 2)
		return number % 2 ? "0.0.0.0/2" : "org";
	snprintf(text, sizeof(text), forms[number % 5], number);
	return text;
}

static void change_by_chance(void)
{
	const char *list = list_name(random_word() % LISTS);
	uint32_t expires = random_word() % 2 ? 0 : NOW + random_word() % 100;
	uint64_t count;
	char text[128];

	switch (random_word() % 64) {
	case 0:
		assert_int_equal(xb_flush_list(txn, list_of(txn, list)->id, &count), 0);
		return;
	case 1:
		assert_int_equal(xb_expiry_sweep(txn, NOW + random_word() % 100, NULL), 0);
		return;
	case 2:
		assert_int_equal(random_word() % 2 ? xb_flush_listed(txn) : xb_flush_all(txn), 0);
		return;
	default:
		break;
	}
	if (random_word() % 3) {
		put_entry(txn, entry_text(random_word() % ENTRIES), list, expires,
			  random_word() % 2 ? "why" : NULL, XB_RENEW_EXPIRY | XB_RENEW_COMMENT);
	} else {
		snprintf(text, sizeof(text), "-%s %s", entry_text(random_word() % ENTRIES), list);
		change_lists(txn, text);
	}
}

/* What somebody has who was told the outbox, in order. */
struct told {
	bool listed[LISTS][ENTRIES];
	uint32_t expires[LISTS][ENTRIES];
};

static uint32_t number_of(const struct xb_entry *entry)
{
	for (uint32_t i = 0; i < ENTRIES; i++) {
		struct xb_entry other = entry_of(entry_text(i));

		if (!xb_entry_compare(entry, &other))
			return i;
	}
	fail();
	return 0;
}

static void tell(struct told *told, const struct xb_shared_changes *changes)
{
	for (size_t i = 0; i < changes->count; i++) {
		uint32_t list = (uint32_t)atoi(changes->item[i].list + strlen("list")),
			 entry = number_of(&changes->item[i].entry);

		told->listed[list][entry] = changes->item[i].put;
		told->expires[list][entry] = changes->item[i].expires;
	}
}

/* Everything that may have gone by itself aside, it is what the store has. */
static void assert_told_all(const struct told *told)
{
	for (uint32_t list = 0; list < LISTS; list++)
		for (uint32_t i = 0; i < ENTRIES; i++) {
			struct xb_entry entry = entry_of(entry_text(i));
			const struct xb_list *of = xb_list_by_name(txn, list_name(list));
			struct xb_membership member;
			struct xb_members members;
			bool listed = of && xb_entry_is_shared(&entry) && list < LISTS - 2 &&
				      !xb_members_of(txn, &entry, &members) &&
				      xb_members_have(members, of->id, &member);

			if (listed) {
				assert_true(told->listed[list][i]);
				assert_int_equal(told->expires[list][i], member.expires);
			} else if (told->listed[list][i]) {
				assert_true(told->expires[list][i]); /* it expired */
			}
		}
}

static void publish_some(struct told *told, struct xb_shared_changes *sent)
{
	if (sent->count) {
		tell(told, sent);
		assert_int_equal(xb_outbox_published(txn, sent, sent->number[sent->count - 1]), 0);
		xb_shared_changes_free(sent);
		*sent = (struct xb_shared_changes){0};
	}
	if (random_word() % 2)
		assert_int_equal(xb_outbox_read(txn, 1 + random_word() % 9, SIZE_MAX, sent), 0);
}

TEST(digests_and_outbox_by_chance)
{
	struct xb_shared_changes sent = {0};
	struct told told = {0};

	random_begin();
	for (uint32_t i = 0; i < LISTS - 1; i++)
		share(list_name(i), i < LISTS - 2 ? XB_SHARE_PUBLISH : XB_SHARE_FOLLOW);
	commit_and_go_on();
	for (uint32_t round = 0; round < amount(200, 1000); round++) {
		for (uint32_t left = 1 + random_word() % 12; left; left--)
			change_by_chance();
		if (random_word() % 8) {
			commit_and_go_on();
		} else {
			xb_txn_abort(txn);
			assert_int_equal(xb_store_write(store, &txn), 0);
		}
		publish_some(&told, &sent);
		commit_and_go_on();
		assert_digests(NOW + 50);
		assert_non_null(xb_share_of(txn, list_name(LISTS - 2)));
	}
	do {
		publish_some(&told, &sent);
		commit_and_go_on();
		xb_shared_changes_free(&sent);
	} while (!xb_outbox_read(txn, 99, SIZE_MAX, &sent) && sent.count);
	assert_told_all(&told);
}

EACH_TEST(begin_txn, end_txn);
