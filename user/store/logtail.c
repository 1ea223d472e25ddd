/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Under term and position, both big-endian. The entries of a term stand without a gap, so its first
 * and its last one say which are there. */
#include "store/logtail.h"

#include <endian.h>
#include <string.h>

#include "base/error.h"
#include "store/fleettable.h"
#include "store/lmdberror.h"

struct place {
	uint64_t term, position;
};

struct place_key {
	uint64_t order[2];
};

static MDB_val key_of(struct place place, struct place_key *key)
{
	key->order[0] = htobe64(place.term);
	key->order[1] = htobe64(place.position);
	return (MDB_val){sizeof(key->order), key->order};
}

static int place_of(const MDB_val *key, struct place *place)
{
	struct place_key bytes;

	if (key->mv_size != sizeof(bytes.order))
		return xb_fleet_damaged();
	memcpy(bytes.order, key->mv_data, sizeof(bytes.order));
	*place = (struct place){be64toh(bytes.order[0]), be64toh(bytes.order[1])};
	return 1;
}

/* The entry where the cursor goes, without a look at its bytes: 1, 0: there is none. */
static int go(MDB_cursor *cursor, MDB_cursor_op where, struct place *place, size_t *size)
{
	struct place_key bytes;
	MDB_val key = key_of(*place, &bytes), value = {0};
	int error = mdb_cursor_get(cursor, &key, &value, where);

	if (error == MDB_NOTFOUND)
		return 0;
	if (error)
		return xb_lmdb_error(error, "cannot read the store");
	*size = value.mv_size;
	return place_of(&key, place);
}

static int open_cursor(struct xb_txn *txn, MDB_cursor **cursor)
{
	int error = mdb_cursor_open(txn->txn, txn->store->tail, cursor);

	return error ? xb_lmdb_error(error, "cannot read the store") : 0;
}

/* The first entry from this place on: 1, 0: there is none. */
static int find_from(struct xb_txn *txn, struct place *place, size_t *size)
{
	MDB_cursor *cursor;
	int more = open_cursor(txn, &cursor);

	if (more < 0)
		return more;
	more = go(cursor, MDB_SET_RANGE, place, size);
	mdb_cursor_close(cursor);
	return more;
}

/* The last entry of the term: 1, 0: there is none. */
static int find_last(struct xb_txn *txn, uint64_t term, struct place *place)
{
	MDB_cursor *cursor;
	size_t size;
	int more = open_cursor(txn, &cursor);

	if (more < 0)
		return more;
	*place = (struct place){term, UINT64_MAX};
	more = go(cursor, MDB_SET_RANGE, place, &size);
	if (more >= 0 && !(more && place->term == term))
		more = go(cursor, more ? MDB_PREV : MDB_LAST, place, &size);
	mdb_cursor_close(cursor);
	return more <= 0 ? more : place->term == term;
}

/* --- how many bytes it has --- */

static const uint8_t bytes_key[] = {XB_FLEET_TAIL};

static MDB_val key_of_bytes(void)
{
	return (MDB_val){sizeof(bytes_key), (void *)(uintptr_t)bytes_key};
}

static int get_bytes(struct xb_txn *txn, uint64_t *bytes)
{
	const MDB_val key = key_of_bytes();
	int found = xb_sealedrow_read(txn, txn->store->fleet, &key, bytes, sizeof(*bytes));

	if (!found)
		*bytes = 0;
	return found < 0 ? found : 0;
}

static int put_bytes(struct xb_txn *txn, uint64_t bytes)
{
	const MDB_val key = key_of_bytes(), value = {sizeof(bytes), &bytes};

	return xb_sealedrow_put(txn, txn->store->fleet, &key, &value);
}

/* Takes the entry out of table and count. */
static int take_out(struct xb_txn *txn, struct place place, size_t size, uint64_t *bytes)
{
	struct place_key name;
	const MDB_val key = key_of(place, &name);
	int found = xb_sealedrow_delete(txn, txn->store->tail, &key);

	*bytes -= size < *bytes ? size : *bytes;
	return found < 0 ? found : 0;
}

/* Takes out the entries from `first` on, up to the end of the term, or of the tail. */
static int take_from(struct xb_txn *txn, struct place first, bool of_term, uint64_t *bytes)
{
	int more, error = 0;

	do {
		struct place place = first;
		size_t size = 0;

		more = find_from(txn, &place, &size);
		if (more > 0 && of_term && place.term != first.term)
			more = 0;
		if (more > 0)
			error = take_out(txn, place, size, bytes);
	} while (more > 0 && !error);
	return error ? error : more;
}

/* The oldest go, but never the last one. */
static int take_oldest(struct xb_txn *txn, struct place last, uint64_t *bytes)
{
	int more = 1, error = 0;

	while (!error && more > 0 && *bytes > XB_LOGTAIL_BYTES) {
		struct place place = {0};
		size_t size = 0;

		more = find_from(txn, &place, &size);
		if (more > 0 && place.term == last.term && place.position == last.position)
			break;
		if (more > 0)
			error = take_out(txn, place, size, bytes);
	}
	return error ? error : more < 0 ? more : 0;
}

int xb_logtail_cut(struct xb_txn *txn, uint64_t term, uint64_t position)
{
	uint64_t bytes = 0;
	int error = xb_fleettables_are(txn) ? get_bytes(txn, &bytes) : xb_fleet_none();

	if (error || position == UINT64_MAX)
		return error;
	error = take_from(txn, (struct place){term, position + 1}, false, &bytes);
	return error ? error : put_bytes(txn, bytes);
}

/* What stands before a gap is of no use: nobody knows what was in between. */
static int close_gap(struct xb_txn *txn, struct place place, uint64_t *bytes)
{
	struct place last;
	int found = find_last(txn, place.term, &last);

	if (found <= 0 || last.position + 1 == place.position)
		return found < 0 ? found : 0;
	return take_from(txn, (struct place){.term = place.term}, true, bytes);
}

int xb_logtail_append(struct xb_txn *txn, uint64_t term, uint64_t position, const void *entry,
		      size_t size)
{
	const struct place place = {term, position};
	const MDB_val value = {size, (void *)(uintptr_t)entry};
	struct place_key name;
	const MDB_val key = key_of(place, &name);
	uint64_t bytes = 0;
	int error = xb_fleettables_are(txn) ? get_bytes(txn, &bytes) : xb_fleet_none();

	if (!error)
		error = take_from(txn, place, false, &bytes);
	if (!error)
		error = close_gap(txn, place, &bytes);
	if (!error)
		error = xb_sealedrow_put(txn, txn->store->tail, &key, &value);
	bytes += size + sizeof(uint32_t); /* its checksum */
	if (!error)
		error = take_oldest(txn, place, &bytes);
	return error ? error : put_bytes(txn, bytes);
}

int xb_logtail_get(struct xb_txn *txn, uint64_t term, uint64_t position, const void **entry,
		   size_t *size)
{
	struct place_key name;
	const MDB_val key = key_of((struct place){term, position}, &name);
	MDB_val value = {0};
	int found =
		xb_fleettables_are(txn) ? xb_sealedrow_get(txn, txn->store->tail, &key, &value) : 0;

	*entry = found > 0 ? value.mv_data : NULL;
	*size = found > 0 ? value.mv_size : 0;
	return found;
}

int xb_logtail_span(struct xb_txn *txn, uint64_t term, uint64_t *first, uint64_t *last)
{
	struct place from = {.term = term}, to;
	size_t size;
	int found;

	*first = *last = 0;
	if (!xb_fleettables_are(txn))
		return 0;
	found = find_last(txn, term, &to);
	if (found <= 0)
		return found;
	found = find_from(txn, &from, &size);
	*first = from.position;
	*last = to.position;
	return found < 0 ? found : 0;
}
