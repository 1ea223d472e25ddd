/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sources chosen by one who knows the algorithm, the sizes and the list: without the keys in force
 * he gets no more than was promised. (With them he gets nothing that is confirmed: verdicts/ has
 * rows for filters in which every bit is on.) */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "engine/rotate.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/random.h"
#include "support/rig.h"
#include "support/source.h"

#define HOSTS 100000
#define NETS6 50000
#define RATE  1e-2 /* promised; wrong hits have to be many to be measured */

/* A tenth of the wrong hits promised is three standard deviations of the fewer, or five. */
#define CHOSEN amount(100000, 300000)

/* The lengths of what is listed in IPv6. */
static const uint8_t lengths6[] = {48, 64};

static struct rig rig;
static uint32_t seed;
static struct xb_entry *chosen;

static struct xb_entry host(uint32_t address)
{
	return (struct xb_entry){.hi = (uint64_t)address << 32, .kind = XB_HOST4, .length = 32};
}

static struct xb_entry address6(uint64_t hi, uint64_t lo)
{
	return (struct xb_entry){.hi = hi, .lo = lo, .kind = XB_NET6, .length = 128};
}

static uint32_t listed4(uint32_t number)
{
	return source_unmarked4(number, seed) | SOURCE_MARK4;
}

/* Never listed: the mark is missing. */
static struct xb_entry stranger4(uint32_t number)
{
	return host(source_unmarked4(number, seed + 1));
}

/* One or two bits away from a listed address, and the mark. */
static struct xb_entry neighbour4(uint32_t number)
{
	uint32_t bits = 1U << (number / HOSTS % 32) | 1U << (number / HOSTS / 32 % 32);

	return host((listed4(number % HOSTS) ^ bits) & ~SOURCE_MARK4);
}

static struct xb_entry listed6(uint32_t number)
{
	uint32_t block = number % SOURCE_BLOCKS;
	uint64_t own = (uint64_t)(number / SOURCE_BLOCKS) << 17;
	struct xb_entry whole = address6(SOURCE_BLOCK6(block) | own | SOURCE_MARK6, 0);

	return xb_entry_covering(&whole, lengths6[number / SOURCE_BLOCKS % 2]);
}

/* Below the blocks that have listed prefixes, so that all lengths are looked up. */
static struct xb_entry stranger6(uint32_t number)
{
	struct source6 source = source_innocent6(2 * number + 1, seed + 1);

	return address6(source.hi, source.lo);
}

/* ---- The attacker: a generation he has read. ---- */

static bool hits(struct xb_generation *known, const struct xb_entry *address)
{
	if (xb_entry_is_ipv4(address))
		return xb_bloom_contains(&known->host4,
					 xb_hash_ipv4(&known->params.key, xb_entry_ipv4(address)));
	for (size_t i = 0; i < sizeof(lengths6); i++) {
		struct xb_entry covering = xb_entry_covering(address, lengths6[i]);

		if (xb_bloom_contains(&known->net6, xb_hash_ipv6(&known->params.key6, covering.hi,
								 covering.lo, lengths6[i])))
			return true;
	}
	return false;
}

static struct xb_generation *read_generation(void)
{
	struct xb_generation *known = rig_generation(&rig);

	assert_int_equal(xb_generation_map_all(known), 0);
	return known;
}

typedef struct xb_entry (*maker)(uint32_t number);

/* The first so many that the known generation takes for listed; returns how many were tried. */
static uint64_t choose(struct xb_generation *known, maker make, uint32_t count)
{
	uint32_t found = 0, number = 0;

	for (; found < count; number++) {
		assert_true(number < UINT32_MAX);
		chosen[found] = make(number);
		found += hits(known, &chosen[found]);
	}
	return number;
}

static uint32_t dropped(uint32_t count)
{
	int program = rig_entry(&rig);
	uint32_t drops = 0;

	for (uint32_t i = 0; i < count; i++)
		drops += rig_run_from(program, &chosen[i]) == XDP_DROP;
	close(program);
	return drops;
}

static void rotate(void)
{
	const struct xb_rotate_request rotation = {
		.rate = RATE, .set_confirm = true, .confirm = false};

	assert_int_equal(xb_rotate(&rig.paths, &rotation, NULL, &rig.written), 0);
}

static void keeps_the_promise(const char *what, uint32_t drops)
{
	printf("%s: %u of %u dropped (%.2e), promised %.0e\n", what, drops, CHOSEN,
	       (double)drops / CHOSEN, RATE);
	assert_true(drops <= 1.1 * RATE * CHOSEN);
	/* Or nothing was looked at. */
	assert_true(drops > 0);
}

/* ---- What he gets. ---- */

/* All he chose by the keys in force is dropped; the next keys free it, but for the promise. */
static void former_keys_are_worth_nothing(const char *family, maker make, int turns)
{
	rotate();
	for (int turn = 0; turn < turns; turn++) {
		struct xb_generation *former = read_generation();
		uint64_t tried = choose(former, make, CHOSEN);
		char what[64];

		assert_true((double)tried >= CHOSEN / (1.1 * RATE));
		assert_int_equal(dropped(CHOSEN), CHOSEN);
		rotate();
		snprintf(what, sizeof(what), "%s, chosen by former keys", family);
		keeps_the_promise(what, dropped(CHOSEN));
		xb_generation_close(former);
	}
}

TEST(former_keys_of_ipv4)
{
	former_keys_are_worth_nothing("IPv4", stranger4, (int)amount(1, 3));
}

TEST(former_keys_of_ipv6)
{
	former_keys_are_worth_nothing("IPv6", stranger6, 1);
}

/* The hash of IPv4 is one multiplication: does what lies near the list fall near it? Under several
 * keys, for a weakness that only some have would be found by trying. */
TEST(neighbours_of_the_list_are_strangers)
{
	for (uint32_t turn = 0; turn < amount(2, 4); turn++) {
		rotate();
		for (uint32_t i = 0; i < CHOSEN; i++)
			chosen[i] = neighbour4(i * (9900000 / CHOSEN) + turn * HOSTS * 7);
		keeps_the_promise("IPv4, beside the list", dropped(CHOSEN));
	}
}

static int begin(void **state)
{
	struct xb_entry *entries = calloc(HOSTS + NETS6, sizeof(*entries));

	random_begin();
	seed = random_word();
	rig_begin(&rig, "hostile");
	for (uint32_t i = 0; i < HOSTS; i++)
		entries[i] = host(listed4(i));
	for (uint32_t i = 0; i < NETS6; i++)
		entries[HOSTS + i] = listed6(i);
	rig_add_all(&rig, entries, HOSTS + NETS6);
	chosen = calloc(CHOSEN + 1, sizeof(*chosen));
	free(entries);
	return 0;
}

static int end(void **state)
{
	free(chosen);
	rig_end(&rig);
	return 0;
}

ALL_TESTS(begin, end);
