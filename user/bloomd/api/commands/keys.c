/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which lists there are. */
#include "bloomd/api/commands/families.h"
#include "bloomd/api/lookup.h"

static bool exists(const struct call *call, uint32_t word)
{
	struct lookup_list list;

	lookup_list(call, word, &list);
	return list.members > 0;
}

static void answer_exists(struct call *call)
{
	int64_t count = 0;

	for (uint32_t i = 1; i < call->request.words; i++)
		count += exists(call, i);
	reply_integer(call->reply, count);
}

static void answer_type(struct call *call)
{
	reply_status(call->reply, exists(call, 1) ? "set" : "none");
}

const struct command commands_keys[] = {
	{"exists", -2, COMMAND_READS, .answer = answer_exists},
	{"type", 2, COMMAND_READS, .answer = answer_type},
	{0},
};
