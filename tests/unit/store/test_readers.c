/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readers that hold an old state: the one furthest behind, of other processes. */
#include <errno.h>
#include <lmdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/readers.h"
#include "support/cmocka.h"

#define READERS 2

/* A process that opens the file and reads when it is told to. */
struct reader {
	pid_t pid;
	int orders, answers;
};

static char directory[] = "/tmp/xb-readers-XXXXXX";
static struct reader readers[READERS];
static MDB_env *env;

static MDB_env *open_env(void)
{
	MDB_env *opened;

	if (mdb_env_create(&opened) || mdb_env_open(opened, directory, 0, 0600))
		_exit(1);
	return opened;
}

/* 'r': begin to read; 'e': end; the end of the orders: leave. */
static void serve(int orders, int answers)
{
	MDB_txn *reading = NULL;
	MDB_env *opened = NULL;
	char order;

	while (read(orders, &order, 1) == 1) {
		if (!opened)
			opened = open_env();
		if (order == 'r' && mdb_txn_begin(opened, NULL, MDB_RDONLY, &reading))
			_exit(1);
		if (order == 'e')
			mdb_txn_abort(reading);
		if (write(answers, &order, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static void tell(const struct reader *reader, char order)
{
	char answer;

	assert_int_equal(write(reader->orders, &order, 1), 1);
	assert_int_equal(read(reader->answers, &answer, 1), 1);
}

/* Before this process opens the file, which its children must not take over. */
static void start(struct reader *reader)
{
	int orders[2], answers[2];

	assert_int_equal(pipe(orders), 0);
	assert_int_equal(pipe(answers), 0);
	reader->pid = fork();
	assert_true(reader->pid >= 0);
	if (!reader->pid) {
		close(orders[1]);
		close(answers[0]);
		for (const struct reader *other = readers; other < reader; other++)
			close(other->orders);
		serve(orders[0], answers[1]);
	}
	close(orders[0]);
	close(answers[1]);
	reader->orders = orders[1];
	reader->answers = answers[0];
}

static int begin(void **state)
{
	if (!mkdtemp(directory))
		return -1;
	for (int i = 0; i < READERS; i++)
		start(&readers[i]);
	env = open_env();
	return 0;
}

static int end(void **state)
{
	char command[64];

	mdb_env_close(env);
	for (int i = 0; i < READERS; i++) {
		close(readers[i].orders);
		close(readers[i].answers);
		waitpid(readers[i].pid, NULL, 0);
	}
	snprintf(command, sizeof(command), "rm -r %s", directory);
	return system(command);
}

static void change(unsigned int times)
{
	static uint32_t number;
	MDB_val key = {1, "k"}, value = {sizeof(number), &number};
	MDB_dbi table;
	MDB_txn *txn;

	for (; times; times--, number++) {
		assert_int_equal(mdb_txn_begin(env, NULL, 0, &txn), 0);
		assert_int_equal(mdb_dbi_open(txn, NULL, 0, &table), 0);
		assert_int_equal(mdb_put(txn, table, &key, &value, 0), 0);
		assert_int_equal(mdb_txn_commit(txn), 0);
	}
}

static void assert_last(int process, size_t behind)
{
	struct xb_reader last = xb_readers_last(env);

	assert_int_equal(last.behind, behind);
	if (behind)
		assert_int_equal(last.process, process);
}

TEST(the_one_furthest_behind)
{
	MDB_txn *own;

	assert_last(0, 0);
	change(1);
	assert_last(0, 0);
	/* this process does not count */
	assert_int_equal(mdb_txn_begin(env, NULL, MDB_RDONLY, &own), 0);
	change(2);
	assert_last(0, 0);
	tell(&readers[0], 'r');
	assert_last(0, 0);
	change(3);
	assert_last(readers[0].pid, 3);
	tell(&readers[1], 'r');
	change(9);
	assert_last(readers[0].pid, 12);
	/* one that has ended keeps its place in the table */
	tell(&readers[0], 'e');
	assert_last(readers[1].pid, 9);
	tell(&readers[0], 'r');
	assert_last(readers[1].pid, 9);
	tell(&readers[1], 'e');
	assert_last(0, 0);
	change(1);
	assert_last(readers[0].pid, 1);
	mdb_txn_abort(own);
}

EACH_TEST(begin, end);
