/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list as a map from entries to their comments, for rspamd and others that look up all they come
 * across: text that is no entry is merely not there. */
#include "bloomd/api/commands/families.h"
#include "bloomd/api/lookup.h"

static int find(const struct call *call, const struct lookup_list *list, uint32_t word,
		struct xb_membership *member)
{
	uint8_t form[XB_NAME_BYTES];
	struct xb_entry entry;

	if (lookup_entry(call, word, list, form, &entry))
		return 0;
	return lookup_member(call, list, &entry, member);
}

/* False: it is answered with an error. */
static bool answer_value(struct call *call, const struct lookup_list *list, uint32_t word)
{
	struct xb_membership member;
	int found = find(call, list, word, &member);

	if (found < 0)
		return false;
	if (!found)
		reply_nil(call->reply);
	else if (member.comment_size)
		reply_bulk(call->reply, member.comment, member.comment_size);
	else
		reply_text(call->reply, "1");
	return true;
}

static void answer_get(struct call *call)
{
	struct lookup_list list;

	lookup_list(call, 1, &list);
	if (!answer_value(call, &list, 2))
		lookup_failed(call);
}

static void answer_get_all(struct call *call)
{
	size_t before = call->reply->size;
	struct lookup_list list;

	lookup_list(call, 1, &list);
	reply_array(call->reply, call->request.words - 2);
	for (uint32_t i = 2; i < call->request.words; i++)
		if (!answer_value(call, &list, i)) {
			call->reply->size = before;
			lookup_failed(call);
			return;
		}
}

static void answer_exists(struct call *call)
{
	struct xb_membership member;
	struct lookup_list list;
	int found;

	lookup_list(call, 1, &list);
	found = find(call, &list, 2, &member);
	if (found < 0)
		lookup_failed(call);
	else
		reply_integer(call->reply, found);
}

const struct command commands_hashes[] = {
	{"hget", 3, COMMAND_READS, .answer = answer_get},
	{"hmget", -3, COMMAND_READS, .answer = answer_get_all},
	{"hexists", 3, COMMAND_READS, .answer = answer_exists},
	{0},
};
