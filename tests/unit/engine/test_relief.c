/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which changes ask for less than there is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/relief.h"
#include "store/listverdict.h"
#include "store/membership.h"
#include "support/scratch_store.h"

static void put(struct xb_txn *txn, const char *text, const char *name)
{
	struct xb_membership member = {.added = 1};
	uint8_t form[XB_NAME_BYTES];
	struct xb_entry entry;
	struct xb_list *list;
	enum xb_put result;

	assert_int_equal(xb_entry_parse(text, strlen(text), form, &entry, NULL), 0);
	assert_int_equal(xb_list_need(txn, name, &list), 0);
	member.list = list->id;
	assert_int_equal(xb_member_put(txn, &entry, &member, 0, &result), 0);
}

static bool is_relief(struct xb_txn *txn, const struct xb_meta *before)
{
	bool is = xb_relief_is(before, txn);

	xb_txn_abort(txn);
	return is;
}

static struct xb_txn *writes(struct xb_meta *before)
{
	struct xb_txn *txn;

	assert_int_equal(xb_store_write(store, &txn), 0);
	*before = txn->meta;
	return txn;
}

static void judge(struct xb_txn *txn, const char *list, uint32_t verdict)
{
	assert_int_equal(xb_domain_verdict_set(txn, xb_list_by_name(txn, list), verdict), 0);
}

/* A stricter verdict asks for more, whether a list gets it or a name by one more list. */
static void what_asks_for_less(void **state)
{
	struct xb_meta before;
	struct xb_txn *txn = writes(&before);

	(void)state;
	put(txn, "example.com", "lenient");
	judge(txn, "lenient", XB_DOMAIN_REFUSED);
	put(txn, "example.org", "strict");
	put(txn, "example.net", "counted");
	judge(txn, "counted", XB_DOMAIN_COUNT);
	assert_int_equal(xb_txn_commit(txn), 0);

	txn = writes(&before);
	judge(txn, "lenient", XB_DOMAIN_DROP);
	assert_false(is_relief(txn, &before));
	txn = writes(&before);
	judge(txn, "lenient", XB_DOMAIN_COUNT);
	assert_true(is_relief(txn, &before));
	txn = writes(&before);
	put(txn, "example.com", "strict");
	assert_false(is_relief(txn, &before));
	txn = writes(&before);
	put(txn, "example.com", "counted");
	assert_true(is_relief(txn, &before));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_asks_for_less, begin, end),
	};

	return cmocka_run_group_tests_name("relief", tests, NULL, NULL);
}
