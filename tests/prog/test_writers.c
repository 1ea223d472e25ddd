/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two writers and a rotation at once: afterwards store and filter agree, bit by bit and counter by
 * counter. */
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

#include "core/membership.h"
#include "support/rig.h"

#define OPERATIONS 10000
#define KEYS	   3000 /* so few that adds and deletes of one key meet often */

/* The key number of a writer: its own half of the numbers, all kinds among them. */
static void entry_text(int writer, uint32_t key, char text[64])
{
	uint32_t number = key * 2 + (uint32_t)writer;

	switch (key % 10) {
	case 0:
		snprintf(text, 64, "10.%u.%u.0/24", number >> 8 & 255, number & 255);
		break;
	case 1:
		snprintf(text, 64, "2001:db8:%x::/48", number);
		break;
	case 2:
		snprintf(text, 64, "11.%u.%u.%u/30", number >> 14 & 255, number >> 6 & 255,
			 (number << 2) & 255);
		break;
	case 3:
		snprintf(text, 64, "10.%u.0.0/16", number & 255);
		break;
	default:
		snprintf(text, 64, "12.%u.%u.%u", number >> 16, number >> 8 & 255, number & 255);
	}
}

/* An acknowledged add is in force, whatever the rotation is doing. */
static void must_drop(int program, const char *text)
{
	struct xb_entry entry;
	uint32_t verdict;

	xb_entry_parse(text, strlen(text), &entry, NULL);
	verdict = xb_entry_is_ipv4(&entry) ? rig_run_ipv4(program, xb_entry_ipv4(&entry))
					   : rig_run_ipv6(program, entry.hi, entry.lo);
	if (verdict == XDP_DROP)
		return;
	fprintf(stderr, "%s was added and passes\n", text);
	_exit(1);
}

static void write_much(struct rig *rig, int writer)
{
	uint64_t seed = 77 + (uint64_t)writer;
	int program = rig_entry(rig);

	for (int i = 0; i < OPERATIONS; i++) {
		uint64_t random = rig_random(&seed);
		char text[64];

		entry_text(writer, (uint32_t)(random % KEYS), text);
		if (random >> 63) {
			rig_add(rig, text, writer ? "one" : "two");
			must_drop(program, text);
		} else {
			rig_del(rig, text, writer ? "one" : "two");
		}
	}
	_exit(0);
}

static void rotate_much(struct rig *rig)
{
	for (;;)
		rig_rotate(rig);
}

static pid_t start(struct rig *rig, int role)
{
	pid_t child = fork();

	assert_true(child >= 0);
	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (role < 2)
		write_much(rig, role);
	rotate_much(rig);
	_exit(1);
}

static void check_verdicts(struct rig *rig)
{
	int program = rig_entry(rig);
	struct xb_store *store;
	struct xb_txn *txn;
	const struct xb_entry first = {.kind = XB_PREFIX4};
	struct xb_walk walk;
	uint32_t entries = 0;

	assert_int_equal(xb_store_open(rig->state, false, &store), 0);
	assert_int_equal(xb_store_read(store, &txn), 0);
	assert_int_equal(xb_walk_begin(&walk, txn, &first), 0);
	while (xb_walk_next(&walk) > 0) {
		entries++;
		if (xb_entry_is_ipv4(&walk.entry))
			assert_int_equal(rig_run_ipv4(program, xb_entry_ipv4(&walk.entry)),
					 XDP_DROP);
		else
			assert_int_equal(rig_run_ipv6(program, walk.entry.hi, walk.entry.lo),
					 XDP_DROP);
	}
	xb_walk_end(&walk);
	xb_txn_abort(txn);
	xb_store_close(store);
	close(program);
	printf("%u entries listed at the end\n", entries);
	assert_true(entries > KEYS / 2);
}

static void two_writers_and_a_rotation(void **state)
{
	struct rig rig;
	pid_t children[3];
	int status;

	(void)state;
	rig_begin(&rig, "writers");
	for (int role = 0; role < 3; role++)
		children[role] = start(&rig, role);
	for (int role = 0; role < 2; role++) {
		assert_int_equal(waitpid(children[role], &status, 0), children[role]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(waitpid(children[2], &status, WNOHANG), 0); /* it rotates still */
	kill(children[2], SIGKILL);
	waitpid(children[2], &status, 0);
	rig_add(&rig, "192.0.2.1",
		"default"); /* whatever the kill left is put right by the next command */
	check_verdicts(&rig);
	assert_true(rig_matches_rebuild(&rig));
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_writers_and_a_rotation),
	};

	return cmocka_run_group_tests_name("writers", tests, NULL, NULL);
}
