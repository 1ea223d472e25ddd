#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A fleet with key-file, and a server that forges what it can: each host says once what is wrong, counts it, and
# changes nothing; then there is a way on.
# waits: more than it computes, for minutes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

forge() { python3 "$root/tests/e2e/fleetforger.py" "$T/redis.sock" "${fleet:-test}" "$@" || fail "not forged: $*"; }

# count HOST FAMILY{LABEL}
count() { of "$1" metrics | awk -v name="xdp_bloom_fleet_$2" '$1 == name {print $2}'; }
counts() { [[ $(count "$1" "$2") -eq $3 ]] || fail "$1: $2 is $(count "$1" "$2"), not $3"; }

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

# begin_fleets NAME...: a host in each, which has listed 192.0.2.1.
begin_fleets()
{
	local name

	new_key
	lines=("key-file = $T/key")
	redis
	for name; do
		configure_host "$name" "name = $name"
		up "$name"
	done
	for name; do
		in_fleet "$name"
		fleet=$name publishes 1 of "$name" -q add 192.0.2.1
	done
}

# goes_on HOST LAST: the log of its fleet begins anew behind what the host had, and goes on; a new log is the way past what
# was forged. The host has what it had, and what it has listed meanwhile.
goes_on()
{
	in_fleet "$1"
	published "$1"
	[[ $(fleet=$1 log_end) -le $2 && $(field "$1" position) -le $2 ]] || fail "$1: the log ends with $(fleet=$1 log_end)"
	[[ $(listing "$1" | cut -d ' ' -f 1 | tr '\n' ' ') == '192.0.2.1 192.0.2.2 ' ]] || fail "$1 has $(listing "$1")"
}

# Hosts give ids N-0 with N from 1 to 2^63 - 1; a server takes all others, too, and once it has one, none below it.
ids=(9223372036854775807-0 9223372036854775808-0 18446744073709551614-0 18446744073709551615-0
	2-1 2-9223372036854775808 2-18446744073709551614 2-18446744073709551615
	18446744073709551615-18446744073709551615)

# What each of them forges is the name of the fleet.
t_forged_entries()
{
	local i kind kinds=(put del begin again garbage gap fields)

	begin_fleets "${kinds[@]}" "${!ids[@]}"
	fleet=put forge put 203.0.113.1
	fleet=del forge del 192.0.2.1
	fleet=begin forge begin
	fleet=again forge again 2
	fleet=garbage forge garbage 1000
	fleet=gap forge gap 203.0.113.1
	fleet=fields forge fields
	for i in "${!ids[@]}"; do
		fleet=$i forge at "${ids[i]}"
	done
	for kind in put del begin again; do
		is_stuck $kind 'entry 3 of the log: it does not belong behind the one before, or another secret made it'
	done
	is_stuck garbage 'entry 3 of the log: '
	is_stuck fields 'entry 3 of the log: '
	for kind in gap "${!ids[@]}"; do
		is_stuck "$kind" 'entry 3 of the log is missing'
	done
	for kind in "${kinds[@]}" "${!ids[@]}"; do
		of "$kind" -q add 192.0.2.2
	done
	for kind in "${kinds[@]}"; do
		counts $kind 'refused_total{what="entry"}' 1
		counts $kind 'resyncs_total{cause="bad-entry"}' 1
	done
	for kind in "${kinds[@]}" "${!ids[@]}"; do
		goes_on "$kind" 4
		says_once "$kind" 'fleet: entry 3 of the log'
	done
}

# What else leads past the entry is spoiled as well: the snapshot is of another secret, of a former log, or none.
t_forged_entries_beside_snapshots()
{
	fleet_with_key a b
	publishes 1 of a -q add 192.0.2.1
	makes_snapshot a
	ask_redis copy 'xb:{test}:snapshot' former >"$T/out"
	forge manifest
	forge put 203.0.113.1
	began_one 2
	in_fleet a b
	ask_redis copy former 'xb:{test}:snapshot' replace >"$T/out"
	forge del 192.0.2.1
	began_one 3
	in_fleet a b
	wrong_type snapshot
	forge put 203.0.113.1
	began_one 4
	adds b a 192.0.2.2
	agree 2 a b
}

# Each entry is one of a host; but the one in front of what the hosts have last, and one behind it, stand elsewhere.
t_a_log_in_the_place_of_another()
{
	local i

	fleet_with_key a b
	for i in 1 2 3; do
		publishes 1 of a -q add 192.0.2.$i
	done
	comes b 192.0.2.3
	ask_redis copy 'xb:{test}:log' former >"$T/out"
	ask_redis eval "redis.call('DEL', KEYS[1])
		local entries = redis.call('XRANGE', KEYS[2], '-', '+')
		local last = #entries
		entries[last - 1], entries[last + 1] = entries[1], entries[2]
		for i, each in ipairs(entries) do
			redis.call('XADD', KEYS[1], i .. '-0', 'e', each[2][2])
		end" 2 'xb:{test}:log' former >"$T/out"
	of b -q add 192.0.2.4
	began_one 2
	comes a 192.0.2.4
	agree 4 a b
}

# Each time, with the log deleted or not, and one host away.
t_the_last_position_again_and_again()
{
	fleet_with_key a b
	publishes 1 of a -q add 192.0.2.1
	comes b 192.0.2.1
	forge at 18446744073709551614-0
	began_one 2
	down b
	forge at 18446744073709551615-0
	says_log a 'began a log at .*, term [3-9]'
	ask_redis del 'xb:{test}:log' >"$T/out"
	up b
	in_fleet a b
	adds a b 192.0.2.2
	[[ $(log_end) -le 8 && $(field a position) -le 8 ]] || fail "the log ends with $(log_end)"
	of b -q del 192.0.2.1
	goes a 192.0.2.1
	agree 1 a b
}

# b begins a log behind a forged entry while a, which is about to begin one, stands still.
t_another_has_begun_meanwhile()
{
	fleet_with_key b
	configure_host a
	XB_PAUSE=fleet-begins:1 up a "$XB_TEST_DIR/bin/bloomd-fault"
	in_fleet a
	publishes 1 of b -q add 192.0.2.1
	comes a 192.0.2.1
	kill -STOP "${host_pid[b]}"
	forge del 192.0.2.1
	wait_for "a to begin" is_stopped "${host_pid[a]}"
	continues b
	wait_for "a new log" has_begun 2
	wait_for "its lease to be free" no_lease
	continues a
	says_log a 'fleet: resynced \(begin\)'
	of a -q add 192.0.2.2
	agree - a b
	began_one 2
}

no_lease() { [[ $(ask_redis exists 'xb:{test}:lease') -eq 0 ]]; }

# The ids go on behind the last entry, so the server takes none that hosts would give. The snapshot is damaged as well.
t_moved_ids()
{
	fleet_with_key a b
	publishes 1 of a -q add 192.0.2.1
	comes b 192.0.2.1
	ask_redis set 'xb:{test}:snapshot' x >"$T/out"
	ask_redis xsetid 'xb:{test}:log' 1000-0 >"$T/out"
	of a -q add 192.0.2.2
	of b -q add 192.0.2.3
	wait_for "a new log" has_begun 2
	grep -qh 'the log takes no entry, since somebody has moved its ids' "$T"/?/log || fail "it is not said why: $(cat "$T"/?/log)"
	comes b 192.0.2.2
	comes a 192.0.2.3
	agree 3 a b
}

own_entry() { printf '198.51.100.%d' "'$1"; }

# joins_badly HOST MESSAGE: it comes with an entry of its own, and is not let in.
joins_badly()
{
	configure_host "$1"
	of "$1" -q add "$(own_entry "$1")"
	up "$1"
	is_stuck "$1" "$2"
	[[ $(count "$1" 'refused_total{what="snapshot"}') -ge 1 ]] || fail "$1 does not count it"
	says_once "$1" "fleet: cannot resync: .*$2.*; what is listed stays$"
	[[ $(entries "$1") -eq 1 ]] || fail "$1 has taken something: $(listing "$1" | head)"
}

# all_join HOST...: those that were not let in, and what they had.
all_join()
{
	local host

	in_fleet "$@"
	for host; do
		comes a "$(own_entry "$host")"
	done
	for host; do
		agree - a "$host"
	done
}

t_forged_snapshots()
{
	fleet_with_key a
	publishes 1 of a -q add 192.0.2.1
	makes_snapshot a
	forge manifest
	joins_badly b 'the manifest of the snapshot is damaged, or of a fleet with another key'
	makes_snapshot a
	forge damage
	joins_badly c 'chunk 0 of the snapshot is damaged, or of another one'
	makes_snapshot a
	snapshot
	wrong_type "chunk:$id:0"
	joins_badly d 'a chunk of the snapshot: WRONGTYPE'
	wrong_type snapshot
	joins_badly e 'the snapshot: WRONGTYPE'
	reads a || fail "a is $(field a state)"
	makes_snapshot a
	all_join b c d e
}

# wrong_type KEY: it becomes a list.
wrong_type()
{
	ask_redis del "xb:{test}:$1" >"$T/out"
	ask_redis rpush "xb:{test}:$1" nonsense >"$T/out"
}

t_wrong_types()
{
	local host

	fleet_with_key a
	publishes 1 of a -q add 192.0.2.1
	makes_snapshot a
	wrong_type reports
	says_log a 'fleet: the server takes no report of this host: WRONGTYPE'
	wrong_type lease
	configure_host a 'snapshot-every = 1'
	reload a
	says_log a 'fleet: cannot make a snapshot: WRONGTYPE'
	reads a || fail "a does not read any more"
	configure_host a
	reload a
	in_fleet a
	ask_redis del 'xb:{test}:lease' >"$T/out"
	joins b
	wrong_type log
	for host in a b; do
		wait_for "the log" is_in $host connecting
		wait_for "a reason" has_message $host 'WRONGTYPE'
	done
	of a -q add 192.0.2.2
	ask_redis config resetstat >"$T/out"
	wait_for "more tries" called ping 6
	for host in a b; do
		says_once $host 'fleet: protocol: .*: WRONGTYPE.*; what is listed stays$'
		has $host 192.0.2.1 || fail "$host has lost something"
	done
	ask_redis del 'xb:{test}:log' >"$T/out"
	comes b 192.0.2.2
	agree 2 a b
}

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
	says_log a 'fleet: the reports of the hosts are too large'
	publishes 1 of a -q add 192.0.2.2
	forge garbage 70000000
	wait_for "a reason" has_message a 'too-large'
	ask_redis del 'xb:{test}:log' >"$T/out"
	huge set 'xb:{test}:snapshot'
	wait_for "a new log" log_is_there
	in_fleet a
	[[ $(entries a) -eq 2 ]] || fail "it has others: $(listing a)"
	is_sanitized || most=$(most_memory a)
	[[ ${most:-0} -lt 262144 ]] || fail "bloomd takes $most KiB"
}

# --- other secrets ------------------------------------------------------------------------------------

# A host with a secret of its own: it neither takes nor gives anything.
t_a_host_with_another_key()
{
	local before host

	fleet_with_key a
	publishes 1 of a -q add 192.0.2.1
	before=$(log_length)
	new_key other
	configure_host b "key-file = $T/other"
	configure_host c
	sed -i /^key-file/d "$T/c/bloomd.conf"
	of b -q add 192.0.2.2
	for host in b c; do
		up $host
		is_stuck $host 'the manifest of the snapshot is damaged, or of a fleet with another key'
		has_not $host 192.0.2.1 || fail "$host takes what it cannot know"
	done
	log_is "$before" || fail "it has published"
	reads a || fail "it has stopped the others"
	cp "$T/key" "$T/other"
	reload b
	in_fleet b
	comes a 192.0.2.2
	agree 2 a b
}

# What it published with the wrong one would keep all others from reading on.
t_a_member_whose_key_changes()
{
	local before

	fleet_with_key a b
	adds a b 192.0.2.1
	adds a b 192.0.2.2
	before=$(log_length)
	(umask 077 && cat "$T/key" - <<<more >"$T/wrong")
	configure_host b "key-file = $T/wrong"
	reload b
	is_stuck b 'the log was written with another secret than this host has: see key-file'
	says_once b 'fleet: the log was written with another secret'
	of b -q add 192.0.2.3
	of a -q add 192.0.2.4
	published a
	# It looks again, and publishes nothing.
	ask_redis config resetstat >"$T/out"
	wait_for "looks at the log" called xrevrange 4
	log_is $((before + 1)) || fail "it has published"
	has_not b 192.0.2.4 || fail "it has taken what it cannot check"
	configure_host b
	reload b
	comes a 192.0.2.3
	comes b 192.0.2.4
	agree 4 a b
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
