#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What hosts of a fleet report: a host whose lists are not the same is found, and so is one that is silent.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

shows() { of "$1" fleet | contains "$2"; }
shows_no() { ! shows "$@"; }
# short HOST: of its identity, as others show it.
short() { field "$1" host | cut -c 1-8; }

# is_reported HOST OTHER: HOST knows where OTHER is now.
is_reported() { shows "$1" "^  host .*\\($(short "$2")\\), position $(field "$2" position), 0 to publish"; }

t_a_host_that_differs()
{
	fleet a b c
	of a -q add 192.0.2.1 192.0.2.2
	wait_for "it" has b 192.0.2.2
	wait_for "it" has c 192.0.2.2
	patience=12
	for host in a b c; do
		for other in a b c; do
			wait_for "a report" is_reported $host $other
		done
		shows_no $host 'DIFFERS|SILENT' || fail "$(of $host fleet)"
	done
	# Behind the back of b, and of the others.
	"$XB_TEST_DIR/bin/plant" "$T/b/state" del default 192.0.2.1
	has_not b 192.0.2.1 || fail "it is still there"
	outbox_is b 0 || fail "the others would get it"
	wait_for "a difference" shows a "^  host .*\($(short b)\), .*DIFFERS"
	wait_for "a difference" shows c "^  host .*\($(short b)\), .*DIFFERS"
	[[ $(of a fleet | grep -c DIFFERS) -eq 1 ]] || fail "others differ, too: $(of a fleet)"
	wait_for "two that differ" metric_is b fleet_differing_hosts 2
	wait_for "one that differs" metric_is a fleet_differing_hosts 1
	[[ $(metric a fleet_hosts) -eq 3 ]] || fail "$(of a metrics | grep fleet_hosts)"
	of b -q fleet resync
	wait_for "what was lost" has b 192.0.2.1
	wait_for "an end of it" shows_no a DIFFERS
	wait_for "an end of it" metric_is b fleet_differing_hosts 0
}

# It differs from what it was for a moment only: what waits to be published is no difference.
t_what_waits_is_no_difference()
{
	fleet a b
	of a -q add 192.0.2.1
	wait_for "it" has b 192.0.2.1
	ask_redis acl setuser default -xadd >"$T/out"
	of a -q add 192.0.2.2
	patience=12
	wait_for "a report" shows b "^  host .*\($(short a)\), .* 1 to publish"
	shows_no b DIFFERS || fail "$(of b fleet)"
	[[ $(metric b fleet_differing_hosts) -eq 0 ]] || fail "it is counted"
}

t_a_host_that_is_silent_or_behind()
{
	fleet a b
	of a -q add 192.0.2.1
	wait_for "it" has b 192.0.2.1
	# a comes with a clock that leaps: a minute without a report of b is over at once.
	down a
	clocked a 0
	patience=12
	wait_for "a report" is_reported a b
	shows_no a SILENT || fail "$(of a fleet)"
	down b
	of a -q add 192.0.2.2
	of a -q add 192.0.2.3
	wait_for "what b lacks" shows a "^  host .*\($(short b)\), position [0-9]* \([12] behind\)"
	set_ahead a 120
	wait_for "its silence" shows a "^  host .*\($(short b)\), .*, SILENT"
	wait_for "the metric" metric_is a fleet_silent_hosts 1
	[[ $(of a fleet | grep -c SILENT) -eq 1 ]] || fail "a is not silent: $(of a fleet)"
	up b
	wait_for "its word" shows_no a SILENT
	wait_for "the metric" metric_is a fleet_silent_hosts 0
	wait_for "what b lacked" shows_no a behind
}

run_tests
