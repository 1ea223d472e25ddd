/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The allowlist wins over every entry, at every length, through every change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <linux/bpf.h>

#include "support/amount.h"
#include "support/crowd.h"
#include "support/oracle.h"
#include "support/reason_world.h"

static uint64_t seed;

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
	int status, busy = 0;
	pid_t traffic;

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
	do { /* once, but on a busy machine, where the traffic gets little of it */
		for (int i = 0; i < 1000; i++) {
			struct xb_entry near = {.hi = 0x0a00000000000000 +
						      ((uint64_t)(i % 50 + 4) << 32),
						.kind = XB_ALLOW4,
						.length = 32};

			rig_change_all(&rig, &near, 1, i / 50 % 2 == 0);
		}
		rig_counts(&rig, &after);
		passed = after.reason[XB_ALLOWED].packets - before.reason[XB_ALLOWED].packets;
	} while (passed <= 10000 && ++busy < 20);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_wins_at_every_length),
		cmocka_unit_test(ten_thousand_of_each_family),
		cmocka_unit_test(listed_and_allowed_are_two_things),
		cmocka_unit_test(neighbours_come_and_go),
	};
	const char *text = getenv("XB_SEED");

	seed = text ? strtoull(text, NULL, 0) : 20261121;
	printf("seed %lu\n", seed);
	return cmocka_run_group_tests_name("allow", tests, begin, end);
}
