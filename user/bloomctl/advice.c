/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomctl/advice.h"

#include <stdio.h>

/* It follows the text of the problem. */
static const char *const advice[XB_PROBLEM_KINDS] = {
	[XB_PROBLEM_RENAMED] = "; the next command keeps it under that name",
	[XB_PROBLEM_NAME_UNUSABLE] = ", which no command takes: give it another name",
	[XB_PROBLEM_NAME_TAKEN] = "; the next command protects both",
	[XB_PROBLEM_UNWANTED] = "; the next command ends that",
	[XB_PROBLEM_STALE] = "; `bloomctl up` clears it away",
	[XB_PROBLEM_FILTER_IDLE] = "; the next command takes it off",
	[XB_PROBLEM_COUNTERS_LOST] = "; the next change builds it anew",
	[XB_PROBLEM_INTERRUPTED] = "; the next command builds the filter anew",
	[XB_PROBLEM_FILTER_BEHIND] = "; the next command brings it up to date",
	[XB_PROBLEM_FILTER_UNFIT] = "; the next command builds it anew",
	[XB_PROBLEM_POLICY] = "; the next command sets it",
	[XB_PROBLEM_TRIAL_OVER] = "; the next command clears it away",
};

const char *advice_for(const struct xb_problem *problem, char text[ADVICE_TEXT])
{
	const struct xb_interface *item = problem->interface;

	if (problem->kind == XB_PROBLEM_MODE)
		snprintf(text, ADVICE_TEXT, "%s; `bloomctl attach %s --mode %s` tries again",
			 problem->text, item->wanted, xb_mode_name(item->mode));
	else
		snprintf(text, ADVICE_TEXT, "%s%s", problem->text, advice[problem->kind] ?: "");
	return text;
}
