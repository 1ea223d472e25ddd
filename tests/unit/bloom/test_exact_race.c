/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The kernel's reader of the exact table beside a writer that moves keys all the time. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The reader is the kernel's own code; only where a map is looked up is ours. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
static void *map_look_up(void *map, const void *index);
#define bpf_map_lookup_elem map_look_up
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunknown-pragmas"
#include "../../../bpf/exact.h"
#pragma GCC diagnostic pop

#include "support/amount.h"
#include "support/cmocka.h"
#include "support/confirm_table.h"

#define STABLE 30  /* keys that are never deleted */
#define CHURN  512 /* keys that come and go */
#define SLOTS  64  /* or four buckets; so few that the same keys move all the time */

/* Of addresses, prefixes, and fingerprints. */
static const struct xb_buckets forms[] = {
	{1, 8, 16, 0}, {1, 8, 16, 1}, {1, 8, 21, 0}, {1, 8, 32, 0}, {1, 8, XB_SLOT_PREFIX, 0},
	{1, 8, 64, 0}};
#define FORMS (sizeof(forms) / sizeof(forms[0]))

#define RACE_MICROSECONDS amount(250000, 1000000)
#define ENOUGH_LOOKS	  10000 /* for a race */
#define ENOUGH_MOVES	  1000

/* The kernel reads keys as they are; ThreadSanitizer would have it do so atomically, and is so slow
 * that keys need not move at the wrong moment. */
#ifdef __SANITIZE_THREAD__
#define READS_IN_PLACE false
#else
#define READS_IN_PLACE true
#endif

/* How the reader is delayed between its two buckets, so that keys move meanwhile. */
enum pace { AS_IT_IS, SPINNING, YIELDING };

struct race {
	struct xb_exact table;
	struct xb_key key;
	uint32_t stable[STABLE], churn[CHURN];
	int full;
	bool listed[CHURN];
	enum pace pace;
	int cpu[2];
	bool stop;
	uint64_t looks, misses, second_looks, retries, exhausted, changes, refused;
};

/* What one question costs the reader: looks at both buckets, and questions for MOVES. */
static _Thread_local struct {
	enum pace pace;
	uint64_t random;
	int buckets, ends;
	struct xb_bucket copy[2];
	void (*meanwhile)(struct xb_exact *table); /* called once between its two buckets */
} reader;

/* Longer, and more often, once the first look has missed: the next one misses too only if the key
 * has gone back and comes once more. */
static void pause_reader(void)
{
	reader.random = xb_mix64(reader.random + 1);
	if (reader.pace == YIELDING && (reader.ends || reader.random % 64 == 0))
		sched_yield();
	if (reader.pace == SPINNING)
		for (uint64_t i = reader.random % (reader.ends ? 65536 : 4096); i; i--)
			__asm__ volatile("");
}

static struct xb_bucket *copy_of(const struct xb_bucket *bucket, int which)
{
	for (int i = 0; i < 8; i++)
		reader.copy[which].word[i] = __atomic_load_n(&bucket->word[i], __ATOMIC_ACQUIRE);
	return &reader.copy[which];
}

/* Buckets as they are now, or copies of them that are some time apart; the same to the reader. */
static void *map_look_up(void *map, const void *index)
{
	struct xb_exact *table = map;
	uint32_t number = *(const uint32_t *)index;
	struct xb_bucket *bucket = (struct xb_bucket *)(void *)table->buckets.base + number;
	int which = reader.buckets % 2;

	if (number == end_line(table)) {
		reader.ends++;
		pause_reader();
		return bucket;
	}
	reader.buckets++;
	if (which && reader.meanwhile) {
		void (*meanwhile)(struct xb_exact *) = reader.meanwhile;

		reader.meanwhile = NULL;
		meanwhile(table);
	}
	if (reader.pace == AS_IT_IS && READS_IN_PLACE)
		return bucket;
	if (which)
		pause_reader();
	return copy_of(bucket, which);
}

static bool kernel_has(struct race *race, uint32_t key)
{
	struct xb_exact *table = &race->table;
	uint64_t hash = hash_of(table, key);
	bool found;

	reader.buckets = reader.ends = 0;
	found = table->slots == XB_SLOTS_HASH ? exact_find(table, &table->geometry, &race->key,
							   xb_fingerprint(hash), SLOTS_HASH)
		: table->slots == XB_SLOTS_PREFIX
			? exact_find6(table, &table->geometry, &race->key, &table->key4, hash)
			: exact_find4(table, &table->geometry, &table->key4, key);
	__atomic_fetch_add(&race->looks, 1, __ATOMIC_RELAXED);
	race->second_looks += reader.ends;
	__atomic_fetch_add(&race->retries, reader.buckets > 4, __ATOMIC_RELAXED);
	race->exhausted += reader.buckets > 2 + 2 * CONFIRM_TRIES;
	return found;
}

/* One key in its second bucket, which goes to its first while a packet is between the two. */
static struct xb_spot mover[2];

/* Into the first slot. */
static void put_into(struct xb_exact *table, uint32_t bucket, uint64_t value)
{
	words_of(table)[(size_t)(table->geometry.small ? 2 : 8) * bucket] = value;
}

static void move(struct xb_exact *table)
{
	uint64_t *end = end_of(table);

	put_into(table, mover[0].bucket, mover[0].value);
	end[XB_BUCKET_MOVES]++;
	put_into(table, mover[1].bucket, 0);
}

TEST(the_first_key_that_moves_is_found)
{
	for (size_t i = 0; i < FORMS; i++) {
		static struct race race;
		uint32_t key = 12345;

		race = (struct race){.table = make(forms[i])};
		race.key = race.table.key;
		do {
			key++;
			xb_exact_spots(&race.table, hash_of(&race.table, key), key, mover);
		} while (mover[0].bucket == mover[1].bucket);
		assert_false(kernel_has(&race, key));
		assert_int_equal(reader.buckets, 2);
		put_into(&race.table, mover[1].bucket, mover[1].value);
		assert_true(kernel_has(&race, key));
		assert_int_equal(reader.ends, 0);
		reader.meanwhile = move;
		assert_true(kernel_has(&race, key));
		assert_int_equal(reader.buckets, 3);
		assert_int_equal(moves_of(&race.table), 1);
		assert_true(kernel_has(&race, key));
		assert_int_equal(reader.buckets, 1);
		discard(&race.table);
	}
}

/* A writer that moves other keys between all looks, but lets readers through; the move it is in the
 * middle of it ends. */
static uint64_t *storm_moves;

static void storm(struct xb_exact *table)
{
	uint64_t *end = end_of(table);

	if (!end[XB_BUCKET_READERS] || ++*storm_moves == 1)
		end[XB_BUCKET_MOVES]++;
	reader.meanwhile = storm;
}

TEST(a_storm_of_moves_condemns_nobody)
{
	for (size_t i = 0; i < FORMS; i++) {
		static struct race race;
		uint64_t in_flight = 0, *end;

		race = (struct race){.table = make(forms[i])};
		race.key = race.table.key;
		end = end_of(&race.table);
		end[XB_BUCKET_MOVES] = 1;
		storm_moves = &in_flight;
		reader.meanwhile = storm;
		assert_false(kernel_has(&race, 12345));
		assert_int_equal(reader.buckets, 2 + 2 * CONFIRM_TRIES + 4);
		assert_int_equal(end[XB_BUCKET_READERS], 0);
		assert_int_equal(add(&race.table, 12345), 0);
		assert_true(kernel_has(&race, 12345));
		reader.meanwhile = NULL;
		discard(&race.table);
	}
}

static void *add_until_full(void *context)
{
	struct xb_exact *table = context;

	for (uint32_t key = 1; !add(table, key); key++)
		;
	return NULL;
}

TEST(the_writer_lets_readers_through)
{
	struct xb_exact table = make((struct xb_buckets){1, 8, 32, 0});
	uint64_t *end = end_of(&table);
	pthread_t writer;

	__atomic_store_n(&end[XB_BUCKET_READERS], 1, __ATOMIC_SEQ_CST);
	assert_int_equal(pthread_create(&writer, NULL, add_until_full, &table), 0);
	usleep(100000);
	assert_int_equal(moves_of(&table), 0);
	__atomic_store_n(&end[XB_BUCKET_READERS], 0, __ATOMIC_SEQ_CST);
	pthread_join(writer, NULL);
	assert_true(moves_of(&table) > 0);
	discard(&table);
}

static void pin_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

static void *read_stable(void *context)
{
	struct race *race = context;

	pin_to(race->cpu[0]);
	reader.pace = race->pace;
	while (!__atomic_load_n(&race->stop, __ATOMIC_RELAXED))
		for (int i = 0; i < STABLE; i++)
			race->misses += !kernel_has(race, race->stable[i]);
	return NULL;
}

static void *change_others(void *context)
{
	struct race *race = context;
	int count = STABLE;
	uint64_t random = 1;

	pin_to(race->cpu[1]);
	while (!__atomic_load_n(&race->stop, __ATOMIC_RELAXED)) {
		uint32_t which;
		int error;

		random = xb_mix64(random + 0x9e3779b97f4a7c15ULL);
		which = (uint32_t)(random % CHURN);
		if (!race->listed[which] && count >= race->full)
			continue;
		error = (race->listed[which] ? del : add)(&race->table, race->churn[which]);
		race->changes++;
		if (error == -EXFULL) {
			race->refused++;
			continue;
		}
		if (error)
			abort();
		race->listed[which] = !race->listed[which];
		count += race->listed[which] ? 1 : -1;
	}
	return NULL;
}

/* The CPUs the threads get: the first two this process may use, or the first for both. */
static void choose_cpus(struct race *race)
{
	cpu_set_t set;
	int found = 0;

	sched_getaffinity(0, sizeof(set), &set);
	for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++)
		if (CPU_ISSET(cpu, &set))
			race->cpu[found++] = cpu;
	if (race->pace == YIELDING || found < 2)
		race->cpu[1] = race->cpu[0];
}

/* The next key that the table can tell from those before: it has fewer buckets than narrow slots
 * are enough for. */
static uint32_t another_key(const struct xb_exact *table, struct xb_spot *taken, int count)
{
	static uint32_t key;
	struct xb_spot spot[2];
	int same;

	do {
		key++;
		xb_exact_spots(table, hash_of(table, key), key, spot);
		for (same = 0; same < count; same++)
			if (taken[same].bucket == spot[0].bucket &&
			    taken[same].value == spot[0].value)
				break;
	} while (same < count);
	taken[count] = spot[0];
	return key;
}

static void begin_race(struct race *race, const struct xb_buckets *form, enum pace pace)
{
	const struct xb_buckets one = {1, 1, form->slot_bits, form->small};
	uint32_t slots = (uint32_t)xb_exact_slots(&one),
		 buckets = SLOTS / slots < 4 ? 4 : (SLOTS + slots - 1) / slots;
	struct xb_spot taken[STABLE + CHURN] = {{0}};

	*race = (struct race){.pace = pace, .full = (int)(buckets * slots * 0.98)};
	race->table = make((struct xb_buckets){1, buckets, form->slot_bits, form->small});
	race->key = race->table.key;
	choose_cpus(race);
	for (int i = 0; i < STABLE; i++) {
		race->stable[i] = another_key(&race->table, taken, i);
		assert_int_equal(add(&race->table, race->stable[i]), 0);
	}
	for (int i = 0; i < CHURN; i++)
		race->churn[i] = another_key(&race->table, taken, STABLE + i);
}

/* Whether both have done enough, which takes longer on a busy machine. */
static bool have_met(const struct race *race)
{
	return moves_of(&race->table) > ENOUGH_MOVES &&
	       __atomic_load_n(&race->looks, __ATOMIC_RELAXED) > ENOUGH_LOOKS;
}

static void run_race(const struct xb_buckets *form, enum pace pace)
{
	static const char *const paces[] = {"two CPUs", "two CPUs, slow reader", "one CPU"};
	static struct race race;
	pthread_t threads[2];

	begin_race(&race, form, pace);
	assert_int_equal(pthread_create(&threads[0], NULL, read_stable, &race), 0);
	assert_int_equal(pthread_create(&threads[1], NULL, change_others, &race), 0);
	for (int tries = 0; tries < 400; tries++) {
		usleep(RACE_MICROSECONDS);
		if (have_met(&race))
			break;
	}
	__atomic_store_n(&race.stop, true, __ATOMIC_RELAXED);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	printf("%u bits%s, %s: %lu looks, %lu not found at first, %lu tried again since a key had "
	       "moved, "
	       "%lu to the last try, %lu misses; %lu changes (%lu without a place), %lu moves\n",
	       form->slot_bits, form->small ? ", small" : "", paces[pace], race.looks,
	       race.second_looks, race.retries, race.exhausted, race.misses, race.changes,
	       race.refused, moves_of(&race.table));
	assert_int_equal(race.misses, 0);
	assert_true(moves_of(&race.table) > ENOUGH_MOVES);
	assert_true(race.looks > ENOUGH_LOOKS);
	discard(&race.table);
}

TEST(a_key_that_moves_is_found)
{
	for (size_t i = 0; i < FORMS; i++)
		for (enum pace pace = AS_IT_IS; pace <= YIELDING; pace++)
			run_race(&forms[i], pace);
}

BEFORE_MAIN(prepare)
{
	begin_random();
}
