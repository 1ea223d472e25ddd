/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/api/group.h"

#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "bloomd/api/transactions.h"

#define READ_TIME   10000 /* us: so long a turn answers requests of a socket that only read, */
#define CLIENT_TIME 1000  /* ... and those of a client before it is the turn of another */
#define CLOCK_WORDS 16	  /* of requests, between two looks at the clock */

struct group {
	struct clients *clients;
	struct turn turn;
	struct tasks tasks;
	struct transactions transactions;
};

/* False: it was freed. */
static bool finish_client(struct client *client)
{
	client_flush(client);
	return client_settle(client);
}

/* So that nobody is kept waiting by one who asks for much. */
static void put_last(struct client *client)
{
	struct client_queue *waiting = &client->all->waiting;

	TAILQ_REMOVE(waiting, client, waiting);
	TAILQ_INSERT_TAIL(waiting, client, waiting);
}

/* Until the client writes, or has enough to read. False: the time is over. */
static bool answer_reads(struct turn *turn, struct client *client, uint64_t until)
{
	uint32_t words = 0;

	while (client_is_ready(client)) {
		struct client_request request = turn_request(client, 0);
		const struct command *command = turn_command(client, request);
		bool failed;

		if (command && command->kind == COMMAND_WRITES)
			return true;
		if (!turn_answer(turn, client, command, request, until, &failed))
			return false;
		turn_note_answered(turn, client, command, failed);
		words += request.words;
		if (words < CLOCK_WORDS)
			continue;
		words = 0;
		if (agent_clock() > until)
			return false;
	}
	return true;
}

static bool writes_next(struct client *client)
{
	const struct command *command;

	if (!client_is_ready(client))
		return false;
	command = turn_command(client, turn_request(client, 0));
	return command && command->kind == COMMAND_WRITES;
}

/* Answers a client for a while. Returns the one whose turn is next. */
static struct client *read_client(struct group *group, struct client *client, uint64_t until)
{
	struct client *next = TAILQ_NEXT(client, waiting);
	bool done = answer_reads(&group->turn, client, until);

	if (!done)
		put_last(client);
	if (!done && !next)
		next = client;
	if (!writes_next(client) && !finish_client(client) && next == client)
		return NULL;
	return next;
}

static void read_socket(struct group *group, struct clients *clients)
{
	uint64_t now = agent_clock(), until = now + READ_TIME;
	struct client *client = TAILQ_FIRST(&clients->waiting);

	while (client && now < until) {
		client = read_client(group, client, now + CLIENT_TIME);
		now = agent_clock();
	}
}

static void read_all(struct group *group)
{
	for (size_t i = 0; i < SOCKETS; i++)
		read_socket(group, &group->clients[i]);
	turn_close_snapshot(&group->turn);
}

static void finish_clients(struct group *group)
{
	struct client *last = NULL;

	for (size_t i = 0; i < group->tasks.count; i++) {
		struct client *client = group->tasks.task[i].client;

		if (client == last)
			continue;
		last = client;
		put_last(client);
		finish_client(client);
	}
}

static void write_all(struct group *group)
{
	struct client *client;

	group->turn.now = (uint32_t)time(NULL);
	TAILQ_FOREACH(client, &group->clients[SOCKET_API].waiting, waiting)
	if (writes_next(client))
		tasks_take(&group->tasks, client);
	transactions_write(&group->transactions);
	finish_clients(group);
	tasks_clear(&group->tasks);
}

static bool one_reads(struct clients *clients)
{
	struct client *client;

	TAILQ_FOREACH(client, &clients->waiting, waiting)
	if (!writes_next(client))
		return true;
	return false;
}

/* Whether clients wait, and whether one of them is to be answered though others are in the way of
 * writes. */
static bool is_awaited(struct group *group, bool *reads)
{
	bool waits = false;

	*reads = false;
	for (size_t i = 0; i < SOCKETS; i++) {
		waits |= !TAILQ_EMPTY(&group->clients[i].waiting);
		*reads |= one_reads(&group->clients[i]);
	}
	return waits;
}

uint64_t group_turn(struct group *group)
{
	uint64_t now, blocked_until;
	bool reads;

	read_all(group);
	if (agent_clock() >= group->transactions.blocked_until)
		write_all(group);
	turn_end(&group->turn);
	now = agent_clock();
	blocked_until = group->transactions.blocked_until;
	if (!is_awaited(group, &reads))
		return GROUP_IDLE;
	return reads || blocked_until <= now ? 0 : blocked_until - now;
}

int group_start(struct agent *agent, struct clients clients[SOCKETS], struct group **out)
{
	struct group *group = calloc(1, sizeof(*group));

	*out = group;
	if (!group)
		return xb_out_of_memory();
	group->clients = clients;
	group->turn = (struct turn){.agent = agent};
	group->tasks.turn = &group->turn;
	group->transactions = (struct transactions){.turn = &group->turn, .tasks = &group->tasks};
	return 0;
}

void group_stop(struct group *group)
{
	if (!group)
		return;
	tasks_free(&group->tasks);
	turn_free(&group->turn);
	free(group);
}
