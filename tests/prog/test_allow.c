/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The allowlist wins over every entry, at every length, through every change. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "support/cmocka.h"
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

TEST(it_wins_at_every_length)
{
	static const uint8_t lengths6[] = {0, 1, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 127, 128};

	for (int length = 0; length <= 32; length++)
		check_lengths(true, (uint8_t)length);
	for (size_t i = 0; i < sizeof(lengths6); i++)
		check_lengths(false, lengths6[i]);
	assert_true(rig_matches_rebuild(&rig));
}

#define ALLOWED 20000 /* half of each family */

/* The one of the number: an address with bits in its last byte, in which no other one lies if its
 * prefix of that length is taken. */
static struct xb_entry numbered(uint32_t number, uint8_t *length)
{
	if (number & 1) {
		*length = (uint8_t)(24 + number / 2 % 9);
		return (struct xb_entry){.hi = (uint64_t)(0x0b000055 + number * 256) << 32,
					 .kind = XB_HOST4,
					 .length = 32};
	}
	*length = (uint8_t)(48 + number / 2 % 81);
	return (struct xb_entry){.hi = 0x20010db800000055 + ((uint64_t)number << 16),
				 .lo = 0x55,
				 .kind = XB_NET6,
				 .length = 128};
}

/* Everything is listed, so that the allowlist alone decides. */
TEST(ten_thousand_of_each_family)
{
	static struct xb_entry entries[ALLOWED];
	uint8_t length;

	rig_add(&rig, "0.0.0.0/0", "default");
	rig_add(&rig, "::/0", "default");
	for (uint32_t i = 0; i < ALLOWED; i++) {
		struct xb_entry address = numbered(i, &length);
		struct xb_entry network = xb_entry_covering(&address, length);

		entries[i] = xb_entry_allow(&network);
	}
	rig_change_all(&rig, entries, ALLOWED, true);
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < ALLOWED; i += 37) {
			struct xb_entry inside = numbered(i, &length);
			struct xb_entry outside = turned(&inside, length - 1);

			check(&inside, true, !round || i >= ALLOWED / 2, "of many");
			check(&outside, true, false, "beside one of many");
		}
		if (!round)
			rig_change_all(&rig, entries, ALLOWED / 2, false);
	}
	assert_true(rig_matches_rebuild(&rig));
	rig_change_all(&rig, entries + ALLOWED / 2, ALLOWED / 2, false);
	assert_true(rig_del(&rig, "0.0.0.0/0", NULL));
	assert_true(rig_del(&rig, "::/0", NULL));
}

/* ---- Under traffic ---- */

/* An allowed source passes at every moment, whoever comes and goes beside it, in the same cells of
 * the gate. */
TEST(neighbours_come_and_go)
{
	uint64_t sources[] = {0x0a000001, 0x0a000002}, passed;
	struct xb_counts before, after;
	int status, busy = 0;
	pid_t traffic;

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

BEFORE_MAIN(prepare)
{
	const char *text = getenv("XB_SEED");

	seed = text ? strtoull(text, NULL, 0) : 20261121;
	printf("seed %lu\n", seed);
}

ALL_TESTS(begin, end);
