/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How limits are kept: the ticks of every kind of limit, the cells of a source, whom many busy
 * sources hide, and which parameters are sound. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "filter/limitmap.h"
#include "filter/maps.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/rig.h"

#define SECOND 1000000000ULL
#define WRAP   4294967296.0 /* ticks */

/* ---- Limits of all kinds ---- */

static const struct {
	uint64_t rate;
	uint32_t period;
} packet_rates[] = {
	{1, 3600},     {7, 3600},     {1, 60},	       {3599, 3600},	    {1, 1},
	{3, 1},	       {100, 1},      {12345, 1},      {1000000, 1},	    {9999991, 1},
	{10000000, 1}, {1000003, 60}, {599999999, 60}, {36000000000, 3600},
};

static const uint64_t packet_bursts[] = {1,    2,    3,	   5,	  7,	  24,	  100,
					 204,  255,  256,  257,	  341,	  342,	  1000,
					 1023, 1024, 1025, 65536, 999999, 1048576};

static const struct {
	uint64_t rate;
	uint32_t period;
} byte_rates[] = {
	{2731, 3600},	{1000, 1},	  {65536, 60},	    {1000000, 1},      {12345679, 1},
	{125000000, 1}, {12500000000, 1}, {99999999977, 1}, {100000000000, 1}, {6000000000000, 60},
};

static const uint64_t byte_bursts[] = {65536,	     65537,	   100000,	1000000,
				       16777216,     250000000,	   25000000000, 150000000000,
				       999999999999, 1000000000000};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct xb_limit limit_of(enum xb_limit_unit of, uint64_t rate, uint32_t period,
				uint64_t burst)
{
	return (struct xb_limit){.name = "test",
				 .of = of,
				 .rate = rate,
				 .period = period,
				 .burst = burst,
				 .bits4 = 32,
				 .bits6 = 64,
				 .capacity = 1,
				 .known = 1};
}

typedef void each_limit(const struct xb_limit *limit, const struct xb_meter *meter);

static bool is_legal(const struct xb_limit *limit)
{
	bool legal = !xb_limit_check(limit);

	xb_error_clear();
	return legal;
}

static void each_of(each_limit *function, struct xb_limit limit, size_t *count)
{
	struct xb_meter meter;

	if (!is_legal(&limit))
		return;
	meter = xb_limitmap_meter(&limit);
	function(&limit, &meter);
	++*count;
}

static void each_packet_limit(each_limit *function)
{
	size_t count = 0;

	for (size_t i = 0; i < COUNT(packet_rates); i++)
		for (size_t j = 0; j < COUNT(packet_bursts); j++)
			each_of(function,
				limit_of(XB_LIMIT_PACKETS, packet_rates[i].rate,
					 packet_rates[i].period, packet_bursts[j]),
				&count);
	assert_in_range(count, 120, COUNT(packet_rates) * COUNT(packet_bursts));
}

static void each_byte_limit(each_limit *function)
{
	size_t count = 0;

	for (size_t i = 0; i < COUNT(byte_rates); i++)
		for (size_t j = 0; j < COUNT(byte_bursts); j++)
			each_of(function,
				limit_of(XB_LIMIT_BYTES, byte_rates[i].rate, byte_rates[i].period,
					 byte_bursts[j]),
				&count);
	assert_in_range(count, 40, COUNT(byte_rates) * COUNT(byte_bursts));
}

/* ns of a tick, by the numbers that the filter has. */
static double tick_of(const struct xb_meter *meter)
{
	return WRAP * (double)(1ULL << meter->shift) / (double)meter->speed;
}

/* ns that one packet, or byte, has at the rate that was asked for. */
static double interval_of(const struct xb_limit *limit)
{
	return (double)SECOND * limit->period / (double)limit->rate;
}

/* The same, as it is kept. */
static double kept_interval(const struct xb_meter *meter)
{
	return tick_of(meter) * meter->cost / (meter->unit == XB_LIMIT_BYTES ? 65536 : 1);
}

#define FAIL(limit, ...)                                                                           \
	do {                                                                                       \
		print_message("%s %lu / %u s, burst %lu: ", xb_limit_units[(limit)->of],           \
			      (limit)->rate, (limit)->period, (limit)->burst);                     \
		fail_msg(__VA_ARGS__);                                                             \
	} while (0)

static void numbers(const struct xb_limit *limit, const struct xb_meter *meter)
{
	double tick = tick_of(meter), rate = interval_of(limit) / kept_interval(meter);
	bool bytes = limit->of == XB_LIMIT_BYTES;
	double room = (double)meter->depth - (double)limit->burst * meter->cost / 65536;

	if (fabs(rate - 1) > 1e-6)
		FAIL(limit, "%.8f of its rate is kept", rate);
	if (!bytes && meter->depth != limit->burst * meter->cost)
		FAIL(limit, "%u ticks for packets of %u", meter->depth, meter->cost);
	/* What is in front of the largest packet, and the part of a tick that has no name. */
	if (bytes && (room < 128.0 * meter->cost / 65536 || room > 128.0 * meter->cost / 65536 + 1))
		FAIL(limit, "the burst has %g ticks more than asked for", room);
	/* The clock must not go over ticks: they are waited for. */
	if ((double)(1ULL << meter->shift) > tick * (1 + 1e-9))
		FAIL(limit, "a tick of %g ns, but the clock goes by %g", tick,
		     (double)(1ULL << meter->shift));
	if (meter->slack * tick < 1e7 || meter->slack * tick > 1e7 + 2 * tick)
		FAIL(limit, "a slack of %g ns", meter->slack * tick);
	if (((double)meter->depth + meter->slack) / WRAP > 0.004)
		FAIL(limit, "%g of its time, a cell that is old seems ahead",
		     ((double)meter->depth + meter->slack) / WRAP);
	/* Packets of a burst are told from each other; so are bytes, by a thousandth of it. */
	if (!meter->cost || (!bytes && meter->cost < 4) || (bytes && meter->depth < 40))
		FAIL(limit, "too coarse: %u ticks, in all %u", meter->cost, meter->depth);
}

TEST(numbers_of_every_limit)
{
	each_packet_limit(numbers);
	each_byte_limit(numbers);
}

/* Not one of them is above what there can be. */
TEST(refused_limits)
{
	const struct xb_limit refused[] = {
		limit_of(XB_LIMIT_PACKETS, 10000001, 1, 1),
		limit_of(XB_LIMIT_PACKETS, 600000001, 60, 1),
		limit_of(XB_LIMIT_PACKETS, 1, 3600, 25),
		limit_of(XB_LIMIT_PACKETS, 1, 1, 0),
		limit_of(XB_LIMIT_PACKETS, 1000000, 1, (1U << 20) + 1),
		limit_of(XB_LIMIT_BYTES, 100000000001, 1, 65536),
		limit_of(XB_LIMIT_BYTES, 1000, 1, 65535),
		limit_of(XB_LIMIT_BYTES, 100000000000, 1, 1000000000001),
		limit_of(XB_LIMIT_BYTES, 1, 3600, 65536),
	};

	for (size_t i = 0; i < COUNT(refused); i++)
		if (is_legal(&refused[i]))
			FAIL(&refused[i], "taken");
	assert_int_equal(xb_limit_burst_for(XB_LIMIT_BYTES, 100000000000, 1), 200000000000);
	assert_int_equal(xb_limit_burst_for(XB_LIMIT_BYTES, 1ULL << 62, 1), 1000000000000);
	assert_int_equal(xb_limit_burst_for(XB_LIMIT_PACKETS, 10000000, 1), 1048576);
	assert_int_equal(xb_limit_burst_for(XB_LIMIT_QUERIES, 1, 3600), 5);
}

/* ---- One source in a line of its own ---- */

static struct xb_meter_line line;
static const struct xb_meter_cells chosen = {{0, 5, 10, 15}};
static uint64_t noise;

static enum xb_meter_found take(const struct xb_meter *meter, uint32_t cost, uint64_t ns)
{
	uint32_t cell[XB_METER_CHOSEN];

	for (int i = 0; i < XB_METER_CHOSEN; i++)
		cell[i] = line.cell[chosen.at[i]];
	return xb_meter_take(&line, &chosen, cell, meter, cost,
			     xb_meter_ticks(meter->speed, meter->shift, ns));
}

static uint32_t cost_of(const struct xb_meter *meter, uint64_t bytes)
{
	return meter->unit == XB_LIMIT_BYTES
		       ? xb_meter_bytes(meter->cost, bytes, (uint32_t)rig_random(&noise))
		       : meter->cost;
}

/* Nothing was ever sent, or lately. */
static void empty(const struct xb_meter *meter, uint64_t ns)
{
	uint32_t now = xb_meter_ticks(meter->speed, meter->shift, ns);

	for (int i = 0; i < XB_METER_CELLS; i++)
		line.cell[i] = now - 1 - (uint32_t)i * (1U << 26);
}

/* Nothing is left. */
static void drain(const struct xb_meter *meter, uint64_t ns)
{
	for (uint32_t cost = meter->depth; cost;)
		if (take(meter, cost, ns) == XB_METER_OVER)
			cost /= 2;
}

/* The first time at which the clock has other ticks by so many halves of what there are;
 * 0: beyond 64 bits. Where bits of the product wrap, too. */
static uint64_t boundary(const struct xb_meter *meter, uint32_t halves)
{
	double ns = halves * WRAP / 2 * tick_of(meter);
	uint64_t low, high;

	if (ns > 9e18)
		return 0;
	low = ns > 4 * tick_of(meter) ? (uint64_t)(ns - 4 * tick_of(meter)) : 0;
	high = (uint64_t)(ns + 4 * tick_of(meter)) + 1;
	/* The multiplication in full. */
	while (low + 1 < high) {
		uint64_t middle = low + (high - low) / 2;
		unsigned __int128 ticks =
			(unsigned __int128)(middle >> meter->shift) * meter->speed;

		if ((uint64_t)(ticks >> 32) >= halves * (1ULL << 31))
			high = middle;
		else
			low = middle;
	}
	return high;
}

/* Just before something wraps, and somewhere. */
static size_t moments(const struct xb_meter *meter, uint64_t before, uint64_t times[8])
{
	size_t count = 0;

	for (uint32_t halves = 1; halves <= 4; halves++) {
		uint64_t at = boundary(meter, halves);

		if (at > before)
			times[count++] = at - before;
	}
	times[count++] = 86400 * SECOND + 12345;
	return count;
}

/* The clock goes on by single ticks where its 32 bits wrap. */
static void clock_wraps(const struct xb_limit *limit, const struct xb_meter *meter)
{
	for (uint32_t halves = 1; halves <= 6; halves++) {
		uint64_t at = boundary(meter, halves);

		if (!at)
			return;
		if (xb_meter_ticks(meter->speed, meter->shift, at) != (halves & 1 ? 1U << 31 : 0) ||
		    xb_meter_ticks(meter->speed, meter->shift, at - 1) !=
			    (halves & 1 ? ~0U >> 1 : ~0U))
			FAIL(limit, "the clock jumps at %lu ns", at);
	}
}

TEST(the_clock_goes_on)
{
	each_packet_limit(clock_wraps);
	each_byte_limit(clock_wraps);
}

/* As many as the burst has pass at one moment, and not one more; and again after silence. */
static void burst_is_exact(const struct xb_limit *limit, const struct xb_meter *meter)
{
	double lasts = (double)limit->burst * interval_of(limit) + 2 * tick_of(meter);
	uint64_t times[8], silence = (uint64_t)lasts + 1;

	if (limit->burst > 1025)
		return;
	for (size_t i = moments(meter, silence / 2, times); i--;) {
		empty(meter, times[i]);
		for (int round = 0; round < 2; round++) {
			uint64_t ns = times[i] + (uint64_t)round * silence;

			for (uint64_t j = 0; j < limit->burst; j++)
				if (take(meter, meter->cost, ns) != XB_METER_WITHIN)
					FAIL(limit, "packet %lu is over, at %lu ns", j, ns);
			if (take(meter, meter->cost, ns) != XB_METER_OVER)
				FAIL(limit, "one more than the burst is within, at %lu ns", ns);
		}
	}
}

TEST(bursts_are_exact)
{
	each_packet_limit(burst_is_exact);
}

/* Of the largest burst, each packet. */
TEST(largest_burst)
{
	const struct xb_limit limit = limit_of(XB_LIMIT_PACKETS, 10000000, 1, 1U << 20);
	const struct xb_meter meter = xb_limitmap_meter(&limit);

	burst_is_exact(&limit, &meter);
	empty(&meter, SECOND);
	for (uint32_t i = 0; i < 1U << 20; i++)
		if (take(&meter, meter.cost, SECOND) != XB_METER_WITHIN)
			fail_msg("packet %u is over", i);
	assert_int_equal(take(&meter, meter.cost, SECOND), XB_METER_OVER);
}

/* After silence everything passes that may: whether more is asked for at once, or bytes. */
static void silence_restores(const struct xb_limit *limit, const struct xb_meter *meter)
{
	double lasts = (double)limit->burst * interval_of(limit) + 3 * tick_of(meter);
	uint64_t times[8], silence = (uint64_t)lasts + 1;
	uint32_t all = (uint32_t)((double)limit->burst * meter->cost /
				  (limit->of == XB_LIMIT_BYTES ? 65536 : 1));

	/* Of bytes, what stands in front of packets is on top. */
	if (limit->of == XB_LIMIT_BYTES)
		silence += (uint64_t)(128 * interval_of(limit));
	for (size_t i = moments(meter, silence / 2, times); i--;) {
		empty(meter, times[i]);
		drain(meter, times[i]);
		if (take(meter, all, times[i] + silence) != XB_METER_WITHIN)
			FAIL(limit, "over after %lu ns of silence", silence);
	}
}

TEST(silence_restores_all)
{
	each_packet_limit(silence_restores);
	each_byte_limit(silence_restores);
}

/* The largest frame there is passes, unless the source has just sent another one. */
TEST(every_frame_fits)
{
	for (size_t i = 0; i < COUNT(byte_rates); i++) {
		uint64_t least = byte_rates[i].rate / byte_rates[i].period / 50 + 1;
		struct xb_limit limit =
			limit_of(XB_LIMIT_BYTES, byte_rates[i].rate, byte_rates[i].period,
				 least > XB_LIMIT_BURST_BYTES ? least : XB_LIMIT_BURST_BYTES);
		struct xb_meter meter = xb_limitmap_meter(&limit);

		assert_true(is_legal(&limit));
		for (int round = 0; round < 100; round++) {
			empty(&meter, SECOND);
			if (take(&meter, cost_of(&meter, 65535 + 40 + 14 + 8 + 8), SECOND) !=
			    XB_METER_WITHIN)
				FAIL(&limit, "the largest frame is over");
		}
	}
}

/* The first time from `from` on at which so much passes, to a part of a tick. */
static uint64_t next_pass(const struct xb_meter *meter, uint32_t cost, uint64_t from)
{
	uint64_t step = (uint64_t)(tick_of(meter) / 2) + 1, ns = from;

	while (take(meter, cost, ns) != XB_METER_WITHIN)
		ns += step;
	return ns;
}

/* What is counted in so few packets says nothing of a rate. */
static void skip_if_slowed(void)
{
	if (!is_slowed())
		return;
	puts("a tenth of the packets is too few to tell a rate");
	skip();
}

/* A source that sends what it can get, over hundreds of packets and where the clock wraps. */
static void rate_is_kept(const struct xb_limit *limit, const struct xb_meter *meter)
{
	const uint32_t packets = amount(500, 20000);
	double interval = interval_of(limit), tick = tick_of(meter);
	uint64_t times[8], last = 0;
	double kept;

	for (size_t i = moments(meter, (uint64_t)(interval * packets / 2), times); i--;) {
		empty(meter, times[i]);
		drain(meter, times[i]);
		for (uint32_t j = 1; j <= packets; j++) {
			double due = (double)j * interval - 2 * tick;

			last = next_pass(meter, meter->cost,
					 times[i] + (due > 0 ? (uint64_t)due : 0));
		}
		kept = (double)packets * interval / (double)(last - times[i]);
		/* One tick, by which the first may come early. */
		if (kept > 1 + 2 * tick / (packets * interval) + 1e-6 || kept < 0.999)
			FAIL(limit, "%.6f of its rate from %lu ns on", kept, times[i]);
	}
}

TEST(rates_are_kept)
{
	skip_if_slowed();
	each_packet_limit(rate_is_kept);
}

/* Bytes, in packets of all sizes; small ones are counted several at a time. */
static void bytes_are_kept(const struct xb_limit *limit, const struct xb_meter *meter)
{
	static const uint64_t sizes[] = {60, 1514, 65549};
	double interval = interval_of(limit), tick = tick_of(meter);
	uint64_t begin = 40000 * SECOND;

	for (size_t i = 0; i < COUNT(sizes); i++) {
		uint64_t size = sizes[i] * (4 * 65536 / meter->cost / sizes[i] + 1);
		uint64_t last = begin, sent = 0;
		uint32_t rest = 0;
		double kept;

		empty(meter, begin);
		drain(meter, begin);
		for (uint32_t j = 1; j <= amount(500, 20000); j++) {
			uint32_t cost = xb_meter_bytes(meter->cost, size, rest);
			double due = (double)(sent + size) * interval - 3 * tick;

			/* The parts of ticks, which chance rounds, add up. */
			rest = (uint32_t)(size * meter->cost + rest) & 0xffff;
			sent += size;
			last = next_pass(meter, cost, begin + (due > 0 ? (uint64_t)due : 0));
		}
		kept = (double)sent * interval / (double)(last - begin);
		if (kept > 1.001 || kept < 0.999)
			FAIL(limit, "%.6f of its rate in packets of %lu bytes", kept, sizes[i]);
	}
}

TEST(bytes_of_all_sizes)
{
	skip_if_slowed();
	each_byte_limit(bytes_are_kept);
}

/* ---- Known sources ---- */

static enum xb_meter_found take_known(const struct xb_meter *meter, uint64_t amount, uint64_t ns)
{
	struct xb_meter known = *meter;
	uint32_t cost = xb_meter_known(&known, amount, (uint32_t)rig_random(&noise));

	return take(&known, cost, ns);
}

/* How many of them pass at one moment. */
static uint64_t known_burst(const struct xb_meter *meter, uint64_t amount, uint64_t ns)
{
	uint64_t count = 0;

	empty(meter, ns);
	while (take_known(meter, amount, ns) == XB_METER_WITHIN)
		count++;
	return count;
}

/* Ticks of a packet or a byte of others. */
static double ticks_of(const struct xb_limit *limit, const struct xb_meter *meter)
{
	return limit->of == XB_LIMIT_BYTES ? meter->cost / 65536.0 : meter->cost;
}

static void check_known_cost(const struct xb_limit *limit, const struct xb_meter *meter)
{
	double cost = (double)meter->known / WRAP * limit->known / ticks_of(limit, meter);

	if (cost < 1 - 1e-9 || cost > 1.01)
		FAIL(limit, "what %u packets of a known source cost is %.6f of one of another",
		     limit->known, cost);
}

static void check_known_burst(const struct xb_limit *limit, const struct xb_meter *meter)
{
	uint64_t may = limit->burst * limit->known, found;
	double cost = (double)meter->known / WRAP, part = cost - floor(cost);
	double strays = 6 * sqrt((double)may * part * (1 - part)) / cost;

	if (may > amount(100000, 100000000))
		return;
	found = known_burst(meter, 1, SECOND);
	if ((double)found > (double)may + strays ||
	    (double)found < (double)may / 1.01 - strays - 1 / cost - 1)
		FAIL(limit, "%lu packets of a known source pass at once, and %lu may", found, may);
}

static void known_too(const struct xb_limit *limit, const struct xb_meter *meter)
{
	static const uint32_t factors[] = {2, 3, 10, 64, 999, 1000};

	for (size_t i = 0; i < COUNT(factors); i++) {
		struct xb_limit more = *limit;
		struct xb_meter kept;

		more.known = factors[i];
		kept = xb_limitmap_meter(&more);
		numbers(&more, &kept);
		check_known_cost(&more, &kept);
		if (more.of != XB_LIMIT_BYTES)
			check_known_burst(&more, &kept);
	}
}

TEST(known_sources)
{
	each_packet_limit(known_too);
	each_byte_limit(known_too);
}

/* Where a packet costs a small part of a tick, none passes for nothing when the burst is used up.
 */
TEST(known_burst_on_average)
{
	const struct xb_meter meter = {
		.cost = 4, .depth = 8, .slack = 10, .known = (4ULL << 32) / 100};
	const uint32_t rounds = 10000;
	double sum = 0;

	for (uint32_t i = 0; i < rounds; i++)
		sum += (double)known_burst(&meter, 1, SECOND);
	print_message("%.1f of 200\n", sum / rounds);
	/* Four standard deviations of the mean, each of sqrt(8 * 24 * 25). */
	assert_true(fabs(sum / rounds - 200) < 4 * 69.3 / sqrt(rounds));
}

TEST(known_or_not)
{
	struct xb_limit limit = limit_of(XB_LIMIT_PACKETS, 100, 1, 20);

	assert_int_equal(xb_limitmap_meter(&limit).known, 0);
	limit.known = XB_LIMIT_EXEMPT;
	assert_true(xb_limitmap_meter(&limit).known == XB_METER_EXEMPT);
	limit.known = 10;
	assert_true(xb_limitmap_meter(&limit).known == 6ULL << 32);
}

/* Chance takes as many ticks as it gives. */
TEST(parts_of_ticks)
{
	static const uint32_t costs[] = {1, 41, 17, 8796, 65536, 99999, 1U << 20};

	for (size_t i = 0; i < COUNT(costs); i++)
		for (uint64_t bytes = 60; bytes < 66000; bytes = bytes * 3 + 1) {
			uint64_t sum = 0;

			for (uint32_t j = 0; j < 65536; j++)
				sum += xb_meter_bytes(costs[i], bytes, 0xabcd0000 + j);
			assert_int_equal(sum, bytes * costs[i]);
		}
}

/* A cell that was last raised nearly 2^32 ticks ago seems ahead; what that costs has a bound, and
 * it passes. A clock that is behind another one's by less than the slack loses nothing. */
static void old_cells(const struct xb_limit *limit, const struct xb_meter *meter)
{
	const uint32_t most = meter->depth + meter->slack;
	uint32_t ages[] = {0,
			   1,
			   1U << 31,
			   0U - most - 1,
			   0U - most,
			   0U - meter->depth - 1,
			   0U - meter->depth,
			   0U - meter->depth + meter->cost,
			   0U - 1};

	for (size_t i = 0; i < COUNT(ages); i++) {
		uint32_t lead = 0U - ages[i], now = 12345;
		bool seems = lead && lead <= most;
		uint32_t cell[] = {now + lead, now + lead, now + lead, now + lead};
		enum xb_meter_found found;

		for (int j = 0; j < XB_METER_CHOSEN; j++)
			line.cell[chosen.at[j]] = cell[j];
		found = xb_meter_take(&line, &chosen, cell, meter, 1, now);
		if (found != (seems && lead >= meter->depth ? XB_METER_OVER : XB_METER_WITHIN))
			FAIL(limit, "a cell %u ticks ahead", lead);
		/* It was counted, on top of what it seemed to be. */
		if (found == XB_METER_WITHIN && line.cell[0] != now + (seems ? lead : 0) + 1)
			FAIL(limit, "a cell %u ticks ahead is %u then", lead, line.cell[0] - now);
	}
}

TEST(cells_that_are_old)
{
	each_packet_limit(old_cells);
	each_byte_limit(old_cells);
}

/* ---- Cells and lines of sources ---- */

static const struct xb_key key = {0x0123456789abcdef, 0xfedcba9876543210};
static const struct xb_key6 key6 = {
	.sum = {{{0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1, 0x510e527fade682d1, 0x9b05688c2b3e6c1f},
		 0x1f83d9abfb41bd6b,
		 0x5be0cd19137e2179},
		{{0xcbbb9d5dc1059ed8, 0x629a292a367cd507, 0x9159015a3070dd17, 0x152fecd8f70e5939},
		 0x67332667ffc00b31,
		 0x8eb44a8768581511}},
	.head = {0xdb0c2e0d64f98fa7, 0x47b5481dbefa4fa4}};

static uint64_t hash6(uint64_t hi)
{
	return xb_hash_ipv6(&key6, hi, 0, xb_scoped6_tag(3, 64));
}

/* Sources in a row, as attackers and providers have them. */
static struct xb_probes probes_of(int kind, uint32_t i)
{
	uint64_t hash = kind == 0   ? xb_limit_hash4(&key, 1, 0x0a000000 + i)
			: kind == 1 ? xb_limit_hash4(&key, 15, i << 8)
			: kind == 2 ? hash6(0x20010db800000000 + i)
			: kind == 3 ? hash6((0x2001ULL << 48) + ((uint64_t)i << 16))
				    : xb_limit_hash4(&key, 1 + i % 15, 0xc0000200 + i / 15);

	return xb_probes_of(&key, hash);
}

#define KINDS 5

/* How many standard deviations what was counted is away from all being as likely (chi square). */
static double surprise(const uint32_t *counts, size_t cells, double expected)
{
	double chi = 0;

	for (size_t i = 0; i < cells; i++)
		chi += (counts[i] - expected) * (counts[i] - expected) / expected;
	return (chi - (double)(cells - 1)) / sqrt(2 * (double)(cells - 1));
}

static uint32_t bits_of(const struct xb_meter_cells *cells)
{
	return 1U << cells->at[0] | 1U << cells->at[1] | 1U << cells->at[2] | 1U << cells->at[3];
}

/* Each set of four cells is as likely as any other, and so is each order of the line. */
TEST(cells_by_chance)
{
	const uint32_t sources = 182000;

	for (int kind = 0; kind < KINDS; kind++) {
		static uint32_t counts[1 << XB_METER_CELLS];
		uint32_t sets[1820] = {0}, found = 0;
		double away;

		memset(counts, 0, sizeof(counts));
		for (uint32_t i = 0; i < sources; i++) {
			struct xb_probes probes = probes_of(kind, i);
			struct xb_meter_cells cells = xb_meter_cells_of(&probes);
			uint32_t bits = bits_of(&cells);

			assert_int_equal(__builtin_popcount(bits), 4);
			assert_true(bits < 1U << XB_METER_CELLS);
			counts[bits]++;
		}
		for (uint32_t bits = 0; bits < 1U << XB_METER_CELLS; bits++)
			if (__builtin_popcount(bits) == 4)
				sets[found++] = counts[bits];
		away = surprise(sets, 1820, sources / 1820.0);
		if (fabs(away) > 5)
			fail_msg("kind %d: %.1f standard deviations", kind, away);
	}
}

/* Sources in a row do not crowd in few lines; more evenly than by chance is welcome. */
TEST(lines_by_chance)
{
	const uint32_t sources = 100000, lines = 1000;

	for (int kind = 0; kind < KINDS; kind++) {
		static uint32_t counts[1000];
		double away;

		memset(counts, 0, sizeof(counts));
		for (uint32_t i = 0; i < sources; i++)
			counts[xb_scale(probes_of(kind, i).place, lines)]++;
		away = surprise(counts, lines, sources / (double)lines);
		if (away > 5)
			fail_msg("kind %d: %.1f standard deviations", kind, away);
	}
}

/* ---- Whom busy sources hide ---- */

/* The share of innocents over their limit, when so many sources have used up theirs. */
static double simulated(uint32_t lines, uint32_t busy, uint32_t innocents)
{
	const struct xb_meter meter = {.cost = 1, .depth = 3, .slack = 1, .lines = lines};
	struct xb_meter_line *table = calloc(lines, sizeof(*table));
	uint32_t over = 0, now = 1U << 30;

	for (uint32_t i = 0; i < busy + innocents; i++) {
		struct xb_probes probes = probes_of(0, i * 2654435761U);
		struct xb_meter_cells cells = xb_meter_cells_of(&probes);
		struct xb_meter_line *at = &table[xb_scale(probes.place, lines)];

		for (;;) {
			uint32_t cell[XB_METER_CHOSEN];
			struct xb_meter_line copy = *at;
			enum xb_meter_found found;

			for (int j = 0; j < XB_METER_CHOSEN; j++)
				cell[j] = at->cell[cells.at[j]];
			/* What innocents send is forgotten. */
			found = xb_meter_take(i < busy ? at : &copy, &cells, cell, &meter, 1, now);
			over += i >= busy && found == XB_METER_OVER;
			if (i >= busy || found == XB_METER_OVER)
				break;
		}
	}
	free(table);
	return (double)over / innocents;
}

TEST(share_of_innocents)
{
	static const struct {
		double lines, least, most; /* lines of a busy source; as docs/design.md has it */
	} promised[] = {{1, 0.0138, 0.0139},
			{2, 0.0032, 0.0034},
			{4, 0.00083, 0.00085},
			{8, 0.00023, 0.00025}};

	for (size_t i = 0; i < COUNT(promised); i++) {
		const uint32_t busy = 20000, innocents = amount(200000, 5000000);
		uint32_t lines = (uint32_t)(busy * promised[i].lines);
		double share = xb_limitmap_share(lines, busy);
		double found = simulated(lines, busy, innocents);

		print_message("%u lines a busy source: %.4g %%, simulated %.4g %%\n", lines / busy,
			      share * 100, found * 100);
		assert_true(share > promised[i].least && share < promised[i].most);
		/* Innocents of one line are not independent: twice as wide as if they were. */
		if (fabs(found - share) > 10 * sqrt(share / innocents))
			fail_msg("%g, but simulated %g", share, found);
	}
}

/* Counted out: how many sets of four are covered by one and by two sources in one line. */
TEST(share_by_enumeration)
{
	uint32_t sets[1820] = {0}, count = 0, covered = 0;

	for (uint32_t bits = 0; bits < 1U << XB_METER_CELLS; bits++)
		if (__builtin_popcount(bits) == 4)
			sets[count++] = bits;
	assert_int_equal(count, 1820);
	/* By symmetry, of one innocent: the first set. */
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t j = 0; j < count; j++)
			covered += !(sets[0] & ~(sets[i] | sets[j]));
	assert_true(fabs(xb_limitmap_share(1, 1) * 1820 - 1) < 1e-9);
	assert_true(fabs(xb_limitmap_share(1, 2) * 1820 * 1820 / covered - 1) < 1e-9);
	assert_true(xb_limitmap_share(1000, 0) == 0);
	assert_true(fabs(xb_limitmap_share(1000000000, 1) * 1820e9 - 1) < 1e-6);
	assert_true(fabs(xb_limitmap_share(1, 1000000) - 1) < 1e-9);
}

/* ---- Parameters ---- */

static struct xb_limits_wanted two_limits(void)
{
	struct xb_limits_wanted wanted = {0};

	wanted.limit[2] = limit_of(XB_LIMIT_PACKETS, 100, 1, 200);
	wanted.limit[7] = limit_of(XB_LIMIT_BYTES, 1000000, 1, 2000000);
	wanted.limit[2].capacity = 10;
	wanted.limit[7].capacity = XB_LIMIT_CAPACITY_MAX;
	wanted.limit[7].counts = true;
	return wanted;
}

/* No line is of two limits: each has ticks of its own. */
TEST(lines_of_each_limit)
{
	struct xb_limits_wanted wanted = two_limits();
	struct xb_limits limits = xb_limitmap_limits(&wanted);

	assert_int_equal(limits.meter[2].first, 0);
	assert_int_equal(limits.meter[2].lines, 40);
	assert_int_equal(limits.meter[7].first, 40);
	assert_int_equal(limits.meter[7].lines, 4 * XB_LIMIT_CAPACITY_MAX);
	assert_int_equal(limits.lines, 40 + 4 * XB_LIMIT_CAPACITY_MAX);
	assert_int_equal(limits.of.all, 1 << 2 | 1 << 7);
	assert_int_equal(limits.of.drops, 1 << 2);
	for (uint32_t i = 0; i < XB_LIMITS; i++)
		assert_int_equal(limits.of.identity[i] != 0, i == 2 || i == 7);
	for (uint32_t i = 1; i < XB_LIMITS; i++)
		wanted.limit[i] = wanted.limit[7];
	limits = xb_limitmap_limits(&wanted);
	assert_int_equal(limits.lines, 60ULL * XB_LIMIT_CAPACITY_MAX);
	wanted = (struct xb_limits_wanted){0};
	assert_int_equal(xb_limitmap_limits(&wanted).lines, 0);
}

static struct xb_params sound_params(void)
{
	struct xb_limits_wanted wanted = two_limits();
	struct xb_params params = {.limits = xb_limitmap_limits(&wanted)};

	params.key4 = (struct xb_quotient_key){{1, 1, 1}, 1};
	for (uint32_t i = 0; i < XB_LEVELS6; i++)
		params.levels6.of[i] = (uint8_t)(XB_LEVELS6_FIRST + i);
	return params;
}

TEST(parameters_that_are_sound)
{
	struct xb_params params = sound_params();

	assert_true(xb_params_are_sound(&params));
#define UNSOUND(change)                                                                            \
	do {                                                                                       \
		params = sound_params();                                                           \
		params.limits.change;                                                              \
		if (xb_params_are_sound(&params))                                                  \
			fail_msg("sound: %s", #change);                                            \
	} while (0)
	UNSOUND(meter[2].shift = 64);
	UNSOUND(meter[2].unit = XB_LIMIT_UNITS);
	UNSOUND(meter[2].bits4 = 0);
	UNSOUND(meter[2].bits4 = 33);
	UNSOUND(meter[2].bits6 = 0);
	UNSOUND(meter[2].bits6 = 65);
	UNSOUND(meter[2].cost = 0);
	UNSOUND(meter[2].lines = 0);
	UNSOUND(meter[2].depth = 1U << 31);
	UNSOUND(meter[2].slack = ~0U);
	UNSOUND(meter[7].first = params.limits.lines);
	UNSOUND(meter[7].first++);
	UNSOUND(meter[7].lines++);
	UNSOUND(meter[7].lines = ~0U);
	UNSOUND(lines--);
	UNSOUND(lines = 0);
	UNSOUND(of.identity[0] = 1);
	/* What is of no limit is not read. */
	params = sound_params();
	params.limits.meter[3].shift = 200;
	assert_true(xb_params_are_sound(&params));
}

/* The cells of a new filter are nobody's: at no moment do they hide a source. */
TEST(cells_of_a_new_filter)
{
	enum { LINES = 4096 };
	struct xb_meter_line *table = calloc(LINES, sizeof(*table));
	uint32_t counts[256] = {0};

	xb_limitmap_fill(table, LINES, 42);
	for (uint32_t i = 0; i < LINES * XB_METER_CELLS; i++)
		counts[table[i / XB_METER_CELLS].cell[i % XB_METER_CELLS] >> 24]++;
	assert_true(fabs(surprise(counts, 256, LINES * XB_METER_CELLS / 256.0)) < 5);
	free(table);
}
