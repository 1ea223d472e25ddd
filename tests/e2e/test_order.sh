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
for i in range(9000):
    print("172.16.%d.%d" % (i >> 8, i & 255))' >"$T/many"
	ctl add 10.77.0.3
	ctl -q attach x0
	stands_at rotate-built import "$T/many" --include-bogons
	exits 0 policy monitor
	goes_on 0
	exits 0 status
	passes 10.77.0.3
}

run_tests
