/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The exact stage through the program itself: keys that move under traffic, writers that die, a
 * table without a place. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "support/amount.h"
#include "support/cmocka.h"
#include "support/crowd.h"
#include "support/exact_contents.h"
#include "support/random.h"
#include "support/source.h"

#define CHURN	  40000 /* keys that come and go, more than a table of a few has room for */
#define BATCH_MAX 1024

static struct xb_entry host(uint32_t address)
{
	return (struct xb_entry){.hi = (uint64_t)address << 32, .kind = XB_HOST4, .length = 32};
}

static struct xb_entry net(uint64_t hi)
{
	return (struct xb_entry){.hi = hi, .kind = XB_NET6, .length = 64};
}

/* Sources that stay: 10.0.0.1 and on, 2001:db8:0:0::/64 and on. */
static uint64_t stable_source(uint32_t number, bool ipv4)
{
	return ipv4 ? 0x0a000001 + number : 0x20010db800000000 + number;
}

static void list_stable(struct rig *rig)
{
	struct xb_entry entries[2 * SOURCE_STABLE];

	for (uint32_t i = 0; i < SOURCE_STABLE; i++) {
		entries[2 * i] = host((uint32_t)stable_source(i, true));
		entries[2 * i + 1] = net(stable_source(i, false));
	}
	rig_add_all(rig, entries, 2 * SOURCE_STABLE);
}

static struct xb_entry churned(uint32_t number, bool ipv4)
{
	return ipv4 ? host(0x14000000 + number) : net(0x20010db900000000 + number);
}

/* ---- Traffic from listed sources, by a process of its own ---- */

static pid_t start_traffic_from(struct rig *rig, bool ipv4, const uint64_t *sources, uint32_t count)
{
	pid_t child = fork();
	struct crowd *crowd;

	assert_true(child >= 0);
	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	crowd = crowd_open(rig, ipv4 ? CROWD_STABLE4 : CROWD_STABLE6, 0, 0);
	crowd_choose(crowd, sources, count);
	for (;;)
		crowd_send(crowd, 1 << 14);
}

static pid_t start_traffic(struct rig *rig, bool ipv4)
{
	uint64_t sources[SOURCE_STABLE];

	for (uint32_t i = 0; i < SOURCE_STABLE; i++)
		sources[i] = stable_source(i, ipv4);
	return start_traffic_from(rig, ipv4, sources, SOURCE_STABLE);
}

static void stop_traffic(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, WNOHANG), 0);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
}

/* Since `before`, every frame was dropped as listed. Returns how many. */
static uint64_t check_traffic(struct rig *rig, const struct xb_counts *before, const char *doing)
{
	struct xb_counts after;
	uint64_t listed = 0;

	rig_counts(rig, &after);
	for (int reason = 0; reason < XB_REASON_COUNT; reason++) {
		uint64_t count = after.reason[reason].packets - before->reason[reason].packets;

		if (reason == XB_LISTED_IPV4_HOST || reason == XB_LISTED_IPV6)
			listed += count;
		else if (count)
			fail_msg("%s: %lu frames of listed sources counted as reason %d", doing,
				 count, reason);
	}
	return listed;
}

/* ---- A writer at the fullest the table gets in place ---- */

struct churn {
	struct rig *rig;
	bool ipv4;
	bool listed[CHURN];
	uint32_t count, room;
	uint64_t generation;
};

/* Up to `most` distinct keys that are listed, or that are not, and turns them over. */
static void change_some(struct churn *churn, uint32_t most, bool listed)
{
	struct xb_entry entries[BATCH_MAX];
	uint32_t count = 0;

	for (uint32_t tries = 0; tries < 100 * most && count < most; tries++) {
		uint32_t number = (uint32_t)(random_wide() % CHURN);

		if (churn->listed[number] == listed ||
		    (listed && churn->count + count >= churn->room))
			continue;
		churn->listed[number] = listed;
		entries[count++] = churned(number, churn->ipv4);
	}
	rig_change_all(churn->rig, entries, count, listed);
	churn->count += listed ? count : -count;
}

static struct xb_exact *table_of(struct xb_generation *generation, bool ipv4)
{
	struct xb_exact *table = ipv4 ? &generation->confirm4 : &generation->confirm6;

	assert_int_equal(xb_mapping_map_all(&table->buckets), 0);
	return table;
}

static void begin_churn(struct churn *churn, struct rig *rig, bool ipv4)
{
	struct xb_generation *generation = rig_generation(rig);
	const struct xb_params *params = &generation->params;
	uint64_t capacity = ipv4 ? params->host4.capacity : params->net6.capacity;

	*churn = (struct churn){.rig = rig, .ipv4 = ipv4};
	churn->room = (uint32_t)(capacity + capacity / 8) - SOURCE_STABLE;
	churn->generation = params->generation;
	assert_true(churn->room < CHURN);
	xb_generation_close(generation);
}

/* ---- A few keys that move all the time ---- */

#define FEW_STABLE  30
#define FEW_CHURN   512
#define FEW_MOVES   amount(20000, 500000)   /* as each CPU has to itself, and as both share one */
#define FEW_FRAMES  amount(500000, 5000000) /* under which they move, as often */
#define FEW_SECONDS 60			    /* for them, at most */

/* A few buckets, and how many keys have room in them. */
struct few {
	bool ipv4;
	uint64_t capacity; /* that the table is made for; 0: by what is listed */
	uint32_t slot_bits, buckets;
	int slots;
	uint32_t small;
};

/* The hash by which a source stands in its table. */
static uint64_t hash_of(const struct xb_params *params, uint64_t source, bool ipv4)
{
	return ipv4 ? 0 : xb_hash_ipv6(&params->key6, source, 0, 64);
}

/* The next source that may stand in one of the first buckets. Addresses are looked for among those
 * alone that have these for their first, in the order of what they are permuted to. */
static uint64_t next_source(const struct xb_params *params, bool ipv4, uint64_t *at)
{
	return ipv4 ? address_permuted_to(&params->key4, (uint32_t)(*at)++)
		    : 0x20010db900000000 + (*at)++;
}

/* Sources whose two buckets are both among the first of their table, found by the key that nobody
 * else knows. */
static void crowd_together(struct xb_generation *generation, bool ipv4, uint32_t buckets,
			   uint64_t *sources, size_t count)
{
	struct xb_exact *table = ipv4 ? &generation->confirm4 : &generation->confirm6;
	uint64_t at = 0;

	for (size_t found = 0; found < count;) {
		uint64_t source = next_source(&generation->params, ipv4, &at);
		struct xb_spot spot[2];

		assert_true(at < UINT32_MAX);
		xb_exact_spots(table, hash_of(&generation->params, source, ipv4), (uint32_t)source,
			       spot);
		if (source && spot[0].bucket < buckets && spot[1].bucket < buckets)
			sources[found++] = source;
	}
}

/* Adds and deletes in the table itself, nothing else, until there were so many moves and frames:
 * nobody writes as fast. */
static void move_all_the_time(struct rig *rig, struct xb_exact *table,
			      const struct xb_params *params, const struct few *few,
			      const uint64_t *sources)
{
	uint64_t moves = rig_moves(table) + FEW_MOVES;
	struct xb_counts before;
	time_t begun = time(NULL);
	bool listed[FEW_CHURN] = {false};
	int count = FEW_STABLE;

	rig_counts(rig, &before);
	while ((rig_moves(table) < moves ||
		check_traffic(rig, &before, "a few keys move") < FEW_FRAMES) &&
	       time(NULL) < begun + FEW_SECONDS) {
		for (int i = 0; i < 1000; i++) {
			uint32_t which = (uint32_t)(random_wide() % FEW_CHURN);
			uint64_t hash = hash_of(params, sources[which], few->ipv4);
			uint32_t address = (uint32_t)sources[which];

			if (listed[which])
				assert_int_equal(xb_exact_delete(table, hash, address), 0);
			else if (count >= few->slots - 2 || xb_exact_add(table, hash, address))
				continue;
			listed[which] = !listed[which];
			count += listed[which] ? 1 : -1;
		}
	}
	for (int i = 0; i < FEW_CHURN; i++)
		if (listed[i])
			xb_exact_delete(table, hash_of(params, sources[i], few->ipv4),
					(uint32_t)sources[i]);
}

/* One CPU for the traffic and us, where a half-done move lasts as long as a time slice; or one
 * each, where they are in the table at the same moment. */
static void share_cpu(pid_t traffic, bool share)
{
	cpu_set_t all, one;
	int cpu = 0;

	sched_getaffinity(0, sizeof(all), &all);
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(traffic, sizeof(one), &one);
	if (!share)
		CPU_CLR(cpu, &all);
	if (CPU_COUNT(&all))
		sched_setaffinity(0, sizeof(all), share ? &one : &all);
}

static void few_keys_under_traffic(const struct few *few)
{
	uint64_t sources[FEW_STABLE + FEW_CHURN];
	struct xb_entry entries[FEW_STABLE];
	struct xb_generation *generation;
	const bool ipv4 = few->ipv4;
	struct xb_counts before;
	struct xb_exact *table;
	cpu_set_t cpus;
	struct rig rig;
	pid_t traffic;

	rig_begin(&rig, "few");
	rig_add(&rig, ipv4 ? "192.0.2.1" : "2001:db8::/64", "default"); /* makes the stage */
	if (few->capacity)
		rig_rotate_for(&rig, few->capacity);
	generation = rig_generation(&rig);
	table = table_of(generation, ipv4);
	assert_int_equal(table->geometry.slot_bits, few->slot_bits);
	assert_int_equal(table->geometry.small, few->small);
	crowd_together(generation, ipv4, few->buckets, sources, FEW_STABLE + FEW_CHURN);
	for (int i = 0; i < FEW_STABLE; i++)
		entries[i] = ipv4 ? host((uint32_t)sources[i]) : net(sources[i]);
	rig_change_all(&rig, entries, FEW_STABLE, true);
	rig_counts(&rig, &before);
	traffic = start_traffic_from(&rig, ipv4, sources, FEW_STABLE);
	sched_getaffinity(0, sizeof(cpus), &cpus);
	for (int share = 0; share < 2; share++) {
		sched_setaffinity(0, sizeof(cpus), &cpus);
		share_cpu(traffic, share);
		move_all_the_time(&rig, table, &generation->params, few, sources + FEW_STABLE);
	}
	sched_setaffinity(0, sizeof(cpus), &cpus);
	stop_traffic(traffic);
	printf("IPv%d, %u bits: %lu moves of some %d keys, ", ipv4 ? 4 : 6, few->slot_bits,
	       rig_moves(table), few->slots);
	printf("%lu frames dropped\n", check_traffic(&rig, &before, "a few keys move"));
	assert_true(rig_moves(table) >= (uint64_t)2 * FEW_MOVES);
	xb_generation_close(generation);
	assert_true(rig_matches_rebuild(&rig));
	rig_end(&rig);
}

TEST(few_ipv4_keys_that_move_all_the_time)
{
	few_keys_under_traffic(&(struct few){true, 0, XB_SLOT_WIDE, 4, 64, 0});
}

TEST(few_ipv4_keys_in_a_table_for_100000)
{
	few_keys_under_traffic(&(struct few){true, 100000, XB_SLOT_MIDDLE, 4, 96, 0});
}

TEST(few_ipv4_keys_in_a_table_for_1_million)
{
	few_keys_under_traffic(&(struct few){true, 1000000, XB_SLOT_NARROW, 14, 112, 1});
}

TEST(few_ipv4_keys_in_a_table_for_4_million)
{
	few_keys_under_traffic(&(struct few){true, 4000000, XB_SLOT_NARROW, 14, 448, 0});
}

TEST(few_ipv6_keys_that_move_all_the_time)
{
	few_keys_under_traffic(&(struct few){false, 0, XB_SLOT_PREFIX, 8, 96, 0});
}

/* ---- kill -9 ---- */

/* As full as it gets in place, so that keys move while a writer dies: a rebuild would have had no
 * moves to show. */
static void fill(struct churn *churn)
{
	struct xb_generation *generation;

	while (churn->count < churn->room - 1)
		change_some(churn, BATCH_MAX, true);
	generation = rig_generation(churn->rig);
	assert_int_equal(generation->params.generation, churn->generation);
	assert_true(rig_moves(table_of(generation, churn->ipv4)) > 0);
	xb_generation_close(generation);
}

static pid_t start_writer(struct churn *churn)
{
	pid_t child = fork();

	assert_true(child >= 0);
	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		change_some(churn, BATCH_MAX, false);
		change_some(churn, BATCH_MAX, true);
	}
}

/* A small table again, without what the dead writer had listed: the store knows, we do not. */
static void start_over(struct churn *churn, struct rig *rig, bool ipv4)
{
	static struct xb_entry entries[CHURN];
	uint32_t count = 0;

	for (uint32_t i = 0; i < CHURN; i++)
		entries[count++] = churned(i, churn->ipv4);
	if (churn->rig)
		rig_change_all(rig, entries, count, false);
	rig_rotate(rig);
	begin_churn(churn, rig, ipv4);
}

/* Kills the writer some time, or as soon as a change is seen to have begun. Returns whether one was
 * cut off. */
static bool kill_writer(struct rig *rig, pid_t writer, bool aimed)
{
	struct xb_generation *generation = rig_generation(rig);
	int status, patience = 100000000;
	bool dirty;

	if (!aimed)
		usleep((useconds_t)(random_wide() % 20000));
	while (aimed && patience-- &&
	       !__atomic_load_n(&generation->header->dirty, __ATOMIC_SEQ_CST))
		;
	kill(writer, SIGKILL);
	assert_int_equal(waitpid(writer, &status, 0), writer);
	assert_true(WIFSIGNALED(status));
	dirty = generation->header->dirty;
	xb_generation_close(generation);
	return dirty;
}

#define KILLS amount(8, 32)

TEST(a_killed_writer_leaves_nothing_behind)
{
	static struct churn churn;
	struct xb_counts before;
	uint64_t frames;
	uint32_t dirty = 0;
	struct rig rig;
	pid_t traffic[2];

	churn.rig = NULL;
	rig_begin(&rig, "killed");
	list_stable(&rig);
	rig_counts(&rig, &before);
	traffic[0] = start_traffic(&rig, true);
	traffic[1] = start_traffic(&rig, false);
	/* On a busy machine most die while they wait for their turn. */
	for (uint32_t i = 0; i < KILLS || (dirty <= KILLS / 8 && i < 16 * KILLS); i++) {
		pid_t writer;

		start_over(&churn, &rig, i & 1);
		fill(&churn);
		writer = start_writer(&churn);
		dirty += kill_writer(&rig, writer, i & 2);
		rig_del(&rig, "192.0.2.1", NULL);
		assert_true(rig_matches_rebuild(&rig));
	}
	stop_traffic(traffic[0]);
	stop_traffic(traffic[1]);
	frames = check_traffic(&rig, &before, "writers die");
	printf("%u in the middle of a change, %lu frames dropped\n", dirty, frames);
	assert_true(frames > 10000);
	assert_true(dirty > KILLS / 8);
	rig_end(&rig);
}

/* ---- No place ---- */

/* More keys for two buckets than they have slots: the change is acknowledged by a new generation.
 */
TEST(a_change_without_a_place_gets_a_new_generation)
{
	struct xb_generation *before, *after;
	struct xb_entry entries[40];
	uint64_t sources[40];
	struct xb_counts counts;
	struct rig rig;
	int program;

	rig_begin(&rig, "place");
	list_stable(&rig);
	before = rig_generation(&rig);
	crowd_together(before, true, 2, sources, 40);
	for (int i = 0; i < 40; i++)
		entries[i] = host((uint32_t)sources[i]);
	rig_change_all(&rig, entries, 20, true);
	after = rig_generation(&rig);
	assert_int_equal(after->params.generation, before->params.generation);
	xb_generation_close(after);
	rig_change_all(&rig, entries + 20, 20, true);
	after = rig_generation(&rig);
	assert_int_not_equal(after->params.generation, before->params.generation);
	xb_generation_close(after);
	xb_generation_close(before);
	program = rig_entry(&rig);
	for (int i = 0; i < 40; i++)
		assert_int_equal(rig_run_ipv4(program, xb_entry_ipv4(&entries[i])), XDP_DROP);
	close(program);
	rig_counts(&rig, &counts);
	assert_int_equal(counts.reason[XB_CLEAN].packets, 0);
	assert_true(rig_matches_rebuild(&rig));
	rig_end(&rig);
}

static int begin(void **state)
{
	random_begin();
	return 0;
}

ALL_TESTS(begin, NULL);
