/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A store of its own for each test of a file, with a write transaction: setup, teardown, and what
 * is told of damage. */
#ifndef XB_TEST_SCRATCH_TXN_H
#define XB_TEST_SCRATCH_TXN_H

#include <errno.h>

#include "base/error.h"
#include "support/cmocka.h"
#include "support/scratch_store.h"

static struct xb_txn *txn;

static inline int begin_txn(void **state)
{
	return begin(state) || xb_store_write(store, &txn);
}

static inline int end_txn(void **state)
{
	xb_txn_abort(txn);
	return end(state);
}

static inline void commit_and_go_on(void)
{
	if (xb_txn_commit(txn))
		fail_msg("%s", xb_error_message());
	txn = NULL;
	if (xb_store_write(store, &txn))
		fail_msg("%s", xb_error_message());
}

static inline void abort_and_go_on(void)
{
	xb_txn_abort(txn);
	assert_int_equal(xb_store_write(store, &txn), 0);
}

/* The error is that of a damaged store, with its message, which is cleared. */
static inline void assert_told(int error)
{
	assert_int_equal(error, -EIO);
	assert_non_null(strstr(xb_error_message(), "damaged"));
	xb_error_clear();
}

#endif
