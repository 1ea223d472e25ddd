/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trial begins, is kept and goes back by calls of the engine alone, as a program other than
 * bloomctl makes them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <linux/bpf.h>

#include "engine/settings.h"
#include "engine/trial.h"
#include "engine/writepath.h"
#include "store/store.h"
#include "store/txn.h"
#include "support/rig.h"

#define LISTED 0xc6336401 /* 198.51.100.1 */

static struct rig rig;
static int entry;

static int begin(void **state)
{
	(void)state;
	rig_begin(&rig, "trial");
	rig_add(&rig, "198.51.100.1", "default");
	entry = rig_entry(&rig);
	return 0;
}

static int end(void **state)
{
	(void)state;
	close(entry);
	rig_end(&rig);
	return 0;
}

static void assert_verdict(uint32_t verdict)
{
	assert_int_equal(rig_run_ipv4(entry, LISTED), verdict);
}

static void try_monitor(void)
{
	const struct xb_request monitor = {.kind = XB_REQUEST_POLICY,
					   .policy.policy = XB_POLICY_MONITOR};
	const struct xb_wish wish = {.request = &monitor, .seconds = 600};

	assert_verdict(XDP_DROP);
	assert_int_equal(xb_policy_wish(&rig.paths, &wish, NULL), 0);
	assert_verdict(XDP_PASS);
}

static void assert_nothing_to_commit(void)
{
	struct xb_commit commit;

	assert_int_equal(xb_trial_commit_begin(&rig.paths, &commit), 1);
}

/* Whether the trial has more time, for its commit. */
static bool is_extended(void)
{
	struct xb_anchor anchor;
	bool extended;

	assert_int_equal(xb_anchor_open(rig.paths.pins, &anchor), 0);
	extended = anchor.guard.state.before;
	xb_anchor_close(&anchor);
	return extended;
}

static void is_kept(void **state)
{
	struct xb_commit commit;
	struct xb_wish wish = {.request = &commit.trial.request};

	(void)state;
	assert_nothing_to_commit();
	try_monitor();
	assert_int_equal(xb_trial_commit_begin(&rig.paths, &commit), 0);
	wish.commits = commit.trial.identity;
	assert_int_equal(commit.trial.request.kind, XB_REQUEST_POLICY);
	assert_int_equal(commit.trial.request.policy.policy, XB_POLICY_MONITOR);
	assert_int_equal(xb_policy_wish(&rig.paths, &wish, NULL), 0);
	xb_trial_commit_end(&commit, true);
	assert_nothing_to_commit();
	assert_verdict(XDP_PASS);
	assert_int_equal(xb_write(&rig.paths, 0, NULL, NULL, NULL), 0);
	assert_verdict(XDP_PASS);
	rig_policy(&rig, XB_POLICY_ENFORCE);
	assert_verdict(XDP_DROP);
}

/* A commit that made nothing leaves the trial to its time, and to who ends it. */
static void goes_back(void **state)
{
	struct xb_commit commit;
	bool was_tried;

	(void)state;
	try_monitor();
	assert_false(is_extended());
	assert_int_equal(xb_trial_commit_begin(&rig.paths, &commit), 0);
	assert_true(is_extended());
	xb_trial_commit_end(&commit, false);
	assert_false(is_extended());
	assert_verdict(XDP_PASS);
	assert_int_equal(xb_trial_abandon(&rig.paths, NULL, &was_tried), 0);
	assert_verdict(XDP_DROP);
	assert_nothing_to_commit();
	assert_int_equal(xb_write(&rig.paths, 0, NULL, NULL, NULL), 0);
	assert_verdict(XDP_DROP);
}

/* Another trial, which began after that one had ended, is not the one to keep. */
static void another_is_not_kept(void **state)
{
	struct xb_commit commit;
	struct xb_wish wish = {.request = &commit.trial.request};
	bool was_tried;

	(void)state;
	try_monitor();
	assert_int_equal(xb_trial_commit_begin(&rig.paths, &commit), 0);
	wish.commits = commit.trial.identity;
	assert_int_equal(xb_trial_abandon(&rig.paths, NULL, &was_tried), 0);
	assert_int_equal(xb_write(&rig.paths, 0, NULL, NULL, NULL), 0);
	try_monitor();
	assert_true(xb_policy_wish(&rig.paths, &wish, NULL) < 0);
	xb_trial_commit_end(&commit, false);
	assert_verdict(XDP_PASS);
	assert_int_equal(xb_trial_abandon(&rig.paths, NULL, &was_tried), 0);
	assert_verdict(XDP_DROP);
}

static void spoil_record(void)
{
	static char name[] = "trial request";
	MDB_val key = {sizeof(name) - 1, name}, value, spoiled;
	struct xb_store *store;
	struct xb_txn *txn;
	uint8_t bytes[1024];

	assert_int_equal(xb_store_open(rig.paths.state, XB_STORE_WRITE, &store), 0);
	assert_int_equal(xb_store_write(store, &txn), 0);
	assert_int_equal(mdb_get(txn->txn, txn->store->meta, &key, &value), 0);
	assert_true(value.mv_size <= sizeof(bytes));
	memcpy(bytes, value.mv_data, value.mv_size);
	bytes[value.mv_size - 1] ^= 1;
	spoiled = (MDB_val){value.mv_size, bytes};
	assert_int_equal(mdb_put(txn->txn, txn->store->meta, &key, &spoiled, 0), 0);
	txn->edits++;
	assert_int_equal(xb_txn_commit(txn), 0);
	xb_store_close(store);
}

/* Nobody can keep it any more, and it keeps nobody from writing. */
static void ends_when_its_record_is_damaged(void **state)
{
	struct xb_commit commit;

	(void)state;
	try_monitor();
	spoil_record();
	assert_int_equal(xb_trial_commit_begin(&rig.paths, &commit), -EBADMSG);
	assert_verdict(XDP_PASS);
	assert_int_equal(xb_write(&rig.paths, 0, NULL, NULL, NULL), 0);
	assert_verdict(XDP_DROP);
	assert_nothing_to_commit();
}

/* What could not be read back is not put on trial. */
static void needs_a_request_that_can_be_read(void **state)
{
	const struct xb_request nonsense = {.kind = XB_REQUEST_POLICY, .policy.policy = 7};
	const struct xb_wish wish = {.request = &nonsense, .seconds = 600};

	(void)state;
	assert_true(xb_policy_wish(&rig.paths, &wish, NULL) < 0);
	assert_verdict(XDP_DROP);
	assert_nothing_to_commit();
	assert_int_equal(xb_write(&rig.paths, 0, NULL, NULL, NULL), 0);
	assert_verdict(XDP_DROP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(is_kept, begin, end),
		cmocka_unit_test_setup_teardown(goes_back, begin, end),
		cmocka_unit_test_setup_teardown(another_is_not_kept, begin, end),
		cmocka_unit_test_setup_teardown(ends_when_its_record_is_damaged, begin, end),
		cmocka_unit_test_setup_teardown(needs_a_request_that_can_be_read, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
