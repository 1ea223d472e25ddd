#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A host that has published watches the end of the log, so that its next entry takes one round trip to the server. What
# happens to the log meanwhile, and to other hosts.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

# puts HOST ADDRESS: publishes it; then nothing happens for longer than that took, so that the host relies on what it
# watches.
puts()
{
	local begun=${EPOCHREALTIME/./} pause

	publishes 1 of "$1" -q add "$2" || fail "$2: $(cat "$T/$1/err")"
	published "$1"
	pause=$((${EPOCHREALTIME/./} - begun + 200000))
	printf -v pause %d.%06d $((pause / 1000000)) $((pause % 1000000))
	rest "$pause"
}

# What came over the connections that write.
asked_to_write() { sed -nE 's/^[^"]*"(WATCH|MULTI|XADD|EXEC|UNWATCH)".*/\1/p' "$T/asked" | tr '\n' ' '; }

t_one_round_trip()
{
	local monitor

	fleet a
	puts a 192.0.2.1
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
	puts a "192.0.2.$((++fresh))"
	puts a "192.0.2.$((++fresh))"
	[[ $(asked_to_write) == "MULTI XADD EXEC WATCH MULTI XADD EXEC WATCH " ]]
}

# a_stands CHANGES: a is started, has published an entry, watches the end of the log, and stands before it appends its second
# entry, which has these changes, lines for batch.
fresh=10 # of the addresses that it lists
a_stands()
{
	down a
	XB_PAUSE=fleet-appends:2 up a "$XB_TEST_DIR/bin/bloomd-fault"
	in_fleet a
	puts a "192.0.2.$((++fresh))"
	of a -q batch - <<<"$1" || fail "of these changes: $(cat "$T/a/err")"
	wait_for "a to publish" is_stopped "${host_pid[a]}"
}

# tries_again ENTRY: a publishes it, though it cannot read what the log has.
tries_again()
{
	local reader end

	reader=$(connections a | sed -n 1p)
	end=$(log_end)
	kill -STOP "$reader"
	ask_redis config resetstat >"$T/out"
	continues a
	wait_for "the entry of $1" log_ends_behind $((end + 1))
	is_stopped "$reader" || fail "it has asked by another connection: $1"
	[[ $(calls exec) -eq 2 ]] || fail "$(calls exec) transactions: $1"
	kill -CONT "$reader"
	comes b "$1"
}

t_the_log_changes_meanwhile()
{
	fleet a b
	# Meanwhile nobody makes a snapshot, which takes a transaction as well.
	ask_redis set 'xb:{test}:lease' somebody px 600000 >"$T/out"
	# Its beginning goes.
	a_stands "add 192.0.2.1"
	ask_redis xtrim 'xb:{test}:log' maxlen 1 >"$T/out"
	tries_again 192.0.2.1
	# It is another one with the same end: the same entries, by another key.
	a_stands "add 192.0.2.2"
	ask_redis copy 'xb:{test}:log' 'xb:{test}:copy' >"$T/out"
	ask_redis del 'xb:{test}:log' >"$T/out"
	ask_redis rename 'xb:{test}:copy' 'xb:{test}:log' >"$T/out"
	tries_again 192.0.2.2
	# Another host appends.
	a_stands "add 192.0.2.3"
	publishes 1 of b -q add 192.0.2.4
	publishes 1 continues a
	comes b 192.0.2.3
	comes a 192.0.2.4
	agree - a b
	# Its beginning goes while more waits than one entry holds: so a does not watch the log behind it.
	a_stands "$(printf 'add %s\n' 11.0.{0..4}.{0..250})"
	ask_redis xtrim 'xb:{test}:log' maxlen 1 >"$T/out"
	publishes 2 continues a
	comes b 11.0.4.250
	published a
	# It is deleted.
	a_stands "add 192.0.2.5"
	ask_redis del 'xb:{test}:log' 'xb:{test}:lease' >"$T/out"
	continues a
	comes b 192.0.2.5
	agree - a b
	has b 11.0.4.250 && has a 192.0.2.4 || fail "something is gone: $(listing a)"
}

# What stands at that position now, the host does not know.
t_its_end_is_another_entry()
{
	fleet a
	a_stands "add 192.0.2.1"
	ask_redis del 'xb:{test}:log' >"$T/out"
	ask_redis xadd 'xb:{test}:log' 2-0 e forged >"$T/out"
	ask_redis config resetstat >"$T/out"
	continues a
	wait_for "that it gives up" called unwatch 1
	[[ $(calls exec) -eq 1 && $(log_end) -eq 2 ]] || fail "an entry follows what is not its own: $(log_end)"
}

# A host that has read what another one has appended does not send an entry in vain.
t_in_turn()
{
	local turn host other most=20

	fleet a b
	puts a 192.0.2.1
	ask_redis config resetstat >"$T/out"
	for ((turn = 1; turn <= 10; turn++)); do
		for host in b a; do
			[[ $host == b ]] && other=a || other=b
			adds "$host" "$other" "2001:db8::$host:$turn"
		done
	done
	agree 21 a b
	! snapshot || most=21 # on a slow machine the first one comes between
	[[ $(calls exec) -ge 20 && $(calls exec) -le $most ]] || fail "$(calls exec) transactions for 20 entries"
}

# No two of their entries are for the same place, and none is lost.
t_at_once()
{
	local host jobs=()

	fleet a b
	for host in a b; do
		for number in {1..60}; do
			of $host -q add "2001:db8::$host:$number"
		done &
		jobs+=($!)
	done
	wait "${jobs[@]}"
	published a b
	agree 120 a b
}

# A host that publishes all the while, and has its turn at once, does not keep another one from having its own. A
# round trip takes 20 ms.
t_others_have_their_turn()
{
	local number flow

	redis --port 6390 --bind 127.0.0.1
	in_server python3 "$root/tests/support/faraway.py" 127.0.0.1 6391 6390 0.01 &
	lines=('url = redis://127.0.0.1:6391')
	joins a
	joins b
	for number in {0..20000}; do
		echo "SADD default 10.9.$((number >> 8)).$((number & 255))"
		rest 0.005
	done | in_server redis-cli -s "$T/a/run/api.sock" >"$T/out" &
	flow=$!
	comes b 10.9.0.100
	adds b a 192.0.2.1
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

# After each a word of it, and its end is enough to go on.
t_the_server_does_not_let_it()
{
	local reader

	fleet a b
	puts a 192.0.2.1
	puts b 192.0.2.2
	comes a 192.0.2.2
	may -unwatch
	of a -q add 192.0.2.3
	says_log a "cannot publish: .*unwatch"
	may +unwatch
	comes b 192.0.2.3
	# The entry that is being published follows what was watched; the next ones wait until that can be so again.
	published a
	puts a 192.0.2.4
	may -watch
	puts a 192.0.2.5
	of a -q add 192.0.2.6
	says_log a "cannot publish: .*[^n]watch"
	has_not b 192.0.2.6 || fail "it was published though the log was not watched"
	may +watch
	comes b 192.0.2.6
	# Nor is it told what the log ends with. The reader asks for that, too.
	puts a 192.0.2.7
	reader=$(connections a | sed -n 1p)
	kill -STOP "$reader"
	ask_redis config resetstat >"$T/out"
	may -xrevrange
	of a -q add 192.0.2.8
	wait_for "the transaction" called exec 1
	of a -q add 192.0.2.9
	says_log a "cannot publish: .*xrevrange"
	kill -CONT "$reader"
	may +xrevrange
	comes b 192.0.2.8 192.0.2.9
}

run_tests
