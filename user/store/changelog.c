/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One record a transaction, under its sequence number, big-endian: struct xb_step, (1 byte enum
 * xb_what, key of the entry) repeated; nothing behind the step: bulk. The key of a name does not
 * say where it ends: NAMED is added to the first byte, and the bytes of the name follow it. With
 * CLASSED, the classes before and after follow it, two bytes each; otherwise the entry has class 0,
 * as far as it is listed. */
#include "store/changelog.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/lmdbpage.h"

#define NAMED	0x80
#define CLASSED 0x40

struct classes {
	uint16_t before, after;
};

static bool is_plain(const struct xb_change *change)
{
	return change->before == (change->what == XB_LISTED ? 0 : XB_CLASSES_ALL) &&
	       change->after == (change->what == XB_GONE ? 0 : XB_CLASSES_ALL);
}

static uint8_t *put_change(const struct xb_change *change, uint8_t *end)
{
	const struct classes classes = {htobe16(change->before), htobe16(change->after)};

	*end++ = (uint8_t)change->what;
	if (xb_entry_is_name(&change->entry)) {
		end[-1] |= NAMED;
		*end++ = change->entry.length;
	} else if (!is_plain(change)) {
		end[-1] |= CLASSED;
		memcpy(end, &classes, sizeof(classes));
		end += sizeof(classes);
	}
	return end + xb_entry_encode(&change->entry, end);
}

/* False: the change does not do to the classes what it says. */
static bool get_classes(const uint8_t *bytes, struct xb_change *change)
{
	struct classes classes;

	memcpy(&classes, bytes, sizeof(classes));
	change->before = be16toh(classes.before);
	change->after = be16toh(classes.after);
	return change->before != change->after &&
	       change->what == xb_what_of(change->before, change->after);
}

/* Returns its end; NULL if it is damaged. */
static const uint8_t *get_change(const uint8_t *next, const uint8_t *end, struct xb_change *change)
{
	bool named = *next & NAMED, classed = *next & CLASSED;
	size_t size, taken;

	change->what = *next++ & ~(NAMED | CLASSED);
	if ((named && (classed || next == end)) || change->what > XB_ALTERED)
		return NULL;
	if (classed) {
		if ((size_t)(end - next) < sizeof(struct classes) || !get_classes(next, change))
			return NULL;
		next += sizeof(struct classes);
	}
	size = named ? *next++ + 1U : (size_t)(end - next);
	if (size > (size_t)(end - next))
		return NULL;
	taken = xb_entry_decode(next, size, &change->entry);
	if (!taken || named != xb_entry_is_name(&change->entry) ||
	    (classed && xb_entry_is_allow(&change->entry)))
		return NULL;
	return next + taken;
}

static int take_change(struct xb_changes *changes, const struct xb_change *change)
{
	return change->before != change->after
		       ? xb_changes_move(changes, &change->entry, change->before, change->after)
		       : xb_changes_add(changes, &change->entry, change->what);
}

static size_t bytes_at_most(const struct xb_changes *changes)
{
	size_t bytes = sizeof(struct xb_step);

	for (size_t i = 0; i < changes->count; i++)
		bytes += 2 + (xb_entry_is_name(&changes->change[i].entry)
				      ? changes->change[i].entry.length + 1U
				      : sizeof(struct classes) + XB_ADDRESS_KEY_BYTES);
	return bytes;
}

void xb_changelog_advance(struct xb_txn *txn)
{
	txn->meta.sequence++;
	txn->meta.mark = txn->next_mark;
}

int xb_changelog_append(struct xb_txn *txn, bool bulk)
{
	const struct xb_step step = {txn->meta.mark, txn->next_mark};
	uint64_t sequence = htobe64(txn->meta.sequence + 1);
	MDB_val key = {sizeof(sequence), &sequence}, value = {0};
	const struct xb_changes *changes = &txn->change;
	uint8_t *bytes = malloc(bytes_at_most(changes)), *end;
	int error;

	if (!bytes)
		return xb_out_of_memory();
	memcpy(bytes, &step, sizeof(step));
	end = bytes + sizeof(step);
	for (size_t i = 0; !bulk && !changes->bulk && i < changes->count; i++)
		end = put_change(&changes->change[i], end);
	value = (MDB_val){(size_t)(end - bytes), bytes};
	xb_changelog_advance(txn);
	error = mdb_put(txn->txn, txn->store->changes, &key, &value, 0);
	free(bytes);
	return error ? xb_lmdb_error(error, "cannot write the store") : 0;
}

int xb_changelog_trim(struct xb_txn *txn, uint64_t sequence)
{
	MDB_cursor *cursor;
	MDB_val key = {0}, value = {0};
	int error = mdb_cursor_open(txn->txn, txn->store->changes, &cursor);

	if (error)
		return xb_lmdb_error(error, "cannot write the store");
	while (!(error = mdb_cursor_get(cursor, &key, &value, MDB_FIRST))) {
		uint64_t held;

		if (key.mv_size != sizeof(held)) {
			error = MDB_CORRUPTED;
			break;
		}
		memcpy(&held, key.mv_data, sizeof(held));
		if (be64toh(held) > sequence)
			break;
		/* By a search, which looks at the pages on its way. */
		key = (MDB_val){sizeof(held), &held};
		error = xb_lmdbpage_delete(txn->txn, txn->store->changes, &key);
		if (error)
			break;
	}
	mdb_cursor_close(cursor);
	return error && error != MDB_NOTFOUND ? xb_lmdb_error(error, "cannot write the store") : 0;
}

int xb_changelog_read(struct xb_txn *txn, uint64_t sequence, struct xb_step *step,
		      struct xb_changes *changes)
{
	uint64_t order = htobe64(sequence);
	MDB_val key = {sizeof(order), &order}, value = {0};
	const uint8_t *next, *end;
	int error = mdb_get(txn->txn, txn->store->changes, &key, &value);

	*changes = (struct xb_changes){0};
	if (error == MDB_NOTFOUND)
		return -ENOENT;
	if (!error && value.mv_size < sizeof(*step))
		error = MDB_CORRUPTED;
	if (error)
		return xb_lmdb_error(error, "cannot read the store");
	memcpy(step, value.mv_data, sizeof(*step));
	if (value.mv_size == sizeof(*step))
		xb_changes_set_bulk(changes);
	next = value.mv_data;
	end = next + value.mv_size;
	next += sizeof(*step);
	while (next < end) {
		struct xb_change change = {0};

		next = get_change(next, end, &change);
		if (!next) {
			xb_changes_free(changes);
			return xb_lmdb_error(MDB_CORRUPTED, "cannot read the store");
		}
		error = take_change(changes, &change);
		if (error) {
			xb_changes_free(changes);
			return error;
		}
	}
	return 0;
}
