#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The kernel does not take the program off an interface (as virtio-net of Linux 6.1 with a large MTU; here the test build
# makes that up): everything passes there at once, others stay filtered, and no later command fails for it.
# waits: more than it computes
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/interfaces.sh"

# refused CODE COMMAND...: as exits, while the kernel takes no program off.
refused()
{
	local wanted=$1 code=0

	shift
	XB_FAIL=take-off tool "$faulty" "$@" >"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq $wanted ]] || fail "bloomctl $*: exit code $code, not $wanted: $(head -c 300 "$T/err")"
}

# is_left NAME: it has the program, and status says so and what takes it off; nothing else is amiss.
is_left()
{
	[[ -n $(program_on "$1") ]] || fail "$1 lost the program"
	exits 3 -j status
	json '[p["kind"] for p in d["problem_details"]] == ["left"]'
	json "d['problem_details'][0]['interface'] == '$1'"
	json "'ip link set dev $1 mtu 1500 && bloomctl up' in d['problems'][0]"
}

nothing_left()
{
	[[ -z $(program_on "$1") ]] || fail "$1 still has a program"
	no_problem
	[[ ! -e $pins/trial ]] || fail "the guard is left: $(ls "$pins/trial")"
}

all_gone() { nothing_left x0 && [[ ! -e $pins/link ]] && ! compgen -G "$pins/gen-*" || fail "left: $(ls "$pins")"; }

t_the_only_interface()
{
	begin
	blocked 10.77.0.3
	refused 0 -q detach x0
	[[ $(wc -l <"$T/err") -eq 1 ]] || fail "not one line: $(cat "$T/err")"
	complains 'x0: the kernel does not take the program off at MTU 1500 .*lets everything pass; `ip link set dev x0'
	passes 10.77.0.3
	is_left x0
	refused 0 -q add 10.77.0.4
	[[ ! -s $T/err ]] || fail "it is told again: $(cat "$T/err")"
	passes 10.77.0.3 10.77.0.4
	is_left x0
	refused 0 -q detach x0
	complains 'x0 still has the program'
	refused 0 rotate
	exits 0 del 10.77.0.4
	all_gone
	passes 10.77.0.3
	exits 0 attach x0
	blocked 10.77.0.3
	refused 0 -j detach --all
	json 'd["detached"] and d["left"] == ["x0"]'
	passes 10.77.0.3
	is_left x0
	refused 0 detach --all
	complains 'x0 still has the program'
	exits 0 -j detach --all
	json 'd["detached"] and d["left"] == []'
	all_gone
	# Nor does another mode come; with --force, the MTU is as it was, whatever came of it.
	exits 0 attach x0 --mode skb
	refused 3 attach x0 --mode native
	one_line
	complains 'x0: the kernel does not take the program off at MTU 1500'
	blocked 10.77.0.3
	exits 0 status
	ip -n "$server" link set x0 mtu 2000
	refused 0 detach x0 --force
	complains 'x0 had the MTU 1500 instead of 2000 for [0-9.]+ s'
	complains 'x0 still has the program'
	ip -n "$server" link show x0 | contains ' mtu 2000 ' || fail "the MTU is another"
	is_left x0
	exits 0 detach x0 --force
	all_gone
	ip -n "$server" link show x0 | contains ' mtu 2000 ' || fail "the MTU is another"
}

# The filter of x0 has no gap, and y0 none of its verdicts.
let_y0_go() { refused 0 detach y0; }

t_others_stay_filtered()
{
	join y0 0
	begin x0 y0
	filters y0 x0
	flood let_y0_go
	complains 'y0: the kernel does not take'
	filters x0
	lets_pass y0
	is_left y0
	over x0
	flood refused 0 add 10.77.0.4
	blocked 10.77.0.4
	flood refused 0 rotate
	flood refused 0 verdict default nxdomain
	blocked 10.77.0.3 10.77.0.4
	lets_pass y0
	is_left y0
	over x0
	flood exits 0 up
	nothing_left y0
	filters x0
	lets_pass y0
}

# What comes after all were detached is filtered, what is left is not.
t_another_one_is_attached()
{
	join y0 0
	begin
	refused 0 -q detach x0
	refused 0 attach y0
	filters y0
	lets_pass x0
	is_left x0
	refused 0 detach y0
	lets_pass x0
	lets_pass y0
	exits 0 up
	nothing_left y0
	all_gone
}

# For the end of what is left; so do an attachment, which takes it over, and the end of the interface.
t_what_ends_it()
{
	join y0 0
	begin x0 y0
	refused 0 detach y0
	refused 3 policy monitor --rollback 60
	one_line
	complains 'y0 still has the program, though it is detached: nothing can be tried'
	filters x0
	lets_pass y0
	exits 0 policy monitor --rollback 60
	over x0
	passes 10.77.0.3
	exits 0 -j status
	json 'd["trial"]["seconds_left"] > 0'
	exits 0 commit
	exits 0 policy enforce
	exits 0 attach y0
	refused 0 detach y0
	lets_pass y0
	refused 0 attach y0
	filters y0 x0
	exits 0 status
	exits 0 add 10.77.0.4
	filters y0 x0
	exits 0 status
	[[ ! -e $pins/trial ]] || fail "the guard is left"
	refused 0 detach y0
	ip -n "$server" link delete y0
	exits 0 up
	exits 0 status
	[[ ! -e $pins/trial ]] || fail "the guard is left"
	filters x0
}

# The end of a trial is one of those that want the program off.
t_after_a_trial()
{
	join y0 0
	begin x0
	exits 0 attach y0 --rollback 2
	filters y0
	sleep 2.3
	lets_pass y0
	refused 0 add 10.77.0.4
	complains 'y0: the kernel does not take'
	lets_pass y0
	filters x0
	is_left y0
	exits 0 up
	nothing_left y0
	filters x0
}

# While y0 is on trial, x0 is let go: the commit keeps y0, and x0 passes on.
t_during_a_trial()
{
	join y0 0
	begin x0
	exits 0 attach y0 --rollback 60
	refused 0 -q detach x0
	lets_pass x0
	filters y0
	refused 0 commit
	filters y0
	lets_pass x0
	is_left x0
	exits 0 up
	nothing_left x0
	filters y0
}

t_killed()
{
	local point code

	join y0 0
	ctl add 10.77.0.3
	for point in left-pinned left-announced left-guarded; do
		ctl -q attach x0 y0
		code=0
		XB_FAIL=take-off XB_FAULT=$point tool "$faulty" -q detach y0 || code=$?
		[[ $code -eq 137 ]] || fail "$point: exit code $code"
		filters x0
		refused 0 add 10.77.0.4 --exist
		filters x0
		lets_pass y0
		is_left y0
		exits 0 up
		nothing_left y0
		filters x0
		exits 0 detach --all
	done
}

# The guard is that of a trial.
t_killed_during_a_trial()
{
	local code=0

	join y0 0
	begin x0
	exits 0 attach y0 --rollback 60
	XB_FAIL=take-off XB_FAULT=left-announced tool "$faulty" -q detach x0 || code=$?
	[[ $code -eq 137 ]] || fail "exit code $code"
	filters y0 x0
	refused 0 add 10.77.0.4
	lets_pass x0
	filters y0
	exits 0 commit
	exits 0 up
	nothing_left x0
	filters y0
}

run_tests
