/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A store as schemas 9 and 10 left it: all that it has is kept, its trial too. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "store/trialrecord.h"
#include "support/otherschema.h"

static void put_trial(void)
{
	const struct xb_request request = {.kind = XB_REQUEST_POLICY,
					   .policy = {XB_POLICY_ALLOW_ONLY, true}};

	assert_int_equal(xb_trial_put(txn, 7, &request), 0);
}

/* What the transaction sees is of the present schema, and is all that was put there. */
static void assert_kept(uint32_t schema, uint64_t mark)
{
	struct xb_trial trial;

	assert_int_equal(txn->meta.schema, schema);
	assert_true(txn->meta.mark == mark);
	assert_int_equal(txn->meta.totals.host4, 1);
	assert_int_equal(xb_list_find(txn, "a")->members, 1);
	assert_false(xb_imprint_is(&xb_list_find(txn, "a")->imprint));
	assert_int_equal(xb_trial_get(txn, &trial), 0);
	assert_int_equal(trial.identity, 7);
	xb_trial_free(&trial);
}

static uint32_t stored_schema(void)
{
	MDB_val key = {4, (void *)(uintptr_t) "meta"}, value;
	struct xb_meta meta;
	MDB_txn *own;

	assert_int_equal(mdb_txn_begin(store->env, NULL, MDB_RDONLY, &own), 0);
	assert_int_equal(mdb_get(own, store->meta, &key, &value), 0);
	memcpy(&meta, value.mv_data, sizeof(meta));
	mdb_txn_abort(own);
	return meta.schema;
}

/* Readers leave it as it is, the first who writes gives it the present schema. */
static void assert_goes_on_from(uint32_t old, uint32_t present)
{
	uint64_t mark;

	list_entry(txn, "192.0.2.1", "a");
	put_trial();
	commit_and_go_on();
	mark = txn->meta.mark;
	become(old, sizeof(struct xb_meta));
	assert_int_equal(xb_store_read(store, &txn), 0);
	assert_kept(present, mark);
	xb_txn_abort(txn);
	assert_int_equal(stored_schema(), old);
	assert_int_equal(xb_store_write(store, &txn), 0);
	assert_kept(present, mark);
	commit_and_go_on();
	assert_kept(present, mark);
	assert_int_equal(stored_schema(), present);
}

static void of_a_host_by_itself(void **state)
{
	(void)state;
	assert_goes_on_from(9, XB_SCHEMA);
}

static void of_a_host_in_a_fleet(void **state)
{
	(void)state;
	share("a", XB_SHARE_PUBLISH);
	assert_goes_on_from(10, XB_SCHEMA_FLEET);
	assert_int_equal(txn->shares.count, 1);
	assert_waiting("1+192.0.2.1 a");
}

static void damage_is_noticed(void **state)
{
	MDB_val key = {4, (void *)(uintptr_t) "meta"}, value = {sizeof(txn->meta), NULL};
	struct xb_meta meta = txn->meta;
	MDB_txn *own;

	(void)state;
	xb_txn_abort(txn);
	meta.schema = 9;
	assert_int_equal(mdb_txn_begin(store->env, NULL, 0, &own), 0);
	meta.transaction = mdb_txn_id(own);
	xb_meta_checksum(&meta);
	meta.capacity++;
	value.mv_data = &meta;
	assert_int_equal(mdb_put(own, store->meta, &key, &value, 0), 0);
	assert_int_equal(mdb_txn_commit(own), 0);
	assert_told(xb_store_write(store, &txn));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_txn, end_txn)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(of_a_host_by_itself),
		TEST(of_a_host_in_a_fleet),
		TEST(damage_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
