/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Floods: of forged sources, of listed ones, of random names below a listed and an unlisted domain.
 * Each packet has its verdict and its counter, and the kernel's memory stays as it was. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "attach/topnames.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/crowd.h"
#include "support/dns.h"
#include "support/mapbytes.h"
#include "support/random.h"
#include "support/source.h"

#define HOSTS	100000
#define NETS6	20000
#define NAMES	5000
#define FRAMES	amount(1000000, 4000000)
#define QUERIES 200000

static struct rig rig;
static uint32_t seed;
static uint64_t stable4[SOURCE_STABLE], stable6[SOURCE_STABLE];
static uint64_t memory_before;
static struct xb_counts before;

static struct xb_entry listed4(uint32_t number)
{
	uint32_t address = source_unmarked4(number, seed + 1) | SOURCE_MARK4;

	return (struct xb_entry){.hi = (uint64_t)address << 32, .kind = XB_HOST4, .length = 32};
}

static struct xb_entry listed6(uint32_t number)
{
	uint64_t own = (uint64_t)(number / SOURCE_BLOCKS) << 17;

	return (struct xb_entry){.hi = SOURCE_BLOCK6(number % SOURCE_BLOCKS) | own | SOURCE_MARK6,
				 .kind = XB_NET6,
				 .length = 64};
}

/* All maps of the generation and the link. */
static uint64_t memory(void)
{
	struct xb_generation *generation = rig_generation(&rig);
	uint64_t bytes = 0;
	struct xb_anchor anchor;

	for (int i = 0; i < XB_MAPS; i++)
		bytes += generation->map[i] >= 0 ? map_bytes(generation->map[i]) : 0;
	xb_generation_close(generation);
	assert_int_equal(xb_anchor_open(rig.pins, &anchor), 0);
	bytes += map_bytes(anchor.ifaces) + map_bytes(anchor.stats) + map_bytes(anchor.watch) +
		 map_bytes(anchor.notes) + map_bytes(anchor.drops) + map_bytes(anchor.hits) +
		 map_bytes(anchor.hits_names);
	xb_anchor_close(&anchor);
	return bytes;
}

static void flood_begins(void)
{
	rig_counts(&rig, &before);
	memory_before = memory();
	assert_true(memory_before > 0);
}

/* Packets since then; all of them are expected among the reasons that are asked for. */
static uint64_t counted(enum xb_reason reason)
{
	struct xb_counts now;

	rig_counts(&rig, &now);
	return now.reason[reason].packets - before.reason[reason].packets;
}

static void flood_ends(void)
{
	assert_int_equal(memory(), memory_before);
}

static void send_crowd(enum crowd_kind kind, const uint64_t *stable)
{
	struct crowd *crowd = crowd_open(&rig, kind, 0, seed);

	if (stable)
		crowd_choose(crowd, stable, SOURCE_STABLE);
	crowd_send(crowd, FRAMES);
	crowd_close(crowd);
}

TEST(forged_sources)
{
	for (enum crowd_kind kind = CROWD_INNOCENT4; kind <= CROWD_INNOCENT6; kind++) {
		uint64_t guessed;

		flood_begins();
		send_crowd(kind, NULL);
		guessed = counted(XB_UNCONFIRMED);
		assert_int_equal(counted(XB_CLEAN) + guessed, FRAMES);
		assert_true((double)guessed <= 1.1 * XB_CONFIRMED_RATE * FRAMES);
		flood_ends();
	}
}

TEST(listed_sources)
{
	flood_begins();
	send_crowd(CROWD_STABLE4, stable4);
	assert_int_equal(counted(XB_LISTED_IPV4_HOST), FRAMES);
	flood_ends();
	flood_begins();
	send_crowd(CROWD_STABLE6, stable6);
	assert_int_equal(counted(XB_LISTED_IPV6), FRAMES);
	flood_ends();
}

/* Queries for labels by chance, up to three of them, in front of the domain. */
static void random_names(const char *domain, uint32_t verdict)
{
	int program = rig_entry(&rig);

	for (int i = 0; i < QUERIES; i++) {
		char name[256];
		struct dns_frame frame;
		int size = 0;

		for (uint32_t labels = random_word() % 3 + 1; labels; labels--)
			size += snprintf(name + size, 32, "%x.", random_word());
		snprintf(name + size, 64, "%s", domain);
		dns_query(name, i & 1, &frame);
		assert_int_equal(rig_run(program, frame.byte, frame.size), verdict);
	}
	close(program);
}

TEST(subdomains)
{
	struct xb_topname *hits;
	struct xb_anchor anchor;
	size_t count;

	flood_begins();
	random_names("listed.test", XDP_DROP);
	assert_int_equal(counted(XB_NAME_DROPPED), QUERIES);
	flood_ends();
	flood_begins();
	random_names("refused.test", XDP_TX);
	assert_int_equal(counted(XB_NAME_REFUSED), QUERIES);
	flood_ends();
	flood_begins();
	random_names("clean.test", XDP_PASS);
	assert_int_equal(counted(XB_NAME_CLEAN), QUERIES);
	flood_ends();
	/* Names are told as they are listed, not as they were asked for. */
	assert_int_equal(xb_anchor_open(rig.pins, &anchor), 0);
	assert_int_equal(xb_topnames_read(&anchor, &hits, &count), 0);
	assert_int_equal(count, 2);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(hits[i].packets, QUERIES);
	free(hits);
	xb_anchor_close(&anchor);
}

/* More listed names than there are places to count them in. */
TEST(many_listed_names)
{
	int program = rig_entry(&rig);
	struct xb_topname *hits;
	struct xb_anchor anchor;
	size_t count;

	flood_begins();
	for (int i = 0; i < QUERIES; i++) {
		struct dns_frame frame;
		char name[64];

		snprintf(name, sizeof(name), "x.n%u.many.test", random_word() % NAMES);
		dns_query(name, false, &frame);
		assert_int_equal(rig_run(program, frame.byte, frame.size), XDP_DROP);
	}
	assert_int_equal(counted(XB_NAME_DROPPED), QUERIES);
	flood_ends();
	assert_int_equal(xb_anchor_open(rig.pins, &anchor), 0);
	assert_int_equal(xb_topnames_read(&anchor, &hits, &count), 0);
	printf("%zu of %d listed names told\n", count, NAMES);
	assert_true(count > 2);
	assert_true(count <= XB_HITS_SLOTS * (size_t)sysconf(_SC_NPROCESSORS_CONF));
	free(hits);
	xb_anchor_close(&anchor);
	close(program);
}

static void list_many_names(void)
{
	static uint8_t forms[NAMES][32];
	struct xb_entry *entries = calloc(NAMES, sizeof(*entries));

	for (int i = 0; i < NAMES; i++) {
		char name[64];

		snprintf(name, sizeof(name), "n%d.many.test", i);
		assert_int_equal(xb_entry_parse(name, strlen(name), forms[i], &entries[i], NULL),
				 0);
	}
	rig_add_all(&rig, entries, NAMES);
	free(entries);
}

static int begin(void **state)
{
	struct xb_entry *entries = calloc(HOSTS + NETS6, sizeof(*entries));

	random_begin();
	seed = random_word();
	rig_begin(&rig, "floods");
	for (uint32_t i = 0; i < HOSTS; i++)
		entries[i] = listed4(i);
	for (uint32_t i = 0; i < NETS6; i++)
		entries[HOSTS + i] = listed6(i);
	for (uint32_t i = 0; i < SOURCE_STABLE; i++) {
		stable4[i] = xb_entry_ipv4(&entries[i]);
		stable6[i] = entries[HOSTS + i].hi;
	}
	rig_add_all(&rig, entries, HOSTS + NETS6);
	rig_verdict(&rig, "refused", XB_DOMAIN_REFUSED);
	rig_add(&rig, "listed.test", "default");
	rig_add(&rig, "refused.test", "refused");
	list_many_names();
	free(entries);
	return 0;
}

static int end(void **state)
{
	rig_end(&rig);
	return 0;
}

ALL_TESTS(begin, end);
