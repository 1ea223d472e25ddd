/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Limits that let known sources send more, in the program as it ships: by how much, who is known,
 * and who no longer is. */
#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <unistd.h>

#include "attach/anchor.h"
#include "attach/knownpins.h"
#include "engine/known.h"
#include "support/cmocka.h"
#include "support/entryof.h"
#include "support/knowing.h"
#include "support/service_frame.h"

#define FACTOR 10
#define BURST  5

static struct rig rig;
static int program;
static struct xb_anchor anchor;

static int begin(void **state)
{
	leave_cgroups();
	rig_begin(&rig, "limits-known");
	program = rig_entry(&rig);
	rig_must(xb_anchor_open(rig.pins, &anchor), "link");
	return 0;
}

static int end(void **state)
{
	xb_anchor_close(&anchor);
	close(program);
	rig_end(&rig);
	return 0;
}

static uint64_t counted(enum xb_reason reason)
{
	struct xb_counts counts;

	rig_must(xb_anchor_counts(&anchor, 0, &counts), "counts");
	return counts.reason[reason].packets;
}

/* How many of so many packets to tcp/443 are not over the limit. */
static uint64_t within(const char *source, uint32_t count)
{
	struct xb_entry entry = entry_of(source);
	struct service_frame frame = frame_to(&entry, XB_SERVICE_TCP, 443, FRAME_PLAIN);
	LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = frame.byte, .data_size_in = frame.size,
		    .repeat = (int)count);
	uint64_t over = counted(XB_LIMITED);

	assert_int_equal(bpf_prog_test_run_opts(program, &options), 0);
	return count - (counted(XB_LIMITED) - over);
}

/* The source has connected. */
static void meet(const char *source)
{
	struct xb_entry entry = entry_of(source);
	struct xb_known_line *lines;
	struct xb_knownpins known;
	struct xb_probes probes;
	uint32_t learner;

	rig_must(xb_knownpins_open(rig.pins, &known), "open");
	learner = known.known->learner;
	lines = xb_knownpins_lines(&known, learner);
	assert_non_null(lines);
	probes = xb_probes_of(
		&known.known->key,
		xb_entry_is_ipv4(&entry)
			? xb_known_hash_ipv4(&known.known->key, (uint32_t)(entry.hi >> 32))
			: xb_known_hash_ipv6(&known.known->key, entry.hi));
	xb_known_line_put(&lines[xb_scale(probes.place, known.known->lines[learner])], &probes,
			  (uint32_t)known.known->period, xb_known_put_bit);
	xb_knownpins_close(&known);
}

static void remember(bool on)
{
	knowing_wants(&rig, on, 1000, 1e-9);
}

static struct xb_limit limit_with(uint32_t known)
{
	struct xb_limit limit = rig_limit_of("web", "tcp/443", BURST);

	limit.capacity = 1000;
	limit.known = known;
	return limit;
}

static void put_limit(uint32_t known)
{
	struct xb_limit limit = limit_with(known);

	rig_limit(&rig, &limit);
}

/* The identity of the known sources that the filter in force looks up. */
static uint64_t looked_up(void)
{
	struct xb_generation *generation = rig_generation(&rig);
	uint64_t known = generation->params.known;

	xb_generation_close(generation);
	return known;
}

static void end_all(void)
{
	assert_true(rig_unlimit(&rig, "web"));
	remember(false);
	rig_must(xb_known_clear(&rig.paths), "clear");
}

TEST(known_sources_send_more)
{
	static const char *const known[] = {"198.51.100.7", "2001:db8::7"};
	static const char *const strangers[] = {"198.51.100.8", "2001:db8:0:1::7"};

	remember(true);
	meet(known[0]);
	meet(known[1]);
	put_limit(FACTOR);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(within(known[i], FACTOR * BURST), FACTOR * BURST);
		assert_int_equal(within(known[i], 5), 0);
		assert_int_equal(within(strangers[i], 10), BURST);
	}
	assert_true(rig_matches_rebuild(&rig));
	end_all();
}

/* All bursts and factors that make whole ticks: not one packet more or less. */
TEST(factors)
{
	static const struct {
		uint32_t burst, factor;
	} rows[] = {{1, 2}, {1, 3}, {1, 1000}, {5, 7}, {24, 999}, {255, 64}, {1025, 3}};

	remember(true);
	meet("198.51.100.7");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct xb_limit limit = rig_limit_of("web", "tcp/443", rows[i].burst);
		uint32_t may = rows[i].burst * rows[i].factor;

		limit.known = rows[i].factor;
		rig_limit(&rig, &limit);
		assert_int_equal(within("198.51.100.7", may), may);
		assert_in_range(within("198.51.100.7", 5), 0, may > 1025 ? 5 : 0);
	}
	end_all();
}

/* Frames of 54 bytes: of a burst of 65,536 bytes, and ten times as many. */
TEST(bytes)
{
	struct xb_limit limit = limit_with(FACTOR);
	uint64_t stranger, known;

	limit.of = XB_LIMIT_BYTES;
	limit.burst = 65536;
	limit.rate = 65536 / 24 + 1;
	remember(true);
	meet("198.51.100.7");
	rig_limit(&rig, &limit);
	stranger = within("198.51.100.8", 3000);
	known = within("198.51.100.7", 30000);
	print_message("%lu and %lu frames\n", stranger, known);
	assert_in_range(stranger, 65536 / 60, 65536 / 54 + 10);
	assert_in_range(known, stranger * FACTOR * 98 / 100, stranger * FACTOR * 101 / 100);
	end_all();
}

TEST(exempt)
{
	remember(true);
	meet("198.51.100.7");
	put_limit(XB_LIMIT_EXEMPT);
	assert_int_equal(within("198.51.100.7", 10000), 10000);
	assert_int_equal(within("198.51.100.8", 10), BURST);
	/* What passed was not counted. */
	rig_must(xb_known_clear(&rig.paths), "clear");
	knowing_settle(&rig);
	assert_int_equal(within("198.51.100.7", 10), BURST);
	end_all();
}

/* The strictest of several limits that a packet has, each by its own factor. */
TEST(each_limit_has_its_own)
{
	struct xb_limit all = rig_limit_of("all", "tcp", 12);

	all.capacity = 1000;
	remember(true);
	meet("198.51.100.7");
	put_limit(FACTOR);
	rig_limit(&rig, &all);
	assert_int_equal(within("198.51.100.7", 100), 12);
	assert_true(rig_unlimit(&rig, "all"));
	all.known = 2;
	rig_limit(&rig, &all);
	assert_int_equal(within("198.51.100.7", 100), 24);
	assert_int_equal(within("198.51.100.8", 100), BURST);
	assert_true(rig_unlimit(&rig, "all"));
	end_all();
}

/* A known source has the cells of its network, of which others use up what they may. */
TEST(networks)
{
	struct xb_limit limit = limit_with(FACTOR);

	limit.bits4 = 24;
	limit.bits6 = 48;
	remember(true);
	meet("198.51.100.7");
	meet("2001:db8::7");
	rig_limit(&rig, &limit);
	assert_int_equal(within("198.51.100.7", 30), 30); /* as much as 3 of a stranger */
	assert_int_equal(within("198.51.100.8", 10), 2);
	assert_int_equal(within("198.51.100.7", 10), 0);
	assert_int_equal(within("2001:db8:0:1::7", 3), 3);
	assert_int_equal(within("2001:db8::7", 30), 20);
	end_all();
}

/* The filter follows what is remembered: not yet, from now on, forgotten, no longer. */
TEST(who_is_known)
{
	uint64_t identity;

	put_limit(FACTOR);
	assert_int_equal(looked_up(), 0);
	assert_int_equal(within("198.51.100.7", 100), BURST);
	remember(true);
	identity = looked_up();
	assert_int_not_equal(identity, 0);
	assert_int_equal(within("198.51.100.7", 100), BURST);
	meet("198.51.100.7");
	/* What it sent before counts. */
	assert_int_equal(within("198.51.100.7", 100), 0);
	rig_rotate(&rig);
	assert_int_equal(looked_up(), identity);
	assert_int_equal(within("198.51.100.7", 100), FACTOR * BURST);
	rig_must(xb_known_clear(&rig.paths), "clear");
	knowing_settle(&rig);
	assert_int_not_equal(looked_up(), identity);
	assert_int_not_equal(looked_up(), 0);
	assert_int_equal(within("198.51.100.7", 100), BURST);
	meet("198.51.100.9");
	assert_int_equal(within("198.51.100.9", 100), FACTOR * BURST);
	remember(false);
	assert_int_equal(looked_up(), 0);
	assert_int_equal(within("198.51.100.9", 100), BURST);
	rig_must(xb_known_clear(&rig.paths), "clear");
	assert_true(rig_unlimit(&rig, "web"));
}

/* Limits without the option look nobody up, whether or not sources are remembered. */
TEST(only_limits_that_have_it)
{
	remember(true);
	meet("198.51.100.7");
	put_limit(1);
	assert_int_equal(looked_up(), 0);
	assert_int_equal(within("198.51.100.7", 100), BURST);
	end_all();
}

/* What a limit looks up, the policy admits only if it is to admit known sources. */
TEST(policies)
{
	remember(true);
	meet("198.51.100.7");
	put_limit(FACTOR);
	knowing_policy(&rig, XB_POLICY_ALLOW_ONLY, false);
	assert_int_equal(rig_run_ipv4(program, 0xc6336407), XDP_DROP);
	assert_int_equal(rig_run_ipv4(program, 0xc6336408), XDP_DROP);
	knowing_policy(&rig, XB_POLICY_ALLOW_ONLY, true);
	assert_int_equal(rig_run_ipv4(program, 0xc6336407), XDP_PASS);
	assert_int_equal(rig_run_ipv4(program, 0xc6336408), XDP_DROP);
	assert_int_equal(within("198.51.100.7", 100), FACTOR * BURST);
	knowing_policy(&rig, XB_POLICY_ENFORCE, false);
	assert_int_equal(rig_run_ipv4(program, 0xc6336408), XDP_PASS);
	end_all();
}

ALL_TESTS(begin, end);
