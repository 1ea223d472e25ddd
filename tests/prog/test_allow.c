/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The allowlist wins over every entry, at every length, through every change; and what the policies
 * do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <linux/bpf.h>

#include "support/amount.h"
#include "support/crowd.h"
#include "support/oracle.h"
#include "support/rig.h"

static uint64_t seed;
static struct rig rig;
static int program;

static int begin(void **state)
{
	(void)state;
	rig_begin(&rig, "allow");
	program = rig_entry(&rig);
	return 0;
}

static int end(void **state)
{
	(void)state;
	close(program);
	rig_end(&rig);
	return 0;
}

/* The reason a frame from this address is counted as. */
static int reason_of(const struct xb_entry *address)
{
	struct xb_counts before, after;
	int found = -1;
	uint32_t verdict;

	rig_counts(&rig, &before);
	verdict = rig_run_from(program, address);
	rig_counts(&rig, &after);
	for (int reason = 0; reason < XB_REASON_COUNT; reason++) {
		if (after.reason[reason].packets == before.reason[reason].packets)
			continue;
		assert_int_equal(found, -1);
		found = reason;
	}
	assert_int_equal(verdict, xb_reason_drops(found) ? XDP_DROP : XDP_PASS);
	return found;
}

static void check(const struct xb_entry *address, bool listed, bool allowed, const char *what)
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
	check(address, true, true, what);
	if (listed < xb_entry_full_length(address)) {
		struct xb_entry last = turned(address, xb_entry_full_length(address) - 1);

		check(&last, true, allowed < xb_entry_full_length(address), what);
	}
	if (allowed) {
		struct xb_entry outside = turned(address, allowed - 1);

		check(&outside, allowed > listed, false, what);
	}
	rig_change_all(&rig, &entry, 1, false);
	check(address, true, false, what);
}

static void check_lengths(bool ipv4, uint8_t listed)
{
	struct xb_entry address = oracle_random(&seed, ipv4, ipv4 ? 32 : 128);
	struct xb_entry network = xb_entry_covering(&address, listed);

	rig_change_all(&rig, &network, 1, true);
	for (int allowed = 0; allowed <= (ipv4 ? 32 : 128); allowed++)
		check_pair(&address, listed, (uint8_t)allowed);
	rig_change_all(&rig, &network, 1, false);
}

static void it_wins_at_every_length(void **state)
{
	static const uint8_t lengths6[] = {0, 1, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 127, 128};

	(void)state;
	for (int length = 0; length <= 32; length++)
		check_lengths(true, (uint8_t)length);
	for (size_t i = 0; i < sizeof(lengths6); i++)
		check_lengths(false, lengths6[i]);
	assert_true(rig_matches_rebuild(&rig));
}

/* ---- Many of them, against an oracle ---- */

#define ALLOWED 10000
#define ROUNDS	amount(2, 4)

struct allowlist {
	struct xb_entry entry[2 * ALLOWED];
	bool in[2 * ALLOWED];
};

/* Half of them below another one, so that deletes of nested ones come up. */
static void make_allowed(struct allowlist *allowlist)
{
	for (size_t i = 0; i < 2 * ALLOWED; i++) {
		bool ipv4 = i & 1;
		uint8_t full = ipv4 ? 32 : 128, shortest = ipv4 ? 12 : 10;
		uint8_t length = (uint8_t)(shortest + rig_random(&seed) % (full - shortest + 1U));
		struct xb_entry whole = oracle_random(&seed, ipv4, full), network;

		if (i > 2 && rig_random(&seed) & 1)
			whole = oracle_address_in(
				&seed, &allowlist->entry[rig_random(&seed) % (i / 2) * 2 + ipv4]);
		network = xb_entry_covering(&whole, length);
		allowlist->entry[i] = xb_entry_allow(&network);
	}
}

static int by_entry(const void *a, const void *b)
{
	return xb_entry_compare(a, b);
}

/* Nothing twice: a delete would leave a twin behind that the oracle still has. */
static void drop_twins(struct allowlist *allowlist)
{
	qsort(allowlist->entry, 2 * ALLOWED, sizeof(allowlist->entry[0]), by_entry);
	for (size_t i = 1; i < 2 * ALLOWED; i++)
		while (xb_entry_compare(&allowlist->entry[i], &allowlist->entry[i - 1]) <= 0) {
			struct xb_entry whole =
				oracle_random(&seed, xb_entry_is_ipv4(&allowlist->entry[i]),
					      xb_entry_full_length(&allowlist->entry[i]));

			allowlist->entry[i] = xb_entry_allow(&whole);
			qsort(allowlist->entry, 2 * ALLOWED, sizeof(allowlist->entry[0]), by_entry);
			i = 1;
		}
}

/* Turns over each with the given chance, in one change for those that come and one for those that
 * go. */
static void change_allowed(struct allowlist *allowlist, uint64_t one_in)
{
	static struct xb_entry some[2 * ALLOWED];

	for (int listed = 0; listed < 2; listed++) {
		size_t count = 0;

		for (size_t i = 0; i < 2 * ALLOWED; i++) {
			if (allowlist->in[i] == listed || rig_random(&seed) % one_in)
				continue;
			allowlist->in[i] = listed;
			some[count++] = allowlist->entry[i];
		}
		rig_change_all(&rig, some, count, listed);
	}
}

static void check_against_oracle(const struct allowlist *allowlist, const char *when)
{
	struct oracle oracle = {0};
	uint64_t passed = 0, dropped = 0;

	for (size_t i = 0; i < 2 * ALLOWED; i++)
		if (allowlist->in[i])
			oracle_add(&oracle, &allowlist->entry[i]);
	oracle_sort(&oracle);
	for (size_t i = 0; i < 2 * ALLOWED; i++) {
		const struct xb_entry *entry = &allowlist->entry[i];
		struct xb_entry near = turned(entry, entry->length - 1);
		const struct xb_entry addresses[] = {
			oracle_address_in(&seed, entry),
			oracle_address_in(&seed, &near),
		};

		for (int j = 0; j < 2; j++) {
			bool allowed = oracle_covers(&oracle, &addresses[j]);
			char text[XB_ENTRY_TEXT];

			*(allowed ? &passed : &dropped) += 1;
			if ((rig_run_from(program, &addresses[j]) == XDP_PASS) != allowed)
				fail_msg("%s: %s is%s allowed", when,
					 xb_entry_format(&addresses[j], text),
					 allowed ? "" : " not");
		}
	}
	printf("%s: %lu passed, %lu dropped\n", when, passed, dropped);
	assert_true(passed > 1000 && dropped > 1000);
	oracle_free(&oracle);
}

/* Everything is listed, so that the allowlist alone decides. */
static void ten_thousand_of_each_family(void **state)
{
	static struct allowlist allowlist;

	(void)state;
	rig_add(&rig, "0.0.0.0/0", "default");
	rig_add(&rig, "::/0", "default");
	make_allowed(&allowlist);
	drop_twins(&allowlist);
	change_allowed(&allowlist, 1);
	check_against_oracle(&allowlist, "all");
	for (uint32_t round = 0; round < ROUNDS; round++) {
		change_allowed(&allowlist, 2);
		check_against_oracle(&allowlist, "turned over in place");
		assert_true(rig_matches_rebuild(&rig));
		if (round & 1)
			rig_rotate(&rig);
		check_against_oracle(&allowlist, "once more");
	}
	/* one by one: every delete leaves the gate to those that are left */
	for (size_t i = 0; i < 2 * ALLOWED; i++)
		if (allowlist.in[i] && i % 20 == 0)
			rig_change_all(&rig, &allowlist.entry[i], 1, allowlist.in[i] = false);
	assert_true(rig_matches_rebuild(&rig));
	rig_change_all(&rig, allowlist.entry, 2 * ALLOWED, false);
	assert_true(rig_matches_rebuild(&rig));
	assert_true(rig_del(&rig, "0.0.0.0/0", NULL));
	assert_true(rig_del(&rig, "::/0", NULL));
}

/* An entry of the same text may be listed and allowed; each goes its own way. */
static void listed_and_allowed_are_two_things(void **state)
{
	static const char *const entries[] = {"192.0.2.1", "198.51.100.0/24", "2001:db8::1",
					      "2001:db8:1::/48"};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		struct xb_entry entry;

		assert_int_equal(xb_entry_parse(entries[i], strlen(entries[i]), NULL, &entry, NULL),
				 0);
		rig_allow(&rig, entries[i]);
		assert_int_equal(reason_of(&entry), XB_CLEAN);
		rig_add(&rig, entries[i], "default");
		assert_int_equal(reason_of(&entry), XB_ALLOWED);
		assert_true(rig_disallow(&rig, entries[i]));
		assert_false(rig_disallow(&rig, entries[i]));
		assert_true(xb_reason_drops(reason_of(&entry)));
		rig_allow(&rig, entries[i]);
		assert_true(rig_del(&rig, entries[i], NULL));
		assert_int_equal(reason_of(&entry), XB_CLEAN);
		assert_true(rig_disallow(&rig, entries[i]));
		assert_true(rig_matches_rebuild(&rig));
	}
}

/* ---- Under traffic ---- */

/* An allowed source passes at every moment, whoever comes and goes beside it, in the same cells of
 * the gate. */
static void neighbours_come_and_go(void **state)
{
	uint64_t sources[] = {0x0a000001, 0x0a000002}, passed;
	struct xb_counts before, after;
	pid_t traffic;
	int status;

	(void)state;
	rig_add(&rig, "10.0.0.0/8", "default");
	rig_allow(&rig, "10.0.0.0/30");
	rig_counts(&rig, &before);
	traffic = fork();
	assert_true(traffic >= 0);
	if (!traffic) {
		struct crowd *crowd = crowd_open(&rig, CROWD_STABLE4, 0, 0);

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		crowd_choose(crowd, sources, 2);
		for (;;)
			crowd_send(crowd, 1 << 14);
	}
	for (int i = 0; i < 1000; i++) {
		struct xb_entry near = {.hi = 0x0a00000000000000 + ((uint64_t)(i % 50 + 4) << 32),
					.kind = XB_ALLOW4,
					.length = 32};

		rig_change_all(&rig, &near, 1, i / 50 % 2 == 0);
	}
	assert_int_equal(waitpid(traffic, &status, WNOHANG), 0);
	kill(traffic, SIGKILL);
	waitpid(traffic, &status, 0);
	rig_counts(&rig, &after);
	for (int reason = 0; reason < XB_REASON_COUNT; reason++)
		if (reason != XB_ALLOWED)
			assert_int_equal(after.reason[reason].packets,
					 before.reason[reason].packets);
	passed = after.reason[XB_ALLOWED].packets - before.reason[XB_ALLOWED].packets;
	printf("%lu frames allowed\n", passed);
	assert_true(passed > 10000);
	assert_true(rig_disallow(&rig, "10.0.0.0/30"));
	assert_true(rig_del(&rig, "10.0.0.0/8", NULL));
}

/* ---- Policies ---- */

static const struct xb_entry listed4 = {.hi = 0xc633640700000000, .kind = XB_HOST4, .length = 32},
			     allowed4 = {.hi = 0xc633640900000000, .kind = XB_HOST4, .length = 32},
			     clean4 = {.hi = 0xc633640800000000, .kind = XB_HOST4, .length = 32},
			     listed6 = {.hi = 0x20010db800000bad, .kind = XB_NET6, .length = 128},
			     clean6 = {.hi = 0x20010db800000001, .kind = XB_NET6, .length = 128};

static void begin_policies(void)
{
	rig_add(&rig, "198.51.100.7", "default");
	rig_add(&rig, "198.51.100.9", "default");
	rig_add(&rig, "203.0.113.0/24", "default");
	rig_add(&rig, "2001:db8:0:bad::/64", "default");
	rig_allow(&rig, "198.51.100.9");
}

static void end_policies(void)
{
	rig_policy(&rig, XB_POLICY_ENFORCE);
	assert_true(rig_matches_rebuild(&rig));
	assert_true(rig_disallow(&rig, "198.51.100.9"));
	assert_true(rig_del(&rig, "198.51.100.7", NULL));
	assert_true(rig_del(&rig, "198.51.100.9", NULL));
	assert_true(rig_del(&rig, "203.0.113.0/24", NULL));
	assert_true(rig_del(&rig, "2001:db8:0:bad::/64", NULL));
}

/* The policy stays through changes, rotations and rebuilds. */
static void each_policy_stays(void **state)
{
	static const int expected[][5] = {
		[XB_POLICY_ENFORCE] = {XB_LISTED_IPV4_HOST, XB_ALLOWED, XB_CLEAN, XB_LISTED_IPV6,
				       XB_CLEAN},
		[XB_POLICY_MONITOR] = {XB_MONITORED, XB_ALLOWED, XB_CLEAN, XB_MONITORED, XB_CLEAN},
		[XB_POLICY_ALLOW_ONLY] = {XB_ADMITTED, XB_ADMITTED, XB_NOT_ADMITTED, XB_ADMITTED,
					  XB_NOT_ADMITTED},
	};
	const struct xb_entry *const sources[] = {&listed4, &allowed4, &clean4, &listed6, &clean6};

	(void)state;
	begin_policies();
	for (int turn = 0; turn < 12; turn++) {
		uint32_t policy = (uint32_t)(turn < 6 ? turn : 12 - turn) % 3;

		rig_policy(&rig, policy);
		for (int change = 0; change < 4; change++) {
			for (int i = 0; i < 5; i++)
				assert_int_equal(reason_of(sources[i]), expected[policy][i]);
			if (change == 0)
				rig_rotate(&rig);
			if (change == 1)
				rig_add(&rig, "192.0.2.1", "default");
			if (change == 2)
				rig_del(&rig, "192.0.2.1", NULL);
		}
		assert_true(rig_matches_rebuild(&rig));
	}
	end_policies();
}

/* Under allow-only the allowlist passes what is not listed. */
static void allow_only_passes_the_allowed(void **state)
{
	(void)state;
	begin_policies();
	rig_policy(&rig, XB_POLICY_ALLOW_ONLY);
	assert_int_equal(reason_of(&clean4), XB_NOT_ADMITTED);
	assert_int_equal(reason_of(&clean6), XB_NOT_ADMITTED);
	rig_allow(&rig, "198.51.100.8");
	rig_allow(&rig, "2001:db8::/48");
	assert_int_equal(reason_of(&clean4), XB_ALLOWED);
	assert_int_equal(reason_of(&clean6), XB_ALLOWED);
	assert_int_equal(reason_of(&listed4), XB_ADMITTED);
	assert_true(rig_disallow(&rig, "198.51.100.8"));
	assert_true(rig_disallow(&rig, "2001:db8::/48"));
	assert_int_equal(reason_of(&clean4), XB_NOT_ADMITTED);
	assert_int_equal(reason_of(&clean6), XB_NOT_ADMITTED);
	end_policies();
}

/* A source that only the Bloom filter takes for a listed one: not admitted under allow-only. */
static void a_guess_is_not_admitted(void **state)
{
	struct xb_entry guess = {.kind = XB_HOST4, .length = 32};
	struct xb_generation *generation;
	int found = 0;

	(void)state;
	begin_policies();
	rig_policy(&rig, XB_POLICY_ALLOW_ONLY);
	generation = rig_generation(&rig);
	assert_int_equal(xb_generation_map_all(generation), 0);
	for (uint32_t block = 0; block < generation->params.host4.blocks; block += 2)
		memset(generation->host4.bits.base + (size_t)block * sizeof(struct xb_block), 0xff,
		       sizeof(struct xb_block));
	for (uint32_t address = 0x30000000; found < 1000; address++) {
		uint64_t hash = xb_hash_ipv4(&generation->params.key, address);

		if (!xb_bloom_contains(&generation->host4, hash))
			continue;
		found++;
		guess.hi = (uint64_t)address << 32;
		assert_int_equal(rig_run_from(program, &guess), XDP_DROP);
	}
	assert_int_equal(reason_of(&guess), XB_NOT_ADMITTED);
	xb_generation_close(generation);
	rig_rotate(&rig);
	end_policies();
}

/* ---- Flips, seen by others ---- */

/* Even sequence: the policy is in force; odd: it is being changed. */
struct board {
	uint32_t sequence, policy;
	uint64_t judged[2], waited[2];
};

static uint32_t verdict_under(uint32_t policy, bool listed)
{
	switch (policy) {
	case XB_POLICY_MONITOR:
		return XDP_PASS;
	case XB_POLICY_ALLOW_ONLY:
		return listed ? XDP_PASS : XDP_DROP;
	}
	return listed ? XDP_DROP : XDP_PASS;
}

/* Frames of one side, listed and clean in turn: one that begins after a command has returned, and
 * ends before the next begins, is judged by the policy of that command. */
static void judge_for_ever(struct board *board, int side)
{
	for (uint64_t i = 0;; i++) {
		const struct xb_entry *source = i & 1  ? side ? &listed6 : &listed4
						: side ? &clean6
						       : &clean4;
		uint32_t before = __atomic_load_n(&board->sequence, __ATOMIC_SEQ_CST);
		uint32_t policy = __atomic_load_n(&board->policy, __ATOMIC_SEQ_CST);
		uint32_t verdict = rig_run_from(program, source);

		if (before % 2 || __atomic_load_n(&board->sequence, __ATOMIC_SEQ_CST) != before) {
			board->waited[side]++;
			continue;
		}
		board->judged[side]++;
		if (verdict != verdict_under(policy, i & 1)) {
			fprintf(stderr, "side %d: verdict %u under policy %u\n", side, verdict,
				policy);
			_exit(1);
		}
	}
}

static pid_t start_judge(struct board *board, int side)
{
	pid_t child = fork();

	assert_true(child >= 0);
	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	judge_for_ever(board, side);
	_exit(1);
}

#define FLIPS amount(150, 600)

static void flips_hold_for_all_at_once(void **state)
{
	struct board *board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t judges[2];
	int status;

	(void)state;
	assert_true(board != MAP_FAILED);
	begin_policies();
	for (int side = 0; side < 2; side++)
		judges[side] = start_judge(board, side);
	for (uint32_t i = 0; i < FLIPS; i++) {
		/* to and from allow-only is another program, the others are one word */
		uint32_t policy = (uint32_t)(rig_random(&seed) % (i % 8 ? 2 : 3));

		__atomic_fetch_add(&board->sequence, 1, __ATOMIC_SEQ_CST);
		rig_policy(&rig, policy);
		__atomic_store_n(&board->policy, policy, __ATOMIC_SEQ_CST);
		__atomic_fetch_add(&board->sequence, 1, __ATOMIC_SEQ_CST);
		usleep(1000);
	}
	for (int side = 0; side < 2; side++) {
		if (waitpid(judges[side], &status, WNOHANG))
			fail_msg("side %d gave up", side);
		kill(judges[side], SIGKILL);
		waitpid(judges[side], &status, 0);
		printf("side %d: %lu frames judged, %lu during a flip\n", side, board->judged[side],
		       board->waited[side]);
		assert_true(board->judged[side] > FLIPS);
	}
	munmap(board, sizeof(*board));
	end_policies();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_wins_at_every_length),
		cmocka_unit_test(ten_thousand_of_each_family),
		cmocka_unit_test(listed_and_allowed_are_two_things),
		cmocka_unit_test(neighbours_come_and_go),
		cmocka_unit_test(each_policy_stays),
		cmocka_unit_test(allow_only_passes_the_allowed),
		cmocka_unit_test(a_guess_is_not_admitted),
		cmocka_unit_test(flips_hold_for_all_at_once),
	};
	const char *text = getenv("XB_SEED");

	seed = text ? strtoull(text, NULL, 0) : 20261121;
	printf("seed %lu\n", seed);
	return cmocka_run_group_tests_name("allow", tests, begin, end);
}
