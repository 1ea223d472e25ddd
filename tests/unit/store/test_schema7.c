/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A store as schema 7 left it: its trial is forgotten, all else is kept, and it is checked. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "store/changelog.h"
#include "store/trialrecord.h"
#include "support/scratch_store.h"

static MDB_val key_of(const char *name)
{
	return (MDB_val){strlen(name), (void *)(uintptr_t)name};
}

static void put_raw(const char *name, const void *bytes, size_t size)
{
	MDB_val key = key_of(name), value = {size, (void *)(uintptr_t)bytes};
	MDB_txn *txn;

	assert_int_equal(mdb_txn_begin(store->env, NULL, 0, &txn), 0);
	assert_int_equal(mdb_put(txn, store->meta, &key, &value, 0), 0);
	assert_int_equal(mdb_txn_commit(txn), 0);
}

/* The store as schema 7 left it: the command of a trial, word by word. */
static struct xb_meta make_7(void)
{
	MDB_val key = key_of("trial"), words = {15, "policy\0monitor"};
	struct xb_txn *txn;
	struct xb_meta old;

	assert_int_equal(xb_store_write(store, &txn), 0);
	txn->meta.answer_limit = 7;
	assert_int_equal(mdb_put(txn->txn, store->meta, &key, &words, 0), 0);
	assert_int_equal(xb_changelog_append(txn, true), 0);
	assert_int_equal(xb_txn_commit(txn), 0);
	assert_int_equal(xb_store_read(store, &txn), 0);
	old = txn->meta;
	xb_txn_abort(txn);
	old.schema = 7;
	old.transaction++; /* put_raw() is one */
	xb_meta_checksum(&old);
	put_raw("meta", &old, sizeof(old));
	return old;
}

static int get(struct xb_trial *trial)
{
	struct xb_txn *txn;
	int error;

	assert_int_equal(xb_store_read(store, &txn), 0);
	error = xb_trial_get(txn, trial);
	xb_txn_abort(txn);
	return error;
}

static bool has_words(void)
{
	MDB_val key = key_of("trial"), value;
	struct xb_txn *txn;
	int error;

	assert_int_equal(xb_store_read(store, &txn), 0);
	error = mdb_get(txn->txn, store->meta, &key, &value);
	xb_txn_abort(txn);
	return !error;
}

static void words_are_forgotten(void **state)
{
	const struct xb_request request = {.kind = XB_REQUEST_POLICY,
					   .policy = {XB_POLICY_ALLOW_ONLY, true}};
	struct xb_meta old = make_7();
	struct xb_trial trial;
	struct xb_txn *txn;

	(void)state;
	for (int written = 0; written < 2; written++) {
		assert_int_equal(get(&trial), -ENOENT);
		assert_int_equal(has_words(), !written);
		assert_int_equal(xb_store_read(store, &txn), 0);
		assert_int_equal(txn->meta.schema, XB_SCHEMA);
		assert_int_equal(txn->meta.answer_limit, 7);
		assert_int_equal(txn->meta.mark, old.mark);
		assert_int_equal(txn->meta.sequence, old.sequence);
		xb_txn_abort(txn);
		assert_int_equal(xb_store_write(store, &txn), 0);
		assert_int_equal(xb_trial_put(txn, 1, &request), 0);
		assert_int_equal(xb_txn_commit(txn), 0);
		assert_int_equal(get(&trial), 0);
		xb_trial_free(&trial);
		assert_int_equal(xb_store_write(store, &txn), 0);
		assert_int_equal(xb_trial_delete(txn), 0);
		assert_int_equal(xb_txn_commit(txn), 0);
	}
}

static void its_log_goes_on(void **state)
{
	struct xb_meta old = make_7();
	struct xb_changes changes;
	struct xb_step step;
	struct xb_txn *txn;

	(void)state;
	for (int written = 0; written < 2; written++) {
		assert_int_equal(xb_store_read(store, &txn), 0);
		assert_int_equal(xb_changelog_read(txn, old.sequence, &step, &changes), 0);
		xb_changes_free(&changes);
		xb_txn_abort(txn);
		assert_int_equal(xb_store_write(store, &txn), 0);
		assert_int_equal(xb_txn_commit(txn), 0);
	}
}

static void its_seal_is_checked(void **state)
{
	struct xb_meta old = make_7();
	struct xb_txn *txn;

	(void)state;
	old.transaction++;
	xb_meta_checksum(&old);
	put_raw("meta", &old, sizeof(old));
	assert_int_equal(xb_store_read(store, &txn), 0);
	xb_txn_abort(txn);
	old.transaction++;
	put_raw("meta", &old, sizeof(old));
	assert_int_equal(xb_store_read(store, &txn), -EIO);
}

/* An older page in place of the newest. */
static void its_transaction_is_checked(void **state)
{
	struct xb_meta old = make_7();
	struct xb_txn *txn;

	(void)state;
	put_raw("meta", &old, sizeof(old));
	assert_int_equal(xb_store_read(store, &txn), -EIO);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(words_are_forgotten),
		TEST(its_log_goes_on),
		TEST(its_seal_is_checked),
		TEST(its_transaction_is_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
