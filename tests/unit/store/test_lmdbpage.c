/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which pages of the file LMDB may search, write and free: each damage by itself. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mapfault.h"
#include "store/lmdbpage.h"
#include "store/txn.h"
#include "support/cmocka.h"
#include "support/scratch_txn.h"

#define PAGE   4096
#define NUMBER 7

/* Of a page: its number, its kind, and where its free place begins and ends. */
#define KIND	    10
#define LOWER	    12
#define UPPER	    14
#define FIRST_NODE  16
#define SECOND_NODE 18

static void set(uint8_t *page, size_t place, uint16_t value)
{
	memcpy(page + place, &value, sizeof(value));
}

/* A node of a leaf at the place, with a key of four bytes and a value of so many. */
static void put_node(uint8_t *page, uint16_t place, uint16_t value_size)
{
	set(page, place, value_size);
	set(page, place + 6, 4);
}

/* A leaf with two nodes, of 8 + 4 + 20 bytes and of 8 + 4 + 11, which LMDB makes even. */
static void make_leaf(uint8_t page[PAGE])
{
	memset(page, 0, PAGE);
	page[0] = NUMBER;
	set(page, KIND, 2);
	set(page, LOWER, 20);
	set(page, UPPER, PAGE - 32 - 24);
	set(page, FIRST_NODE, PAGE - 32);
	set(page, SECOND_NODE, PAGE - 32 - 24);
	put_node(page, PAGE - 32, 20);
	put_node(page, PAGE - 32 - 24, 11);
}

TEST(each_part_of_a_page_counts)
{
	static const struct {
		size_t place, count;
		uint16_t values[7];
	} damages[] = {
		{0, 1, {NUMBER + 1}},
		{KIND, 3, {0, 4, 0x22}}, /* the last: a leaf without nodes */
		{LOWER, 7, {0, 15, 16, 19, 21, 22, PAGE - 32}},
		{UPPER, 4, {0, PAGE - 32, PAGE - 32 - 26, PAGE + 16}},
		{FIRST_NODE, 3, {PAGE - 31, PAGE - 4, PAGE + 32}},
		{SECOND_NODE, 1, {20}},
		{PAGE - 32, 2, {22, 18}},
		{PAGE - 32 + 2, 1, {1}},
		{PAGE - 32 + 4, 1, {4}}, /* of several values */
		{PAGE - 32 + 6, 1, {0xffff}},
		{PAGE - 32 - 24, 1, {40}},
	};
	_Alignas(8) uint8_t page[PAGE];

	make_leaf(page);
	assert_true(xb_lmdbpage_is_sound(page, PAGE, NUMBER));
	for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++)
		for (size_t j = 0; j < damages[i].count; j++) {
			make_leaf(page);
			set(page, damages[i].place, damages[i].values[j]);
			if (xb_lmdbpage_is_sound(page, PAGE, NUMBER))
				fail_msg("%u at %zu passes", damages[i].values[j],
					 damages[i].place);
		}
}

/* A node at an odd place lies over the byte that makes the other one even. A node of a branch has
 * the number of a page where a leaf's has sizes. */
TEST(where_nodes_are)
{
	_Alignas(8) uint8_t page[PAGE];

	make_leaf(page);
	set(page, FIRST_NODE, PAGE - 33);
	memset(page + PAGE - 33, 0, 33);
	put_node(page, PAGE - 33, 20);
	assert_false(xb_lmdbpage_is_sound(page, PAGE, NUMBER));
	make_leaf(page);
	set(page, KIND, 1);
	assert_false(xb_lmdbpage_is_sound(page, PAGE, NUMBER));
	set(page, UPPER, PAGE - 24);
	set(page, FIRST_NODE, PAGE - 12);
	set(page, SECOND_NODE, PAGE - 24);
	put_node(page, PAGE - 12, 0xffff);
	put_node(page, PAGE - 24, 0xffff);
	assert_true(xb_lmdbpage_is_sound(page, PAGE, NUMBER));
}

/* --- pages of a file --- */

static int file;

/* The file stays open until LMDB has closed it, whose locks would go with it. */
static int begin_file(void **state)
{
	char path[128];
	int error = begin_txn(state);

	snprintf(path, sizeof(path), "%s/" XB_STORE_FILE, directory);
	file = open(path, O_RDWR | O_CLOEXEC);
	return error || file < 0;
}

static int end_file(void **state)
{
	int error = end_txn(state);

	close(file);
	return error;
}

static bool read_page(size_t number, uint8_t page[PAGE])
{
	return pread(file, page, PAGE, (off_t)(number * PAGE)) == PAGE;
}

/* So many bytes at a place of the file are these. */
static void spoil(size_t place, const void *bytes, size_t size)
{
	assert_int_equal(pwrite(file, bytes, size, (off_t)place), size);
}

#define BIG_BYTES 10000

static uint64_t key_bytes = 42;

static MDB_val big_key(void)
{
	return (MDB_val){sizeof(key_bytes), &key_bytes};
}

/* Returns where the file has the pages of the value. */
static size_t put_big_value(void)
{
	uint8_t bytes[BIG_BYTES], page[PAGE] = {0};
	MDB_val key = big_key(), value = {sizeof(bytes), bytes};
	size_t number = 2;

	memset(bytes, 0xa7, sizeof(bytes));
	assert_int_equal(mdb_put(txn->txn, store->changes, &key, &value, 0), 0);
	txn->edits++;
	commit_and_go_on();
	while (read_page(number, page) && (page[KIND] != 4 || page[FIRST_NODE] != 0xa7))
		number++;
	assert_int_equal(page[KIND], 4);
	return number * PAGE;
}

static int delete_big_value(void)
{
	const MDB_val key = big_key();
	int error = xb_lmdbpage_check(txn->txn, store->changes, &key);

	assert_int_equal(xb_lmdbpage_delete(txn->txn, store->changes, &key), error);
	abort_and_go_on();
	return error;
}

/* LMDB would free as many pages as the first one says, whatever they have. */
TEST_WITH(a_large_value_has_its_pages, begin_file, end_file)
{
	const size_t place = put_big_value();
	const uint64_t number = place / PAGE, another = number + 1;
	const uint32_t pages = (BIG_BYTES + 16 + PAGE - 1) / PAGE, fewer = pages - 1,
		       many = 0x4000001;
	const uint16_t leaf = 2, big = 4;

	assert_int_equal(delete_big_value(), 0);
	spoil(place + LOWER, &fewer, sizeof(fewer));
	assert_int_equal(delete_big_value(), MDB_CORRUPTED);
	spoil(place + LOWER, &many, sizeof(many));
	assert_int_equal(delete_big_value(), MDB_CORRUPTED);
	spoil(place + LOWER, &pages, sizeof(pages));
	spoil(place + KIND, &leaf, sizeof(leaf));
	assert_int_equal(delete_big_value(), MDB_CORRUPTED);
	spoil(place + KIND, &big, sizeof(big));
	spoil(place, &another, sizeof(another));
	assert_int_equal(delete_big_value(), MDB_CORRUPTED);
	spoil(place, &number, sizeof(number));
	assert_int_equal(delete_big_value(), 0);
}

enum search { FAILED, FOUND, NOT_FOUND, ENDED };

/* Of the process that searches; valgrind would choose its exit code. */
static enum search *found;

static void leave(const char *message)
{
	*found = ENDED;
	_exit(0);
}

/* Looks for the key of the large value, in a process of its own. */
static enum search search(void)
{
	MDB_val key = big_key(), value = {0};
	int status;
	pid_t pid;

	*found = FAILED;
	pid = fork();
	if (!pid) {
		xb_mapfault_set_end(leave);
		if (!xb_store_begin_reading(directory, &store, &txn))
			*found =
				mdb_get(txn->txn, store->changes, &key, &value) ? NOT_FOUND : FOUND;
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return *found;
}

static uint16_t get(const uint8_t *page, size_t place)
{
	uint16_t value;

	memcpy(&value, page + place, sizeof(value));
	return value;
}

/* Nodes of a page reach at most so many pages behind it. */
#define REACH 15

/* Whether this is the page of the table that has the large value's key, and no other. */
static bool has_big_key(const uint8_t page[PAGE])
{
	size_t node = get(page, FIRST_NODE);

	return get(page, KIND) == 2 && get(page, LOWER) == FIRST_NODE + 2 && node + 16 <= PAGE &&
	       get(page, node + 6) == sizeof(key_bytes) &&
	       !memcmp(page + node + 8, &key_bytes, sizeof(key_bytes));
}

/* LMDB adds the place of a node to where the page begins, and so comes to pages that are in order.
 * A key in the one that was looked at last passes. */
TEST_WITH(a_key_begins_where_its_page_has_a_node, begin_file, end_file)
{
	_Alignas(8) uint8_t page[PAGE], other[PAGE];
	unsigned int roots = 0, behind = 0, passed = 0;

	found = mmap(NULL, sizeof(*found), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		     0);
	assert_ptr_not_equal(found, MAP_FAILED);
	put_big_value();
	xb_txn_abort(txn);
	xb_store_close(store); /* for those that search */
	for (size_t number = 2; read_page(number, page); number++) {
		if (!has_big_key(page))
			continue;
		roots++;
		assert_int_equal(search(), FOUND);
		for (size_t i = 1; i <= REACH; i++) {
			uint16_t place;

			if (!read_page(number + i, other) ||
			    !xb_lmdbpage_is_sound(other, PAGE, number + i))
				continue;
			behind++;
			place = (uint16_t)(i * PAGE + get(other, FIRST_NODE) + 2);
			spoil(number * PAGE + FIRST_NODE, &place, sizeof(place));
			if (search() != ENDED)
				passed++;
		}
	}
	munmap(found, sizeof(*found));
	assert_int_equal(roots, 1);
	assert_in_range(passed, 0, 1);
	assert_true(behind > passed);
	assert_int_equal(xb_store_open(directory, XB_STORE_READ, &store), 0);
	txn = NULL;
}

/* Where the newest of the first two pages has the root of the free pages, and how many wrote it. */
#define ROOT_PLACE	  80
#define TRANSACTION_PLACE 144

static size_t find_free_root(void)
{
	uint8_t pages[2][PAGE];
	uint64_t numbers[2], root;

	for (size_t i = 0; i < 2; i++) {
		assert_true(read_page(i, pages[i]));
		memcpy(&numbers[i], pages[i] + TRANSACTION_PLACE, sizeof(numbers[i]));
	}
	memcpy(&root, pages[numbers[1] > numbers[0]] + ROOT_PLACE, sizeof(root));
	return root * PAGE;
}

/* LMDB compares its keys by itself, and copies the page at each commit. */
TEST_WITH(nobody_writes_with_a_damaged_list_of_free_pages, begin_file, end_file)
{
	const uint16_t beyond = PAGE + 16;
	uint16_t upper;
	size_t place;

	put_big_value(); /* and frees the pages of the first commit */
	place = find_free_root();
	abort_and_go_on();
	xb_txn_abort(txn);
	assert_int_equal(pread(file, &upper, sizeof(upper), (off_t)(place + UPPER)), sizeof(upper));
	spoil(place + UPPER, &beyond, sizeof(beyond));
	assert_int_equal(xb_store_write(store, &txn), -EIO);
	spoil(place + UPPER, &upper, sizeof(upper));
	assert_int_equal(xb_store_write(store, &txn), 0);
}
