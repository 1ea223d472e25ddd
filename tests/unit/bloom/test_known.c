/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of known sources on plain memory: what a turn keeps, writers beside it, rate and number of
 * sources against the model. */
#include <math.h>
#include <pthread.h>
#include <sched.h>

#include "bloom/sizing.h"
#include "support/amount.h"
#include "support/cmocka.h"

static const struct xb_key key = {.a = 0x0123456789abcdef, .b = 0xfedcba9876543210};

struct table {
	struct xb_known_line *line;
	uint32_t lines;
};

static struct table make(uint32_t lines)
{
	struct table table = {aligned_alloc(64, lines * sizeof(struct xb_known_line)), lines};

	assert_non_null(table.line);
	memset(table.line, 0, lines * sizeof(struct xb_known_line));
	return table;
}

static struct xb_known_line *line_of(const struct table *table, uint32_t address,
				     struct xb_probes *probes)
{
	*probes = xb_probes_of(&key, xb_known_hash_ipv4(&key, address));
	return &table->line[xb_scale(probes->place, table->lines)];
}

static enum xb_known_put put(const struct table *table, uint32_t address, uint32_t now)
{
	struct xb_probes probes;
	struct xb_known_line *line = line_of(table, address, &probes);

	return xb_known_line_put(line, &probes, now, xb_known_put_bit);
}

static int has(const struct table *table, uint32_t address, uint32_t now)
{
	struct xb_probes probes;
	const struct xb_known_line *line = line_of(table, address, &probes);

	return xb_known_line_has(line, &probes, now);
}

/* Known in its period and the next one, whatever their numbers are, and also to a reader that a
 * turn has overtaken. */
TEST(two_periods)
{
	for (uint32_t now = 0; now < 600; now++) {
		struct table table = make(1);

		put(&table, 8, now - 1); /* somebody is always there before */
		assert_int_equal(put(&table, 7, now), XB_KNOWN_IS_NEW);
		assert_int_equal(put(&table, 7, now), XB_KNOWN_WAS_THERE);
		assert_true(has(&table, 7, now - 1));
		assert_true(has(&table, 7, now));
		assert_true(has(&table, 7, now + 1));
		for (uint32_t later = 2; later < XB_KNOWN_AHEAD; later++)
			assert_false(has(&table, 7, now + later));
		free(table.line);
	}
}

/* A line that turns under others' sources keeps the former period, and no older one. */
TEST(a_turn_keeps_the_former)
{
	struct table table = make(1);

	for (uint32_t now = 100; now < 700; now++) {
		put(&table, now, now);
		assert_true(has(&table, now, now));
		assert_true(has(&table, now - 1, now) || now == 100);
		if (now > 101)
			assert_false(has(&table, now - 2, now));
	}
	free(table.line);
}

/* One who has the number of the former period still comes into a half that counts. */
TEST(a_late_one_is_known)
{
	struct table table = make(1);

	put(&table, 1, 5);
	put(&table, 2, 4);
	assert_true(has(&table, 1, 5) && has(&table, 2, 5));
	assert_false(has(&table, 2, 6));
	assert_true(has(&table, 1, 6));
	free(table.line);
}

TEST(a_renewed_one_stays)
{
	struct table table = make(16);

	for (uint32_t now = 0; now < 1000; now++) {
		put(&table, 42, now);
		put(&table, 1000 + now, now);
		assert_true(has(&table, 42, now));
	}
	free(table.line);
}

/* One who was held up over several turns does not take for forgotten what came meanwhile. */
TEST(a_writer_from_long_ago)
{
	struct table table = make(1);

	for (uint32_t behind = 1; behind < 10; behind++) {
		uint32_t now = 100 * behind;

		put(&table, 1, now);
		put(&table, 2, now - behind);
		assert_true(has(&table, 1, now));
	}
	free(table.line);
}

/* Periods that passed while nobody connected, and a clock that stands still. */
TEST(the_clock_turns)
{
	uint64_t period = (uint64_t)1000 << 32 | 7;

	assert_true(xb_known_next(period, 100, 999) == period);
	assert_true(xb_known_next(period, 100, 1000) == ((uint64_t)1100 << 32 | 8));
	assert_true(xb_known_next(period, 100, 1199) == ((uint64_t)1200 << 32 | 9));
	assert_true(xb_known_next(period, 100, 1000000) == ((uint64_t)1000100 << 32 | 10));
	assert_true(xb_known_next(period, 0, 1000000) == period);
}

#define WRITERS 2
#define EACH	(uint32_t) amount(200000, 1000000)

/* What two writers share with the clock. */
struct race {
	struct table table;
	struct xb_known known;
	int done, enough; /* writers that have ended; there were many turns */
};

struct writer {
	struct race *race;
	uint32_t first;
	uint64_t lost, seen;
};

/* The kernel's order: the period is read, then the bits are set, and a turn may come between. At
 * that moment the source is known, and one period later it is still. */
static uint32_t period_of(const struct race *race)
{
	return (uint32_t)__atomic_load_n(&race->known.period, __ATOMIC_SEQ_CST);
}

static void *write_all(void *context)
{
	struct writer *writer = context;
	struct race *race = writer->race;

	for (uint32_t i = 0; i < EACH || !__atomic_load_n(&race->enough, __ATOMIC_SEQ_CST); i++) {
		uint32_t address = writer->first + i, now = period_of(race);
		enum xb_known_put done = put(&race->table, address, now);
		int found = has(&race->table, address, period_of(race));

		/* Periods last hours: nobody is behind by two of them but here. */
		if (period_of(race) - now > 1)
			continue;
		writer->lost += done == XB_KNOWN_NO_PLACE || !found;
		writer->seen++;
	}
	__atomic_fetch_add(&race->done, 1, __ATOMIC_SEQ_CST);
	return NULL;
}

TEST(no_writer_loses)
{
	struct race race = {.known = {.remember = 1}};
	struct writer writers[WRITERS];
	pthread_t threads[WRITERS];
	uint32_t second = 1;

	if (is_slowed())
		return;
	race.table = make(64);
	race.known.period = (uint64_t)second << 32;
	for (uint32_t i = 0; i < WRITERS; i++) {
		writers[i] = (struct writer){.race = &race, .first = i << 24};
		assert_int_equal(pthread_create(&threads[i], NULL, write_all, &writers[i]), 0);
	}
	while (__atomic_load_n(&race.done, __ATOMIC_SEQ_CST) < WRITERS) {
		xb_known_turn(&race.known, second++);
		__atomic_store_n(&race.enough, second > 3000, __ATOMIC_SEQ_CST);
		sched_yield();
	}
	for (uint32_t i = 0; i < WRITERS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(writers[i].lost, 0);
		assert_true(writers[i].seen > EACH / 2);
	}
	printf("%u turns\n", second);
	free(race.table.line);
}

#define STRANGERS (uint32_t) amount(2000000, 20000000)

/* Both periods full: strangers pass as often as promised, and the bits tell how many are known. */
static void rate_is_kept(double rate)
{
	const uint32_t capacity = 200000;
	struct table table;
	uint32_t lines, found = 0;
	uint64_t bits = 0;
	double share, guess;

	assert_int_equal(xb_size_known(capacity, rate, &lines), 0);
	table = make(lines);
	for (uint32_t i = 0; i < 2 * capacity; i++)
		put(&table, i, 1 + i / capacity);
	for (uint32_t i = 0; i < 2 * capacity; i++)
		assert_true(has(&table, i, 2));
	for (uint32_t i = 0; i < STRANGERS; i++)
		found += (uint32_t)has(&table, 0x80000000 + i, 2);
	for (uint32_t i = 0; i < lines; i++)
		for (uint32_t j = 0; j < XB_KNOWN_WORDS; j++)
			bits += (uint64_t)__builtin_popcountll(table.line[i].word[j] &
							       xb_known_half(2));
	share = found / (double)STRANGERS;
	guess = xb_known_sources(bits, lines);
	printf("rate %g: %g, %u lines, %.0f of %u sources by the bits\n", rate, share, lines, guess,
	       capacity);
	assert_true(share < 1.1 * rate && share > 0.9 * rate);
	assert_true(fabs(guess / capacity - 1) < 0.01);
	free(table.line);
}

TEST(rates_are_kept)
{
	rate_is_kept(1e-2);
	if (!is_slowed())
		rate_is_kept(1e-3);
}

TEST(sizes)
{
	uint32_t small, large;

	assert_int_equal(xb_size_known(1, 0.1, &small), 0);
	assert_int_equal(small, 1);
	assert_int_equal(xb_size_known(1000000, 1e-4, &large), 0);
	assert_int_equal(xb_size_known(1000000, 1e-3, &small), 0);
	assert_true(large > small);
	assert_int_not_equal(xb_size_known(UINT64_MAX, 1e-3, &small), 0);
	assert_true(xb_known_sources(0, 100) < 1e-9);
	assert_true(isfinite(xb_known_sources(UINT64_MAX, 100)));
}

/* --- handshakes of a source ------------------------------------------------------------------- */

TEST(handshakes_in_windows)
{
	struct xb_met met = {0};

	for (uint32_t i = 0; i < 5; i++)
		xb_met_count(&met, 7200);
	assert_int_equal(xb_met_handshakes(&met, 0, 7200), 5);
	xb_met_count(&met, 7201);
	xb_met_count(&met, 7201);
	assert_int_equal(xb_met_handshakes(&met, 0, 7201), 5);
	assert_int_equal(xb_met_handshakes(&met, 0, 7202), 2);
	assert_int_equal(xb_met_handshakes(&met, 0, 7203), 0);
	assert_int_equal(xb_met_handshakes(&met, 1, 7203), 7);
	assert_int_equal(xb_met_handshakes(&met, 1, 7319), 7);
	assert_int_equal(xb_met_handshakes(&met, 1, 7320), 0);
	assert_int_equal(xb_met_handshakes(&met, 2, 7320), 7);
	assert_int_equal(xb_met_handshakes(&met, 2, 14399), 7);
	assert_int_equal(xb_met_handshakes(&met, 2, 14400), 0);
}

/* Between windows nothing is counted twice, and what was long ago does not count. */
TEST(windows_that_were_left_out)
{
	struct xb_met met = {0};

	xb_met_count(&met, 100);
	xb_met_count(&met, 1000000);
	assert_int_equal(xb_met_handshakes(&met, 0, 1000000), 1);
	assert_int_equal(xb_met_handshakes(&met, 1, 1000000), 1);
	assert_int_equal(xb_met_handshakes(&met, 2, 1000000), 1);
	assert_int_equal(met.window[2].before, 0);
}
