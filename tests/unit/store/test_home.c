/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The network namespace in which interfaces are wanted: what is kept of it, and where one is. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "store/home.h"
#include "store/wanted.h"
#include "support/cmocka.h"
#include "support/scratch_store.h"

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
	struct xb_txn *txn;

	assert_int_equal(xb_store_read(store, &txn), 0);
	assert_int_equal(xb_home_get(txn, &home), 0);
	xb_txn_abort(txn);
	return home;
}

static void want(const char *name)
{
	struct xb_wanted wanted = {0};
	struct xb_txn *txn;

	snprintf(wanted.name, sizeof(wanted.name), "%s", name);
	assert_int_equal(xb_store_write(store, &txn), 0);
	assert_int_equal(xb_wanted_put(txn, &wanted), 0);
	assert_int_equal(xb_txn_commit(txn), 0);
}

TEST_WITH(comes_with_a_wish, begin, end)
{
	struct xb_home home = kept();
	struct xb_txn *txn;

	leave_network();
	assert_int_equal(xb_home_place(&home), XB_PLACE_NEW);
	want("x0");
	home = kept();
	assert_true(home.known && !home.initial);
	assert_int_equal(xb_home_place(&home), XB_PLACE_HOME);
	assert_int_equal(xb_store_write(store, &txn), 0);
	assert_int_equal(xb_home_put(txn), 0);
	assert_int_equal(txn->edits, 0);
	xb_txn_abort(txn);
}

TEST_WITH(place_elsewhere, begin, end)
{
	struct xb_home home;
	pid_t child;

	leave_network();
	want("x0");
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
	want("x1");
	home = kept();
	assert_int_equal(xb_home_place(&home), XB_PLACE_HOME);
	home.boot[0] ^= 1;
	assert_int_equal(xb_home_place(&home), XB_PLACE_HEIR);
	home.initial = true;
	assert_int_equal(xb_home_place(&home), XB_PLACE_AWAY);
}

/* It had the number that this one has now. */
TEST(number_used_again)
{
	struct xb_netns self;

	leave_network();
	self = xb_netns_self();
	assert_false(xb_netns_is_gone(&self));
	self.cookie += 1000;
	assert_true(xb_netns_is_gone(&self));
}

TEST_WITH(damage_is_told, begin, end)
{
	uint8_t bytes[256];
	MDB_val key = {4, "home"}, value;
	struct xb_home home;
	struct xb_txn *txn;

	want("x0");
	assert_int_equal(xb_store_write(store, &txn), 0);
	assert_int_equal(mdb_get(txn->txn, store->meta, &key, &value), 0);
	assert_in_range(value.mv_size, 1, sizeof(bytes));
	memcpy(bytes, value.mv_data, value.mv_size);
	for (size_t i = 0; i < value.mv_size; i++) {
		MDB_val other = {value.mv_size, bytes};

		bytes[i] ^= 0x10;
		assert_int_equal(mdb_put(txn->txn, store->meta, &key, &other, 0), 0);
		assert_true(xb_home_get(txn, &home) < 0);
		assert_int_equal(xb_error_class(), XB_ERROR_SYSTEM);
		bytes[i] ^= 0x10;
	}
	xb_txn_abort(txn);
}
