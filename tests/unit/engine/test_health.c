/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is found amiss, without a filter in the kernel: each difference as a problem of its kind,
 * and the figures of the store. */
#include <string.h>

#include "engine/checks.h"
#include "engine/health.h"
#include "engine/moment.h"
#include "model/policy.h"
#include "store/membership.h"
#include "store/wanted.h"
#include "support/cmocka.h"
#include "support/member.h"
#include "support/scratch_store.h"

#define NOW 1000

static void must_find(struct xb_problems *problems, size_t at, enum xb_problem_kind kind,
		      const char *text)
{
	assert_true(at < problems->count);
	assert_int_equal(problems->item[at].kind, kind);
	assert_string_equal(problems->item[at].text, text);
}

/* The only one of them, which is freed. */
static void must_be(struct xb_problems *problems, enum xb_problem_kind kind, const char *text)
{
	must_find(problems, 0, kind, text);
	assert_int_equal(problems->count, 1);
	xb_problems_free(problems);
}

static bool tried;

static struct xb_problems problems_of(struct xb_interface *item)
{
	struct xb_interfaces all = {.item = item, .count = 1};
	struct xb_problems problems = {0};

	xb_check_interfaces(&all, tried, &problems);
	for (size_t i = 0; i < problems.count; i++)
		assert_ptr_equal(problems.item[i].interface, item);
	return problems;
}

static const struct xb_interface filtered = {
	.wanted = "x0",
	.lasting = true,
	.mode = XB_MODE_AUTO,
	.now = {.ifindex = 7, .name = "x0", .mode = XB_MODE_SKB},
	.hold = XB_HOLD_OURS,
	.difference = XB_IFACE_SAME,
};

TEST(wanted_interfaces)
{
	struct xb_interface item = filtered;
	struct xb_problems problems = problems_of(&item);

	assert_int_equal(problems.count, 0);
	item.mode = XB_MODE_NATIVE;
	problems = problems_of(&item);
	must_be(&problems, XB_PROBLEM_MODE, "x0 is attached in skb mode, wanted is native");
	item.lasting = false;
	problems = problems_of(&item);
	assert_int_equal(problems.count, 0);

	/* A bond, of which the program would not know itself. */
	item = filtered;
	strcpy(item.now.kind, "bond");
	problems = problems_of(&item);
	assert_int_equal(problems.count, 0);
	item.now.mode = XB_MODE_NATIVE;
	problems = problems_of(&item);
	assert_int_equal(problems.count, 1);
	assert_int_equal(problems.item[0].kind, XB_PROBLEM_MODE);
	assert_ptr_equal(strstr(problems.item[0].text, "x0 is attached in native mode: x0: the "),
			 problems.item[0].text);
	xb_problems_free(&problems);

	item = filtered;
	item.renamed = true;
	strcpy(item.now.name, "y0");
	problems = problems_of(&item);
	must_be(&problems, XB_PROBLEM_RENAMED, "x0 is called y0 now");
	strcpy(item.now.name, "y\033");
	problems = problems_of(&item);
	must_be(&problems, XB_PROBLEM_NAME_UNUSABLE, "x0 is called y? now");

	item = filtered;
	item.difference = XB_IFACE_MISSING;
	problems = problems_of(&item);
	must_be(&problems, XB_PROBLEM_UNFILTERED, "x0 is unfiltered: missing");
	strcpy(item.why, "x0 is a tunnel");
	problems = problems_of(&item);
	must_be(&problems, XB_PROBLEM_UNFILTERED, "unfiltered: x0 is a tunnel");
	item.difference = XB_IFACE_ELSEWHERE;
	item.why[0] = '\0';
	problems = problems_of(&item);
	must_be(&problems, XB_PROBLEM_ELSEWHERE,
		"x0 is in another network namespace, where the filter is still on it");
}

/* Wanted until the trial ends, and then by nobody. */
TEST(interfaces_on_trial)
{
	struct xb_interface item = filtered;
	struct xb_problems problems;

	item.lasting = false;
	item.on_trial = true;
	for (enum xb_difference difference = XB_IFACE_BARE; difference <= XB_IFACE_ELSEWHERE;
	     difference++) {
		item.difference = difference;
		tried = false;
		problems = problems_of(&item);
		assert_int_equal(problems.count, 0);
		tried = true;
		problems = problems_of(&item);
		/* Whether drivers call the filter is looked at apart. */
		assert_int_equal(problems.count, difference != XB_IFACE_UNCALLED);
		xb_problems_free(&problems);
	}
	tried = false;
}

TEST(unwanted_interfaces)
{
	struct xb_interface item = {.now = {.ifindex = 7, .name = "y0"},
				    .enrolled = {.ifindex = 7, .name = "x0"},
				    .difference = XB_IFACE_STALE};
	struct xb_problems problems = problems_of(&item);

	must_be(&problems, XB_PROBLEM_STALE,
		"interface 7, attached as x0, is y0 now and has no filter");
	item.difference = XB_IFACE_HEIR;
	problems = problems_of(&item);
	must_be(&problems, XB_PROBLEM_NAME_TAKEN,
		"x0 is called y0 now, and another interface is x0");
	item.difference = XB_IFACE_UNWANTED;
	problems = problems_of(&item);
	must_be(&problems, XB_PROBLEM_UNWANTED, "y0 is filtered, but is not wanted");
	item.now.ifindex = 0;
	item.difference = XB_IFACE_STALE;
	problems = problems_of(&item);
	must_be(&problems, XB_PROBLEM_STALE, "interface 7, attached as x0, is gone");
}

/* A store that wants an interface, and the generation that it wants. */
struct pair {
	struct xb_storeview wishes;
	struct xb_counters_header header;
	struct xb_generation active;
};

static void pair(struct pair *pair)
{
	double rate = XB_CONFIRMED_RATE;

	*pair = (struct pair){
		.wishes = {.meta = {.identity = 1, .sequence = 5, .mark = 9}, .wanted_count = 1},
		.header = {.applied = 5, .mark = 9},
		.active = {.params = {.store = 1, .confirm = 1}, .header = &pair->header},
	};
	memcpy(&pair->active.params.rate, &rate, sizeof(rate));
}

static struct xb_problems differences(const struct pair *pair)
{
	struct xb_problems problems = {0};

	xb_check_generation(&pair->active, &pair->wishes, &problems);
	return problems;
}

/* The first of these is told: what comes after it follows from it. */
TEST(generations)
{
	struct xb_problems problems;
	struct pair now;

	pair(&now);
	problems = differences(&now);
	assert_int_equal(problems.count, 0);

	now.wishes.meta.policy = XB_POLICY_ALLOW_ONLY;
	problems = differences(&now);
	must_be(&problems, XB_PROBLEM_FILTER_UNFIT,
		"the filter does not fit the settings (rate, policy, ports or exact look-up)");
	now.wishes.meta.mark++;
	problems = differences(&now);
	must_be(&problems, XB_PROBLEM_FILTER_BEHIND,
		"the filter lacks the latest changes of the store");
	now.header.dirty = 1;
	problems = differences(&now);
	must_be(&problems, XB_PROBLEM_INTERRUPTED, "a change was interrupted");
	now.active.header = NULL;
	problems = differences(&now);
	must_be(&problems, XB_PROBLEM_COUNTERS_LOST, "the counters of the filter are lost");
	now.wishes.wanted_count = 0;
	problems = differences(&now);
	must_be(&problems, XB_PROBLEM_FILTER_IDLE,
		"a filter is loaded, but no interface is wanted");
	now.wishes.tried = true;
	problems = differences(&now);
	assert_int_equal(problems.count, 0);
	now.active.params.store++;
	problems = differences(&now);
	must_be(&problems, XB_PROBLEM_FILTER_FOREIGN,
		"the filter in force was built from another store");
}

TEST(policies_and_trials)
{
	static char x0[] = "x0", *const names[] = {x0};
	struct xb_storeview wishes = {.meta.policy = XB_POLICY_MONITOR};
	struct xb_problems problems = {0};

	xb_check_policy(XB_POLICY_MONITOR, &wishes, &problems);
	xb_check_trial(0, &wishes, &problems);
	assert_int_equal(problems.count, 0);
	xb_check_policy(XB_POLICY_ENFORCE, &wishes, &problems);
	must_be(&problems, XB_PROBLEM_POLICY, "the policy in force is enforce, wanted is monitor");

	wishes.tried = true;
	wishes.trial.request = (struct xb_request){.kind = XB_REQUEST_ATTACH, .attach = {names, 1}};
	xb_check_trial(1, &wishes, &problems);
	assert_int_equal(problems.count, 0);
	xb_check_trial(0, &wishes, &problems);
	must_be(&problems, XB_PROBLEM_TRIAL_OVER,
		"the trial of `attach x0` is over: the program is still there, and lets "
		"everything pass");
}

static struct xb_problems known_problems(const struct xb_known_view *view, bool on)
{
	const struct xb_storeview wishes = {.known = {.on = on, .rate = 1e-3}, .wanted_count = 1};
	struct xb_problems problems = {0};

	xb_check_known(view, &wishes, &problems);
	xb_check_known_rate(view, &wishes, &problems);
	return problems;
}

TEST(known_sources)
{
	struct xb_known_view view = {0};
	struct xb_problems problems = known_problems(&view, false);

	assert_int_equal(problems.count, 0);
	problems = known_problems(&view, true);
	must_be(&problems, XB_PROBLEM_NOT_LEARNING,
		"known sources are wanted, but none are kept in the kernel");
	view.there = true;
	problems = known_problems(&view, true);
	must_be(&problems, XB_PROBLEM_NOT_LEARNING,
		"known sources are not learned: no program is attached to cgroup v2");
	view.learns = true;
	view.rate = 1.05e-3;
	problems = known_problems(&view, true);
	assert_int_equal(problems.count, 0);
	view.rate = 1.2e-3;
	problems = known_problems(&view, true);
	must_be(&problems, XB_PROBLEM_KNOWN_FULL,
		"known sources are too many for their filter: 0.0012 of strangers are taken for "
		"known instead of 0.001");
	/* Less is wanted than what its sets were made for. */
	view.promised = 1.5e-3;
	problems = known_problems(&view, true);
	assert_int_equal(problems.count, 0);
	/* Another store wants them. */
	view.store = 1;
	problems = known_problems(&view, false);
	assert_int_equal(problems.count, 0);
	view.store = 0;
	problems = known_problems(&view, false);
	must_be(&problems, XB_PROBLEM_STILL_LEARNING,
		"known sources are no longer wanted, but are learned until they can be saved");
}

TEST(many_problems)
{
	struct xb_problems problems = {0};

	for (int i = 0; i < 100; i++)
		xb_problem_add(&problems, XB_PROBLEM_POLICY, NULL, "%d\n", i);
	assert_int_equal(problems.count, 100);
	assert_false(problems.lost);
	must_find(&problems, 0, XB_PROBLEM_POLICY, "0?");
	must_find(&problems, 99, XB_PROBLEM_POLICY, "99?");
	xb_problems_free(&problems);
	assert_int_equal(problems.count, 0);
}

static void put(struct xb_txn *txn, const char *text, bool allow, const struct xb_list *list,
		const char *comment, uint32_t expires)
{
	struct xb_membership member = {
		.list = list->id,
		.added = 1,
		.expires = expires,
		.comment = comment,
		.comment_size = (uint32_t)strlen(comment),
	};

	put_member(txn, text, allow, &member);
}

static const struct xb_list *list_of(struct xb_txn *txn, const char *name, bool automatic)
{
	struct xb_list *list;

	assert_int_equal(automatic ? xb_list_need_auto(txn, name, &list)
				   : xb_list_need(txn, name, &list),
			 0);
	return list;
}

/* Who looks opens the store by itself. */
static void commit(struct xb_txn *txn)
{
	assert_int_equal(xb_txn_commit(txn), 0);
	xb_store_close(store);
	store = NULL;
}

static struct xb_txn *change(void)
{
	struct xb_txn *txn;

	if (!store)
		assert_int_equal(xb_store_open(directory, XB_STORE_WRITE, &store), 0);
	assert_int_equal(xb_store_write(store, &txn), 0);
	return txn;
}

/* Two entries are listed, one of them until NOW; three are allowed, two of them by somebody. */
static void fill(void)
{
	struct xb_txn *txn = change();

	put(txn, "192.0.2.1", false, list_of(txn, "ads", false), "", 0);
	put(txn, "192.0.2.2", false, list_of(txn, "ads", false), "", NOW);
	put(txn, "198.51.100.1", true, list_of(txn, XB_LIST_ALLOW, false), "", 0);
	put(txn, "198.51.100.2", true, list_of(txn, "gateway", true), "default route of x0", 0);
	put(txn, "198.51.100.3", true, list_of(txn, XB_LIST_ALLOW, false), "", 0);
	put(txn, "198.51.100.3", true, list_of(txn, "ssh", true), "", 0);
	commit(txn);
}

TEST_WITH(figures_of_the_store, begin, end)
{
	struct xb_storeview view;

	fill();
	assert_int_equal(xb_storeview_read(directory, NOW - 1, &view), 0);
	assert_int_equal(view.expired, 0);
	xb_storeview_free(&view);

	assert_int_equal(xb_storeview_read(directory, NOW, &view), 0);
	assert_int_equal(view.expired, 1);
	assert_int_equal(view.meta.totals.host4, 1);
	assert_int_equal(view.meta.totals.allow, 3);
	assert_int_equal(view.manual, 2);
	assert_int_equal(view.list_count, 4);
	assert_int_equal(view.wanted_count, 0);
	assert_false(view.tried);
	assert_int_equal(view.automatic_count, 2);
	assert_string_equal(view.automatic[0].entry, "198.51.100.2");
	assert_string_equal(view.automatic[0].kind, "gateway");
	assert_string_equal(view.automatic[0].why, "default route of x0");
	assert_string_equal(view.automatic[1].entry, "198.51.100.3");
	assert_string_equal(view.automatic[1].kind, "ssh");
	assert_string_equal(view.automatic[1].why, "");
	xb_storeview_free(&view);
	assert_null(view.automatic);
}

TEST(no_store)
{
	struct xb_storeview view;

	assert_int_equal(xb_storeview_read("/nonexistent", NOW, &view), 0);
	assert_int_equal(view.meta.ports.dns[0], XB_DNS_PORT);
	assert_int_equal(view.meta.answer_limit, XB_ANSWER_LIMIT);
	assert_int_equal(view.list_count, 0);
	xb_storeview_free(&view);
}

static void want(const char *name)
{
	struct xb_wanted wanted = {.mode = XB_MODE_AUTO};
	struct xb_txn *txn = change();

	strcpy(wanted.name, name);
	txn->meta.policy = XB_POLICY_MONITOR;
	assert_int_equal(xb_wanted_put(txn, &wanted), 0);
	commit(txn);
}

static struct xb_problems expiry_at(uint32_t due, uint64_t now)
{
	struct xb_storeview view = {.due = due};
	struct xb_problems problems = {0};

	xb_check_expiry(now, &view, &problems);
	return problems;
}

TEST(what_nobody_takes_out)
{
	struct xb_problems problems;

	assert_int_equal(expiry_at(0, 1000000).count, 0);
	assert_int_equal(expiry_at(1000000, 900000).count, 0);
	assert_int_equal(expiry_at(1000000, 1000100).count, 0);
	problems = expiry_at(1000000, 1000300);
	must_be(&problems, XB_PROBLEM_OVERDUE,
		"an entry expired at 1970-01-12T13:46:40Z, and is still enforced");
}

#define DAY 86400

static struct xb_problems feed_of(int64_t last_success, int64_t period, const char *outcome,
				  const char *message)
{
	struct xb_feed_state feed = {
		.name = "drop", .last_success = last_success, .period = period};
	struct xb_problems problems = {0};

	snprintf(feed.outcome, sizeof(feed.outcome), "%s", outcome);
	snprintf(feed.message, sizeof(feed.message), "%s", message);
	xb_check_feed(&feed, 100 * DAY, &problems);
	return problems;
}

TEST(feeds_that_bring_nothing)
{
	struct xb_problems problems;

	assert_int_equal(feed_of(0, DAY, "", "").count, 0);
	assert_int_equal(feed_of(97 * DAY, DAY, "timeout", "slow").count, 0);
	assert_int_equal(feed_of(99 * DAY, 60, "timeout", "slow").count, 0);
	assert_int_equal(feed_of(80 * DAY, 7 * DAY, "updated", "").count, 0);
	assert_int_equal(feed_of(101 * DAY, 60, "updated", "").count, 0);
	problems = feed_of(97 * DAY - 1, DAY, "timeout", "slow");
	must_be(&problems, XB_PROBLEM_FEED_STALE,
		"feed drop has brought no list since 1970-04-07T23:59:59Z: slow");
	problems = feed_of(90 * DAY, 60, "updated", "");
	must_be(&problems, XB_PROBLEM_FEED_STALE,
		"feed drop has brought no list since 1970-04-01T00:00:00Z");
	problems = feed_of(0, 60, "no-name", "no such host");
	must_be(&problems, XB_PROBLEM_FEED_STALE,
		"feed drop has never brought a list: no such host");
}

TEST_WITH(nothing_in_the_kernel, begin, end)
{
	struct xb_paths paths = {.state = directory, .run = directory};
	char pins[XB_PATH_MAX];
	struct xb_health health;

	snprintf(pins, sizeof(pins), "%s/none", getenv("XB_TEST_BPFFS") ?: "/sys/fs/bpf");
	paths.pins = pins;
	fill();
	assert_int_equal(xb_health_look(&paths, &health), 0);
	/* An entry of the year 1970 has expired. */
	assert_int_equal(health.problems.count, 1);
	assert_int_equal(health.problems.item[0].kind, XB_PROBLEM_OVERDUE);
	assert_false(xb_health_is_idle(&health));
	assert_false(health.filter.known);
	xb_health_free(&health);

	want("nonesuch");
	assert_int_equal(xb_health_look(&paths, &health), 0);
	assert_int_equal(health.problems.count, 3);
	must_find(&health.problems, 0, XB_PROBLEM_UNFILTERED, "nonesuch is unfiltered: missing");
	assert_string_equal(health.problems.item[0].interface->wanted, "nonesuch");
	must_find(&health.problems, 1, XB_PROBLEM_NOT_ENFORCED,
		  "nothing is enforced: the pin directory is empty");
	assert_null(health.problems.item[1].interface);
	assert_int_equal(health.store.wanted_count, 1);
	assert_int_equal(health.interfaces.count, 1);
	assert_int_equal(health.policy, XB_POLICY_MONITOR);
	xb_health_free(&health);

	paths.pins = directory;
	assert_int_equal(xb_health_look(&paths, &health), 0);
	assert_int_equal(health.problems.count, 3);
	assert_int_equal(health.problems.item[1].kind, XB_PROBLEM_HIDDEN);
	xb_health_free(&health);
}

/* A word for each kind, another one for each. */
TEST(kinds_have_names)
{
	for (enum xb_problem_kind kind = 0; kind < XB_PROBLEM_KINDS; kind++) {
		const char *name = xb_problem_name(kind);

		assert_non_null(name);
		assert_true(*name);
		assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz_"), strlen(name));
		for (enum xb_problem_kind other = 0; other < kind; other++)
			assert_string_not_equal(name, xb_problem_name(other));
	}
}

TEST_WITH(moments, begin, end)
{
	struct xb_paths paths = {.state = directory, .pins = directory, .run = directory};
	struct xb_moment before, after;

	fill();
	assert_int_equal(xb_moment_take(&paths, &before), 0);
	assert_int_equal(xb_moment_take(&paths, &after), 0);
	assert_true(xb_moment_is_same(&before, &after));
	want("nonesuch");
	assert_int_equal(xb_moment_take(&paths, &after), 0);
	assert_false(xb_moment_is_same(&before, &after));
}
