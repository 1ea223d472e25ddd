/* SPDX-License-Identifier: GPL-2.0-or-later */
/* When memberships end: the edges of time, what a sweep takes out, what a reader overlooks. */
#include "store/expiry.h"
#include "support/cmocka.h"
#include "support/listed.h"
#include "support/scratch_txn.h"

TEST(times)
{
	static const struct {
		uint32_t now, after, expires; /* 0, though after is not: it is refused */
	} rows[] = {
		{1000, 0, 0},
		{1000, 1, 1001},
		{UINT32_MAX - 5, 5, UINT32_MAX},
		{UINT32_MAX - 5, 6, 0},
		{UINT32_MAX, UINT32_MAX, 0},
		{UINT32_MAX, 0, 0},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool refused = rows[i].after && !rows[i].expires;
		uint32_t expires = 7;

		xb_error_clear();
		assert_int_equal(xb_expiry_after(rows[i].now, rows[i].after, &expires),
				 refused ? -EINVAL : 0);
		if (refused)
			assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
		else
			assert_int_equal(expires, rows[i].expires);
	}
}

/* Of every kind, and times that are in order as big-endian numbers only. */
#define FILLED(first)                                                                              \
	"192.0.2.0/24 a until 256; 192.0.2.1 a until 255 b until 257; 192.0.2.9 a; "               \
	"2001:db8::1 a until 65536; " first "=b.example a until 4294967295; "                      \
	"!192.0.2.1 allow until 256; !c.example allow until 256"

static void fill(void)
{
	change_lists(txn, FILLED("a.example a until 1; "));
	commit_and_go_on();
}

static void assert_sweep(uint32_t now, uint64_t expected, const char *left)
{
	uint64_t count = 99;

	assert_int_equal(xb_expiry_sweep(txn, now, &count), 0);
	assert_int_equal(count, expected);
	assert_store(txn, left);
}

TEST(a_sweep_takes_out_what_is_due)
{
	assert_sweep(UINT32_MAX, 0, "");
	fill();
	assert_sweep(0, 0, FILLED("a.example a until 1; "));
	assert_sweep(1, 1, FILLED(""));
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

static void assert_sweep_some(uint64_t most, uint64_t expected, const char *left)
{
	uint64_t count = 99;

	assert_int_equal(xb_expiry_sweep_some(txn, 256, most, &count), 0);
	assert_int_equal(count, expected);
	assert_store(txn, left);
}

/* Those that ended first, in the order of lists and entries. */
TEST(a_sweep_may_stop_early)
{
	fill();
	assert_sweep_some(0, 0, FILLED("a.example a until 1; "));
	assert_sweep_some(2, 2,
			  "192.0.2.0/24 a until 256; 192.0.2.1 b until 257; 192.0.2.9 a; "
			  "2001:db8::1 a until 65536; =b.example a until 4294967295; "
			  "!192.0.2.1 allow until 256; !c.example allow until 256");
	assert_sweep_some(99, 3,
			  "192.0.2.1 b until 257; 192.0.2.9 a; "
			  "2001:db8::1 a until 65536; =b.example a until 4294967295");
}

static void assert_settled(const char *text, uint32_t now, uint64_t expected)
{
	struct xb_entry entry = entry_of(text);
	uint64_t count = 10;

	assert_int_equal(xb_expiry_settle(txn, &entry, now, &count), 0);
	assert_int_equal(count, 10 + expected);
}

TEST(an_entry_is_settled_by_itself)
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

TEST(a_renewal_moves_the_end)
{
	list_with(txn, "192.0.2.1", "a", 500, NULL);
	assert_int_equal(put_entry(txn, "192.0.2.1", "a", 700, NULL, XB_RENEW_EXPIRY),
			 XB_PUT_RENEWED);
	assert_sweep(699, 0, "192.0.2.1 a until 700");
	assert_int_equal(put_entry(txn, "192.0.2.1", "a", 0, NULL, XB_RENEW_EXPIRY),
			 XB_PUT_RENEWED);
	assert_sweep(UINT32_MAX, 0, "192.0.2.1 a");
}

/* What a reader sees is what a sweep would leave. */
TEST(to_overlook_is_to_sweep)
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
		abort_and_go_on();
	}
}

/* Nothing that has expired is seen, however much of it is still counted: of all five, or one. */
TEST(what_is_overlooked_has_no_lists)
{
	static const uint64_t mosts[] = {1, UINT64_MAX};

	for (size_t i = 0; i < 2; i++) {
		struct xb_members members;
		struct xb_txn *reader;
		struct xb_entry entry;
		uint64_t listed, count;

		fill();
		listed = list_of(txn, "a")->members;
		assert_int_equal(xb_store_read(store, &reader), 0);
		assert_int_equal(xb_expiry_overlook_some(reader, 256, mosts[i], &count), 0);
		assert_int_equal(count, i ? 5 : 1);
		assert_int_equal(xb_list_find(reader, "a")->members, listed - (i ? 3 : 1));
		assert_int_equal(xb_list_find(reader, "allow") == NULL, i);
		assert_store(reader, "192.0.2.0/24; 192.0.2.1 b until 257; 192.0.2.9 a; "
				     "2001:db8::1 a until 65536; a.example; "
				     "=b.example a until 4294967295; !192.0.2.1; !c.example");
		entry = entry_of("a.example");
		assert_int_equal(xb_members_of(reader, &entry, &members), 0);
		assert_false(xb_members_any(members));
		xb_txn_abort(reader);
	}
}

EACH_TEST(begin_txn, end_txn);
