#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A memory cgroup that is too small: one line says so, what is in force stays, and with more room
# the next command works. Never is a command killed for it.
# waits: more than it computes
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

# A group of our own, of whichever version has the controller; empty and old ones of runs that were
# killed go.
open_group()
{
	local base

	if grep -qw memory /sys/fs/cgroup/cgroup.subtree_control 2>/dev/null; then
		base=/sys/fs/cgroup limit=memory.max
	elif [[ -e /sys/fs/cgroup/memory/memory.limit_in_bytes ]]; then
		base=/sys/fs/cgroup/memory limit=memory.limit_in_bytes
	else
		skip "no memory controller of cgroups is mounted"
	fi
	find "$base" -maxdepth 1 -name 'xbt-*' -type d -mmin +60 -exec rmdir {} + 2>/dev/null || true
	cgroup=$base/$XB_TEST_ID-memory
	mkdir "$cgroup" 2>/dev/null || skip "no cgroup can be made in $base"
	trap 'rmdir "$cgroup"' EXIT
}

# within MIB ARGUMENT...: in the group, with that much on top of what it has; the exit code in $code.
within()
{
	local mib=$1 used

	shift
	used=$(cat "$cgroup"/memory.{current,usage_in_bytes} 2>/dev/null || true)
	echo $((${used:-0} + (mib << 20))) >"$cgroup/$limit"
	code=0
	# shellcheck disable=SC2016
	in_server bash -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$cgroup" "$bloomctl" \
		--state "$state" --pin "$pins" --run "$counters" "$@" >"$T/out" 2>"$T/err" || code=$?
	echo "$mib MiB: $1: $code $(cat "$T/err")"
	[[ $code -eq 0 || $code -eq 3 ]] || fail "$* within $mib MiB: exit code $code: $(cat "$T/err")"
	[[ $code -eq 0 ]] && return
	# What it lacked memory for before that did not stop it.
	sed -i '/^bloomctl: warning: /d' "$T/err"
	one_line
}

begin()
{
	open_group
	mount -t tmpfs xbt -o mode=0700 "$(mkdir -p "$T/disk" && echo "$T/disk")"
	counters=$T/disk/run
	ctl add 10.77.0.3 fd77::3
	ctl -q attach x0
	blocked 10.77.0.3
}

t_rotate()
{
	local mib

	begin
	ctl list >"$T/before"
	within 32 rotate --capacity 20000000
	[[ $code -eq 3 ]] || fail "so much does not fit"
	complains 'MiB are available'
	blocked 10.77.0.3
	for mib in 2 4 6 8 12 16 20 24 28 29 30 31 32 34 35 36 37 40; do
		within "$mib" rotate --capacity 2000000
		blocked 10.77.0.3
		exits 0 status
	done
	ctl list | diff "$T/before" - || fail "the list is another"
	exits 0 rotate --capacity 2000000
	blocked 10.77.0.3
	within 64 add 10.77.0.4
	[[ $code -eq 0 ]] || fail "add does not fit"
	blocked 10.77.0.3 10.77.0.4
}

# The largest program, whose verification takes most.
t_rotate_names()
{
	local mib

	begin
	ctl add example.org 203.0.113.0/24
	for mib in 2 4 8 12 16 20 24 28 30 32 33 34 35 36 38 40 48; do
		within "$mib" rotate
		blocked 10.77.0.3
		exits 0 status
	done
	[[ $code -eq 0 ]] || fail "it does not fit"
}

long_list()
{
	python3 -c '
import random
for n in random.Random(1).sample(range(1 << 24, 10 << 24), 500000):
    print("%d.%d.%d.%d" % (n >> 24, n >> 16 & 255, n >> 8 & 255, n & 255))' >"$T/list"
}

# A command that needs little, but for the filter that it builds because the pins of the one in force are lost.
t_add_that_builds()
{
	local mib refused=0

	begin
	long_list
	exits 0 import "$T/list" --list big
	for mib in 1 2 4 8 12 16 20 24 28 32; do
		rm -rf "$pins"/gen-*
		within "$mib" add 10.77.0.3 --exist
		blocked 10.77.0.3
		[[ $code -eq 0 ]] || refused=$((refused + 1))
	done
	[[ $refused -gt 0 ]] || fail "so much does not fit"
	exits 0 add 10.77.0.3 --exist
	exits 0 status
}

t_import()
{
	local mib refused=0

	begin
	long_list
	ctl save >"$T/before"
	for mib in 2 4 8 12 16 20 24 28 32; do
		within "$mib" import "$T/list" --list big
		blocked 10.77.0.3
		exits 0 status
		if [[ $code -eq 0 ]]; then
			exits 0 flush --list big --yes
			continue
		fi
		refused=$((refused + 1))
		ctl save | cmp - "$T/before" || fail "the list is another"
	done
	[[ $refused -gt 0 ]] || fail "so much does not fit"
	exits 0 import "$T/list" --list big
	exits 0 test "$(head -n 1 "$T/list")"
	blocked 10.77.0.3
}

run_tests
