/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A store of another schema is refused in one line, and stays as it is: what a host in a fleet has
 * is such a store to programs that do not know fleets. */
#include <sys/stat.h>

#include "support/cmocka.h"
#include "support/waiting.h"

/* What the record may be grown to. */
struct longer_meta {
	struct xb_meta known;
	uint64_t more[4];
};

/* The store gets this schema, and is sealed as a program of that schema would, if it is. The
 * transaction is given up. */
static void become(uint32_t schema, size_t size, bool is_sealed)
{
	struct longer_meta record = {.known = txn->meta};
	MDB_val key = {4, (void *)(uintptr_t) "meta"}, value = {size, &record};
	MDB_txn *own;

	xb_txn_abort(txn);
	txn = NULL;
	assert_int_equal(mdb_txn_begin(store->env, NULL, 0, &own), 0);
	record.known.transaction = mdb_txn_id(own);
	record.known.schema = is_sealed ? schema : record.known.schema;
	xb_meta_checksum(&record.known);
	record.known.schema = schema;
	assert_int_equal(mdb_put(own, store->meta, &key, &value, 0), 0);
	assert_int_equal(mdb_txn_commit(own), 0);
}

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

TEST(every_other_schema)
{
	static const struct {
		uint32_t schema;
		size_t size;
		bool in_fleet;
	} rows[] = {
		{XB_SCHEMA_FLEET + 1, sizeof(struct xb_meta), false},
		{XB_SCHEMA_FLEET + 1, sizeof(struct xb_meta), true},
		{99, sizeof(struct longer_meta), false},
		{XB_SCHEMA - 1, sizeof(struct xb_meta), false},
		{3, offsetof(struct xb_meta, mark), false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].in_fleet)
			share("a", XB_SHARE_PUBLISH);
		commit_change("192.0.2.1 a");
		become(rows[i].schema, rows[i].size, true);
		assert_left_alone(rows[i].schema);
		assert_int_equal(end_txn(state), 0);
		assert_int_equal(begin_txn(state), 0);
	}
}

static void assert_damaged(int error)
{
	assert_true(error < 0);
	assert_non_null(strstr(xb_error_message(), "the store file is damaged"));
	xb_error_clear();
}

/* A number of a schema whose records were shorter does not make up for a false checksum. */
TEST(one_flipped_schema)
{
	for (uint32_t schema = 0; schema < XB_SCHEMA; schema++) {
		become(schema, sizeof(struct xb_meta), false);
		assert_damaged(xb_store_read(store, &txn));
		assert_int_equal(end_txn(state), 0);
		assert_int_equal(begin_txn(state), 0);
	}
}

static void drop_table(MDB_dbi table)
{
	MDB_txn *own;

	xb_txn_abort(txn);
	txn = NULL;
	assert_int_equal(mdb_txn_begin(store->env, NULL, 0, &own), 0);
	assert_int_equal(mdb_drop(own, table, 1), 0);
	assert_int_equal(mdb_txn_commit(own), 0);
	xb_store_close(store);
}

/* Of one with fewer tables the record tells as well. */
TEST(with_other_tables)
{
	become(XB_SCHEMA - 1, sizeof(struct xb_meta), true);
	drop_table(store->sessions);
	for (enum xb_store_use use = XB_STORE_READ; use <= XB_STORE_CREATE; use++)
		assert_refused(xb_store_open(directory, use, &store), XB_SCHEMA - 1);
}

/* A table that is lost is damage, and no other version. */
TEST(without_a_table)
{
	commit_change("192.0.2.1 a");
	drop_table(store->leaves);
	for (enum xb_store_use use = XB_STORE_READ; use <= XB_STORE_CREATE; use++)
		assert_damaged(xb_store_open(directory, use, &store));
}

EACH_TEST(begin_txn, end_txn);
