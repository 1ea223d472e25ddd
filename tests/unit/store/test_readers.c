/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readers that hold an old state: the one furthest behind, of other processes. */
#include <sys/wait.h>
#include <unistd.h>

#include "store/readers.h"
#include "support/cmocka.h"
#include "support/listed.h"
#include "support/scratch_txn.h"

#define READERS 2

/* Processes that read when they are told to. */
static struct {
	pid_t pid;
	int orders, answers;
} readers[READERS];

/* 'r': begin to read; 'e': end; the end of the orders: leave. The first answer, 'o': it has opened
 * the store, for which it has to read, too. */
static void serve(int orders, int answers)
{
	char order = 'o';

	if (xb_store_open(directory, XB_STORE_READ, &store) || write(answers, &order, 1) != 1)
		_exit(1);
	while (read(orders, &order, 1) == 1) {
		if (order == 'r' && xb_store_read(store, &txn))
			_exit(1);
		if (order == 'e')
			xb_txn_abort(txn);
		if (write(answers, &order, 1) != 1)
			_exit(1);
	}
	_exit(0);
}

static void tell(int number, char order)
{
	char answer;

	assert_int_equal(write(readers[number].orders, &order, 1), 1);
	assert_int_equal(read(readers[number].answers, &answer, 1), 1);
}

/* While this process does not have the file open, which its children must not take over. */
static void start(int number)
{
	int orders[2], answers[2];
	char opened;

	assert_int_equal(pipe(orders), 0);
	assert_int_equal(pipe(answers), 0);
	readers[number].pid = fork();
	assert_true(readers[number].pid >= 0);
	if (!readers[number].pid) {
		close(orders[1]);
		close(answers[0]);
		for (int other = 0; other < number; other++)
			close(readers[other].orders);
		serve(orders[0], answers[1]);
	}
	close(orders[0]);
	close(answers[1]);
	readers[number].orders = orders[1];
	readers[number].answers = answers[0];
	assert_int_equal(read(answers[0], &opened, 1), 1);
}

static void change(unsigned int times)
{
	for (; times; times--) {
		struct xb_txn *change;

		assert_int_equal(xb_store_write(store, &change), 0);
		change->edits++;
		assert_int_equal(xb_txn_commit(change), 0);
	}
}

/* number: of the reader. */
static void assert_last(int number, size_t behind)
{
	struct xb_reader last = xb_readers_last(store->env);

	assert_int_equal(last.behind, behind);
	if (behind)
		assert_int_equal(last.process, readers[number].pid);
}

TEST(the_one_furthest_behind)
{
	struct xb_txn *own;

	xb_store_close(store);
	store = NULL;
	for (int number = 0; number < READERS; number++)
		start(number);
	assert_int_equal(xb_store_open(directory, XB_STORE_READ, &store), 0);
	assert_last(0, 0);
	change(1);
	assert_last(0, 0);
	/* this process does not count */
	assert_int_equal(xb_store_read(store, &own), 0);
	change(2);
	assert_last(0, 0);
	tell(0, 'r');
	assert_last(0, 0);
	change(3);
	assert_last(0, 3);
	tell(1, 'r');
	change(9);
	assert_last(0, 12);
	/* one that has ended keeps its place in the table */
	tell(0, 'e');
	assert_last(1, 9);
	tell(0, 'r');
	assert_last(1, 9);
	tell(1, 'e');
	assert_last(0, 0);
	change(1);
	assert_last(0, 1);
	xb_txn_abort(own);
	for (int number = 0; number < READERS; number++) {
		close(readers[number].orders);
		close(readers[number].answers);
		assert_int_equal(waitpid(readers[number].pid, NULL, 0), readers[number].pid);
	}
}

EACH_TEST(begin, end);
