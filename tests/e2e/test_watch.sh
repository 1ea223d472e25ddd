#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# watch: its line, or object, for each drop that happens, and the packets that have none; how it begins and ends, and what it
# leaves behind. How much it shows in how much time: prog/test_watch.
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
	local begun=$EPOCHSECONDS shown time='^20[0-9-]{8}T[0-9:]{8}\.[0-9]{3}Z'

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
	# The time is the wall clock's.
	shown=$(date -d "$(head -n 1 "$T/lines" | cut -d' ' -f1)" +%s)
	[[ $begun -le $shown && $shown -le $EPOCHSECONDS ]] || fail "not from $begun on: $(cat "$T/lines")"
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

# One watch after the other, which ends with its first line: a drop that is told, behind packets that are not.
t_one_by_one()
{
	local listed packets wanted

	ctl attach x0
	while IFS='~' read -r listed packets wanted; do
		eval "ctl -q $listed"
		watching watch --count 1
		eval "$packets"
		ended 0
		has "$wanted"
	done <<-'END'
		add 10.77.0.0/16 10.77.3.0/24 10.77.3.9 --list nested~send 10.77.3.9 1~ 10\.77\.3\.9 > .* listed_ipv4_[a-z]+ list nested$
		up~send 10.77.3.200 1~ 10\.77\.3\.200 > .* 10\.77\.3\.0/24 list nested$
		up~send 10.77.0.4 1~ 10\.77\.0\.4 > .* 10\.77\.0\.0/16 list nested$
		allow add 10.77.0.3 10.77.3.9~passes 10.77.0.3 10.77.3.9; send 10.77.0.4 1~ 10\.77\.0\.4 > .* 10\.77\.0\.0/16
		up~exits 0 test 10.77.0.4; blocked 10.77.0.4~ x0 drop 10\.77\.0\.4 > 10\.77\.0\.1 icmp - 
		rotate~tagged 10.77.0.4~ drop 10\.77\.0\.4 > 10\.77\.0\.1 udp 4001>9 
		up~ctl -q rotate; ctl -q add 10.77.0.4; blocked 10.77.0.4~ listed_ipv4_[a-z]+ list default$
		policy monitor~passes 10.77.0.4~ x0 would-drop 10\.77\.0\.4 > 10\.77\.0\.1 icmp - listed_ipv4_[a-z]+ list default$
		policy enforce~asleep_during "send 10.77.0.4 1; ctl -q flush --yes"~ udp [0-9]+>9 listed_ipv4_[a-z]+ -$
		add 10.77.0.4~mv "$state" "$T/away"; blocked 10.77.0.4; wait "$watcher"; mv "$T/away" "$state"~ icmp - listed_ipv4_host -$
	END
}

# asleep_during COMMANDS: what was dropped is not listed any more when it is looked for.
asleep_during()
{
	kill -STOP "$watcher"
	wait_for 'its stop' is_stopped "$watcher"
	eval "$1"
	kill -CONT "$watcher"
}

# tagged SOURCE: VLAN devices may be absent: the frame is made by hand.
tagged()
{
	in_client python3 -c 'import socket, sys
head = bytes.fromhex("020000000001020000000002" "81000064" "0800" "4500001c000100004011" "0000")
frame = head + socket.inet_aton(sys.argv[1]) + bytes.fromhex("0a4d0001" "0fa1" "0009" "0008" "0000") + bytes(30)
one = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
one.bind(("x0", 0))
one.send(frame)' "$1"
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

# lists OBJECTS: of each, the lists that are blamed.
lists()
{
	python3 -c 'import json, sys
for line in open(sys.argv[1]):
    print(" ".join(one["name"] for one in json.loads(line)["lists"]))' "$1"
}

# Only lists that hold for the packet; of a datagram in three fragments, only the first has ports.
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
	[[ $(grep -c '"source_port":4001,"destination_port":9' "$T/lines") -eq 2 ]] || fail "$(cat "$T/lines")"
	[[ $(lists "$T/lines") == $'default\ndefault\ndefault\nudp' ]] || fail "$(lists "$T/lines") of $(cat "$T/lines")"
}

# --- how much, and how it ends ----------------------------------------------------------------------

all_are_known()
{
	local untold

	untold=$(sed -n 's/^bloomctl: \([0-9]*\) more drops not shown (--rate 20)$/\1/p' "$T/notes" | paste -sd +)
	[[ $((untold + $(lines))) -eq 3000 ]]
}

t_rate()
{
	local since

	ctl attach x0
	ctl add 10.77.0.3
	since=${EPOCHREALTIME/./}
	watching watch --rate 20
	send 10.77.0.3 3000
	wait_for 'what was shown, and how many were not' all_are_known
	# Twenty at once and twenty a second, and what a tick brings on both sides.
	[[ $(lines) -ge 20 && $(lines) -le $((24 + 20 * (${EPOCHREALTIME/./} - since) / 1000000)) ]] || fail "$(lines) lines"
	kill -INT "$watcher"
	ended 0
	watching -q watch --rate 20 --count 2
	send 10.77.0.3 3000
	ended 0
	silent
	[[ $(lines) -eq 2 ]] || fail "$(lines) lines"
	[[ $(budget) -eq 0 ]] || fail "a budget of $(budget) is left"
}

# Another link comes in the place of the first; the store is let go, since an open transaction would keep its old pages.
t_one_watcher()
{
	local turn

	ctl attach x0
	ctl add 10.77.0.3
	watching watch
	for turn in 1 2; do
		exits 3 watch --count 1
		one_line
		complains 'another .bloomctl watch. or .bloomctl top. reads'
		blocked 10.77.0.3
		told $turn
		has ' list default$'
		! grep -q 'store\.mdb' "/proc/$watcher/maps" || fail "the store stays open"
		ctl detach x0
		ctl attach x0
		wait_for 'the watcher' has_budget
	done
	kill -TERM "$watcher"
	ended 0
	[[ $(budget) -eq 0 ]] || fail "a budget of $(budget) is left"
	ln -sf /dev/full "$T/lines"
	watching watch
	send 10.77.0.3 1
	ended 3
	grep -q '^bloomctl: cannot write the answer: No space left on device$' "$T/notes" || fail "$(cat "$T/notes")"
	rm "$T/lines"
	watching watch
	ctl detach --all
	ended 3
	[[ $(cat "$T/notes") == "bloomctl: nothing is attached any more" ]] || fail "$(cat "$T/notes")"
}

# The reader goes: it is noticed at once, and in a flood by a line that cannot be written.
t_broken_pipe()
{
	local line floods sender

	ctl attach x0
	ctl add 10.77.0.3
	mkfifo "$T/pipe"
	for floods in no yes; do
		(exec nsenter --net="/run/netns/$server" "$bloomctl" --state "$state" --pin "$pins" --run "$counters" \
			watch --rate 1000 >"$T/pipe" 2>"$T/notes") &
		watcher=$!
		exec 9<"$T/pipe"
		wait_for 'the watcher' has_budget
		if [[ $floods == yes ]]; then
			nsenter --net="/run/netns/$client" python3 "$root/tests/e2e/flood.py" 10.77.0.3 "$server4" 9 9<&- >/dev/null &
			sender=$!
		else
			send 10.77.0.3 1
		fi
		read -r -t 90 line <&9
		[[ $line == *' drop 10.77.0.3 '*' udp '* ]] || fail "$line"
		exec 9<&-
		ended 0
		silent
	done
	kill -TERM "$sender"
	wait "$sender"
	[[ $(budget) -eq 0 ]] || fail "a budget of $(budget) is left"
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
