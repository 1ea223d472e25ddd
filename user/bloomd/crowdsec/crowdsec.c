/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The server has a cursor for each key, and moves it when it answers: what it has answered does not
 * come again. So from a request until its changes are durable, nothing is known, and after any
 * failure all decisions are asked for.
 */
#include "bloomd/crowdsec/crowdsec.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/patience.h"
#include "bloomd/base/helper.h"
#include "bloomd/base/log.h"
#include "bloomd/crowdsec/csanswer.h"
#include "bloomd/crowdsec/csplan.h"
#include "bloomd/crowdsec/csstate.h"
#include "bloomd/crowdsec/cswork.h"
#include "bloomd/crowdsec/usage.h"
#include "bloomd/feeds/fetcher.h"
#include "engine/peercause.h"
#include "engine/tallies.h"

#define MS	 1000ULL    /* us */
#define SECOND	 1000000ULL /* us */
#define PATIENCE 120	    /* seconds that the changes wait for other writers */

/* Of a million bans some end all the time, and then all are looked up: that takes up to one of so
 * many parts of the time. */
#define LOOK_SHARE 20

struct crowdsec {
	struct agent *agent;
	const struct crowdsec_config *config;
	struct csstate state;
	sd_event_source *timer, *worker;
	struct fetcher *fetcher;
	struct usage *usage;
	pid_t child; /* 0: there is none */
	struct cswork_outcome *outcome;
	struct bans bans; /* in force */
	bool known;	  /* the server goes on from there */
	bool asked;	  /* somebody wants all decisions */
	uint64_t resync;  /* when all are asked for, agent_clock() */
	const char *cause;
	uint64_t look;	/* when the list may be compared again, agent_clock() */
	int64_t wall;	/* the time of day less that since the boot, when it was looked at; us */
	bool clock_set; /* since all decisions came last */
	/* Of the present request. */
	bool hurried;
	bool whole;
	int after; /* file in which the worker says what is banned then; -1: none */
};

static uint32_t random_number(void)
{
	uint32_t random = 0;

	getrandom(&random, sizeof(random), 0);
	return random;
}

static void sleep_for(struct crowdsec *crowdsec, uint64_t delay)
{
	sd_event_source_set_time_relative(crowdsec->timer, delay);
	sd_event_source_set_enabled(crowdsec->timer, SD_EVENT_ONESHOT);
}

static bool is_sleeping(const struct crowdsec *crowdsec)
{
	return !crowdsec->fetcher && !crowdsec->child;
}

/* --- the end of a request --- */

static void drop_after(struct crowdsec *crowdsec)
{
	if (crowdsec->after >= 0)
		close(crowdsec->after);
	crowdsec->after = -1;
}

/* Plans the next request. */
static void end(struct crowdsec *crowdsec, uint32_t retry_after)
{
	const struct xb_feed_state *state = &crowdsec->state.now;
	struct csplan plan = {.every = crowdsec->config->every,
			      .failures = (uint32_t)state->failures,
			      .refused = state->status / 100 == 4,
			      .retry_after = retry_after};
	uint64_t delay = csplan_delay(&plan, random_number());

	if (crowdsec->hurried)
		delay = 0;
	drop_after(crowdsec);
	sleep_for(crowdsec, delay * MS);
	csstate_save(&crowdsec->state, delay);
}

static void end_badly(struct crowdsec *crowdsec, const char *outcome, const char *message,
		      uint32_t retry_after)
{
	crowdsec->cause = "failure";
	csstate_failed(&crowdsec->state, outcome, message);
	end(crowdsec, retry_after);
}

/* The answer is in force. */
static void end_well(struct crowdsec *crowdsec)
{
	crowdsec->known = true;
	if (crowdsec->whole) {
		crowdsec->resync = agent_clock() +
				   MS * csplan_resync(crowdsec->config->resync, random_number());
		crowdsec->clock_set = false;
	}
	csstate_answered(&crowdsec->state, crowdsec->outcome, crowdsec->whole);
	end(crowdsec, 0);
	usage_ready(crowdsec->usage);
}

/* --- an answer --- */

static _Noreturn void work(struct crowdsec *crowdsec, int body)
{
	struct cswork work = {.paths = &crowdsec->agent->paths,
			      .config = crowdsec->agent->config,
			      .before = &crowdsec->bans,
			      .state = &crowdsec->state.now,
			      .whole = crowdsec->whole,
			      .exact = crowdsec->clock_set,
			      .looks = agent_clock() >= crowdsec->look,
			      .body = body,
			      .after = crowdsec->after,
			      .outcome = crowdsec->outcome};

	xb_patience_set(PATIENCE);
	cswork_run(&work);
	_exit(0);
}

static void tell_changes(const struct crowdsec *crowdsec)
{
	const struct cswork_outcome *outcome = crowdsec->outcome;

	if (*outcome->message)
		xb_warning("crowdsec: %s", outcome->message);
	if (outcome->added || outcome->removed || outcome->renewed)
		log_info("crowdsec%s: %" PRIu64 " entries added, %" PRIu64 " removed, %" PRIu64
			 " renewed; %" PRIu64 " in list %s",
			 crowdsec->whole ? ", all decisions" : "", outcome->added, outcome->removed,
			 outcome->renewed, outcome->members,
			 crowdsec_config_list(crowdsec->config));
}

/* From now on that is known which the worker knew last. */
static int take_over(struct crowdsec *crowdsec)
{
	struct bans after;
	int error;

	if (crowdsec->outcome->same)
		return 0;
	error = bans_load(crowdsec->after, &after);
	if (error)
		return error;
	bans_free(&crowdsec->bans);
	crowdsec->bans = after;
	return 0;
}

static int on_worked(sd_event_source *source, const siginfo_t *info, void *context)
{
	struct crowdsec *crowdsec = context;
	const struct cswork_outcome *outcome = crowdsec->outcome;
	char text[64];

	(void)source;
	crowdsec->worker = sd_event_source_disable_unref(crowdsec->worker);
	crowdsec->child = 0;
	if (!outcome->done) {
		snprintf(text, sizeof(text), "the process ended with %s %d",
			 info->si_code == CLD_EXITED ? "code" : "signal", info->si_status);
		end_badly(crowdsec, XB_FEED_FAILED, *outcome->message ? outcome->message : text, 0);
		return 0;
	}
	tell_changes(crowdsec);
	if (outcome->look_time)
		crowdsec->look = agent_clock() + LOOK_SHARE * outcome->look_time;
	if (take_over(crowdsec))
		end_badly(crowdsec, XB_FEED_FAILED, xb_error_message(), 0);
	else
		end_well(crowdsec);
	return 0;
}

static void end_child(struct crowdsec *crowdsec)
{
	crowdsec->worker = sd_event_source_disable_unref(crowdsec->worker);
	if (crowdsec->child > 0) {
		kill(crowdsec->child, SIGKILL);
		waitpid(crowdsec->child, NULL, 0);
	}
	crowdsec->child = 0;
}

/* Of the last outcome stay how many are banned, and the mark of the list. */
static void begin_outcome(struct crowdsec *crowdsec)
{
	struct cswork_outcome fresh = {.entries = crowdsec->outcome->entries, .same = true};

	memcpy(fresh.stamp, crowdsec->outcome->stamp, sizeof(fresh.stamp));
	*crowdsec->outcome = fresh;
}

static void start_work(struct crowdsec *crowdsec, int body)
{
	crowdsec->after = helper_file("decisions");
	if (crowdsec->after < 0) {
		end_badly(crowdsec, XB_FEED_FAILED, xb_error_message(), 0);
		return;
	}
	crowdsec->child = agent_fork(crowdsec->agent);
	if (!crowdsec->child)
		work(crowdsec, body);
	if (crowdsec->child > 0 &&
	    sd_event_add_child(crowdsec->agent->loop, &crowdsec->worker, crowdsec->child, WEXITED,
			       on_worked, crowdsec) >= 0)
		return;
	end_child(crowdsec);
	end_badly(crowdsec, XB_FEED_FAILED, "no process can be started", 0);
}

/* Whether the answer changes nothing, and there is nothing to do for the list either. */
static bool is_settled(const struct crowdsec *crowdsec, int body)
{
	return !crowdsec->whole && !*crowdsec->state.now.left && csanswer_is_empty(body) &&
	       (agent_clock() < crowdsec->look ||
		cswork_is_as_left(&crowdsec->agent->paths, crowdsec_config_list(crowdsec->config),
				  &crowdsec->bans, crowdsec->outcome->stamp));
}

static void end_without_answer(struct crowdsec *crowdsec, const struct fetch_result *result)
{
	char why[XB_FEED_TEXT];

	snprintf(why, sizeof(why), "%s", result->detail);
	if (fetcher_missed(result) && !crowdsec->config->socket) {
		agent_missed_server(crowdsec->agent);
		xb_peer_cause(&crowdsec->agent->paths, crowdsec->config->url, result->detail, why,
			      sizeof(why));
	}
	end_badly(crowdsec, fetcher_outcome(result->outcome), why, result->retry_after);
}

static void on_answer(void *context, const struct fetched *fetched)
{
	const struct fetch_result *result = &fetched->result;
	struct crowdsec *crowdsec = context;

	crowdsec->state.now.status = result->status;
	if (result->outcome != FETCH_TAKEN) {
		fetcher_stop(crowdsec->fetcher);
		crowdsec->fetcher = NULL;
		end_without_answer(crowdsec, result);
		return;
	}
	begin_outcome(crowdsec);
	if (is_settled(crowdsec, fetched->body))
		end_well(crowdsec);
	else
		start_work(crowdsec, fetched->body);
	close(fetched->body);
	fetcher_stop(crowdsec->fetcher);
	crowdsec->fetcher = NULL;
}

/* --- asking --- */

static int64_t time_of(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * (int64_t)SECOND + now.tv_nsec / 1000;
}

/* By a clock that was set, bans have ended early or end late, and no longer as the server means. */
static void look_at_clock(struct crowdsec *crowdsec)
{
	int64_t wall = time_of(CLOCK_REALTIME) - time_of(CLOCK_BOOTTIME);

	if (llabs(wall - crowdsec->wall) > BANS_SLACK * (int64_t)SECOND)
		crowdsec->clock_set = true;
	crowdsec->wall = wall;
}

static const char *cause_to_resync(const struct crowdsec *crowdsec)
{
	if (!crowdsec->known)
		return crowdsec->cause;
	if (crowdsec->clock_set)
		return "clock";
	if (crowdsec->asked)
		return "asked";
	return agent_clock() >= crowdsec->resync ? "period" : NULL;
}

static int ask(struct crowdsec *crowdsec)
{
	struct fetch_request *request = malloc(sizeof(*request));
	int error;

	if (!request)
		return xb_out_of_memory();
	crowdsec_config_ask(crowdsec->config, request);
	request->kind = FETCH_DECISIONS;
	crowdsec_config_stream(crowdsec->config, crowdsec->whole, request->url);
	error = fetcher_ask(crowdsec->agent, request, on_answer, crowdsec, &crowdsec->fetcher);
	free(request);
	return error;
}

static int on_time(sd_event_source *source, uint64_t time, void *context)
{
	struct crowdsec *crowdsec = context;
	const char *cause;

	(void)source;
	(void)time;
	look_at_clock(crowdsec);
	cause = cause_to_resync(crowdsec);
	crowdsec->whole = cause;
	if (cause)
		xb_tally_add(&crowdsec->agent->paths, XB_TALLY_CROWDSEC_RESYNCS, cause, NULL, 1);
	crowdsec->asked = crowdsec->hurried = crowdsec->known = false;
	if (ask(crowdsec)) {
		crowdsec->state.now.status = 0;
		end_badly(crowdsec, XB_FEED_FAILED, xb_error_message(), 0);
	}
	return 0;
}

bool crowdsec_update(struct crowdsec *crowdsec, const char *name)
{
	if (!crowdsec || (name && strcmp(name, CONFIG_CROWDSEC) != 0))
		return false;
	crowdsec->asked = true;
	if (is_sleeping(crowdsec))
		sleep_for(crowdsec, 0);
	else
		crowdsec->hurried = true;
	return true;
}

/* --- start and end --- */

static void show_counters(const struct xb_paths *paths)
{
	static const char *const causes[] = {"start", "failure", "clock", "period", "asked"};

	for (size_t i = 0; i < sizeof(causes) / sizeof(causes[0]); i++)
		xb_tally_add(paths, XB_TALLY_CROWDSEC_RESYNCS, causes[i], NULL, 0);
	csanswer_show_counters(paths);
}

static int prepare(struct crowdsec *crowdsec, const struct xb_feed_state *former)
{
	struct agent *agent = crowdsec->agent;
	int error;

	crowdsec->outcome = mmap(NULL, sizeof(*crowdsec->outcome), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (crowdsec->outcome == MAP_FAILED) {
		crowdsec->outcome = NULL;
		return xb_out_of_memory();
	}
	error = sd_event_add_time_relative(agent->loop, &crowdsec->timer, CLOCK_BOOTTIME, 0,
					   SECOND / 20, on_time, crowdsec);
	if (error < 0)
		return xb_system_error(-error, "cannot make a timer");
	csstate_open(&crowdsec->state, &agent->paths, crowdsec->config, former);
	show_counters(&agent->paths);
	return crowdsec->config->silent
		       ? 0
		       : usage_start(agent, crowdsec->config, &crowdsec->bans, &crowdsec->usage);
}

static int start(struct agent *agent, const struct xb_feed_state *former, struct crowdsec **out)
{
	const struct crowdsec_config *config = agent->config->crowdsec;
	struct crowdsec *crowdsec;
	int error;

	*out = NULL;
	if (!config)
		return 0;
	crowdsec = calloc(1, sizeof(*crowdsec));
	if (!crowdsec)
		return xb_out_of_memory();
	crowdsec->agent = agent;
	crowdsec->config = config;
	crowdsec->after = -1;
	crowdsec->wall = time_of(CLOCK_REALTIME) - time_of(CLOCK_BOOTTIME);
	crowdsec->cause = "start";
	error = prepare(crowdsec, former);
	if (error) {
		crowdsec_stop(crowdsec);
		return error;
	}
	*out = crowdsec;
	return 0;
}

int crowdsec_start(struct agent *agent, struct crowdsec **crowdsec)
{
	return start(agent, NULL, crowdsec);
}

/* The changes end with this process: they are made as a whole, or not at all. */
void crowdsec_stop(struct crowdsec *crowdsec)
{
	if (!crowdsec)
		return;
	usage_stop(crowdsec->usage);
	fetcher_stop(crowdsec->fetcher);
	end_child(crowdsec);
	sd_event_source_disable_unref(crowdsec->timer);
	drop_after(crowdsec);
	bans_free(&crowdsec->bans);
	if (crowdsec->outcome)
		munmap(crowdsec->outcome, sizeof(*crowdsec->outcome));
	free(crowdsec);
}

/* A list that the worker leaves may be another section's by now. */
static void stand_back(struct crowdsec *crowdsec)
{
	if (!crowdsec->child || !*crowdsec->state.now.left)
		return;
	end_child(crowdsec);
	drop_after(crowdsec);
	crowdsec->cause = "failure";
	sleep_for(crowdsec, 0);
}

int crowdsec_reload(struct agent *agent, struct crowdsec **crowdsec)
{
	const struct crowdsec_config *config = agent->config->crowdsec;
	struct xb_feed_state former = {0};

	if (*crowdsec && config && crowdsec_config_is_same((*crowdsec)->config, config)) {
		(*crowdsec)->config = config;
		usage_moved((*crowdsec)->usage, config);
		stand_back(*crowdsec);
		return 0;
	}
	if (*crowdsec)
		former = (*crowdsec)->state.now;
	/* What it has listed goes with the section, whatever became of its file. */
	if (*crowdsec && !config && xb_feed_state_write(agent->paths.state, &former))
		log_error("crowdsec");
	crowdsec_stop(*crowdsec);
	return start(agent, *former.name ? &former : NULL, crowdsec);
}
