/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When memberships end: the edges of time, what a sweep takes out, what a reader overlooks, damage
 * of the index. */
#include "store/expiry.h"
#include "support/cmocka.h"
#include "support/listed.h"
#include "support/scratch_txn.h"

TEST(times)
{
	uint32_t expires = 7;

	assert_int_equal(xb_expiry_after(1000, 0, &expires), 0);
	assert_int_equal(expires, 0);
	assert_int_equal(xb_expiry_after(1000, 1, &expires), 0);
	assert_int_equal(expires, 1001);
	assert_int_equal(xb_expiry_after(UINT32_MAX - 5, 5, &expires), 0);
	assert_int_equal(expires, UINT32_MAX);
	assert_int_equal(xb_expiry_after(UINT32_MAX - 5, 6, &expires), -EINVAL);
	assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	xb_error_clear();
	assert_int_equal(xb_expiry_after(UINT32_MAX, UINT32_MAX, &expires), -EINVAL);
	xb_error_clear();
	assert_int_equal(xb_expiry_after(UINT32_MAX, 0, &expires), 0);
	assert_int_equal(expires, 0);
}

/* Of every kind, and times that are in order as big-endian numbers only. */
static void fill(void)
{
	change_lists(txn,
		     "192.0.2.0/24 a until 256; 192.0.2.1 a until 255 b until 257; 2001:db8::1 a "
		     "until 65536; a.example a until 1; =b.example a until 4294967295; !192.0.2.1 "
		     "allow until 256; !c.example allow until 256; 192.0.2.9 a");
	commit_and_go_on();
}

static void assert_sweep(uint32_t now, uint64_t expected, const char *left)
{
	uint64_t count = 99;

	assert_int_equal(xb_expiry_sweep(txn, now, &count), 0);
	assert_int_equal(count, expected);
	assert_store(txn, left);
}

TEST_WITH(a_sweep_takes_out_what_is_due, begin_txn, end_txn)
{
	assert_sweep(UINT32_MAX, 0, "");
	fill();
	assert_sweep(0, 0,
		     "192.0.2.0/24 a until 256; 192.0.2.1 a until 255 b until 257; 192.0.2.9 a; "
		     "2001:db8::1 a until 65536; a.example a until 1; "
		     "=b.example a until 4294967295; "
		     "!192.0.2.1 allow until 256; !c.example allow until 256");
	assert_sweep(1, 1,
		     "192.0.2.0/24 a until 256; 192.0.2.1 a until 255 b until 257; 192.0.2.9 a; "
		     "2001:db8::1 a until 65536; =b.example a until 4294967295; "
		     "!192.0.2.1 allow until 256; !c.example allow until 256");
	assert_sweep(255, 1,
		     "192.0.2.0/24 a until 256; 192.0.2.1 b until 257; 192.0.2.9 a; "
		     "2001:db8::1 a until 65536; =b.example a until 4294967295; "
		     "!192.0.2.1 allow until 256; !c.example allow until 256");
	assert_sweep(256, 3,
		     "192.0.2.1 b until 257; 192.0.2.9 a; "
		     "2001:db8::1 a until 65536; =b.example a until 4294967295");
	assert_int_equal(txn->meta.totals.allow, 0);
	assert_null(xb_list_find(txn, "allow"));
	assert_int_equal(xb_expiry_sweep(txn, 65535, NULL), 0);
	assert_store(txn, "192.0.2.9 a; 2001:db8::1 a until 65536; =b.example a until 4294967295");
	assert_sweep(UINT32_MAX, 2, "192.0.2.9 a");
	assert_int_equal(xb_list_find(txn, "a")->members, 1);
}

/* Those that ended first, in the order of lists and entries. */
TEST_WITH(a_sweep_may_stop_early, begin_txn, end_txn)
{
	uint64_t count = 99;

	fill();
	assert_int_equal(xb_expiry_sweep_some(txn, 256, 0, &count), 0);
	assert_int_equal(count, 0);
	assert_int_equal(xb_expiry_sweep_some(txn, 256, 2, &count), 0);
	assert_int_equal(count, 2);
	assert_store(txn, "192.0.2.0/24 a until 256; 192.0.2.1 b until 257; 192.0.2.9 a; "
			  "2001:db8::1 a until 65536; =b.example a until 4294967295; "
			  "!192.0.2.1 allow until 256; !c.example allow until 256");
	assert_int_equal(xb_expiry_sweep_some(txn, 256, 99, &count), 0);
	assert_int_equal(count, 3);
	assert_store(txn, "192.0.2.1 b until 257; 192.0.2.9 a; "
			  "2001:db8::1 a until 65536; =b.example a until 4294967295");
}

static void assert_settled(const char *text, uint32_t now, uint64_t expected)
{
	struct xb_entry entry = entry_of(text);
	uint64_t count = 10;

	assert_int_equal(xb_expiry_settle(txn, &entry, now, &count), 0);
	assert_int_equal(count, 10 + expected);
}

TEST_WITH(an_entry_is_settled_by_itself, begin_txn, end_txn)
{
	fill();
	assert_settled("192.0.2.1", 254, 0);
	assert_settled("192.0.2.1", 255, 1);
	assert_settled("192.0.2.77", UINT32_MAX, 0);
	assert_settled("192.0.2.9", UINT32_MAX, 0);
	list_with(txn, "192.0.2.1", "a", 257, NULL);
	assert_settled("192.0.2.1", 300, 2);
	assert_settled("a.example", 300, 1);
	assert_settled("!c.example", 300, 1);
	assert_store(txn, "192.0.2.0/24 a until 256; 192.0.2.9 a; 2001:db8::1 a until 65536; "
			  "=b.example a until 4294967295; !192.0.2.1 allow until 256");
	assert_sweep(300, 2,
		     "192.0.2.9 a; 2001:db8::1 a until 65536; =b.example a until 4294967295");
}

TEST_WITH(a_renewal_moves_the_end, begin_txn, end_txn)
{
	struct xb_entry entry = entry_of("192.0.2.1");
	struct xb_membership member = {.added = 1, .expires = 700};
	enum xb_put put;

	list_with(txn, "192.0.2.1", "a", 500, NULL);
	member.list = list_of(txn, "a")->id;
	assert_int_equal(xb_member_put(txn, &entry, &member, XB_RENEW_EXPIRY, &put), 0);
	assert_sweep(699, 0, "192.0.2.1 a until 700");
	member.expires = 0;
	assert_int_equal(xb_member_put(txn, &entry, &member, XB_RENEW_EXPIRY, &put), 0);
	assert_sweep(UINT32_MAX, 0, "192.0.2.1 a");
}

/* What a reader sees is what a sweep would leave. */
TEST_WITH(to_overlook_is_to_sweep, begin_txn, end_txn)
{
	static const uint32_t times[] = {0, 1, 255, 256, 257, 65536, UINT32_MAX};

	fill();
	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		uint64_t overlooked = 99, swept;
		struct xb_txn *reader;

		assert_int_equal(xb_store_read(store, &reader), 0);
		assert_int_equal(xb_expiry_overlook(reader, times[i], &overlooked), 0);
		assert_int_equal(xb_expiry_sweep(txn, times[i], &swept), 0);
		assert_int_equal(overlooked, swept);
		assert_memory_equal(&reader->meta.totals, &txn->meta.totals,
				    sizeof(txn->meta.totals));
		for (const char *const *name = (const char *const[]){"a", "b", "allow", NULL};
		     *name; name++)
			assert_int_equal(xb_list_by_name(reader, *name)->members,
					 xb_list_by_name(txn, *name)->members);
		xb_txn_abort(reader);
		xb_txn_abort(txn);
		assert_int_equal(xb_store_write(store, &txn), 0);
	}
}

/* Nothing that has expired is seen, however much of it is still counted. */
TEST_WITH(counts_may_lag_behind, begin_txn, end_txn)
{
	uint64_t members, count;
	struct xb_txn *reader;

	fill();
	members = list_of(txn, "a")->members;
	assert_int_equal(xb_store_read(store, &reader), 0);
	assert_int_equal(xb_expiry_overlook_some(reader, 256, 1, &count), 0);
	assert_int_equal(count, 1);
	assert_int_equal(xb_list_find(reader, "a")->members, members - 1);
	assert_store(reader, "192.0.2.0/24; 192.0.2.1 b until 257; 192.0.2.9 a; "
			     "2001:db8::1 a until 65536; a.example; "
			     "=b.example a until 4294967295; !192.0.2.1; !c.example");
	xb_txn_abort(reader);
}

TEST_WITH(what_is_overlooked_has_no_lists, begin_txn, end_txn)
{
	struct xb_members members;
	struct xb_txn *reader;
	struct xb_entry entry;
	uint64_t count;

	fill();
	assert_int_equal(xb_store_read(store, &reader), 0);
	assert_int_equal(xb_expiry_overlook(reader, 256, &count), 0);
	assert_int_equal(count, 5);
	assert_store(reader, "192.0.2.0/24; 192.0.2.1 b until 257; 192.0.2.9 a; "
			     "2001:db8::1 a until 65536; a.example; "
			     "=b.example a until 4294967295; !192.0.2.1; !c.example");
	entry = entry_of("a.example");
	assert_int_equal(xb_members_of(reader, &entry, &members), 0);
	assert_false(xb_members_any(members));
	assert_null(xb_list_find(reader, "allow"));
	xb_txn_abort(reader);
}
