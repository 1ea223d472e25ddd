/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What waits to be published: order, replacement in place, what becomes of it when the log has it.
 */

#include "store/expiry.h"
#include "store/flush.h"
#include "support/cmocka.h"
#include "support/waiting.h"

static int begin_shared(void **state)
{
	int error = begin_txn(state);

	share("a", XB_SHARE_PUBLISH);
	return error;
}

static void forget(uint64_t last)
{
	assert_int_equal(xb_outbox_forget(txn, last), 0);
	commit_and_go_on();
}

/* The log has these, the last of which has this number. */
static void publish(struct xb_shared_changes *sent, uint64_t last)
{
	assert_int_equal(xb_outbox_published(txn, sent, last), 0);
	xb_shared_changes_free(sent);
	commit_and_go_on();
}

TEST(puts_go_before_deletes)
{
	commit_change("192.0.2.0/24 a");
	assert_waiting("1+192.0.2.0/24 a");
	commit_change("-192.0.2.0/24 a; 192.0.2.9 a until 500 (why); b.example a");
	assert_waiting("1+192.0.2.0/24 a; 2+192.0.2.9 a until 500 (why); 3+b.example a; "
		       "4-192.0.2.0/24 a");
}

/* What comes to nothing is not published; neither is what no fleet shares. */
TEST(the_net_result)
{
	assert_int_equal(xb_share_set(txn, "b", XB_SHARE_PUBLISH), 0);
	assert_int_equal(xb_share_set(txn, "c", XB_SHARE_FOLLOW), 0);
	commit_change("192.0.2.1 a until 500 (x)");
	commit_change("-192.0.2.1 a; 192.0.2.1 a until 500 (x); 192.0.2.2 a; -192.0.2.2 a; "
		      "192.0.2.3 a; ~192.0.2.3 a until 700; 192.0.2.3 b d; 192.0.2.4 c; !192.0.2.5 "
		      "a; 0.0.0.0/1 a; com a");
	assert_waiting("1+192.0.2.1 a until 500 (x); 2+192.0.2.3 a until 700; 3+192.0.2.3 b");
	commit_change("-192.0.2.3 a b; 192.0.2.3 b");
	assert_waiting("1+192.0.2.1 a until 500 (x); 2+192.0.2.3 a until 700; 3+192.0.2.3 b; "
		       "4-192.0.2.3 a");
}

TEST(what_is_as_before_is_not_published)
{
	commit_change("192.0.2.1 a until 500 (x)");
	assert_int_equal(xb_outbox_forget(txn, 1), 0);
	commit_change("-192.0.2.1 a; 192.0.2.1 a until 500 (x)");
	assert_waiting("");
}

TEST(a_waiting_put_is_replaced_in_place)
{
	commit_change("192.0.2.1 a until 500");
	commit_change("192.0.2.2 a");
	commit_change("~192.0.2.1 a until 900 (later)");
	assert_waiting("1+192.0.2.1 a until 900 (later); 2+192.0.2.2 a");
	commit_change("-192.0.2.1 a");
	commit_change("192.0.2.1 a");
	assert_waiting("1+192.0.2.1 a until 900 (later); 2+192.0.2.2 a; 3-192.0.2.1 a; "
		       "4+192.0.2.1 a");
	commit_change("~192.0.2.1 a until 77");
	assert_waiting("1+192.0.2.1 a until 900 (later); 2+192.0.2.2 a; 3-192.0.2.1 a; "
		       "4+192.0.2.1 a until 77");
}

static void assert_waits(const char *text, int waits)
{
	struct xb_entry entry = entry_of(text);

	assert_int_equal(xb_outbox_waits(txn, "a", &entry), waits);
}

static void assert_span(uint64_t count, uint64_t first, uint64_t last, uint64_t given)
{
	uint64_t found[4];

	assert_int_equal(xb_outbox_span(txn, &found[0], &found[1], &found[2]), 0);
	assert_int_equal(xb_outbox_last_number(txn, &found[3]), 0);
	assert_int_equal(found[0], count);
	assert_int_equal(found[1], first);
	assert_int_equal(found[2], last);
	assert_int_equal(found[3], given);
}

TEST(what_the_log_has_goes)
{
	struct xb_shared_changes sent;

	assert_span(0, 0, 0, 0);
	commit_change("192.0.2.1 a; 192.0.2.2 a");
	commit_change("192.0.2.3 a; -192.0.2.1 a");
	assert_span(4, 1, 4, 4);
	assert_waits("192.0.2.1", 1);
	assert_waits("192.0.2.9", 0);
	assert_int_equal(xb_outbox_read(txn, 2, SIZE_MAX, &sent), 0);
	assert_int_equal(sent.count, 2);
	publish(&sent, 2);
	assert_waiting("3+192.0.2.3 a; 4-192.0.2.1 a");
	assert_waits("192.0.2.2", 0);
	assert_waits("192.0.2.1", 1);
	assert_int_equal(xb_outbox_read(txn, 2, 1, &sent), 0);
	assert_int_equal(sent.count, 1);
	xb_shared_changes_free(&sent);
	forget(4);
	assert_span(0, 0, 0, 4);
	assert_waits("192.0.2.1", 0);
	/* The store is an older copy: these numbers were given before. */
	forget(9);
	commit_change("192.0.2.4 a");
	assert_waiting("10+192.0.2.4 a");
}

/* What the log got is not what waits any more. Deletes, which may need it, go behind it again. */
TEST(what_was_replaced_meanwhile_is_appended)
{
	struct xb_shared_changes sent;

	commit_change("192.0.2.0/24 a; 192.0.2.1 a until 500; 192.0.2.2 a");
	commit_change("192.0.2.5 a");
	assert_int_equal(xb_outbox_read(txn, 3, SIZE_MAX, &sent), 0);
	commit_change("~192.0.2.1 a; ~192.0.2.2 a until 44; -192.0.2.0/24 a; -192.0.2.5 a");
	commit_change("-192.0.2.2 a; 192.0.2.5 a");
	assert_waiting("1+192.0.2.0/24 a; 2+192.0.2.1 a; 3+192.0.2.2 a until 44; "
		       "4+192.0.2.5 a; 5-192.0.2.0/24 a; 6-192.0.2.5 a; 7+192.0.2.5 a; "
		       "8-192.0.2.2 a");
	assert_int_equal(xb_outbox_published(txn, &sent, 3), 0);
	commit_and_go_on();
	assert_waiting("4+192.0.2.5 a; 7+192.0.2.5 a; 9+192.0.2.1 a; 10-192.0.2.0/24 a; "
		       "11-192.0.2.2 a");
	xb_shared_changes_free(&sent);
	/* As the entry of the log says it, which has no numbers for each. */
	assert_int_equal(xb_outbox_read(txn, 2, SIZE_MAX, &sent), 0);
	free(sent.number);
	sent.number = NULL;
	commit_change("~192.0.2.5 a until 9");
	publish(&sent, 7);
	assert_waiting("9+192.0.2.1 a; 12+192.0.2.5 a until 9; 13-192.0.2.0/24 a; "
		       "14-192.0.2.2 a");
}

/* The store is an older copy: in the log its numbers stand for other changes. */
TEST(what_the_log_lacks_stays)
{
	struct xb_shared_changes sent = {0};
	const struct xb_shared_change change = {
		.entry = entry_of("192.0.2.9"), .list = "a", .put = true};

	commit_change("192.0.2.1 a; 192.0.2.2 a");
	commit_change("-192.0.2.1 a; 192.0.2.3 a");
	assert_waiting("1+192.0.2.1 a; 2+192.0.2.2 a; 3+192.0.2.3 a; 4-192.0.2.1 a");
	assert_int_equal(xb_shared_changes_add(&sent, &change), 0);
	publish(&sent, 4);
	assert_waiting("5+192.0.2.2 a; 6+192.0.2.3 a; 7-192.0.2.1 a");
	assert_waits("192.0.2.1", 1);
	assert_waits("192.0.2.2", 1);
}

/* Nobody knows any more what the log got: only what was never replaced is surely there. */
TEST(what_is_forgotten)
{
	commit_change("192.0.2.1 a; 192.0.2.2 a");
	commit_change("~192.0.2.2 a until 8");
	forget(2);
	assert_waiting("3+192.0.2.2 a until 8");
}

TEST(expiry_is_not_published)
{
	commit_change("192.0.2.1 a until 500");
	assert_int_equal(xb_outbox_forget(txn, 1), 0);
	assert_int_equal(xb_expiry_sweep(txn, 600, NULL), 0);
	commit_and_go_on();
	assert_store(txn, "");
	assert_waiting("");
	/* Unless it was made to expire so early here, which the others do not know. */
	commit_change("192.0.2.1 a until 9000");
	assert_int_equal(xb_outbox_forget(txn, 2), 0);
	change_lists(txn, "~192.0.2.1 a until 700");
	assert_int_equal(xb_expiry_sweep(txn, 700, NULL), 0);
	commit_and_go_on();
	assert_waiting("3+192.0.2.1 a until 700");
}

TEST(what_comes_from_the_fleet_is_not_published)
{
	share("a", XB_SHARE_PUBLISH | XB_SHARE_FOLLOW);
	xb_fleet_applies(txn, true);
	commit_change("192.0.2.1 a");
	assert_waiting("");
	commit_change("192.0.2.2 a");
	assert_waiting("1+192.0.2.2 a");
}

TEST(a_flush_of_the_list_is_published)
{
	uint64_t count;

	commit_change("192.0.2.1 a b; 0.0.0.0/1 a");
	assert_int_equal(xb_flush_list(txn, list_of(txn, "a")->id, &count), 0);
	commit_and_go_on();
	assert_waiting("1+192.0.2.1 a; 2-192.0.2.1 a");
}

/* All but the list itself: what is listed by lists that are shared stays. */
TEST(a_flush_of_all_leaves_shared_lists)
{
	share("a", XB_SHARE_FOLLOW);
	commit_change("192.0.2.1 a until 500 (x) b; 192.0.2.2 b; b.example b; c.example a; "
		      "!192.0.2.3 a allow");
	assert_int_equal(xb_flush_listed(txn), 0);
	assert_store(txn, "192.0.2.1 a until 500 (x); c.example a; !192.0.2.3 a allow");
	assert_int_equal(xb_flush_all(txn), 0);
	commit_and_go_on();
	assert_store(txn, "192.0.2.1 a until 500 (x); c.example a");
	assert_int_equal(txn->meta.totals.host4, 1);
	assert_int_equal(txn->meta.totals.names, 1);
	assert_int_equal(txn->meta.totals.allow, 0);
	assert_null(xb_list_find(txn, "b"));
	assert_waiting("");
}

TEST(a_transaction_that_is_given_up)
{
	list_entry(txn, "192.0.2.1", "a");
	abort_and_go_on();
	assert_span(0, 0, 0, 0);
	assert_null(xb_share_of(txn, "a"));
	assert_int_equal(txn->meta.schema, XB_SCHEMA);
	share("a", XB_SHARE_PUBLISH);
	commit_and_go_on();
	list_entry(txn, "192.0.2.1", "a");
	abort_and_go_on();
	assert_span(0, 0, 0, 0);
	commit_change("192.0.2.2 a");
	assert_waiting("1+192.0.2.2 a");
}

/* comment NULL: a delete. */
static struct xb_shared_change change_of(const char *entry, uint32_t expires, const char *comment)
{
	return (struct xb_shared_change){
		.entry = entry_of(entry),
		.list = "a",
		.put = comment,
		.expires = expires,
		.comment = comment ? comment : "",
		.comment_size = comment ? (uint32_t)strlen(comment) : 0,
	};
}

static int put_again(const char *entry, const char *comment, enum xb_again whose)
{
	struct xb_shared_change change = change_of(entry, 0, comment);

	return xb_outbox_put_again(txn, &change, whose);
}

static int meets(const char *entry, const char *comment)
{
	struct xb_shared_change change = change_of(entry, 0, comment);

	return xb_outbox_meets(txn, &change, false);
}

static int meets_until(const char *entry, uint32_t expires)
{
	struct xb_shared_change change = change_of(entry, expires, "");

	return xb_outbox_meets(txn, &change, false);
}

static int meets_former(const char *entry, const char *comment)
{
	struct xb_shared_change change = change_of(entry, 0, comment);

	return xb_outbox_meets(txn, &change, true);
}

static void put_three_again(void)
{
	commit_and_go_on();
	assert_int_equal(put_again("192.0.2.1", NULL, XB_AGAIN_OWN), 1);
	assert_int_equal(put_again("192.0.2.2", "mine", XB_AGAIN_OWN), 1);
	assert_int_equal(put_again("192.0.2.3", "another's", XB_AGAIN_ANOTHERS), 1);
}

/* The log has a number that was not given here: it was given to other changes. */
TEST(what_an_older_store_has_is_not_forgotten)
{
	commit_change("192.0.2.1 a; 192.0.2.2 a");
	commit_change("-192.0.2.1 a");
	assert_waiting("1+192.0.2.1 a; 2+192.0.2.2 a; 3-192.0.2.1 a");
	forget(9);
	assert_waiting("10+192.0.2.2 a; 11-192.0.2.1 a");
	assert_waits("192.0.2.1", 1);
	assert_waits("192.0.2.2", 1);
	/* Nobody knows how old they are. */
	assert_int_equal(meets("192.0.2.2", NULL), 1);
	assert_int_equal(meets("192.0.2.1", "another's"), 0);
	assert_waiting("10+192.0.2.2 a");
}

/* The log has lost these changes, and meanwhile gets others of the same entries. */
TEST(what_is_published_again_makes_way)
{
	put_three_again();
	assert_waiting("1-192.0.2.1 a; 2+192.0.2.2 a (mine); 3+192.0.2.3 a (another's)");
	assert_int_equal(meets("192.0.2.1", "new"), 0);
	assert_int_equal(meets("192.0.2.2", NULL), 1);
	assert_int_equal(meets_until("192.0.2.2", 500), 1);
	assert_int_equal(meets("192.0.2.3", NULL), 1);
	assert_int_equal(meets_until("192.0.2.3", 500), 1);
	assert_int_equal(meets("192.0.2.4", NULL), 0);
	assert_waiting("2+192.0.2.2 a (mine); 3+192.0.2.3 a (another's)");
	assert_waits("192.0.2.1", 0);
	assert_int_equal(meets("192.0.2.2", "other"), 0);
	assert_int_equal(meets("192.0.2.3", "other"), 0);
	assert_waiting("");
}

TEST(what_a_snapshot_had_is_older)
{
	for (unsigned int i = 1; i <= 4; i++) {
		char text[32];

		snprintf(text, sizeof(text), "192.0.2.%u", i);
		assert_int_equal(put_again(text, "old", XB_AGAIN_OLDER), 1);
	}
	assert_int_equal(meets("192.0.2.1", NULL), 0);
	assert_int_equal(meets_former("192.0.2.2", NULL), 0);
	assert_int_equal(meets_until("192.0.2.3", 5), 0);
	assert_waiting("4+192.0.2.4 a (old)");
	assert_int_equal(put_again("192.0.2.4", "old", XB_AGAIN_ANOTHERS), 1);
	assert_int_equal(put_again("192.0.2.4", "old", XB_AGAIN_OLDER), 0);
	assert_int_equal(meets("192.0.2.4", NULL), 1);
}

/* The host had these changes of the log before it went back, and after them what it publishes. */
TEST(what_is_former_is_older)
{
	put_three_again();
	assert_int_equal(meets_former("192.0.2.1", "deleted since"), 1);
	assert_int_equal(meets_former("192.0.2.2", "renewed since"), 1);
	assert_int_equal(meets_former("192.0.2.3", NULL), 1);
	assert_int_equal(meets_former("192.0.2.3", "renewed since"), 1);
	assert_int_equal(meets_former("192.0.2.4", NULL), 0);
	assert_waiting("1-192.0.2.1 a; 2+192.0.2.2 a (mine); 3+192.0.2.3 a (another's)");
	assert_int_equal(meets_former("192.0.2.1", NULL), 0);
	assert_int_equal(meets_former("192.0.2.2", "mine"), 0);
	assert_int_equal(meets_former("192.0.2.3", "another's"), 0);
	commit_and_go_on();
	assert_waiting("");
}

/* What was done, undone and done again in the same terms, of which the log has lost the last. */
TEST(a_former_change_of_the_same_terms)
{
	put_three_again();
	assert_int_equal(meets_former("192.0.2.1", NULL), 0);
	assert_int_equal(meets_former("192.0.2.1", "undone"), 1);
	assert_int_equal(meets_former("192.0.2.2", "mine"), 0);
	assert_int_equal(meets_former("192.0.2.2", NULL), 1);
	assert_int_equal(meets_former("192.0.2.3", "another's"), 0);
	assert_int_equal(meets("192.0.2.3", NULL), 0);
	commit_and_go_on();
	assert_waiting("1-192.0.2.1 a; 2+192.0.2.2 a (mine)");
	assert_waits("192.0.2.3", 0);
	/* The log has all of it after all. */
	assert_int_equal(meets_former("192.0.2.1", NULL), 0);
	assert_int_equal(meets_former("192.0.2.1", "undone"), 1);
	assert_int_equal(meets_former("192.0.2.1", NULL), 0);
	commit_and_go_on();
	assert_waiting("2+192.0.2.2 a (mine)");
}

/* The log has the first of these, and lacks entries that this host had behind it: the last may be
 * among them. */
TEST(a_former_change_while_others_are_missing)
{
	put_three_again();
	for (unsigned int piece = 0; piece < 2; piece++) {
		xb_outbox_misses(txn, true);
		assert_int_equal(meets_former("192.0.2.1", NULL), 0);
		assert_int_equal(meets_former("192.0.2.2", "mine"), 0);
		assert_int_equal(meets_former("192.0.2.3", "another's"), 0);
		assert_int_equal(meets("192.0.2.3", NULL), 1);
		commit_and_go_on();
		assert_waiting("1-192.0.2.1 a; 2+192.0.2.2 a (mine); 3+192.0.2.3 a (another's)");
	}
	/* A mark is good for one write. */
	commit_and_go_on();
	assert_waiting("1-192.0.2.1 a; 2+192.0.2.2 a (mine); 3+192.0.2.3 a (another's)");
	assert_int_equal(meets_former("192.0.2.2", "mine"), 0);
	commit_and_go_on();
	assert_waiting("1-192.0.2.1 a; 3+192.0.2.3 a (another's)");
}

TEST(what_is_published_again_is_no_newer)
{
	commit_change("192.0.2.1 a");
	assert_int_equal(put_again("192.0.2.1", "old", XB_AGAIN_OWN), 0);
	assert_int_equal(put_again("192.0.2.1", NULL, XB_AGAIN_OWN), 0);
	assert_int_equal(meets("192.0.2.1", NULL), 1);
	assert_int_equal(put_again("192.0.2.2", "same", XB_AGAIN_ANOTHERS), 1);
	assert_int_equal(put_again("192.0.2.2", "same", XB_AGAIN_OWN), 1);
	assert_int_equal(put_again("192.0.2.2", "same", XB_AGAIN_ANOTHERS), 0);
	assert_int_equal(meets("192.0.2.2", NULL), 1);
	assert_waiting("1+192.0.2.1 a; 2+192.0.2.2 a (same)");
	/* What is changed here now is new, and later than such a delete. */
	assert_int_equal(put_again("192.0.2.3", NULL, XB_AGAIN_OWN), 1);
	commit_change("192.0.2.3 a");
	assert_int_equal(meets("192.0.2.3", "other"), 1);
	assert_waiting("1+192.0.2.1 a; 2+192.0.2.2 a (same); 4+192.0.2.3 a");
}

EACH_TEST(begin_shared, end_txn);
