/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomd/api/turn.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/error.h"
#include "engine/tallies.h"
#include "store/expiry.h"

#define LATE_MOST 4096 /* entries that have expired, and are not counted in a snapshot */

struct client_request turn_request(const struct client *client, size_t after)
{
	return client->request[client->answered + after];
}

const struct command *turn_command(struct client *client, struct client_request request)
{
	const struct resp_word *name = &client->resp.word[request.word];
	const struct command *command = command_find(client->in + name->at, name->size);

	if (!command || command->kind == COMMAND_REFUSED ||
	    !command_takes(command, request.words) ||
	    (client->all->socket == SOCKET_QUERY && command->kind == COMMAND_WRITES))
		return NULL;
	return command;
}

struct call turn_call(struct turn *turn, struct client *client, struct client_request request)
{
	return (struct call){.client = client,
			     .request = request,
			     .reply = &client->out,
			     .txn = turn->txn,
			     .cursors = &turn->cursors[client->all->socket],
			     .now = turn->now,
			     .begin = client->out.size,
			     .until = TURN_NEVER,
			     .may_allow = turn->agent->config->api.allow};
}

static int open_store(struct turn *turn)
{
	uint64_t hidden;
	int error = xb_store_begin_reading(turn->agent->paths.state, &turn->store, &turn->txn);

	if (error)
		return error == -ENOENT ? 0 : error;
	return xb_expiry_overlook_some(turn->txn, turn->now, LATE_MOST, &hidden);
}

static void open_snapshot(struct turn *turn)
{
	int error;

	if (turn->looked)
		return;
	turn->looked = true;
	turn->now = (uint32_t)time(NULL);
	error = open_store(turn);
	snprintf(turn->unreadable, sizeof(turn->unreadable), "%s", error ? xb_error_message() : "");
}

void turn_close_snapshot(struct turn *turn)
{
	xb_store_end_reading(turn->store, turn->txn);
	turn->txn = NULL;
	turn->store = NULL;
	turn->looked = false;
}

bool turn_is_error(const struct client *client, size_t at)
{
	return client->out.size > at && client->out.bytes[at] == '-';
}

/* The answer is made beside those that are to be sent until it is whole. */
static bool answer_by_words(const struct command *command, struct client *client, struct call *call)
{
	call->reply = &client->part;
	call->begin = 0;
	call->word = client->part_word;
	command->answer(call);
	client->part_word = call->more ? call->word : 0;
	if (call->more)
		return false;
	reply_append(&client->out, &client->part);
	client->part.size = 0;
	return true;
}

static void refuse_unreadable(const struct turn *turn, struct client *client)
{
	client->part.size = 0;
	client->part_word = 0;
	reply_error(&client->out, "ERR %s", turn->unreadable);
}

bool turn_answer(struct turn *turn, struct client *client, const struct command *command,
		 struct client_request request, uint64_t until, bool *failed)
{
	size_t at = client->out.size;
	bool whole = true;
	struct call call;

	if (command && command->kind == COMMAND_READS)
		open_snapshot(turn);
	call = turn_call(turn, client, request);
	call.until = until;
	if (!command)
		command_refuse(command_find(call_text(&call, 0), call_size(&call, 0)), &call);
	else if (command->kind == COMMAND_READS && turn->unreadable[0])
		refuse_unreadable(turn, client);
	else if (command->by_words)
		whole = answer_by_words(command, client, &call);
	else
		command->answer(&call);
	*failed = turn_is_error(client, at);
	return whole;
}

static void add_counted(struct turn *turn)
{
	if (turn->in_row)
		xb_tally_add(&turn->agent->paths, XB_TALLY_API_REQUESTS,
			     turn->counted ? turn->counted->name : "unknown",
			     turn->counted_failed ? "error" : "ok", turn->in_row);
	turn->in_row = 0;
}

/* A command that cannot be called here counts as unknown. */
static void count_request(struct turn *turn, const struct command *command, bool failed)
{
	if (command != turn->counted || failed != turn->counted_failed)
		add_counted(turn);
	turn->counted = command;
	turn->counted_failed = failed;
	turn->in_row++;
}

void turn_note_answered(struct turn *turn, struct client *client, const struct command *command,
			bool failed)
{
	count_request(turn, command, failed);
	client->answered++;
	client->since = 0;
	client->all->requests--;
	client->all->served++;
}

void turn_end(struct turn *turn)
{
	add_counted(turn);
}

void turn_free(struct turn *turn)
{
	for (size_t i = 0; i < SOCKETS; i++)
		cursors_free(&turn->cursors[i]);
}
