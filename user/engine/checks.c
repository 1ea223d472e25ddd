/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/checks.h"

#include "base/text.h"
#include "attach/driver.h"
#include "base/error.h"
#include "engine/requesttext.h"
#include "model/policy.h"
#include "store/wanted.h"

#define KNOWN_SLACK 1.1 /* as for every rate that is promised */

/* Seconds: three times what the timer takes at most. */
#define EXPIRY_SLACK 210

/* Before a feed counts as stale: in its periods, and in seconds at least. */
#define FEED_PERIODS 3
#define FEED_LEAST   86400

/* The driver may do wrong in native mode since it has another MTU. */
static void check_driver(const struct xb_interface *item, struct xb_problems *problems)
{
	if (item->now.mode == XB_MODE_NATIVE && xb_driver_check(&item->now, XB_MODE_AUTO)) {
		xb_problem_add(problems, XB_PROBLEM_MODE, item, "%s is attached in native mode: %s",
			       item->wanted, xb_error_message());
		xb_error_clear();
	}
}

static void tell_amiss(const struct xb_interface *item, struct xb_problems *problems)
{
	char text[XB_AMISS_TEXT];

	xb_problem_add(problems,
		       xb_interface_is_open(item) ? XB_PROBLEM_UNFILTERED : XB_PROBLEM_ELSEWHERE,
		       item, "%s", xb_interface_amiss(item, text));
}

static void check_wanted(const struct xb_interface *item, struct xb_problems *problems)
{
	if (xb_interface_is_amiss(item))
		tell_amiss(item, problems);
	else if (item->renamed)
		xb_problem_add(problems,
			       xb_wanted_check(item->now.name) ? XB_PROBLEM_NAME_UNUSABLE
							       : XB_PROBLEM_RENAMED,
			       item, "%s is called %s now", item->wanted, item->now.name);
	else if (item->mode != XB_MODE_AUTO && item->mode != item->now.mode)
		xb_problem_add(problems, XB_PROBLEM_MODE, item,
			       "%s is attached in %s mode, wanted is %s", item->wanted,
			       xb_mode_name(item->now.mode), xb_mode_name(item->mode));
	else
		check_driver(item, problems);
}

static void check_unwanted(const struct xb_interface *item, struct xb_problems *problems)
{
	const char *name = item->enrolled.name;

	if (item->difference == XB_IFACE_STALE && item->now.ifindex)
		xb_problem_add(problems, XB_PROBLEM_STALE, item,
			       "interface %u, attached as %s, is %s now and has no filter",
			       item->enrolled.ifindex, name, item->now.name);
	else if (item->difference == XB_IFACE_STALE)
		xb_problem_add(problems, XB_PROBLEM_STALE, item,
			       "interface %u, attached as %s, is gone", item->enrolled.ifindex,
			       name);
	else if (item->difference == XB_IFACE_HEIR)
		xb_problem_add(problems, XB_PROBLEM_NAME_TAKEN, item,
			       "%s is called %s now, and another interface is %s", name,
			       item->now.name, name);
	else if (item->left)
		xb_problem_add(
			problems, XB_PROBLEM_LEFT, item,
			"%s is detached, but the kernel did not take the program off; it lets "
			"everything pass",
			item->now.name);
	else if (item->difference == XB_IFACE_UNWANTED)
		xb_problem_add(problems, XB_PROBLEM_UNWANTED, item,
			       "%s is filtered, but is not wanted",
			       item->now.ifindex ? item->now.name : name);
}

void xb_check_interfaces(const struct xb_interfaces *all, bool tried, struct xb_problems *problems)
{
	for (size_t i = 0; i < all->count; i++) {
		const struct xb_interface *item = &all->item[i];

		if (!item->wanted[0] || item->difference == XB_IFACE_HEIR)
			check_unwanted(item, problems);
		else if (item->difference == XB_IFACE_UNCALLED)
			continue;
		else if (item->lasting)
			check_wanted(item, problems);
		else if (tried && xb_interface_is_amiss(item))
			tell_amiss(item, problems);
	}
}

/* Away from what is wanted there is nothing to promise. */
static void check_calls(const struct xb_interface *item, struct xb_problems *problems)
{
	const struct xb_calls_view *view = &item->view;
	char since[XB_TIME_TEXT];

	if (item->difference == XB_IFACE_UNCALLED)
		xb_problem_add(problems, XB_PROBLEM_UNFILTERED, item, "unfiltered: %s", item->why);
	else if (item->difference == XB_IFACE_SAME && view->calls == XB_CALLS_DOUBTED)
		xb_problem_add(problems, XB_PROBLEM_UNPROVEN, item,
			       "%s: the filter has not seen %llu of the packets that came in since "
			       "%s, and too few come now to tell whether the driver calls it",
			       item->now.name, (unsigned long long)view->missed,
			       xb_time_format(view->seen, since));
}

void xb_check_calls(const struct xb_interfaces *all, struct xb_problems *problems)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->item[i].wanted[0])
			check_calls(&all->item[i], problems);
}

void xb_check_generation(const struct xb_generation *active, const struct xb_storeview *store,
			 struct xb_problems *problems)
{
	if (active->params.store != store->meta.identity)
		xb_problem_add(problems, XB_PROBLEM_FILTER_FOREIGN, NULL,
			       "the filter in force was built from another store");
	else if (!store->wanted_count && store->tried)
		return;
	else if (!store->wanted_count)
		xb_problem_add(problems, XB_PROBLEM_FILTER_IDLE, NULL,
			       "a filter is loaded, but no interface is wanted");
	else if (!active->header)
		xb_problem_add(problems, XB_PROBLEM_COUNTERS_LOST, NULL,
			       "the counters of the filter are lost");
	else if (active->header->dirty)
		xb_problem_add(problems, XB_PROBLEM_INTERRUPTED, NULL, "a change was interrupted");
	else if (!xb_generation_is_current(active, &store->meta))
		xb_problem_add(problems, XB_PROBLEM_FILTER_BEHIND, NULL,
			       "the filter lacks the latest changes of the store");
	else if (!xb_generation_fits(active, &store->meta))
		xb_problem_add(problems, XB_PROBLEM_FILTER_UNFIT, NULL,
			       "the filter does not fit the settings (rate, policy, ports, exact "
			       "look-up or known sources)");
}

/* Another store's filter has the policy of that store: it is a problem of its own. */
void xb_check_policy(uint32_t in_force, const struct xb_storeview *store,
		     struct xb_problems *problems)
{
	if (in_force != store->meta.policy)
		xb_problem_add(problems, XB_PROBLEM_POLICY, NULL,
			       "the policy in force is %s, wanted is %s", xb_policy_name(in_force),
			       xb_policy_name(store->meta.policy));
}

void xb_check_known(const struct xb_known_view *known, const struct xb_storeview *store,
		    struct xb_problems *problems)
{
	if (!store->known.on && known->there && known->store == store->meta.identity)
		xb_problem_add(problems, XB_PROBLEM_STILL_LEARNING, NULL,
			       "known sources are no longer wanted, but are learned until they can "
			       "be saved");
	if (!store->known.on)
		return;
	if (!known->there)
		xb_problem_add(problems, XB_PROBLEM_NOT_LEARNING, NULL,
			       "known sources are wanted, but none are kept in the kernel");
	else if (!known->learns)
		xb_problem_add(
			problems, XB_PROBLEM_NOT_LEARNING, NULL,
			"known sources are not learned: no program is attached to cgroup v2");
	else if (known->elsewhere && !store->wanted_count)
		xb_problem_add(problems, XB_PROBLEM_NOT_LEARNING, NULL,
			       "known sources are learned in another network namespace");
}

/* A filter that has grown keeps the promise only when its former sets are forgotten. */
void xb_check_known_rate(const struct xb_known_view *known, const struct xb_storeview *store,
			 struct xb_problems *problems)
{
	double wanted = store->known.rate > known->promised ? store->known.rate : known->promised;

	if (store->known.on && known->rate > wanted * KNOWN_SLACK)
		xb_problem_add(problems, XB_PROBLEM_KNOWN_FULL, NULL,
			       "known sources are too many for their filter: %.2g of strangers are "
			       "taken for known instead of %.2g",
			       known->rate, wanted);
}

void xb_check_trial(uint64_t left, const struct xb_storeview *store, struct xb_problems *problems)
{
	char command[256];

	if (!store->tried || left)
		return;
	xb_request_command(&store->trial.request, command, sizeof(command));
	xb_problem_add(problems, XB_PROBLEM_TRIAL_OVER, NULL, "the trial of `%s` is over%s",
		       command,
		       store->trial.request.kind == XB_REQUEST_ATTACH
			       ? ": the program is still there, and lets everything pass"
			       : "");
}

void xb_check_expiry(uint64_t now, const struct xb_storeview *store, struct xb_problems *problems)
{
	char when[XB_TIME_TEXT];

	if (store->due && store->due + EXPIRY_SLACK < now)
		xb_problem_add(problems, XB_PROBLEM_OVERDUE, NULL,
			       "an entry expired at %s, and is still enforced",
			       xb_time_format(store->due, when));
}

void xb_check_feed(const struct xb_feed_state *feed, int64_t now, struct xb_problems *problems)
{
	const char *before = feed->message[0] ? ": " : "";
	int64_t limit = feed->period * FEED_PERIODS;
	char when[XB_TIME_TEXT];

	if (limit < FEED_LEAST)
		limit = FEED_LEAST;
	if (!feed->last_success && feed->outcome[0])
		xb_problem_add(problems, XB_PROBLEM_FEED_STALE, NULL,
			       "feed %s has never brought a list%s%s", feed->name, before,
			       feed->message);
	else if (feed->last_success && now - feed->last_success > limit)
		xb_problem_add(problems, XB_PROBLEM_FEED_STALE, NULL,
			       "feed %s has brought no list since %s%s%s", feed->name,
			       xb_time_format((uint64_t)feed->last_success, when), before,
			       feed->message);
}
