/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A list as a map, for rspamd: what an entry covers is there, and text that cannot be an entry is
 * not. rspamd reads the beginning of a value as the name of a symbol or as a factor of its score
 * (multimap.lua, parse_ret), and comments come with lists from elsewhere; so each value begins with
 * 1, behind which it reads nothing.
 */
#include <string.h>

#include "bloomd/api/commands/families.h"
#include "bloomd/api/lookup.h"

#define FOUND "1"

/* False: the word is no entry. */
static bool parse(const struct call *call, const struct lookup_list *list, uint32_t word,
		  uint8_t form[XB_NAME_BYTES], struct xb_entry *entry)
{
	return !lookup_entry(call, word, list, form, entry);
}

static void reply_value(struct reply *reply, const struct xb_membership *member)
{
	char text[sizeof(FOUND) + XB_COMMENT_MAX] = FOUND " ";

	if (!member->comment_size || member->comment_size > XB_COMMENT_MAX) {
		reply_text(reply, FOUND);
		return;
	}
	memcpy(text + sizeof(FOUND), member->comment, member->comment_size);
	reply_bulk(reply, text, sizeof(FOUND) + member->comment_size);
}

/* False: it is answered with an error. */
static bool answer_value(struct call *call, const struct lookup_list *list,
			 const struct xb_entry *entry)
{
	struct xb_membership member;
	int found = lookup_covering(call, list, entry, &member);

	if (found > 0)
		reply_value(call->reply, &member);
	else if (!found)
		reply_nil(call->reply);
	return found >= 0;
}

static void answer_get(struct call *call)
{
	uint8_t form[XB_NAME_BYTES];
	struct lookup_list list;
	struct xb_entry entry;

	lookup_list(call, 1, &list);
	if (!parse(call, &list, 2, form, &entry))
		reply_nil(call->reply);
	else if (!answer_value(call, &list, &entry))
		lookup_failed(call);
}

static bool is_wider(const struct xb_entry *entry, const struct xb_entry *former)
{
	return !xb_entry_is_name(entry) && !xb_entry_is_name(former) &&
	       xb_entry_is_ipv4(entry) == xb_entry_is_ipv4(former) &&
	       xb_entry_inside(entry, former);
}

/*
 * Of an address, rspamd asks for all prefixes as well, down to /8 or /64, and counts each value
 * that it gets. So what covers the address or prefix in front of it is not there a second time.
 */
static void answer_get_all(struct call *call)
{
	uint8_t form[XB_NAME_BYTES];
	struct xb_entry entry, former = {.kind = XB_NAME};
	struct lookup_list list;
	uint32_t word;

	lookup_list(call, 1, &list);
	if (call->word > 2 && !parse(call, &list, call->word - 1, form, &former))
		former = (struct xb_entry){.kind = XB_NAME};
	while (call_next_element(call, 2, &word)) {
		bool there = parse(call, &list, word, form, &entry);

		if (!there || is_wider(&entry, &former)) {
			reply_nil(call->reply);
		} else if (!answer_value(call, &list, &entry)) {
			lookup_failed(call);
			return;
		}
		former = there ? entry : (struct xb_entry){.kind = XB_NAME};
	}
}

static void answer_exists(struct call *call)
{
	struct xb_membership member;
	uint8_t form[XB_NAME_BYTES];
	struct lookup_list list;
	struct xb_entry entry;
	int found = 0;

	lookup_list(call, 1, &list);
	if (parse(call, &list, 2, form, &entry))
		found = lookup_covering(call, &list, &entry, &member);
	if (found < 0)
		lookup_failed(call);
	else
		reply_integer(call->reply, found);
}

const struct command commands_hashes[] = {
	{"hget", 3, COMMAND_READS, .answer = answer_get},
	{"hmget", -3, COMMAND_READS, .answer = answer_get_all, .by_words = true},
	{"hexists", 3, COMMAND_READS, .answer = answer_exists},
	{0},
};
