#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The bouncer of bloomd, and answers that Debian's CrowdSec cannot be brought to give: a stand-in gives them.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154,SC2119
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/feeds.sh"
. "$(dirname "$0")/crowdsec.sh"

# What newer servers answer when their database fails in the middle: valid, and not all.
t_a_whole_answer_that_is_not()
{
	local half

	stand_in
	ctl -q attach x0
	answer whole "$(decisions 0 3000),$(decision 5000 10.77.0.3)"
	bouncer
	wait_for "the bans" has_listed 3001
	for half in "" "$(decisions 0 2900)"; do
		answer whole "$half"
		resync
		[[ $(listed) -eq 3001 ]] || fail "$(listed) are listed"
	done
	# Nor after a start, when what the server has told is forgotten.
	agent_ends
	printf '{"new":null,"deleted":null}' >"$T/whole"
	agent
	wait_for "an answer" works
	next_request
	[[ $(listed) -eq 3001 ]] || fail "$(listed) are listed after a start"
	blocked 10.77.0.3
}

t_answers_that_are_none()
{
	local answer

	stand_in
	ctl -q attach x0
	answer whole "$(decision 1 10.77.0.3)"
	bouncer
	wait_for "the ban" works
	# Others: unit/fetch/test_decisions.
	for answer in '' '{"new":[]}' '<html><body>checking your browser</body></html>'; do
		printf '%s' "$answer" >"$T/whole"
		fails_with "$answer" corrupt
	done
	printf 'CUT\n{"new":[],"deleted":[' >"$T/whole"
	fails_with "half an answer" truncated
	printf 'HTTP 500\n{"new":[],"deleted":[]}' >"$T/whole"
	fails_with "an error" http-error
	printf 'HTTP 302 Location: /elsewhere\n' >"$T/whole"
	fails_with "a redirect" http-error
	[[ $(requests elsewhere) -eq 0 ]] || fail "the key goes elsewhere"
	answer whole "$(decision 2 10.77.0.4)"
	exits 0 feeds update crowdsec
	wait_for "the next ban" is_listed 10.77.0.4
	comes_blocked 10.77.0.4
	blocked 10.77.0.3
	! grep -vE 'agent=xdp-bloom/[^/ ]* key=standin' "$T/requests" >"$T/others" || fail "who asks? $(cat "$T/others")"
}

# fails_with WHAT OUTCOME: of an answer to a request for all, which changes nothing.
fails_with()
{
	exits 0 feeds update crowdsec
	wait_for "$2 after $1 ($(ctl -j feeds))" has_state "$2"
	is_listed 10.77.0.3 || fail "after $1 nothing is listed"
	answer whole "$(decision 1 10.77.0.3)"
	exits 0 feeds update crowdsec
	wait_for "its recovery" works
}

# What the server has told it does not tell again: after a delta that was lost, all is asked for.
t_a_delta_that_is_lost()
{
	stand_in
	ctl -q attach x0
	answer whole "$(decision 1 10.77.0.3)"
	bouncer
	wait_for "the ban" works
	next_request startup=false
	answer whole "$(decision 1 10.77.0.3),$(decision 2 10.77.0.4)"
	printf 'CUT\n{"new":[%s]' "$(decision 2 10.77.0.4)" >"$T/delta"
	wait_for "what was lost" is_listed 10.77.0.4
	has_resyncs failure 1 || fail "it came otherwise"
	# Decisions come and go by deltas.
	next_request startup=false
	answer delta "$(decision 3 10.77.0.6)" "$(decision 1 10.77.0.3 -1s)"
	wait_for "a ban" is_listed 10.77.0.6
	comes_through 10.77.0.3
	# Deletions first: what is banned again stays so.
	answer delta "$(decision 4 10.77.0.6)" "$(decision 3 10.77.0.6 -1s)"
	wait_for "the delta" test -e "$T/delta.taken"
	next_request startup=false
	blocked 10.77.0.6
	# A process that dies with an answer has lost it.
	answer whole "$(decision 4 10.77.0.6),$(decision 5 10.77.0.5)"
	rm "$T/delta.taken"
	answer delta "$(decision 5 10.77.0.5)"
	wait_for "the delta" test -e "$T/delta.taken"
	agent_ends KILL 137
	agent
	wait_for "the ban" is_listed 10.77.0.5
	comes_blocked 10.77.0.5
	blocked 10.77.0.4 10.77.0.6
}

# Much at once is held; what comes with it is not.
t_much_goes_at_once()
{
	stand_in
	ctl -q attach x0
	answer whole "$(decisions 0 3000),$(decision 5000 10.77.0.3)"
	bouncer
	wait_for "the bans" has_listed 3001
	answer delta "$(decision 5001 10.77.0.4)" "$(decisions 0 900 -1s)"
	wait_for "a ban" is_listed 10.77.0.4
	wait_for "that 900 go" has_listed 2102
	answer delta "$(decision 5002 10.77.0.6)" "$(decisions 900 2100 -1s),$(decision 5000 10.77.0.3 -1s)"
	wait_for "a ban" is_listed 10.77.0.6
	wait_for "a refusal" has_state refused max-change
	[[ $(listed) -eq 2103 ]] || fail "$(listed) are listed"
	says_agent 'warning: crowdsec: refused by max-change: 2101 of 2103 entries would go at once; they stay'
	metric_is 'feed_refusals_total{feed="crowdsec",guard="max-change"}' 1
	blocked 10.77.0.3 10.77.0.4 10.77.0.6
	# It is told until all decisions come again; what is known of each was not lost.
	next_request
	has_state refused max-change || fail "it is told no more"
	answer delta "" "$(decision 5000 10.77.0.3 -1s)"
	wait_for "the end of one" is_not_listed 10.77.0.3
	answer whole "$(decisions 900 2100),$(decision 5001 10.77.0.4),$(decision 5002 10.77.0.6)"
	resync
	# Someone who wants that says so.
	bouncer_reload 'max-change = 5000'
	wait_for "an answer" works
	answer delta "" "$(decisions 900 2100 -1s)"
	wait_for "that they go" has_listed 2
	blocked 10.77.0.4 10.77.0.6
}

metric_is() { [[ $(ctl metrics | awk -v name="xdp_bloom_$1" '$1 == name {print $2}') -eq $2 ]] || fail "$1 is not $2"; }

# A server that bans everybody. What is odd spoils nothing for the others, and nobody is banned for ever: unit/fetch asks
# more of what is left out, and of times.
t_too_wide()
{
	stand_in
	ctl -q attach x0
	begun=$(date +%s)
	answer whole "$(decision 1 0.0.0.0/0),$(decision 2 ::/0),$(decision 3 128.0.0.0/1),$(decision 4 10.77.0.3 1.5h),$(
		decision 7 not.an.address),$(decision 8 5.9.0.4 soon),{},$(decision 9 5.9.0.6 2562047h47m16.854775807s)"
	bouncer
	wait_for "the ban" works
	passes 10.77.0.2
	blocked 10.77.0.3
	[[ $(listed) -eq 2 && $(left_out too-wide) -eq 3 ]] || fail "$(listed) are listed, $(left_out too-wide) too wide"
	says_agent 'warning: crowdsec: 3 bans left out because they are not understood, 3 because'
	ends_within 10.77.0.3 5398 5402 || fail "1.5h is $(ends 10.77.0.3) s"
	# For ever is the end of the store's time, in 2106.
	ends_within 5.9.0.6 1000000000 4294967295 || fail "as long as Go can is $(ends 5.9.0.6) s"
	# The same decisions again change no time: what is left of them is less by then.
	answer whole "$(decision 4 10.77.0.3 "@$(ends_at 10.77.0.3)@"),$(decision 9 5.9.0.6 2562047h47m16.854775807s)"
	resync
	! grep -q ' [1-9][0-9]* renewed' "$T/agent.err" || fail "it renews: $(grep renewed "$T/agent.err")"
	answer delta "$(for i in $(seq 16); do printf '%s,' "$(decision $((100 + i)) "$((20 + i)).0.0.0/8" 1h ban Range)"; done)$(
		decision 5 10.77.0.4)" "$(decision 4 10.77.0.3 -1s),$(decision 9 5.9.0.6 -1s)"
	wait_for "a refusal" has_state refused max-share
	is_not_listed 10.77.0.3 || fail "what is over stays"
	[[ $(listed) -eq 0 ]] || fail "$(listed) are listed"
	answer whole "$(decisions 0 20),$(decision 5 10.77.0.4)"
	bouncer_reload 'max-entries = 20'
	wait_for "another refusal" has_state refused max-entries
	[[ $(listed) -eq 0 ]] || fail "$(listed) are listed"
	bouncer_reload 'max-entries = 21'
	wait_for "the bans" has_listed 21
	comes_blocked 10.77.0.4
	# The allowlist wins, as ever.
	ctl -q allow add 10.77.0.4
	passes 10.77.0.4
}

# LAPI listens at a path from 1.6.3 on.
t_socket()
{
	stand_in
	ctl -q attach x0
	answer whole "$(decision 1 10.77.0.3)"
	bouncer "url = unix:$T/lapi.sock"
	wait_for "the ban" is_listed 10.77.0.3
	comes_blocked 10.77.0.3
	answer delta "$(decision 2 10.77.0.4)"
	wait_for "the next ban" is_listed 10.77.0.4
	rm "$T/lapi.sock"
	wait_for "its failure" has_state no-connection
	ctl feeds | contains "why      cannot connect to $T/lapi.sock" || fail "it says: $(ctl feeds)"
	blocked 10.77.0.3 10.77.0.4
}

run_tests
