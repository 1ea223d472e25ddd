#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Real packets: who gets through, before and after each command.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

t_ping()
{
	ctl attach x0
	passes 10.77.0.2 10.77.0.3 fd77::2 fd77::3
	ctl add 10.77.0.3 fd77::3
	blocked 10.77.0.3 fd77::3
	passes 10.77.0.2 fd77::2
	ctl del 10.77.0.3 fd77::3
	passes 10.77.0.3 fd77::3
}

t_tcp_and_udp()
{
	local kind

	serve
	ctl attach x0
	for kind in tcp udp; do
		reaches $kind 10.77.0.3 || fail "$kind over IPv4"
		reaches $kind fd77::3 || fail "$kind over IPv6"
	done
	ctl add 10.77.0.3 fd77::3
	for kind in tcp udp; do
		! reaches $kind 10.77.0.3 0.3 || fail "$kind over IPv4 gets through"
		! reaches $kind fd77::3 0.3 || fail "$kind over IPv6 gets through"
		reaches $kind 10.77.0.2 || fail "$kind of another over IPv4"
		reaches $kind fd77::2 || fail "$kind of another over IPv6"
	done
	ctl del 10.77.0.3 fd77::3
	for kind in tcp udp; do
		reaches $kind 10.77.0.3 || fail "$kind over IPv4 after del"
		reaches $kind fd77::3 || fail "$kind over IPv6 after del"
	done
}

t_prefixes()
{
	ctl attach x0
	ctl add 10.77.3.0/24 fd77:0:0:0:3::/80
	blocked 10.77.3.9 10.77.3.200 fd77::3:0:0:9
	passes 10.77.0.2 fd77::2
	ctl add 10.77.3.0/25
	ctl del 10.77.3.0/24
	blocked 10.77.3.9
	passes 10.77.3.200
	ctl del 10.77.3.0/25 fd77:0:0:0:3::/80
	passes 10.77.3.9 fd77::3:0:0:9
}

t_rotate()
{
	ctl attach x0
	ctl add 10.77.0.3 10.77.3.0/24 fd77::3
	ctl rotate
	blocked 10.77.0.3 10.77.3.9 fd77::3
	passes 10.77.0.2 fd77::2
	ctl rotate --fpr 0.001 --capacity 100000
	blocked 10.77.0.3 10.77.3.9 fd77::3
	ctl del 10.77.0.3
	passes 10.77.0.3 10.77.0.2
}

rotations()
{
	local i rounds=${XB_TEST_FEW:+3}

	for ((i = 0; i < ${rounds:-10}; i++)); do
		ctl rotate
	done
}

t_no_gap_in_rotation()
{
	ctl attach x0
	ctl add 10.77.0.3
	flood rotations
}

t_detach_and_attach()
{
	ctl attach x0
	ctl add 10.77.0.3 fd77::3
	ctl detach x0
	passes 10.77.0.3 fd77::3
	ctl add 10.77.0.4
	ctl attach x0
	blocked 10.77.0.3 10.77.0.4 fd77::3
	passes 10.77.0.2
}

t_lost_pins()
{
	ctl attach x0
	ctl add 10.77.0.3
	exits 0 status
	rm -rf "$pins"
	exits 3 status
	says 'PROBLEM.*x0 is unfiltered'
	exits 0 up
	blocked 10.77.0.3
	exits 0 status
	rm -rf "$pins"
	exits 0 add 10.77.0.4
	blocked 10.77.0.3 10.77.0.4
	exits 0 status
}

t_lost_counters()
{
	ctl attach x0
	ctl add 10.77.0.3 fd77::3
	rm -rf "$counters"
	blocked 10.77.0.3 fd77::3
	exits 3 status
	exits 0 del fd77::3
	blocked 10.77.0.3
	passes fd77::3
	exits 0 status
}

t_two_lists()
{
	ctl attach x0
	ctl add 10.77.0.3 --list one
	ctl add 10.77.0.3 --list two
	exits 0 del 10.77.0.3
	says 'one.*two'
	passes 10.77.0.3
}

t_timeout()
{
	ctl attach x0
	ctl add 10.77.0.4 --timeout 600
	# The last that writes: until another does it is enforced, however long that takes.
	ctl add 10.77.0.3 --timeout 1
	blocked 10.77.0.3 10.77.0.4
	sleep 1.8
	ctl add 10.77.0.5
	passes 10.77.0.3
	blocked 10.77.0.4 10.77.0.5
	exits 1 test 10.77.0.3
	exits 0 test 10.77.0.4
}

t_stats_count()
{
	ctl attach x0
	ctl add 10.77.0.3
	blocked 10.77.0.3 10.77.0.3
	passes 10.77.0.2
	exits 0 -j stats
	json 'sum(r["packets"] for r in d["interfaces"][0]["reasons"] if r["verdict"] == "drop") == 2'
	json 'sum(r["bytes"] for r in d["interfaces"][0]["reasons"] if r["verdict"] == "drop") == 196'
	json 'sum(r["packets"] for r in d["interfaces"][0]["reasons"] if r["verdict"] == "pass") >= 1'
	exits 0 stats
	says '^x0 +packets +bytes$'
	says '^  drop   listed_ipv4_host +2 +196$'
	[[ $(awk '/^  total/ {print $2}' "$T/out") -eq $(awk '/^  (pass|drop)/ {n += $3} END {print n}' "$T/out") ]] ||
		fail "$(cat "$T/out")"
}

run_tests
