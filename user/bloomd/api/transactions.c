/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/api/transactions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/socket.h>

#include "base/error.h"
#include "bloomd/base/log.h"

#define WAIT_MOST   5000000  /* us: a write does not wait longer for others */
#define SPLITS_MOST 32	     /* of groups that failed, in a turn */
#define QUIET	    60000000 /* us */

/* Of the tasks. */
struct range {
	struct transactions *all;
	size_t first, end;
};

static bool begins_client(const struct range *range, size_t i)
{
	const struct task *task = range->all->tasks->task;

	return i == range->first || task[i].client != task[i - 1].client;
}

static void mark_answers(const struct range *range)
{
	for (size_t i = range->first; i < range->end; i++)
		if (begins_client(range, i))
			range->all->tasks->task[i].mark =
				range->all->tasks->task[i].client->out.size;
}

static void take_back_answers(const struct range *range)
{
	for (size_t i = range->first; i < range->end; i++)
		if (begins_client(range, i))
			range->all->tasks->task[i].client->out.size =
				range->all->tasks->task[i].mark;
}

static const struct edit *find_edit(const void *all, uint32_t number)
{
	const struct tasks *tasks = all;

	return &tasks->task[number].edit;
}

static int write_phase(const struct range *range, uint32_t phase, struct xb_writer *writer)
{
	struct tasks *tasks = range->all->tasks;
	int error = 0;

	edits_begin(&tasks->edits);
	for (size_t i = range->first; !error && i < range->end; i++) {
		struct task *task = &tasks->task[i];

		if (task->writes && !task->refused && task->phase == phase)
			error = edits_gather(&tasks->edits, writer, &task->edit);
	}
	return error ? error : edits_apply(&tasks->edits, writer, find_edit, tasks);
}

/* In the transaction. */
static void answer_task(struct tasks *tasks, struct task *task, const struct xb_writer *writer)
{
	struct call call = tasks_call(tasks, task);
	size_t at = task->client->out.size;

	call.txn = writer->txn;
	call.txn->as_of = writer->now;
	call.now = writer->now;
	if (!task->command)
		command_refuse(command_find(call_text(&call, 0), call_size(&call, 0)), &call);
	else if (task->refused)
		reply_error(&task->client->out, "ERR %s", task->refused);
	else
		task->command->answer(&call);
	call.txn->as_of = 0;
	task->failed = turn_is_error(task->client, at);
}

static uint32_t count_phases(const struct range *range)
{
	uint32_t last = 0;

	for (size_t i = range->first; i < range->end; i++)
		if (range->all->tasks->task[i].phase > last)
			last = range->all->tasks->task[i].phase;
	return last + 1;
}

static int body(struct xb_writer *writer, void *context)
{
	const struct range *range = context;
	struct tasks *tasks = range->all->tasks;
	uint32_t phases = count_phases(range);
	int error = 0;

	take_back_answers(range);
	for (uint32_t phase = 0; !error && phase < phases; phase++) {
		error = write_phase(range, phase, writer);
		for (size_t i = range->first; !error && i < range->end; i++)
			if (tasks->task[i].phase == phase)
				answer_task(tasks, &tasks->task[i], writer);
	}
	return error;
}

/* Writes get an error of this code instead of an answer; the rest is answered. */
static void answer_failed(const struct range *range, const char *code, const char *message)
{
	struct turn *turn = range->all->turn;

	for (size_t i = range->first; i < range->end; i++) {
		struct task *task = &range->all->tasks->task[i];
		struct reply *out = &task->client->out;

		task->failed = true;
		if (!task->writes)
			turn_answer(turn, task->client, task->command, task->request, TURN_NEVER,
				    &task->failed);
		else if (task->refused)
			reply_error(out, "ERR %s", task->refused);
		else
			reply_error(out, "%s %s", code, message);
	}
	turn_close_snapshot(turn);
}

static void note_all_answered(const struct range *range)
{
	for (size_t i = range->first; i < range->end; i++) {
		struct task *task = &range->all->tasks->task[i];

		turn_note_answered(range->all->turn, task->client, task->command, task->failed);
	}
}

/* Others are in the way: what has waited long enough is answered. */
static void give_up_late(const struct range *range)
{
	uint64_t now = agent_clock();
	const char *message = tasks_keep_text(range->all->tasks, xb_error_message());

	for (size_t i = range->first; i < range->end; i++) {
		struct range one = {range->all, i, i + 1};
		struct client *client = range->all->tasks->task[i].client;

		if (!client->since)
			client->since = now;
		if (now - client->since < WAIT_MOST)
			continue;
		while (one.end < range->end && range->all->tasks->task[one.end].client == client)
			one.end++;
		answer_failed(&one, "TRYAGAIN", message);
		note_all_answered(&one);
		i = one.end - 1;
	}
	range->all->blocked_until = now + AGENT_RETRY;
}

static int write_range(const struct range *range);

/* Some request is the cause: the others are not to suffer from it. */
static int write_halves(const struct range *range)
{
	size_t middle = range->first + (range->end - range->first) / 2;
	int error = write_range(&(struct range){range->all, range->first, middle});

	return error ? error : write_range(&(struct range){range->all, middle, range->end});
}

/* On a full disk some changes still go, between others that do not: each minute is told of once. */
static void tell_failure(struct transactions *all, int error)
{
	uint64_t now = agent_clock();

	if (!error || xb_error_class() != XB_ERROR_SYSTEM || now < all->quiet_until)
		return;
	log_error("cannot make a change that came by the socket");
	all->quiet_until = now + QUIET;
}

/* For the log of changes. Returns text. */
static const char *say_clients(const struct range *range, char text[64])
{
	const struct client *first = NULL;
	struct ucred peer = {.uid = UINT32_MAX};
	socklen_t size = sizeof(peer);
	bool others = false;

	for (size_t i = range->first; i < range->end; i++) {
		const struct task *task = &range->all->tasks->task[i];

		others |= task->writes && first && task->client != first;
		if (task->writes && !first)
			first = task->client;
	}
	if (!first || getsockopt(first->fd, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		return "api";
	snprintf(text, 64, "api, uid %" PRIu32 "%s", peer.uid, others ? " and others" : "");
	return text;
}

/* Returns an error only if others are in the way. */
static int write_range(const struct range *range)
{
	struct transactions *all = range->all;
	struct agent *agent = all->turn->agent;
	char message[512], who[64];
	int error;

	mark_answers(range);
	agent_writes(agent, say_clients(range, who));
	error = xb_write(&agent->paths, XB_WRITE_BRIEF, body, (void *)(uintptr_t)range,
			 &agent->written);
	snprintf(message, sizeof(message), "%s", error ? xb_error_message() : "");
	if (error)
		take_back_answers(range);
	if (agent_is_busy(error)) {
		give_up_late(range);
		return error;
	}
	if (error && error != XB_UNMET && range->end - range->first > 1 &&
	    all->splits < SPLITS_MOST) {
		all->splits++;
		return write_halves(range);
	}
	tell_failure(all, error);
	if (error)
		answer_failed(range, error == XB_UNMET ? "UNENFORCED" : "ERR", message);
	note_all_answered(range);
	if (!error || error == XB_UNMET)
		agent_wrote(agent);
	return 0;
}

void transactions_write(struct transactions *all)
{
	struct range range = {all, 0, all->tasks->count};

	all->splits = 0;
	if (range.end)
		write_range(&range);
}
