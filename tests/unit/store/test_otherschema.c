/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A store of another schema is refused in one line, and stays as it is: what a host in a fleet has
 * is such a store to programs that do not know fleets. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support/cmocka.h"
#include "support/otherschema.h"

static size_t read_store(char **bytes)
{
	char path[128];
	struct stat st;
	FILE *file;

	snprintf(path, sizeof(path), "%s/" XB_STORE_FILE, directory);
	file = fopen(path, "re");
	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &st), 0);
	*bytes = malloc((size_t)st.st_size);
	assert_non_null(*bytes);
	assert_int_equal(fread(*bytes, 1, (size_t)st.st_size, file), st.st_size);
	fclose(file);
	return (size_t)st.st_size;
}

static void assert_refused(int error, uint32_t schema)
{
	char expected[64];

	snprintf(expected, sizeof(expected), "(schema %u, this one has %d)", schema,
		 XB_SCHEMA_FLEET);
	assert_true(error < 0);
	assert_non_null(strstr(xb_error_message(), schema > XB_SCHEMA
							   ? "the store was written by a newer"
							   : "the store was written by an older"));
	assert_non_null(strstr(xb_error_message(), expected));
	assert_null(strchr(xb_error_message(), '\n'));
	xb_error_clear();
}

/* By a process that has it open, and by one that opens it. */
static void assert_left_alone(uint32_t schema)
{
	size_t size, size_after;
	char *before, *after;

	size = read_store(&before);
	for (int opened = 0; opened < 2; opened++) {
		assert_refused(xb_store_read(store, &txn), schema);
		assert_refused(xb_store_write(store, &txn), schema);
		xb_store_close(store);
		assert_int_equal(xb_store_open(directory, XB_STORE_READ, &store), 0);
	}
	xb_store_close(store);
	assert_refused(xb_store_open(directory, XB_STORE_WRITE, &store)
			       ?: xb_store_write(store, &txn),
		       schema);
	size_after = read_store(&after);
	assert_int_equal(size, size_after);
	assert_memory_equal(before, after, size);
	free(before);
	free(after);
}

TEST(the_next_schema)
{
	list_entry(txn, "192.0.2.1", "a");
	commit_and_go_on();
	become(XB_SCHEMA_FLEET + 1, sizeof(struct xb_meta));
	assert_left_alone(XB_SCHEMA_FLEET + 1);
}

TEST(of_a_host_in_a_fleet)
{
	share("a", XB_SHARE_PUBLISH);
	list_entry(txn, "192.0.2.1", "a");
	commit_and_go_on();
	become(XB_SCHEMA_FLEET + 1, sizeof(struct xb_meta));
	assert_left_alone(XB_SCHEMA_FLEET + 1);
}

TEST(with_a_longer_record)
{
	become(99, sizeof(struct longer_meta));
	assert_left_alone(99);
}

TEST(the_schema_before)
{
	become(XB_SCHEMA - 1, sizeof(struct xb_meta));
	assert_left_alone(XB_SCHEMA - 1);
}

TEST(with_a_shorter_record)
{
	become(3, offsetof(struct xb_meta, mark));
	assert_left_alone(3);
}

/* Of one with fewer tables the record tells as well. */
TEST(with_other_tables)
{
	MDB_txn *own;

	become(XB_SCHEMA - 1, sizeof(struct xb_meta));
	assert_int_equal(mdb_txn_begin(store->env, NULL, 0, &own), 0);
	assert_int_equal(mdb_drop(own, store->sessions, 1), 0);
	assert_int_equal(mdb_txn_commit(own), 0);
	xb_store_close(store);
	for (enum xb_store_use use = XB_STORE_READ; use <= XB_STORE_CREATE; use++)
		assert_refused(xb_store_open(directory, use, &store), XB_SCHEMA - 1);
}

/* A table that is lost is damage, and no other version. */
TEST(without_a_table)
{
	MDB_txn *own;

	list_entry(txn, "192.0.2.1", "a");
	commit_and_go_on();
	xb_txn_abort(txn);
	txn = NULL;
	assert_int_equal(mdb_txn_begin(store->env, NULL, 0, &own), 0);
	assert_int_equal(mdb_drop(own, store->leaves, 1), 0);
	assert_int_equal(mdb_txn_commit(own), 0);
	xb_store_close(store);
	for (enum xb_store_use use = XB_STORE_READ; use <= XB_STORE_CREATE; use++) {
		assert_true(xb_store_open(directory, use, &store) < 0);
		assert_non_null(strstr(xb_error_message(), "damaged"));
		xb_error_clear();
	}
}

EACH_TEST(begin_txn, end_txn);
