/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is kept of interfaces: those that are wanted, the network namespace in which they are, and
 * those that were renamed. */
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/home.h"
#include "store/renamed.h"
#include "store/sealedrecord.h"
#include "store/wanted.h"
#include "support/cmocka.h"
#include "support/listed.h"
#include "support/scratch_txn.h"
#include "xdp_bloom/layout.h"

/* --- wanted --- */

static void want(const char *name, enum xb_mode mode)
{
	struct xb_wanted wanted = {.mode = mode};

	assert_true(strlen(name) < sizeof(wanted.name));
	memcpy(wanted.name, name, strlen(name));
	assert_int_equal(xb_wanted_put(txn, &wanted), 0);
}

/* "NAME MODE, ..." */
static void assert_wanted(const char *expected)
{
	struct listed_text found = {0};
	struct xb_wanted *all;
	size_t count;

	assert_int_equal(xb_wanted_all(txn, &all, &count), 0);
	for (size_t i = 0; i < count; i++) {
		add_text(&found, i ? ", %s" : "%s", all[i].name);
		add_text(&found, " %s", xb_mode_name(all[i].mode));
	}
	assert_string_equal(found.text, expected);
	free(all);
}

static void assert_has(const char *name, bool expected)
{
	bool found = !expected;

	assert_int_equal(xb_wanted_has(txn, name, &found), 0);
	assert_int_equal(found, expected);
}

/* A removal is an edit, if there is one. */
static void assert_removed(const char *name, bool expected)
{
	uint64_t edits = txn->edits;
	bool found;

	assert_int_equal(xb_wanted_remove(txn, name, &found), 0);
	assert_int_equal(found, expected);
	assert_int_equal(txn->edits > edits, expected);
}

TEST(wishes_come_and_go)
{
	assert_wanted("");
	assert_has("eth0", false);
	want("eth1", XB_MODE_SKB);
	want("eth0", XB_MODE_AUTO);
	want("a-name-of-15-ch", XB_MODE_NATIVE);
	want("e", XB_MODE_AUTO);
	assert_has("eth0", true);
	assert_has("eth", false);
	assert_has("eth00", false);
	assert_has("a-name-of-15-ch", true);
	assert_has("a-name-of-15-chars", false);
	commit_and_go_on();
	assert_wanted("a-name-of-15-ch native, e auto, eth0 auto, eth1 skb");
	want("eth0", XB_MODE_NATIVE);
	assert_wanted("a-name-of-15-ch native, e auto, eth0 native, eth1 skb");
	assert_removed("eth0", true);
	assert_removed("eth0", false);
	assert_wanted("a-name-of-15-ch native, e auto, eth1 skb");
}

TEST(a_mode_to_come_is_any)
{
	uint32_t mode = XB_MODE_SKB + 1;
	MDB_val key = {4, "eth0"}, value = {sizeof(mode), &mode};

	assert_int_equal(mdb_put(txn->txn, store->ifaces, &key, &value, 0), 0);
	assert_wanted("eth0 auto");
}

/* --- the namespace --- */

TEST(initial_namespace)
{
	static const struct {
		struct xb_netns netns;
		bool initial;
	} cases[] = {
		{{1, 4026531840}, true},     /* Linux 6.1 to 6.17 */
		{{3, 0xEFFFFFF9}, true},     /* 6.18 */
		{{4097, 4026532300}, false}, /* made later, 6.1 */
		{{9, 4026532300}, false},    /* 6.18 */
		{{0, 0}, false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(xb_netns_is_initial(&cases[i].netns), cases[i].initial);
}

static void leave_network(void)
{
	if (unshare(CLONE_NEWNET))
		skip();
}

static struct xb_home kept(void)
{
	struct xb_home home;

	assert_int_equal(xb_home_get(txn, &home), 0);
	return home;
}

TEST(a_home_comes_with_a_wish)
{
	struct xb_home home = kept();
	uint64_t edits = txn->edits;

	assert_false(home.known);
	leave_network();
	assert_int_equal(xb_home_place(&home), XB_PLACE_NEW);
	want("x0", XB_MODE_AUTO);
	assert_true(txn->edits > edits);
	home = kept();
	assert_true(home.known && !home.initial);
	assert_int_equal(xb_home_place(&home), XB_PLACE_HOME);
	commit_and_go_on();
	assert_int_equal(xb_home_put(txn), 0);
	assert_int_equal(txn->edits, 0);
}

TEST(a_home_elsewhere)
{
	struct xb_home home;
	pid_t child;

	leave_network();
	want("x0", XB_MODE_AUTO);
	home = kept();
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		pause();
		_exit(0);
	}
	leave_network();
	assert_int_equal(xb_home_place(&home), XB_PLACE_AWAY);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	assert_int_equal(xb_home_place(&home), XB_PLACE_HEIR);
	want("x1", XB_MODE_AUTO);
	home = kept();
	assert_int_equal(xb_home_place(&home), XB_PLACE_HOME);
	home.boot[0] ^= 1;
	assert_int_equal(xb_home_place(&home), XB_PLACE_HEIR);
	home.initial = true;
	assert_int_equal(xb_home_place(&home), XB_PLACE_AWAY);
}

/* It had the number that this one has now. */
TEST(a_number_used_again)
{
	struct xb_netns self;

	leave_network();
	self = xb_netns_self();
	assert_false(xb_netns_is_gone(&self));
	self.cookie += 1000;
	assert_true(xb_netns_is_gone(&self));
}

/* --- renamed --- */

static void fill(struct xb_renamed *renamed, size_t count)
{
	memset(renamed, 0, count * sizeof(*renamed));
	for (size_t i = 0; i < count; i++) {
		renamed[i].ifindex = (uint32_t)(i * 1000 + 1);
		snprintf(renamed[i].former, sizeof(renamed[i].former), "from-%zu-15-chars", i % 10);
		snprintf(renamed[i].name, sizeof(renamed[i].name), "e%zu", i);
	}
}

static void assert_renamed(const struct xb_renamed *expected, size_t expected_count)
{
	struct xb_renamed *renamed;
	size_t count;

	assert_int_equal(xb_renamed_get(txn, &renamed, &count), expected_count > 0);
	assert_int_equal(count, expected_count);
	if (count)
		assert_memory_equal(renamed, expected, count * sizeof(*renamed));
	free(renamed);
}

static void commit_and_read(void)
{
	assert_int_equal(xb_txn_commit(txn), 0);
	assert_int_equal(xb_store_read(store, &txn), 0);
}

/* None, one, as many as a kernel has rows for; each next transaction carries them. */
TEST(renamed_ones_come_and_go)
{
	static const size_t counts[] = {1, XB_IFACE_ROWS, 2};
	struct xb_renamed renamed[XB_IFACE_ROWS];

	fill(renamed, XB_IFACE_ROWS);
	assert_renamed(NULL, 0);
	assert_int_equal(xb_renamed_remove(txn), 0);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		assert_int_equal(xb_renamed_put(txn, renamed, counts[i]), 0);
		assert_renamed(renamed, counts[i]);
		for (int later = 0; later < 3; later++) {
			commit_and_read();
			assert_renamed(renamed, counts[i]);
			abort_and_go_on();
			want("e1", XB_MODE_AUTO);
		}
	}
	assert_int_equal(xb_renamed_remove(txn), 0);
	assert_renamed(NULL, 0);
	commit_and_read();
	assert_renamed(NULL, 0);
}

/* As when a program that does not know the record has written since. */
TEST(an_older_record_says_nothing)
{
	struct xb_renamed renamed, *found;
	uint8_t record[sizeof(uint64_t) + sizeof(renamed) + sizeof(uint32_t)] = {0xff};
	size_t count;

	fill(&renamed, 1);
	memcpy(record + sizeof(uint64_t), &renamed, sizeof(renamed));
	assert_int_equal(xb_sealed_put(txn, "renamed", record, sizeof(record)), 0);
	commit_and_read();
	assert_int_equal(xb_renamed_get(txn, &found, &count), 1);
	assert_null(found);
	assert_int_equal(count, 0);
}

TEST(names_that_are_none)
{
	for (int which = 0; which < 2; which++) {
		struct xb_renamed renamed[2], *found;
		size_t count;

		fill(renamed, 2);
		if (which)
			memset(renamed[1].former, 'x', sizeof(renamed[1].former));
		else
			renamed[0].name[0] = 0;
		assert_int_equal(xb_renamed_put(txn, renamed, 2), 0);
		assert_told(xb_renamed_get(txn, &found, &count));
		assert_null(found);
		assert_int_equal(count, 0);
	}
}

EACH_TEST(begin_txn, end_txn);
