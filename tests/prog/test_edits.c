/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Adds and deletes in place: what one entry's going does to the others, counters at their end,
 * every prefix length, listed and allowed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "engine/rotate.h"
#include "support/cmocka.h"
#include "support/counted_reason.h"
#include "support/oracle.h"
#include "support/random.h"
#include "support/rig.h"

static struct rig rig;
static int program;

static int begin(void **state)
{
	random_begin();
	rig_begin(&rig, "edits");
	program = rig_entry(&rig);
	return 0;
}

static int end(void **state)
{
	close(program);
	rig_end(&rig);
	return 0;
}

/* Nested prefixes and for each an address that only it and those around it cover: of each stage
 * one, and those that the exact stage has as addresses. */
#define NESTED 5

static const struct nested {
	const char *entry;
	uint32_t address;
} chains[][NESTED] = {
	{{"32.0.0.0/3", 0x3f000001},
	 {"40.0.0.0/8", 0x28ff0001},
	 {"40.64.0.0/17", 0x28400101},
	 {"40.64.3.0/24", 0x28400305},
	 {"40.64.3.9/32", 0x28400309}},
	{{"10.0.0.128/25", 0x0a0000ff},
	 {"10.0.0.128/26", 0x0a0000bf},
	 {"10.0.0.128/29", 0x0a000087},
	 {"10.0.0.128/31", 0x0a000081},
	 {"10.0.0.128/32", 0x0a000080}},
};

static void check_nested(const struct nested *chain, unsigned int listed)
{
	for (int i = 0; i < NESTED; i++) {
		bool covered = false;

		for (int j = 0; j <= i; j++)
			covered |= listed >> j & 1;
		if ((rig_run_ipv4(program, chain[i].address) == XDP_DROP) != covered)
			fail_msg("with the set %#x, the address of %s is wrong", listed,
				 chain[i].entry);
	}
}

static void delete_in_order(const struct nested *chain, const int *order)
{
	unsigned int listed = (1U << NESTED) - 1;

	for (int i = 0; i < NESTED; i++)
		rig_add(&rig, chain[order[NESTED - 1 - i]].entry, "default");
	check_nested(chain, listed);
	for (int i = 0; i < NESTED; i++) {
		assert_true(rig_del(&rig, chain[order[i]].entry, NULL));
		listed &= ~(1U << order[i]);
		check_nested(chain, listed);
	}
}

static void permute(const struct nested *chain, int *order, int at)
{
	if (at == NESTED) {
		delete_in_order(chain, order);
		return;
	}
	for (int i = at; i < NESTED; i++) {
		int kept = order[at];

		order[at] = order[i];
		order[i] = kept;
		permute(chain, order, at + 1);
		order[i] = order[at];
		order[at] = kept;
	}
}

TEST(overlapping_prefixes_in_every_order)
{
	int order[NESTED] = {0, 1, 2, 3, 4};

	for (size_t i = 0; i < sizeof(chains) / sizeof(chains[0]); i++)
		permute(chains[i], order, 0);
	assert_true(rig_matches_rebuild(&rig));
}

/* Every length of both families, alone: inside drops, outside passes, deleted passes. */
TEST(every_length_alone)
{
	for (int length = 0; length <= 32; length++) {
		uint32_t mask = length ? ~0U << (32 - length) : 0, network = 0x5a5a5a5a & mask;
		char text[64];

		snprintf(text, sizeof(text), "%u.%u.%u.%u/%d", network >> 24, network >> 16 & 255,
			 network >> 8 & 255, network & 255, length);
		rig_add(&rig, text, "default");
		assert_int_equal(rig_run_ipv4(program, network), XDP_DROP);
		assert_int_equal(rig_run_ipv4(program, network | ~mask), XDP_DROP);
		if (length)
			assert_int_equal(rig_run_ipv4(program, network ^ (1U << (32 - length))),
					 XDP_PASS);
		assert_true(rig_del(&rig, text, NULL));
		assert_int_equal(rig_run_ipv4(program, network), XDP_PASS);
		assert_int_equal(rig_run_ipv4(program, network | ~mask), XDP_PASS);
	}
	for (int length = 0; length <= 128; length++) {
		struct xb_entry whole = {.hi = 0x5a5a5a5a5a5a5a5a,
					 .lo = 0x5a5a5a5a5a5a5a5a,
					 .kind = XB_NET6,
					 .length = 128};
		struct xb_entry network = xb_entry_covering(&whole, (uint8_t)length);
		uint64_t hi = network.hi, lo = network.lo;
		char text[XB_ENTRY_TEXT + 8];

		xb_entry_format(&network, text);
		rig_add(&rig, text, "default");
		assert_int_equal(rig_run_ipv6(program, whole.hi, whole.lo), XDP_DROP);
		assert_int_equal(rig_run_ipv6(program, hi, lo), XDP_DROP);
		if (length) {
			uint64_t flip = 1ULL << ((128 - length) & 63);

			assert_int_equal(rig_run_ipv6(program, length <= 64 ? hi ^ flip : hi,
						      length <= 64 ? lo : lo ^ flip),
					 XDP_PASS);
		}
		assert_true(rig_del(&rig, text, NULL));
		assert_int_equal(rig_run_ipv6(program, hi, lo), XDP_PASS);
	}
	assert_true(rig_matches_rebuild(&rig));
}

TEST(deleting_what_is_absent_changes_no_counter)
{
	struct xb_generation *generation;
	size_t bytes;
	void *before;

	rig_add(&rig, "192.0.2.1", "default");
	generation = rig_generation(&rig);
	bytes = generation->file_bytes;
	before = malloc(bytes);
	memcpy(before, generation->header, bytes);
	assert_false(rig_del(&rig, "192.0.2.2", NULL));
	assert_false(rig_del(&rig, "192.0.2.0/25", NULL));
	assert_false(rig_del(&rig, "192.0.0.0/16", NULL));
	assert_false(rig_del(&rig, "2001:db8::1", NULL));
	assert_memory_equal(before, generation->header, bytes);
	free(before);
	xb_generation_close(generation);
	assert_true(rig_del(&rig, "192.0.2.1", NULL));
}

/* A counter forced to its end sticks: deletes leave the bit, a rotation heals. */
TEST(a_full_counter_sticks_until_rotation)
{
	struct xb_generation *generation;
	struct xb_probes probes;
	uint32_t block;

	rig_add(&rig, "192.0.2.1", "default");
	rig_add(&rig, "192.0.2.3", "default");
	generation = rig_generation(&rig);
	probes = xb_probes_of(&generation->params.key,
			      xb_hash_ipv4(&generation->params.key, 0xc0000201));
	block = xb_scale(probes.place, generation->params.host4.blocks);
	assert_int_equal(xb_generation_map_all(generation), 0);
	/* Fourteen other keys on the same counters, as it were. */
	memset(&generation->host4.counters[block], 0xee, sizeof(struct xb_counters));
	rig_add(&rig, "192.0.2.1", "again");
	assert_true(rig_del(&rig, "192.0.2.1", NULL));
	rig_add(&rig, "192.0.2.1", "default");
	rig_add(&rig, "192.0.2.0/31", "default"); /* the same address once more: 15 */
	for (int i = 0; i < XB_PROBES_FEW; i++) {
		int place = i * 64 + (int)xb_probe_bit(&probes, (uint32_t)i);

		assert_int_equal(
			generation->host4.counters[block].byte[place / 2] >> (place % 2 * 4) & 15,
			XB_COUNTER_STUCK);
	}
	assert_true(rig_del(&rig, "192.0.2.1", NULL));
	assert_int_equal(rig_run_ipv4(program, 0xc0000201), XDP_DROP);
	assert_true(rig_del(&rig, "192.0.2.0/31", NULL));
	/* stuck: a guess, which only the exact look-up knows to be wrong */
	assert_true(xb_bloom_contains(&generation->host4,
				      xb_hash_ipv4(&generation->params.key, 0xc0000201)));
	assert_int_equal(rig_run_ipv4(program, 0xc0000201), XDP_PASS);
	assert_int_equal(rig_run_ipv4(program, 0xc0000203), XDP_DROP);
	xb_generation_close(generation);
	rig_rotate(&rig);
	generation = rig_generation(&rig);
	assert_int_equal(xb_generation_map_all(generation), 0);
	assert_false(xb_bloom_contains(&generation->host4,
				       xb_hash_ipv4(&generation->params.key, 0xc0000201)));
	xb_generation_close(generation);
	assert_int_equal(rig_run_ipv4(program, 0xc0000201), XDP_PASS);
	assert_int_equal(rig_run_ipv4(program, 0xc0000203), XDP_DROP);
	assert_true(rig_matches_rebuild(&rig));
	assert_true(rig_del(&rig, "192.0.2.3", NULL));
}

/* Adds past the capacity: each is in force when acknowledged, and the filter grows by itself. */
TEST(a_full_filter_grows)
{
	struct xb_generation *generation;
	struct xb_entry entries[256];
	uint64_t first, now;

	rig_add(&rig, "10.0.0.0", "default");
	generation = rig_generation(&rig);
	first = generation->params.host4.capacity;
	xb_generation_close(generation);
	for (uint32_t base = 1; base < first + 2000; base += 256) {
		for (uint32_t i = 0; i < 256; i++)
			entries[i] =
				(struct xb_entry){.hi = (uint64_t)(0x0a000000 + base + i) << 32,
						  .kind = XB_HOST4,
						  .length = 32};
		rig_add_all(&rig, entries, 256);
		assert_int_equal(rig_run_ipv4(program, 0x0a000000 + base), XDP_DROP);
		assert_int_equal(rig_run_ipv4(program, 0x0a000000 + base + 255), XDP_DROP);
	}
	generation = rig_generation(&rig);
	now = generation->params.host4.capacity;
	xb_generation_close(generation);
	assert_true(now > first && now >= first + 2000);
	for (uint32_t i = 0; i < first + 2000; i++)
		assert_int_equal(rig_run_ipv4(program, 0x0a000000 + i), XDP_DROP);
	assert_true(rig_matches_rebuild(&rig));
}

static uint64_t capacity(void)
{
	struct xb_generation *generation = rig_generation(&rig);
	uint64_t now = generation->params.host4.capacity;

	xb_generation_close(generation);
	return now;
}

TEST(who_filled_the_filter_is_told)
{
	struct xb_written other = {0};
	struct xb_entry entries[256];
	uint64_t before = capacity();
	uint32_t next = 0x0c000000;

	while (!rig.written.growth_due) {
		for (uint32_t i = 0; i < 256; i++)
			entries[i] = (struct xb_entry){
				.hi = (uint64_t)next++ << 32, .kind = XB_HOST4, .length = 32};
		rig_change_all(&rig, entries, 256, true);
		assert_true(next < 0x0c000000 + before + before / 8 + 512);
	}
	xb_write_settle(&rig.paths, &other);
	assert_int_equal(capacity(), before);
	xb_write_settle(&rig.paths, &rig.written);
	assert_true(capacity() > before);
	assert_false(rig.written.growth_due);
}

/* ---- The allowlist ---- */

/* The reason a frame from this address is counted as. */
static int reason_of(const struct xb_entry *address)
{
	struct xb_counts before, after;
	enum xb_reason found;
	uint32_t verdict;

	rig_counts(&rig, &before);
	verdict = rig_run_from(program, address);
	rig_counts(&rig, &after);
	found = counted_reason(&before, &after);
	assert_int_equal(verdict, xb_reason_drops(found) ? XDP_DROP : XDP_PASS);
	return found;
}

static void check_allowed(const struct xb_entry *address, bool listed, bool allowed,
			  const char *what)
{
	int reason = reason_of(address);
	char text[XB_ENTRY_TEXT];

	if (reason == XB_ALLOWED ? listed && allowed
				 : listed == xb_reason_drops(reason) && !(listed && allowed))
		return;
	fail_msg("%s: %s is counted as reason %d, listed %d, allowed %d", what,
		 xb_entry_format(address, text), reason, listed, allowed);
}

/* The address with one bit turned, counted from the first. */
static struct xb_entry turned(const struct xb_entry *address, int bit)
{
	struct xb_entry other = *address;

	if (bit < 64)
		other.hi ^= 1ULL << (63 - bit);
	else
		other.lo ^= 1ULL << (127 - bit);
	return other;
}

/* One entry listed and one allowed around an address: inside both it passes, just outside the
 * allowed one it drops as before. */
static void check_pair(const struct xb_entry *address, uint8_t listed, uint8_t allowed)
{
	struct xb_entry network = xb_entry_covering(address, allowed),
			entry = xb_entry_allow(&network);
	char what[64];

	snprintf(what, sizeof(what), "/%u listed, /%u allowed", listed, allowed);
	rig_change_all(&rig, &entry, 1, true);
	check_allowed(address, true, true, what);
	if (listed < xb_entry_full_length(address)) {
		struct xb_entry last = turned(address, xb_entry_full_length(address) - 1);

		check_allowed(&last, true, allowed < xb_entry_full_length(address), what);
	}
	if (allowed) {
		struct xb_entry outside = turned(address, allowed - 1);

		check_allowed(&outside, allowed > listed, false, what);
	}
	rig_change_all(&rig, &entry, 1, false);
	check_allowed(address, true, false, what);
}

static void check_lengths(bool ipv4, uint8_t listed)
{
	struct xb_entry address = oracle_random(&random_state, ipv4, ipv4 ? 32 : 128);
	struct xb_entry network = xb_entry_covering(&address, listed);

	rig_change_all(&rig, &network, 1, true);
	for (int allowed = 0; allowed <= (ipv4 ? 32 : 128); allowed++)
		check_pair(&address, listed, (uint8_t)allowed);
	rig_change_all(&rig, &network, 1, false);
}

/* Every length of what is allowed, in what each stage has listed. */
TEST(the_allowlist_wins_at_every_length)
{
	static const uint8_t lengths4[] = {0, 24, 25, 32}, lengths6[] = {0, 32, 64, 128};

	for (size_t i = 0; i < sizeof(lengths4); i++)
		check_lengths(true, lengths4[i]);
	for (size_t i = 0; i < sizeof(lengths6); i++)
		check_lengths(false, lengths6[i]);
	assert_true(rig_matches_rebuild(&rig));
}

ALL_TESTS(begin, end);
