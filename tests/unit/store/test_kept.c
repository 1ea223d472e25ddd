/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A store that a process keeps open: all uses share it, unless the file is another one. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "store/store.h"
#include "support/cmocka.h"

static char directory[64], file[128];

static int begin(void **state)
{
	*state = NULL;
	strcpy(directory, "/tmp/xb-kept-XXXXXX");
	if (!mkdtemp(directory))
		return -1;
	snprintf(file, sizeof(file), "%s/" XB_STORE_FILE, directory);
	xb_store_keep(true);
	return 0;
}

static int end(void **state)
{
	char command[128];

	xb_store_keep(false);
	snprintf(command, sizeof(command), "rm -r %s", directory);
	return system(command);
}

static struct xb_store *opened(enum xb_store_use use)
{
	struct xb_store *store;

	if (xb_store_open(directory, use, &store))
		fail_msg("%s", xb_error_message());
	return store;
}

static uint64_t identity(struct xb_store *store)
{
	struct xb_txn *txn;
	uint64_t identity;

	assert_int_equal(xb_store_read(store, &txn), 0);
	identity = txn->meta.identity;
	xb_txn_abort(txn);
	return identity;
}

static void commit_something(struct xb_store *store)
{
	struct xb_txn *txn;
	struct xb_list *list;

	assert_int_equal(xb_store_write(store, &txn), 0);
	assert_int_equal(xb_list_need(txn, "some", &list), 0);
	list->verdict = XB_DOMAIN_COUNT;
	txn->edits++;
	assert_int_equal(xb_txn_commit(txn), 0);
}

static bool has_something(struct xb_store *store)
{
	struct xb_txn *txn;
	bool has;

	assert_int_equal(xb_store_read(store, &txn), 0);
	has = xb_list_find(txn, "some");
	xb_txn_abort(txn);
	return has;
}

TEST(all_uses_share_it)
{
	struct xb_store *first = opened(XB_STORE_CREATE), *second = opened(XB_STORE_READ);

	assert_ptr_equal(first, second);
	xb_store_close(first);
	commit_something(second);
	xb_store_close(second);
	first = opened(XB_STORE_WRITE);
	assert_ptr_equal(first, second);
	assert_true(has_something(first));
	xb_store_close(first);
}

TEST(another_file_is_another_store)
{
	struct xb_store *first = opened(XB_STORE_CREATE), *second;
	uint64_t before;
	char lock[140];

	commit_something(first);
	before = identity(first);
	xb_store_close(first);
	snprintf(lock, sizeof(lock), "%s-lock", file);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(unlink(lock), 0);
	assert_int_equal(xb_store_open(directory, XB_STORE_READ, &second), -ENOENT);
	second = opened(XB_STORE_CREATE);
	assert_int_not_equal(identity(second), before);
	assert_false(has_something(second));
	xb_store_close(second);
}

TEST(it_closes_when_nobody_wants_it)
{
	struct xb_store *store = opened(XB_STORE_CREATE);

	xb_store_keep(false);
	commit_something(store); /* still in use */
	xb_store_close(store);
	store = opened(XB_STORE_READ);
	assert_true(has_something(store));
	xb_store_close(store);
	xb_store_keep(true);
}

TEST(a_child_opens_its_own)
{
	struct xb_store *ours = opened(XB_STORE_CREATE);
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (!child) {
		struct xb_store *own;

		if (xb_store_open(directory, XB_STORE_WRITE, &own) || own == ours)
			_exit(1);
		commit_something(own);
		xb_store_close(own);
		/* What the parent had is left as it is, and no exit complains of it. */
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_true(has_something(ours));
	xb_store_close(ours);
}

EACH_TEST(begin, end);
