#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# bloomctl fleet verify: a host is compared with the fleet's newest snapshot, and exactly what was changed
# behind the fleet's back is found.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

# plant HOST put|del LIST ENTRY...: as tests/e2e/plant.c says.
plant() { "$XB_TEST_DIR/bin/plant" "$T/$1/state" "${@:2}" || fail "plant ${*:2}"; }

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
	configure_host a 'snapshot-every = 1'
	configure_host b 'snapshot-every = 3600'
	up a
	up b
	patience=4
	wait_for "a in the fleet" reads a
	wait_for "b in the fleet" reads b
}

# Until a snapshot has what the log has now.
await_snapshot() { wait_for "a snapshot" snapshot_is_at "$(log_length)"; }

t_what_differs_is_found()
{
	fleet_of_two
	of a -q add 192.0.2.1 192.0.2.2 198.51.100.0/24 evil.example
	of a -q add 192.0.2.3 --comment "port scan" --timeout 3000
	wait_for "them" has b 192.0.2.3
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
	wait_for "a resync" grep -q 'resynced (asked)' "$T/b/log"
	wait_for "the same" are_equal a b
	verify b 0
}

t_answers_in_json()
{
	fleet_of_two
	of a -q add 192.0.2.1
	wait_for "it" has b 192.0.2.1
	await_snapshot
	for i in {1..9}; do plant b put default "203.0.113.$i" 4000000000 "c $i"; done
	of b -j fleet verify --limit 4 >"$T/out" && fail "there are differences"
	[[ $(value '["fleet"]') == test ]] || fail "$(cat "$T/out")"
	[[ $(value '["more"]') -eq 5 && $(value '["lists"][0]["extra"]') -eq 9 ]] || fail "$(cat "$T/out")"
	[[ $(value '["differences"][3]') == "{'list': 'default', 'entry': '203.0.113.4', 'kind': 'extra', 'here': {'expires': 4000000000, 'comment': 'c 4'}}" ]] ||
		fail "$(cat "$T/out")"
	[[ $(value '["behind"]') == False && $(value '["partial"]') == False ]] || fail "$(cat "$T/out")"
	! of b -q fleet verify --limit 10001 || fail "so many are not kept"
	! of b -q fleet status --limit 3 || fail "status has no limit"
}

# What the log has behind the snapshot, and what waits here, is no difference.
t_a_host_that_is_ahead()
{
	redis
	configure_host a 'snapshot-every = 3600'
	up a
	patience=4
	wait_for "a in the fleet" reads a
	of a -q add 192.0.2.1 192.0.2.2
	wait_for "an empty outbox" outbox_is a 0
	verify a 0
	says "2 changed by the log since"
	ask_redis client pause 600000 write >"$T/paused"
	of a -q add 192.0.2.3
	of a -q del 192.0.2.1
	verify a 0
	says "1 changed by the log since; 1 to publish"
}

# Of a large list only what differs is loaded.
t_little_is_loaded()
{
	fleet_of_two
	python3 -c 'for i in range(120000): print("45.%d.%d.%d" % (i >> 16, i >> 8 & 255, i & 255))' >"$T/list"
	of a -q import "$T/list" || fail "$(cat "$T/a/err")"
	patience=20
	wait_for "the last one" of b test 45.1.212.191
	wait_for "an empty outbox" outbox_is a 0
	await_snapshot
	verify b 0 -j
	[[ $(value '["loaded"]["bytes"]') -eq 0 ]] || fail "$(cat "$T/out")"
	plant b put default 45.200.0.1
	verify b 1 -j
	[[ $(value '["lists"][0]["extra"]') -eq 1 && $(value '["loaded"]["blooms"]') -eq 1 ]] || fail "$(cat "$T/out")"
	[[ $(value '["loaded"]["bytes"]') -lt 1600000 ]] || fail "$(cat "$T/out")"
	plant b del default 45.0.0.7
	verify b 1 -j
	[[ $(value '["lists"][0]["missing"]') -eq 1 && $(value '["loaded"]["chunks"]') -le 2 ]] || fail "$(cat "$T/out")"
}

# What the server may do to a comparison: a line that says what is wrong, and nothing is changed.
t_a_server_that_lies()
{
	local id before

	fleet_of_two
	of a -q add 192.0.2.1 192.0.2.2
	wait_for "them" has b 192.0.2.2
	await_snapshot
	# From here on there is no other one.
	down a
	plant b del default 192.0.2.1
	before=$(listing b)
	verify b 1
	id=$(ask_redis --scan --pattern 'xb:{test}:chunk:*' | sed -n 1p)
	for key in $(ask_redis --scan --pattern 'xb:{test}:chunk:*'); do ask_redis setrange "$key" 3 x >"$T/set"; done
	verify b 3
	grep -q "cannot verify: chunk 0 of the snapshot is damaged, or of another one" "$T/b/err" || fail "$(cat "$T/b/err")"
	for key in $(ask_redis --scan --pattern 'xb:{test}:chunk:*'); do ask_redis append "$key" x >"$T/set"; done
	verify b 3
	grep -q "cannot verify: a part of the snapshot has another size than it says" "$T/b/err" || fail "$(cat "$T/b/err")"
	ask_redis del "$id" >"$T/set"
	for key in $(ask_redis --scan --pattern 'xb:{test}:chunk:*'); do ask_redis del "$key" >"$T/set"; done
	verify b 3
	grep -q "cannot verify: a part of the snapshot is not there" "$T/b/err" || fail "$(cat "$T/b/err")"
	plant b put default 192.0.2.1
	plant b put default 192.0.2.8
	for key in $(ask_redis --scan --pattern 'xb:{test}:bloom:*'); do ask_redis setrange "$key" 3 x >"$T/set"; done
	verify b 3
	grep -q "cannot verify: the Bloom digest of chunk 0 of the snapshot is damaged, or of another one" "$T/b/err" ||
		fail "$(cat "$T/b/err")"
	plant b del default 192.0.2.1
	plant b del default 192.0.2.8
	ask_redis setrange 'xb:{test}:snapshot' 40 x >"$T/set"
	verify b 3
	grep -q "cannot verify: the manifest of the snapshot is damaged, or of a fleet with another key" "$T/b/err" ||
		fail "$(cat "$T/b/err")"
	ask_redis del 'xb:{test}:snapshot' >"$T/set"
	ask_redis lpush 'xb:{test}:snapshot' x >"$T/set"
	verify b 3
	grep -q "cannot verify: WRONGTYPE" "$T/b/err" || fail "$(cat "$T/b/err")"
	ask_redis del 'xb:{test}:snapshot' >"$T/set"
	verify b 3
	grep -q "cannot verify: the fleet has no snapshot yet" "$T/b/err" || fail "$(cat "$T/b/err")"
	[[ $(listing b) == "$before" ]] || fail "something has changed: $(listing b)"
	redis_dies
	verify b 3
	[[ $(wc -l <"$T/b/err") -eq 1 ]] || fail "$(cat "$T/b/err")"
	down b
	verify b 3
	grep -q "bloomd does not run" "$T/b/err" || fail "$(cat "$T/b/err")"
}

# By the rules of docs/fleet.md, with a key that the server does not have.
t_a_follower_verifies()
{
	local rules

	(umask 077 && echo a-secret-of-the-fleet >"$T/key" && echo secret >"$T/password")
	redis
	configure_host a 'snapshot-every = 1' "key-file = $T/key"
	up a
	patience=4
	wait_for "a in the fleet" reads a
	rules=$(fleet_rules follower)
	# shellcheck disable=SC2086 # they are words
	ask_redis acl setuser follower $rules >"$T/out"
	configure_host b 'user = follower' "password-file = $T/password" "key-file = $T/key"
	sed -i '/^publish/d' "$T/b/bloomd.conf"
	up b
	wait_for "b in the fleet" reads b
	of a -q add 192.0.2.1
	wait_for "it" has b 192.0.2.1
	await_snapshot
	verify b 0
	plant b put default 192.0.2.2
	verify b 1
	says "extra    192.0.2.2 list default"
}

# If the server was emptied while a snapshot was sent, it may lack a part for ever; no host can take it, and none
# that cannot would make another one.
t_a_snapshot_that_lacks_a_part()
{
	fleet_of_two
	of a -q add 192.0.2.1 192.0.2.2
	wait_for "them" has b 192.0.2.2
	await_snapshot
	down a
	configure_host a 'snapshot-every = 3600'
	up a
	wait_for "a in the fleet" reads a
	for key in $(ask_redis --scan --pattern 'xb:{test}:chunk:*'); do ask_redis del "$key" >"$T/set"; done
	of a -q fleet resync
	of b -q fleet resync
	wait_for "the reason" grep -q "fleet: a part of the newest snapshot is not there; what is listed stays" "$T/b/log"
	patience=20
	wait_for "a new log" grep -q 'began a log at .*, term 2' "$T/a/log" "$T/b/log"
	wait_for "a in the fleet" reads a
	wait_for "b in the fleet" reads b
	of a -q add 192.0.2.3
	wait_for "what follows" has b 192.0.2.3
	wait_for "the same" are_equal a b
	[[ $(listing a | wc -l) -eq 3 ]] || fail "something is gone: $(listing a)"
}

run_tests
