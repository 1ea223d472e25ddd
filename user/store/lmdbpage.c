/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/lmdbpage.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

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
	size_t pages;	   /* in use when the transaction began */
	const void *sound; /* the page that was looked at last */
} map;

static struct node node_at(const struct page *page, size_t place)
{
	struct node node;

	memcpy(&node, (const char *)page + place, sizeof(node));
	return node;
}

/* LMDB keeps nodes at even places. */
static size_t bytes_of(const struct page *page, struct node node)
{
	size_t bytes = sizeof(node) + node.key_size;

	if (page->flags == LEAF)
		bytes += node.flags & BIG_DATA ? sizeof(page->number)
					       : node.low | (size_t)node.high << 16;
	return (bytes + 1) & ~(size_t)1;
}

static bool node_is_sound(const struct page *page, size_t bytes, size_t place)
{
	struct node node;

	if (place < page->upper || place + sizeof(node) > bytes || place % 2)
		return false;
	node = node_at(page, place);
	if (page->flags == LEAF && (node.flags & ~(BIG_DATA | SUB_DATA)))
		return false;
	return place + bytes_of(page, node) <= bytes;
}

static size_t count_nodes(const struct page *page)
{
	return (page->lower - sizeof(*page)) / sizeof(page->node[0]);
}

bool xb_lmdbpage_is_sound(const void *bytes_of_page, size_t bytes, uint64_t number)
{
	const struct page *page = bytes_of_page;
	size_t nodes, used = 0;

	if (page->number != number || (page->flags != BRANCH && page->flags != LEAF) ||
	    page->lower < sizeof(*page) + sizeof(page->node[0]) || page->lower % 2 ||
	    page->lower > page->upper || page->upper > bytes)
		return false;
	nodes = count_nodes(page);
	for (size_t i = 0; i < nodes; i++) {
		if (!node_is_sound(page, bytes, page->node[i]))
			return false;
		used += bytes_of(page, node_at(page, page->node[i]));
	}
	return used == bytes - page->upper;
}

static bool is_in_file(const void *place)
{
	return map.env && (uintptr_t)place >= map.from && (uintptr_t)place < map.to;
}

static const void *page_of(size_t number)
{
	return (const void *)(map.from + number * map.page_bytes);
}

/* A damaged page can lead LMDB into another one, where most likely no node begins. */
static bool has_node(const struct page *page, size_t place)
{
	size_t nodes = count_nodes(page), i = 0;

	while (i < nodes && page->node[i] != place)
		i++;
	return i < nodes;
}

static bool holds(const void *key)
{
	size_t place, number;
	const void *page;

	if (!is_in_file(key))
		return true;
	place = ((uintptr_t)key - map.from) % map.page_bytes;
	number = ((uintptr_t)key - map.from) / map.page_bytes;
	page = page_of(number);
	if (page == map.sound)
		return true;
	if (!xb_lmdbpage_is_sound(page, map.page_bytes, number) || place < sizeof(struct node) ||
	    !has_node(page, place - sizeof(struct node)))
		return false;
	map.sound = page;
	return true;
}

/* MDB_page of a value that has pages of its own, which follows it. */
struct big_page {
	uint64_t number;
	uint16_t pad, flags;
	uint32_t pages;
};

#define BIG 0x04

/* LMDB may have given it more pages than it needs. */
bool xb_lmdbpage_is_whole(const MDB_val *value)
{
	const struct big_page *page;
	uintptr_t place;
	size_t number;

	if (!is_in_file(value->mv_data))
		return true;
	place = (uintptr_t)value->mv_data - map.from;
	if (place % map.page_bytes != sizeof(*page))
		return true;
	number = place / map.page_bytes;
	/* Behind these are pages that a transaction wrote before its end. */
	if (number >= map.pages)
		return true;
	page = page_of(number);
	return page->number == number && page->flags == BIG && page->pages <= map.pages - number &&
	       sizeof(*page) + value->mv_size <= page->pages * map.page_bytes;
}

/* In the order of LMDB's own. LMDB compares what it looks for with what a page has. */
static int compare(const MDB_val *sought, const MDB_val *held)
{
	size_t size = sought->mv_size < held->mv_size ? sought->mv_size : held->mv_size;
	int order;

	if (!holds(held->mv_data))
		xb_lmdbcrash_end();
	order = memcmp(sought->mv_data, held->mv_data, size);
	return order ? order
		     : (sought->mv_size > held->mv_size) - (sought->mv_size < held->mv_size);
}

/* Whether the file begins there; nothing may be there at all. */
static bool begins_at(uintptr_t place, size_t bytes)
{
	unsigned char resident;
	uint32_t magic;

	if (mincore((void *)place, bytes, &resident) < 0)
		return false;
	memcpy(&magic, (const char *)place + XB_LMDB_MAGIC_PLACE, sizeof(magic));
	return magic == XB_LMDB_MAGIC;
}

/* The first record of the table of tables is in a page of the file, and a page has its number. */
static int learn_from(MDB_env *env, MDB_cursor *cursor)
{
	const struct page *page;
	MDB_envinfo info;
	uintptr_t from;
	MDB_stat pages;
	MDB_val key = {0};
	int error = mdb_cursor_get(cursor, &key, NULL, MDB_FIRST);

	if (error)
		return error == MDB_NOTFOUND ? 0 : error;
	mdb_env_info(env, &info);
	mdb_env_stat(env, &pages);
	/* The kernel does not align a file to larger ones, which another machine has. */
	if (pages.ms_psize != (size_t)sysconf(_SC_PAGESIZE))
		return 0;
	page = (const void *)((uintptr_t)key.mv_data & ~(uintptr_t)(pages.ms_psize - 1));
	from = (uintptr_t)page - page->number * pages.ms_psize;
	if (page->number > info.me_last_pgno || !begins_at(from, pages.ms_psize) ||
	    !xb_lmdbpage_is_sound(page, pages.ms_psize, page->number))
		return MDB_CORRUPTED;
	map.env = env;
	map.page_bytes = pages.ms_psize;
	map.from = from;
	map.to = map.from + info.me_mapsize;
	return 0;
}

static int learn(MDB_txn *txn)
{
	MDB_cursor *cursor;
	MDB_dbi tables;
	int error = xb_lmdbpage_open(txn, NULL, 0, &tables);

	if (!error)
		error = mdb_cursor_open(txn, tables, &cursor);
	if (error)
		return error;
	error = learn_from(mdb_txn_env(txn), cursor);
	mdb_cursor_close(cursor);
	return error;
}

int xb_lmdbpage_begin(MDB_txn *txn)
{
	MDB_env *env = mdb_txn_env(txn);
	int error = map.env == env ? 0 : learn(txn);
	MDB_envinfo info;

	mdb_env_info(env, &info);
	map.pages = info.me_last_pgno + 1;
	map.sound = NULL;
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

int xb_lmdbpage_check(MDB_txn *txn, MDB_dbi table, const MDB_val *key)
{
	MDB_val name = *key, value = {0};
	int error = mdb_get(txn, table, &name, &value);

	return error || xb_lmdbpage_is_whole(&value) ? error : MDB_CORRUPTED;
}

int xb_lmdbpage_delete(MDB_txn *txn, MDB_dbi table, const MDB_val *key)
{
	MDB_val name = *key;
	int error = xb_lmdbpage_check(txn, table, key);

	return error ? error : mdb_del(txn, table, &name, NULL);
}

/* In MDB_meta, of the two pages the file begins with: of LMDB's table of free pages. */
#define FREE_DEPTH_PLACE 46
#define FREE_ROOT_PLACE	 80
#define NO_PAGE		 UINT64_MAX
#define DEPTH_MAX	 5

static uint64_t child_of(const struct page *page, size_t i)
{
	struct node node = node_at(page, page->node[i]);

	return node.low | (uint64_t)node.high << 16 | (uint64_t)node.flags << 32;
}

static bool tree_is_sound(uint64_t number, unsigned int depth)
{
	const struct page *page;

	if (number >= map.pages)
		return false;
	page = page_of(number);
	if (!xb_lmdbpage_is_sound(page, map.page_bytes, number) ||
	    page->flags != (depth > 1 ? BRANCH : LEAF))
		return false;
	for (size_t i = 0; depth > 1 && i < count_nodes(page); i++)
		if (!tree_is_sound(child_of(page, i), depth - 1))
			return false;
	return true;
}

bool xb_lmdbpage_free_is_sound(MDB_txn *reader)
{
	const char *meta;
	uint64_t root;
	uint16_t depth;

	if (map.env != mdb_txn_env(reader))
		return true;
	meta = page_of(mdb_txn_id(reader) % 2);
	memcpy(&root, meta + FREE_ROOT_PLACE, sizeof(root));
	memcpy(&depth, meta + FREE_DEPTH_PLACE, sizeof(depth));
	return root == NO_PAGE || (depth && depth <= DEPTH_MAX && tree_is_sound(root, depth));
}
