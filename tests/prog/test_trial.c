/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trial begins, is kept and goes back by calls of the engine alone, as a program other than
 * bloomctl makes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>
#include <linux/bpf.h>

#include "engine/settings.h"
#include "engine/trial.h"
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
	struct xb_wish wish = {.request = &commit.trial.request, .commits = true};

	(void)state;
	assert_nothing_to_commit();
	try_monitor();
	assert_int_equal(xb_trial_commit_begin(&rig.paths, &commit), 0);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(is_kept, begin, end),
		cmocka_unit_test_setup_teardown(goes_back, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
