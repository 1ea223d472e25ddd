#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# watch: its line, or object, for each drop that happens, and the packets that have none.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/watcher.sh"

# knock SOURCE...: a SYN to port 7777. Without patience, so that none is sent again.
knock()
{
	local one

	for one; do
		! reaches tcp "$one" 0 || fail "somebody listens"
	done
}

t_lines()
{
	local time='^20[0-9-]{8}T[0-9:]{8}\.[0-9]{3}Z'

	ctl attach x0
	ctl add 10.77.0.3 fd77::3 --comment "a scanner" --list scans
	ctl add 10.77.0.3 10.77.3.0/24 fd77:0:0:0:3::/80
	watching watch
	send 10.77.0.3 1 4001
	send fd77::3 1 4002
	send 10.77.3.9 1 4003
	send fd77::3:0:0:9 1 4004
	knock 10.77.0.3 fd77::3
	blocked 10.77.3.200 fd77::3
	passes 10.77.0.2 fd77::2
	told 8
	has "$time x0 drop 10\.77\.0\.3 > 10\.77\.0\.1 udp 4001>9 listed_ipv4_host list scans comment \"a scanner\" list default\$"
	has "$time x0 drop fd77::3 > fd77::1 udp 4002>9 listed_ipv6 list scans comment \"a scanner\"\$"
	has "$time x0 drop 10\.77\.3\.9 > 10\.77\.0\.1 udp 4003>9 listed_ipv4_prefix 10\.77\.3\.0/24 list default\$"
	has "$time x0 drop fd77::3:0:0:9 > fd77::1 udp 4004>9 listed_ipv6 fd77::3:0:0:0/80 list default\$"
	has "$time x0 drop 10\.77\.0\.3 > 10\.77\.0\.1 tcp [0-9]+>7777 listed_ipv4_host "
	has "$time x0 drop fd77::3 > fd77::1 tcp [0-9]+>7777 listed_ipv6 "
	has "$time x0 drop 10\.77\.3\.200 > 10\.77\.0\.1 icmp - listed_ipv4_prefix 10\.77\.3\.0/24 "
	has "$time x0 drop fd77::3 > fd77::1 icmpv6 - listed_ipv6 list scans "
	kill -INT "$watcher"
	ended 0
	silent
	[[ $(budget) -eq 0 ]] || fail "a budget of $(budget) is left"
}

# The entry is the one whose list holds for the service; of its lists, those that do.
t_scopes()
{
	ctl attach x0
	ctl add 10.77.0.0/24 fd77::/112 --list mail
	ctl add 10.77.0.3 fd77::3 --list web
	ctl add 10.77.0.3 --list tried
	ctl scope mail udp/9
	ctl scope web tcp/7777,icmp
	ctl verdict tried count
	watching watch
	send 10.77.0.3 1 4001
	send fd77::3 1 4002
	knock 10.77.0.3 fd77::3 10.77.0.4
	blocked fd77::3
	passes 10.77.0.2
	told 5
	has ' x0 drop 10\.77\.0\.3 > 10\.77\.0\.1 udp 4001>9 scoped_dropped 10\.77\.0\.0/24 list mail$'
	has ' x0 drop fd77::3 > fd77::1 udp 4002>9 scoped_dropped fd77::/112 list mail$'
	has ' x0 drop 10\.77\.0\.3 > 10\.77\.0\.1 tcp [0-9]+>7777 scoped_dropped list web$'
	has ' x0 drop fd77::3 > fd77::1 tcp [0-9]+>7777 scoped_dropped list web$'
	has ' x0 drop fd77::3 > fd77::1 icmpv6 - scoped_dropped list web$'
	! has_line '10\.77\.0\.[24] >' || fail "$(cat "$T/lines")"
	ctl policy monitor
	send 10.77.0.3 1 4003
	wait_for "what would be dropped" has_lines 6
	has ' x0 would-drop 10\.77\.0\.3 > 10\.77\.0\.1 udp 4003>9 scoped_dropped 10\.77\.0\.0/24 list mail$'
	kill -INT "$watcher"
	ended 0
	watching -j watch --count 1
	ctl policy enforce
	send 10.77.0.3 1 4004
	ended 0
	cp "$T/lines" "$T/out"
	json 'd["reason"] == "scoped_dropped" and d["entry"] == "10.77.0.0/24"'
	json 'd["lists"][0]["name"] == "mail" and d["lists"][0]["scope"] == "udp/9" and d["destination_port"] == 9'
}

# columns LINES OFFSET...: in each of the last lines a column begins behind the blank there.
columns()
{
	local at

	for at in "${@:2}"; do
		[[ $(tail -n "$1" "$T/lines" | grep -vcE "^.{$((at - 1))} [^ ]") -eq 0 ]] ||
			fail "no column at $at: $(cat "$T/lines")"
	done
}

# A wide cell moves the columns behind it, and they stay there.
t_columns()
{
	ctl attach x0
	ctl add 10.77.3.0/24 10.77.0.3 fd77:0:0:0:3::/80
	watching watch
	send 10.77.0.3 1 4001
	blocked 10.77.0.3 10.77.3.200
	told 3
	columns 3 25 30 35 51 53 69 74 86 105
	blocked fd77::3:0:0:9
	send 10.77.0.3 1 4001
	send fd77::3:0:0:9 1 40010
	told 6
	columns 3 25 30 35 51 53 69 76 88 107
}

# The time is the wall clock's.
t_time()
{
	local before after shown

	ctl attach x0
	ctl add 10.77.0.3
	watching watch --count 1
	before=$(date +%s)
	send 10.77.0.3 1
	after=$(date +%s)
	ended 0
	shown=$(date -d "$(cut -d' ' -f1 "$T/lines")" +%s)
	[[ $before -le $shown && $shown -le $after ]] || fail "not from $before to $after: $(cat "$T/lines")"
}

t_most_specific_entry()
{
	ctl attach x0
	ctl add 10.77.0.0/16 10.77.3.0/24 10.77.3.9 --list nested
	watching watch --count 3
	send 10.77.3.9 1
	send 10.77.3.200 1
	send 10.77.0.4 1
	ended 0
	has ' 10\.77\.3\.9 > .* listed_ipv4_[a-z]+ list nested$'
	has ' 10\.77\.3\.200 > .* 10\.77\.3\.0/24 list nested$'
	has ' 10\.77\.0\.4 > .* 10\.77\.0\.0/16 list nested$'
}

t_json()
{
	ctl attach x0
	ctl add 10.77.0.3 fd77::3 --comment 'say "no"'
	watching -j watch --count 3
	send 10.77.0.3 1 4001
	send fd77::3 1 4002
	blocked 10.77.0.3
	ended 0
	silent
	python3 -m json.tool --json-lines <"$T/lines" >"$T/out" || fail "not JSON: $(cat "$T/lines")"
	head -n 1 "$T/lines" >"$T/out"
	json 'd["interface"] == "x0" and d["ifindex"] > 1 and d["verdict"] == "drop"'
	json 'd["source"] == "10.77.0.3" and d["destination"] == "10.77.0.1"'
	json 'd["protocol"] == "udp" and d["protocol_number"] == 17'
	json 'd["source_port"] == 4001 and d["destination_port"] == 9'
	json 'd["reason"] == "listed_ipv4_host" and d["entry"] == "10.77.0.3"'
	json 'd["lists"][0]["name"] == "default" and d["lists"][0]["comment"] == "say \"no\""'
	json 'len(d["time"]) == 24'
	sed -n 2p "$T/lines" >"$T/out"
	json 'd["source"] == "fd77::3" and d["destination"] == "fd77::1"'
	json 'd["entry"] == "fd77::3" and d["reason"] == "listed_ipv6"'
	tail -n 1 "$T/lines" >"$T/out"
	json 'd["protocol"] == "icmp" and "source_port" not in d'
}

t_allowed_and_unlisted_are_not_shown()
{
	ctl attach x0
	ctl add 10.77.0.0/24 10.77.0.3 fd77::/64
	ctl allow add 10.77.0.3 10.77.0.2 fd77::3
	watching watch
	passes 10.77.0.3 10.77.0.2 fd77::3 10.77.3.9
	blocked 10.77.0.4
	told 1
	has ' 10\.77\.0\.4 > 10\.77\.0\.1 icmp - listed_ipv4_prefix 10\.77\.0\.0/24 '
}

t_monitor()
{
	ctl attach x0
	ctl add 10.77.0.3
	ctl policy monitor
	watching watch --count 1
	passes 10.77.0.3
	ended 0
	has ' x0 would-drop 10\.77\.0\.3 > 10\.77\.0\.1 icmp - listed_ipv4_host list default$'
}

t_allow_only()
{
	ctl attach x0
	ctl add 10.77.0.3
	ctl policy allow-only
	watching watch
	passes 10.77.0.3
	blocked 10.77.0.4
	# Not the only one: the client may join groups of multicast by now.
	wait_for 'the drop' has_line ' x0 drop 10\.77\.0\.4 > 10\.77\.0\.1 icmp - not_admitted -$'
	! has_line ' drop 10\.77\.0\.3 ' || fail "what is listed drops"
}

# An entry that is gone by the time it is looked for; the watcher sleeps meanwhile.
t_deleted_meanwhile()
{
	ctl attach x0
	ctl add 10.77.0.3
	watching watch
	kill -STOP "$watcher"
	wait_for 'its stop' is_stopped "$watcher"
	send 10.77.0.3 1
	ctl del 10.77.0.3
	kill -CONT "$watcher"
	told 1
	has ' drop 10\.77\.0\.3 > 10\.77\.0\.1 udp [0-9]+>9 listed_ipv4_host -$'
}

# `test` asks the filter with a frame of its own, which is no drop.
t_test_is_not_shown()
{
	ctl attach x0
	ctl add 10.77.0.3
	watching watch
	exits 0 test 10.77.0.3
	says 'is dropped'
	blocked 10.77.0.3
	told 1
	has ' x0 drop '
}

t_rotation_and_edits()
{
	ctl attach x0
	watching watch
	ctl add 10.77.0.3
	blocked 10.77.0.3
	ctl rotate
	ctl add fd77::3 10.77.3.0/24
	blocked 10.77.0.3 fd77::3 10.77.3.9
	told 4
}

t_two_interfaces()
{
	join x1 1
	ctl attach x0 x1
	ctl add 10.77.0.3 10.78.0.2
	ip -n "$server" addr add 10.78.0.1/24 dev x1
	ip -n "$client" addr add 10.78.0.2/24 dev x1
	watching watch
	blocked 10.77.0.3
	! in_client ping -q -n -c 1 -W 0.3 10.78.0.1 >/dev/null || fail "10.78.0.2 gets through"
	told 2
	has ' x0 drop 10\.77\.0\.3 > 10\.77\.0\.1 icmp '
	has ' x1 drop 10\.78\.0\.2 > 10\.78\.0\.1 icmp '
}

t_vlan()
{
	# VLAN devices may be absent: the tagged frame is made by hand.
	ctl attach x0
	ctl add 10.77.0.3
	watching watch --count 1
	in_client python3 -c 'import socket
frame = bytes.fromhex("020000000001020000000002" "81000064" "0800"
    "4500001c000100004011" "0000" "0a4d0003" "0a4d0001" "0fa1" "0009" "0008" "0000") + bytes(30)
one = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
one.bind(("x0", 0))
one.send(frame)'
	ended 0
	has ' drop 10\.77\.0\.3 > 10\.77\.0\.1 udp 4001>9 listed_ipv4_host '
}

# lists OBJECTS: of each, the lists that are blamed.
lists()
{
	python3 -c 'import json, sys
for line in open(sys.argv[1]):
    print(" ".join(one["name"] for one in json.loads(line)["lists"]))' "$1"
}

# Only lists that hold for the packet, also where its ports are not told.
t_lists_that_had_it_dropped()
{
	ctl attach x0
	ctl add 10.77.0.3
	ctl add 10.77.0.3 --list mail
	ctl scope mail tcp/25
	ctl add 10.77.0.4 --list mail
	ctl add 10.77.0.4 --list udp
	ctl scope udp udp/9
	ctl add 10.77.0.4 --list counted
	ctl verdict counted count
	watching -j watch --count 4
	in_client python3 -c 'import socket
for source, size in (("10.77.0.3", 4000), ("10.77.0.4", 10)):
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.bind((source, 4001))
    one.sendto(b"x" * size, ("10.77.0.1", 9))'
	ended 0
	[[ $(lists "$T/lines") == $'default\ndefault\ndefault\nudp' ]] || fail "$(lists "$T/lines") of $(cat "$T/lines")"
}

# A datagram in three fragments: only the first has ports.
t_fragments()
{
	ctl attach x0
	ctl add 10.77.0.3
	watching watch
	in_client python3 -c 'import socket
one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
one.bind(("10.77.0.3", 4001))
one.sendto(b"x" * 4000, ("10.77.0.1", 9))'
	told 3
	[[ $(grep -cE ' udp +4001>9 ' "$T/lines") -eq 1 ]] || fail "$(cat "$T/lines")"
	[[ $(grep -cE ' udp +- ' "$T/lines") -eq 2 ]] || fail "$(cat "$T/lines")"
}

run_tests
