/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The rows of the outbox, for store/outbox. Functions that find answer 1, or 0 if there is none; a
 * negative error has its message. */
#ifndef XB_STORE_OUTBOXROWS_H
#define XB_STORE_OUTBOXROWS_H

#include <lmdb.h>

#include "store/sharedchanges.h"

#define XB_OUTBOX_LIST_MAX 64
#define XB_OUTBOXROW_BYTES 16 /* of a row, besides list, entry and comment */

/* What a row has besides the change. */
struct xb_outbox_history {
	bool replaced; /* in its place, at any time */
	uint8_t again; /* enum xb_again; 0: it is to be published for the first time */
	bool met;      /* in this transaction: a former entry of the log has the same */
};

/* As it is read; the change points into it, but for the list, until the transaction changes. */
struct xb_outboxrow {
	uint64_t number;
	struct xb_outbox_history history;
	char list[XB_OUTBOX_LIST_MAX + 1];
	struct xb_shared_change change;
};

int xb_outboxrow_write(struct xb_txn *txn, const struct xb_shared_change *change, uint64_t number,
		       struct xb_outbox_history history);
int xb_outboxrow_delete(struct xb_txn *txn, uint64_t number);

int xb_outboxrow_cursor(struct xb_txn *txn, MDB_cursor **cursor);
/* Where the cursor goes. */
int xb_outboxrow_next(MDB_cursor *cursor, MDB_cursor_op where, uint64_t from,
		      struct xb_outboxrow *row);

/* The last one of the list and entry, or its number. */
int xb_outboxrow_last(struct xb_txn *txn, const char *list, const struct xb_entry *entry,
		      struct xb_outboxrow *row);
int xb_outboxrow_waiting(struct xb_txn *txn, const char *list, const struct xb_entry *entry,
			 uint64_t *number);
int xb_outboxrow_set_waiting(struct xb_txn *txn, const struct xb_shared_change *change,
			     uint64_t number);
int xb_outboxrow_end_waiting(struct xb_txn *txn, const struct xb_shared_change *change);

#endif
