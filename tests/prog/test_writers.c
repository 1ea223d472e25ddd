/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two writers, a rotation and an allowlist at once: afterwards store and filter agree, bit by bit
 * and counter by counter. */
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

#include "store/walk.h"
#include "support/amount.h"
#include "support/oracle.h"
#include "support/rig.h"

#define KEYS 3000 /* so few that adds and deletes of one key meet often */

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

/* A key of the one who allows, and a prefix around it with nobody else's in it. */
static void number_text(uint32_t random, char text[64], char around[64])
{
	uint32_t number = random % 500;

	if (random >> 31) {
		snprintf(text, 64, "14.%u.%u.7", number >> 8, number & 255);
		snprintf(around, 64, "14.%u.%u.0/24", number >> 8, number & 255);
	} else {
		snprintf(text, 64, "2001:db9:%x::/64", number);
		snprintf(around, 64, "2001:db9:%x::/48", number);
	}
}

static uint32_t verdict_of(int program, const char *text)
{
	struct xb_entry entry;

	xb_entry_parse(text, strlen(text), NULL, &entry, NULL);
	return rig_run_from(program, &entry);
}

/* An acknowledged change is in force, whatever the rotation is doing. */
static void must_drop(int program, const char *text)
{
	if (verdict_of(program, text) == XDP_DROP)
		return;
	fprintf(stderr, "%s was added and passes\n", text);
	_exit(1);
}

static void must_pass(int program, const char *text)
{
	if (verdict_of(program, text) == XDP_PASS)
		return;
	fprintf(stderr, "%s was allowed and drops\n", text);
	_exit(1);
}

static uint64_t first_seed(void)
{
	const char *text = getenv("XB_SEED");

	return text ? strtoull(text, NULL, 0) : 77;
}

static void write_much(struct rig *rig, int writer)
{
	uint64_t seed = first_seed() + (uint64_t)writer;
	uint32_t operations = amount(4000, 10000);
	int program = rig_entry(rig);

	for (uint32_t i = 0; i < operations; i++) {
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

/* With keys of its own: listed, it drops; allowed as well, it passes; each as soon as it is
 * acknowledged. */
static void allow_much(struct rig *rig)
{
	uint64_t seed = first_seed() + 2;
	int program = rig_entry(rig);

	for (;;) {
		uint64_t random = rig_random(&seed);
		char text[64], around[64];

		number_text((uint32_t)random, text, around);
		rig_disallow(rig, text);
		rig_add(rig, text, "allowed");
		must_drop(program, text);
		rig_allow(rig, random >> 63 ? around : text);
		must_pass(program, text);
		if (random >> 60 == 9) /* a rotation comes in between, or not */
			usleep(20000);
		must_pass(program, text);
		rig_disallow(rig, random >> 63 ? around : text);
		must_drop(program, text);
		/* some stay, allowed or not */
		if (random >> 62 & 1)
			rig_del(rig, text, "allowed");
		else if (random >> 61 & 1)
			rig_allow(rig, text);
	}
}

/* Every other one without the exact stage, or with it again. */
static void rotate_much(struct rig *rig)
{
	for (int i = 1;; i++) {
		rig_rotate(rig);
		rig_confirm(rig, i % 2);
	}
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
	if (role == 2)
		rotate_much(rig);
	allow_much(rig);
	_exit(1);
}

/* What the store says is allowed passes, what else it says is listed drops. */
static void check_verdicts(struct rig *rig)
{
	int program = rig_entry(rig);
	struct oracle allowed = {0};
	struct xb_store *store;
	struct xb_txn *txn;
	struct xb_walk walk;
	uint32_t entries = 0, passed = 0;

	assert_int_equal(xb_store_open(rig->state, XB_STORE_READ, &store), 0);
	assert_int_equal(xb_store_read(store, &txn), 0);
	assert_int_equal(xb_walk_begin(&walk, txn, &XB_WALK_ALLOW), 0);
	while (xb_walk_next(&walk) > 0)
		oracle_add(&allowed, &walk.entry);
	xb_walk_end(&walk);
	oracle_sort(&allowed);
	assert_int_equal(xb_walk_begin(&walk, txn, &XB_WALK_LISTED), 0);
	while (xb_walk_next(&walk) > 0) {
		struct xb_entry first = xb_entry_allow(&walk.entry);
		bool passes;

		first.length = xb_entry_full_length(&first);
		passes = oracle_covers(&allowed, &first);
		entries++;
		passed += passes;
		assert_int_equal(rig_run_from(program, &walk.entry), passes ? XDP_PASS : XDP_DROP);
	}
	xb_walk_end(&walk);
	xb_txn_abort(txn);
	xb_store_close(store);
	oracle_free(&allowed);
	close(program);
	printf("%u entries listed at the end, %u of them allowed\n", entries, passed);
	assert_true(entries > KEYS / 2);
	assert_true(passed > 10);
}

#define ROLES 4 /* two writers, who end; one who rotates and one who allows, for ever */

static void two_writers_a_rotation_and_an_allowlist(void **state)
{
	struct rig rig;
	pid_t children[ROLES];
	int status;

	(void)state;
	rig_begin(&rig, "writers");
	for (int role = 0; role < ROLES; role++)
		children[role] = start(&rig, role);
	for (int role = 0; role < 2; role++) {
		assert_int_equal(waitpid(children[role], &status, 0), children[role]);
		assert_int_equal(status, 0);
	}
	for (int role = 2; role < ROLES; role++) {
		assert_int_equal(waitpid(children[role], &status, WNOHANG), 0);
		kill(children[role], SIGKILL);
		waitpid(children[role], &status, 0);
	}
	/* whatever the kill left is put right by the next command */
	rig_add(&rig, "192.0.2.1", "default");
	for (int confirm = 0; confirm < 2; confirm++) {
		check_verdicts(&rig);
		assert_true(rig_matches_rebuild(&rig));
		rig_confirm(&rig, confirm);
	}
	rig_end(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_writers_a_rotation_and_an_allowlist),
	};

	return cmocka_run_group_tests_name("writers", tests, NULL, NULL);
}
