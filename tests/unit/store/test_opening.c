/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A lock file of LMDB that lags behind the store: nobody reads or writes by it, and whoever is
 * alone puts it right. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/lock.h"
#include "base/patience.h"
#include "support/cmocka.h"
#include "support/listed.h"
#include "support/scratch_txn.h"

/* Of the lock file of LMDB 0.9 on 64 bits: two words, a mutex, the number of the last transaction.
 */
#define NUMBER_PLACE 48

static char path[128];

static int begin_path(void **state)
{
	int error = begin(state);

	snprintf(path, sizeof(path), "%s/" XB_STORE_FILE, directory);
	return error;
}

static void close_store(void)
{
	xb_store_close(store);
	store = NULL;
}

static void assert_opens(enum xb_store_use use)
{
	assert_int_equal(xb_store_open(directory, use, &store), 0);
}

static void add(const char *text)
{
	assert_int_equal(xb_store_write(store, &txn), 0);
	list_entry(txn, text, "a");
	assert_int_equal(xb_txn_commit(txn), 0);
}

static void assert_there(const char *expected)
{
	assert_int_equal(xb_store_read(store, &txn), 0);
	assert_store(txn, expected);
	xb_txn_abort(txn);
}

#define ALL "198.51.100.0/24 a; 192.0.2.1 a; 2001:db8::/32 a"

static volatile uint64_t *number_in_lock_file;

/* The descriptor stays: with it would go LMDB's locks. */
static void look_into_lock_file(void)
{
	char lock[140];
	int fd;

	snprintf(lock, sizeof(lock), "%s-lock", path);
	fd = open(lock, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	number_in_lock_file = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(number_in_lock_file != MAP_FAILED);
	number_in_lock_file += NUMBER_PLACE / sizeof(*number_in_lock_file);
}

static uint64_t fill(void)
{
	MDB_envinfo info;

	add("192.0.2.1");
	add("198.51.100.0/24");
	add("2001:db8::/32");
	mdb_env_info(store->env, &info);
	look_into_lock_file();
	assert_int_equal(*number_in_lock_file, info.me_last_txnid);
	return info.me_last_txnid;
}

static void assert_refused(int error)
{
	assert_true(error < 0);
	assert_non_null(strstr(xb_error_message(), "outdated state"));
	xb_error_clear();
}

/* However far behind: an odd and an even number, so that either meta page would be overwritten. */
TEST(a_lag_is_met_by_nobody)
{
	static const uint64_t numbers[] = {0, 1, 2};
	uint64_t last = fill();

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		*number_in_lock_file = numbers[i];
		assert_refused(xb_store_write(store, &txn));
		assert_refused(xb_store_read(store, &txn));
		assert_refused(xb_store_recover(store));
	}
	*number_in_lock_file = last + 2;
	assert_refused(xb_store_write(store, &txn));
	assert_refused(xb_store_read(store, &txn));
	/* A process that made the newest one and is not done: what was before it can be read. */
	*number_in_lock_file = last - 1;
	assert_refused(xb_store_write(store, &txn));
	assert_int_equal(xb_store_read(store, &txn), 0);
	xb_txn_abort(txn);
	xb_store_close(store);
	assert_opens(XB_STORE_READ);
	assert_int_equal(*number_in_lock_file, last);
	assert_there(ALL);
	add("203.0.113.1");
	assert_there("198.51.100.0/24 a; 192.0.2.1 a; 203.0.113.1 a; 2001:db8::/32 a");
}

/* A process that has got so far, and stands still; returns when it does. */
static pid_t one_that(bool (*gets)(void))
{
	int ready[2];
	pid_t pid;
	char byte;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		if (gets() && write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

static bool opens(void)
{
	return !xb_store_open(directory, XB_STORE_READ, &store);
}

static void end_holder(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

TEST(a_lag_that_somebody_holds_is_refused)
{
	uint64_t last = fill();
	pid_t pid;

	close_store();
	pid = one_that(opens);
	assert_opens(XB_STORE_READ);
	xb_store_close(store);
	*number_in_lock_file = 0;
	assert_refused(xb_store_open(directory, XB_STORE_READ, &store));
	assert_refused(xb_store_open(directory, XB_STORE_CREATE, &store));
	end_holder(pid);
	assert_opens(XB_STORE_READ);
	assert_int_equal(*number_in_lock_file, last);
	assert_there(ALL);
}

/* LMDB's locks would go with the second. */
TEST(once_in_a_process)
{
	struct xb_store *second;

	assert_true(xb_store_open(directory, XB_STORE_READ, &second) < 0);
	assert_null(second);
	xb_error_clear();
}

/* It has our lock, and LMDB's mutex. */
static bool writes(void)
{
	MDB_txn *begun;

	return opens() && xb_lock(directory, XB_WRITER_LOCK) >= 0 &&
	       !mdb_txn_begin(store->env, NULL, 0, &begun);
}

static void assert_waited(int error)
{
	char message[64];

	assert_int_equal(error, -EBUSY);
	assert_null(store);
	snprintf(message, sizeof(message), "holds %s/" XB_WRITER_LOCK, directory);
	assert_non_null(strstr(xb_error_message(), message));
	xb_error_clear();
}

/* Readers go by; writers wait for our lock, where a limit is kept, and a name is told. */
static void assert_nobody_waits_in_lmdb(void)
{
	pid_t pid;

	close_store();
	pid = one_that(writes);
	xb_patience_set(0);
	alarm(120);
	assert_opens(XB_STORE_READ);
	assert_there(ALL);
	xb_store_close(store);
	assert_waited(xb_store_open(directory, XB_STORE_WRITE, &store));
	assert_waited(xb_store_open(directory, XB_STORE_CREATE, &store));
	end_holder(pid);
	assert_opens(XB_STORE_WRITE);
	alarm(0);
	assert_there(ALL);
}

/* A page at the end that nobody has use for was never written. */
TEST(a_short_file)
{
	MDB_envinfo info;

	fill();
	mdb_env_info(store->env, &info);
	assert_int_equal(truncate(path, (off_t)(info.me_last_pgno + 1) * 4096 - 1), 0);
	assert_nobody_waits_in_lmdb();
}

static void make_empty(void)
{
	MDB_env *env;

	close_store();
	assert_int_equal(truncate(path, 0), 0);
	assert_int_equal(mdb_env_create(&env), 0);
	assert_int_equal(mdb_env_open(env, path, MDB_NOSUBDIR, 0600), 0);
	mdb_env_close(env);
}

/* Its maker died before it had tables. */
TEST(an_empty_file)
{
	make_empty();
	assert_int_equal(xb_store_open(directory, XB_STORE_READ, &store), -ENOENT);
	assert_opens(XB_STORE_CREATE);
	fill();
	assert_there(ALL);
}

/* A store that was in use is not taken for one that was never begun. */
TEST(a_store_that_lost_nearly_everything)
{
	static const off_t sizes[] = {4096, 4095, 840, 512, 100, 10, 1};

	fill();
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct stat st;

		close_store();
		assert_int_equal(truncate(path, sizes[i]), 0);
		assert_int_equal(xb_store_open(directory, XB_STORE_READ, &store), -EIO);
		assert_int_equal(xb_store_open(directory, XB_STORE_CREATE, &store), -EIO);
		assert_non_null(strstr(xb_error_message(), "cannot open the store"));
		xb_error_clear();
		assert_int_equal(stat(path, &st), 0);
		assert_int_equal(st.st_size, sizes[i]);
	}
}

/* Its maker died while it wrote the first two pages. */
TEST(a_store_that_was_never_begun)
{
	static const off_t sizes[] = {4096, 1024, 512, 0};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		make_empty();
		assert_int_equal(truncate(path, sizes[i]), 0);
		if (i % 2) /* the size reached the disk, the rest did not */
			assert_int_equal(truncate(path, 8192), 0);
		assert_opens(XB_STORE_CREATE);
		fill();
		assert_there(ALL);
	}
}

EACH_TEST(begin_path, end);
