/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Classes of lists: who shares one, which numbers are given, what is stored, what is refused. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "store/listclass.h"
#include "store/listverdict.h"
#include "support/cmocka.h"
#include "support/listed.h"
#include "support/scratch_txn.h"

static void go_on(void)
{
	assert_int_equal(xb_txn_commit(txn), 0);
	assert_int_equal(xb_store_write(store, &txn), 0);
}

static int set_scope(const char *name, const char *text)
{
	struct xb_scope scope;

	assert_int_equal(xb_scope_parse(text, &scope), 0);
	return xb_list_scope_set(txn, list_of(txn, name), &scope);
}

static uint32_t class_of(const char *name)
{
	return list_of(txn, name)->class;
}

static void assert_scope(const char *name, const char *text)
{
	char out[XB_SCOPE_TEXT];

	assert_string_equal(xb_scope_format(xb_list_scope(list_of(txn, name)), out), text);
}

TEST(scopes_are_kept)
{
	assert_int_equal(class_of("a"), XB_CLASS_ALL);
	assert_int_equal(set_scope("a", "tcp/25,tcp/465,tcp/587"), 0);
	assert_int_not_equal(class_of("a"), XB_CLASS_ALL);
	go_on();
	assert_scope("a", "tcp/25,tcp/465,tcp/587");
	assert_int_not_equal(class_of("a"), XB_CLASS_ALL);
	assert_int_equal(set_scope("a", "all"), 0);
	assert_int_equal(class_of("a"), XB_CLASS_ALL);
	go_on();
	assert_null(xb_list_find(txn, "a"));
}

TEST(who_is_alike_shares)
{
	struct xb_class classes[XB_CLASSES];
	uint32_t used;

	assert_int_equal(set_scope("a", "tcp/25"), 0);
	assert_int_equal(set_scope("b", "tcp/25-25"), 0);
	assert_int_equal(class_of("a"), class_of("b"));
	assert_int_equal(xb_domain_verdict_set(txn, list_of(txn, "b"), XB_DOMAIN_NXDOMAIN), 0);
	assert_int_equal(class_of("a"), class_of("b"));
	assert_int_equal(xb_domain_verdict_set(txn, list_of(txn, "b"), XB_DOMAIN_COUNT), 0);
	assert_int_not_equal(class_of("a"), class_of("b"));
	assert_int_equal(xb_domain_verdict_set(txn, list_of(txn, "c"), XB_DOMAIN_COUNT), 0);
	used = xb_list_classes(txn, classes);
	assert_int_equal(used,
			 1U | 1U << class_of("a") | 1U << class_of("b") | 1U << class_of("c"));
	assert_false(classes[class_of("a")].counts);
	assert_true(classes[class_of("b")].counts);
	assert_non_null(classes[class_of("b")].scope);
	assert_null(classes[class_of("c")].scope);
}

/* Packets may still be counted under a number that was given up just now. */
TEST(a_number_rests)
{
	uint32_t before;

	assert_int_equal(set_scope("a", "tcp/25"), 0);
	before = class_of("a");
	assert_int_equal(set_scope("a", "tcp/26"), 0);
	assert_int_not_equal(class_of("a"), before);
}

TEST(all_numbers_are_used)
{
	char text[32], name[8];

	for (int i = 1; i < XB_CLASSES; i++) {
		snprintf(text, sizeof(text), "tcp/%d", i);
		snprintf(name, sizeof(name), "l%d", i);
		assert_int_equal(set_scope(name, text), 0);
	}
	assert_int_equal(set_scope("more", "tcp/1"), 0);
	assert_int_equal(set_scope("more", "tcp/99"), -EINVAL);
	xb_error_clear();
	assert_int_equal(set_scope("l7", "udp/7"), 0);
	for (int i = 1; i < XB_CLASSES; i++)
		for (int j = 1; j < i; j++) {
			char other[8];

			snprintf(name, sizeof(name), "l%d", i);
			snprintf(other, sizeof(other), "l%d", j);
			assert_int_not_equal(class_of(name), class_of(other));
		}
}

TEST(what_changes_is_bulk)
{
	go_on();
	assert_int_equal(set_scope("a", "tcp/25"), 0);
	assert_true(txn->change.bulk);
	assert_false(txn->change.tightens);
	go_on();
	assert_int_equal(set_scope("a", "tcp/25"), 0);
	assert_false(txn->change.bulk);
	assert_int_equal(set_scope("a", "tcp/25,udp/53"), 0);
	assert_true(txn->change.bulk);
	assert_true(txn->change.tightens);
}

static int read_again(void)
{
	xb_lists_free(txn);
	txn->lists = NULL;
	txn->list_count = txn->list_room = 0;
	txn->by_name = txn->by_id = (struct xb_list_index){0};
	return xb_lists_load(txn);
}

#define SIZE (24 + 2 * sizeof(struct xb_service)) /* of a record with two services */

TEST(damaged_records)
{
	struct {
		uint32_t id, verdict;
		uint64_t members;
		uint32_t class, services;
		struct xb_service service[2];
	} good = {7, 0, 1, 3, 2, {{XB_SERVICE_TCP, 25, 25}, {XB_SERVICE_UDP, 53, 53}}}, bad[5];
	MDB_val key = {3, (char[]){"old"}}, value = {SIZE, &good};

	for (size_t i = 0; i < 5; i++)
		bad[i] = good;
	bad[0].class = XB_CLASSES;
	bad[1].services = 1;
	bad[2].services = XB_SCOPE_SERVICES + 1;
	bad[3].service[1] = (struct xb_service){XB_SERVICE_TCP, 26, 26};
	bad[4].service[0].first = 26;
	assert_int_equal(mdb_put(txn->txn, store->lists, &key, &value, 0), 0);
	assert_int_equal(read_again(), 0);
	assert_scope("old", "tcp/25,udp/53");
	for (size_t i = 0; i < 5; i++) {
		value = (MDB_val){SIZE, &bad[i]};
		assert_int_equal(mdb_put(txn->txn, store->lists, &key, &value, 0), 0);
		assert_told(read_again());
	}
}

EACH_TEST(begin_txn, end_txn);
