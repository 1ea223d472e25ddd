#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What was changed behind the fleet's back is found: by `bloomctl fleet verify`, which compares a host with the newest
# snapshot, and by what hosts report, which tells of one that is silent, too.
# waits: more than it computes, for minutes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

# verify HOST CODE [OPTION...]: what it prints goes to $T/out.
verify()
{
	local code=0

	of "$1" "${@:3}" fleet verify >"$T/out" || code=$?
	[[ $code -eq $2 ]] || fail "verify on $1 ends with $code: $(cat "$T/out" "$T/$1/err")"
}

says() { grep -qF -- "$1" "$T/out" || fail "'$1' is not said: $(cat "$T/out")"; }

# value NAME...: of the answer in JSON.
value() { of_json "d$1" <"$T/out"; }

snapshot_is_at() { [[ $(snapshot_position) -ge $1 ]]; }
snapshot_position()
{
	of a -j fleet verify 2>"$T/err" | of_json 'd["snapshot"]["position"]' || echo 0
}

# A fleet of a and b that makes a snapshot as soon as something has changed.
fleet_of_two()
{
	redis
	joins a 'snapshot-every = 1'
	joins b 'snapshot-every = 3600'
}

# Until a snapshot has what the log has now.
await_snapshot() { wait_for "a snapshot" snapshot_is_at "$(log_length)"; }

t_what_differs_is_found()
{
	fleet_of_two
	of a -q add 192.0.2.1 192.0.2.2 198.51.100.0/24 evil.example
	of a -q add 192.0.2.3 --comment "port scan" --timeout 3000
	comes b 192.0.2.3
	await_snapshot
	verify b 0
	says "list default: 5 entries here, 5 in the snapshot; no difference"
	plant b del default 192.0.2.1
	plant b put default 192.0.2.9 4000000000 "not of the fleet"
	plant b put default 192.0.2.3 0 "port scan"
	verify b 1
	says "list default: 5 entries here, 5 in the snapshot; 1 missing here, 1 extra here, 1 changed"
	grep -qx 'missing  192.0.2.1 list default never expires' "$T/out" || fail "$(cat "$T/out")"
	grep -qx 'extra    192.0.2.9 list default expires 2096-10-02T07:06:40Z comment "not of the fleet"' "$T/out" ||
		fail "$(cat "$T/out")"
	grep -Eqx 'changed  192.0.2.3 list default, here: never expires comment "port scan", in the snapshot: expires 2.* comment "port scan"' \
		"$T/out" || fail "$(cat "$T/out")"
	verify b 1 -q
	[[ $(wc -l <"$T/out") -eq 3 ]] || fail "$(cat "$T/out")"
	verify a 0
	of b -q fleet resync
	says_log b 'resynced \(asked\)'
	agree 5 a b
	verify b 0
	answers_in_json
}

answers_in_json()
{
	verify b 0 -j
	[[ $(value '["loaded"]["bytes"]') -eq 0 ]] || fail "$(cat "$T/out")"
	for i in {1..9}; do plant b put default "203.0.113.$i" 4000000000 "c $i"; done
	of b -j fleet verify --limit 4 >"$T/out" && fail "there are differences"
	[[ $(value '["fleet"]') == test ]] || fail "$(cat "$T/out")"
	[[ $(value '["more"]') -eq 5 && $(value '["lists"][0]["extra"]') -eq 9 ]] || fail "$(cat "$T/out")"
	[[ $(value '["differences"][3]') == "{'list': 'default', 'entry': '203.0.113.4', 'kind': 'extra', 'here': {'expires': 4000000000, 'comment': 'c 4'}}" ]] ||
		fail "$(cat "$T/out")"
	[[ $(value '["loaded"]["blooms"]') -eq 1 ]] || fail "$(cat "$T/out")"
	[[ $(value '["behind"]') == False && $(value '["partial"]') == False ]] || fail "$(cat "$T/out")"
	! of b -q fleet verify --limit 10001 || fail "so many are not kept"
	! of b -q fleet status --limit 3 || fail "status has no limit"
}

# What the log has behind the snapshot, and what waits here, is no difference.
t_a_host_that_is_ahead()
{
	fleet a
	of a -q add 192.0.2.1 192.0.2.2
	published a
	verify a 0
	says "2 changed by the log since"
	ask_redis client pause 600000 write >"$T/paused"
	of a -q add 192.0.2.3
	of a -q del 192.0.2.1
	verify a 0
	says "1 changed by the log since; 1 to publish"
}

# spoil KIND COMMAND [WORD...]: all parts of that kind.
spoil()
{
	local key

	for key in $(ask_redis --scan --pattern "xb:{test}:$1:*"); do
		ask_redis "$2" "$key" "${@:3}" >"$T/set"
	done
}

# cannot_verify WHY: on b.
cannot_verify()
{
	verify b 3
	grep -qF "cannot verify: $1" "$T/b/err" || fail "$1: $(cat "$T/b/err")"
}

# What the server may do to a comparison: a line that says what is wrong, and nothing is changed.
t_a_server_that_lies()
{
	local before

	fleet_of_two
	adds a b 192.0.2.1 192.0.2.2
	await_snapshot
	# From here on there is no other one.
	down a
	plant b del default 192.0.2.1
	before=$(listing b)
	verify b 1
	spoil chunk setrange 3 xxxx
	cannot_verify "chunk 0 of the snapshot is damaged, or of another one"
	spoil chunk append x
	cannot_verify "a part of the snapshot has another size than it says"
	spoil chunk del
	cannot_verify "a part of the snapshot is not there"
	plant b put default 192.0.2.1
	plant b put default 192.0.2.8
	spoil bloom setrange 3 xxxx
	cannot_verify "the Bloom digest of chunk 0 of the snapshot is damaged, or of another one"
	plant b del default 192.0.2.1
	plant b del default 192.0.2.8
	ask_redis setrange 'xb:{test}:snapshot' 40 xxxx >"$T/set"
	cannot_verify "the manifest of the snapshot is damaged, or of a fleet with another key"
	ask_redis del 'xb:{test}:snapshot' >"$T/set"
	ask_redis lpush 'xb:{test}:snapshot' x >"$T/set"
	cannot_verify WRONGTYPE
	ask_redis del 'xb:{test}:snapshot' >"$T/set"
	cannot_verify "the fleet has no snapshot yet"
	[[ $(listing b) == "$before" ]] || fail "something has changed: $(listing b)"
	redis_dies
	verify b 3
	[[ $(wc -l <"$T/b/err") -eq 1 ]] || fail "$(cat "$T/b/err")"
	down b
	verify b 3
	grep -q "bloomd does not run" "$T/b/err" || fail "$(cat "$T/b/err")"
}

# If the server was emptied while a snapshot was sent, it may lack a part for ever; no host can take it, and none
# that cannot would make another one.
t_a_snapshot_that_lacks_a_part()
{
	fleet_of_two
	adds a b 192.0.2.1 192.0.2.2
	await_snapshot
	down a
	joins a
	spoil chunk del
	of a -q fleet resync
	of b -q fleet resync
	says_log b "fleet: a part of the newest snapshot is not there; what is listed stays"
	began_one 2
	in_fleet a b
	adds a b 192.0.2.3
	agree 3 a b
}

# --- what hosts report --------------------------------------------------------------------------------

# shows_other HOST OTHER PATTERN: of what it shows of another one, by the begin of its identity.
shows_other()
{
	local short

	short=$(field "$2" host)
	shows "$1" "^  host .*\\(${short:0:8}\\), $3"
}

# is_reported HOST OTHER: HOST knows where OTHER is now.
is_reported() { shows_other "$1" "$2" "position $(field "$2" position), 0 to publish"; }

t_a_host_that_differs()
{
	local host other

	fleet a b c
	adds a b 192.0.2.1 192.0.2.2
	comes c 192.0.2.2
	for host in a b c; do
		for other in a b c; do
			wait_for "a report" is_reported $host $other
		done
		shows_no $host 'DIFFERS|SILENT' || fail "$(of $host fleet)"
	done
	# Behind the back of b, and of the others.
	plant b del default 192.0.2.1
	has_not b 192.0.2.1 || fail "it is still there"
	outbox_is b 0 || fail "the others would get it"
	for host in a c; do
		wait_for "a difference" shows_other $host b '.*DIFFERS'
	done
	[[ $(of a fleet | grep -c DIFFERS) -eq 1 ]] || fail "others differ, too: $(of a fleet)"
	wait_for "two that differ" metric_is b fleet_differing_hosts 2
	wait_for "one that differs" metric_is a fleet_differing_hosts 1
	metric_is a fleet_hosts 3 || fail "$(of a metrics | grep fleet_hosts)"
	of b -q fleet resync
	comes b 192.0.2.1
	wait_for "an end of it" shows_no a DIFFERS
	wait_for "an end of it" metric_is b fleet_differing_hosts 0
	# What waits to be published is no difference.
	ask_redis acl setuser default -xadd >"$T/out"
	of a -q add 192.0.2.3
	wait_for "a report" shows_other b a '.* 1 to publish'
	shows_no b DIFFERS || fail "$(of b fleet)"
	metric_is b fleet_differing_hosts 0 || fail "it is counted"
}

t_a_host_that_is_silent_or_behind()
{
	fleet a b
	adds a b 192.0.2.1
	# a comes with a clock that leaps: a minute without a report of b is over at once.
	down a
	clocked a 0
	wait_for "a report" is_reported a b
	shows_no a SILENT || fail "$(of a fleet)"
	down b
	of a -q add 192.0.2.2
	of a -q add 192.0.2.3
	wait_for "what b lacks" shows_other a b 'position [0-9]* \([12] behind\)'
	set_ahead a 120
	wait_for "its silence" shows_other a b '.*, SILENT'
	wait_for "the metric" metric_is a fleet_silent_hosts 1
	[[ $(of a fleet | grep -c SILENT) -eq 1 ]] || fail "a is not silent: $(of a fleet)"
	up b
	wait_for "its word" shows_no a SILENT
	wait_for "the metric" metric_is a fleet_silent_hosts 0
	wait_for "what b lacked" shows_no a behind
}

run_tests
