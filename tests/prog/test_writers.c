/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two writers, a rotation, an allowlist and lists for services at once, while packets ask:
 * afterwards store and filter agree, bit by bit and counter by counter. And flips between policies,
 * seen by others. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/bpf.h>

#include "base/patience.h"
#include "store/listclass.h"
#include "store/walk.h"
#include "support/amount.h"
#include "support/cmocka.h"
#include "support/oracle.h"
#include "support/rig.h"
#include "support/service_frame.h"

#define KEYS amount(300, 3000) /* so few that adds and deletes of one key meet often */

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

/* Listed and allowed all the while, in the cells of the gate that those keys come into and leave.
 */
static const char *const always_allowed[] = {"14.0.3.77", "2001:db9:3:1::/64"};

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
	uint32_t operations = amount(500, 10000);
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
		xb_patience_renew(); /* for the next command */
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
		xb_patience_renew();
	}
}

/* Every other one without the exact stage, or with it again. */
static void rotate_much(struct rig *rig)
{
	for (int i = 1;; i++) {
		rig_rotate(rig);
		rig_confirm(rig, i % 2);
		xb_patience_renew();
	}
}

/* Sources that are listed for mail at every moment, by one of these lists. The other service that
 * a list holds for, no other one does. */
static const struct mail {
	const char *list, *scope;
	uint16_t also; /* TCP */
} mails[] = {{"smtp", "tcp/25", 25}, {"ports", "tcp/25-26,udp/53", 26}, {"everything", "all", 9}};

#define MAILS	(sizeof(mails) / sizeof(mails[0]))
#define SENDERS 100

static struct xb_entry sender(uint32_t number)
{
	static const char *const forms[] = {"15.0.%u.7", "15.%u.0.64/27", "15.%u.16.0/20",
					    "2001:dba:%x::/64", "2001:dba:%x::9"};
	struct xb_entry entry;
	char text[64];

	snprintf(text, sizeof(text), forms[number % 5], number + 1);
	xb_entry_parse(text, strlen(text), NULL, &entry, NULL);
	return entry;
}

/* From the first address of an entry. */
static uint32_t verdict_to(int program, struct xb_entry source, enum xb_service_protocol protocol,
			   uint16_t port)
{
	struct service_frame frame;

	source.length = xb_entry_full_length(&source);
	frame = frame_to(&source, protocol, port, FRAME_PLAIN);
	return rig_run(program, frame.byte, frame.size);
}

static void must_drop_to(int program, const struct xb_entry *source, uint16_t port)
{
	char text[XB_ENTRY_TEXT];

	if (verdict_to(program, *source, XB_SERVICE_TCP, port) == XDP_DROP)
		return;
	fprintf(stderr, "%s to tcp/%u passes\n", xb_entry_format(source, text), port);
	_exit(1);
}

/* What the others have done, for the one who waits for them. */
static struct {
	uint64_t moves, packets;
} * done;

static void list_senders(struct rig *rig)
{
	struct xb_entry all[SENDERS];

	for (uint32_t i = 0; i < SENDERS; i++)
		all[i] = sender(i);
	for (size_t i = 1; i < MAILS; i++)
		rig_add(rig, "15.255.255.255", mails[i].list);
	rig_add_all_to(rig, all, SENDERS, mails[0].list);
	for (size_t i = 0; i < MAILS; i++)
		rig_scope(rig, mails[i].list, mails[i].scope);
	for (size_t i = 0; i < 2; i++) {
		rig_allow(rig, always_allowed[i]);
		rig_add(rig, always_allowed[i], "allowed");
	}
}

/* A few neighbours at a time, from the list that each is in to another one. */
static void move_much(struct rig *rig)
{
	uint8_t in[SENDERS] = {0};
	uint64_t seed = first_seed() + 3;
	int program = rig_entry(rig);

	for (;; done->moves++) {
		uint64_t random = rig_random(&seed);
		uint32_t first = (uint32_t)(random % (SENDERS - 2)),
			 count = 1 + (uint32_t)(random >> 40) % 3;
		struct rig_move moves[3];

		for (uint32_t i = 0; i < count; i++) {
			uint8_t *now = &in[first + i];
			uint8_t next = (uint8_t)((*now + 1 + (random >> (48 + i) & 1)) % MAILS);

			moves[i] = (struct rig_move){sender(first + i), mails[*now].list,
						     mails[next].list};
			*now = next;
		}
		rig_move_all(rig, moves, count);
		for (uint32_t i = 0; i < count; i++)
			must_drop_to(program, &moves[i].entry, mails[in[first + i]].also);
		xb_patience_renew();
		usleep(20000); /* nobody queues for the lock */
	}
}

/* Packets that no change, and no generation, may let through, and some that pass at every moment.
 */
static void send_much(struct rig *rig)
{
	int program = rig_entry(rig);

	for (;; done->packets++) {
		struct xb_entry source = sender((uint32_t)(done->packets % SENDERS));

		must_drop_to(program, &source, 25);
		must_pass(program, always_allowed[done->packets & 1]);
		if (done->packets % SENDERS == 0) /* the others need the processors, too */
			usleep(200);
	}
}

static void write_first(struct rig *rig)
{
	write_much(rig, 0);
}

static void write_second(struct rig *rig)
{
	write_much(rig, 1);
}

typedef void (*role_run)(struct rig *rig);

static pid_t start(struct rig *rig, role_run run)
{
	pid_t child = fork();

	assert_true(child >= 0);
	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run(rig);
	_exit(1);
}

/* Of one that goes on for ever, and ends before only if something is wrong. */
static void stop(pid_t child)
{
	int status;

	assert_int_equal(waitpid(child, &status, WNOHANG), 0);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
}

/* Whether a list that has the entry holds for packets to this port; every one has this verdict. */
static bool held_for(const struct xb_walk *walk, enum xb_service_protocol protocol, uint16_t port)
{
	struct xb_members members = walk->members;
	struct xb_membership member;
	bool found = false;

	while (xb_members_next(&members, &member))
		found |= xb_scope_has(xb_list_scope(xb_list_by_id(walk->txn, member.list)),
				      protocol, port);
	return found;
}

static bool held_for_all(const struct xb_walk *walk)
{
	return held_for(walk, XB_SERVICE_TCP, 9);
}

/* Of an entry that is listed for some of them, and not allowed. Without confirm others may drop. */
static void check_services(int program, const struct xb_walk *walk)
{
	const struct {
		enum xb_service_protocol protocol;
		uint16_t port;
	} services[] = {{XB_SERVICE_TCP, 25}, {XB_SERVICE_TCP, 26}, {XB_SERVICE_UDP, 53}};

	for (size_t i = 0; i < sizeof(services) / sizeof(services[0]); i++)
		if (held_for(walk, services[i].protocol, services[i].port))
			assert_int_equal(verdict_to(program, walk->entry, services[i].protocol,
						    services[i].port),
					 XDP_DROP);
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
		if (held_for_all(&walk))
			assert_int_equal(rig_run_from(program, &walk.entry),
					 passes ? XDP_PASS : XDP_DROP);
		else
			check_services(program, &walk);
	}
	xb_walk_end(&walk);
	xb_txn_abort(txn);
	xb_store_close(store);
	oracle_free(&allowed);
	close(program);
	printf("%u entries listed at the end, %u of them allowed\n", entries, passed);
	assert_true(entries > KEYS / 2);
	assert_true(passed > amount(10, 10));
}

/* Two writers, who end; the others go on for ever. */
static const role_run roles[] = {write_first, write_second, rotate_much,
				 move_much,   send_much,    allow_much};

#define ROLES 6

static void *shared(size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(memory, MAP_FAILED);
	return memory;
}

TEST(two_writers_and_all_the_others)
{
	struct rig rig;
	pid_t children[ROLES];
	int status;

	done = shared(sizeof(*done));
	/* How long they wait is not what is asked, and an emulated machine is slow. */
	xb_patience_set(XB_PATIENCE_MAX);
	rig_begin(&rig, "writers");
	list_senders(&rig);
	for (int role = 0; role < ROLES; role++)
		children[role] = start(&rig, roles[role]);
	for (int role = 0; role < 2; role++) {
		assert_int_equal(waitpid(children[role], &status, 0), children[role]);
		assert_int_equal(status, 0);
	}
	for (int role = 2; role < ROLES; role++)
		stop(children[role]);
	printf("%lu moves between lists, %lu packets\n", done->moves, done->packets);
	assert_true(done->moves > amount(10, 10) && done->packets > amount(10000, 10000));
	/* whatever the kill left is put right by the next command */
	rig_add(&rig, "192.0.2.1", "default");
	for (int confirm = 0; confirm < 2; confirm++) {
		check_verdicts(&rig);
		assert_true(rig_matches_rebuild(&rig));
		rig_confirm(&rig, confirm);
	}
	rig_end(&rig);
}

/* --- flips between policies ----------------------------------------------------------------- */

/* Even sequence: the policy is in force; odd: it is being changed. */
static struct board {
	uint32_t sequence, policy;
	uint64_t judged[2], waited[2];
} * board;

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
static void judge_much(struct rig *rig, int side)
{
	static const char *const sources[2][2] = {{"198.51.100.8", "198.51.100.7"},
						  {"2001:db8::1", "2001:db8:0:bad::1"}};
	int program = rig_entry(rig);

	for (uint64_t i = 0;; i++) {
		uint32_t before = __atomic_load_n(&board->sequence, __ATOMIC_SEQ_CST);
		uint32_t policy = __atomic_load_n(&board->policy, __ATOMIC_SEQ_CST);
		uint32_t verdict = verdict_of(program, sources[side][i & 1]);

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

static void judge_first(struct rig *rig)
{
	judge_much(rig, 0);
}

static void judge_second(struct rig *rig)
{
	judge_much(rig, 1);
}

#define FLIPS amount(60, 600)

/* A busy machine may not have let each side judge as often. */
static bool has_judged_enough(void)
{
	return __atomic_load_n(&board->judged[0], __ATOMIC_RELAXED) > FLIPS &&
	       __atomic_load_n(&board->judged[1], __ATOMIC_RELAXED) > FLIPS;
}

TEST(flips_of_the_policy_hold_for_all_at_once)
{
	uint64_t seed = first_seed();
	pid_t judges[2];
	struct rig rig;

	board = shared(sizeof(*board));
	rig_begin(&rig, "flips");
	rig_add(&rig, "198.51.100.7", "default");
	rig_add(&rig, "2001:db8:0:bad::/64", "default");
	judges[0] = start(&rig, judge_first);
	judges[1] = start(&rig, judge_second);
	for (uint32_t i = 0; i < FLIPS || (!has_judged_enough() && i < 40 * FLIPS); i++) {
		/* to and from allow-only is another program, the others are one word */
		uint32_t policy = (uint32_t)(rig_random(&seed) % (i % 8 ? 2 : 3));

		__atomic_fetch_add(&board->sequence, 1, __ATOMIC_SEQ_CST);
		rig_policy(&rig, policy);
		__atomic_store_n(&board->policy, policy, __ATOMIC_SEQ_CST);
		__atomic_fetch_add(&board->sequence, 1, __ATOMIC_SEQ_CST);
		usleep(1000);
	}
	for (int side = 0; side < 2; side++) {
		stop(judges[side]);
		printf("side %d: %lu frames judged, %lu during a flip\n", side, board->judged[side],
		       board->waited[side]);
		assert_true(board->judged[side] > FLIPS);
	}
	rig_policy(&rig, XB_POLICY_ENFORCE);
	assert_true(rig_matches_rebuild(&rig));
	rig_end(&rig);
}
