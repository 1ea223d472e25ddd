/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Marks of publishers, and the lineage of epochs. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "store/fleet.h"
#include "store/fleettable.h"
#include "store/lmdberror.h"

struct mark_key {
	uint8_t bytes[1 + XB_FLEET_ID];
};

static MDB_val key_of(const uint8_t publisher[XB_FLEET_ID], struct mark_key *key)
{
	key->bytes[0] = XB_FLEET_MARK;
	memcpy(key->bytes + 1, publisher, XB_FLEET_ID);
	return (MDB_val){sizeof(key->bytes), key->bytes};
}

int xb_fleet_mark_get(struct xb_txn *txn, const uint8_t publisher[XB_FLEET_ID], uint64_t *last)
{
	struct mark_key bytes;
	const MDB_val key = key_of(publisher, &bytes);
	int found;

	*last = 0;
	if (!xb_fleettables_are(txn))
		return 0;
	found = xb_sealedrow_read(txn, txn->store->fleet, &key, last, sizeof(*last));
	return found < 0 ? found : 0;
}

int xb_fleet_mark_set(struct xb_txn *txn, const uint8_t publisher[XB_FLEET_ID], uint64_t last)
{
	struct mark_key bytes;
	const MDB_val key = key_of(publisher, &bytes), value = {sizeof(last), &last};

	return xb_sealedrow_put(txn, txn->store->fleet, &key, &value);
}

int xb_fleet_mark_raise(struct xb_txn *txn, const uint8_t publisher[XB_FLEET_ID], uint64_t last)
{
	uint64_t former;
	int error = xb_fleet_mark_get(txn, publisher, &former);

	return error || last <= former ? error : xb_fleet_mark_set(txn, publisher, last);
}

/* One of 0 is as none: what was lowered to that need not be told. */
static int add_mark(const MDB_val *key, const MDB_val *value, struct xb_fleet_mark **marks,
		    size_t *count, size_t *room)
{
	struct xb_fleet_mark mark;

	if (key->mv_size != 1 + XB_FLEET_ID || value->mv_size != sizeof(mark.last))
		return xb_fleet_damaged();
	memcpy(mark.publisher, (const uint8_t *)key->mv_data + 1, XB_FLEET_ID);
	memcpy(&mark.last, value->mv_data, sizeof(mark.last));
	if (!mark.last)
		return 0;
	if (xb_array_grow(marks, room, *count + 1, sizeof(mark)))
		return xb_out_of_memory();
	(*marks)[(*count)++] = mark;
	return 0;
}

static int read_marks(MDB_cursor *cursor, struct xb_fleet_mark **marks, size_t *count)
{
	uint8_t first = XB_FLEET_MARK;
	MDB_val key = {1, &first}, value = {0};
	size_t room = 0;
	int error = 0, more = xb_sealedrow_next(cursor, MDB_SET_RANGE, &key, &value);

	while (!error && more > 0 && *(const uint8_t *)key.mv_data == XB_FLEET_MARK) {
		error = add_mark(&key, &value, marks, count, &room);
		if (!error)
			more = xb_sealedrow_next(cursor, MDB_NEXT, &key, &value);
	}
	return error ? error : more < 0 ? more : 0;
}

int xb_fleet_marks(struct xb_txn *txn, struct xb_fleet_mark **marks, size_t *count)
{
	MDB_cursor *cursor;
	int error;

	*marks = NULL;
	*count = 0;
	if (!xb_fleettables_are(txn))
		return 0;
	error = mdb_cursor_open(txn->txn, txn->store->fleet, &cursor);
	if (error)
		return xb_lmdb_error(error, "cannot read the store");
	error = read_marks(cursor, marks, count);
	mdb_cursor_close(cursor);
	if (error) {
		free(*marks);
		*marks = NULL;
		*count = 0;
	}
	return error;
}

static const uint8_t lineage_key[] = {XB_FLEET_LINEAGE};
_Static_assert(sizeof(struct xb_ancestor) == 32, "store format");

static MDB_val key_of_lineage(void)
{
	return (MDB_val){sizeof(lineage_key), (void *)(uintptr_t)lineage_key};
}

int xb_fleet_lineage_get(struct xb_txn *txn, struct xb_ancestor lineage[XB_LINEAGE_MAX])
{
	const MDB_val key = key_of_lineage();
	MDB_val value = {0};
	int found = xb_fleettables_are(txn) ? xb_sealedrow_get(txn, txn->store->fleet, &key, &value)
					    : 0;

	if (found <= 0)
		return found;
	if (value.mv_size % sizeof(*lineage) || value.mv_size > XB_LINEAGE_MAX * sizeof(*lineage))
		return xb_fleet_damaged();
	memcpy(lineage, value.mv_data, value.mv_size);
	return (int)(value.mv_size / sizeof(*lineage));
}

int xb_fleet_lineage_put(struct xb_txn *txn, const struct xb_ancestor *lineage, size_t count)
{
	const MDB_val key = key_of_lineage();
	MDB_val value = {0, (void *)(uintptr_t)lineage};

	if (count > XB_LINEAGE_MAX)
		count = XB_LINEAGE_MAX;
	value.mv_size = count * sizeof(*lineage);
	return xb_sealedrow_put(txn, txn->store->fleet, &key, &value);
}
