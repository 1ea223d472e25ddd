/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list as the filter that it becomes: an entry exists if the list covers it. The answers are
 * exact, from the store; none of them is a guess. */
#include "bloomd/api/commands/families.h"
#include "bloomd/api/lookup.h"

static int plan_add(struct call *call)
{
	int error = lookup_edit(call, true);

	return error ? error : lookup_take_rest(call, 2);
}

static void answer_add(struct call *call)
{
	reply_integer(call->reply, edits_count(call->edits, call->edit, EDIT_ADDED));
}

static void answer_add_all(struct call *call)
{
	const struct edit *edit = call->edit;

	reply_array(call->reply, edit->count);
	for (uint32_t i = 0; i < edit->count; i++)
		reply_integer(call->reply,
			      call->edits->slot[edit->first + i].outcome == EDIT_ADDED);
}

static void answer_exists(struct call *call)
{
	lookup_answer(call, 2, lookup_covered);
}

static void answer_all_exist(struct call *call)
{
	lookup_answer_rest(call, 2, lookup_covered);
}

static void reply_pair(struct reply *reply, const char *name, uint64_t value)
{
	reply_status(reply, name);
	reply_integer(reply, (int64_t)value);
}

/* A list has no filter of its own: all of them share one, which grows. */
static void answer_info(struct call *call)
{
	struct lookup_list list;

	lookup_list(call, 1, &list);
	if (list.id == XB_NO_LIST) {
		reply_error(call->reply, "ERR not found");
		return;
	}
	reply_array(call->reply, 10);
	reply_pair(call->reply, "Capacity", list.members);
	reply_pair(call->reply, "Size", 0);
	reply_pair(call->reply, "Number of filters", 1);
	reply_pair(call->reply, "Number of items inserted", list.members);
	reply_pair(call->reply, "Expansion rate", 2);
}

const struct command commands_bloom[] = {
	{"bf.add", 3, COMMAND_WRITES, .plan = plan_add, .answer = answer_add},
	{"bf.madd", -3, COMMAND_WRITES, .plan = plan_add, .answer = answer_add_all},
	{"bf.exists", 3, COMMAND_READS, .answer = answer_exists},
	{"bf.mexists", -3, COMMAND_READS, .answer = answer_all_exist, .by_words = true},
	{"bf.card", 2, COMMAND_READS, .answer = lookup_answer_count},
	{"bf.info", 2, COMMAND_READS, .answer = answer_info},
	{0},
};
