/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/lmdbpage.h"

#include <string.h>

#include "store/lmdbcrash.h"

/* MDB_page, whose node numbers follow it, and MDB_node, whose key and data follow it. */
struct page {
	uint64_t number;
	uint16_t pad, flags, lower, upper;
	uint16_t node[];
};

struct node {
	uint16_t low, high, flags, key_size;
};

#define BRANCH	 0x01
#define LEAF	 0x02
#define BIG_DATA 0x01 /* elsewhere; the node has the number of a page */
#define SUB_DATA 0x02 /* a table's record */

/* Where LMDB has the file. There is one environment (store/openenv.h). */
static struct {
	const MDB_env *env; /* NULL: nothing is known */
	uintptr_t from, to;
	size_t page_bytes;
	const void *sound; /* the page that was looked at last */
} map;

static bool node_is_sound(const struct page *page, size_t bytes, size_t place)
{
	struct node node;
	size_t size;

	if (place < page->upper || place + sizeof(node) > bytes)
		return false;
	memcpy(&node, (const char *)page + place, sizeof(node));
	size = sizeof(node) + node.key_size;
	if (page->flags == LEAF && (node.flags & ~(BIG_DATA | SUB_DATA)))
		return false;
	if (page->flags == LEAF)
		size += node.flags & BIG_DATA ? sizeof(page->number)
					      : node.low | (size_t)node.high << 16;
	return place + size <= bytes;
}

bool xb_lmdbpage_is_sound(const void *bytes_of_page, size_t bytes, uint64_t number)
{
	const struct page *page = bytes_of_page;
	size_t nodes;

	if (page->number != number || (page->flags != BRANCH && page->flags != LEAF) ||
	    page->lower < sizeof(*page) + sizeof(page->node[0]) || page->lower % 2 ||
	    page->lower > page->upper || page->upper > bytes)
		return false;
	nodes = (page->lower - sizeof(*page)) / sizeof(page->node[0]);
	for (size_t i = 0; i < nodes; i++)
		if (!node_is_sound(page, bytes, page->node[i]))
			return false;
	return true;
}

bool xb_lmdbpage_holds(const MDB_val *value)
{
	uintptr_t place = (uintptr_t)value->mv_data;
	size_t number;
	const void *page;

	if (!map.env || place < map.from || place >= map.to)
		return true;
	number = (place - map.from) / map.page_bytes;
	page = (const void *)(map.from + number * map.page_bytes);
	if (page != map.sound && !xb_lmdbpage_is_sound(page, map.page_bytes, number))
		return false;
	map.sound = page;
	return true;
}

/* In the order of LMDB's own. LMDB compares what it looks for with what a page has. */
static int compare(const MDB_val *sought, const MDB_val *held)
{
	size_t size = sought->mv_size < held->mv_size ? sought->mv_size : held->mv_size;
	int order;

	if (!xb_lmdbpage_holds(held))
		xb_lmdbcrash_end();
	order = memcmp(sought->mv_data, held->mv_data, size);
	return order ? order
		     : (sought->mv_size > held->mv_size) - (sought->mv_size < held->mv_size);
}

/* The first record of the table of tables is in a page of the file, and a page has its number. */
static int learn_from(MDB_env *env, MDB_cursor *cursor)
{
	const struct page *page;
	MDB_envinfo info;
	MDB_stat pages;
	MDB_val key = {0};
	int error = mdb_cursor_get(cursor, &key, NULL, MDB_FIRST);

	if (error)
		return error == MDB_NOTFOUND ? 0 : error;
	mdb_env_info(env, &info);
	mdb_env_stat(env, &pages);
	page = (const void *)((uintptr_t)key.mv_data & ~(uintptr_t)(pages.ms_psize - 1));
	if (page->number > info.me_last_pgno ||
	    !xb_lmdbpage_is_sound(page, pages.ms_psize, page->number))
		return MDB_CORRUPTED;
	map.env = env;
	map.page_bytes = pages.ms_psize;
	map.from = (uintptr_t)page - page->number * map.page_bytes;
	map.to = map.from + info.me_mapsize;
	return 0;
}

int xb_lmdbpage_begin(MDB_txn *txn)
{
	MDB_env *env = mdb_txn_env(txn);
	MDB_cursor *cursor;
	MDB_dbi tables;
	int error;

	map.sound = NULL;
	if (map.env == env)
		return 0;
	error = xb_lmdbpage_open(txn, NULL, 0, &tables);
	if (!error)
		error = mdb_cursor_open(txn, tables, &cursor);
	if (error)
		return error;
	error = learn_from(env, cursor);
	mdb_cursor_close(cursor);
	return error;
}

void xb_lmdbpage_forget(void)
{
	map.env = NULL;
}

int xb_lmdbpage_open(MDB_txn *txn, const char *name, unsigned int flags, MDB_dbi *table)
{
	int error = mdb_dbi_open(txn, name, flags, table);

	return error ? error : mdb_set_compare(txn, *table, compare);
}

int xb_lmdbpage_delete(MDB_cursor *cursor, const MDB_val *key)
{
	return xb_lmdbpage_holds(key) ? mdb_cursor_del(cursor, 0) : MDB_CORRUPTED;
}
