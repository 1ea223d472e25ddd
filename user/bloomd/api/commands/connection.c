/* SPDX-License-Identifier: GPL-2.0-or-later */
/* PING, HELLO, CLIENT, COMMAND and what else is about the connection. */
#include <stdio.h>
#include <string.h>

#include "base/program.h"
#include "base/text.h"
#include "bloomd/api/commands/families.h"

static void answer_ping(struct call *call)
{
	if (call->request.words > 2)
		reply_error(call->reply, "ERR wrong number of arguments for 'ping' command");
	else if (call->request.words == 2)
		reply_bulk(call->reply, call_text(call, 1), call_size(call, 1));
	else
		reply_status(call->reply, "PONG");
}

static void answer_echo(struct call *call)
{
	reply_bulk(call->reply, call_text(call, 1), call_size(call, 1));
}

static void answer_quit(struct call *call)
{
	reply_status(call->reply, "OK");
	call->client->closing = true;
}

static void answer_reset(struct call *call)
{
	call->client->name[0] = '\0';
	reply_status(call->reply, "RESET");
}

static void answer_select(struct call *call)
{
	uint64_t number;

	if (!call_number(call, 1, &number))
		reply_error(call->reply, "ERR value is not an integer or out of range");
	else if (number)
		reply_error(call->reply, "ERR DB index is out of range");
	else
		reply_status(call->reply, "OK");
}

/* Who may open the socket is in: as in Redis where no password is set. */
static const char *check_user(const struct call *call, uint32_t user)
{
	if (call_is(call, user, "default"))
		return NULL;
	return "WRONGPASS invalid username-password pair or user is disabled.";
}

static void answer_auth(struct call *call)
{
	const char *error;

	if (call->request.words > 3) {
		reply_error(call->reply, "ERR syntax error");
		return;
	}
	error = call->request.words == 3
			? check_user(call, 1)
			: "ERR AUTH <password> called without any password configured for the "
			  "default user. Are you sure your configuration is correct?";
	if (error)
		reply_error(call->reply, "%s", error);
	else
		reply_status(call->reply, "OK");
}

/* As Redis: no blanks, nothing that does not print. NULL: it is set. */
static const char *set_name(struct call *call, uint32_t i)
{
	const char *text = call_text(call, i);
	size_t size = call_size(call, i);

	for (size_t at = 0; at < size; at++)
		if (text[at] < '!' || text[at] > '~')
			return "ERR Client names cannot contain spaces, newlines or special "
			       "characters.";
	if (size > CLIENT_NAME)
		return "ERR the name is longer than 64 bytes";
	memcpy(call->client->name, text, size);
	call->client->name[size] = '\0';
	return NULL;
}

static const char *take_hello_options(struct call *call)
{
	const char *error = NULL;
	uint32_t words = call->request.words;

	for (uint32_t i = 2; !error && i < words; i++) {
		if (call_is(call, i, "AUTH") && i + 2 < words) {
			error = check_user(call, i + 1);
			i += 2;
		} else if (call_is(call, i, "SETNAME") && i + 1 < words) {
			error = set_name(call, ++i);
		} else {
			error = "ERR Syntax error in HELLO option";
		}
	}
	return error;
}

static void reply_pair(struct reply *reply, const char *name, const char *value)
{
	reply_text(reply, name);
	reply_text(reply, value);
}

static void answer_hello(struct call *call)
{
	struct reply *reply = call->reply;
	const char *error = NULL;
	uint64_t version = 2;

	if (call->request.words > 1 && !call_number(call, 1, &version))
		error = "ERR Protocol version is not an integer or out of range";
	else if (version != 2)
		error = "NOPROTO unsupported protocol version";
	else
		error = take_hello_options(call);
	if (error) {
		reply_error(reply, "%s", error);
		return;
	}
	reply_array(reply, 14);
	reply_pair(reply, "server", "xdp-bloom");
	reply_pair(reply, "version", XB_VERSION);
	reply_text(reply, "proto");
	reply_integer(reply, 2);
	reply_text(reply, "id");
	reply_integer(reply, (int64_t)call->client->id);
	reply_pair(reply, "mode", "standalone");
	reply_pair(reply, "role", "master");
	reply_text(reply, "modules");
	reply_array(reply, 0);
}

/* --- CLIENT ------------------------------------------------------------------------------------
 */

#define CLIENT_LINE 192 /* bytes */

static int describe(const struct client *client, char line[CLIENT_LINE])
{
	return snprintf(line, CLIENT_LINE, "id=%llu name=%s socket=%s pending=%zu unsent=%zu\n",
			(unsigned long long)client->id, client->name,
			client->all->socket == SOCKET_QUERY ? "query" : "api",
			client_pending(client), client_unsent(client));
}

static void answer_client_list(struct call *call)
{
	static char text[CLIENT_LINE * 100];
	const struct client *client;
	size_t used = 0;

	LIST_FOREACH(client, &call->client->all->list, others)
	if (used + CLIENT_LINE < sizeof(text))
		used += (size_t)describe(client, text + used);
	reply_bulk(call->reply, text, used);
}

static void answer_client(struct call *call)
{
	struct reply *reply = call->reply;
	uint32_t words = call->request.words;
	char line[CLIENT_LINE];
	const char *error;

	if (call_is(call, 1, "SETNAME") && words == 3) {
		error = set_name(call, 2);
		if (error)
			reply_error(reply, "%s", error);
		else
			reply_status(reply, "OK");
	} else if (call_is(call, 1, "GETNAME") && words == 2) {
		if (call->client->name[0])
			reply_text(reply, call->client->name);
		else
			reply_nil(reply);
	} else if (call_is(call, 1, "ID") && words == 2) {
		reply_integer(reply, (int64_t)call->client->id);
	} else if (call_is(call, 1, "SETINFO") && words == 4) {
		reply_status(reply, "OK");
	} else if (call_is(call, 1, "INFO") && words == 2) {
		describe(call->client, line);
		reply_text(reply, line);
	} else if (call_is(call, 1, "LIST") && words == 2) {
		answer_client_list(call);
	} else {
		reply_error(reply,
			    "ERR unknown subcommand or wrong number of arguments for '%s'; "
			    "CLIENT has SETNAME, GETNAME, ID, SETINFO, INFO and LIST",
			    XB_SHOW(call_text(call, 1)));
	}
}

/* --- COMMAND -----------------------------------------------------------------------------------
 */

static bool is_offered(const struct command *command)
{
	return command && command->kind != COMMAND_REFUSED;
}

static size_t count_commands(void)
{
	const struct command *command;
	size_t count = 0;

	for (size_t i = 0; (command = command_at(i)); i++)
		count += is_offered(command);
	return count;
}

/* Name, arity, flags; then the places of the first and the last key, and the step between. */
static void describe_command(struct reply *reply, const struct command *command)
{
	bool keyed = command->kind == COMMAND_READS || command->kind == COMMAND_WRITES;

	if (!is_offered(command)) {
		reply_nil(reply);
		return;
	}
	reply_array(reply, 6);
	reply_text(reply, command->name);
	reply_integer(reply, command->arity);
	reply_array(reply, 1);
	reply_status(reply, command->kind == COMMAND_WRITES  ? "write"
			    : command->kind == COMMAND_READS ? "readonly"
							     : "fast");
	reply_integer(reply, keyed);
	reply_integer(reply, keyed);
	reply_integer(reply, keyed);
}

static void answer_command(struct call *call)
{
	struct reply *reply = call->reply;
	const struct command *command;
	uint32_t words = call->request.words;

	if (words > 1 && call_is(call, 1, "COUNT")) {
		reply_integer(reply, (int64_t)count_commands());
	} else if (words > 1 && call_is(call, 1, "DOCS")) {
		reply_array(reply, 0);
	} else if (words > 2 && call_is(call, 1, "INFO")) {
		reply_array(reply, words - 2);
		for (uint32_t i = 2; i < words; i++)
			describe_command(reply,
					 command_find(call_text(call, i), call_size(call, i)));
	} else if (words == 1 || call_is(call, 1, "LIST") || call_is(call, 1, "INFO")) {
		bool names = words > 1 && call_is(call, 1, "LIST");

		reply_array(reply, count_commands());
		for (size_t i = 0; (command = command_at(i)); i++)
			if (is_offered(command) && names)
				reply_text(reply, command->name);
			else if (is_offered(command))
				describe_command(reply, command);
	} else {
		reply_error(reply,
			    "ERR unknown subcommand '%s'; COMMAND has COUNT, DOCS, INFO and "
			    "LIST",
			    XB_SHOW(call_text(call, 1)));
	}
}

static void answer_info(struct call *call)
{
	const struct clients *all = call->client->all;
	const struct xb_txn *txn = call->txn;
	const struct xb_totals none = {0}, *totals = txn ? &txn->meta.totals : &none;
	char text[512];

	snprintf(text, sizeof(text),
		 "# Server\r\nserver:xdp-bloom\r\nxdp_bloom_version:" XB_VERSION "\r\n\r\n"
		 "# Clients\r\nconnected_clients:%zu\r\n\r\n"
		 "# Stats\r\ntotal_connections_received:%llu\r\ntotal_commands_processed:%llu\r\n"
		 "\r\n"
		 "# Store\r\nsequence:%llu\r\nipv4_prefixes:%llu\r\nipv4_hosts:%llu\r\n"
		 "ipv6_prefixes:%llu\r\ndomains:%llu\r\nallowed:%llu\r\n",
		 all->count, (unsigned long long)all->last_id, (unsigned long long)all->served,
		 (unsigned long long)(txn ? txn->meta.sequence : 0),
		 (unsigned long long)totals->prefix4, (unsigned long long)totals->host4,
		 (unsigned long long)totals->net6, (unsigned long long)totals->names,
		 (unsigned long long)totals->allow);
	reply_text(call->reply, text);
}

const struct command commands_connection[] = {
	{"ping", -1, COMMAND_CONNECTION, .answer = answer_ping},
	{"echo", 2, COMMAND_CONNECTION, .answer = answer_echo},
	{"hello", -1, COMMAND_CONNECTION, .answer = answer_hello},
	{"auth", -2, COMMAND_CONNECTION, .answer = answer_auth},
	{"select", 2, COMMAND_CONNECTION, .answer = answer_select},
	{"quit", -1, COMMAND_CONNECTION, .answer = answer_quit, .alone = true},
	{"reset", 1, COMMAND_CONNECTION, .answer = answer_reset},
	{"client", -2, COMMAND_CONNECTION, .answer = answer_client, .alone = true},
	{"command", -1, COMMAND_CONNECTION, .answer = answer_command, .alone = true},
	{"info", -1, COMMAND_READS, .answer = answer_info},
	{0},
};
