#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A fleet with key-file, and a server that forges what it can: each host says once what is wrong, counts it, and
# changes nothing; then there is a way on.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2034,SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

# fleet_with_key HOST...: as fleet, with a secret in $T/key.
fleet_with_key()
{
	local host

	(umask 077 && openssl rand -hex 32 >"$T/key")
	redis
	for host; do
		configure_host "$host" "key-file = $T/key"
		up "$host"
	done
	patience=4
	for host; do
		wait_for "$host in the fleet" reads "$host"
	done
}

forge() { python3 "$root/tests/e2e/fleetforger.py" "$T/redis.sock" "${fleet:-test}" "$@" || fail "not forged: $*"; }

# says_once HOST PATTERN: its log does, sooner or later, and not again while the connection lasts.
says_once()
{
	local connections

	wait_for "$1: '$2' in the log" grep -qE -- "$2" "$T/$1/log"
	connections=$((1 + $(grep -c ': connected again$' "$T/$1/log" || true)))
	[[ $(grep -cE -- "$2" "$T/$1/log") -le $connections ]] || fail "$1 says it again: $(cat "$T/$1/log")"
}

# count HOST FAMILY{LABEL}
count() { of "$1" metrics | awk -v name="xdp_bloom_fleet_$2" '$1 == name {print $2}'; }
counts() { [[ $(count "$1" "$2") -eq $3 ]] || fail "$1: $2 is $(count "$1" "$2"), not $3"; }

has_message() { [[ $(field "$1" message) == *"$2"* ]]; }

# Ten seconds behind an entry that no host wrote.
has_begun_anew() { logs "$1" 'began a log at .*, term 2'; }
has_failed() { is_in "$1" failed || has_begun_anew "$1"; }

# is_stuck HOST MESSAGE: it has failed, says why, and goes on living.
is_stuck()
{
	wait_for "$1 fails" has_failed "$1"
	has_message "$1" "$2" || has_begun_anew "$1" || fail "$1: $(field "$1" message)"
	says_log "$1" "fleet: .*$2"
	kill -0 "${host_pid[$1]}" || fail "$1 has ended: $(tail -n 3 "$T/$1/log")"
}

# What each of them forges is the name of the fleet.
t_forged_entries()
{
	local kind

	(umask 077 && openssl rand -hex 32 >"$T/key")
	redis
	for kind in put del begin garbage again gap; do
		configure_host $kind "key-file = $T/key" "name = $kind"
		up $kind
	done
	patience=4
	for kind in put del begin garbage again gap; do
		wait_for "$kind in its fleet" reads $kind
		fleet=$kind publishes 1 of $kind -q add 192.0.2.1
		listing $kind >"$T/$kind/before"
	done
	fleet=put forge put 203.0.113.1
	fleet=del forge del 192.0.2.1
	fleet=begin forge begin
	fleet=garbage forge garbage 1000
	fleet=again forge again 2
	fleet=gap forge gap 203.0.113.1
	for kind in put del begin again; do
		is_stuck $kind 'entry 3 of the log: it does not belong behind the one before, or another secret made it'
	done
	is_stuck garbage 'entry 3 of the log: '
	is_stuck gap 'entry 3 of the log is missing'
	for kind in put del begin garbage again gap; do
		of $kind -q add 192.0.2.2
		listing $kind | grep -v '^192\.0\.2\.2 ' | diff "$T/$kind/before" - || fail "$kind: the list is another one"
		counts $kind 'refused_total{what="entry"}' 1
		counts $kind 'resyncs_total{cause="bad-entry"}' 1
	done
	# A new log is the way past it.
	patience=8
	for kind in put del begin garbage again gap; do
		wait_for "$kind on its way again" reads $kind
		wait_for "what waited in the log" outbox_is $kind 0
		says_once $kind 'fleet: entry 3 of the log'
		listing $kind | grep -v '^192\.0\.2\.2 ' | diff "$T/$kind/before" - || fail "$kind: the list is another one"
		has $kind 192.0.2.2 || fail "$kind: what was listed meanwhile is gone"
	done
}

t_all_hosts_go_on_behind_it()
{
	fleet_with_key a b c
	of a -q add 192.0.2.1
	wait_for "it" has c 192.0.2.1
	forge del 192.0.2.1
	for host in a b c; do
		wait_for "the word of $host" logs $host 'fleet: entry 3 of the log'
	done
	of b -q add 192.0.2.2
	patience=8
	wait_for "what was listed meanwhile" has a 192.0.2.2
	wait_for "what was listed meanwhile" has c 192.0.2.2
	of c -q del 192.0.2.1
	wait_for "a delete" has_not a 192.0.2.1
	wait_for "the same" are_equal a b c
	[[ $(cat "$T"/?/log | grep -c 'began a log at .*, term 2') -eq 1 ]] || fail "not one of them began: $(cat "$T"/?/log)"
	[[ $(listing a | wc -l) -eq 1 ]] || fail "it has more: $(listing a)"
}

# Hosts give ids N-0 with N from 1 to 2^63 - 1; a server takes all others, too, and once it has one, none below it.
ids=(9223372036854775807-0 9223372036854775808-0 18446744073709551614-0 18446744073709551615-0
	2-1 2-9223372036854775808 2-18446744073709551614 2-18446744073709551615
	18446744073709551615-18446744073709551615)

# goes_on HOST LAST: the log of its fleet begins anew behind what the host had, and goes on.
goes_on()
{
	wait_for "$1 on its way again" reads "$1"
	of "$1" -q add 192.0.2.2
	wait_for "what is listed then in the log" outbox_is "$1" 0
	[[ $(log_end) -le $2 ]] || fail "$1: the log ends with $(log_end)"
	[[ $(field "$1" position) -le $2 ]] || fail "$1: the host is at $(field "$1" position)"
	[[ $(listing "$1" | wc -l) -eq 2 ]] || fail "$1: it has others: $(listing "$1")"
}

t_forged_ids()
{
	local i

	(umask 077 && openssl rand -hex 32 >"$T/key")
	redis
	for i in "${!ids[@]}"; do
		configure_host "h$i" "key-file = $T/key" "name = h$i"
		up "h$i"
	done
	patience=8
	for i in "${!ids[@]}"; do
		wait_for "h$i in its fleet" reads "h$i"
		fleet=h$i publishes 1 of "h$i" -q add 192.0.2.1
		fleet=h$i forge at "${ids[i]}"
	done
	for i in "${!ids[@]}"; do
		is_stuck "h$i" 'entry 3 of the log is missing'
	done
	for i in "${!ids[@]}"; do
		fleet=h$i goes_on "h$i" 4
	done
}

t_forged_fields()
{
	fleet_with_key a
	publishes 1 of a -q add 192.0.2.1
	forge fields
	is_stuck a 'entry 3 of the log: '
	patience=8
	goes_on a 4
}

# What else leads past the entry is spoiled as well: the snapshot is of another secret, of a former log, or none.
t_forged_entries_beside_snapshots()
{
	fleet_with_key a b
	publishes 1 of a -q add 192.0.2.1
	makes_snapshot a
	ask_redis copy 'xb:{test}:snapshot' former >"$T/out"
	patience=8
	forge manifest
	forge put 203.0.113.1
	wait_for "a second log" has_begun_anew_somewhere 2
	wait_for "a in it" reads a
	wait_for "b in it" reads b
	ask_redis copy former 'xb:{test}:snapshot' replace >"$T/out"
	forge del 192.0.2.1
	wait_for "a third log" has_begun_anew_somewhere 3
	wait_for "a in it" reads a
	wait_for "b in it" reads b
	wrong_type snapshot
	forge put 203.0.113.1
	wait_for "a fourth log" has_begun_anew_somewhere 4
	of b -q add 192.0.2.2
	wait_for "what is listed then" has a 192.0.2.2
	wait_for "the same" are_equal a b
	[[ $(listing a | wc -l) -eq 2 ]] || fail "it has others: $(listing a)"
}

# Each entry is one of a host; but the one in front of what the hosts have last, and one behind it, stand elsewhere.
t_a_log_in_the_place_of_another()
{
	local i

	fleet_with_key a b
	for i in 1 2 3; do
		publishes 1 of a -q add 192.0.2.$i
	done
	wait_for "them" has b 192.0.2.3
	ask_redis copy 'xb:{test}:log' former >"$T/out"
	ask_redis eval "redis.call('DEL', KEYS[1])
		local entries = redis.call('XRANGE', KEYS[2], '-', '+')
		local last = #entries
		entries[last - 1], entries[last + 1] = entries[1], entries[2]
		for i, each in ipairs(entries) do
			redis.call('XADD', KEYS[1], i .. '-0', 'e', each[2][2])
		end" 2 'xb:{test}:log' former >"$T/out"
	patience=8
	of b -q add 192.0.2.4
	wait_for "a second log" has_begun_anew_somewhere 2
	wait_for "what is listed then" has a 192.0.2.4
	wait_for "the same" are_equal a b
	[[ $(listing a | wc -l) -eq 4 ]] || fail "it has others: $(listing a)"
}

# Each time, with the log deleted or not, and one host away.
t_the_last_position_again_and_again()
{
	fleet_with_key a b
	publishes 1 of a -q add 192.0.2.1
	wait_for "it" has b 192.0.2.1
	patience=8
	forge at 18446744073709551614-0
	wait_for "a new log" has_begun_anew_somewhere 2
	down b
	forge at 18446744073709551615-0
	wait_for "a new log" logs a 'began a log at .*, term [3-9]'
	ask_redis del 'xb:{test}:log' >"$T/out"
	up b
	goes_on a 8
	wait_for "b on its way again" reads b
	of b -q del 192.0.2.1
	wait_for "a delete" has_not a 192.0.2.1
	wait_for "the same" are_equal a b
}

# b begins a log behind a forged entry while a, which is about to begin one, stands still.
t_another_has_begun_meanwhile()
{
	fleet_with_key b
	configure_host a "key-file = $T/key"
	XB_PAUSE=fleet-begins:1 up a "$XB_TEST_DIR/bin/bloomd-fault"
	wait_for "a in the fleet" reads a
	publishes 1 of b -q add 192.0.2.1
	wait_for "it" has a 192.0.2.1
	kill -STOP "${host_pid[b]}"
	forge del 192.0.2.1
	patience=8
	wait_for "a to begin" is_stopped "${host_pid[a]}"
	kill -CONT "${host_pid[b]}"
	wait_for "a new log" has_begun_anew_somewhere 2
	wait_for "its lease to be free" no_lease
	kill -CONT "${host_pid[a]}"
	wait_for "a in it" logs a 'fleet: resynced \(begin\)'
	of a -q add 192.0.2.2
	wait_for "the same" are_equal a b
	[[ $(cat "$T"/?/log | grep -c 'began a log at .*, term 2') -eq 1 ]] || fail "both began one: $(cat "$T"/?/log)"
}

no_lease() { [[ $(ask_redis exists 'xb:{test}:lease') -eq 0 ]]; }

# The ids go on behind the last entry, so the server takes none that hosts would give. The snapshot is damaged as well.
t_moved_ids()
{
	fleet_with_key a b
	publishes 1 of a -q add 192.0.2.1
	wait_for "it" has b 192.0.2.1
	patience=8
	ask_redis set 'xb:{test}:snapshot' x >"$T/out"
	ask_redis xsetid 'xb:{test}:log' 1000-0 >"$T/out"
	of a -q add 192.0.2.2
	of b -q add 192.0.2.3
	wait_for "a new log" has_begun_anew_somewhere 2
	grep -qh 'the log takes no entry, since somebody has moved its ids' "$T"/?/log || fail "it is not said why: $(cat "$T"/?/log)"
	wait_for "a's entry" has b 192.0.2.2
	wait_for "b's entry" has a 192.0.2.3
	wait_for "the same" are_equal a b
}

# has_begun_anew_somewhere TERM
has_begun_anew_somewhere() { grep -qhE "began a log at .*, term $1" "$T"/?/log; }

manifest() { ask_redis --no-raw get 'xb:{test}:snapshot'; }
is_new_snapshot() { [[ $(manifest) != "$1" ]]; }

# makes_snapshot HOST: a new one, now.
makes_snapshot()
{
	local before

	before=$(manifest)
	configure_host "$1" "key-file = $T/key" 'snapshot-every = 1'
	kill -HUP "${host_pid[$1]}"
	(wait_for "a snapshot" is_new_snapshot "$before") || fail "$1 makes no snapshot: $(tail -n 3 "$T/$1/log")"
	configure_host "$1" "key-file = $T/key"
	kill -HUP "${host_pid[$1]}"
	wait_for "$1 in the fleet" reads "$1"
}

# Two chunks of one size, and what is left.
two_chunks()
{
	python3 -c 'for i in range(9000): print("203.0.%d.%d" % (i >> 8, i & 255))' >"$T/many"
	patience=80
	# shellcheck disable=SC2046 # they are words
	publishes 9 of a -q add --comment "$(printf '%0250d' 0)" $(cat "$T/many")
	makes_snapshot a
}

own_entry() { printf '198.51.100.%d' "'$1"; }

# joins_badly HOST MESSAGE: it comes with an entry of its own, and is not let in.
joins_badly()
{
	configure_host "$1" "key-file = $T/key"
	of "$1" -q add "$(own_entry "$1")"
	up "$1"
	is_stuck "$1" "$2"
	[[ $(count "$1" 'refused_total{what="snapshot"}') -ge 1 ]] || fail "$1 does not count it"
	says_once "$1" "fleet: cannot resync: .*$2.*; what is listed stays$"
	[[ $(listing "$1" | wc -l) -eq 1 ]] || fail "$1 has taken something: $(listing "$1" | head)"
}

t_forged_snapshots()
{
	fleet_with_key a
	two_chunks
	forge manifest
	joins_badly b 'the manifest of the snapshot is damaged, or of a fleet with another key'
	makes_snapshot a
	forge damage
	joins_badly c 'chunk 0 of the snapshot is damaged, or of another one'
	makes_snapshot a
	forge swap
	joins_badly d 'chunk 0 of the snapshot is damaged, or of another one'
	reads a || fail "a is $(field a state)"
	makes_snapshot a
	for host in b c d; do
		wait_for "$host in the fleet" reads $host
		wait_for "its own entry" has a "$(own_entry $host)"
	done
	for host in b c d; do
		wait_for "the same" are_equal a $host
	done
}

# wrong_type KEY: it becomes a list.
wrong_type()
{
	ask_redis del "xb:{test}:$1" >"$T/out"
	ask_redis rpush "xb:{test}:$1" nonsense >"$T/out"
}

t_wrong_types()
{
	fleet_with_key a
	publishes 1 of a -q add 192.0.2.1
	makes_snapshot a
	wrong_type reports
	patience=8
	wait_for "the reports" grep -q 'fleet: the server takes no report of this host: WRONGTYPE' "$T/a/log"
	wrong_type lease
	configure_host a "key-file = $T/key" 'snapshot-every = 1'
	kill -HUP "${host_pid[a]}"
	wait_for "the lease" grep -q 'fleet: cannot make a snapshot: WRONGTYPE' "$T/a/log"
	reads a || fail "a does not read any more"
	configure_host a "key-file = $T/key"
	kill -HUP "${host_pid[a]}"
	wait_for "a in the fleet" reads a
	wrong_type "chunk:$(snapshot_id):0"
	joins_badly b 'a chunk of the snapshot: WRONGTYPE'
	wrong_type snapshot
	joins_badly c 'the snapshot: WRONGTYPE'
	ask_redis del 'xb:{test}:lease' >"$T/out"
	makes_snapshot a
	wait_for "b in the fleet" reads b
	wait_for "c in the fleet" reads c
	wait_for "the same" are_equal a b c
	wrong_type log
	for host in a b c; do
		wait_for "the log" is_in $host connecting
		wait_for "a reason" has_message $host 'WRONGTYPE'
	done
	of a -q add 192.0.2.2
	sleep 2
	for host in a b c; do
		says_once $host 'fleet: protocol: .*: WRONGTYPE.*; what is listed stays$'
		has $host 192.0.2.1 || fail "$host has lost something"
	done
	ask_redis del 'xb:{test}:log' >"$T/out"
	wait_for "what waited" has c 192.0.2.2
	wait_for "the same" are_equal a b c
}

snapshot_id() { ask_redis get 'xb:{test}:snapshot' | head -c 17 | tail -c 16 | od -An -v -tx1 | tr -d ' \n'; }

most_memory() { awk '/^VmHWM/ {print $2}' "/proc/${host_pid[$1]}/status"; }

# huge COMMAND KEY [FIELD]: a value that the server makes by itself.
huge() { ask_redis eval "redis.call('$1', KEYS[1], ${3:+'$3', }('x'):rep(10000):rep(7000))" 1 "$2" >"$T/out"; }

# More than 64 MiB.
t_huge_values()
{
	local most

	fleet_with_key a
	ask_redis config set appendonly no >"$T/out"
	publishes 1 of a -q add 192.0.2.1
	huge hset 'xb:{test}:reports' x
	patience=8
	wait_for "the reports" grep -q 'fleet: the reports of the hosts are too large' "$T/a/log"
	publishes 1 of a -q add 192.0.2.2
	forge garbage 70000000
	wait_for "a reason" has_message a 'too-large'
	ask_redis del 'xb:{test}:log' >"$T/out"
	huge set 'xb:{test}:snapshot'
	wait_for "a new log" log_is_there
	wait_for "a in the fleet" reads a
	[[ $(listing a | wc -l) -eq 2 ]] || fail "it has others: $(listing a)"
	is_sanitized || most=$(most_memory a)
	[[ ${most:-0} -lt 262144 ]] || fail "bloomd takes $most KiB"
}

log_is_there() { [[ $(log_length) -gt 0 ]]; }

# A host with a secret of its own: it neither takes nor gives anything.
t_a_host_with_another_key()
{
	local before

	fleet_with_key a
	publishes 1 of a -q add 192.0.2.1
	before=$(log_length)
	(umask 077 && openssl rand -hex 32 >"$T/other")
	configure_host b "key-file = $T/other"
	of b -q add 192.0.2.2
	up b
	is_stuck b 'the manifest of the snapshot is damaged, or of a fleet with another key'
	configure_host c
	up c
	is_stuck c 'the manifest of the snapshot is damaged, or of a fleet with another key'
	[[ $(log_length) -eq $before ]] || fail "it has published"
	reads a || fail "it has stopped the others"
	cp "$T/key" "$T/other"
	kill -HUP "${host_pid[b]}"
	wait_for "b in the fleet" reads b
	wait_for "what it had" has a 192.0.2.2
	wait_for "the same" are_equal a b
}

# What it published with the wrong one would keep all others from reading on.
t_a_member_whose_key_changes()
{
	local before

	fleet_with_key a b
	of a -q add 192.0.2.1
	wait_for "it" has b 192.0.2.1
	of a -q add 192.0.2.2
	wait_for "it" has b 192.0.2.2
	before=$(log_length)
	cp "$T/key" "$T/right"
	cp "$T/key" "$T/wrong"
	echo more >>"$T/wrong"
	configure_host b "key-file = $T/wrong"
	chmod 600 "$T/wrong" "$T/right"
	kill -HUP "${host_pid[b]}"
	is_stuck b 'the log was written with another secret than this host has: see key-file'
	says_once b 'fleet: the log was written with another secret'
	of b -q add 192.0.2.3
	of a -q add 192.0.2.4
	sleep 1
	[[ $(log_length) -eq $((before + 1)) ]] || fail "it has published"
	has_not b 192.0.2.4 || fail "it has taken what it cannot check"
	configure_host b "key-file = $T/right"
	kill -HUP "${host_pid[b]}"
	wait_for "what waited" has a 192.0.2.3
	wait_for "what came meanwhile" has b 192.0.2.4
	wait_for "the same" are_equal a b
}

# No host can follow the log, and the snapshot is no host's: once nobody has written for 90 s and `snapshot-every`, a log
# begins anew, and nobody loses an entry.
t_a_log_that_leads_nowhere()
{
	[[ -n ${XB_TEST_ALL:-} ]] || skip "it waits for two minutes: only with --all"
	(umask 077 && openssl rand -hex 32 >"$T/key")
	redis
	for host in a b; do
		configure_host $host "key-file = $T/key" "snapshot-every = 5"
		up $host
		wait_for "$host in the fleet" reads $host
	done
	publishes 1 of a -q add 192.0.2.1
	wait_for "it" has b 192.0.2.1
	ask_redis eval "redis.call('del', KEYS[1]); redis.call('xadd', KEYS[1], '1000-0', 'e', 'x')
		return redis.call('set', KEYS[2], 'x')" 2 'xb:{test}:log' 'xb:{test}:snapshot'
	for host in a b; do says_log $host 'cannot resync: this is not the manifest of a fleet'; done
	of b -q add 192.0.2.2
	patience=8
	wait_for "a in the fleet" reads a
	wait_for "b in the fleet" reads b
	wait_for "what was listed meanwhile" has a 192.0.2.2
	wait_for "the same" are_equal a b
	[[ $(listing a | wc -l) -eq 2 ]] || fail "it has others: $(listing a)"
	[[ $(cat "$T"/?/log | grep -c 'began a log at .*, term 2') -eq 1 ]] || fail "not one of them began: $(cat "$T"/?/log)"
}

run_tests
