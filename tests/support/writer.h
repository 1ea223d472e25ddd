/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A store of its own for each test of a file, with a writer in a transaction. */
#ifndef XB_TEST_WRITER_H
#define XB_TEST_WRITER_H

#include "engine/context.h"
#include "support/scratch_txn.h"

#define NOW 1000

static struct xb_writer writer;

static inline int open_txn(void)
{
	int error = xb_store_write(store, &txn);

	writer = (struct xb_writer){.txn = txn, .builder_lock = -1, .writer_lock = -1, .now = NOW};
	return error;
}

static inline int begin_writer(void **state)
{
	return begin(state) || open_txn();
}

#endif
