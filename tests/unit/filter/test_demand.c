/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How large a generation is for what is listed, and whether there is room for it. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "base/error.h"
#include "bloom/exact.h"
#include "bloom/sizing.h"
#include "filter/demand.h"
#include "filter/generation.h"
#include "filter/levels6.h"
#include "support/cmocka.h"

static const struct xb_demand nothing = {.rate = 1e-4, .length_cells = 1, .cell_words = 1};

/* What is no size stays. */
static struct xb_params sized(const struct xb_demand *demand)
{
	struct xb_params params, before;

	memset(&before, 0xff, sizeof(before));
	xb_levels6_choose(NULL, 0, &before.levels6);
	before.limits = (struct xb_limits){0};
	params = before;
	assert_int_equal(xb_demand_size(demand, &params), 0);
	assert_true(xb_params_are_sound(&params));
	assert_int_equal(params.generation, before.generation);
	assert_int_equal(params.store, before.store);
	assert_int_equal(params.rate, before.rate);
	assert_int_equal(params.answer_limit, before.answer_limit);
	assert_int_equal(params.allow_only, before.allow_only);
	assert_memory_equal(&params.key, &before.key, sizeof(params.key));
	assert_memory_equal(&params.ports, &before.ports, sizeof(params.ports));
	return params;
}

/* By a level that is shorter than its length, or much longer, a prefix would have any number of
 * keys. */
TEST(levels_that_are_none)
{
	static const struct {
		uint8_t length, level;
		bool sound;
	} rows[] = {{33, 33, true},    {33, 37, true},	 {33, 38, false},   {33, 32, false},
		    {64, 68, true},    {64, 69, false},	 {64, 0, false},    {127, 128, true},
		    {127, 129, false}, {128, 128, true}, {128, 132, false}, {128, 127, false}};
	struct xb_params params = sized(&nothing);

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct xb_params other = params;

		other.levels6.of[rows[i].length - XB_LEVELS6_FIRST] = rows[i].level;
		assert_int_equal(xb_params_are_sound(&other), rows[i].sound);
	}
}

TEST(a_store_without_keys)
{
	struct xb_params params = sized(&nothing), none = params;

	none.host4 = none.net6 = none.names = (struct xb_geometry){0};
	none.confirm4 = none.confirm6 = none.confirm_names = (struct xb_buckets){0};
	none.allow_names = none.prefix4 = none.prefix6_pages = none.confirm = 0;
	none.length_cells = none.cell_words = none.length_probes = 0;
	none.layout = XB_GENERATION_LAYOUT;
	assert_memory_equal(&params, &none, sizeof(params));
}

TEST(each_stage_has_room_to_grow)
{
	static const uint64_t counts[] = {1, 8192 * 64, 8192 * 64 + 64, 10000000};

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		uint64_t keys = counts[i], room = keys + xb_size_headroom(keys);
		struct xb_demand demand = nothing;
		struct xb_params params;

		demand.host4_keys = demand.net6_keys = demand.names_keys = keys;
		demand.confirm = true;
		demand.capacity = keys; /* less than they are */
		params = sized(&demand);
		assert_int_equal(params.host4.capacity, room);
		assert_int_equal(params.net6.capacity, room);
		assert_int_equal(params.names.capacity, room);
		assert_true(xb_exact_room(&params.confirm4) >= room);
		assert_true(xb_exact_room(&params.confirm6) >= room);
		assert_true(xb_exact_room(&params.confirm_names) >= room);
	}
}

TEST(only_what_is_listed_has_a_stage)
{
	for (unsigned int bits = 0; bits < 16; bits++) {
		struct xb_demand demand = nothing;
		struct xb_params params;

		demand.host4_keys = bits & 1 ? 100 : 0;
		demand.net6_keys = bits & 2 ? 100 : 0;
		demand.names_keys = bits & 4 ? 100 : 0;
		demand.confirm = bits & 8;
		demand.prefix4 = bits & 1;
		demand.prefix6_pages = bits & 2 ? 7 : 0;
		demand.allow_names = 7;
		params = sized(&demand);
		assert_int_equal(params.host4.blocks != 0, (bits & 1) != 0);
		assert_int_equal(params.net6.blocks != 0, (bits & 2) != 0);
		assert_int_equal(params.length_cells, bits & 2 ? 1 : 0);
		assert_int_equal(params.cell_words, bits & 2 ? 1 : 0);
		assert_int_equal(params.names.blocks != 0, (bits & 4) != 0);
		assert_int_equal(params.confirm4.parts != 0, (bits & 9) == 9);
		assert_int_equal(params.confirm6.parts != 0, (bits & 10) == 10);
		assert_int_equal(params.confirm_names.parts != 0, (bits & 4) != 0);
		assert_int_equal(params.allow_names, bits & 4 ? 1024 + 2 * 7 : 0);
		assert_int_equal(params.prefix4, bits & 1);
		assert_int_equal(params.prefix6_pages, bits & 2 ? 7 : 0);
		assert_int_equal(params.confirm, (bits & 8) != 0);
	}
}

TEST(the_wanted_capacity_is_shared)
{
	struct xb_demand demand = nothing;
	struct xb_params params;

	demand.host4_keys = 1000;
	demand.net6_keys = 3000;
	demand.names_keys = 6000;
	demand.capacity = 10000000;
	params = sized(&demand);
	assert_in_range(params.host4.capacity, 999999, 1000000);
	assert_in_range(params.net6.capacity, 2999999, 3000000);
	assert_in_range(params.names.capacity, 5999999, 6000000);
}

/* The promise is per packet, which may probe as often; names are only a matter of cost. */
TEST(rates)
{
	struct xb_demand demand = nothing;
	struct xb_geometry expected;
	struct xb_params params;

	demand.net6_keys = demand.names_keys = demand.host4_keys = 1000000;
	demand.length_probes = 8;
	demand.length_cells = 77;
	demand.cell_words = 78;
	params = sized(&demand);
	assert_int_equal(params.length_probes, 11); /* a quarter and one more */
	assert_int_equal(params.length_cells, 77);
	assert_int_equal(params.cell_words, 78);
	assert_int_equal(xb_size_bloom(params.net6.capacity, 1e-4 / 11, &expected), 0);
	assert_memory_equal(&params.net6, &expected, sizeof(expected));
	assert_int_equal(xb_size_bloom(params.host4.capacity, 1e-4, &expected), 0);
	assert_memory_equal(&params.host4, &expected, sizeof(expected));
	assert_int_equal(xb_size_bloom(params.names.capacity, 1e-2, &expected), 0);
	assert_memory_equal(&params.names, &expected, sizeof(expected));
}

static void assert_twice(const struct xb_buckets *loose, const struct xb_buckets *tight)
{
	assert_true(xb_exact_room(loose) >= xb_exact_room(tight) * 199 / 100);
}

TEST(slack_makes_tables_larger)
{
	struct xb_demand demand = nothing;
	struct xb_params tight, loose;

	demand.host4_keys = demand.net6_keys = demand.names_keys = 1000000;
	demand.confirm = true;
	tight = sized(&demand);
	demand.slack = 8;
	loose = sized(&demand);
	assert_twice(&loose.confirm4, &tight.confirm4);
	assert_twice(&loose.confirm6, &tight.confirm6);
	assert_twice(&loose.confirm_names, &tight.confirm_names);
	assert_memory_equal(&loose.host4, &tight.host4, sizeof(tight.host4));
}

static void assert_too_large(struct xb_demand demand)
{
	struct xb_params params = {0};

	assert_int_equal(xb_demand_size(&demand, &params), -E2BIG);
	assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
	xb_error_clear();
}

TEST(what_no_filter_can_be)
{
	struct xb_demand demand = nothing;

	demand.host4_keys = 1ULL << 45;
	assert_too_large(demand);
	demand.host4_keys = 1;
	demand.capacity = UINT64_MAX;
	assert_too_large(demand);
	/* the blocks could be addressed, but not the buckets */
	demand.capacity = 0;
	demand.host4_keys = 1ULL << 37;
	demand.rate = 0.1;
	sized(&demand);
	demand.confirm = true;
	assert_too_large(demand);
	demand = nothing;
	demand.names_keys = 1;
	demand.allow_names = 1ULL << 31;
	assert_too_large(demand);
}

static char run[] = "/tmp/xb-run-XXXXXX", below[sizeof(run) + sizeof("/below")];
static const struct xb_paths paths = {.run = run};

/* A file system of so many bytes as the run directory, in a mount namespace of the process. */
static void mount_run(uint64_t bytes)
{
	char size[32];

	snprintf(size, sizeof(size), "size=%llu", (unsigned long long)bytes);
	if (mount("tmpfs", run, "tmpfs", 0, size))
		skip();
}

static int leave_mounts(void **state)
{
	if (!mkdtemp(run) || unshare(CLONE_NEWNS) ||
	    mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL))
		return -1;
	snprintf(below, sizeof(below), "%s/below", run);
	return 0;
}

static int take_directory(void **state)
{
	return rmdir(run);
}

static int unmount_run(void **state)
{
	umount2(run, MNT_DETACH);
	return 0;
}

#define MIB (1ULL << 20)

static void assert_met(const struct xb_paths *where, uint64_t bytes)
{
	uint64_t keys = (bytes - XB_DEMAND_BYTES) / XB_DEMAND_KEY_BYTES;

	assert_true(xb_demand_is_met(where, 0));
	assert_true(xb_demand_is_met(where, keys));
	assert_false(xb_demand_is_met(where, keys + 1));
	assert_false(xb_demand_is_met(where, UINT64_MAX));
}

TEST_WITH(room_for_a_generation, NULL, unmount_run)
{
	const struct xb_paths inside = {.run = below}, nowhere = {.run = "/nowhere/at/all"};
	const struct xb_paths in_a_file = {.run = "/proc/self/exe/run"};

	mount_run(XB_DEMAND_BYTES + 2 * MIB);
	assert_met(&paths, XB_DEMAND_BYTES + 2 * MIB);
	assert_met(&inside, XB_DEMAND_BYTES + 2 * MIB); /* where it will be made */
	unmount_run(NULL);
	mount_run(XB_DEMAND_BYTES);
	assert_false(xb_demand_is_met(&paths, 0));
	/* What nobody knows is none. */
	assert_false(xb_demand_is_met(&nowhere, 0));
	assert_false(xb_demand_is_met(&in_a_file, 0));
}

static void assert_lacks(const struct xb_params *params, const char *what)
{
	assert_int_equal(xb_demand_check(&paths, params), -ENOSPC);
	assert_int_equal(xb_error_class(), XB_ERROR_SYSTEM);
	if (!strstr(xb_error_message(), what))
		fail_msg("%s", xb_error_message());
	xb_error_clear();
}

TEST_WITH(counters_need_room_in_the_run_directory, NULL, unmount_run)
{
	struct xb_demand demand = nothing;
	struct xb_params params;

	mount_run(8 * MIB);
	params = sized(&demand);
	assert_int_equal(xb_demand_check(&paths, &params), 0);
	demand.host4_keys = 100000;
	params = sized(&demand);
	assert_true(xb_generation_file_bytes(&params) < 8 * MIB);
	assert_int_equal(xb_demand_check(&paths, &params), 0);
	while (xb_generation_file_bytes(&params) <= 8 * MIB) {
		demand.host4_keys += 100000;
		params = sized(&demand);
	}
	assert_lacks(&params, run);
}

TEST(maps_need_memory)
{
	struct xb_demand demand = nothing;
	struct xb_params params;

	demand.host4_keys = 1ULL << 36;
	params = sized(&demand);
	assert_lacks(&params, "the filter needs");
}

ALL_TESTS(leave_mounts, take_directory);
