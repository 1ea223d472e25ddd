/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A list as a sorted set: the score of an entry is the time at which it expires, in seconds since
 * 1970; that of one that stays is "inf". */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "bloomd/api/commands/families.h"
#include "bloomd/api/lookup.h"

/* Rounded up, since nothing leaves before its time. */
static int read_score(const struct call *call, uint32_t word, uint32_t *expires)
{
	const char *text = call_text(call, word);
	char *end;
	double score = strtod(text, &end);

	if (end == text || *end || end != text + call_size(call, word) || isnan(score))
		return xb_input_error("value is not a valid float: '%s'", XB_SHOW(text));
	*expires = 0;
	if (score == (double)INFINITY)
		return 0;
	score = ceil(score);
	if (score > UINT32_MAX)
		return xb_input_error("the score %s is beyond the year 2106; a score is a time in "
				      "seconds since 1970, or +inf",
				      XB_SHOW(text));
	if (score <= call->now)
		return xb_input_error("the score %s is a time that is past; a score is a time in "
				      "seconds since 1970, or +inf",
				      XB_SHOW(text));
	*expires = (uint32_t)score;
	return 0;
}

static const struct {
	const char *name;
	uint8_t rule;
} rules[] = {
	{"NX", EDIT_NEW_ONLY},
	{"XX", EDIT_OLD_ONLY},
	{"GT", EDIT_LATER_ONLY},
	{"LT", EDIT_SOONER_ONLY},
};

static uint8_t read_rule(const struct call *call, uint32_t word)
{
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (call_is(call, word, rules[i].name))
			return rules[i].rule;
	return 0;
}

/* The word behind the options. *changed: CH, count what was changed, too. */
static uint32_t read_options(const struct call *call, uint8_t *all, bool *changed)
{
	uint32_t i = 2;

	*all = 0;
	*changed = false;
	for (; i < call->request.words; i++) {
		uint8_t rule = read_rule(call, i);

		if (call_is(call, i, "CH"))
			*changed = true;
		else if (!rule)
			break;
		*all |= rule;
	}
	return i;
}

static int check_rules(uint8_t all)
{
	uint8_t moves = all & (EDIT_LATER_ONLY | EDIT_SOONER_ONLY);

	if (all & EDIT_NEW_ONLY && all & EDIT_OLD_ONLY)
		return xb_input_error("XX and NX options at the same time are not compatible");
	if (moves == (EDIT_LATER_ONLY | EDIT_SOONER_ONLY) || (moves && all & EDIT_NEW_ONLY))
		return xb_input_error("GT, LT, and/or NX options at the same time are not "
				      "compatible");
	return 0;
}

static int plan_add(struct call *call)
{
	int error = lookup_edit(call, true);
	uint32_t expires = 0, i;
	bool changed;

	if (error)
		return error;
	i = read_options(call, &call->edit->rules, &changed);
	if (i == call->request.words || (call->request.words - i) % 2)
		return xb_input_error("syntax error: pairs of a score and an entry follow the "
				      "key and the options");
	call->edit->timed = true;
	error = check_rules(call->edit->rules);
	for (; !error && i < call->request.words; i += 2) {
		error = read_score(call, i, &expires);
		if (!error)
			error = lookup_take(call, i + 1, expires);
	}
	return error;
}

static void answer_add(struct call *call)
{
	uint32_t count = edits_count(call->edits, call->edit, EDIT_ADDED);
	uint8_t all;
	bool changed;

	read_options(call, &all, &changed);
	if (changed)
		count += edits_count(call->edits, call->edit, EDIT_RENEWED);
	reply_integer(call->reply, count);
}

static int plan_remove(struct call *call)
{
	int error = lookup_edit(call, false);

	return error ? error : lookup_take_rest(call, 2);
}

static void answer_remove(struct call *call)
{
	reply_integer(call->reply, edits_count(call->edits, call->edit, EDIT_REMOVED));
}

/* False: it is answered with an error. */
static bool answer_score_of(struct call *call, const struct lookup_list *list, uint32_t word)
{
	struct xb_membership member = {0};
	uint8_t form[XB_NAME_BYTES];
	struct xb_entry entry;
	char text[16];
	int found = lookup_entry(call, word, list, form, &entry);

	if (!found)
		found = lookup_member(call, list, &entry, &member);
	if (found < 0)
		return false;
	if (!found) {
		reply_nil(call->reply);
		return true;
	}
	snprintf(text, sizeof(text), "%u", member.expires);
	reply_text(call->reply, member.expires ? text : "inf");
	return true;
}

static void answer_score(struct call *call)
{
	struct lookup_list list;

	lookup_list(call, 1, &list);
	if (!answer_score_of(call, &list, 2))
		lookup_failed(call);
}

static void answer_scores(struct call *call)
{
	struct lookup_list list;
	uint32_t word;

	lookup_list(call, 1, &list);
	while (call_next_element(call, 2, &word))
		if (!answer_score_of(call, &list, word)) {
			lookup_failed(call);
			return;
		}
}

const struct command commands_zsets[] = {
	{"zadd", -4, COMMAND_WRITES, .plan = plan_add, .answer = answer_add},
	{"zrem", -3, COMMAND_WRITES, .plan = plan_remove, .answer = answer_remove},
	{"zscore", 3, COMMAND_READS, .answer = answer_score},
	{"zmscore", -3, COMMAND_READS, .answer = answer_scores, .by_words = true},
	{"zcard", 2, COMMAND_READS, .answer = lookup_answer_count},
	{0},
};
