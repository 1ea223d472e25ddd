#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# bloomd, when somebody sets the clock of the machine: an entry ends by the clock on the wall. For the kernel's
# timers a machine that wakes up is one whose clock was set forward.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/../e2e/lib.sh"

begin()
{
	ctl -q attach x0
	ctl -q add 10.77.0.5
	agent
}

gone() { ! ctl -q list | contains "^$1 "; }

# step SECONDS: sets the clock forward, or back.
step() { date -s "@$(($(date +%s) + $1))" >/dev/null; }

t_forward()
{
	begin
	exits 0 add 10.77.0.3 --timeout 3600
	exits 0 add 10.77.0.4 --timeout 36000
	step 3500
	sleep 2
	blocked 10.77.0.3 10.77.0.4
	step 200
	wait_for "the end of 10.77.0.3" gone 10.77.0.3
	comes_through 10.77.0.3
	blocked 10.77.0.4 10.77.0.5
	step -3700 # so that the test takes no longer than it did
}

t_back_and_forward()
{
	begin
	exits 0 add 10.77.0.3 --timeout 20
	step -3600
	sleep 22
	blocked 10.77.0.3
	step 3600
	wait_for "the end of 10.77.0.3" gone 10.77.0.3
	comes_through 10.77.0.3
	blocked 10.77.0.5
}

run_tests
