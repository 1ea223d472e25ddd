/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two tables: `outbox` has the changes under their numbers, big-endian; `waiting` has, for each
 * list and entry, the number of the last one. A record: struct record, list, key of the entry,
 * comment. */
#include "store/outboxrows.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "model/comment.h"
#include "store/fleettable.h"
#include "store/lmdberror.h"

struct record {
	uint32_t added, expires;
	uint16_t key_size;
	uint8_t put;
	uint8_t replaced; /* in its place, at any time */
	uint8_t list_size, comment_size;
	uint8_t again; /* enum xb_again, 0: for the first time */
	uint8_t met;   /* 0 in the file */
};
_Static_assert(sizeof(struct record) == XB_OUTBOXROW_BYTES, "store format");

#define RECORD_MAX                                                                                 \
	(sizeof(struct record) + XB_OUTBOX_LIST_MAX + XB_ENTRY_KEY_BYTES + XB_COMMENT_MAX)

/* Where a change stands in the table. */
struct number_key {
	uint64_t order;
};

static MDB_val key_of(uint64_t number, struct number_key *key)
{
	key->order = htobe64(number);
	return (MDB_val){sizeof(key->order), &key->order};
}

static int number_of(const MDB_val *key, uint64_t *number)
{
	if (key->mv_size != sizeof(*number))
		return xb_fleet_damaged();
	memcpy(number, key->mv_data, sizeof(*number));
	*number = be64toh(*number);
	return 0;
}

/* The list and a zero, then the entry. */
struct waiting_key {
	uint8_t bytes[XB_OUTBOX_LIST_MAX + 1 + XB_ENTRY_KEY_BYTES];
};

static MDB_val waiting_of(const char *list, const struct xb_entry *entry, struct waiting_key *key)
{
	size_t size = strnlen(list, XB_OUTBOX_LIST_MAX);

	memcpy(key->bytes, list, size);
	key->bytes[size++] = '\0';
	size += xb_entry_encode(entry, key->bytes + size);
	return (MDB_val){size, key->bytes};
}

int xb_outboxrow_waiting(struct xb_txn *txn, const char *list, const struct xb_entry *entry,
			 uint64_t *number)
{
	struct waiting_key bytes;
	const MDB_val key = waiting_of(list, entry, &bytes);

	if (!xb_fleettables_are(txn))
		return 0;
	return xb_sealedrow_read(txn, txn->store->waiting, &key, number, sizeof(*number));
}

int xb_outboxrow_set_waiting(struct xb_txn *txn, const struct xb_shared_change *change,
			     uint64_t number)
{
	struct waiting_key bytes;
	const MDB_val key = waiting_of(change->list, &change->entry, &bytes),
		      value = {sizeof(number), &number};

	return xb_sealedrow_put(txn, txn->store->waiting, &key, &value);
}

int xb_outboxrow_end_waiting(struct xb_txn *txn, const struct xb_shared_change *change)
{
	struct waiting_key bytes;
	const MDB_val key = waiting_of(change->list, &change->entry, &bytes);
	int found = xb_sealedrow_delete(txn, txn->store->waiting, &key);

	return found < 0 ? found : 0;
}

int xb_outboxrow_write(struct xb_txn *txn, const struct xb_shared_change *change, uint64_t number,
		       struct xb_outbox_history history)
{
	uint8_t bytes[RECORD_MAX], *end = bytes + sizeof(struct record);
	struct record record = {.added = change->added,
				.expires = change->expires,
				.put = change->put,
				.replaced = history.replaced,
				.again = history.again,
				.met = history.met,
				.list_size = (uint8_t)strnlen(change->list, XB_OUTBOX_LIST_MAX),
				.comment_size = (uint8_t)change->comment_size};
	struct number_key place;
	const MDB_val key = key_of(number, &place);
	MDB_val value = {0, bytes};

	memcpy(end, change->list, record.list_size);
	end += record.list_size;
	record.key_size = (uint16_t)xb_entry_encode(&change->entry, end);
	end += record.key_size;
	if (record.comment_size)
		memcpy(end, change->comment, record.comment_size);
	end += record.comment_size;
	memcpy(bytes, &record, sizeof(record));
	value.mv_size = (size_t)(end - bytes);
	return xb_sealedrow_put(txn, txn->store->outbox, &key, &value);
}

static int decode(const MDB_val *key, const MDB_val *value, struct xb_outboxrow *row)
{
	const uint8_t *next = value->mv_data;
	struct record record;
	int error = number_of(key, &row->number);

	if (error)
		return error;
	if (value->mv_size < sizeof(record))
		return xb_fleet_damaged();
	memcpy(&record, next, sizeof(record));
	next += sizeof(record);
	if (record.list_size > XB_OUTBOX_LIST_MAX ||
	    value->mv_size !=
		    sizeof(record) + record.list_size + record.key_size + record.comment_size)
		return xb_fleet_damaged();
	memcpy(row->list, next, record.list_size);
	row->list[record.list_size] = '\0';
	next += record.list_size;
	row->history = (struct xb_outbox_history){
		.replaced = record.replaced, .again = record.again, .met = record.met};
	row->change = (struct xb_shared_change){
		.list = row->list,
		.put = record.put,
		.added = record.added,
		.expires = record.expires,
		.comment = (const char *)next + record.key_size,
		.comment_size = record.comment_size,
	};
	return xb_entry_decode(next, record.key_size, &row->change.entry) == record.key_size
		       ? 0
		       : xb_fleet_damaged();
}

/* The change where the cursor goes: 1, 0: there is none. */
int xb_outboxrow_next(MDB_cursor *cursor, MDB_cursor_op where, uint64_t from,
		      struct xb_outboxrow *row)
{
	struct number_key place;
	MDB_val key = key_of(from, &place), value = {0};
	int more = xb_sealedrow_next(cursor, where, &key, &value);

	if (more > 0)
		more = decode(&key, &value, row) ? -EIO : 1;
	return more;
}

int xb_outboxrow_cursor(struct xb_txn *txn, MDB_cursor **cursor)
{
	int error = mdb_cursor_open(txn->txn, txn->store->outbox, cursor);

	return error ? xb_lmdb_error(error, "cannot read the store") : 0;
}

int xb_outboxrow_delete(struct xb_txn *txn, uint64_t number)
{
	struct number_key place;
	const MDB_val key = key_of(number, &place);
	int found = xb_sealedrow_delete(txn, txn->store->outbox, &key);

	return found < 0 ? found : 0;
}

int xb_outboxrow_last(struct xb_txn *txn, const char *list, const struct xb_entry *entry,
		      struct xb_outboxrow *row)
{
	struct number_key place;
	uint64_t number = 0;
	MDB_val key = {0}, value = {0};
	int found = xb_outboxrow_waiting(txn, list, entry, &number);

	if (found <= 0)
		return found;
	key = key_of(number, &place);
	found = xb_sealedrow_get(txn, txn->store->outbox, &key, &value);
	if (found < 0 || (found && decode(&key, &value, row)))
		return -EIO;
	return found ? 1 : xb_fleet_damaged();
}
