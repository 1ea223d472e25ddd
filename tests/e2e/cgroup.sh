# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# A root of cgroup v2 that is a test file's own: a program that hears of all TCP connections below it
# hears of those of no other. A file that needs it sources this behind lib.sh.

# Where the machine has cgroup v2.
cgroup_mount() { awk '$4 == "/" && / - cgroup2 / {place = $5} END {print place}' /proc/self/mountinfo; }

# The file once more, in a group and a cgroup namespace of its own. The group goes away with it, or, if
# that is killed, with the next one: a group that has a process cannot be removed.
enter_own_cgroup()
{
	local base code=0

	[[ -z ${XB_TEST_CGROUP:-} ]] || return 0
	base=$(cgroup_mount)
	[[ -n $base ]] || return 0
	rmdir "$base"/*-sockets 2>/dev/null || true
	XB_TEST_CGROUP=$base/$XB_TEST_ID-sockets
	mkdir "$XB_TEST_CGROUP" 2>/dev/null || return 0
	mkdir -p "$XB_TEST_DIR/cgroup"
	(
		# Another file that begins now removes it as long as it is empty.
		for _ in {1..100}; do
			mkdir -p "$XB_TEST_CGROUP" && echo "$BASHPID" >"$XB_TEST_CGROUP/cgroup.procs" && break
		done 2>/dev/null
		# shellcheck disable=SC2016
		XB_TEST_CGROUP=$XB_TEST_CGROUP exec unshare --cgroup --mount sh -c \
			'mount -t cgroup2 cgroup2 "$XB_TEST_DIR/cgroup" && exec "$@"' sh "$0"
	) || code=$?
	# Processes that were killed are there for a moment longer.
	for _ in {1..100}; do
		rmdir "$XB_TEST_CGROUP" 2>/dev/null && break
		rest 0.05
	done
	exit $code
}

enter_own_cgroup
