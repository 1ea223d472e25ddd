/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/health.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "attach/pin.h"
#include "attach/swap.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/text.h"
#include "engine/checks.h"
#include "engine/feedstate.h"
#include "engine/limiting.h"
#include "engine/moment.h"
#include "engine/place.h"
#include "engine/trial.h"
#include "engine/vlans.h"

static int check_interfaces(const struct xb_writer *kernel, struct xb_health *health)
{
	const struct xb_storeview *store = &health->store;
	const struct xb_anchor *anchor =
		kernel->anchored && !kernel->anchor.elsewhere ? &kernel->anchor : NULL;
	struct xb_interfaces *all = &health->interfaces;
	int error =
		xb_interfaces_look(anchor, store->wanted, store->wanted_count, &store->trial, all);

	if (error)
		return error;
	xb_check_interfaces(all, health->trial_left, &health->problems);
	if (anchor && xb_queries_answered(store->lists, store->list_count, store->limits))
		error = xb_vlans_check(anchor, all, &health->problems);
	if (error)
		return error;
	for (size_t i = 0; i < all->count; i++) {
		xb_utf8_clean(all->item[i].wanted);
		xb_utf8_clean(all->item[i].now.name);
		xb_utf8_clean(all->item[i].enrolled.name);
	}
	return 0;
}

/* In another network namespace nothing can be said of interfaces. */
static int check_namespace(const struct xb_writer *kernel, struct xb_health *health)
{
	const struct xb_storeview *store = &health->store;
	bool wanted = store->wanted_count;
	enum xb_place place = XB_PLACE_HOME;

	if (kernel->anchored && kernel->anchor.elsewhere &&
	    !xb_place_is_dead(&kernel->anchor, wanted)) {
		xb_anchor_at_home(&kernel->anchor);
		xb_problem_add(&health->problems, XB_PROBLEM_NAMESPACE, NULL, "%s",
			       xb_error_message());
		return 0;
	}
	if (wanted)
		place = xb_place_of(kernel, store->meta.identity, &store->home);
	if (place != XB_PLACE_AWAY && place != XB_PLACE_HEIR)
		return check_interfaces(kernel, health);
	xb_home_refuse(&store->home, place, kernel->paths->state);
	xb_problem_add(&health->problems, XB_PROBLEM_NAMESPACE, NULL, "%s", xb_error_message());
	return 0;
}

static void check_filter(const struct xb_writer *kernel, struct xb_health *health)
{
	struct xb_problems *problems = &health->problems;
	uint32_t program = 0;

	if (!health->store.wanted_count &&
	    (!kernel->anchored || xb_guard_any_left(&kernel->anchor.guard)))
		return;
	if (kernel->anchored ? xb_anchor_active(&kernel->anchor, &program)
			     : xb_pin_check_place(kernel->paths->pins))
		xb_problem_add(problems, XB_PROBLEM_HIDDEN, NULL,
			       "nothing can be seen of what is enforced: %s", xb_error_message());
	else if (!kernel->anchored)
		xb_problem_add(problems, XB_PROBLEM_NOT_ENFORCED, NULL,
			       "nothing is enforced: the pin directory is empty");
	else if (!program)
		xb_problem_add(problems, XB_PROBLEM_NOT_ENFORCED, NULL,
			       "nothing is enforced: no filter is in force");
	else if (!kernel->active)
		xb_problem_add(problems, XB_PROBLEM_FILTER_UNKNOWN, NULL,
			       "the filter in force is not pinned, or another version's: it can "
			       "only be rebuilt");
	else
		xb_check_generation(kernel->active, &health->store, problems);
}

/* As late as possible, so that packets can have come since the first look. A glance never waits. */
static int check_calls(const struct xb_writer *kernel, struct xb_health *health)
{
	int error = 0;

	if (health->watches && kernel->anchored && health->interfaces.count)
		error = xb_interfaces_watch(&kernel->anchor, &health->interfaces);
	if (!error)
		xb_check_calls(&health->interfaces, &health->problems);
	return error;
}

/* Another store's filter has the policy of that store. */
static int check_policy(const struct xb_writer *kernel, struct xb_health *health)
{
	const struct xb_generation *active = kernel->active;
	uint32_t policy;
	int error;

	if (!active || active->params.store != health->store.meta.identity)
		return 0;
	error = xb_generation_policy(active, &policy);
	if (!error)
		xb_check_policy(policy, &health->store, &health->problems);
	return error;
}

static int check_known(const struct xb_writer *kernel, struct xb_health *health)
{
	int error = xb_known_look(kernel->paths, &health->known);

	if (error && health->store.known.on)
		return error;
	if (error) {
		xb_error_clear();
		health->known = (struct xb_known_view){0};
	}
	xb_check_known(&health->known, &health->store, &health->problems);
	xb_check_known_rate(&health->known, &health->store, &health->problems);
	return 0;
}

static void view_filter(const struct xb_writer *kernel, struct xb_filterview *view)
{
	const struct xb_generation *active = kernel->active;

	if (!active)
		return;
	*view = (struct xb_filterview){
		.known = true,
		.program = xb_program_id(active->program),
		.rate = xb_generation_rate(active),
		.params = active->params,
	};
	view->params.key = (struct xb_key){0};
	view->params.key4 = (struct xb_quotient_key){0};
	view->params.key6 = (struct xb_key6){0};
	memcpy(view->name, active->name, sizeof(view->name));
	if (!active->header)
		return;
	view->host4_keys = active->header->host4_keys;
	view->net6_keys = active->header->net6_keys;
	view->names_keys = active->header->names_keys;
	view->scoped_keys = active->header->scoped_keys;
}

static int view_limits(const struct xb_writer *kernel, struct xb_health *health)
{
	health->limits = calloc(1, sizeof(*health->limits));
	if (!health->limits)
		return xb_out_of_memory();
	return xb_limit_figures_read(kernel->anchored ? &kernel->anchor : NULL,
				     health->store.limits, health->limits);
}

static int view_trial(const struct xb_writer *kernel, struct xb_health *health)
{
	const struct xb_storeview *store = &health->store;
	int error;

	health->policy = store->meta.policy;
	if (!store->tried || !kernel->anchored)
		return 0;
	health->trial_left = xb_trial_left(&store->trial, &kernel->anchor.guard.state);
	if (!health->trial_left)
		return 0;
	error = xb_trial_policy(kernel->paths, &kernel->anchor, &health->policy);
	return error == -ENOENT ? 0 : error;
}

int xb_health_compare(const struct xb_writer *kernel, struct xb_health *health)
{
	int error = view_trial(kernel, health);

	if (error)
		return error;
	view_filter(kernel, &health->filter);
	error = check_namespace(kernel, health);
	if (error)
		return error;
	check_filter(kernel, health);
	error = check_calls(kernel, health);
	if (error)
		return error;
	xb_check_trial(health->trial_left, &health->store, &health->problems);
	/* While all of the filter is on trial, whoever would take it out waits. */
	if (!health->trial_left)
		xb_check_expiry((uint64_t)time(NULL), &health->store, &health->problems);
	error = check_known(kernel, health);
	if (!error)
		error = view_limits(kernel, health);
	return error ? error : check_policy(kernel, health);
}

static int look_at_kernel(const struct xb_paths *paths, struct xb_health *health)
{
	struct xb_writer kernel = {.paths = paths};
	int error = xb_writer_open_kernel(&kernel);

	if (!error)
		error = xb_health_compare(&kernel, health);
	xb_writer_close_kernel(&kernel);
	return error;
}

void xb_health_feeds(const struct xb_paths *paths, struct xb_problems *problems)
{
	struct xb_feed_state *feeds;
	size_t count;

	if (xb_feed_states_read(paths->state, &feeds, &count)) {
		xb_problem_add(problems, XB_PROBLEM_FEED_STALE, NULL, "%s", xb_error_message());
		xb_error_clear();
	}
	for (size_t i = 0; i < count; i++)
		xb_check_feed(&feeds[i], (int64_t)time(NULL), problems);
	free(feeds);
}

static void check_limits(const struct xb_paths *paths, struct xb_health *health)
{
	const struct xb_limits_wanted *limits = health->store.limits;
	const struct xb_params *params = &health->filter.params;
	char why[XB_LIMIT_WHY];

	if (params->limits.names && !params->suffixes.parts)
		xb_problem_add(&health->problems, XB_PROBLEM_NOT_LIMITING, NULL,
			       "limits of names count nothing: the filter was built without the "
			       "public suffixes of the package publicsuffix");
	for (uint32_t number = 1; limits && number < XB_LIMITS; number++) {
		const struct xb_limit *limit = &limits->limit[number];

		if (health->store.followed >> number & 1)
			xb_problem_add(&health->problems, XB_PROBLEM_NOT_LISTING, NULL,
				       "sources over limit %s do not come to list %s, which "
				       "follows a fleet and is not published by this host",
				       limit->name, limit->list);
		else if (*limit->list &&
			 !xb_limit_is_listed(paths, limit, health->store.meta.policy,
					     health->store.known.on, why))
			xb_problem_add(&health->problems, XB_PROBLEM_NOT_LISTING, NULL, "%s", why);
	}
}

static int look(const struct xb_paths *paths, struct xb_health *health)
{
	int error = xb_storeview_read(paths->state, (uint32_t)time(NULL), &health->store);

	if (!error)
		error = look_at_kernel(paths, health);
	if (!error)
		xb_health_feeds(paths, &health->problems);
	if (!error)
		check_limits(paths, health);
	return error;
}

bool xb_health_is_idle(const struct xb_health *health)
{
	return !health->store.wanted_count && !health->trial_left && !health->problems.count;
}

/* How long a change may be in the making while somebody looks on. */
#define IN_THE_MAKING (5 * XB_SECOND)
#define LOOK_AGAIN    20000 /* us */

/* Until nobody holds the writer lock and nothing moves during a look: then what is amiss was left
 * by a writer who is dead. */
static int look_until_settled(const struct xb_paths *paths, struct xb_health *health)
{
	struct xb_moment before, after;
	uint64_t end = xb_clock() + IN_THE_MAKING;
	char holder[256];
	bool busy = false;
	int error = look(paths, health);

	while (error || health->problems.count) {
		if (xb_clock() >= end) {
			if (busy)
				xb_problem_add(&health->problems, XB_PROBLEM_CHANGE_LASTS, NULL,
					       "%s is in the middle of a change that takes more "
					       "than 5 seconds",
					       holder);
			break;
		}
		xb_health_free(health);
		health->watches = true;
		error = xb_moment_take(paths, &before);
		if (!error)
			error = look(paths, health);
		busy = xb_moment_is_busy(paths, holder, sizeof(holder));
		if (!busy && (error || (!xb_moment_take(paths, &after) &&
					xb_moment_is_same(&before, &after))))
			break;
		usleep(LOOK_AGAIN);
	}
	return error;
}

int xb_health_glance(const struct xb_paths *paths, struct xb_health *health)
{
	int error;

	*health = (struct xb_health){0};
	error = xb_storeview_glance(paths->state, &health->store);
	if (!error)
		error = look_at_kernel(paths, health);
	return !error && health->problems.lost ? xb_out_of_memory() : error;
}

int xb_health_look(const struct xb_paths *paths, struct xb_health *health)
{
	int error;

	*health = (struct xb_health){.watches = true};
	error = look_until_settled(paths, health);
	return !error && health->problems.lost ? xb_out_of_memory() : error;
}

void xb_health_free(struct xb_health *health)
{
	xb_storeview_free(&health->store);
	xb_interfaces_free(&health->interfaces);
	xb_problems_free(&health->problems);
	free(health->limits);
	*health = (struct xb_health){0};
}
