#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Text from elsewhere: names of interfaces that hold any byte, statistics that outlive what they count.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

# clean FILE: UTF-8 without control characters but for the ends of lines.
clean()
{
	python3 -c '
import sys, unicodedata
text = open(sys.argv[1], "rb").read().decode("utf-8", "strict")
sys.exit(any(unicodedata.category(c) == "Cc" and c != "\n" for c in text))' "$1" ||
		fail "not clean: $(od -An -c "$1" | head -c 600)"
}

t_interface_names()
{
	local odd=$'x\e[31m\xff\xc2\x9b5m' verb

	ctl -q add 10.77.0.3
	ctl -q attach x0
	blocked 10.77.0.3
	ip -n "$server" link set x0 down
	ip -n "$server" link set x0 name "$odd"
	ip -n "$server" link set "$odd" up
	for verb in status stats up save; do
		ctl $verb >"$T/out" 2>"$T/err" || true
		clean "$T/out"
		clean "$T/err"
	done
	exits 0 -j stats
	json 'any(r["packets"] for i in d["interfaces"] for r in i["reasons"] if r["reason"].startswith("listed"))'
	ctl -j status >"$T/out" || true
	json 'any(i["name"] == "x0" for i in d["interfaces"])'
	ctl save | contains '"interface":"x0"' || fail "save has lost the interface"
}

# Whose program is ours is not advised to be taken off by hand.
t_held_by_our_own()
{
	ctl -q add 10.77.0.3
	ctl -q attach x0
	! is_dispatched x0 || skip "here several programs share an interface"
	state=$T/other pins=$pins-other counters=$T/other-run exits 3 attach x0
	rm -rf "$pins-other"
	complains "xdp-bloom's own"
	! grep -q 'xdp off' "$T/err" || fail "it is advised to open the filter: $(cat "$T/err")"
	blocked 10.77.0.3
}

t_stats_watch()
{
	local watcher

	ctl -q add 10.77.0.3
	ctl -q attach x0
	# Not a function: the signal is for the command itself.
	nsenter --net="/run/netns/$server" "$bloomctl" --state "$state" --pin "$pins" --run "$counters" \
		-j stats --watch >"$T/watched" &
	watcher=$!
	wait_for "the first table" grep -q '"x0"' "$T/watched"
	ctl -q detach x0
	wait_for "an empty table" grep -q '"interfaces":\[\]' "$T/watched"
	ctl -q attach x0
	blocked 10.77.0.3
	wait_for "what was dropped" is_counted
	kill "$watcher"
	wait "$watcher" || true
}

is_counted()
{
	tail -n 1 "$T/watched" | python3 -c 'import json, sys
d = json.load(sys.stdin)
sys.exit(not any(r["packets"] for i in d["interfaces"] for r in i["reasons"] if r["reason"].startswith("listed")))'
}

run_tests
