/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How long a source stays in the list of its limit when it comes there again. */
#include "bloomd/limits/offences.h"
#include "support/cmocka.h"
#include "support/entryof.h"

#define FIRST  600
#define OTHERS 20000

static struct xb_limit limit = {.timeout = FIRST, .longest = 5000};
static struct offences *offences;

static int begin(void **state)
{
	offences = offences_new();
	return offences ? 0 : -1;
}

static int end(void **state)
{
	offences_free(offences);
	return 0;
}

static void assert_timeout(uint64_t identity, const char *source, uint32_t now, uint32_t wanted)
{
	const struct xb_entry entry = entry_of(source);

	assert_int_equal(offences_timeout(offences, identity, &limit, &entry, now), wanted);
}

static void note(uint64_t identity, const char *source, uint32_t timeout, uint32_t now)
{
	const struct xb_entry entry = entry_of(source);

	offences_note(offences, identity, &limit, &entry, timeout, now);
}

TEST(it_doubles_up_to_the_longest)
{
	static const uint32_t wanted[] = {600, 1200, 2400, 4800, 5000, 5000};
	uint32_t now = 1000;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		assert_timeout(1, "192.0.2.1", now, wanted[i]);
		note(1, "192.0.2.1", wanted[i], now);
		now += wanted[i] + 1;
	}
	/* Each source, and each limit, for itself. */
	assert_timeout(1, "192.0.2.2", now, FIRST);
	assert_timeout(2, "192.0.2.1", now, FIRST);
	assert_timeout(1, "2001:db8::/64", now, FIRST);
}

TEST(who_stays_away_is_new)
{
	note(1, "192.0.2.1", FIRST, 1000);
	assert_timeout(1, "192.0.2.1", 1000 + FIRST + 4999, 2 * FIRST);
	assert_timeout(1, "192.0.2.1", 1000 + FIRST + 5000, FIRST);
}

TEST(a_limit_that_was_changed)
{
	note(1, "192.0.2.1", 4800, 1000);
	limit.longest = 700;
	assert_timeout(1, "192.0.2.1", 1001, 700);
	limit.timeout = limit.longest = 60;
	assert_timeout(1, "192.0.2.1", 1001, 60);
	note(1, "192.0.2.1", 60, 1002);
	limit = (struct xb_limit){.timeout = FIRST, .longest = 5000};
	assert_timeout(1, "192.0.2.1", 1003, FIRST);
}

TEST(many_sources)
{
	struct xb_entry source = {.kind = XB_HOST4, .length = 32};

	for (uint32_t i = 0; i < OTHERS; i++) {
		source.hi = (uint64_t)i << 32;
		offences_note(offences, 3, &limit, &source, FIRST + i, 1000);
	}
	for (uint32_t i = 0; i < OTHERS; i++) {
		uint32_t twice = 2 * (FIRST + i);

		source.hi = (uint64_t)i << 32;
		assert_int_equal(offences_timeout(offences, 3, &limit, &source, 1001),
				 twice < 5000 ? twice : 5000);
	}
}

EACH_TEST(begin, end);
ALL_TESTS(NULL, NULL);
