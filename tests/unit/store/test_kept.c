/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A store that a process keeps open: all uses share it, unless the file is another one. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/cmocka.h"
#include "support/listed.h"
#include "support/scratch_txn.h"

static int begin_keeping(void **state)
{
	xb_store_keep(true);
	return begin(state);
}

static int end_keeping(void **state)
{
	xb_store_keep(false);
	return end(state);
}

static struct xb_store *opened(enum xb_store_use use)
{
	struct xb_store *opened;

	if (xb_store_open(directory, use, &opened))
		fail_msg("%s", xb_error_message());
	return opened;
}

static void commit_something(struct xb_store *into)
{
	assert_int_equal(xb_store_write(into, &txn), 0);
	list_entry(txn, "192.0.2.1", "a");
	assert_int_equal(xb_txn_commit(txn), 0);
}

/* Returns the identity of the store. */
static uint64_t assert_has(struct xb_store *that, const char *expected)
{
	uint64_t identity;

	assert_int_equal(xb_store_read(that, &txn), 0);
	assert_store(txn, expected);
	identity = txn->meta.identity;
	xb_txn_abort(txn);
	return identity;
}

TEST(all_uses_share_it)
{
	struct xb_store *second = opened(XB_STORE_READ);

	assert_ptr_equal(store, second);
	xb_store_close(store);
	commit_something(second);
	xb_store_close(second);
	store = opened(XB_STORE_WRITE);
	assert_ptr_equal(store, second);
	assert_has(store, "192.0.2.1 a");
}

TEST(another_file_is_another_store)
{
	char command[128];
	uint64_t before;

	commit_something(store);
	before = assert_has(store, "192.0.2.1 a");
	xb_store_close(store);
	snprintf(command, sizeof(command), "rm %s/" XB_STORE_FILE "*", directory);
	assert_int_equal(system(command), 0);
	assert_int_equal(xb_store_open(directory, XB_STORE_READ, &store), -ENOENT);
	store = opened(XB_STORE_CREATE);
	assert_int_not_equal(assert_has(store, ""), before);
}

TEST(it_closes_when_nobody_wants_it)
{
	xb_store_keep(false);
	commit_something(store); /* still in use */
	xb_store_close(store);
	store = opened(XB_STORE_READ);
	assert_has(store, "192.0.2.1 a");
}

TEST(a_child_opens_its_own)
{
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		struct xb_store *own;

		if (xb_store_open(directory, XB_STORE_WRITE, &own) || own == store)
			_exit(1);
		commit_something(own);
		xb_store_close(own);
		/* What the parent had is left as it is, and no exit complains of it. */
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_has(store, "192.0.2.1 a");
}

EACH_TEST(begin_keeping, end_keeping);
