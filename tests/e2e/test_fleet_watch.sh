#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A host that has published watches the end of the log, so that its next entry needs one round trip; and what
# happens to the log meanwhile.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

faulty_bloomd=$XB_TEST_DIR/bin/bloomd-fault

is_stopped() { [[ $(ps -o stat= -p "$1") == T* ]]; }
outbox_is() { [[ $(field "$1" outbox) -eq $2 ]]; }

# calls COMMAND: how often the server was asked so.
calls() { ask_redis info commandstats | sed -n "s/^cmdstat_$1:calls=\([0-9]*\),.*/\1/p" | grep . || echo 0; }

# adds HOST ADDRESS: and publishes it.
adds()
{
	publishes 1 of "$1" -q add "$2"
	wait_for "an empty outbox of $1" outbox_is "$1" 0
}

t_one_round_trip()
{
	local monitor

	fleet a
	adds a 192.0.2.1
	ask_redis monitor >"$T/asked" &
	monitor=$!
	wait_for "the monitor" grep -q OK "$T/asked"
	adds a 192.0.2.2
	adds a 192.0.2.3
	kill "$monitor"
	sed -nE 's/^[^"]*"(WATCH|MULTI|XADD|EXEC|UNWATCH)".*/\1/p' "$T/asked" | tr '\n' ' ' >"$T/order"
	[[ $(cat "$T/order") == "MULTI XADD EXEC WATCH MULTI XADD EXEC WATCH " ]] || fail "$(cat "$T/order")"
}

# stops_with_second HOST...: a fleet of these, where the first is about to append its second entry, 192.0.2.2, to the
# log that it watches.
stops_with_second()
{
	fleet "$@"
	down "$1"
	XB_PAUSE=fleet-appends:2 up "$1" "$faulty_bloomd"
	wait_for "$1 in the fleet" reads "$1"
	adds "$1" 192.0.2.1
	of "$1" -q add 192.0.2.2
	wait_for "$1 to publish" is_stopped "${host_pid[$1]}"
}

t_its_beginning_goes()
{
	stops_with_second a b
	ask_redis xtrim 'xb:{test}:log' maxlen 1 >"$T/out"
	ask_redis config resetstat >"$T/out"
	kill -CONT "${host_pid[a]}"
	wait_for "it" has b 192.0.2.2
	[[ $(calls exec) -eq 2 ]] || fail "$(calls exec) transactions"
	[[ $(log_length) -eq 2 ]] || fail "$(log_length) entries"
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

# The same entries, by another key.
t_it_is_another_one_with_the_same_end()
{
	stops_with_second a b
	ask_redis copy 'xb:{test}:log' 'xb:{test}:copy' >"$T/out"
	ask_redis del 'xb:{test}:log' >"$T/out"
	ask_redis rename 'xb:{test}:copy' 'xb:{test}:log' >"$T/out"
	ask_redis config resetstat >"$T/out"
	kill -CONT "${host_pid[a]}"
	wait_for "it" has b 192.0.2.2
	[[ $(calls exec) -eq 2 ]] || fail "$(calls exec) transactions"
}

# What stands at that position now, another host has written.
t_its_end_is_another_entry()
{
	stops_with_second a b
	ask_redis xdel 'xb:{test}:log' "$(log_end)-0" >"$T/out"
	ask_redis xsetid 'xb:{test}:log' 1-0 >"$T/out"
	down b
	ask_redis xadd 'xb:{test}:log' 2-0 e forged >"$T/out"
	ask_redis config resetstat >"$T/out"
	kill -CONT "${host_pid[a]}"
	sleep 1
	[[ $(log_end) -eq 2 ]] || fail "an entry follows what is not its own: $(log_end)"
}

t_it_is_deleted()
{
	stops_with_second a b
	ask_redis del 'xb:{test}:log' >"$T/out"
	kill -CONT "${host_pid[a]}"
	patience=12
	wait_for "it" has b 192.0.2.2
	wait_for "the same" are_equal a b
	[[ $(listing a | wc -l) -eq 2 ]] || fail "$(listing a)"
}

# A host that has read what another one has appended does not send an entry in vain.
t_in_turn()
{
	local turn host other=b

	fleet a b
	adds a 192.0.2.1
	ask_redis config resetstat >"$T/out"
	for ((turn = 1; turn <= 10; turn++)); do
		for host in b a; do
			of "$host" -q add "2001:db8::$host:$turn"
			[[ $host == b ]] && other=a || other=b
			wait_for "what $host has" has "$other" "2001:db8::$host:$turn"
			wait_for "an empty outbox" outbox_is "$host" 0
		done
	done
	are_equal a b || fail "$(listing a) and $(listing b)"
	[[ $(calls exec) -eq 20 ]] || fail "$(calls exec) transactions for 20 entries"
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
	patience=8
	wait_for "an empty outbox" outbox_is a 0
	wait_for "an empty outbox" outbox_is b 0
	wait_for "the same" are_equal a b
	[[ $(listing a | wc -l) -eq 120 ]] || fail "$(listing a | wc -l) entries"
}

# may [RULE...]: what the server lets hosts do, on the connections that they have.
may() { ask_redis acl setuser default "$@" >"$T/out"; }
says_unpublished() { [[ $(of "$1" -j fleet) == *"cannot publish: "*"$2"* ]]; }

# The entry that is being published follows what was watched; the next ones wait until that can be so again.
t_the_server_does_not_let_it_watch()
{
	fleet a b
	adds a 192.0.2.1
	may -watch
	adds a 192.0.2.2
	of a -q add 192.0.2.3
	wait_for "the word" says_unpublished a watch
	! has b 192.0.2.3 || fail "it was published though the log was not watched"
	may +watch
	patience=4
	wait_for "it" has b 192.0.2.3
}

# Nor is it told what the log ends with.
t_the_server_does_not_tell_the_end()
{
	fleet a b
	adds a 192.0.2.1
	may -xrevrange
	of a -q add 192.0.2.2
	wait_for "it" has b 192.0.2.2
	of a -q add 192.0.2.3
	wait_for "the word" says_unpublished a xrevrange
	may +xrevrange
	patience=4
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
	wait_for "the word" says_unpublished a unwatch
	may +unwatch
	patience=4
	wait_for "it" has b 192.0.2.3
}

run_tests
