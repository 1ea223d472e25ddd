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

# Until SECONDS after the trial began the first thing holds, after it the second.
until_over()
{
	sleep "$1"
	sleep 0.3
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
