#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A host that has published watches the end of the log, so that its next entry takes one round trip to the server. What
# happens to the log meanwhile, and to other hosts.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2031,SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

faulty_bloomd=$XB_TEST_DIR/bin/bloomd-fault

# adds HOST ADDRESS: publishes it; then nothing happens for longer than that took, so that the host relies on what it
# watches.
adds()
{
	local begun=${EPOCHREALTIME/./} pause

	publishes 1 of "$1" -q add "$2"
	wait_for "an empty outbox" outbox_is "$1" 0
	pause=$((${EPOCHREALTIME/./} - begun + 200000))
	printf -v pause %d.%06d $((pause / 1000000)) $((pause % 1000000))
	rest "$pause"
}

# What came over the connections that write.
asked_to_write() { sed -nE 's/^[^"]*"(WATCH|MULTI|XADD|EXEC|UNWATCH)".*/\1/p' "$T/asked" | tr '\n' ' '; }
asked_is() { [[ $(asked_to_write) == "$1 " ]]; }

t_one_round_trip()
{
	local monitor number=1

	fleet a
	adds a 192.0.2.1
	ask_redis monitor >>"$T/asked" &
	monitor=$!
	wait_for "the monitor" grep -q OK "$T/asked"
	# A machine that stands still may keep it from relying on what it watches.
	(wait_for "two entries in a round trip each" are_quick) || fail "$(asked_to_write)"
	kill "$monitor"
}

are_quick()
{
	: >"$T/asked"
	adds a "192.0.2.$((++number))"
	adds a "192.0.2.$((++number))"
	asked_is "MULTI XADD EXEC WATCH MULTI XADD EXEC WATCH"
}

# second_is CHANGES HOST...: a fleet of these hosts. The first one has published an entry, watches the end of the log, and
# stands before it appends its second entry, which has these changes, lines for batch.
second_is()
{
	local changes=$1

	shift
	fleet "$@"
	down "$1"
	XB_PAUSE=fleet-appends:2 up "$1" "$faulty_bloomd"
	wait_for "$1 in the fleet" reads "$1"
	adds "$1" 192.0.2.1
	of "$1" -q batch - <<<"$changes"
	wait_for "$1 to publish" is_stopped "${host_pid[$1]}"
}

stops_with_second() { second_is "add 192.0.2.2" "$@"; }

# goes_on_without_reader: a tries again, though it cannot read what the log has.
goes_on_without_reader()
{
	local reader

	reader=$(connections a | sed -n 1p)
	kill -STOP "$reader"
	ask_redis config resetstat >"$T/out"
	kill -CONT "${host_pid[a]}"
	wait_for "the entry" log_ends_behind 3
	is_stopped "$reader" || fail "it has asked by another connection"
	[[ $(calls exec) -eq 2 ]] || fail "$(calls exec) transactions"
	kill -CONT "$reader"
	wait_for "it" has b 192.0.2.2
}

t_its_beginning_goes()
{
	stops_with_second a b
	ask_redis xtrim 'xb:{test}:log' maxlen 1 >"$T/out"
	goes_on_without_reader
}

# More waits than one entry holds: so a does not watch the log behind it.
t_its_beginning_goes_while_more_waits()
{
	second_is "$(printf 'add %s\n' 11.0.{0..4}.{0..250})" a b
	ask_redis xtrim 'xb:{test}:log' maxlen 1 >"$T/out"
	kill -CONT "${host_pid[a]}"
	wait_for "all of it" has b 11.0.4.250
	wait_for "an empty outbox" outbox_is a 0
}

# The same entries, by another key.
t_it_is_another_one_with_the_same_end()
{
	stops_with_second a b
	ask_redis copy 'xb:{test}:log' 'xb:{test}:copy' >"$T/out"
	ask_redis del 'xb:{test}:log' >"$T/out"
	ask_redis rename 'xb:{test}:copy' 'xb:{test}:log' >"$T/out"
	goes_on_without_reader
}

t_another_host_appends()
{
	stops_with_second a b
	publishes 1 of b -q add 192.0.2.3
	kill -CONT "${host_pid[a]}"
	wait_for "what a had" has b 192.0.2.2
	wait_for "what b had" has a 192.0.2.3
	are_equal a b || fail "$(listing a) and $(listing b)"
	[[ $(log_length) -eq 4 ]] || fail "$(log_length) entries"
}

# What stands at that position now, the host does not know.
t_its_end_is_another_entry()
{
	stops_with_second a
	ask_redis del 'xb:{test}:log' >"$T/out"
	ask_redis xadd 'xb:{test}:log' 2-0 e forged >"$T/out"
	ask_redis config resetstat >"$T/out"
	kill -CONT "${host_pid[a]}"
	wait_for "the transaction" called exec 1
	sleep 1
	[[ $(log_end) -eq 2 ]] || fail "an entry follows what is not its own: $(log_end)"
}

t_it_is_deleted()
{
	stops_with_second a b
	ask_redis del 'xb:{test}:log' >"$T/out"
	kill -CONT "${host_pid[a]}"
	wait_for "it" has b 192.0.2.2
	wait_for "the same" are_equal a b
	[[ $(listing a | wc -l) -eq 2 ]] || fail "$(listing a)"
}

# A host that has read what another one has appended does not send an entry in vain.
t_in_turn()
{
	local turn host other most=20

	fleet a b
	adds a 192.0.2.1
	ask_redis config resetstat >"$T/out"
	for ((turn = 1; turn <= 10; turn++)); do
		for host in b a; do
			[[ $host == b ]] && other=a || other=b
			of "$host" -q add "2001:db8::$host:$turn"
			wait_for "what $host has" has "$other" "2001:db8::$host:$turn"
		done
	done
	are_equal a b || fail "$(listing a) and $(listing b)"
	! snapshot || most=21 # on a slow machine the first one comes between
	[[ $(calls exec) -ge 20 && $(calls exec) -le $most ]] || fail "$(calls exec) transactions for 20 entries"
}

# No two of their entries are for the same place, and none is lost.
t_at_once()
{
	local number jobs=()

	fleet a b
	for number in {1..60}; do
		of a -q add "198.51.100.$number"
	done &
	jobs+=($!)
	for number in {1..60}; do
		of b -q add "203.0.113.$number"
	done &
	jobs+=($!)
	wait "${jobs[@]}"
	patience=$((2 * patience))
	wait_for "the same" are_equal a b
	[[ $(listing a | wc -l) -eq 120 ]] || fail "$(listing a | wc -l) entries"
}

# A host that publishes all the while, and has its turn at once, does not keep another one from having its own. A
# round trip takes 20 ms.
t_others_have_their_turn()
{
	local number host flow

	redis --port 6390 --bind 127.0.0.1
	in_server python3 "$root/tests/support/faraway.py" 127.0.0.1 6391 6390 0.01 &
	for host in a b; do
		configure_host $host
		sed -i 's|^url = .*|url = redis://127.0.0.1:6391|' "$T/$host/bloomd.conf"
		up $host
	done
	wait_for "a in the fleet" reads a
	wait_for "b in the fleet" reads b
	for number in {0..20000}; do
		echo "SADD default 10.9.$((number >> 8)).$((number & 255))"
		rest 0.005
	done | in_server redis-cli -s "$T/a/run/api.sock" >"$T/out" &
	flow=$!
	wait_for "what a publishes" has b 10.9.0.100
	of b -q add 192.0.2.1
	wait_for "what b publishes" has a 192.0.2.1
	kill -0 $flow || fail "a does not publish any more"
	kill $flow
}

# A manifest is set at once, though the log that its maker watches has changed.
t_a_snapshot_beside_it()
{
	local round before

	lines=('snapshot-every = 1')
	fleet a
	wait_for "a snapshot" snapshot
	for round in 1 2 3; do
		before=$id
		publishes 1 of a -q add "192.0.2.$round"
		ask_redis xtrim 'xb:{test}:log' maxlen 1 >"$T/out"
		wait_for "a newer snapshot" is_newer "$before"
	done
	! logs a "cannot make a snapshot" || fail "$(cat "$T/a/log")"
}

# may [RULE...]: what the server lets hosts do, on the connections that they have.
may() { ask_redis acl setuser default "$@" >"$T/out"; }

# The entry that is being published follows what was watched; the next ones wait until that can be so again.
t_the_server_does_not_let_it_watch()
{
	fleet a b
	adds a 192.0.2.1
	may -watch
	adds a 192.0.2.2
	of a -q add 192.0.2.3
	wait_for "the word" logs a "cannot publish: .*watch"
	! has b 192.0.2.3 || fail "it was published though the log was not watched"
	may +watch
	wait_for "it" has b 192.0.2.3
}

# Nor is it told what the log ends with. The reader asks for that, too.
t_the_server_does_not_tell_the_end()
{
	local reader

	fleet a b
	adds a 192.0.2.1
	reader=$(connections a | sed -n 1p)
	kill -STOP "$reader"
	may -xrevrange
	of a -q add 192.0.2.2
	wait_for "the transaction" called exec 3
	of a -q add 192.0.2.3
	wait_for "the word" logs a "cannot publish: .*xrevrange"
	kill -CONT "$reader"
	may +xrevrange
	wait_for "it" has b 192.0.2.2
	wait_for "it" has b 192.0.2.3
}

t_the_server_does_not_let_it_unwatch()
{
	fleet a b
	adds a 192.0.2.1
	adds b 192.0.2.2
	wait_for "it" has a 192.0.2.2
	may -unwatch
	of a -q add 192.0.2.3
	wait_for "the word" logs a "cannot publish: .*unwatch"
	may +unwatch
	wait_for "it" has b 192.0.2.3
}

run_tests
