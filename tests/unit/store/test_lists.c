/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of lists: names, numbers, which exist, which are written, names kept of them; damage.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "store/listnames.h"
#include "support/cmocka.h"
#include "support/listed.h"
#include "support/scratch_txn.h"

static void go_on(void)
{
	assert_int_equal(xb_txn_commit(txn), 0);
	assert_int_equal(xb_store_write(store, &txn), 0);
}

static size_t stored(void)
{
	MDB_stat stat;

	assert_int_equal(mdb_stat(txn->txn, store->lists, &stat), 0);
	return stat.ms_entries;
}

TEST_WITH(names, begin_txn, end_txn)
{
	static const char *const good[] = {"a", "0", "A.b_c-d", "a."};
	static const char *const bad[] = {"",	 ".a",	"_a", "-a",    "a b",	   "a/b",
					  "a:b", "a\n", "a@", "a\x7f", "\xc3\xa4", "auto:ssh"};
	struct xb_list *list;
	char longest[66];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(xb_list_name_ok(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_false(xb_list_name_ok(bad[i]));
		assert_int_equal(xb_list_need(txn, bad[i], &list), -EINVAL);
		assert_int_equal(xb_error_class(), XB_ERROR_INPUT);
		xb_error_clear();
	}
	memset(longest, 'n', sizeof(longest));
	longest[65] = '\0';
	assert_int_equal(xb_list_need(txn, longest, &list), -EINVAL);
	xb_error_clear();
	longest[64] = '\0';
	list_of(txn, longest)->members = 1;
	go_on();
	assert_non_null(xb_list_find(txn, longest));
}

TEST_WITH(which_exist, begin_txn, end_txn)
{
	uint32_t id = list_of(txn, "a")->id;

	assert_int_equal(list_of(txn, "a")->id, id);
	assert_int_not_equal(id, XB_ANY_LIST);
	assert_null(xb_list_find(txn, "a"));
	assert_ptr_equal(xb_list_by_name(txn, "a"), xb_list_by_id(txn, id));
	list_entry(txn, "192.0.2.1", "a");
	assert_non_null(xb_list_find(txn, "a"));
	go_on();
	assert_int_equal(stored(), 1);
	assert_int_equal(xb_list_find(txn, "a")->id, id);
	assert_int_equal(xb_list_find(txn, "a")->members, 1);
	/* one that was emptied can be found until the transaction ends */
	xb_list_find(txn, "a")->members = 0;
	assert_null(xb_list_find(txn, "a"));
	assert_int_equal(list_of(txn, "a")->id, id);
	go_on();
	assert_int_equal(stored(), 0);
	assert_null(xb_list_by_name(txn, "a"));
	assert_null(xb_list_by_id(txn, id));
	/* memberships name a list by its number, so no other list has it later */
	assert_int_not_equal(list_of(txn, "b")->id, id);
}

TEST_WITH(a_verdict_keeps_a_list, begin_txn, end_txn)
{
	list_of(txn, "a")->verdict = XB_DOMAIN_NXDOMAIN;
	list_of(txn, "never");
	go_on();
	assert_int_equal(stored(), 1);
	assert_int_equal(xb_list_find(txn, "a")->verdict, XB_DOMAIN_NXDOMAIN);
	xb_list_find(txn, "a")->verdict = XB_DOMAIN_DROP;
	go_on();
	assert_int_equal(stored(), 0);
}

TEST_WITH(an_abort_forgets, begin_txn, end_txn)
{
	list_of(txn, "a")->members = 1;
	xb_txn_abort(txn);
	assert_int_equal(xb_store_write(store, &txn), 0);
	assert_null(xb_list_by_name(txn, "a"));
}

#define MANY 5000

/* More than the index has room for at first, and then some. */
TEST_WITH(many, begin_txn, end_txn)
{
	static uint32_t ids[MANY];
	char name[16];

	for (unsigned int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "l%u", i);
		list_of(txn, name)->members = i + 1;
		ids[i] = list_of(txn, name)->id;
	}
	for (int loaded = 0; loaded < 2; loaded++) {
		for (unsigned int i = 0; i < MANY; i++) {
			struct xb_list *list = xb_list_by_id(txn, ids[i]);

			snprintf(name, sizeof(name), "l%u", i);
			assert_non_null(list);
			assert_string_equal(list->name, name);
			assert_int_equal(list->members, i + 1);
			assert_ptr_equal(xb_list_by_name(txn, name), list);
		}
		assert_null(xb_list_by_name(txn, "l5000"));
		assert_null(xb_list_by_id(txn, XB_NO_LIST));
		go_on();
	}
}

TEST_WITH(automatic_ones, begin_txn, end_txn)
{
	struct xb_list *list;

	assert_int_equal(xb_list_need_auto(txn, "ssh", &list), 0);
	assert_string_equal(list->name, "auto:ssh");
	assert_true(xb_list_is_auto(list));
	assert_false(xb_list_has_verdict(list));
	assert_false(xb_list_is_auto(list_of(txn, "auto")));
	assert_true(xb_list_has_verdict(list_of(txn, "auto")));
	assert_true(xb_list_has_verdict(list_of(txn, "allowed")));
	assert_false(xb_list_has_verdict(list_of(txn, XB_LIST_ALLOW)));
	assert_false(xb_list_is_auto(list_of(txn, XB_LIST_ALLOW)));
}

/* A record of so many bytes under this name is damage. */
static void assert_refused(const char *name, size_t size)
{
	uint8_t record[32] = {1};
	MDB_val key = {strlen(name), (void *)(uintptr_t)name}, value = {size, record};
	struct xb_txn *other;

	assert_int_equal(mdb_put(txn->txn, store->lists, &key, &value, 0), 0);
	assert_int_equal(xb_txn_commit(txn), 0);
	assert_told(xb_store_read(store, &other));
	assert_null(other);
	assert_told(xb_store_write(store, &txn));
	assert_null(txn);
}

TEST_WITH(a_short_record_is_damage, begin_txn, end_txn)
{
	assert_refused("a", 15);
}

TEST_WITH(a_long_record_is_damage, begin_txn, end_txn)
{
	assert_refused("a", 17);
}

TEST_WITH(a_long_name_is_damage, begin_txn, end_txn)
{
	char name[66];

	memset(name, 'n', sizeof(name));
	name[65] = '\0';
	assert_refused(name, 16);
}

static void assert_names(const char *text, uint32_t only, const char *expected)
{
	struct xb_entry entry = entry_of(text);
	struct listed_text found = {0};
	struct xb_list_names names;
	struct xb_members members;

	assert_int_equal(xb_members_of(txn, &entry, &members), 0);
	assert_int_equal(xb_list_names_of(txn, members, only, &names), 0);
	for (size_t i = 0; i < names.count; i++)
		add_text(&found, i ? " %s" : "%s", names.item[i].text);
	assert_string_equal(found.text, expected);
	xb_list_names_free(&names);
	assert_null(names.item);
	assert_int_equal(names.count, 0);
}

TEST_WITH(names_of_lists, begin_txn, end_txn)
{
	struct xb_list_names none;

	list_entry(txn, "192.0.2.1", "b");
	list_entry(txn, "192.0.2.1", "a");
	list_with(txn, "192.0.2.1", "c", 500, "why");
	assert_names("192.0.2.1", XB_ANY_LIST, "b a c");
	assert_names("192.0.2.1", list_of(txn, "a")->id, "a");
	assert_names("192.0.2.1", XB_NO_LIST, "");
	txn->as_of = 500;
	assert_names("192.0.2.1", XB_ANY_LIST, "b a");
	assert_int_equal(xb_list_names_of(txn, (struct xb_members){0}, XB_ANY_LIST, &none), 0);
	assert_int_equal(none.count, 0);
	xb_list_names_free(&none);
}

TEST(which_is_automatic)
{
	struct xb_list_name item[] = {{"office"}, {"autocar"}, {"auto:ssh"}, {"auto:gateway"}};
	struct xb_list_names names = {item, 4};

	assert_string_equal(xb_list_names_automatic(&names), "ssh");
	names.count = 2;
	assert_null(xb_list_names_automatic(&names));
	names = (struct xb_list_names){0};
	assert_null(xb_list_names_automatic(&names));
}
