/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The tables that only the store of a host in a fleet has, and their records, each of which ends
 * with a checksum of its key and its bytes. */
#ifndef XB_STORE_FLEETTABLE_H
#define XB_STORE_FLEETTABLE_H

#include "store/types.h"

/* The store has the schema of a fleet, but its tables are not open: opens them. No other
 * transaction of this process may open tables at the same time. */
int xb_fleettables_open(struct xb_store *store);

/* In a write transaction: makes those that are missing. */
int xb_fleettables_make(struct xb_txn *txn);

/* Called at the end of the transaction: tables that it made are there only if it was committed. */
void xb_fleettables_end(struct xb_txn *txn, bool committed);

/* Whether the transaction sees the tables. */
static inline bool xb_fleettables_are(const struct xb_txn *txn)
{
	return txn->meta.schema == XB_SCHEMA_FLEET;
}

/* What the first byte of a key in the table `fleet` says. */
enum xb_fleet_key {
	XB_FLEET_RECORD = 'f',
	XB_FLEET_SHARE = 's',  /* the list's name follows */
	XB_FLEET_COUNTS = 'n', /* of shares, and the last number in the outbox */
	XB_FLEET_MARK = 'm',   /* the publisher follows */
	XB_FLEET_FORMER = 'k', /* position and chain follow */
	XB_FLEET_LINEAGE = 'l',
	XB_FLEET_TAIL = 't', /* bytes of the tail */
};

/* Without the tables there are no records, and none can be put. */

/* Gets a record, valid until the transaction changes or ends. 1: it is there; 0: it is not;
 * negative: an error with its message, also if the checksum is another. */
int xb_sealedrow_get(struct xb_txn *txn, MDB_dbi table, const MDB_val *key, MDB_val *value);
int xb_sealedrow_put(struct xb_txn *txn, MDB_dbi table, const MDB_val *key, const MDB_val *value);
/* 1: it was there; 0: it was not. */
int xb_sealedrow_delete(struct xb_txn *txn, MDB_dbi table, const MDB_val *key);

/* The record where the cursor goes: 1, 0: there is none, or an error as above. */
int xb_sealedrow_next(MDB_cursor *cursor, MDB_cursor_op where, MDB_val *key, MDB_val *value);

/* The same for a record of exactly this size, which is copied. */
int xb_sealedrow_read(struct xb_txn *txn, MDB_dbi table, const MDB_val *key, void *record,
		      size_t size);

/* Record and return the errors: the record is damaged; the store has no tables of a fleet. */
int xb_fleet_damaged(void);
int xb_fleet_none(void);

#endif
