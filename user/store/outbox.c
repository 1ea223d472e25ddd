/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What goes into the outbox, and what becomes of it once the log has it. */
#include "store/outbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "store/fleettable.h"
#include "store/lmdberror.h"
#include "store/outboxrows.h"
#include "store/shares.h"

static int span_of(MDB_cursor *cursor, uint64_t *first, uint64_t *last)
{
	struct xb_outboxrow row;
	int more = xb_outboxrow_next(cursor, MDB_FIRST, 0, &row);

	if (more <= 0)
		return more;
	*first = row.number;
	more = xb_outboxrow_next(cursor, MDB_LAST, 0, &row);
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
	error = xb_outboxrow_cursor(txn, &cursor);
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

static int add_row(struct xb_shared_changes *changes, size_t *room, const struct xb_outboxrow *row)
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
	return XB_OUTBOXROW_BYTES + XB_ADDRESS_KEY_BYTES + change->comment_size +
	       (xb_entry_is_name(&change->entry) ? change->entry.length : 0U);
}

int xb_outbox_read(struct xb_txn *txn, size_t most, size_t bytes, struct xb_shared_changes *changes)
{
	MDB_cursor *cursor;
	struct xb_outboxrow row;
	size_t room = 0, size = 0;
	int more = 1, error;

	*changes = (struct xb_shared_changes){0};
	if (!xb_fleettables_are(txn))
		return 0;
	error = xb_outboxrow_cursor(txn, &cursor);
	if (error)
		return error;
	while (!error && changes->count < most && (!changes->count || size < bytes) &&
	       (more = xb_outboxrow_next(cursor, MDB_NEXT, 0, &row)) > 0) {
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

	return xb_outboxrow_waiting(txn, list, entry, &number);
}

static int append(struct xb_txn *txn, const struct xb_shared_change *change, uint8_t again)
{
	uint64_t number = ++txn->shares.last_number;
	int error =
		xb_outboxrow_write(txn, change, number, (struct xb_outbox_history){.again = again});

	txn->shares.counted = true;
	return error ? error : xb_outboxrow_set_waiting(txn, change, number);
}

/* Takes the change out; *last: nothing else of its list and entry waits. */
static int take_out(struct xb_txn *txn, const struct xb_outboxrow *row, bool *last)
{
	uint64_t waiting = 0;
	int found = xb_outboxrow_waiting(txn, row->list, &row->change.entry, &waiting), error = 0;

	if (found < 0)
		return found;
	*last = found && waiting == row->number;
	if (*last)
		error = xb_outboxrow_end_waiting(txn, &row->change);
	return error ? error : xb_outboxrow_delete(txn, row->number);
}

int xb_outbox_put(struct xb_txn *txn, const struct xb_shared_change *change)
{
	struct xb_outboxrow row;
	int found = change->put ? xb_outboxrow_last(txn, change->list, &change->entry, &row) : 0;
	int error = found < 0 ? found : 0;
	bool last;

	if (found > 0 && row.change.put)
		return xb_outboxrow_write(txn, change, row.number,
					  (struct xb_outbox_history){.replaced = true});
	/* In an entry of the log before that of the put it would take out what others have. */
	if (found > 0 && row.history.again)
		error = take_out(txn, &row, &last);
	return error ? error : append(txn, change, 0);
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
	bool twice; /* numbers were given twice: the store is an older copy */
	size_t next;
	struct xb_shared_changes puts, deletes; /* to be published again */
};

/* Whether the log may have another change than the one that waits. If it lacks the entry, the
 * number was given twice: the store is an older copy, or the machine is. */
static bool differs(struct comparison *comparison, const struct xb_outboxrow *row)
{
	const struct xb_shared_changes *published = comparison->published;
	size_t at = comparison->next;

	if (!published)
		return row->history.replaced || comparison->twice;
	while (at < published->count && !is_of(&published->item[at], &row->change))
		at++;
	if (at == published->count)
		return true;
	comparison->next = at + 1;
	return !is_same(&published->item[at], &row->change);
}

/* A copy of the first change that is numbered `from` or higher, in `one`. */
static int first_row(struct xb_txn *txn, uint64_t from, struct xb_outboxrow *row,
		     struct xb_shared_changes *one)
{
	MDB_cursor *cursor;
	int error = xb_outboxrow_cursor(txn, &cursor), more;

	if (error < 0)
		return error;
	more = xb_outboxrow_next(cursor, MDB_SET_RANGE, from, row);
	mdb_cursor_close(cursor);
	if (more <= 0)
		return more;
	error = xb_shared_changes_add(one, &row->change);
	if (error)
		return error;
	row->change = one->item[0];
	return 1;
}

/* Takes out what is numbered up to `last`. */
static int take_published(struct xb_txn *txn, struct comparison *comparison, uint64_t last)
{
	int more, error = 0;

	do {
		struct xb_shared_changes one = {0};
		struct xb_outboxrow row;
		bool is_last;

		more = first_row(txn, 0, &row, &one);
		if (more > 0 && row.number > last)
			more = 0;
		if (more > 0) {
			bool other = differs(comparison, &row);

			error = take_out(txn, &row, &is_last);
			if (!error && other && is_last)
				error = xb_shared_changes_add(row.change.put ? &comparison->puts
									     : &comparison->deletes,
							      &row.change);
		}
		xb_shared_changes_free(&one);
	} while (more > 0 && !error);
	return error ? error : more;
}

/* Takes out all deletes that wait for the first time. One whose entry is put again behind it is not
 * needed. */
static int take_deletes(struct xb_txn *txn, struct xb_shared_changes *deletes)
{
	uint64_t from = 0;
	int more, error = 0;

	do {
		struct xb_shared_changes one = {0};
		struct xb_outboxrow row;
		bool is_last;

		more = first_row(txn, from, &row, &one);
		if (more > 0 && !row.change.put && !row.history.again) {
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

/* twice: nobody knows how old they are. */
static int append_all(struct xb_txn *txn, const struct xb_shared_changes *changes, bool twice)
{
	int error = 0;

	for (size_t i = 0; error >= 0 && i < changes->count; i++)
		error = twice ? xb_outbox_put_again(txn, &changes->item[i], XB_AGAIN_OWN)
			      : xb_outbox_put(txn, &changes->item[i]);
	return error < 0 ? error : 0;
}

/* Deletes that wait go behind the puts: they may be right only after them. */
static int publish_again(struct xb_txn *txn, struct comparison *comparison)
{
	int error = comparison->puts.count ? take_deletes(txn, &comparison->deletes) : 0;

	if (!error)
		error = append_all(txn, &comparison->puts, comparison->twice);
	if (!error)
		error = append_all(txn, &comparison->deletes, comparison->twice);
	return error;
}

int xb_outbox_published(struct xb_txn *txn, const struct xb_shared_changes *published,
			uint64_t last)
{
	struct comparison comparison = {.published = published,
					.twice = last > txn->shares.last_number};
	int error = take_published(txn, &comparison, last);

	if (last > txn->shares.last_number) {
		txn->shares.last_number = last;
		txn->shares.counted = true;
		txn->edits++;
	}
	if (!error)
		error = publish_again(txn, &comparison);
	xb_shared_changes_free(&comparison.puts);
	xb_shared_changes_free(&comparison.deletes);
	return error;
}

int xb_outbox_forget(struct xb_txn *txn, uint64_t last)
{
	return xb_outbox_published(txn, NULL, last);
}

/* --- what is published again --- */

/* One of which more is known takes the place of the same one. */
int xb_outbox_put_again(struct xb_txn *txn, const struct xb_shared_change *change,
			enum xb_again whose)
{
	struct xb_outboxrow row;
	int found = xb_outboxrow_last(txn, change->list, &change->entry, &row), error;

	if (found < 0)
		return found;
	if (!found)
		error = append(txn, change, (uint8_t)whose);
	else if (row.history.again > (uint8_t)whose && change->put)
		error = xb_outboxrow_write(
			txn, change, row.number,
			(struct xb_outbox_history){.replaced = row.history.replaced ||
							       !is_same(&row.change, change),
						   .again = (uint8_t)whose});
	else
		return 0;
	return error ? error : 1;
}

/* Whether another put lists the entry for at least as long. */
static bool lasts(const struct xb_shared_change *other, const struct xb_shared_change *put)
{
	return other->put && (!other->expires || (put->expires && other->expires >= put->expires));
}

static bool makes_way(const struct xb_txn *txn, const struct xb_outboxrow *row,
		      const struct xb_shared_change *other)
{
	if (!row->history.again)
		return false;
	if (row->history.again == XB_AGAIN_OLDER)
		return true;
	/* The log has it, and the other one behind it. */
	if (row->history.met && !txn->shares.misses)
		return true;
	return !row->change.put || lasts(other, &row->change);
}

/* The log may have had the same twice: what was made, undone and made again. So the mark is good
 * for as long as no other change comes behind it, and if all came that there was. */
static int meet_former(struct xb_txn *txn, struct xb_outboxrow *row,
		       const struct xb_shared_change *other)
{
	bool met = is_same(&row->change, other);
	int error = 0;

	if (met != row->history.met) {
		row->history.met = met;
		error = xb_outboxrow_write(txn, &row->change, row->number, row->history);
	}
	txn->shares.met |= met;
	return error ? error : !met;
}

int xb_outbox_meets(struct xb_txn *txn, const struct xb_shared_change *other, bool former)
{
	struct xb_outboxrow row;
	bool last;
	int found = xb_outboxrow_last(txn, other->list, &other->entry, &row);

	if (found <= 0)
		return found;
	if (former && row.history.again && row.history.again != XB_AGAIN_OLDER)
		return meet_former(txn, &row, other);
	return makes_way(txn, &row, other) ? take_out(txn, &row, &last) : 1;
}

void xb_outbox_misses(struct xb_txn *txn, bool misses)
{
	txn->shares.misses = misses;
}

static int settle(struct xb_txn *txn, struct xb_outboxrow *row)
{
	bool last;

	if (!row->history.met)
		return 0;
	row->history.met = false;
	return txn->shares.misses ? xb_outboxrow_write(txn, &row->change, row->number, row->history)
				  : take_out(txn, row, &last);
}

int xb_outbox_settle(struct xb_txn *txn)
{
	struct xb_outboxrow row;
	uint64_t from = 0;
	int more = txn->shares.met, error = 0;

	while (more > 0 && !error) {
		struct xb_shared_changes one = {0};

		more = first_row(txn, from, &row, &one);
		if (more > 0)
			error = settle(txn, &row);
		if (more > 0)
			from = row.number + 1;
		xb_shared_changes_free(&one);
	}
	txn->shares.met = false;
	return error ? error : more;
}

int xb_outbox_give_way(struct xb_txn *txn, const char *list, const struct xb_entry *entry,
		       bool listed)
{
	struct xb_outboxrow row;
	bool last;
	int found = xb_outboxrow_last(txn, list, entry, &row), error;

	if (found <= 0 || !row.history.again)
		return found < 0 ? found : 0;
	if (row.history.again != XB_AGAIN_OLDER && (row.change.put || !listed))
		return 0;
	error = take_out(txn, &row, &last);
	return error ? error : 1;
}
