/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The limits that are wanted: each keeps its number, a filter is built for every change, and what
 * was damaged is told. */
#include "store/limits.h"
#include "support/cmocka.h"
#include "support/scratch_txn.h"

static struct xb_limit limit_of(const char *name)
{
	struct xb_limit limit = {
		.counts = true,
		.bits4 = 24,
		.bits6 = 48,
		.of = XB_LIMIT_QUERIES,
		.period = 60,
		.rate = 100,
		.burst = 7,
		.capacity = 1000,
		.list = "a-list-of-64-characters-or-bytes-that-is-as-long-as-they-can-be.",
		.timeout = 600,
		.longest = 86400,
		.forgeable = true,
		.known = 10,
		.scope = {2, {{XB_SERVICE_TCP, 53, 53}, {XB_SERVICE_UDP, 53, 53}}},
	};

	strcpy(limit.name, name);
	return limit;
}

static void put(const char *name)
{
	struct xb_limit limit = limit_of(name);

	assert_int_equal(xb_limits_put(txn, &limit), 0);
}

static void take_out(const char *name, bool expected)
{
	bool found = !expected;

	assert_int_equal(xb_limits_remove(txn, name, &found), 0);
	assert_int_equal(found, expected);
}

static uint32_t number_of(const char *name)
{
	struct xb_limits_wanted wanted;

	assert_int_equal(xb_limits_get(txn, &wanted), 0);
	return xb_limits_find(&wanted, name);
}

static uint32_t count(void)
{
	struct xb_limits_wanted wanted;

	assert_int_equal(xb_limits_get(txn, &wanted), 0);
	return xb_limits_count(&wanted);
}

TEST(all_of_it_comes_back)
{
	const struct xb_limit limit = limit_of("a-name-of-32-characters-or-bytes");
	struct xb_limits_wanted wanted;
	const struct xb_limit *found = &wanted.limit[1];

	assert_int_equal(count(), 0);
	assert_int_equal(xb_limits_put(txn, &limit), 0);
	commit_and_go_on();
	assert_int_equal(xb_limits_get(txn, &wanted), 0);
	assert_int_equal(xb_limits_count(&wanted), 1);
	assert_string_equal(found->name, limit.name);
	assert_int_equal(found->counts, limit.counts);
	assert_int_equal(found->bits4, limit.bits4);
	assert_int_equal(found->bits6, limit.bits6);
	assert_int_equal(found->of, limit.of);
	assert_int_equal(found->period, limit.period);
	assert_int_equal(found->rate, limit.rate);
	assert_int_equal(found->burst, limit.burst);
	assert_int_equal(found->capacity, limit.capacity);
	assert_string_equal(found->list, limit.list);
	assert_int_equal(found->timeout, limit.timeout);
	assert_int_equal(found->longest, limit.longest);
	assert_int_equal(found->forgeable, limit.forgeable);
	assert_int_equal(found->known, limit.known);
	assert_true(xb_scope_equals(&found->scope, &limit.scope));
}

/* Whether any has to do with known sources. */
TEST(known)
{
	struct xb_limits_wanted wanted;
	struct xb_limit limit = limit_of("a");

	limit.known = 1;
	assert_int_equal(xb_limits_put(txn, &limit), 0);
	assert_int_equal(xb_limits_get(txn, &wanted), 0);
	assert_false(xb_limits_know(&wanted));
	strcpy(limit.name, "b");
	limit.known = XB_LIMIT_EXEMPT;
	assert_int_equal(xb_limits_put(txn, &limit), 0);
	assert_int_equal(xb_limits_get(txn, &wanted), 0);
	assert_true(xb_limits_know(&wanted));
	take_out("b", true);
	assert_int_equal(xb_limits_get(txn, &wanted), 0);
	assert_false(xb_limits_know(&wanted));
}

/* The first free one, and that of the name if there is one. */
TEST(numbers)
{
	struct xb_limits_wanted wanted;
	struct xb_limit limit = limit_of("b");

	put("a");
	put("b");
	put("c");
	take_out("a", true);
	assert_int_equal(number_of("a"), 0);
	assert_int_equal(number_of("b"), 2);
	limit.rate = 5;
	assert_int_equal(xb_limits_put(txn, &limit), 0);
	assert_int_equal(xb_limits_get(txn, &wanted), 0);
	assert_int_equal(wanted.limit[2].rate, 5);
	assert_int_equal(xb_limits_count(&wanted), 2);
	assert_int_equal(xb_limits_place(&wanted, &limit), 2);
	strcpy(limit.name, "d");
	assert_int_equal(xb_limits_place(&wanted, &limit), 1);
	assert_int_equal(number_of("d"), 0);
	put("d");
	assert_int_equal(number_of("d"), 1);
	assert_int_equal(number_of(""), 0);
	take_out("", false);
	take_out("nobody", false);
}

TEST(fifteen)
{
	struct xb_limit limit = limit_of("one-more");
	char name[8];

	for (int i = 1; i < XB_LIMITS; i++) {
		snprintf(name, sizeof(name), "l%d", i);
		put(name);
		assert_int_equal(number_of(name), i);
	}
	assert_int_equal(xb_limits_put(txn, &limit), -EINVAL);
	assert_string_equal(xb_error_message(), "there can be 15 limits, and no more");
	xb_error_clear();
	put("l7");
	take_out("l7", true);
	assert_int_equal(xb_limits_put(txn, &limit), 0);
	assert_int_equal(number_of("one-more"), 7);
	assert_int_equal(count(), 15);
}

/* Only what is new or changed is stricter than before. */
TEST(a_filter_is_built)
{
	put("a");
	assert_true(txn->change.bulk && txn->change.tightens);
	commit_and_go_on();
	take_out("b", false);
	assert_false(xb_changes_any(&txn->change));
	take_out("a", true);
	assert_true(txn->change.bulk);
	assert_false(txn->change.tightens);
}

static void write_instead(const void *bytes, size_t size)
{
	MDB_val key = {strlen("limit-1"), "limit-1"}, value = {size, (void *)(uintptr_t)bytes};

	assert_int_equal(mdb_put(txn->txn, store->meta, &key, &value, 0), 0);
}

TEST(damage_is_told)
{
	MDB_val key = {strlen("limit-1"), "limit-1"}, value;
	struct xb_limits_wanted wanted;
	uint8_t bytes[512];
	size_t size;

	put("a");
	assert_int_equal(mdb_get(txn->txn, store->meta, &key, &value), 0);
	size = value.mv_size;
	assert_in_range(size, 1, sizeof(bytes));
	memcpy(bytes, value.mv_data, size);
	write_instead(bytes, size - 1);
	assert_told(xb_limits_get(txn, &wanted));
	for (size_t bit = 0; bit < size * 8; bit += 5) {
		bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ 1U << bit % 8);
		write_instead(bytes, size);
		assert_told(xb_limits_get(txn, &wanted));
		bytes[bit / 8] = (uint8_t)(bytes[bit / 8] ^ 1U << bit % 8);
	}
	write_instead(bytes, size);
	assert_int_equal(xb_limits_get(txn, &wanted), 0);
}

EACH_TEST(begin_txn, end_txn);
