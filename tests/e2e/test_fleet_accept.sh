#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A snapshot that would take much out of a list waits for an operator: until he says yes, nothing is taken out. How much
# that is, unit/bloomd/fleet/test_snapshotguard asks.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

# Each knows for itself since when it has an entry.
have_same() { [[ $(listing "$1" | cut -d ' ' -f 1) == "$(listing "$2" | cut -d ' ' -f 1)" ]]; }
have() { [[ $(entries "$1") -eq $2 ]]; }

# leaves_snapshot HOST: a new one, now; then only the last entry of the log stays.
leaves_snapshot()
{
	makes_snapshot "$1"
	ask_redis xtrim 'xb:{test}:log' MAXLEN 1 >"$T/out"
}

holds() { of "$1" -j fleet | contains "\"held\":\{.*\"lists\":\[\{\"list\":\"$2\",\"before\":$3,\"after\":$4\}\]"; }

# is_held HOST LIST BEFORE AFTER: and says so, in all ways. Perhaps it was held before, and is about to read anew.
is_held()
{
	local text="list $2 would shrink from $3 to $4 entries"

	(wait_for "$1 to wait" shows "$1" "^test: held: $text$") || fail "it is not said: $(of "$1" fleet)"
	wait_for "it in JSON" holds "$@"
	says_log "$1" "fleet: $text: nothing is changed until an operator accepts it"
	metric_is "$1" fleet_connected 0 || fail "the metric says that it follows"
}

# away HOST...: a and these have 2,500 addresses, and these go.
away()
{
	local host

	fleet a "$@"
	many 2500
	of a -q import "$T/many"
	for host; do
		wait_for "them" have "$host" 2500
		down "$host"
	done
}

# leaves NUMBER: so many of them are deleted on a, with those that were before, and the log forgets it.
gone=0
leaves()
{
	# By two entries at least: from the last one alone a host could read on.
	publishes 1 delete $((gone + 1))
	publishes $((($1 - gone + 999) / 1000)) delete "$1"
	leaves_snapshot a
}

# delete NUMBER
delete()
{
	sed -n "$((gone + 1)),$1p" "$T/many" | xargs "$bloomctl" --state "$T/a/state" --pin "$pins-a" --run "$T/a/run" -q del
	gone=$1
}

# resyncs HOST: it takes a snapshot, and nobody has to say yes.
resyncs()
{
	says_log "$1" 'fleet: resynced \(trimmed\): '
	! logs "$1" 'would shrink' || fail "$1 was held"
	in_fleet "$1"
}

t_more_than_half()
{
	away b c
	leaves 1500
	of b -q add 198.51.100.1 # it waits for the fleet
	up b
	is_held b default 2501 1001
	# What is listed here is enforced, and waits.
	of b -q add 198.51.100.2
	of b -q del 20.0.9.1
	wait_for "them in the outbox" outbox_is b 3
	of a -q add 198.51.100.3
	# With another factor it is not so much.
	configure_host c 'max-change = 10'
	up c
	resyncs c
	comes c 198.51.100.3
	is_in b held || fail "it goes on by itself: $(field b state)"
	has b 20.0.0.0 || fail "it is taken out"
	have b 2501 || fail "b has $(entries b)"
	# Nor does it, by itself, after a start.
	down b
	up b
	is_held b default 2501 1001
	has b 20.0.0.0 || fail "it is taken out by a start"
	of b fleet accept | contains '^bloomd synchronizes with the fleet test$' || fail "what it says: $(of b fleet)"
	in_fleet b
	comes a 198.51.100.2
	goes a 20.0.9.1
	comes b 198.51.100.3
	agree 1002 a b c
	! of b -q fleet accept || fail "nothing waits any more"
}

# An operator sees all of them before he accepts.
t_several_lists()
{
	local list text

	lines=('publish = bans spam scans' 'follow = bans spam scans')
	redis
	configure_host a
	for list in bans spam scans; do
		of a -q add --list $list 192.0.2.1
	done
	joins a
	joins b
	comes b 192.0.2.1
	down b
	publishes 1 of a -q add --list bans 192.0.2.2
	for list in bans spam; do
		publishes 1 of a -q del --list $list 192.0.2.1
	done
	publishes 1 of a -q del --list bans 192.0.2.2
	leaves_snapshot a
	up b
	wait_for "b to wait" is_in b held
	text='list bans would shrink from 1 to 0 entries, list spam would shrink from 1 to 0 entries'
	shows b "^test: held: $text$" || fail "it is not said: $(of b fleet)"
	says_log b "fleet: $text: nothing is changed"
	of b -j fleet >"$T/out"
	json "[each['list'] for each in d['fleet']['held']['lists']] == ['bans', 'spam']"
	of b -q fleet accept
	in_fleet b
	wait_for "the same" have_same a b
	have b 1 || fail "b has $(entries b)"
}

# What this host alone has is not the fleet's.
t_a_list_that_was_not_shared_before()
{
	fleet a
	publishes 1 of a -q add 192.0.2.1
	leaves_snapshot a
	configure_follower b
	of b -q add 192.0.2.1 192.0.2.2 192.0.2.3
	up b
	is_held b default 3 1
	shows b '^  list     default, 3 entries, followed, not synchronized yet$' || fail "$(of b fleet)"
	has b 192.0.2.3 || fail "it is taken out"
	of b -q fleet accept
	in_fleet b
	wait_for "the same" have_same a b
	# One that has nothing else is let in at once.
	configure_follower c
	of c -q add 192.0.2.1
	up c
	in_fleet c
	# One that publishes gives what it has instead.
	configure_host d
	of d -q add 192.0.2.4
	up d
	in_fleet d
	comes c 192.0.2.4
	wait_for "the same" have_same a b
	wait_for "the same" have_same a d
}

# An operator who has seen one snapshot has not seen the next one; and one that takes out less needs nobody's yes. Half is
# not too much.
t_accepted_is_what_was_seen()
{
	away b
	leaves 1250
	up b
	resyncs b
	have b 1250 || fail "b has $(entries b)"
	down b
	leaves 2300
	up b
	is_held b default 1250 200
	publishes 3 of a -q import "$T/many"
	leaves_snapshot a
	of b -q fleet resync
	in_fleet b
	wait_for "the same" have_same a b
	have b 2500 || fail "b has $(entries b)"
	down b
	gone=0
	leaves 1500
	up b
	is_held b default 2500 1000
	leaves 2400
	of b -q fleet accept
	is_held b default 2500 100
	have b 2500 || fail "b has $(entries b)"
	of b -q fleet accept
	in_fleet b
	wait_for "the same" have_same a b
	have b 100 || fail "b has $(entries b)"
}

run_tests
