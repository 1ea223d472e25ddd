#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Snapshots of a fleet: when they are made and by whom, that the server does not keep more and more, and that a host
# from whom the log was trimmed away takes one, by difference.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

first_of_log() { local first && first=$(ask_redis --raw xrange 'xb:{test}:log' - + count 1) && echo "${first%%-0*}"; }
begins_behind() { [[ $(first_of_log) -gt $1 ]]; }
has_all_of_log() { snapshot && [[ $position -eq $(log_end) ]]; }

# Until there is a snapshot of all that the log has by then.
wait_for_snapshot()
{
	(wait_for "a snapshot" has_all_of_log) || fail "no snapshot: $(cat "$T"/?/log)"
	snapshot
}

t_made_on_time()
{
	local former

	lines=('snapshot-every = 1')
	fleet a b
	for number in 1 2 3 4; do
		adds a b 192.0.2.$number
		wait_for_snapshot
		former=$position
	done
	of b -q del 192.0.2.1
	wait_for_snapshot
	[[ $position -gt $former ]] || fail "it stands at $position, as the one before"
	# The log begins where the snapshot before this one stands, so that who reads that one can go on from there.
	wait_for "a log that was trimmed" begins_behind 2
	snapshot
	[[ $(first_of_log) -le $((position + 1)) ]] || fail "the log begins at $(first_of_log), the snapshot stands at $position"
	# If nothing changes, there is another one all the same.
	wait_for "another one" is_newer "$id"
	! cat "$T"/?/log | grep 'cannot make a snapshot' || fail "it is said that it fails"
	# What is left of the others goes.
	wait_for "an end of older chunks" only_newest_lasts
	[[ $(ask_redis --raw keys 'xb:{test}:*' | grep -Ecv ':(chunk|bloom):') -le 5 ]] || fail "$(ask_redis keys '*')"
	reads a && reads b || fail "they do not read on"
	agree - a b
	logs a 'made a snapshot' || logs b 'made a snapshot' || fail "it is not said"
}

# One chunk has all there is, with its Bloom digest; the list has one line, or two while another is made.
only_newest_lasts()
{
	snapshot
	[[ $lasting -eq 2 && $(ask_redis ttl "xb:{test}:chunk:$id:0") == -1 && $(ask_redis ttl "xb:{test}:bloom:$id:0") == -1 &&
		$(ask_redis --raw get 'xb:{test}:chunks') == "$id 1"* ]]
}

# By default an hour would pass.
t_after_100_000_changes()
{
	local began

	fleet a b
	snapshot
	began=$id
	adds a b 192.0.2.1
	ask_redis monitor >"$T/monitor" &
	many 100000
	of a -q import "$T/many"
	wait_for "a snapshot" is_newer "$began"
	# Both have counted the changes, and whoever comes second finds the snapshot of the first.
	wait_for "both" have_tried 2
	published a
	[[ $(of b list | grep -c '^20\.') -eq 100000 ]] || fail "b has $(of b list | wc -l) entries"
	[[ $(cat "$T"/?/log | grep -c 'made a snapshot') -eq 1 ]] || fail "more than one: $(cat "$T"/?/log)"
	[[ $position -gt 50 ]] || fail "it stands at $position"
}

have_tried() { [[ $(grep -c '"SET" "xb:{test}:lease"' "$T/monitor") -ge $1 ]]; }

# It is about to begin a log, and loses only the connection by which it would. It tries again.
t_a_connection_that_ends_before_a_log_begins()
{
	local client

	redis
	configure_host a
	stands a fleet-snapshot
	client=$(ask_redis --raw client list | sed -n 's/^id=\([0-9]*\) .* cmd=get .*/\1/p')
	ask_redis client kill id "$client" >"$T/out"
	while kill -CONT "${host_pid[a]}"; do rest 0.2; done &
	wait_for "a log" reads a
	kill $!
	[[ $(log_length) -eq 1 ]] || fail "$(log_length) entries"
}

# makes_none WHEN: a, which stood still, goes on and makes no snapshot in the place of the newest one.
makes_none()
{
	local before

	snapshot
	before=$id
	continues a
	says_log a 'cannot make a snapshot: it took longer than the lease'
	snapshot
	[[ $id == "$before" ]] || fail "$1: it was made all the same"
}

# First a machine is suspended: its clock says that the lease is still its own. Another host has it, and no snapshot of the
# sleeper replaces what that one makes, neither before it asks who has the lease nor before its transaction. Then it dies,
# when it has put its chunks on the server, but not what says that they are a snapshot. With --all its lease is over before it
# has all chunks on the server: meanwhile others may have made a newer one.
t_a_maker_that_sleeps_or_dies()
{
	local before window

	fleet b
	of b -q add 192.0.2.1
	configure_host a 'snapshot-every = 1'
	for window in fleet-chunks:1 fleet-appends:1; do
		stands a $window
		ask_redis set 'xb:{test}:lease' somebody px 600000 >"$T/out"
		makes_none $window
		[[ $(ask_redis --raw get 'xb:{test}:lease') == somebody ]] || fail "$window: it ended the lease of somebody else"
		adds a b 192.0.2.2
		of a -q del 192.0.2.2
		goes b 192.0.2.2
		down a
		ask_redis del 'xb:{test}:lease' >"$T/out"
	done
	dies a fleet-chunks
	snapshot
	before=$id
	grep -v "$before" <(ask_redis --raw keys 'xb:{test}:*:*:0') >"$T/left" || fail "it left nothing"
	[[ $chunks -gt 0 && $lasting -eq $chunks ]] || fail "$lasting of $chunks chunks stay"
	[[ $(ask_redis --raw get 'xb:{test}:chunks' | grep -c .) -ge 2 ]] || fail "$(ask_redis get 'xb:{test}:chunks')"
	# As if its lease were over.
	ask_redis del 'xb:{test}:lease' >"$T/out"
	up a
	wait_for "the next snapshot" is_newer "$before"
	[[ $(xargs -r redis-cli -s "$T/redis.sock" exists <"$T/left") == 0 ]] || fail "what it left is still there"
	wait_for "an end of older chunks" only_newest_lasts
	[[ -n ${XB_TEST_ALL:-} ]] || return 0
	down a
	stands a fleet-chunks
	rest 65
	makes_none "too late"
}

# Away for so long that the log does not go back to where it was. What differs is changed, and nothing else: a source
# that stays listed is dropped all the while.
t_trimmed_beyond_a_host()
{
	local before

	lines=('snapshot-every = 1')
	fleet a b
	of a -q add 10.77.0.3 192.0.2.1 192.0.2.2 192.0.2.3 --timeout 3000
	comes b 192.0.2.3
	within=in_server
	of b -q attach x0
	before=$(generation)
	b_is_away
	flood b_comes_back
	[[ $(generation) == "$before" ]] || fail "it was built anew"
	says_log b 'resynced \(trimmed\): 1 entries added, 1 renewed, 1 removed, 0 kept$'
	[[ $(of b metrics | grep -c 'fleet_resyncs_total{cause="trimmed"} 1$') -eq 1 ]] || fail "no metric"
	of b list | contains '^192.0.2.2 .*comment "again"' || fail "$(of b list)"
	reads b || fail "it is $(field b state)"
	adds a b 192.0.2.10
	agree - a b
}

# Somebody trims the log beyond the newest snapshot. A host that was away could not join by it before the next one, in an
# hour; one that has all of the log sees it, and makes one.
t_trimmed_beyond_the_snapshot()
{
	local before

	fleet a b
	publishes 1 of a -q add 192.0.2.1
	comes b 192.0.2.1
	down b
	for number in 2 3 4; do publishes 1 of a -q add 192.0.2.$number; done
	snapshot
	before=$id
	ask_redis xtrim 'xb:{test}:log' maxlen 1 >"$T/out"
	up b
	wait_for "a newer snapshot" is_newer "$before"
	in_fleet b
	agree 4 a b
	says_log b 'resynced \(trimmed\): 3 entries added, 0 renewed, 0 removed, 0 kept$'
	# There is no reason for another one, whatever follows.
	snapshot
	before=$id
	for number in 5 6 7; do publishes 1 of a -q add 192.0.2.$number; done
	sleep 25
	snapshot
	[[ $id == "$before" ]] || fail "it makes one after the other"
}

# The log is trimmed, and no host has all of it: one whose state leads to the end has died for good. After a while in
# which nobody writes, the log begins anew, and nobody loses an entry.
t_trimmed_beyond_all_hosts()
{
	[[ -n ${XB_TEST_ALL:-} ]] || skip "it waits for two minutes: only with --all"
	fleet a b c
	publishes 1 of a -q add 192.0.2.1
	comes b 192.0.2.1
	comes c 192.0.2.1
	down b
	down c
	for number in 2 3 4; do publishes 1 of a -q add 192.0.2.$number; done
	down a
	ask_redis xtrim 'xb:{test}:log' maxlen 1 >"$T/out"
	of b -q add 192.0.2.5
	up b
	up c
	wait_for "the reason" says_reason b
	in_fleet b c
	comes c 192.0.2.5
	up a
	in_fleet a
	comes b 192.0.2.4
	agree 5 a b c
}

says_reason() { [[ $(field "$1" message) == "cannot resync: the log does not go on from the newest snapshot" ]]; }

generation() { (of b -j status || true) | of_json 'd["generation"]["name"]'; }

b_is_away()
{
	local there

	there=$(field b position)
	down b
	of a -q del 192.0.2.1
	of a -q add 192.0.2.2 --comment again --timeout 4000 --exist
	of a -q add 192.0.2.9
	wait_for_snapshot
	of a -q add 192.0.2.8
	of a -q del 192.0.2.8
	wait_for_snapshot
	of a -q add 192.0.2.7
	of a -q del 192.0.2.7
	wait_for_snapshot
	wait_for "a log that was trimmed" begins_behind $((there + 1))
}

b_comes_back()
{
	up b
	says_log b resynced
	in_fleet b
}

run_tests
