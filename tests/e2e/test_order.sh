#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What comes between two steps of a command: another command, or a packet.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

# A policy that was acknowledged while a filter was built is in force with that filter, too.
t_policy_while_a_filter_is_built()
{
	local what

	ctl add 10.77.0.3
	ctl -q attach x0
	for what in "rotate" "rotate --fpr 0.001" "rotate --no-confirm"; do
		# shellcheck disable=SC2086
		stands_at rotate-built $what
		exits 0 policy monitor
		goes_on 0
		exits 0 status
		passes 10.77.0.3
		# shellcheck disable=SC2086
		stands_at rotate-built $what
		exits 0 policy enforce
		goes_on 0
		exits 0 status
		blocked 10.77.0.3
	done
}

# The same when the filter is one that is tried, and when the trial is committed.
t_policy_while_a_trial_is_built()
{
	ctl add 10.77.0.3
	ctl -q attach x0
	ctl policy monitor
	stands_at rotate-built rotate --rollback 60
	exits 0 policy enforce
	goes_on 0
	exits 0 policy
	says '^enforce$'
	blocked 10.77.0.3
	exits 0 -q commit
	exits 0 status
	blocked 10.77.0.3
	ctl policy monitor
	passes 10.77.0.3
}

# And when it is built because the one in force is full.
t_policy_while_a_full_filter_grows()
{
	python3 -c '
for i in range(9500):
    print("172.16.%d.%d" % (i >> 8, i & 255))' >"$T/many"
	ctl add 10.77.0.3
	ctl -q attach x0
	stands_at rotate-built import "$T/many" --include-bogons
	exits 0 policy monitor
	goes_on 0
	exits 0 status
	passes 10.77.0.3
}

# 10.77.0.3 is listed before and after each of these, by other entries or in other lists.
replacements()
{
	cat >"$T/narrower" <<-END
		del 10.77.0.0/24
		add 10.77.0.0/25 10.77.0.128/25
		add 10.77.0.3 --list two
		allow add 10.77.0.5
	END
	cat >"$T/wider" <<-END
		del 10.77.0.0/25 10.77.0.128/25
		del 10.77.0.3 --list two
		allow del 10.77.0.5
		add 10.77.0.0/24
	END
}

alternate()
{
	local i

	for ((i = 0; i < 25; i++)); do
		ctl batch "$T/narrower"
		ctl batch "$T/wider"
	done
}

# write_on NUMBER COMMAND...: again and again, in the background; @ is a number that goes round.
write_on()
{
	local i

	while true; do
		for i in {1..9}; do
			ctl -q "${@//@/$i}" >/dev/null 2>&1 || true
		done
	done
}

t_status_beside_writers()
{
	local i writers began late=0 rounds=24

	[[ -z ${XB_TEST_ALL:-} ]] || rounds=80
	replacements
	ctl add 10.77.0.0/24 192.0.2.1
	ctl -q attach x0
	write_on add 198.51.100.@ --exist &
	writers=$!
	(while true; do alternate; done) >/dev/null 2>&1 &
	writers+=" $!"
	write_on del 198.51.100.@ --exist &
	writers+=" $!"
	for ((i = 0; i < rounds; i++)); do
		began=$SECONDS
		ctl status >"$T/out" 2>&1 || {
			# It waits five seconds for a moment at which nothing moves.
			[[ $((SECONDS - began)) -ge 5 ]] || fail "status fails: $(cat "$T/out")"
			late=$((late + 1))
		}
	done
	[[ $late -lt $((rounds / 4)) ]] || fail "$late times status has seen no end of a change: $(cat "$T/out")"
	# shellcheck disable=SC2086
	kill $writers
}

# A change that goes on is not amiss, one that nobody goes on with is.
t_status_beside_one_who_stands_still()
{
	local asked began code took

	ctl add 10.77.0.3
	ctl -q attach x0
	for point in commit-after apply-dirty apply-half apply-done; do
		for _ in {1..20}; do
			stands_at $point add 10.77.0.4
			began=$SECONDS code=0
			ctl status >/dev/null &
			asked=$!
			sleep 0.5
			goes_on 0
			wait $asked || code=$?
			took=$((SECONDS - began))
			ctl del 10.77.0.4
			[[ $code -ne 0 && $took -ge 5 ]] || break # the change took longer than status waits
		done
		[[ $code -eq 0 ]] || fail "$point: status ends with $code"
	done
	stands_at apply-half add 10.77.0.4
	exits 3 status
	says "PROBLEM +a change was interrupted"
	says "PROBLEM +process $paused \(\`bloomctl add 10.77.0.4\`, since .*, stopped\) is in the middle"
	kill -KILL $paused
	exits 3 status
	says "PROBLEM +a change was interrupted"
	[[ $(grep -c PROBLEM "$T/out") -eq 1 ]] || fail "$(cat "$T/out")"
	exits 0 up
	exits 0 status
}

run_tests
