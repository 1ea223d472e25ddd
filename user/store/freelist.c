/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LMDB 0.9 keeps the list in the first of its own two tables, a record for each transaction that
 * freed pages: its number is the key; the value is a count and as many page numbers, largest first,
 * all of them words of the machine (MDB_IDL in LMDB's midl.h). Room behind them has no meaning.
 */
#include "store/freelist.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "store/lmdbpage.h"

#define FREE_PAGES 0 /* LMDB's number of that table */
#define META_PAGES 2 /* are never free */

struct pages {
	size_t end; /* behind the last page of the file */
	uint8_t *free;
};

static size_t word_at(const MDB_val *value, size_t i)
{
	size_t word;

	memcpy(&word, (const char *)value->mv_data + i * sizeof(word), sizeof(word));
	return word;
}

/* False: it cannot be free, or is listed already. */
static bool mark(struct pages *pages, size_t page)
{
	uint8_t bit = (uint8_t)(1U << page % 8);

	if (page < META_PAGES || page >= pages->end || (pages->free[page / 8] & bit))
		return false;
	pages->free[page / 8] |= bit;
	return true;
}

static bool is_sound(struct pages *pages, const MDB_val *value)
{
	size_t words = value->mv_size / sizeof(size_t), count, before = pages->end;

	if (!words || value->mv_size % sizeof(size_t))
		return false;
	count = word_at(value, 0);
	if (count >= words)
		return false;
	for (size_t i = 1; i <= count; i++) {
		size_t page = word_at(value, i);

		if (page >= before || !mark(pages, page))
			return false;
		before = page;
	}
	return true;
}

static int check_records(MDB_txn *reader, MDB_cursor *cursor, struct pages *pages)
{
	size_t number, before = 0;
	MDB_val key = {0}, value = {0};
	int error;

	while (!(error = mdb_cursor_get(cursor, &key, &value, MDB_NEXT))) {
		if (key.mv_size != sizeof(number) || !xb_lmdbpage_is_whole(&value))
			return MDB_CORRUPTED;
		number = word_at(&key, 0);
		if (number <= before || number > mdb_txn_id(reader) || !is_sound(pages, &value))
			return MDB_CORRUPTED;
		before = number;
	}
	return error == MDB_NOTFOUND ? 0 : error;
}

static int check(MDB_txn *reader, struct pages *pages)
{
	MDB_cursor *cursor;
	int error = xb_lmdbpage_free_is_sound(reader) ? mdb_cursor_open(reader, FREE_PAGES, &cursor)
						      : MDB_CORRUPTED;

	if (error)
		return error;
	error = check_records(reader, cursor, pages);
	mdb_cursor_close(cursor);
	return error;
}

/* LMDB shows the table only to readers. This one sees what the writer begins with. */
int xb_freelist_check(MDB_txn *writer)
{
	MDB_env *env = mdb_txn_env(writer);
	struct pages pages;
	MDB_envinfo info;
	MDB_txn *reader;
	int error;

	mdb_env_info(env, &info);
	pages.end = info.me_last_pgno + 1;
	pages.free = calloc(pages.end / 8 + 1, 1);
	if (!pages.free)
		return ENOMEM;
	error = mdb_txn_begin(env, NULL, MDB_RDONLY, &reader);
	if (!error) {
		error = check(reader, &pages);
		mdb_txn_abort(reader);
	}
	free(pages.free);
	return error;
}
