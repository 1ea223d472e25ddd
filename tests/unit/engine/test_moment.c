/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where store and kernel stand: any difference counts, and who is at work is named. */
#include <stdio.h>
#include <string.h>

#include <unistd.h>

#include "base/error.h"
#include "base/lock.h"
#include "engine/moment.h"
#include "store/membership.h"
#include "support/cmocka.h"
#include "support/scratch_store.h"

TEST(any_difference_counts)
{
	const struct xb_moment one = {1, 2, 3, 4, 5, 6, 7};
	struct xb_moment other = one;

	assert_true(xb_moment_is_same(&one, &other));
	/* All of it are numbers of 32 bits, or of 64. */
	assert_int_equal(sizeof(one), 4 * 8 + 3 * 4 + 4);
	for (size_t at = 0; at < offsetof(struct xb_moment, policy) + 4; at += 4) {
		uint8_t *bytes = (uint8_t *)&other + at;

		bytes[3] ^= 0x80;
		assert_false(xb_moment_is_same(&one, &other));
		assert_false(xb_moment_is_same(&other, &one));
		bytes[3] ^= 0x80;
		bytes[0] ^= 1;
		assert_false(xb_moment_is_same(&one, &other));
		bytes[0] ^= 1;
	}
	assert_true(xb_moment_is_same(&one, &other));
}

static struct xb_paths paths(void)
{
	static char pins[256];

	snprintf(pins, sizeof(pins), "%s/none", getenv("XB_TEST_BPFFS"));
	return (struct xb_paths){.state = directory, .pins = pins, .run = directory};
}

static struct xb_moment take(void)
{
	const struct xb_paths here = paths();
	struct xb_moment moment;

	memset(&moment, 0xa5, sizeof(moment));
	if (xb_moment_take(&here, &moment))
		fail_msg("%s", xb_error_message());
	return moment;
}

static void list_one(const char *text)
{
	struct xb_membership member = {.added = 1};
	struct xb_entry entry;
	struct xb_list *list;
	enum xb_put result;
	struct xb_txn *txn;

	assert_int_equal(xb_entry_parse(text, strlen(text), NULL, &entry, NULL), 0);
	assert_int_equal(xb_store_write(store, &txn), 0);
	assert_int_equal(xb_list_need(txn, "some", &list), 0);
	member.list = list->id;
	assert_int_equal(xb_member_put(txn, &entry, &member, 0, &result), 0);
	assert_int_equal(xb_txn_commit(txn), 0);
}

/* The caller of xb_moment_take() has no store open: LMDB would not have it twice. */
static void list_meanwhile(const char *text)
{
	assert_int_equal(xb_store_open(directory, XB_STORE_CREATE, &store), 0);
	list_one(text);
	xb_store_close(store);
	store = NULL;
}

TEST_WITH(a_change_is_another_moment, begin, end)
{
	struct xb_moment before, after;

	xb_store_close(store);
	list_meanwhile("192.0.2.1");
	before = take();
	after = take();
	assert_true(xb_moment_is_same(&before, &after));
	assert_true(before.transaction > 0);
	assert_true(before.generation == 0 && before.slot == 0 && before.policy == 0);
	list_meanwhile("192.0.2.2");
	after = take();
	assert_false(xb_moment_is_same(&before, &after));
	assert_int_equal(after.transaction, before.transaction + 1);
	assert_int_equal(xb_store_open(directory, XB_STORE_CREATE, &store), 0);
}

TEST_WITH(no_store_is_a_moment, begin, end)
{
	static const struct xb_moment none;
	struct xb_moment moment;
	char path[64];

	xb_store_close(store);
	snprintf(path, sizeof(path), "%s/%s", directory, XB_STORE_FILE);
	assert_int_equal(unlink(path), 0);
	moment = take();
	assert_true(xb_moment_is_same(&moment, &none));
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(xb_store_open(directory, XB_STORE_CREATE, &store), 0);
}

TEST_WITH(whoever_writes_is_named, begin, end)
{
	const struct xb_paths here = paths();
	char holder[256], expected[64];
	int lock;

	assert_false(xb_moment_is_busy(&here, holder, sizeof(holder)));
	lock = xb_lock(directory, XB_BUILDER_LOCK);
	assert_true(lock >= 0);
	assert_false(xb_moment_is_busy(&here, holder, sizeof(holder)));
	xb_unlock(lock);
	lock = xb_lock(directory, XB_WRITER_LOCK);
	assert_true(lock >= 0);
	assert_true(xb_moment_is_busy(&here, holder, sizeof(holder)));
	snprintf(expected, sizeof(expected), "process %d (", (int)getpid());
	assert_int_equal(strncmp(holder, expected, strlen(expected)), 0);
	xb_unlock(lock);
	assert_false(xb_moment_is_busy(&here, holder, sizeof(holder)));
}
