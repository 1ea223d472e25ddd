#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What a large fleet, or a large list, must not cost: bloomd's loop, and more of the server with each host.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

# answers HOST: its socket does.
answers() { [[ $(redis-cli -s "$T/$1/run/api.sock" ping) == PONG ]]; }

# A list that is shared anew is read from end to end, while bloomd goes on.
t_joining_is_beside_the_loop()
{
	redis
	configure_host a
	of a -q add 192.0.2.1
	XB_PAUSE=fleet-joining up a "$XB_TEST_DIR/bin/bloomd-fault"
	wait_for "the process that joins" is_stopped
	wait_for "an answer" answers a
	[[ $(of a -j fleet) == *'"fleet":null'* || $(of a -j fleet) == *'"fleet": null'* ]] || fail "it has joined"
	kill -CONT "$(joins)"
	patience=4
	wait_for "a in the fleet" reads a
	wait_for "an empty outbox" outbox_is a 0
}

# Killed before its commit, it is begun again.
t_joining_is_killed()
{
	redis
	configure_host a
	XB_PAUSE=fleet-joining up a "$XB_TEST_DIR/bin/bloomd-fault"
	wait_for "the process that joins" is_stopped
	kill -KILL "$(joins)"
	wait_for "the word" grep -q 'the process that writes what the configuration says was ended' "$T/a/log"
	wait_for "the next one" is_stopped
	answers a || fail "bloomd does not answer"
	kill -CONT "$(joins)"
	patience=4
	wait_for "a in the fleet" reads a
	down a
}

# The child of a, if it is stopped.
joins() { pgrep -P "${host_pid[a]}" -r T; }
is_stopped() { joins; }

# While nothing happens, a host asks for one entry of the log, and not for three.
t_what_is_asked_in_vain()
{
	fleet a
	of a -q add 192.0.2.1
	wait_for "an empty outbox" outbox_is a 0
	ask_redis config resetstat >"$T/out"
	patience=4
	wait_for "two looks" called xrevrange 2
	[[ $(calls xrange) -eq 0 ]] || fail "$(ask_redis info commandstats)"
}

# What others report is asked for the less often the more they are.
t_reports_of_many()
{
	redis
	for ((i = 0; i < 400; i++)); do
		echo "hset xb:{test}:reports $i {}"
	done | ask_redis >"$T/out"
	configure_host a
	up a
	patience=8
	wait_for "a in the fleet" reads a
	wait_for "the reports" called hgetall 1
	ask_redis config resetstat >"$T/out"
	wait_for "two reports" called hset 2
	[[ $(calls hgetall) -eq 0 ]] || fail "$(ask_redis info commandstats)"
}

run_tests
