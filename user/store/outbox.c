/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two tables: `outbox` has the changes under their numbers, big-endian; `waiting` has, for each
 * list and entry, the number of the last one. A record: struct record, list, key of the entry,
 * comment. */
#include "store/outbox.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "model/comment.h"
#include "store/fleettable.h"
#include "store/lmdberror.h"
#include "store/shares.h"

struct record {
	uint32_t added, expires;
	uint16_t key_size;
	uint8_t put;
	uint8_t replaced; /* in its place, at any time */
	uint8_t list_size, comment_size;
	uint16_t unused;
};
_Static_assert(sizeof(struct record) == 16, "store format");

#define LIST_MAX   64
#define RECORD_MAX (sizeof(struct record) + LIST_MAX + XB_ENTRY_KEY_BYTES + XB_COMMENT_MAX)

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
	uint8_t bytes[LIST_MAX + 1 + XB_ENTRY_KEY_BYTES];
};

static MDB_val waiting_of(const char *list, const struct xb_entry *entry, struct waiting_key *key)
{
	size_t size = strnlen(list, LIST_MAX);

	memcpy(key->bytes, list, size);
	key->bytes[size++] = '\0';
	size += xb_entry_encode(entry, key->bytes + size);
	return (MDB_val){size, key->bytes};
}

/* The number of the last change that waits: 1, 0: none does. */
static int find_waiting(struct xb_txn *txn, const char *list, const struct xb_entry *entry,
			uint64_t *number)
{
	struct waiting_key bytes;
	const MDB_val key = waiting_of(list, entry, &bytes);

	return xb_sealedrow_read(txn, txn->store->waiting, &key, number, sizeof(*number));
}

static int set_waiting(struct xb_txn *txn, const struct xb_shared_change *change, uint64_t number)
{
	struct waiting_key bytes;
	const MDB_val key = waiting_of(change->list, &change->entry, &bytes),
		      value = {sizeof(number), &number};

	return xb_sealedrow_put(txn, txn->store->waiting, &key, &value);
}

static int end_waiting(struct xb_txn *txn, const struct xb_shared_change *change)
{
	struct waiting_key bytes;
	const MDB_val key = waiting_of(change->list, &change->entry, &bytes);
	int found = xb_sealedrow_delete(txn, txn->store->waiting, &key);

	return found < 0 ? found : 0;
}

static int write_change(struct xb_txn *txn, const struct xb_shared_change *change, uint64_t number,
			bool replaces)
{
	uint8_t bytes[RECORD_MAX], *end = bytes + sizeof(struct record);
	struct record record = {.added = change->added,
				.expires = change->expires,
				.put = change->put,
				.replaced = replaces,
				.list_size = (uint8_t)strnlen(change->list, LIST_MAX),
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

/* A record as it is read; the change points into it, but for the list. */
struct row {
	uint64_t number;
	bool replaced;
	char list[LIST_MAX + 1];
	struct xb_shared_change change;
};

static int decode(const MDB_val *key, const MDB_val *value, struct row *row)
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
	if (record.list_size > LIST_MAX || value->mv_size != sizeof(record) + record.list_size +
								     record.key_size +
								     record.comment_size)
		return xb_fleet_damaged();
	memcpy(row->list, next, record.list_size);
	row->list[record.list_size] = '\0';
	next += record.list_size;
	row->replaced = record.replaced;
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
static int next_row(MDB_cursor *cursor, MDB_cursor_op where, uint64_t from, struct row *row)
{
	struct number_key place;
	MDB_val key = key_of(from, &place), value;
	int more = xb_sealedrow_next(cursor, where, &key, &value);

	if (more > 0)
		more = decode(&key, &value, row) ? -EIO : 1;
	return more;
}

static int open_cursor(struct xb_txn *txn, MDB_cursor **cursor)
{
	int error = mdb_cursor_open(txn->txn, txn->store->outbox, cursor);

	return error ? xb_lmdb_error(error, "cannot read the store") : 0;
}

static int span_of(MDB_cursor *cursor, uint64_t *first, uint64_t *last)
{
	struct row row;
	int more = next_row(cursor, MDB_FIRST, 0, &row);

	if (more <= 0)
		return more;
	*first = row.number;
	more = next_row(cursor, MDB_LAST, 0, &row);
	if (more > 0)
		*last = row.number;
	return more < 0 ? more : 0;
}

int xb_outbox_span(struct xb_txn *txn, uint64_t *count, uint64_t *first, uint64_t *last)
{
	MDB_cursor *cursor;
	MDB_stat stat;
	int error;

	*count = *first = *last = 0;
	if (!xb_fleettables_are(txn))
		return 0;
	error = mdb_stat(txn->txn, txn->store->outbox, &stat);
	if (error)
		return xb_lmdb_error(error, "cannot read the store");
	*count = stat.ms_entries;
	error = open_cursor(txn, &cursor);
	if (error)
		return error;
	error = span_of(cursor, first, last);
	mdb_cursor_close(cursor);
	return error;
}

int xb_outbox_last_number(struct xb_txn *txn, uint64_t *last)
{
	*last = txn->shares.last_number;
	return 0;
}

static int add_row(struct xb_shared_changes *changes, size_t *room, const struct row *row)
{
	int error;

	if (xb_array_grow(&changes->number, room, changes->count + 1, sizeof(*changes->number)))
		return xb_out_of_memory();
	error = xb_shared_changes_add(changes, &row->change);
	if (!error)
		changes->number[changes->count - 1] = row->number;
	return error;
}

static size_t bytes_of(const struct xb_shared_change *change)
{
	return sizeof(struct record) + XB_ADDRESS_KEY_BYTES + change->comment_size +
	       (xb_entry_is_name(&change->entry) ? change->entry.length : 0U);
}

int xb_outbox_read(struct xb_txn *txn, size_t most, size_t bytes, struct xb_shared_changes *changes)
{
	MDB_cursor *cursor;
	struct row row;
	size_t room = 0, size = 0;
	int more = 1, error;

	*changes = (struct xb_shared_changes){0};
	if (!xb_fleettables_are(txn))
		return 0;
	error = open_cursor(txn, &cursor);
	if (error)
		return error;
	while (!error && changes->count < most && (!changes->count || size < bytes) &&
	       (more = next_row(cursor, MDB_NEXT, 0, &row)) > 0) {
		error = add_row(changes, &room, &row);
		size += bytes_of(&row.change);
	}
	mdb_cursor_close(cursor);
	error = error ? error : more < 0 ? more : 0;
	if (error)
		xb_shared_changes_free(changes);
	return error;
}

int xb_outbox_waits(struct xb_txn *txn, const char *list, const struct xb_entry *entry)
{
	uint64_t number;

	return xb_fleettables_are(txn) ? find_waiting(txn, list, entry, &number) : 0;
}

/* Whether the change of this number is a put: 1, 0. */
static int is_put(struct xb_txn *txn, uint64_t number)
{
	struct number_key place;
	const MDB_val key = key_of(number, &place);
	MDB_val value;
	struct row row;
	int found = xb_sealedrow_get(txn, txn->store->outbox, &key, &value);

	if (found < 0 || (found && decode(&key, &value, &row)))
		return -EIO;
	return found ? row.change.put : xb_fleet_damaged();
}

static int append(struct xb_txn *txn, const struct xb_shared_change *change)
{
	uint64_t number = ++txn->shares.last_number;
	int error = write_change(txn, change, number, false);

	txn->shares.counted = true;
	return error ? error : set_waiting(txn, change, number);
}

int xb_outbox_put(struct xb_txn *txn, const struct xb_shared_change *change)
{
	uint64_t number = 0;
	int found = change->put ? find_waiting(txn, change->list, &change->entry, &number) : 0;

	if (found > 0)
		found = is_put(txn, number);
	if (found < 0)
		return found;
	return found ? write_change(txn, change, number, true) : append(txn, change);
}

/* --- what the log has --- */

static bool is_of(const struct xb_shared_change *a, const struct xb_shared_change *b)
{
	return !xb_entry_compare(&a->entry, &b->entry) && !strcmp(a->list, b->list);
}

static bool is_same(const struct xb_shared_change *a, const struct xb_shared_change *b)
{
	return is_of(a, b) && a->put == b->put && a->expires == b->expires &&
	       a->comment_size == b->comment_size &&
	       (!a->comment_size || !memcmp(a->comment, b->comment, a->comment_size));
}

/* How far the published changes are gone through; both they and the outbox are in order. */
struct comparison {
	const struct xb_shared_changes *published; /* NULL: not known */
	size_t next;
};

/* Whether the log may have another change than the one that waits. */
static bool differs(struct comparison *comparison, const struct row *row)
{
	const struct xb_shared_changes *published = comparison->published;
	size_t at = comparison->next;

	while (published && at < published->count && !is_of(&published->item[at], &row->change))
		at++;
	if (!published || at == published->count)
		return row->replaced;
	comparison->next = at + 1;
	return !is_same(&published->item[at], &row->change);
}

static int delete_row(struct xb_txn *txn, uint64_t number)
{
	struct number_key place;
	const MDB_val key = key_of(number, &place);
	int found = xb_sealedrow_delete(txn, txn->store->outbox, &key);

	return found < 0 ? found : 0;
}

/* Takes the change out; *last: nothing else of its list and entry waits. */
static int take_out(struct xb_txn *txn, const struct row *row, bool *last)
{
	uint64_t waiting = 0;
	int found = find_waiting(txn, row->list, &row->change.entry, &waiting), error = 0;

	if (found < 0)
		return found;
	*last = found && waiting == row->number;
	if (*last)
		error = end_waiting(txn, &row->change);
	return error ? error : delete_row(txn, row->number);
}

/* A copy of the first change that is numbered `from` or higher, in `one`. */
static int first_row(struct xb_txn *txn, uint64_t from, struct row *row,
		     struct xb_shared_changes *one)
{
	MDB_cursor *cursor;
	int more = open_cursor(txn, &cursor), error;

	if (more)
		return more;
	more = next_row(cursor, MDB_SET_RANGE, from, row);
	mdb_cursor_close(cursor);
	if (more <= 0)
		return more;
	error = xb_shared_changes_add(one, &row->change);
	if (error)
		return error;
	row->change = one->item[0];
	return 1;
}

/* Takes out what is numbered up to `last`; what is to be published again is appended to `again`. */
static int take_published(struct xb_txn *txn, struct comparison *comparison, uint64_t last,
			  struct xb_shared_changes *again)
{
	int more, error = 0;

	do {
		struct xb_shared_changes one = {0};
		struct row row;
		bool is_last;

		more = first_row(txn, 0, &row, &one);
		if (more > 0 && row.number > last)
			more = 0;
		if (more > 0) {
			bool other = differs(comparison, &row);

			error = take_out(txn, &row, &is_last);
			if (!error && other && is_last && row.change.put)
				error = xb_shared_changes_add(again, &row.change);
		}
		xb_shared_changes_free(&one);
	} while (more > 0 && !error);
	return error ? error : more;
}

/* Takes out all deletes that wait. One whose entry is put again behind it is not needed. */
static int take_deletes(struct xb_txn *txn, struct xb_shared_changes *deletes)
{
	uint64_t from = 0;
	int more, error = 0;

	do {
		struct xb_shared_changes one = {0};
		struct row row;
		bool is_last;

		more = first_row(txn, from, &row, &one);
		if (more > 0 && !row.change.put) {
			error = take_out(txn, &row, &is_last);
			if (!error && is_last)
				error = xb_shared_changes_add(deletes, &row.change);
		}
		if (more > 0)
			from = row.number + 1;
		xb_shared_changes_free(&one);
	} while (more > 0 && !error);
	return error ? error : more;
}

static int append_all(struct xb_txn *txn, const struct xb_shared_changes *changes)
{
	int error = 0;

	for (size_t i = 0; !error && i < changes->count; i++)
		error = xb_outbox_put(txn, &changes->item[i]);
	return error;
}

static int put_again(struct xb_txn *txn, const struct xb_shared_changes *puts)
{
	struct xb_shared_changes deletes = {0};
	int error = puts->count ? take_deletes(txn, &deletes) : 0;

	if (!error)
		error = append_all(txn, puts);
	if (!error)
		error = append_all(txn, &deletes);
	xb_shared_changes_free(&deletes);
	return error;
}

int xb_outbox_published(struct xb_txn *txn, const struct xb_shared_changes *published,
			uint64_t last)
{
	struct comparison comparison = {.published = published};
	struct xb_shared_changes again = {0};
	int error = take_published(txn, &comparison, last, &again);

	if (last > txn->shares.last_number) {
		txn->shares.last_number = last;
		txn->shares.counted = true;
		txn->edits++;
	}
	if (!error)
		error = put_again(txn, &again);
	xb_shared_changes_free(&again);
	return error;
}

int xb_outbox_forget(struct xb_txn *txn, uint64_t last)
{
	return xb_outbox_published(txn, NULL, last);
}
