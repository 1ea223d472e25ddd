#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# watch: what it says of drops that happen, how much, and what it leaves behind.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

# A watch that should be refused may go on for ever.
tool()
{
	in_server timeout 20 "$1" --state "$state" --pin "$pins" --run "$counters" "${@:2}"
}

# watching ARGUMENT...: bloomctl itself as $watcher, lines to $T/lines, the rest to $T/notes. Returns
# when the kernel tells.
watching()
{
	(exec nsenter --net="/run/netns/$server" "$bloomctl" --state "$state" --pin "$pins" \
		--run "$counters" "$@" >"$T/lines" 2>"$T/notes") &
	watcher=$!
	wait_for 'the watcher' has_budget
}

budget()
{
	/usr/sbin/bpftool -j map dump pinned "$pins/link/watch" 2>/dev/null |
		grep -o '"budget":-\?[0-9]*' | cut -d: -f2
}

has_budget() { [[ $(budget) -gt 0 ]]; }

lines() { wc -l <"$T/lines"; }

has_lines() { [[ $(lines) -ge $1 ]]; }

# told COUNT: so many lines, and not one more soon after.
told()
{
	wait_for "line $1" has_lines "$1"
	sleep 0.25
	[[ $(lines) -eq $1 ]] || fail "$(lines) lines, not $1: $(head -c 800 "$T/lines")"
}

has() { grep -qE -- "$1" "$T/lines" || fail "no line has '$1': $(head -c 800 "$T/lines")"; }

has_ended() { ! kill -0 "$watcher"; }

# ended CODE: the watcher ends by itself with that exit code.
ended()
{
	local code=0

	wait_for 'the end of the watcher' has_ended
	wait "$watcher" || code=$?
	[[ $code -eq $1 ]] || fail "the watcher's exit code is $code, not $1: $(cat "$T/notes")"
}

silent() { [[ ! -s $T/notes ]] || fail "the watcher says: $(head -c 300 "$T/notes")"; }

# send SOURCE COUNT [SPORT]: UDP datagrams to port 9, as fast as they go.
send()
{
	in_client python3 -c 'import socket, sys
source, target, count, port = sys.argv[1:]
one = socket.socket(socket.AF_INET6 if ":" in source else socket.AF_INET, socket.SOCK_DGRAM)
one.bind((source, int(port)))
for i in range(int(count)):
    one.sendto(b"x", (target, 9))' "$1" "$(to "$1")" "$2" "${3:-0}"
}

drops()
{
	ctl -j stats | python3 -c 'import json, sys
print(sum(r["packets"] for i in json.load(sys.stdin)["interfaces"] for r in i["reasons"]
    if r["verdict"] == "drop" or r["reason"] == "monitored"))'
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
	! reaches tcp 10.77.0.3 0.1 || fail "TCP over IPv4 gets through"
	! reaches tcp fd77::3 0.1 || fail "TCP over IPv6 gets through"
	blocked 10.77.3.200 fd77::3
	passes 10.77.0.2 fd77::2
	told 8
	has "$time x0 drop 10\.77\.0\.3 udp 4001>9 listed_ipv4_host 10\.77\.0\.3 list scans comment \"a scanner\" list default\$"
	has "$time x0 drop fd77::3 udp 4002>9 listed_ipv6 fd77::3 list scans comment \"a scanner\"\$"
	has "$time x0 drop 10\.77\.3\.9 udp 4003>9 listed_ipv4_prefix 10\.77\.3\.0/24 list default\$"
	has "$time x0 drop fd77::3:0:0:9 udp 4004>9 listed_ipv6 fd77::3:0:0:0/80 list default\$"
	has "$time x0 drop 10\.77\.0\.3 tcp [0-9]+>7777 listed_ipv4_host "
	has "$time x0 drop fd77::3 tcp [0-9]+>7777 listed_ipv6 "
	has "$time x0 drop 10\.77\.3\.200 icmp - listed_ipv4_prefix 10\.77\.3\.0/24 "
	has "$time x0 drop fd77::3 icmpv6 - listed_ipv6 fd77::3 "
	kill -INT "$watcher"
	ended 0
	silent
	[[ $(budget) -eq 0 ]] || fail "a budget of $(budget) is left"
}

# The time is the wall clock's, to the second or so.
t_time()
{
	local shown

	ctl attach x0
	ctl add 10.77.0.3
	watching watch --count 1
	send 10.77.0.3 1
	ended 0
	shown=$(date -d "$(cut -d' ' -f1 "$T/lines")" +%s)
	[[ $(($(date +%s) - shown)) -le 2 && $(($(date +%s) - shown)) -ge 0 ]] ||
		fail "not now: $(cat "$T/lines")"
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
	has ' 10\.77\.3\.9 udp .* 10\.77\.3\.9 list nested$'
	has ' 10\.77\.3\.200 udp .* 10\.77\.3\.0/24 list nested$'
	has ' 10\.77\.0\.4 udp .* 10\.77\.0\.0/16 list nested$'
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
	python3 -m json.tool --json-lines "$T/lines" >"$T/out" || fail "not JSON: $(cat "$T/lines")"
	head -n 1 "$T/lines" >"$T/out"
	json 'd["interface"] == "x0" and d["ifindex"] > 1 and d["verdict"] == "drop"'
	json 'd["source"] == "10.77.0.3" and d["protocol"] == "udp" and d["protocol_number"] == 17'
	json 'd["source_port"] == 4001 and d["destination_port"] == 9'
	json 'd["reason"] == "listed_ipv4_host" and d["entry"] == "10.77.0.3"'
	json 'd["lists"][0]["name"] == "default" and d["lists"][0]["comment"] == "say \"no\""'
	json 'len(d["time"]) == 24'
	sed -n 2p "$T/lines" >"$T/out"
	json 'd["source"] == "fd77::3" and d["entry"] == "fd77::3" and d["reason"] == "listed_ipv6"'
	tail -n 1 "$T/lines" >"$T/out"
	json 'd["protocol"] == "icmp" and "source_port" not in d'
}

t_count()
{
	ctl attach x0
	ctl add 10.77.0.3
	watching watch --count 2
	send 10.77.0.3 5
	ended 0
	[[ $(lines) -eq 2 ]] || fail "$(lines) lines"
	[[ $(budget) -eq 0 ]] || fail "a budget of $(budget) is left"
}

# Twenty at once, then two every tenth of a second once a second has gone by.
t_rate()
{
	local before all missed

	ctl attach x0
	ctl add 10.77.0.3
	watching watch --rate 20
	before=$(drops)
	send 10.77.0.3 3000
	all=$(($(drops) - before))
	[[ $all -eq 3000 ]] || fail "$all drops counted"
	wait_for 'how many are not shown' test -s "$T/notes"
	[[ $(lines) -ge 20 && $(lines) -le 44 ]] || fail "$(lines) lines"
	sleep 1.2
	missed=$(sed -n 's/^bloomctl: \([0-9]*\) more drops not shown (--rate 20)$/\1/p' "$T/notes" |
		awk '{ sum += $1 } END { print sum }')
	[[ $((missed + $(lines))) -eq 3000 ]] || fail "$missed not shown, $(lines) shown"
	kill -INT "$watcher"
	ended 0
}

t_rate_over_seconds()
{
	local before

	ctl attach x0
	ctl add 10.77.0.3
	watching -q watch --rate 20
	in_client python3 -c 'import socket, sys, time
one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
one.bind((sys.argv[1], 0))
end = time.monotonic() + 3
while time.monotonic() < end:
    one.sendto(b"x", (sys.argv[2], 9))
    time.sleep(0.001)' 10.77.0.3 "$server4"
	[[ $(lines) -ge 40 && $(lines) -le 80 ]] || fail "$(lines) lines in three seconds"
	silent
	# Rest brings back the whole second's worth.
	sleep 1.3
	before=$(lines)
	send 10.77.0.3 20
	wait_for 'a whole burst' has_lines $((before + 20))
	kill -TERM "$watcher"
	ended 0
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
	has ' 10\.77\.0\.4 icmp - listed_ipv4_prefix 10\.77\.0\.0/24 '
}

t_monitor()
{
	ctl attach x0
	ctl add 10.77.0.3
	ctl policy monitor
	watching watch --count 1
	passes 10.77.0.3
	ended 0
	has ' x0 would-drop 10\.77\.0\.3 icmp - listed_ipv4_host 10\.77\.0\.3 list default$'
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
	wait_for 'the drop' grep -qE ' x0 drop 10\.77\.0\.4 icmp - not_admitted -$' "$T/lines"
	! grep -q ' drop 10\.77\.0\.3 ' "$T/lines" || fail "what is listed drops"
}

# An entry that is gone by the time it is looked for; the watcher sleeps meanwhile.
t_deleted_meanwhile()
{
	ctl attach x0
	ctl add 10.77.0.3
	watching watch
	kill -STOP "$watcher"
	send 10.77.0.3 1
	ctl del 10.77.0.3
	kill -CONT "$watcher"
	told 1
	has ' drop 10\.77\.0\.3 udp [0-9]+>9 listed_ipv4_host -$'
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

t_one_watcher()
{
	ctl attach x0
	ctl add 10.77.0.3
	watching watch
	exits 3 watch --count 1
	one_line
	complains 'another .bloomctl watch. is running'
	blocked 10.77.0.3
	told 1
	kill -INT "$watcher"
	ended 0
	watching watch --count 1
	blocked 10.77.0.3
	ended 0
}

# The budget runs dry, and what was told to the dead is not shown to the next.
t_killed()
{
	ctl attach x0
	ctl add 10.77.0.3 10.77.0.4
	watching watch --rate 50
	kill -KILL "$watcher"
	wait "$watcher" || true
	send 10.77.0.3 100
	[[ $(budget) -le 0 ]] || fail "a budget of $(budget) is left"
	: >"$T/lines"
	watching watch --rate 50
	blocked 10.77.0.4
	told 1
	has ' 10\.77\.0\.4 icmp '
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

# An open transaction would keep every old page of the store from being used again.
t_store_is_let_go()
{
	ctl attach x0
	ctl add 10.77.0.3
	watching watch
	blocked 10.77.0.3
	told 1
	has ' list default$'
	! grep -q 'store\.mdb' "/proc/$watcher/maps" || fail "the store stays open"
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
	has ' x0 drop 10\.77\.0\.3 icmp '
	has ' x1 drop 10\.78\.0\.2 icmp '
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
	has ' drop 10\.77\.0\.3 udp 4001>9 listed_ipv4_host '
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
	[[ $(grep -c ' udp 4001>9 ' "$T/lines") -eq 1 ]] || fail "$(cat "$T/lines")"
	[[ $(grep -c ' udp - ' "$T/lines") -eq 2 ]] || fail "$(cat "$T/lines")"
}

# into_pipe: a watcher whose lines go to descriptor 9.
into_pipe()
{
	mkfifo "$T/pipe"
	(exec nsenter --net="/run/netns/$server" "$bloomctl" --state "$state" --pin "$pins" \
		--run "$counters" watch --rate 1000 >"$T/pipe" 2>"$T/notes") &
	watcher=$!
	exec 9<"$T/pipe"
	wait_for 'the watcher' has_budget
}

t_broken_pipe()
{
	local line

	ctl attach x0
	ctl add 10.77.0.3
	into_pipe
	send 10.77.0.3 1
	read -r -t 5 line <&9
	[[ $line == *' drop 10.77.0.3 udp '* ]] || fail "$line"
	exec 9<&-
	ended 0
	silent
	[[ $(budget) -eq 0 ]] || fail "a budget of $(budget) is left"
}

# It notices by a line that cannot be written.
t_broken_pipe_in_a_flood()
{
	local line

	ctl attach x0
	ctl add 10.77.0.3
	into_pipe
	in_client ping -q -n -i 0.002 -W 0.2 -w 5 -I 10.77.0.3 $server4 >/dev/null 2>&1 9<&- &
	read -r -t 5 line <&9
	sleep 0.3
	exec 9<&-
	ended 0
	silent
}

t_full_disk()
{
	ctl attach x0
	ctl add 10.77.0.3
	ln -s /dev/full "$T/lines"
	watching watch
	send 10.77.0.3 1
	ended 3
	grep -q '^bloomctl: cannot write the answer: No space left on device$' "$T/notes" ||
		fail "$(cat "$T/notes")"
}

t_detached()
{
	ctl attach x0
	watching watch
	ctl detach --all
	ended 3
	grep -q '^bloomctl: nothing is attached any more$' "$T/notes" || fail "$(cat "$T/notes")"
	[[ $(wc -l <"$T/notes") -eq 1 ]] || fail "$(cat "$T/notes")"
}

# Another link in the place of the first.
t_new_link()
{
	ctl attach x0
	ctl add 10.77.0.3
	watching watch
	blocked 10.77.0.3
	told 1
	ctl detach x0
	ctl attach x0
	wait_for 'the watcher' has_budget
	blocked 10.77.0.3
	told 2
	exits 3 watch --count 1
	complains 'another .bloomctl watch. is running'
	kill -INT "$watcher"
	ended 0
	[[ $(budget) -eq 0 ]] || fail "a budget of $(budget) is left"
}

t_store_lost()
{
	ctl attach x0
	ctl add 10.77.0.3
	mv "$state" "$state-away"
	watching watch --count 1
	blocked 10.77.0.3
	ended 0
	has ' drop 10\.77\.0\.3 icmp - listed_ipv4_host -$'
	[[ ! -e $state ]] || fail "the state directory was made"
	mv "$state-away" "$state"
}

t_bad_usage()
{
	local bad

	exits 3 watch
	one_line
	complains 'nothing is attached'
	ctl attach x0
	for bad in '--rate 0' '--rate 100001' '--rate x' '--count 0' '--count -1' '--rate' 'x0' '--so'; do
		# shellcheck disable=SC2086
		exits 2 watch $bad
		one_line
	done
}

run_tests
