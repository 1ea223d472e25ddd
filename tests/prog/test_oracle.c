/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A mixed list of 100,000 entries: the datapath against an oracle that compares prefixes and knows
 * of no filter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <linux/bpf.h>

#include "core/sizing.h"
#include "support/rig.h"

#define ENTRIES		100000
#define UNLISTED_PROBES 4200000

/* The oracle: sorted networks of each family and length, found by binary search. */
struct oracle {
	struct xb_entry *of[2][129];
	size_t count[2][129];
};

static int compare(const void *a, const void *b)
{
	return xb_entry_compare(a, b);
}

static void oracle_add(struct oracle *oracle, const struct xb_entry *entry)
{
	int family = !xb_entry_is_ipv4(entry);
	size_t *count = &oracle->count[family][entry->length];
	struct xb_entry **list = &oracle->of[family][entry->length];

	*list = realloc(*list, (*count + 1) * sizeof(**list));
	(*list)[(*count)++] = *entry;
}

static void oracle_sort(struct oracle *oracle)
{
	for (int family = 0; family < 2; family++)
		for (int length = 0; length <= 128; length++)
			if (oracle->count[family][length])
				qsort(oracle->of[family][length], oracle->count[family][length],
				      sizeof(struct xb_entry), compare);
}

static void oracle_free(struct oracle *oracle)
{
	for (int family = 0; family < 2; family++)
		for (int length = 0; length <= 128; length++)
			free(oracle->of[family][length]);
}

static bool oracle_listed(const struct oracle *oracle, const struct xb_entry *address)
{
	int family = !xb_entry_is_ipv4(address);

	for (int length = 0; length <= (family ? 128 : 32); length++) {
		struct xb_entry network = xb_entry_covering(address, (uint8_t)length);

		if (oracle->count[family][length] &&
		    bsearch(&network, oracle->of[family][length], oracle->count[family][length],
			    sizeof(network), compare))
			return true;
	}
	return false;
}

static struct xb_entry random_entry(uint64_t *seed, bool ipv4, uint8_t length)
{
	struct xb_entry whole = {
		.hi = rig_random(seed), .lo = rig_random(seed), .kind = XB_NET6, .length = 128};

	if (ipv4)
		whole = (struct xb_entry){
			.hi = whole.hi & 0xffffffff00000000ULL, .kind = XB_HOST4, .length = 32};
	return xb_entry_covering(&whole, length);
}

/* An address inside the entry. */
static struct xb_entry address_in(uint64_t *seed, const struct xb_entry *entry)
{
	struct xb_entry any =
		random_entry(seed, xb_entry_is_ipv4(entry), xb_entry_full_length(entry));
	uint64_t high = entry->length >= 64 ? ~0ULL
			: entry->length	    ? ~0ULL << (64 - entry->length)
					    : 0;
	uint64_t low = entry->length <= 64 ? 0 : ~0ULL << (128 - entry->length);

	any.hi = entry->hi | (any.hi & ~high);
	any.lo = entry->lo | (any.lo & ~low);
	return any;
}

static uint32_t verdict(int program, const struct xb_entry *address)
{
	return xb_entry_is_ipv4(address) ? rig_run_ipv4(program, xb_entry_ipv4(address))
					 : rig_run_ipv6(program, address->hi, address->lo);
}

/* Half the list IPv4 hosts, the rest prefixes of every length; short ones few and not where hosts
 * are looked for. */
static size_t make_list(struct xb_entry *entries, uint64_t *seed)
{
	size_t count = 0;

	for (uint8_t length = 6; length <= 31; length++)
		for (int i = 0; i < (length < 10 ? 1 : length < 16 ? 8 : 600); i++)
			entries[count++] = random_entry(seed, true, length);
	for (uint8_t length = 4; length <= 128; length++)
		for (int i = 0; i < (length < 12 ? 1 : 250); i++)
			entries[count++] = random_entry(seed, false, length);
	while (count < ENTRIES)
		entries[count++] = random_entry(seed, true, 32);
	return count;
}

struct world {
	struct rig rig;
	struct oracle oracle;
	struct xb_entry *entries;
	uint64_t seed;
	int program;
};

static int begin(void **state)
{
	struct world *world = calloc(1, sizeof(*world));
	const char *seed = getenv("XB_SEED");

	world->seed = seed ? strtoull(seed, NULL, 0) : 20260901;
	printf("seed %lu\n", world->seed);
	rig_begin(&world->rig, "oracle");
	world->entries = calloc(ENTRIES, sizeof(*world->entries));
	assert_int_equal(make_list(world->entries, &world->seed), ENTRIES);
	for (int i = 0; i < ENTRIES; i++)
		oracle_add(&world->oracle, &world->entries[i]);
	oracle_sort(&world->oracle);
	rig_add_all(&world->rig, world->entries, ENTRIES);
	world->program = rig_entry(&world->rig);
	*state = world;
	return 0;
}

static int end(void **state)
{
	struct world *world = *state;

	close(world->program);
	rig_end(&world->rig);
	oracle_free(&world->oracle);
	free(world->entries);
	free(world);
	return 0;
}

static void every_listed_source_drops(void **state)
{
	struct world *world = *state;

	for (int i = 0; i < ENTRIES; i++) {
		for (int j = 0; j < 4; j++) {
			struct xb_entry address = address_in(&world->seed, &world->entries[i]);
			char text[XB_ENTRY_TEXT];

			assert_true(oracle_listed(&world->oracle, &address));
			if (verdict(world->program, &address) != XDP_DROP)
				fail_msg("%s passed", xb_entry_format(&address, text));
		}
	}
}

static void unlisted_sources_keep_the_promise(void **state)
{
	struct world *world = *state;
	uint64_t probes[2] = {0}, dropped[2] = {0};

	while (probes[0] + probes[1] < UNLISTED_PROBES) {
		bool ipv4 = rig_random(&world->seed) & 1;
		/* Half of the IPv6 sources lie under a listed /32, where the most probes are. */
		struct xb_entry near = world->entries[rig_random(&world->seed) % ENTRIES];
		struct xb_entry address = random_entry(&world->seed, ipv4, ipv4 ? 32 : 128);

		if (!ipv4 && !xb_entry_is_ipv4(&near) && near.length >= 32)
			address.hi = (near.hi & 0xffffffff00000000ULL) | (address.hi & 0xffffffff);
		if (oracle_listed(&world->oracle, &address))
			continue;
		probes[!ipv4]++;
		dropped[!ipv4] += verdict(world->program, &address) == XDP_DROP;
	}
	for (int family = 0; family < 2; family++)
		printf("IPv%d: %lu of %lu unlisted dropped, rate %.2e\n", family ? 6 : 4,
		       dropped[family], probes[family],
		       (double)dropped[family] / (double)probes[family]);
	assert_true((double)(dropped[0] + dropped[1]) <= 1.1 * XB_DEFAULT_RATE * UNLISTED_PROBES);
}

/* The promise at its limit: a filter as full as its capacity allows. */
static void a_full_filter_keeps_the_promise(void **state)
{
	struct xb_geometry geometry;
	double rate;

	(void)state;
	for (double promise = 1e-2; promise > 1e-6; promise /= 10) {
		assert_int_equal(xb_size_bloom(1000000, promise, &geometry), 0);
		rate = xb_expected_rate(1e6 / geometry.blocks, geometry.probes);
		assert_true(rate <= promise && rate > promise * 0.98);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_listed_source_drops),
		cmocka_unit_test(unlisted_sources_keep_the_promise),
		cmocka_unit_test(a_full_filter_keeps_the_promise),
	};

	return cmocka_run_group_tests_name("oracle", tests, begin, end);
}
