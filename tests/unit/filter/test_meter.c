/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The meter beside an exact token bucket for each of very many sources, and with several processors
 * in the same cells. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "filter/limitmap.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/rig.h"

#define SECOND 1000000000ULL
#define WRAP   4294967296.0 /* ticks */

static const struct xb_key key = {0x0123456789abcdef, 0xfedcba9876543210};

static void look(const struct xb_meter_line *line, const struct xb_meter_cells *chosen,
		 uint32_t cell[XB_METER_CHOSEN])
{
	for (int i = 0; i < XB_METER_CHOSEN; i++)
		cell[i] = *(const volatile uint32_t *)&line->cell[chosen->at[i]];
}

/* ---- Beside exact buckets ---- */

/* The rates of sources are spread evenly from 0 to this many times the limit. */
#define FASTEST 2.0

/* A token bucket as the time up to which what it let pass has used the rate, in ns. */
struct bucket {
	double until;
};

static bool bucket_has(const struct bucket *bucket, double now, double interval, uint64_t burst)
{
	double until = bucket->until > now ? bucket->until : now;

	return until + interval <= now + (double)burst * interval;
}

static void bucket_take(struct bucket *bucket, double now, double interval)
{
	bucket->until = (bucket->until > now ? bucket->until : now) + interval;
}

struct sender {
	uint32_t share;	     /* of its rate in the fastest one's, of 2^32 */
	bool wronged;	     /* dropped, though its bucket had room */
	struct bucket exact; /* of what it sends */
	struct bucket let;   /* of what passes the meter, which must never be over */
};

static struct {
	struct xb_limit limit;
	struct xb_meter meter;
	struct xb_meter_line *line;
	struct sender *sender;
	uint32_t senders;
	double interval, tick, now; /* ns */
	uint64_t seed;
} world;

static bool is_innocent(const struct sender *sender)
{
	return sender->share * FASTEST < 0.5 * WRAP;
}

static void world_begin(uint32_t senders)
{
	uint32_t busy = (uint32_t)(senders * (1 - 1 / FASTEST));

	world.limit = (struct xb_limit){.name = "test",
					.of = XB_LIMIT_PACKETS,
					.rate = 10,
					.period = 1,
					.burst = 20,
					.bits4 = 32,
					.bits6 = 64,
					.capacity = busy,
					.known = 1};
	world.meter = xb_limitmap_meter(&world.limit);
	world.meter.lines = (uint32_t)xb_limit_lines(busy);
	world.line = calloc(world.meter.lines, sizeof(*world.line));
	world.sender = calloc(senders, sizeof(*world.sender));
	world.senders = senders;
	world.interval = (double)SECOND / (double)world.limit.rate;
	world.tick = WRAP * (double)(1ULL << world.meter.shift) / (double)world.meter.speed;
	world.seed = 44;
	xb_limitmap_fill(world.line, world.meter.lines, world.seed);
	for (uint32_t i = 0; i < senders; i++)
		world.sender[i].share = (uint32_t)rig_random(&world.seed);
	/* The 32 bits of ticks wrap on the way. */
	world.now = WRAP * world.tick - 2.0 * SECOND;
}

static void world_end(void)
{
	free(world.line);
	free(world.sender);
}

/* One packet of the source; whether it passes. No source passes more than it may. */
static bool sends(uint32_t number)
{
	struct sender *sender = &world.sender[number];
	uint32_t ticks = xb_meter_ticks(world.meter.speed, world.meter.shift, (uint64_t)world.now);
	struct xb_probes probes = xb_probes_of(&key, xb_limit_hash4(&key, 1, 0x0a000000 + number));
	struct xb_meter_line *line = &world.line[xb_scale(probes.place, world.meter.lines)];
	struct xb_meter_cells chosen = xb_meter_cells_of(&probes);
	uint32_t cell[XB_METER_CHOSEN];
	bool had = bucket_has(&sender->exact, world.now, world.interval, world.limit.burst);
	enum xb_meter_found found;

	look(line, &chosen, cell);
	found = xb_meter_take(line, &chosen, cell, &world.meter, world.meter.cost, ticks);
	assert_int_not_equal(found, XB_METER_AGAIN);
	if (had)
		bucket_take(&sender->exact, world.now, world.interval);
	if (found == XB_METER_OVER) {
		sender->wronged |= had;
		return false;
	}
	bucket_take(&sender->let, world.now, world.interval);
	if (sender->let.until >
	    world.now + (double)world.limit.burst * world.interval + 3 * world.tick)
		fail_msg("source %u passes more than its rate and burst: %g packets", number,
			 (sender->let.until - world.now) / world.interval);
	return true;
}

static void silence(void)
{
	world.now += (double)world.limit.burst * world.interval + 3 * world.tick;
}

/* After silence each source passes, and one after the other each with all its burst. */
static void check_silence(void)
{
	silence();
	for (uint32_t i = 0; i < world.senders; i++)
		if (!sends(i))
			fail_msg("source %u does not pass after silence", i);
	for (uint32_t i = 0; i < world.senders; i += 97) {
		silence();
		for (uint64_t j = 0; j < world.limit.burst; j++)
			if (!sends(i))
				fail_msg("source %u passes %lu packets after silence", i, j);
		if (sends(i))
			fail_msg("source %u passes one more than its burst", i);
	}
}

/* Sources send by chance, as many as they may and fewer and more. */
TEST(beside_exact_buckets)
{
	const uint32_t senders = amount(10000, 200000), packets = amount(1000000, 20000000);
	uint64_t innocents = 0, wronged = 0, sent = 0, dropped = 0;
	double share, most;

	world_begin(senders);
	for (uint32_t i = 0; i < packets;) {
		uint32_t number = (uint32_t)(rig_random(&world.seed) >> 32) % senders;
		bool innocent = is_innocent(&world.sender[number]), had;

		/* One that does not send has its time all the same. */
		world.now += world.interval / FASTEST / senders;
		if ((uint32_t)rig_random(&world.seed) > world.sender[number].share)
			continue;
		i++;
		had = bucket_has(&world.sender[number].exact, world.now, world.interval,
				 world.limit.burst);
		sent += innocent && had;
		dropped += !sends(number) && innocent && had;
	}
	for (uint32_t i = 0; i < senders; i++) {
		innocents += is_innocent(&world.sender[i]);
		wronged += is_innocent(&world.sender[i]) && world.sender[i].wronged;
	}
	share = xb_limitmap_share(world.meter.lines, world.limit.capacity);
	/* Which of them meet is drawn; three standard deviations. */
	most = share + 3 * __builtin_sqrt(share / (double)innocents);
	print_message("of %lu sources below half the rate, %.3f %% lost a packet, and %.3f %% of "
		      "their packets were lost; promised %.3f %%\n",
		      innocents, 100.0 * (double)wronged / (double)innocents,
		      100.0 * (double)dropped / (double)sent, 100 * share);
	assert_true((double)dropped <= most * (double)sent);
	check_silence();
	world_end();
}

/* ---- Several processors ---- */

#define RACERS 4

/* The clock stands still or is moved by those who pass, so that the bound is exact. */
struct race {
	struct xb_meter_line line;
	struct xb_meter meter;
	_Atomic uint32_t now;
	uint32_t step, most; /* ticks that it moves with each packet that passes; in all */
	uint32_t begin;
	pthread_barrier_t start;
};

struct racer {
	struct race *race;
	struct xb_meter_cells chosen;
	uint32_t cost; /* of its packets; 0: that of the meter */
	int cpu;       /* -1: any */
	uint64_t passed, again;
	pthread_t thread;
};

static enum xb_meter_found try_once(struct racer *racer)
{
	struct race *race = racer->race;
	uint32_t cell[XB_METER_CHOSEN];

	look(&race->line, &racer->chosen, cell);
	return xb_meter_take(&race->line, &racer->chosen, cell, &race->meter,
			     racer->cost ? racer->cost : race->meter.cost, atomic_load(&race->now));
}

/* Until nothing passes any more. */
static void *run(void *context)
{
	struct racer *racer = context;
	struct race *race = racer->race;

	pthread_barrier_wait(&race->start);
	for (;;) {
		enum xb_meter_found found = try_once(racer);

		if (found == XB_METER_OVER && atomic_load(&race->now) - race->begin >= race->most)
			return NULL;
		racer->passed += found == XB_METER_WITHIN;
		racer->again += found == XB_METER_AGAIN;
		if (race->step && found == XB_METER_OVER)
			atomic_fetch_add(&race->now, race->step);
	}
}

static void pin(pthread_t thread, int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	assert_int_equal(pthread_setaffinity_np(thread, sizeof(set), &set), 0);
}

static void race_run(struct race *race, struct racer *racers, uint32_t count)
{
	race->begin = atomic_load(&race->now);
	pthread_barrier_init(&race->start, NULL, count);
	for (uint32_t i = 0; i < count; i++) {
		racers[i].race = race;
		assert_int_equal(pthread_create(&racers[i].thread, NULL, run, &racers[i]), 0);
		if (racers[i].cpu >= 0)
			pin(racers[i].thread, racers[i].cpu);
	}
	for (uint32_t i = 0; i < count; i++)
		pthread_join(racers[i].thread, NULL);
	pthread_barrier_destroy(&race->start);
}

#define BURST 50000

/* All cells lie in the past, so that each source may send its burst. */
static struct race race_of(uint32_t cost, uint32_t step, uint32_t most)
{
	struct race race = {.meter = {.cost = cost, .depth = BURST * cost, .slack = 1000},
			    .now = 0U - BURST / 2 * cost, /* it wraps */
			    .step = step,
			    .most = most};

	for (int i = 0; i < XB_METER_CELLS; i++)
		race.line.cell[i] = race.now - 1 - (uint32_t)i * 100000000;
	return race;
}

static const struct xb_meter_cells own_cells = {{3, 7, 8, 14}};

/* Packets of one source: as many as its burst, neither more nor fewer. */
static void one_source(uint32_t threads, bool pinned)
{
	uint64_t again = 0;

	for (uint32_t round = 0; round < amount(5, 200); round++) {
		struct race race = race_of(1 + round % 3, 0, 0);
		struct racer racers[RACERS] = {0};
		uint64_t passed = 0;

		for (uint32_t i = 0; i < threads; i++)
			racers[i] = (struct racer){.chosen = own_cells,
						   .cpu = pinned ? rig_processor((int)i) : -1};
		race_run(&race, racers, threads);
		for (uint32_t i = 0; i < threads; i++) {
			passed += racers[i].passed;
			again += racers[i].again;
		}
		if (passed != BURST)
			fail_msg("%lu packets of one source pass, not %d", passed, BURST);
	}
	print_message("%lu packets tried again\n", again);
}

TEST(one_source_on_four_threads)
{
	one_source(4, false);
}

TEST(one_source_on_two_processors)
{
	if (rig_processor(1) < 0)
		skip();
	one_source(2, true);
}

/* Two sources that share three of their four cells, two threads each; the packets of one cost less.
 * None of them passes more than its burst. */
static void colliding(bool pinned)
{
	static const struct xb_meter_cells sets[2] = {{{3, 7, 8, 14}}, {{14, 3, 0, 8}}};
	static const uint32_t costs[2] = {5, 1};

	for (uint32_t round = 0; round < amount(5, 200); round++) {
		struct race race = race_of(5, 0, 0);
		struct racer racers[RACERS];

		race.meter.depth = BURST;
		for (uint32_t i = 0; i < RACERS; i++)
			racers[i] = (struct racer){.chosen = sets[i / 2],
						   .cost = costs[i / 2],
						   .cpu = pinned ? rig_processor((int)i % 2) : -1};
		race_run(&race, racers, RACERS);
		for (uint32_t i = 0; i < RACERS; i += 2) {
			uint64_t passed = racers[i].passed + racers[i + 1].passed;

			if (passed * racers[i].cost > race.meter.depth)
				fail_msg("%lu packets of a source pass, more than %u", passed,
					 race.meter.depth / racers[i].cost);
		}
	}
}

TEST(sources_that_share_cells)
{
	colliding(false);
	if (rig_processor(1) >= 0)
		colliding(true);
}

/* While the clock goes on, and its 32 bits wrap: the burst, and what the time allows. */
TEST(while_time_goes_on)
{
	for (uint32_t round = 0; round < amount(3, 100); round++) {
		struct race race = race_of(4, 1 + round % 5, 200000);
		struct racer racers[RACERS];
		uint64_t passed = 0, may;

		for (uint32_t i = 0; i < RACERS; i++)
			racers[i] = (struct racer){.chosen = own_cells,
						   .cpu = rig_processor((int)i % 2)};
		race_run(&race, racers, RACERS);
		for (uint32_t i = 0; i < RACERS; i++)
			passed += racers[i].passed;
		may = BURST + (atomic_load(&race.now) - race.begin) / race.meter.cost;
		/* The last of them may have looked at the clock a little too early. */
		if (passed > may || passed + 100 < BURST + race.most / race.meter.cost)
			fail_msg("%lu packets pass, %lu may", passed, may);
	}
}
