/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of all commands, and how one is found. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/text.h"
#include "bloomd/base/agent.h"
#include "bloomd/api/command.h"
#include "bloomd/api/commands/families.h"

#define NAME_MOST 32 /* bytes */
#define SLOTS	  256
#define UNLOOKED  16 /* words or entries between two looks at the clock */

static const struct command *const families[] = {
	commands_connection, commands_sets, commands_zsets,   commands_bloom,
	commands_hashes,     commands_keys, commands_refused,
};

/* By the hash of their names; NULL: free. */
static const struct command *slot[SLOTS];

/* FNV-1a, of small letters. */
static unsigned int hash(const char *name, size_t size)
{
	uint32_t hash = 0x811c9dc5U;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ ((uint8_t)name[i] | 0x20U)) * 0x01000193U;
	return (hash ^ hash >> 16) % SLOTS;
}

static void fill(void)
{
	const struct command *command;

	for (size_t i = 0; (command = command_at(i)); i++) {
		unsigned int at = hash(command->name, strlen(command->name));

		while (slot[at])
			at = (at + 1) % SLOTS;
		slot[at] = command;
	}
}

const struct command *command_at(size_t place)
{
	for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++)
		for (const struct command *command = families[i]; command->name; command++)
			if (!place--)
				return command;
	return NULL;
}

const struct command *command_find(const char *name, size_t size)
{
	static bool filled;

	if (!filled)
		fill();
	filled = true;
	if (size > NAME_MOST)
		return NULL;
	for (unsigned int at = hash(name, size); slot[at]; at = (at + 1) % SLOTS)
		if (!strncasecmp(slot[at]->name, name, size) && !slot[at]->name[size])
			return slot[at];
	return NULL;
}

bool command_takes(const struct command *command, uint32_t words)
{
	return command->arity < 0 ? words >= (uint32_t)-command->arity
				  : words == (uint32_t)command->arity;
}

/* In the words that clients of Redis look for. */
static void refuse_unknown(const struct call *call)
{
	char arguments[128] = "", name[XB_SHOWN + 1], word[XB_SHOWN + 1];
	size_t used = 0;

	xb_utf8_show(call_text(call, 0), call_size(call, 0), name, sizeof(name));
	for (uint32_t i = 1; i < call->request.words && used < sizeof(arguments); i++) {
		xb_utf8_show(call_text(call, i), call_size(call, i), word, sizeof(word));
		used += (size_t)snprintf(arguments + used, sizeof(arguments) - used, "'%s' ", word);
	}
	reply_error(call->reply, "ERR unknown command '%s', with args beginning with: %s", name,
		    arguments);
}

void command_refuse(const struct command *command, const struct call *call)
{
	if (!command)
		refuse_unknown(call);
	else if (command->kind == COMMAND_REFUSED)
		reply_error(call->reply, "ERR %s is not offered: %s", command->name,
			    command->about);
	else if (!command_takes(command, call->request.words))
		reply_error(call->reply, "ERR wrong number of arguments for '%s' command",
			    command->name);
	else
		reply_error(call->reply,
			    "NOPERM %s changes lists, and this socket only reads; use "
			    "api.sock",
			    command->name);
}

bool call_is(const struct call *call, uint32_t i, const char *word)
{
	return call_size(call, i) == strlen(word) && !strcasecmp(call_text(call, i), word);
}

bool call_is_late(struct call *call)
{
	return ++call->looked % UNLOOKED == 0 && agent_clock() > call->until;
}

bool call_next(struct call *call, uint32_t first, uint32_t *word)
{
	if (!call->word)
		call->word = first;
	*word = call->word;
	if (call->word == call->request.words)
		return false;
	call->more = call_is_late(call);
	call->word += !call->more;
	return !call->more;
}

bool call_next_element(struct call *call, uint32_t first, uint32_t *word)
{
	if (!call->word)
		reply_array(call->reply, call->request.words - first);
	return call_next(call, first, word);
}

bool call_number(const struct call *call, uint32_t i, uint64_t *number)
{
	const char *text = call_text(call, i);
	size_t size = call_size(call, i);

	*number = 0;
	for (size_t at = 0; at < size; at++) {
		if (text[at] < '0' || text[at] > '9' || size > 18)
			return false;
		*number = *number * 10 + (uint64_t)(text[at] - '0');
	}
	return size > 0;
}
