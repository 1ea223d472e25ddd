#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A snapshot that would take much out of a list waits for an operator: until he says yes, nothing is taken out.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2034,SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

# many NUMBER: as many addresses, in $T/many.
many() { python3 -c 'import sys; [print("203.0.%d.%d" % (i >> 8, i & 255)) for i in range(int(sys.argv[1]))]' "$1" >"$T/many"; }

# says_fleet HOST LINE: a line of what it says of its fleet.
says_fleet() { of "$1" fleet | grep -x "$2" >/dev/null; }

entries() { listing "$1" | wc -l; }
# Each knows for itself since when it has an entry.
have_same() { [[ $(listing "$1" | cut -d ' ' -f 1) == "$(listing "$2" | cut -d ' ' -f 1)" ]]; }
have() { [[ $(entries "$1") -eq $2 ]]; }
manifest() { ask_redis --no-raw get 'xb:{test}:snapshot'; }
is_new_snapshot() { [[ $(manifest) != "$1" ]]; }

# makes_snapshot HOST: a new one, now; then only the last entry of the log stays.
makes_snapshot()
{
	local before

	before=$(manifest)
	sed -i '/^snapshot-every/d; $a snapshot-every = 1' "$T/$1/bloomd.conf"
	kill -HUP "${host_pid[$1]}"
	(wait_for "a snapshot" is_new_snapshot "$before") || fail "$1 makes no snapshot: $(tail -n 3 "$T/$1/log")"
	sed -i '/^snapshot-every/d' "$T/$1/bloomd.conf"
	kill -HUP "${host_pid[$1]}"
	wait_for "$1 in the fleet" reads "$1"
	ask_redis xtrim 'xb:{test}:log' MAXLEN 1 >"$T/out"
}

holds() { of "$1" -j fleet | contains "\"held\":\{.*\"lists\":\[\{\"list\":\"$2\",\"before\":$3,\"after\":$4\}\]"; }

# is_held HOST LIST BEFORE AFTER: and says so, in all ways. Perhaps it was held before, and is about to read anew.
is_held()
{
	local text="list $2 would shrink from $3 to $4 entries"

	(wait_for "$1 to wait" says_fleet "$1" "test: held: $text") || fail "it is not said: $(of "$1" fleet)"
	wait_for "it in JSON" holds "$@"
	says_log "$1" "fleet: $text: nothing is changed until an operator accepts it"
	[[ $(of "$1" metrics | awk '$1 == "xdp_bloom_fleet_connected{fleet=\"test\"}" {print $2}') -eq 0 ]] ||
		fail "the metric says that it follows"
}

# away LINE...: hosts a and b have 2,500 addresses; b goes, with these lines in its section.
away()
{
	fleet a b
	many 2500
	of a -q import "$T/many"
	patience=20
	wait_for "them" have b 2500
	down b
	configure_host b "$@"
}

# goes NUMBER: so many of them are deleted on a, with those that were before, and the log forgets it.
gone=0
goes()
{
	# By two entries at least: from the last one alone a host could read on.
	publishes 1 delete $((gone + 1))
	publishes $((($1 - gone + 999) / 1000)) delete "$1"
	makes_snapshot a
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
	wait_for "a resync" grep -q 'fleet: resynced (trimmed): ' "$T/$1/log"
	! grep -q 'would shrink' "$T/$1/log" || fail "$1 was held"
	wait_for "$1 in the fleet" reads "$1"
}

t_more_than_half()
{
	away
	goes 1500
	of b -q add 198.51.100.1 # it waits for the fleet
	up b
	is_held b default 2501 1001
	# What is listed here is enforced, and waits.
	of b -q add 198.51.100.2
	of b -q del 203.0.9.1
	wait_for "them in the outbox" outbox_is b 3
	of a -q add 198.51.100.3
	sleep 2
	is_in b held || fail "it goes on by itself: $(field b state)"
	has b 203.0.0.0 || fail "it is taken out"
	have b 2501 || fail "b has $(entries b)"
	# Nor does it, by itself, after a start.
	down b
	up b
	is_held b default 2501 1001
	has b 203.0.0.0 || fail "it is taken out by a start"
	of b fleet accept | contains '^bloomd synchronizes with the fleet test$' || fail "what it says: $(of b fleet)"
	wait_for "b in the fleet" reads b
	wait_for "what waited" has a 198.51.100.2
	wait_for "what waited" has_not a 203.0.9.1
	wait_for "what came meanwhile" has b 198.51.100.3
	wait_for "the same" are_equal a b
	have b 1002 || fail "b has $(entries b)"
	! of b -q fleet accept || fail "nothing waits any more"
}

t_half_and_no_more()
{
	away
	goes 1250
	up b
	resyncs b
	wait_for "the same" are_equal a b
	have b 1250 || fail "b has $(entries b)"
}

t_fewer_than_a_thousand()
{
	fleet a b
	many 1200
	of a -q import "$T/many"
	patience=20
	wait_for "them" have b 1200
	down b
	goes 999
	up b
	resyncs b
	have b 201 || fail "b has $(entries b)"
}

t_another_factor()
{
	away 'max-change = 10'
	goes 2000
	up b
	resyncs b
	have b 500 || fail "b has $(entries b)"
	down b
	configure_host b 'max-change = 1.1'
	goes 2100
	up b
	is_held b default 500 400
}

t_emptying_a_list()
{
	fleet a b
	of a -q add 192.0.2.1
	patience=20
	wait_for "it" has b 192.0.2.1
	down b
	publishes 1 of a -q add 192.0.2.2
	publishes 1 of a -q del 192.0.2.1 192.0.2.2
	makes_snapshot a
	up b
	is_held b default 1 0
	has b 192.0.2.1 || fail "it is taken out"
	of b -q fleet accept
	wait_for "b in the fleet" reads b
	have b 0 || fail "it stays: $(listing b)"
}

# An operator sees all of them before he accepts.
t_several_lists()
{
	local list text

	redis
	for host in a b; do
		mkdir "$T/$host"
		printf '%s\n' '[fleet]' "url = unix:$T/redis.sock" 'name = test' 'publish = bans spam scans' \
			'follow = bans spam scans' >"$T/$host/bloomd.conf"
	done
	for list in bans spam scans; do
		of a -q add --list $list 192.0.2.1
	done
	patience=20
	up a
	wait_for "a in the fleet" reads a
	up b
	wait_for "it" has b 192.0.2.1
	down b
	publishes 1 of a -q add --list bans 192.0.2.2
	for list in bans spam; do
		publishes 1 of a -q del --list $list 192.0.2.1
	done
	publishes 1 of a -q del --list bans 192.0.2.2
	makes_snapshot a
	up b
	wait_for "b to wait" is_in b held
	text='list bans would shrink from 1 to 0 entries, list spam would shrink from 1 to 0 entries'
	of b fleet | contains "^test: held: $text$" || fail "it is not said: $(of b fleet)"
	says_log b "fleet: $text: nothing is changed"
	of b -j fleet >"$T/out"
	json "[each['list'] for each in d['fleet']['held']['lists']] == ['bans', 'spam']"
	of b -q fleet accept
	wait_for "b in the fleet" reads b
	wait_for "the same" have_same a b
	have b 1 || fail "b has $(entries b)"
}

# What this host alone has is not the fleet's.
t_a_list_that_was_not_shared_before()
{
	fleet a
	patience=20
	publishes 1 of a -q add 192.0.2.1
	makes_snapshot a
	mkdir "$T/b"
	printf '%s\n' '[fleet]' "url = unix:$T/redis.sock" 'name = test' 'follow = default' >"$T/b/bloomd.conf"
	of b -q add 192.0.2.1 192.0.2.2 192.0.2.3
	up b
	is_held b default 3 1
	of b fleet | contains '^  list     default, 3 entries, followed, not synchronized yet$' || fail "$(of b fleet)"
	has b 192.0.2.3 || fail "it is taken out"
	of b -q fleet accept
	wait_for "b in the fleet" reads b
	wait_for "the same" have_same a b
	# One that has nothing else is let in at once.
	mkdir "$T/c"
	cp "$T/b/bloomd.conf" "$T/c"
	of c -q add 192.0.2.1
	up c
	wait_for "c in the fleet" reads c
	# One that publishes gives what it has instead.
	configure_host d
	of d -q add 192.0.2.4
	up d
	wait_for "d in the fleet" reads d
	wait_for "what it had" has c 192.0.2.4
	wait_for "the same" have_same a b
	wait_for "the same" have_same a d
}

# An operator who has seen one snapshot has not seen the next one.
t_accepted_is_what_was_seen()
{
	away
	goes 1500
	up b
	is_held b default 2500 1000
	goes 2400
	of b -q fleet accept
	is_held b default 2500 100
	have b 2500 || fail "b has $(entries b)"
	of b -q fleet accept
	wait_for "b in the fleet" reads b
	wait_for "the same" are_equal a b
	have b 100 || fail "b has $(entries b)"
}

# A snapshot that takes out less needs nobody's yes.
t_what_is_held_comes_back()
{
	away
	goes 1500
	up b
	is_held b default 2500 1000
	publishes 2 of a -q import "$T/many"
	makes_snapshot a
	of b -q fleet resync
	wait_for "b in the fleet" reads b
	wait_for "the same" have_same a b
	have b 2500 || fail "b has $(entries b)"
}

run_tests
