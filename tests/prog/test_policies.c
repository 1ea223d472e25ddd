/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flips between policies, seen by others. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "support/amount.h"
#include "support/cmocka.h"
#include "support/reason_world.h"

static uint64_t seed;

static const struct xb_entry listed4 = {.hi = 0xc633640700000000, .kind = XB_HOST4, .length = 32},
			     clean4 = {.hi = 0xc633640800000000, .kind = XB_HOST4, .length = 32},
			     listed6 = {.hi = 0x20010db800000bad, .kind = XB_NET6, .length = 128},
			     clean6 = {.hi = 0x20010db800000001, .kind = XB_NET6, .length = 128};

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

/* A busy machine may not have let each side judge as often. */
static bool has_judged_enough(const struct board *board)
{
	return __atomic_load_n(&board->judged[0], __ATOMIC_RELAXED) > FLIPS &&
	       __atomic_load_n(&board->judged[1], __ATOMIC_RELAXED) > FLIPS;
}

TEST(flips_hold_for_all_at_once)
{
	struct board *board = mmap(NULL, sizeof(*board), PROT_READ | PROT_WRITE,
				   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t judges[2];
	int status;

	assert_true(board != MAP_FAILED);
	rig_add(&rig, "198.51.100.7", "default");
	rig_add(&rig, "2001:db8:0:bad::/64", "default");
	for (int side = 0; side < 2; side++)
		judges[side] = start_judge(board, side);
	for (uint32_t i = 0; i < FLIPS || (!has_judged_enough(board) && i < 40 * FLIPS); i++) {
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
	rig_policy(&rig, XB_POLICY_ENFORCE);
	assert_true(rig_matches_rebuild(&rig));
}

BEFORE_MAIN(prepare)
{
	const char *text = getenv("XB_SEED");

	seed = text ? strtoull(text, NULL, 0) : 20261121;
	printf("seed %lu\n", seed);
}

ALL_TESTS(begin, end);
