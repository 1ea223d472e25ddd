# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154
# An interface attached for good, the wait for the end of a trial, and a check that nothing of it is left.
# For sourcing behind lib.sh.

listed=10.77.0.3 other=10.77.0.4 listed6=fd77::3

# Adds 10.77.0.3 and fd77::3 and attaches for good.
begin()
{
	ctl add "$listed" "$listed6"
	ctl -q attach x0 --refuse gateway
	blocked "$listed" "$listed6"
}

# until_over SECONDS: the trial that has begun with so many is over.
until_over()
{
	sleep "$1"
	sleep 0.3
}

# kept COMMAND...: on trial and committed, and the time that it had is over. A busy machine may need more of it.
kept()
{
	local seconds

	for seconds in 2 10 60; do
		ctl -q "$@" --rollback $seconds 2>/dev/null
		! ctl -q commit 2>/dev/null || break
	done
	until_over $seconds
}

# hold_builder: whoever builds waits until let_builder_go.
hold_builder()
{
	flock --no-fork "$state/builder.lock" sleep 600 &
	holder=$!
	wait_for "the lock" flock --nonblock --conflict-exit-code 0 "$state/builder.lock" false
}

let_builder_go()
{
	kill "$holder"
	wait "$holder" || true
}

nothing_left()
{
	[[ ! -e $pins/trial ]] || fail "pins of the trial are left"
	[[ $(find "$pins" -maxdepth 1 -name 'gen-*' | wc -l) -eq ${1:-1} ]] ||
		fail "generations: $(ls "$pins")"
	[[ $(find "$counters" -name '*.counters' | wc -l) -eq ${1:-1} ]] ||
		fail "counters: $(ls "$counters")"
	[[ -z $(find "$state" -name 'trial.input*') ]] || fail "the text of the trial is left"
}
