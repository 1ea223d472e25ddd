/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list as a set of entries. */
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "bloomd/api/commands/families.h"
#include "bloomd/api/lookup.h"
#include "store/walk.h"

static int plan_add(struct call *call)
{
	int error = lookup_edit(call, true);

	return error ? error : lookup_take_rest(call, 2);
}

static int plan_remove(struct call *call)
{
	int error = lookup_edit(call, false);

	return error ? error : lookup_take_rest(call, 2);
}

static void answer_add(struct call *call)
{
	reply_integer(call->reply, edits_count(call->edits, call->edit, EDIT_ADDED));
}

static void answer_remove(struct call *call)
{
	reply_integer(call->reply, edits_count(call->edits, call->edit, EDIT_REMOVED));
}

static void answer_is_member(struct call *call)
{
	lookup_answer(call, 2, lookup_is_member);
}

static void answer_are_members(struct call *call)
{
	lookup_answer_rest(call, 2, lookup_is_member);
}

/* --- SSCAN -------------------------------------------------------------------------------------
 */

#define COUNT_MOST 1000	 /* members of an answer */
#define LOOK_MOST  20000 /* entries of the store that are looked at for one */

struct scan {
	const char *pattern; /* NULL: all */
	uint64_t count;
	struct xb_entry from;
};

/* '*' stands for any characters, '?' for one. */
static bool matches(const char *pattern, const char *text)
{
	const char *star = NULL, *again = NULL;

	while (*text) {
		if (*pattern == '*') {
			star = ++pattern;
			again = text;
		} else if (*pattern == '?' || *pattern == *text) {
			pattern++;
			text++;
		} else if (star) {
			pattern = star;
			text = ++again;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return !*pattern;
}

static const char *read_options(const struct call *call, struct scan *scan)
{
	for (uint32_t i = 3; i < call->request.words; i += 2) {
		if (i + 1 == call->request.words)
			return "ERR syntax error";
		if (call_is(call, i, "MATCH")) {
			scan->pattern = call_text(call, i + 1);
			if (strpbrk(scan->pattern, "[\\"))
				return "ERR a pattern has only '*' and '?'";
		} else if (!call_is(call, i, "COUNT")) {
			return "ERR syntax error";
		} else if (!call_number(call, i + 1, &scan->count) || !scan->count) {
			return "ERR value is not an integer or out of range";
		}
	}
	if (scan->count > COUNT_MOST)
		scan->count = COUNT_MOST;
	return NULL;
}

static const char *read_scan(const struct call *call, const struct lookup_list *list,
			     struct scan *scan)
{
	uint64_t cursor;

	*scan = (struct scan){.count = 10, .from = list->allow ? XB_WALK_ALLOW : XB_WALK_LISTED};
	if (!call_number(call, 2, &cursor))
		return "ERR invalid cursor";
	if (cursor && !cursors_find(call->cursors, cursor, &scan->from))
		return "ERR invalid cursor: it is too old; begin again with 0";
	return read_options(call, scan);
}

/* Members as replies, their number, and whether the walk stands at an entry to go on with. */
struct found {
	struct reply members;
	uint32_t count, looked;
	bool more;
};

static int walk(struct call *call, const struct lookup_list *list, const struct scan *scan,
		struct xb_walk *walk, struct found *found)
{
	int more;

	while ((more = xb_walk_next(walk)) > 0) {
		struct xb_membership member;
		char text[XB_ENTRY_TEXT];

		if (found->count == scan->count || ++found->looked > LOOK_MOST ||
		    call_is_late(call)) {
			found->more = true;
			return 0;
		}
		if (!xb_members_have(walk->members, list->id, &member))
			continue;
		xb_entry_format(&walk->entry, text);
		if (scan->pattern && !matches(scan->pattern, text))
			continue;
		reply_text(&found->members, text);
		found->count++;
	}
	return more;
}

static void reply_found(const struct call *call, const struct found *found, uint64_t cursor)
{
	struct reply *reply = call->reply;
	char number[24];
	size_t at = sizeof(number);

	do
		number[--at] = (char)('0' + cursor % 10);
	while (cursor /= 10);
	reply_array(reply, 2);
	reply_bulk(reply, number + at, sizeof(number) - at);
	reply_array(reply, found->count);
	reply_append(reply, &found->members);
}

static int scan_list(struct call *call, const struct lookup_list *list, const struct scan *scan,
		     struct found *found)
{
	struct xb_walk place;
	uint64_t cursor = 0;
	int error = xb_walk_begin(&place, call->txn, &scan->from);

	if (error)
		return error;
	error = walk(call, list, scan, &place, found);
	if (!error && found->more) {
		cursor = cursors_keep(call->cursors, &place.entry);
		error = cursor ? 0 : -EIO;
	}
	xb_walk_end(&place);
	if (!error)
		reply_found(call, found, cursor);
	return error;
}

static void answer_scan(struct call *call)
{
	struct found found = {0};
	struct lookup_list list;
	struct scan scan;
	const char *wrong;

	lookup_list(call, 1, &list);
	wrong = read_scan(call, &list, &scan);
	if (wrong)
		reply_error(call->reply, "%s", wrong);
	else if (list.id == XB_NO_LIST || !list.members)
		reply_found(call, &found, 0);
	else if (scan_list(call, &list, &scan, &found))
		lookup_failed(call);
	reply_free(&found.members);
}

const struct command commands_sets[] = {
	{"sadd", -3, COMMAND_WRITES, .plan = plan_add, .answer = answer_add},
	{"srem", -3, COMMAND_WRITES, .plan = plan_remove, .answer = answer_remove},
	{"sismember", 3, COMMAND_READS, .answer = answer_is_member},
	{"smismember", -3, COMMAND_READS, .answer = answer_are_members, .by_words = true},
	{"scard", 2, COMMAND_READS, .answer = lookup_answer_count},
	{"sscan", -3, COMMAND_READS, .answer = answer_scan, .alone = true},
	{0},
};
