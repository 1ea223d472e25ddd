/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/problem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/text.h"

/* Programs compare these: they stay as they are. */
static const char *const names[XB_PROBLEM_KINDS] = {
	[XB_PROBLEM_UNFILTERED] = "unfiltered",
	[XB_PROBLEM_RENAMED] = "renamed",
	[XB_PROBLEM_NAME_UNUSABLE] = "name_unusable",
	[XB_PROBLEM_NAME_TAKEN] = "name_taken",
	[XB_PROBLEM_MODE] = "mode",
	[XB_PROBLEM_UNWANTED] = "unwanted",
	[XB_PROBLEM_LEFT] = "left",
	[XB_PROBLEM_STALE] = "stale",
	[XB_PROBLEM_UNPROVEN] = "unproven",
	[XB_PROBLEM_VLAN_ANSWERS] = "vlan_answers",
	[XB_PROBLEM_NAMESPACE] = "namespace",
	[XB_PROBLEM_HIDDEN] = "hidden",
	[XB_PROBLEM_NOT_ENFORCED] = "not_enforced",
	[XB_PROBLEM_FILTER_UNKNOWN] = "filter_unknown",
	[XB_PROBLEM_FILTER_FOREIGN] = "filter_foreign",
	[XB_PROBLEM_FILTER_IDLE] = "filter_idle",
	[XB_PROBLEM_COUNTERS_LOST] = "counters_lost",
	[XB_PROBLEM_INTERRUPTED] = "interrupted",
	[XB_PROBLEM_FILTER_BEHIND] = "filter_behind",
	[XB_PROBLEM_FILTER_UNFIT] = "filter_unfit",
	[XB_PROBLEM_POLICY] = "policy",
	[XB_PROBLEM_TRIAL_OVER] = "trial_over",
	[XB_PROBLEM_CHANGE_LASTS] = "change_lasts",
	[XB_PROBLEM_NOT_LEARNING] = "not_learning",
	[XB_PROBLEM_KNOWN_FULL] = "known_full",
	[XB_PROBLEM_OVERDUE] = "overdue",
	[XB_PROBLEM_FEED_STALE] = "feed_stale",
	[XB_PROBLEM_STILL_LEARNING] = "still_learning",
	[XB_PROBLEM_NOT_LIMITING] = "not_limiting",
	[XB_PROBLEM_NOT_LISTING] = "not_listing",
	[XB_PROBLEM_NOTHING_WANTED] = "nothing_wanted",
	[XB_PROBLEM_OTHER_POLICY] = "other_policy",
	[XB_PROBLEM_FEED_LATE] = "feed_late",
	[XB_PROBLEM_NO_ROOM] = "no_room",
	[XB_PROBLEM_ELSEWHERE] = "elsewhere",
};

const char *xb_problem_name(enum xb_problem_kind kind)
{
	return names[kind];
}

void xb_problem_add(struct xb_problems *problems, enum xb_problem_kind kind,
		    const struct xb_interface *interface, const char *format, ...)
{
	struct xb_problem *problem;
	va_list arguments;

	if (xb_array_grow(&problems->item, &problems->room, problems->count + 1,
			  sizeof(*problems->item))) {
		problems->lost = true;
		return;
	}
	problem = &problems->item[problems->count++];
	problem->kind = kind;
	problem->interface = interface;
	va_start(arguments, format);
	vsnprintf(problem->text, sizeof(problem->text), format, arguments);
	va_end(arguments);
	xb_utf8_clean(problem->text);
}

void xb_problems_free(struct xb_problems *problems)
{
	free(problems->item);
	*problems = (struct xb_problems){0};
}
