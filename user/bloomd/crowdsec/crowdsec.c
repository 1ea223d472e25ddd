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
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/patience.h"
#include "bloomd/base/log.h"
#include "bloomd/crowdsec/csplan.h"
#include "bloomd/crowdsec/cswork.h"
#include "bloomd/crowdsec/usage.h"
#include "bloomd/feeds/feedtally.h"
#include "bloomd/feeds/fetcher.h"
#include "engine/tallies.h"

#define MS	   1000ULL    /* us */
#define SECOND	   1000000ULL /* us */
#define PATIENCE   120	      /* seconds that the changes wait for other writers */
#define SAVE_AFTER 60	      /* seconds: a state in which only times have changed */

struct crowdsec {
	struct agent *agent;
	const struct crowdsec_config *config;
	struct xb_feed_state state;
	int64_t saved; /* when the state was written */
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
	/* Of the present request. */
	bool whole, hurried;
	struct ban_answer answer;
	struct bans next;
	struct ban_changes changes;
	const char *guard; /* that refused a part of it; "": none */
	char why[XB_FEED_TEXT];
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

static void forget_answer(struct crowdsec *crowdsec)
{
	ban_answer_free(&crowdsec->answer);
	bans_free(&crowdsec->next);
	free(crowdsec->changes.item);
	crowdsec->changes = (struct ban_changes){0};
}

/* --- the end of a request --- */

static uint64_t live_entries(const struct crowdsec *crowdsec, uint32_t now)
{
	const struct bans *bans = &crowdsec->bans;
	const struct xb_entry *last = NULL;
	uint64_t count = 0;

	for (size_t i = 0; i < bans->count; i++) {
		const struct ban *ban = &bans->item[i];

		if (ban->until <= now || (last && !xb_entry_compare(last, &ban->entry)))
			continue;
		last = &ban->entry;
		count++;
	}
	return count;
}

/* Once for a row of failures of one kind. */
static void tell(const struct xb_feed_state *before, const struct xb_feed_state *state)
{
	bool well = xb_feed_is_well(state);

	if (well && *before->outcome && !xb_feed_is_well(before))
		log_info("crowdsec works again");
	if (!well && (strcmp(before->outcome, state->outcome) != 0 ||
		      strcmp(before->guard, state->guard) != 0))
		xb_warning("crowdsec: %s%s%s: %s; what is listed stays until its time",
			   state->outcome, *state->guard ? " by " : "", state->guard,
			   state->message);
}

/* The state is a file that is made durable; whoever polls every ten seconds must not write it each
 * time. */
static void save(struct crowdsec *crowdsec, const struct xb_feed_state *before)
{
	struct xb_feed_state *state = &crowdsec->state;
	bool changed = strcmp(before->outcome, state->outcome) != 0 ||
		       strcmp(before->guard, state->guard) != 0 ||
		       strcmp(before->message, state->message) != 0 ||
		       before->status != state->status || before->entries != state->entries;

	if (!changed && state->last_attempt - crowdsec->saved < SAVE_AFTER &&
	    state->last_attempt >= crowdsec->saved)
		return;
	crowdsec->saved = state->last_attempt;
	if (xb_feed_state_write(crowdsec->agent->paths.state, state))
		log_error("crowdsec");
}

static void count(struct crowdsec *crowdsec, const char *outcome, bool refused)
{
	struct xb_feed_state counted = crowdsec->state;

	snprintf(counted.outcome, sizeof(counted.outcome), "%s", outcome);
	if (!refused)
		counted.guard[0] = '\0';
	feed_tally_count(&crowdsec->agent->paths, &counted);
}

static void plan_next(struct crowdsec *crowdsec, uint32_t retry_after)
{
	struct xb_feed_state *state = &crowdsec->state;
	struct csplan plan = {.every = crowdsec->config->every,
			      .failures = (uint32_t)state->failures,
			      .refused = state->status / 100 == 4,
			      .retry_after = retry_after};
	uint64_t delay = csplan_delay(&plan, random_number());

	if (crowdsec->hurried)
		delay = 0;
	state->next_fetch = state->last_attempt + (int64_t)(delay / 1000);
	sleep_for(crowdsec, delay * MS);
}

static void set_outcome(struct xb_feed_state *state, const char *outcome, const char *guard,
			const char *message)
{
	snprintf(state->outcome, sizeof(state->outcome), "%s", outcome);
	snprintf(state->guard, sizeof(state->guard), "%s", guard);
	snprintf(state->message, sizeof(state->message), "%.*s", XB_FEED_TEXT - 1, message);
}

static void end_badly(struct crowdsec *crowdsec, const char *outcome, const char *message,
		      uint32_t retry_after)
{
	struct xb_feed_state before = crowdsec->state, *state = &crowdsec->state;

	set_outcome(state, outcome, "", message);
	state->failures++;
	state->last_attempt = time(NULL);
	crowdsec->cause = "failure";
	count(crowdsec, outcome, false);
	tell(&before, state);
	forget_answer(crowdsec);
	plan_next(crowdsec, retry_after);
	save(crowdsec, &before);
}

/* The answer is in force; what a guard has kept back is told until a whole answer passes it. */
static void end_well(struct crowdsec *crowdsec)
{
	struct xb_feed_state before = crowdsec->state, *state = &crowdsec->state;
	const char *outcome = crowdsec->changes.count ? XB_FEED_UPDATED : XB_FEED_UNCHANGED;
	bool refused = *crowdsec->guard;

	bans_free(&crowdsec->bans);
	crowdsec->bans = crowdsec->next;
	crowdsec->next = (struct bans){0};
	crowdsec->known = true;
	if (crowdsec->whole)
		crowdsec->resync = agent_clock() +
				   MS * csplan_resync(crowdsec->config->resync, random_number());
	state->failures = 0;
	state->last_attempt = time(NULL);
	state->entries = (int64_t)live_entries(crowdsec, (uint32_t)state->last_attempt);
	if (refused)
		set_outcome(state, XB_FEED_REFUSED, crowdsec->guard, crowdsec->why);
	else if (crowdsec->whole || strcmp(state->outcome, XB_FEED_REFUSED) != 0)
		set_outcome(state, outcome, "", crowdsec->why);
	if (xb_feed_is_well(state)) {
		state->last_success = state->last_attempt;
		if (crowdsec->changes.count)
			state->last_import = state->content_time = state->last_attempt;
	}
	count(crowdsec, refused ? XB_FEED_REFUSED : outcome, refused);
	tell(&before, state);
	forget_answer(crowdsec);
	plan_next(crowdsec, 0);
	save(crowdsec, &before);
	usage_ready(crowdsec->usage);
}

/* --- what an answer changes --- */

static int merge(struct crowdsec *crowdsec, unsigned int takes)
{
	if (crowdsec->whole)
		takes |= BANS_WHOLE;
	bans_free(&crowdsec->next);
	free(crowdsec->changes.item);
	return bans_merge(&crowdsec->bans, &crowdsec->answer, (uint32_t)time(NULL), takes,
			  &crowdsec->next, &crowdsec->changes);
}

static void refuse(struct crowdsec *crowdsec, const char *guard)
{
	crowdsec->guard = guard;
}

/* Whether what would be banned is too much to be meant. */
static bool is_too_much(struct crowdsec *crowdsec)
{
	const struct crowdsec_config *config = crowdsec->config;
	size_t entries = bans_entries(&crowdsec->next);
	double share;

	if (entries > config->most_entries) {
		refuse(crowdsec, "max-entries");
		snprintf(crowdsec->why, sizeof(crowdsec->why),
			 "%zu entries, and max-entries is %" PRIu64 "; no more are added", entries,
			 config->most_entries);
		return true;
	}
	share = crowdsec->answer.added.count ? bans_share(&crowdsec->next) : 0;
	if (share <= config->share)
		return false;
	refuse(crowdsec, "max-share");
	snprintf(crowdsec->why, sizeof(crowdsec->why),
		 "it bans %.3g%% of all addresses, and max-share is %.3g%%; no more are added",
		 share * 100, config->share * 100);
	return true;
}

static void show_left_out(struct crowdsec *crowdsec)
{
	const struct fetch_left_out *left_out = &crowdsec->answer.left_out;
	const struct {
		const char *why;
		uint64_t count;
	} parts[] = {{"type", left_out->other_type},
		     {"scope", left_out->other_scope},
		     {"unreadable", left_out->unreadable},
		     {"too-wide", crowdsec->answer.too_wide}};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		xb_tally_add(&crowdsec->agent->paths, XB_TALLY_CROWDSEC_LEFT_OUT, parts[i].why,
			     NULL, parts[i].count);
	if (left_out->unreadable || crowdsec->answer.too_wide)
		xb_warning("crowdsec: %" PRIu64 " bans left out because they are not understood, "
			   "%" PRIu64 " because they are too wide",
			   left_out->unreadable, crowdsec->answer.too_wide);
}

static _Noreturn void work(struct crowdsec *crowdsec)
{
	struct cswork work = {.paths = &crowdsec->agent->paths,
			      .config = crowdsec->config,
			      .changes = &crowdsec->changes,
			      .whole = crowdsec->whole,
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

/* The deletions were not carried out, so the decisions go on. */
static int take_back_deletions(struct crowdsec *crowdsec)
{
	snprintf(crowdsec->why, sizeof(crowdsec->why),
		 "%" PRIu64 " of %" PRIu64 " entries would go at once; they stay until their time, "
		 "unless max-change allows more",
		 crowdsec->outcome->held, crowdsec->outcome->members);
	refuse(crowdsec, "max-change");
	return merge(crowdsec, BANS_ADDED);
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
	if (outcome->held && take_back_deletions(crowdsec))
		end_badly(crowdsec, XB_FEED_FAILED, xb_error_message(), 0);
	else
		end_well(crowdsec);
	return 0;
}

static void start_work(struct crowdsec *crowdsec)
{
	*crowdsec->outcome = (struct cswork_outcome){0};
	crowdsec->child = agent_fork();
	if (!crowdsec->child)
		work(crowdsec);
	if (crowdsec->child > 0 &&
	    sd_event_add_child(crowdsec->agent->loop, &crowdsec->worker, crowdsec->child, WEXITED,
			       on_worked, crowdsec) >= 0)
		return;
	if (crowdsec->child > 0) {
		kill(crowdsec->child, SIGKILL);
		waitpid(crowdsec->child, NULL, 0);
	}
	crowdsec->child = 0;
	end_badly(crowdsec, XB_FEED_FAILED, "no process can be started", 0);
}

static int read_answer(struct crowdsec *crowdsec, int body)
{
	struct timespec now;
	struct stat about;
	void *bytes;
	int error;

	clock_gettime(CLOCK_REALTIME, &now);
	if (fstat(body, &about) || !about.st_size)
		return xb_system_error(0, "bloomd-fetch gave no valid decisions");
	bytes = mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, body, 0);
	if (bytes == MAP_FAILED)
		return xb_out_of_memory();
	error = ban_answer_read(bytes, (size_t)about.st_size,
				(int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000,
				&crowdsec->answer);
	munmap(bytes, (size_t)about.st_size);
	return error;
}

static int take_answer(struct crowdsec *crowdsec, int body)
{
	int error = read_answer(crowdsec, body);

	if (error)
		return error;
	show_left_out(crowdsec);
	error = merge(crowdsec, BANS_ADDED | BANS_DELETED);
	if (!error && is_too_much(crowdsec))
		error = merge(crowdsec, BANS_DELETED);
	return error;
}

static void on_answer(void *context, const struct fetched *fetched)
{
	const struct fetch_result *result = &fetched->result;
	struct crowdsec *crowdsec = context;
	int error;

	crowdsec->state.status = result->status;
	if (result->outcome != FETCH_TAKEN) {
		fetcher_stop(crowdsec->fetcher);
		crowdsec->fetcher = NULL;
		end_badly(crowdsec, fetcher_outcome(result->outcome), result->detail,
			  result->retry_after);
		return;
	}
	error = take_answer(crowdsec, fetched->body);
	close(fetched->body);
	fetcher_stop(crowdsec->fetcher);
	crowdsec->fetcher = NULL;
	if (error)
		end_badly(crowdsec, XB_FEED_FAILED, xb_error_message(), 0);
	else if (crowdsec->changes.count)
		start_work(crowdsec);
	else
		end_well(crowdsec);
}

/* --- asking --- */

static const char *cause_to_resync(const struct crowdsec *crowdsec)
{
	if (!crowdsec->known)
		return crowdsec->cause;
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
	const char *cause = cause_to_resync(crowdsec);

	(void)source;
	(void)time;
	crowdsec->whole = cause;
	if (cause)
		xb_tally_add(&crowdsec->agent->paths, XB_TALLY_CROWDSEC_RESYNCS, cause, NULL, 1);
	crowdsec->asked = crowdsec->hurried = crowdsec->known = false;
	crowdsec->guard = "";
	crowdsec->why[0] = '\0';
	if (ask(crowdsec)) {
		crowdsec->state.status = 0;
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

/* So that `bloomctl feeds` shows it before the first answer, and its removal does as it says now.
 */
static void note(struct crowdsec *crowdsec)
{
	struct xb_feed_state *state = &crowdsec->state;
	const struct crowdsec_config *config = crowdsec->config;

	snprintf(state->list, sizeof(state->list), "%s", crowdsec_config_list(config));
	state->period = config->every;
	state->flush = config->flush;
	state->next_fetch = time(NULL);
	if (xb_feed_state_write(crowdsec->agent->paths.state, state))
		log_error("crowdsec");
	feed_tally_show(&crowdsec->agent->paths, state);
}

static void show_counters(const struct crowdsec *crowdsec)
{
	static const char *const reasons[] = {"type", "scope", "unreadable", "too-wide"};
	static const char *const causes[] = {"start", "failure", "period", "asked"};

	for (size_t i = 0; i < 4; i++) {
		xb_tally_add(&crowdsec->agent->paths, XB_TALLY_CROWDSEC_LEFT_OUT, reasons[i], NULL,
			     0);
		xb_tally_add(&crowdsec->agent->paths, XB_TALLY_CROWDSEC_RESYNCS, causes[i], NULL,
			     0);
	}
}

static int prepare(struct crowdsec *crowdsec)
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
	if (xb_feed_state_read(agent->paths.state, CONFIG_CROWDSEC, &crowdsec->state))
		xb_error_clear();
	crowdsec->state.failures = 0;
	note(crowdsec);
	show_counters(crowdsec);
	return crowdsec->config->silent
		       ? 0
		       : usage_start(agent, crowdsec->config, &crowdsec->bans, &crowdsec->usage);
}

int crowdsec_start(struct agent *agent, struct crowdsec **out)
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
	crowdsec->cause = "start";
	crowdsec->guard = "";
	error = prepare(crowdsec);
	if (error) {
		crowdsec_stop(crowdsec);
		return error;
	}
	*out = crowdsec;
	return 0;
}

/* The changes end with this process: they are made as a whole, or not at all. */
void crowdsec_stop(struct crowdsec *crowdsec)
{
	if (!crowdsec)
		return;
	usage_stop(crowdsec->usage);
	fetcher_stop(crowdsec->fetcher);
	sd_event_source_disable_unref(crowdsec->worker);
	if (crowdsec->child > 0) {
		kill(crowdsec->child, SIGKILL);
		waitpid(crowdsec->child, NULL, 0);
	}
	sd_event_source_disable_unref(crowdsec->timer);
	forget_answer(crowdsec);
	bans_free(&crowdsec->bans);
	if (crowdsec->outcome)
		munmap(crowdsec->outcome, sizeof(*crowdsec->outcome));
	free(crowdsec);
}

int crowdsec_reload(struct agent *agent, struct crowdsec **crowdsec)
{
	const struct crowdsec_config *config = agent->config->crowdsec;

	if (*crowdsec && config && crowdsec_config_is_same((*crowdsec)->config, config)) {
		(*crowdsec)->config = config;
		usage_moved((*crowdsec)->usage, config);
		return 0;
	}
	crowdsec_stop(*crowdsec);
	return crowdsec_start(agent, crowdsec);
}
