/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "bloomctl/advice.h"

#include <stdio.h>

/* It follows the text of the problem. */
static const char *const behind[XB_PROBLEM_KINDS] = {
	[XB_PROBLEM_UNFILTERED] = "; `bloomctl up` tries again",
	[XB_PROBLEM_RENAMED] = "; the next command keeps it under that name",
	[XB_PROBLEM_NAME_UNUSABLE] = ", which no command takes: give it another name",
	[XB_PROBLEM_NAME_TAKEN] = "; the next command protects both",
	[XB_PROBLEM_UNWANTED] = "; the next command ends that",
	[XB_PROBLEM_STALE] = "; `bloomctl up` clears it away",
	[XB_PROBLEM_VLAN_ANSWERS] = "; the next command sets that right",
	[XB_PROBLEM_UNPROVEN] = "; once more come, `bloomctl status` can tell",
	[XB_PROBLEM_NOT_ENFORCED] = "; `bloomctl up` enforces it again",
	[XB_PROBLEM_FILTER_UNKNOWN] = ": `bloomctl up` does that",
	[XB_PROBLEM_FILTER_FOREIGN] = "; `bloomctl attach` takes over with this one",
	[XB_PROBLEM_CHANGE_LASTS] = "; wait for its end",
	[XB_PROBLEM_FILTER_IDLE] = "; the next command takes it off",
	[XB_PROBLEM_COUNTERS_LOST] = "; the next change builds it anew",
	[XB_PROBLEM_INTERRUPTED] = "; the next command builds the filter anew",
	[XB_PROBLEM_FILTER_BEHIND] = "; the next command brings it up to date",
	[XB_PROBLEM_FILTER_UNFIT] = "; the next command builds it anew",
	[XB_PROBLEM_POLICY] = "; the next command sets it",
	[XB_PROBLEM_TRIAL_OVER] = "; bloomd, the timer xdp-bloom-expire or `bloomctl up` ends it",
	[XB_PROBLEM_NOT_LEARNING] = "; the next command that writes tries again",
	[XB_PROBLEM_OVERDUE] = "; `bloomctl expire` takes it out, and bloomd would in time",
	[XB_PROBLEM_FEED_STALE] = "; `bloomctl feeds` says more",
	[XB_PROBLEM_STILL_LEARNING] = "; the next command that writes tries again",
	[XB_PROBLEM_NOT_LIMITING] = "; with the package, `bloomctl rotate` builds it anew",
	[XB_PROBLEM_NOT_LISTING] = "; they are limited all the same",
	[XB_PROBLEM_NOTHING_WANTED] = "; `bloomctl attach INTERFACE` filters one",
	[XB_PROBLEM_FEED_LATE] = "; does bloomd run?",
	[XB_PROBLEM_KNOWN_FULL] = " until two periods have passed, or `bloomctl known clear`",
};

const char *advice_for(const struct xb_problem *problem, char text[ADVICE_TEXT])
{
	const struct xb_interface *item = problem->interface;

	if (problem->kind == XB_PROBLEM_ELSEWHERE)
		snprintf(text, ADVICE_TEXT,
			 "%s; bring it back, or `bloomctl detach %s` takes the filter off",
			 problem->text, item->wanted);
	else if (problem->kind == XB_PROBLEM_UNFILTERED && !item->lasting)
		snprintf(text, ADVICE_TEXT, "%s; it is on trial: `bloomctl detach %s` ends that",
			 problem->text, item->wanted);
	else if (problem->kind == XB_PROBLEM_UNFILTERED && item->difference == XB_IFACE_MISSING)
		snprintf(text, ADVICE_TEXT,
			 "%s; `bloomctl up` filters it when it is there, and `bloomctl detach %s` "
			 "ends the wish",
			 problem->text, item->wanted);
	else if (problem->kind == XB_PROBLEM_LEFT)
		snprintf(text, ADVICE_TEXT,
			 "%s; `ip link set dev %s mtu 1500 && bloomctl up` takes it off",
			 problem->text, item->now.name);
	else if (problem->kind == XB_PROBLEM_MODE && item->mode == XB_MODE_AUTO)
		snprintf(text, ADVICE_TEXT, "%s; the next command takes skb mode", problem->text);
	else if (problem->kind == XB_PROBLEM_MODE && item->mode == item->now.mode)
		snprintf(text, ADVICE_TEXT, "%s; `bloomctl attach %s --mode skb` takes skb mode",
			 problem->text, item->wanted);
	else if (problem->kind == XB_PROBLEM_MODE)
		snprintf(text, ADVICE_TEXT, "%s; `bloomctl attach %s --mode %s` tries again",
			 problem->text, item->wanted, xb_mode_name(item->mode));
	else
		snprintf(text, ADVICE_TEXT, "%s%s", problem->text, behind[problem->kind] ?: "");
	return text;
}

/* Without a default, so that the compiler finds what is missing. */
const char *advice_words(enum xb_advice advice)
{
	switch (advice) {
	case XB_ADVICE_WAIT_LONGER:
		return " (--wait SECONDS changes that)";
	case XB_ADVICE_REBUILD:
		return ": `bloomctl rotate` builds it anew";
	case XB_ADVICE_CONFIRM:
		return " (`bloomctl rotate --confirm`)";
	case XB_ADVICE_COMMIT:
		return "; `bloomctl commit` keeps it";
	case XB_ADVICE_SHUT_OUT:
		return " (--force does it all the same)";
	case XB_ADVICE_ADMIT:
		return " (--force admits them; with the verdict count a list admits nobody)";
	case XB_ADVICE_REMEMBER:
		return ": `bloomctl known on` first";
	case XB_ADVICE_ATTACH_FIRST:
		return ": `bloomctl attach` first";
	case XB_ADVICE_ATTACH_WAITING:
		return " (`bloomctl up` attaches them)";
	case XB_ADVICE_REPLACE_OLD:
		return ", `bloomctl up` replaces it";
	case XB_ADVICE_TAKE_OVER:
		return ", or take over with restore or attach";
	case XB_ADVICE_DETACH_THERE:
		return "; `bloomctl detach` of that one takes it off";
	case XB_ADVICE_DETACH_AGAIN:
		return " (`bloomctl up`)";
	case XB_ADVICE_MODE_SKB:
		return " or use --mode skb";
	case XB_ADVICE_MODE_SKB_OR_AUTO:
		return "; use --mode auto or skb";
	case XB_ADVICE_MODE_NATIVE_OR_AUTO:
		return "; use --mode auto or native";
	case XB_ADVICE_RUN_THERE:
		return " bloomctl ...";
	case XB_ADVICE_MOVE_HERE:
		return "; to go on in this one: `bloomctl detach --all`, then attach";
	case XB_ADVICE_GO_ON_HERE:
		return "; `bloomctl up` goes on in this one";
	case XB_ADVICE_RESTORE_SAVED:
		return " and restore a `save`";
	case XB_ADVICE_GO_BACK:
		return ". The way back: DOWNGRADE in bloomctl(8)";
	case XB_ADVICE_BRING_OVER:
		return ". To bring it over: DOWNGRADE in bloomctl(8)";
	case XB_ADVICE_NAME_FORMAT:
		return "; --format names the right one";
	case XB_ADVICE_NAME_ZONE:
		return "; --zone names it";
	case XB_ADVICE_FORMAT:
		return " with --format";
	case XB_ADVICE_COLUMN:
		return " with --column";
	case XB_ADVICE_JSON:
		return " (--json-path PATH)";
	case XB_ADVICE_SET:
		return " with --set";
	case XB_ADVICE_PIPE:
		return " | bloomctl import -";
	case XB_ADVICE_PLACES:
		return " (--country, --not-country, --continent, --asn, --mmdb-path)";
	case XB_ADVICE_BELOW:
		return "; --below takes all names below them, too";
	case XB_ADVICE_SKIP_BAD:
		return " (--skip-bad NUMBER leaves out up to NUMBER wrong lines)";
	case XB_ADVICE_SCOPE:
		return "; a list of those sources with --scope can";
	case XB_ADVICE_ALLOW_ONLY:
		return "; `bloomctl policy allow-only` can";
	case XB_ADVICE_ALLOW:
		return ": `bloomctl allow add`";
	}
	return "";
}
