/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A limit as a whole: the burst that it has by itself, and what no limit may be. As text:
 * test_texts. */
#include "base/error.h"
#include "model/limit.h"
#include "support/cmocka.h"

#define BYTES XB_LIMIT_BYTES

static struct xb_limit limit_of(enum xb_limit_unit of, uint64_t rate, uint32_t period,
				uint64_t burst)
{
	struct xb_limit limit = xb_limit_defaults;

	strcpy(limit.name, "x");
	limit.of = of;
	limit.rate = rate;
	limit.period = period;
	limit.burst = burst;
	return limit;
}

TEST(burst_by_itself)
{
	static const struct {
		enum xb_limit_unit of;
		uint64_t rate;
		uint32_t period;
		uint64_t burst;
	} rows[] = {
		{XB_LIMIT_PACKETS, 100, 1, 200},
		{XB_LIMIT_QUERIES, 2, 1, 5},
		{XB_LIMIT_PACKETS, 3, 1, 6},
		{XB_LIMIT_CONNECTIONS, 600, 60, 20},
		{XB_LIMIT_PACKETS, 1, 3600, 5},
		{XB_LIMIT_PACKETS, 10000000, 1, 1 << 20},
		{BYTES, 1000000, 1, 2000000},
		{BYTES, 1000, 1, 65536},
		{BYTES, 100000000000, 1, 200000000000},
		{BYTES, UINT64_MAX, 3600, 1000000000000},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (xb_limit_burst_for(rows[i].of, rows[i].rate, rows[i].period) != rows[i].burst)
			fail_msg("row %zu: %llu", i,
				 (unsigned long long)xb_limit_burst_for(rows[i].of, rows[i].rate,
									rows[i].period));
}

/* The most and the least of all that there are, and one beyond. */
static const struct {
	enum xb_limit_unit of;
	uint64_t rate;
	uint32_t period;
	uint64_t burst, capacity;
	const char *message; /* part of it; NULL: it is right */
} bounds[] = {
	{XB_LIMIT_PACKETS, 1, 1, 1, 1, NULL},
	{XB_LIMIT_PACKETS, 1, 3600, 24, 1, NULL},
	{XB_LIMIT_PACKETS, 1, 3600, 25, 1, "more than a day"},
	{XB_LIMIT_PACKETS, 12, 1, 1 << 20, 1, "more than a day"},
	{XB_LIMIT_PACKETS, 13, 1, 1 << 20, 1, NULL},
	{XB_LIMIT_PACKETS, 13, 1, (1 << 20) + 1, 1, "a burst is 1 to 1048576 packets"},
	{XB_LIMIT_QUERIES, 10000000, 1, 200000, 1, NULL},
	{XB_LIMIT_QUERIES, 10000000, 1, 199999, 1, "less than 20 ms"},
	{XB_LIMIT_QUERIES, 10000001, 1, 5, 1, "at most 10000000 queries a second"},
	{XB_LIMIT_QUERIES, 600000000, 60, 200000, 1, NULL},
	{XB_LIMIT_QUERIES, 600000001, 60, 5, 1, "at most 10000000 queries a second"},
	{XB_LIMIT_QUERIES, 36000000000, 3600, 200000, 1, NULL},
	{XB_LIMIT_QUERIES, 36000000001, 3600, 5, 1, "at most 10000000 queries a second"},
	{XB_LIMIT_QUERIES, UINT64_MAX, 3600, 5, 1, "at most 10000000 queries a second"},
	{BYTES, 100000000000, 1, 2000000000, 1, NULL},
	{BYTES, 100000000001, 1, 65536, 1, "at most 100000000000 bytes a second"},
	{BYTES, 1000, 1, 65535, 1, "a burst is at least 65536 bytes"},
	{BYTES, 1, 1, 86400, 1, NULL},
	{BYTES, 1, 1, 86401, 1, "more than a day"},
	{BYTES, 100, 3600, 65536, 1, "more than a day"},
	{XB_LIMIT_PACKETS, 1, 1, 1, 50000000, NULL},
	{XB_LIMIT_PACKETS, 1, 1, 1, 50000001, "a capacity is 1 to 50000000 sources"},
	{XB_LIMIT_PACKETS, 1, 1, 1, 0, "a capacity is 1 to 50000000 sources"},
	{XB_LIMIT_PACKETS, 0, 1, 1, 1, "a rate is at most"},
};

TEST(bounds_of_all)
{
	for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
		struct xb_limit limit =
			limit_of(bounds[i].of, bounds[i].rate, bounds[i].period, bounds[i].burst);
		int error;

		limit.capacity = bounds[i].capacity;
		xb_error_clear();
		error = xb_limit_complete(&limit);
		if (error != (bounds[i].message ? -EINVAL : 0))
			fail_msg("row %zu: %d, %s", i, error, xb_error_message());
		if (bounds[i].message && !strstr(xb_error_message(), bounds[i].message))
			fail_msg("row %zu: %s", i, xb_error_message());
		assert_int_equal(xb_limit_is_sound(&limit), !error);
	}
}

/* Only a burst that nobody asked for is set. */
TEST(complete)
{
	struct xb_limit limit = limit_of(XB_LIMIT_PACKETS, 100, 1, 0);

	assert_int_equal(xb_limit_complete(&limit), 0);
	assert_int_equal(limit.burst, 200);
	limit.burst = 7;
	assert_int_equal(xb_limit_complete(&limit), 0);
	assert_int_equal(limit.burst, 7);
	limit = limit_of(BYTES, 1, 3600, 0);
	assert_int_equal(xb_limit_complete(&limit), -EINVAL);
	assert_non_null(strstr(xb_error_message(), "more than a day"));
}

/* What goes with a limit of names, and with one that truncates. */
TEST(of_names)
{
	struct xb_limit right = limit_of(XB_LIMIT_QUERIES, 100, 1, 200), limit;

	assert_true(xb_limit_over_is_default(&right));
	assert_int_equal(xb_limit_parse_per("name", &right), 0);
	assert_false(xb_limit_over_is_default(&right));
	xb_limit_over_by_default(&right);
	assert_string_equal(xb_limit_over(&right), "truncate");
	assert_true(xb_limit_over_is_default(&right) && xb_limit_is_sound(&right));
	limit = right;
	limit.counts = true;
	assert_false(xb_limit_is_sound(&limit));
	limit = right;
	limit.of = XB_LIMIT_PACKETS;
	limit.truncates = false;
	assert_int_equal(xb_limit_check(&limit), -EINVAL);
	assert_string_equal(xb_error_message(), "only queries can be limited for each name");
	limit.names = false;
	assert_int_equal(xb_limit_check(&limit), 0);
	limit.truncates = true;
	assert_int_equal(xb_limit_check(&limit), -EINVAL);
	assert_string_equal(xb_error_message(), "only queries can be truncated");
	limit = right;
	limit.known = 10;
	assert_int_equal(xb_limit_check(&limit), -EINVAL);
	limit = right;
	strcpy(limit.list, "floods");
	limit.forgeable = true;
	assert_int_equal(xb_limit_check(&limit), -EINVAL);
	limit.names = false;
	assert_int_equal(xb_limit_check(&limit), 0);
}

TEST(what_is_unsound)
{
	const struct xb_limit right = limit_of(XB_LIMIT_PACKETS, 1, 1, 1);
	struct xb_limit limits[18];

	for (size_t i = 0; i < 18; i++)
		limits[i] = right;
	assert_true(xb_limit_is_sound(&right));
	limits[0].name[0] = '\0';
	memset(limits[1].name, 'x', XB_LIMIT_NAME);
	limits[2].bits4 = 33;
	limits[3].bits6 = 32;
	limits[4].of = XB_LIMIT_UNITS;
	limits[5].period = 61;
	limits[6].rate = 0;
	limits[7].burst = 0;
	limits[8].scope.count = XB_SCOPE_SERVICES + 1;
	limits[9].scope = (struct xb_scope){1, {{XB_SERVICE_TCP, 2, 1}}};
	limits[10].known = XB_LIMIT_KNOWN_MAX + 1;
	limits[11].known = UINT32_MAX;
	for (size_t i = 12; i < 18; i++) {
		strcpy(limits[i].list, "over");
		limits[i].forgeable = true;
	}
	assert_true(xb_limit_is_sound(&limits[12]));
	strcpy(limits[12].list, "a b");
	memset(limits[13].list, 'x', XB_LIMIT_LIST);
	limits[14].timeout = 0;
	limits[15].longest = limits[15].timeout - 1;
	limits[16].longest = XB_LIMIT_TIMEOUT_MAX + 1;
	limits[17].list[0] = '\0';
	for (size_t i = 0; i < 18; i++)
		if (xb_limit_is_sound(&limits[i]))
			fail_msg("row %zu is sound", i);
}

/* Which sources a list can have that nobody has forged. */
TEST(lists)
{
	static const struct {
		enum xb_limit_unit of;
		uint8_t bits4, bits6;
		bool forgeable, legal;
	} rows[] = {
		{XB_LIMIT_CONNECTIONS, 32, 64, false, true},
		{XB_LIMIT_CONNECTIONS, 32, 64, true, true},
		{XB_LIMIT_CONNECTIONS, 24, 64, false, false},
		{XB_LIMIT_CONNECTIONS, 32, 48, false, false},
		{XB_LIMIT_CONNECTIONS, 24, 48, true, true},
		{XB_LIMIT_PACKETS, 32, 64, false, false},
		{XB_LIMIT_PACKETS, 32, 64, true, true},
		{XB_LIMIT_QUERIES, 32, 64, false, false},
		{XB_LIMIT_BYTES, 32, 64, false, false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct xb_limit limit = limit_of(rows[i].of, 100000, 1, 200000);

		strcpy(limit.list, "over");
		limit.bits4 = rows[i].bits4;
		limit.bits6 = rows[i].bits6;
		limit.forgeable = rows[i].forgeable;
		if (xb_limit_is_sound(&limit) != rows[i].legal)
			fail_msg("row %zu: %s", i, xb_error_message());
	}
}

/* Of known sources: a factor, or any amount. */
TEST(known)
{
	struct xb_limit limit = limit_of(XB_LIMIT_PACKETS, 1, 1, 1);

	assert_int_equal(limit.known, 1);
	limit.known = XB_LIMIT_KNOWN_MAX;
	assert_true(xb_limit_is_sound(&limit));
	limit.known = XB_LIMIT_EXEMPT;
	assert_true(xb_limit_is_sound(&limit));
}
