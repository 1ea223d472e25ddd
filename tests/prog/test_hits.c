/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The listed names that packets hit, as `stats` tells them: which, and never too many; and floods
 * of queries, which take no memory of the kernel's. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "attach/topnames.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/dns.h"
#include "support/random.h"

struct found {
	struct xb_topname *all;
	size_t count;
};

static struct found read_hits(struct rig *rig)
{
	struct found found;
	struct xb_anchor anchor;

	assert_int_equal(xb_anchor_open(rig->pins, &anchor), 0);
	assert_int_equal(xb_topnames_read(&anchor, &found.all, &found.count), 0);
	xb_anchor_close(&anchor);
	return found;
}

static uint64_t packets_of(const struct found *found, const char *name)
{
	uint64_t packets = 0;

	for (size_t i = 0; i < found->count; i++)
		if (!strcmp(found->all[i].name, name))
			packets += found->all[i].packets;
	return packets;
}

static void expect(struct rig *rig, const char *name, uint64_t packets, size_t count)
{
	struct found found = read_hits(rig);

	if (found.count != count || packets_of(&found, name) != packets)
		fail_msg("%s: %lu packets, %zu names; expected %lu, %zu", name,
			 packets_of(&found, name), found.count, packets, count);
	free(found.all);
}

static void ask(int program, const char *name, int times)
{
	struct dns_frame frame;

	for (int i = 0; i < times; i++) {
		dns_query(name, i & 1, &frame);
		rig_run(program, frame.byte, frame.size);
	}
}

/* A rig for each name: two may fall on one slot. */
static int begin(struct rig *rig, const char *entry)
{
	rig_begin(rig, "hits");
	rig_add(rig, entry, "default");
	return rig_entry(rig);
}

static void end(struct rig *rig, int program)
{
	close(program);
	rig_end(rig);
}

TEST(a_domain_is_counted)
{
	struct rig rig;
	int program = begin(&rig, "example.com");

	expect(&rig, "example.com", 0, 0);
	ask(program, "example.org", 1);
	expect(&rig, "example.org", 0, 0);
	ask(program, "example.com", 1);
	expect(&rig, "example.com", 1, 1);
	ask(program, "WWW.Example.COM", 2);
	expect(&rig, "example.com", 3, 1);
	rig_allow(&rig, "good.example.com");
	ask(program, "good.example.com", 2);
	expect(&rig, "example.com", 3, 1);
	rig_policy(&rig, XB_POLICY_MONITOR);
	ask(program, "example.com", 1);
	expect(&rig, "example.com", 4, 1);
	rig_rotate(&rig);
	expect(&rig, "example.com", 4, 1);
	ask(program, "x.example.com", 2);
	expect(&rig, "example.com", 6, 1);
	end(&rig, program);
}

TEST(a_name_alone_is_counted)
{
	struct rig rig;
	int program = begin(&rig, "=only.example.net");

	ask(program, "below.only.example.net", 1);
	expect(&rig, "=only.example.net", 0, 0);
	ask(program, "only.example.net", 1);
	expect(&rig, "=only.example.net", 1, 1);
	end(&rig, program);
}

TEST(long_names_are_counted)
{
	static const char longest[] =
		"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz12345678901."
		"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz12345678901."
		"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz12345678901."
		"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz123456789";
	char most[254] = "", deepest[255];
	struct rig rig;
	int program = begin(&rig, longest);

	ask(program, longest, 2);
	expect(&rig, longest, 2, 1);
	end(&rig, program);
	for (int i = 0; i < 126; i++)
		strcat(most, "m.");
	strcat(most, "m");
	program = begin(&rig, most);
	ask(program, most, 2);
	expect(&rig, most, 2, 1);
	end(&rig, program);
	snprintf(deepest, sizeof(deepest), "=%s", most);
	program = begin(&rig, deepest);
	ask(program, most, 2);
	expect(&rig, deepest, 2, 1);
	end(&rig, program);
}

/* Of several listed domains it is the one that the verdict is from. */
TEST(the_decisive_name_is_counted)
{
	struct rig rig;
	int program = begin(&rig, "example.com");

	rig_add(&rig, "www.example.com", "strong");
	rig_verdict(&rig, "default", XB_DOMAIN_COUNT);
	rig_verdict(&rig, "strong", XB_DOMAIN_REFUSED);
	ask(program, "a.www.example.com", 3);
	expect(&rig, "www.example.com", 3, 1);
	end(&rig, program);
	program = begin(&rig, "example.com");
	rig_add(&rig, "www.example.com", "weak");
	rig_verdict(&rig, "weak", XB_DOMAIN_COUNT);
	ask(program, "a.www.example.com", 3);
	expect(&rig, "example.com", 3, 1);
	end(&rig, program);
}

#define CROWD 20000
#define HEAVY 20
#define TURNS 50

static void crowd_name(int number, char out[32])
{
	snprintf(out, 32, "n%d.example.com", number);
}

/* Of 20 slots' worth of names in every slot, those with many packets are told. */
TEST(a_crowd_hides_no_heavy_name)
{
	static uint8_t forms[CROWD][XB_NAME_BYTES];
	struct xb_entry *entries = calloc(CROWD, sizeof(*entries));
	uint64_t told = 0, memory;
	struct found found;
	struct rig rig;
	char name[32];
	int program;

	rig_begin(&rig, "hits-crowd");
	program = rig_entry(&rig);
	for (int i = 0; i < CROWD; i++) {
		crowd_name(i, name);
		assert_int_equal(xb_entry_parse(name, strlen(name), forms[i], &entries[i], NULL),
				 0);
	}
	rig_add_all(&rig, entries, CROWD);
	memory = rig_memory(&rig);
	assert_true(memory > 0);
	for (int turn = 0; turn < TURNS; turn++) {
		for (int i = HEAVY + turn; i < CROWD; i += TURNS) {
			crowd_name(i, name);
			ask(program, name, 1);
		}
		for (int i = 0; i < HEAVY; i++) {
			crowd_name(i, name);
			ask(program, name, 40 + i);
		}
	}
	found = read_hits(&rig);
	for (size_t i = 0; i < found.count; i++) {
		int number = atoi(found.all[i].name + 1);
		uint64_t asked = number < HEAVY ? (uint64_t)TURNS * (40 + number) : 1;

		if (found.all[i].packets > asked)
			fail_msg("%s: %lu packets, of %lu", found.all[i].name, found.all[i].packets,
				 asked);
		assert_true(!i || found.all[i].packets <= found.all[i - 1].packets);
		told += number < HEAVY;
	}
	/* Two may share a slot, and take it from each other; more than four pairs are a few runs in
	 * a million. */
	assert_true(told >= HEAVY - 4);
	for (size_t i = 0; i < HEAVY - 8; i++)
		assert_true(found.all[i].packets > TURNS * 30);
	assert_true(found.count <= XB_HITS_SLOTS * (size_t)sysconf(_SC_NPROCESSORS_CONF));
	assert_int_equal(rig_memory(&rig), memory);
	free(found.all);
	free(entries);
	close(program);
	rig_end(&rig);
}

#define QUERIES amount(20000, 200000)

/* Queries for labels by chance, up to three of them, in front of the domain. */
static void ask_random_names(int program, const char *domain, uint32_t verdict)
{
	for (uint32_t i = 0; i < QUERIES; i++) {
		struct dns_frame frame;
		char name[256];
		int size = 0;

		for (uint32_t labels = random_word() % 3 + 1; labels; labels--)
			size += snprintf(name + size, 32, "%x.", random_word());
		snprintf(name + size, 64, "%s", domain);
		dns_query(name, i & 1, &frame);
		assert_int_equal(rig_run(program, frame.byte, frame.size), verdict);
	}
}

/* Names are told as they are listed, not as they were asked for. */
TEST(a_flood_of_random_names)
{
	static const struct {
		const char *domain;
		enum xb_domain_verdict verdict;
		uint32_t wanted;
		enum xb_reason reason;
	} floods[] = {{"example.com", XB_DOMAIN_DROP, XDP_DROP, XB_NAME_DROPPED},
		      {"example.com", XB_DOMAIN_REFUSED, XDP_TX, XB_NAME_REFUSED},
		      {"clean.test", XB_DOMAIN_DROP, XDP_PASS, XB_NAME_CLEAN}};

	random_begin();
	for (size_t i = 0; i < sizeof(floods) / sizeof(floods[0]); i++) {
		bool listed = floods[i].reason != XB_NAME_CLEAN;
		struct xb_counts before, after;
		struct rig rig;
		int program = begin(&rig, "example.com");
		uint64_t memory;

		rig_verdict(&rig, "default", floods[i].verdict);
		memory = rig_memory(&rig);
		rig_counts(&rig, &before);
		ask_random_names(program, floods[i].domain, floods[i].wanted);
		rig_counts(&rig, &after);
		assert_int_equal(after.reason[floods[i].reason].packets -
					 before.reason[floods[i].reason].packets,
				 QUERIES);
		assert_int_equal(rig_memory(&rig), memory);
		expect(&rig, floods[i].domain, listed ? QUERIES : 0, listed);
		end(&rig, program);
	}
}
