/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Events say only that something may have changed. A look finds out, without a lock and without
 * waiting; it writes only if something is wrong that the last write did not leave so, or if the
 * machine has other lifelines than at the last write. So what a write itself brings about ends with
 * one more look. */
#include "bloomd/events/events.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>
#include <zlib.h>

#include "attach/anchor.h"
#include "base/clock.h"
#include "base/error.h"
#include "bloomd/base/log.h"
#include "bloomd/events/netevents.h"
#include "bloomd/base/pathevents.h"
#include "bloomd/events/status.h"
#include "engine/calls.h"
#include "engine/health.h"
#include "engine/session.h"
#include "machine/servers.h"
#include "machine/survey.h"

#define MILLISECOND  1000ULL /* us */
#define SECONDS	     (1000 * MILLISECOND)
#define QUIET	     (200 * MILLISECOND)
#define AT_MOST	     (2000 * MILLISECOND) /* a burst may put a look off for so long */
#define NOW_AND_THEN (10000 * MILLISECOND)
#define SLACK	     (500 * MILLISECOND) /* so that the kernel may wake us once for several things */
#define BUSY_MOST    AT_MOST
#define IN_VAIN	     (10 * XB_SECOND) /* between writes that mend nothing */

/* A driver that calls the filter no more is found within two seconds. */
#define CALLS	    (1000 * MILLISECOND)
#define CALLS_HURRY (250 * MILLISECOND) /* while packets come that the filter does not see */
#define CALLS_SLACK (50 * MILLISECOND)

#define PINS 2

struct events {
	struct agent *agent;
	struct netevents *net;
	struct pathevents *servers; /* as xb_server_places */
	size_t server_count;
	struct pathevents pins[PINS];
	char anchor[XB_PATH_MAX];	/* directory of its pins */
	sd_event_source *soon, *always; /* a look after an event, and the next without one */
	sd_event_source *calls;		/* the next comparison of counters */
	uint64_t first;			/* event that no look has followed, us; 0: none */
	uint64_t busy;			/* how long to wait next for others, us */
	bool changed;			/* the network or a file, since the last write */
	uint64_t lifelines;		/* digest of those at the last write */
	uint64_t left;			/* digest of the problems that it left */
	uint64_t wrote;			/* when, xb_clock() */
	bool failed;			/* it was told */
	bool wanted;			/* an interface was, at the last look */
	char status[STATUS_BYTES];	/* as the service manager knows it */
};

struct look {
	struct xb_health health;
	uint64_t lifelines, problems; /* digests; 0: there are none */
};

static uint64_t digest(uint64_t before, const void *bytes, size_t size)
{
	return before << 32 ^ before >> 32 ^
	       (1ULL << 32 | crc32((uint32_t)before, bytes, (uint32_t)size));
}

static uint64_t digest_problems(const struct xb_problems *problems)
{
	uint64_t all = 0;

	for (size_t i = 0; i < problems->count; i++)
		all = digest(all, problems->item[i].text, strlen(problems->item[i].text));
	return all;
}

/* In whatever order the kernel tells of them. */
static uint64_t digest_lifelines(const struct xb_lifelines *lifelines)
{
	uint64_t all = 0;

	for (size_t i = 0; i < lifelines->count; i++) {
		const struct xb_lifeline *one = &lifelines->item[i];
		uint8_t key[XB_ENTRY_KEY_BYTES];
		uint64_t its = digest(one->kind + 1U, key, xb_entry_encode(&one->entry, key));

		all += digest(its, one->why, strlen(one->why));
	}
	return all;
}

/* Time servers, for which a program may have to be asked, are left to writes. */
static int survey(const struct agent *agent, struct look *look)
{
	const struct xb_interfaces *all = &look->health.interfaces;
	uint32_t *ifindexes = calloc(all->count + 1, sizeof(*ifindexes));
	struct xb_lifelines found = {0};
	size_t count = 0;
	int error;

	if (!ifindexes)
		return xb_out_of_memory();
	for (size_t i = 0; i < all->count; i++)
		if (all->item[i].wanted[0] && all->item[i].now.ifindex)
			ifindexes[count++] = all->item[i].now.ifindex;
	error = xb_lifelines_find(ifindexes, count, agent->paths.run,
				  XB_LIFELINE_ALL & ~(1U << XB_LIFELINE_TIME), &found);
	look->lifelines = digest_lifelines(&found);
	xb_lifelines_free(&found);
	free(ifindexes);
	return error;
}

static bool is_of_another_namespace(const struct xb_problems *problems)
{
	for (size_t i = 0; i < problems->count; i++)
		if (problems->item[i].kind == XB_PROBLEM_NAMESPACE)
			return true;
	return false;
}

/* What is enforced in another namespace is left to the bloomd there. */
static int look_at_all(const struct agent *agent, struct look *look)
{
	int error = xb_health_glance(&agent->paths, &look->health);

	if (error)
		return error;
	if (is_of_another_namespace(&look->health.problems))
		return 0;
	look->problems = digest_problems(&look->health.problems);
	return look->health.store.wanted_count ? survey(agent, look) : 0;
}

static bool is_write_due(const struct events *events, const struct look *look)
{
	bool same = look->problems == events->left;

	if (look->lifelines && look->lifelines != events->lifelines)
		return true;
	if (!look->problems || (same && !events->changed))
		return false;
	return !same || xb_clock() - events->wrote >= IN_VAIN;
}

static void look_in(struct events *events, uint64_t delay)
{
	sd_event_source_set_time_relative(events->soon, delay);
	sd_event_source_set_enabled(events->soon, SD_EVENT_ONESHOT);
}

static void wait_for_others(struct events *events)
{
	look_in(events, events->busy);
	events->busy = events->busy * 2 > BUSY_MOST ? BUSY_MOST : events->busy * 2;
}

/* Only what is new: nobody is woken up for the rest. */
static void tell_status(struct events *events, const struct xb_health *health)
{
	char text[STATUS_BYTES];

	status_compose(health, text);
	if (!strcmp(text, events->status))
		return;
	memcpy(events->status, text, sizeof(text));
	sd_notifyf(0, "STATUS=%s", text);
}

/* A trial that is not committed ends by itself. What it has left in the kernel goes right after. */
static void await_end_of_trial(struct events *events, uint64_t seconds_left)
{
	if (seconds_left && seconds_left * SECONDS < NOW_AND_THEN)
		look_in(events, seconds_left * SECONDS);
}

/* Once, until something succeeds. */
static void fail(struct events *events, int error)
{
	if (agent_is_busy(error)) {
		wait_for_others(events);
		return;
	}
	if (!events->failed)
		log_error("cannot follow the changes of this machine; trying again");
	events->failed = true;
}

/* Not while no interface is wanted: nobody is woken up for nothing. */
static void compare_in(struct events *events, uint64_t delay)
{
	if (!events->wanted)
		return;
	sd_event_source_set_time_relative(events->calls, delay);
	sd_event_source_set_enabled(events->calls, SD_EVENT_ONESHOT);
}

static void compare_if_wanted(struct events *events, const struct xb_storeview *store)
{
	bool wanted = store->wanted_count || store->tried;

	if (wanted == events->wanted)
		return;
	events->wanted = wanted;
	compare_in(events, CALLS);
}

/* What the write could not mend is known from now on. */
static void note_what_is_left(struct events *events)
{
	struct look after = {0};

	if (!look_at_all(events->agent, &after)) {
		events->left = after.problems;
		tell_status(events, &after.health);
	}
	xb_health_free(&after.health);
}

static void write_all(struct events *events, const struct look *look)
{
	struct agent *agent = events->agent;
	int error;

	agent_writes(agent, "events");
	error = xb_write(&agent->paths, XB_WRITE_HEAVY | XB_WRITE_SURVEY | XB_WRITE_BRIEF, NULL,
			 NULL, &agent->written);

	if (error && agent_is_busy(error)) {
		wait_for_others(events);
		return;
	}
	events->wrote = xb_clock();
	events->changed = false;
	if (error && error != XB_UNMET) {
		events->left = look->problems;
		tell_status(events, &look->health);
		fail(events, error);
		return;
	}
	events->failed = false;
	events->lifelines = look->lifelines;
	agent_wrote(agent);
	note_what_is_left(events);
}

static void look(struct events *events)
{
	struct look now = {0};
	int error = look_at_all(events->agent, &now);

	events->first = 0;
	if (!error)
		compare_if_wanted(events, &now.health.store);
	if (error) {
		fail(events, error);
	} else if (is_write_due(events, &now)) {
		write_all(events, &now);
	} else {
		events->busy = AGENT_RETRY;
		events->left = now.problems;
		tell_status(events, &now.health);
		await_end_of_trial(events, now.health.trial_left);
	}
	xb_health_free(&now.health);
}

static int on_soon(sd_event_source *source, uint64_t time, void *context)
{
	(void)source;
	(void)time;
	look(context);
	return 0;
}

static int on_always(sd_event_source *source, uint64_t time, void *context)
{
	struct events *events = context;

	(void)time;
	for (size_t i = 0; i < events->server_count; i++)
		pathevents_renew(&events->servers[i]);
	for (size_t i = 0; i < PINS; i++)
		pathevents_renew(&events->pins[i]);
	look(events);
	sd_event_source_set_time_relative(source, NOW_AND_THEN);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static void note_calls(struct events *events)
{
	struct look now = {0};
	int error = look_at_all(events->agent, &now);

	if (error)
		fail(events, error);
	else
		write_all(events, &now);
	xb_health_free(&now.health);
}

/* What nobody can tell of: neither the driver nor the kernel says when it stops to call a program.
 */
static int on_calls(sd_event_source *source, uint64_t time, void *context)
{
	struct events *events = context;
	enum xb_calls worst = XB_CALLS_QUIET;
	bool hurry = false, due = false;
	int error = xb_calls_poll(events->agent->paths.pins, &worst, &hurry, &due);

	(void)source;
	(void)time;
	if (error)
		fail(events, error);
	compare_in(events, hurry ? CALLS_HURRY : CALLS);
	if (worst == XB_CALLS_MISSING) {
		xb_session_distrust();
		events->changed = true;
		look(events);
	} else if (due && xb_clock() - events->wrote >= IN_VAIN) {
		note_calls(events);
	}
	return 0;
}

static void put_off(struct events *events)
{
	uint64_t now = 0, due;

	sd_event_now(events->agent->loop, CLOCK_MONOTONIC, &now);
	if (!events->first)
		events->first = now;
	due = events->first + AT_MOST;
	look_in(events, due <= now ? 0 : due - now < QUIET ? due - now : QUIET);
}

/* Until the look, too, no other write relies on what was. */
static void on_network(void *context)
{
	struct events *events = context;

	xb_session_distrust();
	events->changed = true;
	put_off(events);
}

void events_notice(struct events *events)
{
	events->changed = true;
	put_off(events);
}

static void on_server_place(void *context)
{
	events_notice(context);
}

static void on_pins(void *context)
{
	xb_session_distrust();
	put_off(context);
}

static int watch_servers(struct events *events)
{
	size_t count = 0;

	while (xb_server_places[count])
		count++;
	events->servers = calloc(count + 1, sizeof(*events->servers));
	if (!events->servers)
		return xb_out_of_memory();
	events->server_count = count;
	for (size_t i = 0; i < count; i++)
		pathevents_init(&events->servers[i], events->agent->loop, xb_server_places[i],
				on_server_place, events);
	return 0;
}

static int watch_pins(struct events *events)
{
	const char *pins = events->agent->paths.pins;

	pathevents_init(&events->pins[0], events->agent->loop, pins, on_pins, events);
	pathevents_init(&events->pins[1], events->agent->loop, events->anchor, on_pins, events);
	return xb_path_join(events->anchor, pins, XB_ANCHOR_PINS);
}

static int add_timers(struct events *events)
{
	sd_event *loop = events->agent->loop;
	int error = sd_event_add_time_relative(loop, &events->soon, CLOCK_MONOTONIC, QUIET,
					       MILLISECOND, on_soon, events);

	if (error >= 0)
		error = sd_event_add_time_relative(loop, &events->always, CLOCK_MONOTONIC, 0, SLACK,
						   on_always, events);
	if (error >= 0)
		error = sd_event_add_time_relative(loop, &events->calls, CLOCK_MONOTONIC, CALLS,
						   CALLS_SLACK, on_calls, events);
	return error < 0 ? xb_system_error(-error, "cannot set a timer") : 0;
}

int events_start(struct agent *agent, struct events **out)
{
	struct events *events = calloc(1, sizeof(*events));
	int error;

	*out = events;
	if (!events)
		return xb_out_of_memory();
	events->agent = agent;
	events->busy = AGENT_RETRY;
	error = netevents_start(agent->loop, on_network, events, &events->net);
	if (!error)
		error = watch_servers(events);
	if (!error)
		error = watch_pins(events);
	return error ? error : add_timers(events);
}

void events_stop(struct events *events)
{
	if (!events)
		return;
	netevents_stop(events->net);
	for (size_t i = 0; i < events->server_count; i++)
		pathevents_stop(&events->servers[i]);
	for (size_t i = 0; i < PINS; i++)
		pathevents_stop(&events->pins[i]);
	sd_event_source_disable_unref(events->soon);
	sd_event_source_disable_unref(events->always);
	sd_event_source_disable_unref(events->calls);
	free(events->servers);
	free(events);
}
