#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Known customers over time: they outlive reboots, kills, another store and a filter that is full.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=known.sh
. "$(dirname "$0")/known.sh"

t_reboot()
{
	need_cgroup
	many_addresses
	ctl attach x0
	exits 0 known on
	connect_all 1000 0
	exits 0 policy allow-only --known
	exits 0 known save
	power_cut
	exits 0 up
	[[ ! -s $T/err ]]
	connect_all 1000 0
	! reaches tcp 10.77.0.4 0.5 || fail "a stranger connects"
	exits 0 status
	# Without the pins of known sources alone.
	exits 0 known save
	rm -rf "$pins/known"
	exits 3 status
	says 'PROBLEM .*none are kept in the kernel; the next command'
	exits 0 up
	exits 0 status
	connect_all 1000 0
	# A file that somebody has damaged.
	printf x | dd of="$state/known" bs=1 seek=1000 conv=notrunc 2>/dev/null
	power_cut
	exits 0 up
	complains 'no source is known any more: .*known is damaged'
	exits 0 status
	! reaches tcp 10.77.0.4 0.5 || fail "a stranger connects"
}

# While it is saved, the filter grows: nobody is lost.
t_saved_while_it_grows()
{
	need_cgroup
	many_addresses
	ctl attach x0
	ctl known on --capacity 100
	connect_all 60 0
	stands_at known-opened known save
	exits 0 known on --capacity 5000
	connect_all 20 60
	goes_on 0
	power_cut
	exits 0 up
	[[ ! -s $T/err ]] || fail "$(cat "$T/err")"
	knows 10.78.0.0
	knows 10.78.0.39
}

# Who was known when all were forgotten does not come back with a file that was being written.
t_cleared_while_it_is_saved()
{
	local point clearing

	need_cgroup
	serve
	for point in known-opened known-written; do
		ctl known on
		reaches tcp 10.77.0.2
		stands_at "$point" known save
		in_server "$bloomctl" --state "$state" --pin "$pins" --run "$counters" -q known clear &
		clearing=$!
		sleep 0.5
		goes_on 0
		wait $clearing
		[[ ! -e $state/known ]] || fail "a file, after a save that stood at $point"
		power_cut
		exits 0 up
		knows_not 10.77.0.2
	done
}

# faults COMMAND...: all points that it comes to.
points()
{
	: >"$T/seen"
	XB_FAULT_SEEN=$T/seen tool "$faulty" -q "$@" >/dev/null 2>&1 || true
	sort -u "$T/seen"
}

# Killed anywhere: the next command has it all right, and what was saved is not lost.
t_killed_anywhere()
{
	local point command seen=0

	need_cgroup
	many_addresses
	ctl attach x0
	exits 0 known on
	connect_all 100 0
	exits 0 known save
	for command in 'known save' 'known off' 'known on' 'known on --capacity 900000' up 'policy allow-only --known'; do
		# What the command finds that comes to the most points.
		begin_anew "$command"
		for point in $(points $command); do
			begin_anew "$command"
			XB_FAULT=$point tool "$faulty" -q $command >/dev/null 2>&1 || true
			seen=$((seen + 1))
			exits 0 known on
			exits 0 -j known status
			says '"learning":true'
			connect_known "$command at $point"
			exits 0 status
		done
	done
	[[ $seen -gt 20 ]] || fail "only $seen points"
	! compgen -G "$state/known.new*" >/dev/null || fail "a half written file is left"
}

begin_anew()
{
	exits 0 policy enforce
	case $1 in
	'known on') ctl known off ;;
	up) rm -rf "$pins/known" ;;
	*) ctl known on ;;
	esac
}

connect_known()
{
	knows 10.78.0.0
	knows 10.78.0.49
	knows fd78::9
}

# bloomd saves, lets the filter grow, and has somebody learn again.
t_agent()
{
	need_cgroup
	many_addresses
	ctl attach x0
	ctl known on --capacity 100
	printf '[known]\nsave = 1s\n' >"$T/bloomd.conf"
	agent
	connect_all 300 0
	wait_for "a larger filter" is_larger
	wait_for "the file" is_saved
	rm "$pins/known/link"
	wait_for "the program" test -e "$pins/known/link"
	agent_ends
	power_cut
	exits 0 up
	knows 10.78.0.0
	printf '[known]\nsave = 0\n' >"$T/bloomd.conf"
	code=0
	"$bloomd" --config "$T/bloomd.conf" --check 2>"$T/err" || code=$?
	[[ $code -eq 2 ]] || fail "save = 0: $code"
}

is_larger() { ctl -j known status | contains '"sets":2'; }

# With all that was learned.
is_saved() { [[ -n $(find "$state/known" -newermt '1 second ago') && $(stat -c %s "$state/known") -gt 4000 ]]; }

# Another store with the same pins leaves alone what it does not want, and takes over what it wants.
t_another_store()
{
	need_cgroup
	serve
	ctl known on
	reaches tcp 10.77.0.2
	in_server "$bloomctl" --state "$T/other" --pin "$pins" --run "$counters" -q add 192.0.2.1
	exits 1 status
	knows 10.77.0.2
	in_server "$bloomctl" --state "$T/other" --pin "$pins" --run "$counters" -q known on
	in_server "$bloomctl" --state "$T/other" --pin "$pins" --run "$counters" known test 10.77.0.2
	in_server "$bloomctl" --state "$T/other" --pin "$pins" --run "$counters" -q known off
	[[ ! -e $pins/known && -s $T/other/known && ! -e $state/known ]]
}

# Without cgroup v2 nobody is learned: it says so until it is there.
t_no_cgroup()
{
	need_cgroup
	ctl attach x0
	code=0
	in_server unshare --mount sh -c 'for one in $(awk "/ - cgroup2 / {print \$5}" /proc/self/mountinfo); do
		umount -l "$one"; done; exec "$@"' sh "$bloomctl" --state "$state" --pin "$pins" --run "$counters" \
		known on >"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq 3 ]] || fail "ends with $code"
	complains 'warning: known sources are not learned: cgroup v2 is not mounted'
	exits 3 status
	says 'PROBLEM .*not learned: no program is attached to cgroup v2; the next command'
	exits 0 metrics
	says '^xdp_bloom_known_learning 0$'
	says '^xdp_bloom_problems\{kind="not_learning"\} 1$'
	exits 0 add 192.0.2.1
	exits 0 status
	exits 0 metrics
	says '^xdp_bloom_known_learning 1$'
}

# What is amiss of known sources: nobody learns, or the filter is too full.
t_problems()
{
	need_cgroup
	many_addresses
	ctl attach x0
	ctl known on --capacity 100
	exits 0 status
	rm "$pins/known/link"
	exits 3 status
	says 'PROBLEM .*not learned: no program is attached to cgroup v2; the next command'
	exits 0 -j known status
	json 'not d["learning"]'
	exits 0 up
	exits 0 status
	connect_all 100 0
	exits 0 status
	# Nobody lets the filter grow.
	connect_all 2000 0
	exits 3 status
	says 'PROBLEM .*known sources are too many for their filter: [0-9.e-]* of strangers are taken for known instead of 0.001 until'
	exits 3 -j status
	json '[one["kind"] for one in d["problem_details"]] == ["known_full"]'
	exits 0 metrics
	says '^xdp_bloom_problems\{kind="known_full"\} 1$'
	exits 0 up
	exits 0 -j known status
	json 'd["sets"] == 2'
	exits 3 status
	exits 0 known clear
	exits 0 status
}

run_tests
