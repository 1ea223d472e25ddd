/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/api/group.h"

#include <stdlib.h>
#include <time.h>

#include "base/error.h"
#include "bloomd/api/transactions.h"

#define READ_TIME 10000 /* us: so long a turn answers requests that only read */

struct group {
	struct clients *clients;
	struct turn turn;
	struct tasks tasks;
	struct transactions transactions;
};

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

/* Until the client writes, or has enough to read. False: the time is over. */
static bool answer_reads(struct turn *turn, struct client *client, uint64_t until)
{
	while (client_is_ready(client)) {
		struct client_request request = turn_request(client, 0);
		const struct command *command = turn_command(client, request);

		if (command && command->kind == COMMAND_WRITES)
			return true;
		turn_note_answered(turn, client, command,
				   turn_answer(turn, client, command, request));
		if (client->answered % 16 == 0 && agent_clock() > until)
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

static void read_all(struct group *group)
{
	uint64_t until = agent_clock() + READ_TIME;
	struct client *client, *next;
	bool goes_on = true;

	for (client = TAILQ_FIRST(&group->clients->waiting); client && goes_on; client = next) {
		next = TAILQ_NEXT(client, waiting);
		goes_on = answer_reads(&group->turn, client, until);
		if (!goes_on)
			put_last(group, client);
		if (!writes_next(client))
			finish_client(client);
	}
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
		put_last(group, client);
		finish_client(client);
	}
}

static void write_all(struct group *group)
{
	struct client *client;

	group->turn.now = (uint32_t)time(NULL);
	TAILQ_FOREACH(client, &group->clients->waiting, waiting)
	if (writes_next(client))
		tasks_take(&group->tasks, client);
	transactions_write(&group->transactions);
	finish_clients(group);
	tasks_clear(&group->tasks);
}

uint64_t group_turn(struct group *group)
{
	uint64_t now, blocked_until;
	bool reads = false;
	struct client *client;

	read_all(group);
	if (agent_clock() >= group->transactions.blocked_until)
		write_all(group);
	turn_end(&group->turn);
	now = agent_clock();
	blocked_until = group->transactions.blocked_until;
	TAILQ_FOREACH(client, &group->clients->waiting, waiting)
	reads |= !writes_next(client);
	if (TAILQ_EMPTY(&group->clients->waiting))
		return GROUP_IDLE;
	return reads || blocked_until <= now ? 0 : blocked_until - now;
}

int group_start(struct agent *agent, struct clients *clients, struct group **out)
{
	struct group *group = calloc(1, sizeof(*group));

	*out = group;
	if (!group)
		return xb_out_of_memory();
	group->clients = clients;
	group->turn = (struct turn){.agent = agent, .clients = clients};
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
