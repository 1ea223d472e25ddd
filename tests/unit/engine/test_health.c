/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is found amiss, without a filter in the kernel: each difference as a problem of its kind,
 * the figures of the store, and where both stand. */
#include <string.h>

#include <unistd.h>

#include "base/error.h"
#include "base/lock.h"
#include "base/text.h"
#include "engine/checks.h"
#include "engine/health.h"
#include "engine/moment.h"
#include "store/wanted.h"
#include "support/cmocka.h"
#include "support/scratch_store.h"
#include "support/storechanges.h"

#define NOW 1000

/* "KIND: TEXT" each, a line each. */
static void are(const struct xb_problems *problems, const char *expected)
{
	char text[2048] = "";
	size_t used = 0;

	for (size_t i = 0; i < problems->count; i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s: %s",
					 i ? "\n" : "", xb_problem_name(problems->item[i].kind),
					 problems->item[i].text);
	assert_string_equal(text, expected);
}

/* Frees them. */
static void were(struct xb_problems *problems, const char *expected)
{
	are(problems, expected);
	xb_problems_free(problems);
}

/* --- problems --------------------------------------------------------------------------------- */

/* Programs compare these words. */
TEST(words_stay)
{
	static const char *const words[] = {
		"unfiltered",	 "renamed",	   "name_unusable",  "name_taken",
		"mode",		 "unwanted",	   "left",	     "stale",
		"unproven",	 "vlan_answers",   "namespace",	     "hidden",
		"not_enforced",	 "filter_unknown", "filter_foreign", "filter_idle",
		"counters_lost", "interrupted",	   "filter_behind",  "filter_unfit",
		"policy",	 "trial_over",	   "change_lasts",   "not_learning",
		"known_full",	 "overdue",	   "feed_stale",     "still_learning",
		"not_limiting",	 "not_listing",	   "elsewhere",	     "nothing_wanted",
		"other_policy",	 "feed_late",	   "no_room",
	};

	assert_int_equal(XB_PROBLEM_KINDS, sizeof(words) / sizeof(words[0]));
	for (enum xb_problem_kind kind = 0; kind < XB_PROBLEM_KINDS; kind++)
		assert_string_equal(xb_problem_name(kind), words[kind]);
}

TEST(many_in_their_order)
{
	static const struct xb_interface interfaces[3];
	static const struct xb_problems none;
	struct xb_problems problems = {0};
	char text[32];

	xb_problems_free(&problems);
	for (unsigned int i = 0; i < 3000; i++)
		xb_problem_add(&problems, i % XB_PROBLEM_KINDS,
			       i % 4 < 3 ? &interfaces[i % 4] : NULL, "problem %u", i);
	assert_int_equal(problems.count, 3000);
	assert_false(problems.lost);
	for (unsigned int i = 0; i < 3000; i++) {
		snprintf(text, sizeof(text), "problem %u", i);
		assert_string_equal(problems.item[i].text, text);
		assert_int_equal(problems.item[i].kind, i % XB_PROBLEM_KINDS);
		assert_ptr_equal(problems.item[i].interface, i % 4 < 3 ? &interfaces[i % 4] : NULL);
	}
	xb_problems_free(&problems);
	assert_memory_equal(&problems, &none, sizeof(none));
	xb_problems_free(&problems);
}

TEST(texts_are_safe)
{
	struct xb_problems problems = {0};
	char longest[2000], shown[sizeof(problems.item->text)];

	xb_problem_add(&problems, XB_PROBLEM_MODE, NULL, "%s", "x\033[2J\n\xff");
	assert_string_equal(problems.item[0].text, "x?[2J??");
	/* Cut, but not in the middle of a character. */
	for (size_t shift = 0; shift < 3; shift++) {
		memset(longest, 'a', shift);
		for (size_t i = shift; i + 4 < sizeof(longest); i += 3)
			memcpy(longest + i, "€", 4);
		xb_problem_add(&problems, XB_PROBLEM_MODE, NULL, "%s", longest);
		assert_int_equal(strlen(problems.item[1 + shift].text), sizeof(shown) - 1);
		strcpy(shown, problems.item[1 + shift].text);
		xb_utf8_clean(shown);
		assert_string_equal(problems.item[1 + shift].text, shown);
	}
	xb_problems_free(&problems);
}

/* There is room for no more: what is there stays, and that there are more is known. */
TEST(no_memory)
{
	struct xb_problem one = {.text = "first"};
	struct xb_problems problems = {.item = &one, .count = SIZE_MAX - 1, .room = SIZE_MAX - 1};

	xb_problem_add(&problems, XB_PROBLEM_MODE, NULL, "another");
	assert_true(problems.lost);
	assert_true(problems.count == SIZE_MAX - 1);
	assert_ptr_equal(problems.item, &one);
	assert_string_equal(one.text, "first");
}

/* --- interfaces ------------------------------------------------------------------------------- */

static void finds(struct xb_interface *item, const char *expected)
{
	struct xb_interfaces all = {.item = item, .count = 1};
	struct xb_problems problems = {0};

	xb_check_interfaces(&all, false, &problems);
	for (size_t i = 0; i < problems.count; i++)
		assert_ptr_equal(problems.item[i].interface, item);
	were(&problems, expected);
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

	finds(&item, "");
	item.mode = XB_MODE_NATIVE;
	finds(&item, "mode: x0 is attached in skb mode, wanted is native");
	item.lasting = false;
	finds(&item, "");

	/* A bond, of which the program would not know itself. */
	item = filtered;
	strcpy(item.now.kind, "bond");
	finds(&item, "");
	item.now.mode = XB_MODE_NATIVE;
	finds(&item,
	      "mode: x0 is attached in native mode: x0: the program of a bond in native mode "
	      "is called for its members by their own numbers, so statistics and trials "
	      "would not hold; filter its members");

	item = filtered;
	item.renamed = true;
	strcpy(item.now.name, "y0");
	finds(&item, "renamed: x0 is called y0 now");
	strcpy(item.now.name, "y\033");
	finds(&item, "name_unusable: x0 is called y? now");

	item = filtered;
	item.difference = XB_IFACE_MISSING;
	finds(&item, "unfiltered: x0 is unfiltered: missing");
	strcpy(item.why, "x0 is a tunnel");
	finds(&item, "unfiltered: unfiltered: x0 is a tunnel");
	item.difference = XB_IFACE_ELSEWHERE;
	item.why[0] = '\0';
	finds(&item, "elsewhere: x0 is in another network namespace, where the filter is still on "
		     "it");
}

/* Wanted until the trial ends, and then by nobody. */
TEST(interfaces_on_trial)
{
	struct xb_interface item = filtered;

	item.lasting = false;
	item.on_trial = true;
	for (enum xb_difference difference = XB_IFACE_BARE; difference <= XB_IFACE_ELSEWHERE;
	     difference++) {
		struct xb_interfaces all = {.item = &item, .count = 1};
		struct xb_problems problems = {0};

		item.difference = difference;
		finds(&item, "");
		xb_check_interfaces(&all, true, &problems);
		/* Whether drivers call the filter is looked at apart. */
		assert_int_equal(problems.count, difference != XB_IFACE_UNCALLED);
		xb_problems_free(&problems);
	}
}

TEST(unwanted_interfaces)
{
	struct xb_interface item = {.now = {.ifindex = 7, .name = "y0"},
				    .enrolled = {.ifindex = 7, .name = "x0"},
				    .difference = XB_IFACE_STALE};

	finds(&item, "stale: interface 7, attached as x0, is y0 now and has no filter");
	item.difference = XB_IFACE_HEIR;
	finds(&item, "name_taken: x0 is called y0 now, and another interface is x0");
	item.difference = XB_IFACE_UNWANTED;
	finds(&item, "unwanted: y0 is filtered, but is not wanted");
	item.now.ifindex = 0;
	item.difference = XB_IFACE_STALE;
	finds(&item, "stale: interface 7, attached as x0, is gone");
}

/* --- the filter in force ---------------------------------------------------------------------- */

static void differs(const struct xb_generation *active, const struct xb_storeview *wishes,
		    const char *expected)
{
	struct xb_problems problems = {0};

	xb_check_generation(active, wishes, &problems);
	were(&problems, expected);
}

/* A store that wants an interface, and the generation that it wants. The first of these problems is
 * told: what comes after it follows from it. */
TEST(generations)
{
	struct xb_storeview wishes = {.meta = {.identity = 1, .sequence = 5, .mark = 9},
				      .wanted_count = 1};
	struct xb_counters_header header = {.applied = 5, .mark = 9};
	struct xb_generation active = {.params = {.store = 1, .confirm = 1}, .header = &header};
	double rate = XB_CONFIRMED_RATE;

	memcpy(&active.params.rate, &rate, sizeof(rate));
	differs(&active, &wishes, "");
	wishes.meta.policy = XB_POLICY_ALLOW_ONLY;
	differs(&active, &wishes,
		"filter_unfit: the filter does not fit the settings (rate, policy, ports, exact "
		"look-up or known sources)");
	wishes.meta.policy = XB_POLICY_ENFORCE;
	active.params.limits.meter[3].known = 1;
	differs(&active, &wishes, "");
	active.known = 7;
	differs(&active, &wishes,
		"filter_unfit: the filter does not fit the settings (rate, policy, ports, exact "
		"look-up or known sources)");
	active.params.known = 7;
	differs(&active, &wishes, "");
	active.params.admits_known = 1;
	differs(&active, &wishes,
		"filter_unfit: the filter does not fit the settings (rate, policy, ports, exact "
		"look-up or known sources)");
	active.params.admits_known = 0;
	wishes.meta.policy = XB_POLICY_ALLOW_ONLY;
	wishes.meta.mark++;
	differs(&active, &wishes,
		"filter_behind: the filter lacks the latest changes of the store");
	header.dirty = 1;
	differs(&active, &wishes, "interrupted: a change was interrupted");
	active.header = NULL;
	differs(&active, &wishes, "counters_lost: the counters of the filter are lost");
	wishes.wanted_count = 0;
	differs(&active, &wishes, "filter_idle: a filter is loaded, but no interface is wanted");
	wishes.tried = true;
	differs(&active, &wishes, "");
	active.params.store++;
	differs(&active, &wishes,
		"filter_foreign: the filter in force was built from another store");
}

TEST(policies_and_trials)
{
	static char x0[] = "x0", *const names[] = {x0};
	struct xb_storeview wishes = {.meta.policy = XB_POLICY_MONITOR};
	struct xb_problems problems = {0};

	xb_check_policy(XB_POLICY_MONITOR, &wishes, &problems);
	xb_check_trial(0, &wishes, &problems);
	were(&problems, "");
	xb_check_policy(XB_POLICY_ENFORCE, &wishes, &problems);
	were(&problems, "policy: the policy in force is enforce, wanted is monitor");
	wishes.tried = true;
	wishes.trial.request = (struct xb_request){.kind = XB_REQUEST_ATTACH, .attach = {names, 1}};
	xb_check_trial(1, &wishes, &problems);
	were(&problems, "");
	xb_check_trial(0, &wishes, &problems);
	were(&problems, "trial_over: the trial of `attach x0` is over: the program is still there, "
			"and lets everything pass");
}

static void known(struct xb_known_view view, bool on, const char *expected)
{
	const struct xb_storeview wishes = {.known = {.on = on, .rate = 1e-3}, .wanted_count = 1};
	struct xb_problems problems = {0};

	xb_check_known(&view, &wishes, &problems);
	xb_check_known_rate(&view, &wishes, &problems);
	were(&problems, expected);
}

TEST(known_sources)
{
	struct xb_known_view view = {0};

	known(view, false, "");
	known(view, true,
	      "not_learning: known sources are wanted, but none are kept in the kernel");
	view.there = true;
	known(view, true,
	      "not_learning: known sources are not learned: no program is attached to cgroup v2");
	view.learns = true;
	view.rate = 1.05e-3;
	known(view, true, "");
	view.rate = 1.2e-3;
	known(view, true,
	      "known_full: known sources are too many for their filter: 0.0012 of strangers are "
	      "taken for known instead of 0.001");
	/* Less is wanted than what its sets were made for. */
	view.promised = 1.5e-3;
	known(view, true, "");
	/* Another store wants them. */
	view.store = 1;
	known(view, false, "");
	view.store = 0;
	known(view, false,
	      "still_learning: known sources are no longer wanted, but are learned until they can "
	      "be saved");
}

/* --- what time brings ------------------------------------------------------------------------- */

static void expires(uint32_t due, uint64_t now, const char *expected)
{
	struct xb_storeview view = {.due = due};
	struct xb_problems problems = {0};

	xb_check_expiry(now, &view, &problems);
	were(&problems, expected);
}

TEST(what_nobody_takes_out)
{
	expires(0, 1000000, "");
	expires(1000000, 900000, "");
	expires(1000000, 1000100, "");
	expires(1000000, 1000300,
		"overdue: an entry expired at 1970-01-12T13:46:40Z, and is still enforced");
}

#define DAY 86400

static void fed(int64_t last_success, int64_t period, const char *outcome, const char *message,
		const char *expected)
{
	struct xb_feed_state feed = {
		.name = "drop", .last_success = last_success, .period = period};
	struct xb_problems problems = {0};

	snprintf(feed.outcome, sizeof(feed.outcome), "%s", outcome);
	snprintf(feed.message, sizeof(feed.message), "%s", message);
	xb_check_feed(&feed, 100 * DAY, &problems);
	were(&problems, expected);
}

TEST(feeds_that_bring_nothing)
{
	fed(0, DAY, "", "", "");
	fed(97 * DAY, DAY, "timeout", "slow", "");
	fed(99 * DAY, 60, "timeout", "slow", "");
	fed(80 * DAY, 7 * DAY, "updated", "", "");
	fed(101 * DAY, 60, "updated", "", "");
	fed(97 * DAY - 1, DAY, "timeout", "slow",
	    "feed_stale: feed drop has brought no list since 1970-04-07T23:59:59Z: slow");
	fed(90 * DAY, 60, "updated", "",
	    "feed_stale: feed drop has brought no list since 1970-04-01T00:00:00Z");
	fed(0, 60, "no-name", "no such host",
	    "feed_stale: feed drop has never brought a list: no such host");
}

/* --- a store ---------------------------------------------------------------------------------- */

static struct xb_paths here;

/* Who looks opens the store by itself. */
static int begin_closed(void **state)
{
	static char pins[XB_PATH_MAX];
	int error = begin(state);

	xb_store_close(store);
	snprintf(pins, sizeof(pins), "%s/none", getenv("XB_TEST_BPFFS") ?: "/sys/fs/bpf");
	here = (struct xb_paths){.state = directory, .run = directory, .pins = pins};
	return error;
}

static int end_closed(void **state)
{
	store = NULL;
	return end(state);
}

static void change(const char *changes, const char *wanted)
{
	struct xb_wanted interface = {.mode = XB_MODE_AUTO};
	struct xb_txn *txn;

	assert_int_equal(xb_store_open(directory, XB_STORE_WRITE, &store), 0);
	assert_int_equal(xb_store_write(store, &txn), 0);
	make_changes(txn, changes);
	if (wanted) {
		strcpy(interface.name, wanted);
		txn->meta.policy = XB_POLICY_MONITOR;
		assert_int_equal(xb_wanted_put(txn, &interface), 0);
	}
	assert_int_equal(xb_txn_commit(txn), 0);
	xb_store_close(store);
}

/* Two entries are listed, one of them until NOW; three are allowed, two of them by somebody. */
static void fill(void)
{
	change("+192.0.2.1 ads; +192.0.2.2 ads 1000; +!198.51.100.1 allow; "
	       "+!198.51.100.2 auto:gateway 0 default route of x0; +!198.51.100.3 allow; "
	       "+!198.51.100.3 auto:ssh",
	       NULL);
}

TEST_WITH(figures_of_the_store, begin_closed, end_closed)
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

/* An entry of the year 1970 has expired. */
#define OVERDUE "overdue: an entry expired at 1970-01-01T00:16:40Z, and is still enforced"

TEST_WITH(nothing_in_the_kernel, begin_closed, end_closed)
{
	struct xb_health health;

	fill();
	assert_int_equal(xb_health_look(&here, &health), 0);
	are(&health.problems, OVERDUE);
	assert_false(xb_health_is_idle(&health));
	assert_false(health.filter.known);
	xb_health_free(&health);

	change("", "nonesuch");
	assert_int_equal(xb_health_look(&here, &health), 0);
	are(&health.problems,
	    "unfiltered: nonesuch is unfiltered: missing\n"
	    "not_enforced: nothing is enforced: the pin directory is empty\n" OVERDUE);
	assert_string_equal(health.problems.item[0].interface->wanted, "nonesuch");
	assert_null(health.problems.item[1].interface);
	assert_int_equal(health.store.wanted_count, 1);
	assert_int_equal(health.interfaces.count, 1);
	assert_int_equal(health.policy, XB_POLICY_MONITOR);
	xb_health_free(&health);

	here.pins = directory;
	assert_int_equal(xb_health_look(&here, &health), 0);
	assert_int_equal(health.problems.count, 3);
	assert_int_equal(health.problems.item[1].kind, XB_PROBLEM_HIDDEN);
	xb_health_free(&health);
}

/* --- where store and kernel stand ------------------------------------------------------------- */

TEST(any_difference_counts)
{
	const struct xb_moment one = {1, 2, 3, 4, 5, 6, 7};
	struct xb_moment other = one;

	assert_true(xb_moment_is_same(&one, &other));
	/* All of it are numbers of 32 bits, or of 64. */
	assert_int_equal(sizeof(one), 4 * 8 + 3 * 4 + 4);
	for (size_t at = 0; at < offsetof(struct xb_moment, policy) + 4; at += 4)
		for (size_t byte = 0; byte < 4; byte += 3) {
			((uint8_t *)&other)[at + byte] ^= 0x80;
			assert_false(xb_moment_is_same(&one, &other));
			assert_false(xb_moment_is_same(&other, &one));
			((uint8_t *)&other)[at + byte] ^= 0x80;
		}
	assert_true(xb_moment_is_same(&one, &other));
}

static struct xb_moment take(void)
{
	struct xb_moment moment;

	memset(&moment, 0xa5, sizeof(moment));
	if (xb_moment_take(&here, &moment))
		fail_msg("%s", xb_error_message());
	return moment;
}

TEST_WITH(a_change_is_another_moment, begin_closed, end_closed)
{
	struct xb_moment before, after;

	change("+192.0.2.1 some", NULL);
	before = take();
	after = take();
	assert_true(xb_moment_is_same(&before, &after));
	assert_true(before.transaction > 0);
	assert_true(before.generation == 0 && before.slot == 0 && before.policy == 0);
	change("+192.0.2.2 some", NULL);
	after = take();
	assert_false(xb_moment_is_same(&before, &after));
	assert_int_equal(after.transaction, before.transaction + 1);
}

TEST_WITH(no_store_is_a_moment, begin_closed, end_closed)
{
	static const struct xb_moment none;
	struct xb_moment moment;
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", directory, XB_STORE_FILE);
	assert_int_equal(unlink(path), 0);
	moment = take();
	assert_true(xb_moment_is_same(&moment, &none));
	assert_int_equal(access(path, F_OK), -1);
}

TEST_WITH(whoever_writes_is_named, begin_closed, end_closed)
{
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
