/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/api/group.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/error.h"
#include "bloomd/api/command.h"
#include "bloomd/base/log.h"
#include "engine/tallies.h"
#include "store/expiry.h"

#define READ_TIME   10000   /* us: so long a turn answers requests that only read */
#define WAIT_MOST   5000000 /* us: a write does not wait longer for others */
#define PHASES_MOST 64	    /* times that a client changes from reading to writing, in a group */
#define READS_MOST  256	    /* requests of a client that do not write, in a group */
#define READ_WORDS  64	    /* of such a request */
#define WORDS_MOST  131072  /* of a group, about */
#define TASKS_KEPT  2048    /* for which memory is kept */
#define SPLITS_MOST 32	    /* of groups that failed, in a turn */

/* A request in a group that writes. Those of a client stand one behind the other. */
struct task {
	struct client *client;
	struct client_request request;
	const struct command *command; /* NULL: none that it can call */
	bool writes;
	uint32_t phase;	     /* in each, what is written comes before what is read */
	const char *refused; /* why it changes nothing; NULL: it does */
	bool failed;	     /* its answer is an error */
	struct edit edit;
	size_t mark; /* of the first of its client: what was in its answers before */
};

struct group {
	struct agent *agent;
	struct clients *clients;
	struct cursors cursors;
	struct edits edits;
	struct xb_arena texts; /* of refusals */
	struct task *task;
	size_t count, room;
	uint64_t blocked_until; /* others are in the way of writes; us, monotonic */
	bool fails;		/* the last write did, and it was told */
	uint32_t splits;	/* in this turn */
	/* Requests of one kind in a row, to be added to the metrics at once. */
	const struct command *counted;
	bool counted_failed;
	uint64_t in_row;
	/* The snapshot of this turn. */
	struct xb_store *store;
	struct xb_txn *txn;
	uint32_t now;
	bool looked;	      /* it was opened, if it is there */
	char unreadable[512]; /* why it was not; "": it was */
};

static uint64_t monotonic(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* --- requests ----------------------------------------------------------------------------------
 */

static struct client_request next_request(const struct client *client, size_t after)
{
	return client->request[client->answered + after];
}

/* The command that the request can call here; NULL: there is none. */
static const struct command *find_command(struct client *client, struct client_request request)
{
	const struct resp_word *name = &client->resp.word[request.word];
	const struct command *command = command_find(client->in + name->at, name->size);

	if (!command || command->kind == COMMAND_REFUSED ||
	    !command_takes(command, request.words) ||
	    (client->reads_only && command->kind == COMMAND_WRITES))
		return NULL;
	return command;
}

static struct call call_of(struct group *group, struct client *client,
			   struct client_request request)
{
	return (struct call){.client = client,
			     .request = request,
			     .reply = &client->out,
			     .txn = group->txn,
			     .cursors = &group->cursors,
			     .now = group->now,
			     .may_allow = group->agent->config->api.allow,
			     .edits = &group->edits};
}

static void add_counted(struct group *group)
{
	if (group->in_row)
		xb_tally_add(&group->agent->paths, XB_TALLY_API_REQUESTS,
			     group->counted ? group->counted->name : "unknown",
			     group->counted_failed ? "error" : "ok", group->in_row);
	group->in_row = 0;
}

/* A command that cannot be called here counts as unknown. */
static void count_request(struct group *group, const struct command *command, bool failed)
{
	if (command != group->counted || failed != group->counted_failed)
		add_counted(group);
	group->counted = command;
	group->counted_failed = failed;
	group->in_row++;
}

static void note_answered(struct group *group, struct client *client)
{
	client->answered++;
	client->since = 0;
	group->clients->requests--;
	group->clients->served++;
}

/* --- what only reads ---------------------------------------------------------------------------
 */

static int open_store(struct group *group)
{
	uint64_t hidden;
	int error = xb_store_open(group->agent->paths.state, XB_STORE_READ, &group->store);

	if (error)
		return error == -ENOENT ? 0 : error;
	error = xb_store_read(group->store, &group->txn);
	return error ? error : xb_expiry_overlook(group->txn, group->now, &hidden);
}

static void close_snapshot(struct group *group)
{
	if (group->txn)
		xb_txn_abort(group->txn);
	if (group->store)
		xb_store_close(group->store);
	group->txn = NULL;
	group->store = NULL;
	group->looked = false;
}

static void open_snapshot(struct group *group)
{
	int error;

	if (group->looked)
		return;
	group->looked = true;
	group->now = (uint32_t)time(NULL);
	error = open_store(group);
	snprintf(group->unreadable, sizeof(group->unreadable), "%s",
		 error ? xb_error_message() : "");
}

static bool is_error(const struct client *client, size_t at)
{
	return client->out.size > at && client->out.bytes[at] == '-';
}

/* What does not write, in the snapshot of this turn. Returns whether the answer is an error. */
static bool answer_outside(struct group *group, struct client *client,
			   const struct command *command, struct client_request request)
{
	size_t at = client->out.size;
	struct call call;

	if (command && command->kind == COMMAND_READS)
		open_snapshot(group);
	call = call_of(group, client, request);
	if (!command)
		command_refuse(command_find(call_text(&call, 0), call_size(&call, 0)), &call);
	else if (command->kind == COMMAND_READS && group->unreadable[0])
		reply_error(&client->out, "ERR %s", group->unreadable);
	else
		command->answer(&call);
	return is_error(client, at);
}

/* Until the client writes, or has enough to read. False: the time is over. */
static bool answer_reads(struct group *group, struct client *client, uint64_t until)
{
	while (client_is_ready(client)) {
		struct client_request request = next_request(client, 0);
		const struct command *command = find_command(client, request);

		if (command && command->kind == COMMAND_WRITES)
			return true;
		count_request(group, command, answer_outside(group, client, command, request));
		note_answered(group, client);
		if (client->answered % 16 == 0 && monotonic() > until)
			return false;
	}
	return true;
}

static void finish_client(struct client *client)
{
	client_flush(client);
	client_settle(client);
}

/* So that nobody is kept waiting by one who asks for much. */
static void put_last(struct group *group, struct client *client)
{
	struct client_queue *waiting = &group->clients->waiting;

	TAILQ_REMOVE(waiting, client, waiting);
	TAILQ_INSERT_TAIL(waiting, client, waiting);
}

static bool writes_next(struct client *client)
{
	const struct command *command;

	if (!client_is_ready(client))
		return false;
	command = find_command(client, next_request(client, 0));
	return command && command->kind == COMMAND_WRITES;
}

static void read_all(struct group *group)
{
	uint64_t until = monotonic() + READ_TIME;
	struct client *client, *next;
	bool goes_on = true;

	for (client = TAILQ_FIRST(&group->clients->waiting); client && goes_on; client = next) {
		next = TAILQ_NEXT(client, waiting);
		goes_on = answer_reads(group, client, until);
		if (!goes_on)
			put_last(group, client);
		if (!writes_next(client))
			finish_client(client);
	}
	close_snapshot(group);
}

/* --- what writes -------------------------------------------------------------------------------
 */

static const char *keep_text(struct group *group, const char *text)
{
	const char *copy = xb_arena_copy(&group->texts, text, strlen(text) + 1);

	return copy ? copy : "out of memory";
}

static struct call call_task(struct group *group, struct task *task)
{
	struct call call = call_of(group, task->client, task->request);

	call.edit = &task->edit;
	call.number = (uint32_t)(task - group->task);
	return call;
}

static void plan(struct group *group, struct task *task)
{
	struct call call = call_task(group, task);

	task->edit = (struct edit){.first = (uint32_t)group->edits.count};
	if (task->command->plan(&call) >= 0)
		return;
	task->refused = keep_text(group, xb_error_message());
	edits_cancel(&group->edits, &task->edit);
}

/* Of one client: in which phase it is, and what it has that does not write. */
struct taking {
	uint32_t phase, others;
	bool reads;
};

static int take_task(struct group *group, struct client *client, struct client_request request,
		     const struct command *command, struct taking *taking)
{
	struct task *task;

	if (xb_array_grow(&group->task, &group->room, group->count + 1, sizeof(*group->task)))
		return -ENOMEM;
	task = &group->task[group->count++];
	*task = (struct task){.client = client,
			      .request = request,
			      .command = command,
			      .writes = command && command->kind == COMMAND_WRITES};
	taking->phase += task->writes && taking->reads;
	taking->reads = !task->writes;
	taking->others += !task->writes;
	task->phase = taking->phase;
	if (task->writes)
		plan(group, task);
	return 0;
}

/* What does not fit is for the next turn. */
static bool fits(const struct group *group, const struct client_request *request,
		 const struct command *command, const struct taking *taking)
{
	if (group->count >= GROUP_REQUESTS || group->edits.count >= WORDS_MOST)
		return false;
	if (command && command->kind == COMMAND_WRITES)
		return taking->phase + taking->reads < PHASES_MOST;
	return taking->others < READS_MOST && request->words <= READ_WORDS &&
	       !(command && command->alone);
}

static void take_client(struct group *group, struct client *client)
{
	struct taking taking = {0};

	for (size_t i = 0; i < client_pending(client); i++) {
		struct client_request request = next_request(client, i);
		const struct command *command = find_command(client, request);

		if (!fits(group, &request, command, &taking) ||
		    take_task(group, client, request, command, &taking))
			return;
	}
}

struct range {
	struct group *group;
	size_t first, end;
};

static bool begins_client(const struct range *range, size_t i)
{
	const struct task *task = range->group->task;

	return i == range->first || task[i].client != task[i - 1].client;
}

static void mark_answers(const struct range *range)
{
	for (size_t i = range->first; i < range->end; i++)
		if (begins_client(range, i))
			range->group->task[i].mark = range->group->task[i].client->out.size;
}

static void take_back_answers(const struct range *range)
{
	for (size_t i = range->first; i < range->end; i++)
		if (begins_client(range, i))
			range->group->task[i].client->out.size = range->group->task[i].mark;
}

static const struct edit *find_edit(const void *all, uint32_t number)
{
	const struct group *group = all;

	return &group->task[number].edit;
}

static int write_phase(const struct range *range, uint32_t phase, struct xb_writer *writer)
{
	struct group *group = range->group;
	int error = 0;

	edits_begin(&group->edits);
	for (size_t i = range->first; !error && i < range->end; i++) {
		struct task *task = &group->task[i];

		if (task->writes && !task->refused && task->phase == phase)
			error = edits_gather(&group->edits, writer, &task->edit);
	}
	return error ? error : edits_apply(&group->edits, writer, find_edit, group);
}

/* In the transaction. */
static void answer_task(struct group *group, struct task *task, const struct xb_writer *writer)
{
	struct call call = call_task(group, task);
	size_t at = task->client->out.size;

	call.txn = writer->txn;
	call.now = writer->now;
	if (!task->command)
		command_refuse(command_find(call_text(&call, 0), call_size(&call, 0)), &call);
	else if (task->refused)
		reply_error(&task->client->out, "ERR %s", task->refused);
	else
		task->command->answer(&call);
	task->failed = is_error(task->client, at);
}

static uint32_t count_phases(const struct range *range)
{
	uint32_t last = 0;

	for (size_t i = range->first; i < range->end; i++)
		if (range->group->task[i].phase > last)
			last = range->group->task[i].phase;
	return last + 1;
}

static int body(struct xb_writer *writer, void *context)
{
	const struct range *range = context;
	uint32_t phases = count_phases(range);
	int error = 0;

	take_back_answers(range);
	for (uint32_t phase = 0; !error && phase < phases; phase++) {
		error = write_phase(range, phase, writer);
		for (size_t i = range->first; !error && i < range->end; i++)
			if (range->group->task[i].phase == phase)
				answer_task(range->group, &range->group->task[i], writer);
	}
	return error;
}

/* Writes get an error of this code instead of an answer; the rest is answered. */
static void answer_failed(const struct range *range, const char *code, const char *message)
{
	struct group *group = range->group;

	for (size_t i = range->first; i < range->end; i++) {
		struct task *task = &group->task[i];
		struct reply *out = &task->client->out;

		task->failed = true;
		if (!task->writes)
			task->failed =
				answer_outside(group, task->client, task->command, task->request);
		else if (task->refused)
			reply_error(out, "ERR %s", task->refused);
		else
			reply_error(out, "%s %s", code, message);
	}
	close_snapshot(group);
}

static void note_all_answered(const struct range *range)
{
	for (size_t i = range->first; i < range->end; i++) {
		struct task *task = &range->group->task[i];

		count_request(range->group, task->command, task->failed);
		note_answered(range->group, task->client);
	}
}

/* Others are in the way: what has waited long enough is answered. */
static void give_up_late(const struct range *range)
{
	uint64_t now = monotonic();
	const char *message = keep_text(range->group, xb_error_message());

	for (size_t i = range->first; i < range->end; i++) {
		struct range one = {range->group, i, i + 1};
		struct client *client = range->group->task[i].client;

		if (!client->since)
			client->since = now;
		if (now - client->since < WAIT_MOST)
			continue;
		while (one.end < range->end && range->group->task[one.end].client == client)
			one.end++;
		answer_failed(&one, "TRYAGAIN", message);
		note_all_answered(&one);
		i = one.end - 1;
	}
	range->group->blocked_until = now + AGENT_RETRY;
}

static int write_range(const struct range *range);

/* Some request is the cause: the others are not to suffer from it. */
static int write_halves(const struct range *range)
{
	size_t middle = range->first + (range->end - range->first) / 2;
	int error = write_range(&(struct range){range->group, range->first, middle});

	return error ? error : write_range(&(struct range){range->group, middle, range->end});
}

/* What the machine cannot do is told once, until it can. */
static void tell_failure(struct group *group, int error)
{
	bool fails = error && xb_error_class() == XB_ERROR_SYSTEM;

	if (fails && !group->fails)
		log_error("cannot make a change that came by the socket");
	group->fails = fails;
}

/* Returns an error only if others are in the way. */
static int write_range(const struct range *range)
{
	struct group *group = range->group;
	struct agent *agent = group->agent;
	char message[512];
	int error;

	mark_answers(range);
	error = xb_write(&agent->paths, 0, body, (void *)(uintptr_t)range, &agent->written);
	snprintf(message, sizeof(message), "%s", error ? xb_error_message() : "");
	if (error)
		take_back_answers(range);
	if (agent_is_busy(error)) {
		give_up_late(range);
		return error;
	}
	if (error && error != XB_UNMET && range->end - range->first > 1 &&
	    group->splits < SPLITS_MOST) {
		group->splits++;
		return write_halves(range);
	}
	tell_failure(group, error);
	if (error) {
		answer_failed(range, error == XB_UNMET ? "UNENFORCED" : "ERR", message);
	}
	note_all_answered(range);
	if (!error || error == XB_UNMET)
		agent_wrote(agent);
	return 0;
}

static void finish_clients(struct group *group)
{
	struct client *last = NULL;

	for (size_t i = 0; i < group->count; i++) {
		struct client *client = group->task[i].client;

		if (client == last)
			continue;
		last = client;
		put_last(group, client);
		finish_client(client);
	}
}

static void write_all(struct group *group)
{
	struct range range = {group, 0, 0};
	struct client *client;

	group->splits = 0;
	group->count = 0;
	group->now = (uint32_t)time(NULL);
	TAILQ_FOREACH(client, &group->clients->waiting, waiting)
	if (writes_next(client))
		take_client(group, client);
	range.end = group->count;
	if (range.end)
		write_range(&range);
	finish_clients(group);
	edits_clear(&group->edits);
	xb_arena_free(&group->texts);
	if (group->room <= TASKS_KEPT)
		return;
	free(group->task);
	group->task = NULL;
	group->room = 0;
}

uint64_t group_turn(struct group *group)
{
	uint64_t now;
	bool reads = false;
	struct client *client;

	read_all(group);
	if (monotonic() >= group->blocked_until)
		write_all(group);
	add_counted(group);
	now = monotonic();
	TAILQ_FOREACH(client, &group->clients->waiting, waiting)
	reads |= !writes_next(client);
	if (TAILQ_EMPTY(&group->clients->waiting))
		return GROUP_IDLE;
	return reads || group->blocked_until <= now ? 0 : group->blocked_until - now;
}

int group_start(struct agent *agent, struct clients *clients, struct group **out)
{
	struct group *group = calloc(1, sizeof(*group));

	*out = group;
	if (!group)
		return xb_out_of_memory();
	group->agent = agent;
	group->clients = clients;
	return 0;
}

void group_stop(struct group *group)
{
	if (!group)
		return;
	cursors_free(&group->cursors);
	edits_free(&group->edits);
	xb_arena_free(&group->texts);
	free(group->task);
	free(group);
}
