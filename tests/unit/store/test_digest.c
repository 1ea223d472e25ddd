/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The digest of a list: what it is of, and that changes by chance keep it. */
#include "store/expiry.h"
#include "store/flush.h"
#include "support/cmocka.h"
#include "support/random.h"
#include "support/waiting.h"
#include "support/walked.h"

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
	if (random_word() % 3)
		renew(entry_text(random_word() % ENTRIES), list, expires,
		      random_word() % 2 ? "why" : NULL);
	else
		unlist(entry_text(random_word() % ENTRIES), list);
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

TEST_WITH(digests_and_outbox_by_chance, begin_txn, end_txn)
{
	struct xb_shared_changes sent = {0};
	struct told told = {0};

	random_begin();
	for (uint32_t i = 0; i < LISTS - 1; i++)
		share(list_name(i), i < LISTS - 2 ? XB_SHARE_PUBLISH : XB_SHARE_FOLLOW);
	commit_and_go_on();
	for (int round = 0; round < 400; round++) {
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
