#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What is over a limit, wherever counts are shown.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/watcher.sh"
. "$root/tests/e2e/web.sh"

# To port 9 five datagrams of a source pass, and no more for an hour; to port 7 those of a network beyond two are counted.
begin_limits()
{
	ctl -q attach x0
	ctl limit add echo --to udp/9 --rate 1/h --burst 5
	ctl limit add seen --to udp/7 --rate 1/h --burst 2 --per 24,48 --over count
}

# blast SOURCE PORT COUNT: datagrams.
blast()
{
	in_client python3 -c 'import socket, sys
one = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
one.bind((sys.argv[1], 4001))
for _ in range(int(sys.argv[4])):
    one.sendto(b"x", (sys.argv[2], int(sys.argv[3])))' "$1" "$(to "$1")" "$2" "$3"
}

t_counts()
{
	exits 1 status
	! grep -q limits "$T/out" || fail "$(cat "$T/out")"
	ctl -q attach x0
	exits 0 stats
	! grep -q limits "$T/out" || fail "$(cat "$T/out")"
	begin_limits
	blast 10.77.0.3 9 12
	blast fd77::3 9 6
	blast 10.77.0.4 9 5
	blast 10.77.0.5 7 6
	exits 0 stats
	says '^  drop   limited +8 '
	says '^  pass   over_counted +4 '
	says '^over limits +packets +bytes$'
	says '^  drop   echo +8 +364$' # of 43 and of 63 bytes
	says '^  count  seen +4 +172$'
	exits 0 -j stats
	json '[(l["name"], l["over"], l["over_packets"], l["over_bytes"]) for l in d["limits"]] == [
		("echo", "drop", 8, 364), ("seen", "count", 4, 172)]'
	exits 0 status
	says '^  echo      1/h packets per /32 and /64 to udp/9, over it: drop, 8 packets$'
	says '^  seen      1/h packets per /24 and /48 to udp/7, over it: count, 4 packets$'
	exits 0 -j status
	json '[(l["name"], l["to"], l["rate"], l["burst"], l["over_packets"]) for l in d["limits"]] == [
		("echo", "udp/9", "1/h", 5, 8), ("seen", "udp/7", "1/h", 2, 4)]'
	exits 0 metrics
	says '^xdp_bloom_limit_over_packets_total\{limit="echo"\} 8$'
	says '^xdp_bloom_limit_over_bytes_total\{limit="echo"\} 364$'
	says '^xdp_bloom_limit_over_packets_total\{limit="seen"\} 4$'
	says '^xdp_bloom_packets_total\{interface="x0",reason="limited",verdict="drop"\} 8$'
	# A new filter keeps them. A limit that is new begins with 0, also with the number of another.
	exits 0 rotate
	exits 0 limit del echo
	exits 0 limit add other --to udp/9 --rate 1/h --burst 5
	exits 0 -j stats
	json '{l["name"]: l["over_packets"] for l in d["limits"]} == {"other": 0, "seen": 4}'
	# Statistics are there without the store, too.
	mv "$state" "$T/elsewhere"
	exits 0 -j stats
	json 'd["limits"] == [] and d["interfaces"]'
}

# The question is one packet more.
t_test()
{
	begin_limits
	blast 10.77.0.3 9 4
	exits 1 test 10.77.0.3 --to udp/9
	says '^10.77.0.3 to udp/9 passes now: not listed$'
	exits 1 test 10.77.0.3 --to udp/9
	says '^10.77.0.3 to udp/9 is dropped now: over a limit$'
	exits 1 -j test 10.77.0.3 --to udp/9
	json 'd["entries"][0]["kernel"] == "drop" and d["entries"][0]["reason"] == "over a limit"'
	exits 1 test 10.77.0.3 --to udp/10
	says '^10.77.0.3 to udp/10 passes now: not listed$'
	ctl add 10.77.0.3
	exits 0 test 10.77.0.3 --to udp/9
	says '^10.77.0.3 to udp/9 is dropped now: listed$'
}

# The rate in the line of a limit: what came since the last table.
t_stats_watch()
{
	local watcher

	begin_limits
	blast 10.77.0.3 9 10
	nsenter --net="/run/netns/$server" "$bloomctl" --state "$state" --pin "$pins" --run "$counters" \
		stats --watch >"$T/watched" &
	watcher=$!
	wait_for "a table with rates" grep -qE '^  drop   echo +5 +215 +0$' "$T/watched"
	blast 10.77.0.3 9 7
	wait_for "the rate" grep -qE '^  drop   echo +12 +516 +[1-7]$' "$T/watched"
	kill "$watcher"
	wait "$watcher" || true
}

t_page()
{
	begin_limits
	configure '[http]' "listen = $web"
	agent
	blast 10.77.0.3 9 7
	answers 200 /status.json
	json '[(l["name"], l["over"], l["over_packets"], l["over_bytes"]) for l in d["limits"]] == [
		("echo", "drop", 2, 86), ("seen", "count", 0, 0)]'
	json 'd["reasons"]["limited"][0] == "drop" and d["packets"][1]["reasons"]["limited"] == [2, 86]'
	answers 200 /metrics
	says '^xdp_bloom_limit_over_packets_total\{limit="echo"\} 2$'
	agent_ends
}

t_watch()
{
	begin_limits
	ctl add 10.77.0.0/24 --list tried
	ctl verdict tried count
	watching watch
	blast 10.77.0.3 9 6
	blast fd77::3 9 6
	blast 10.77.0.3 7 4
	told 2
	has ' x0 drop 10\.77\.0\.3 > 10\.77\.0\.1 udp 4001>9 limited limit echo$'
	has ' x0 drop fd77::3 > fd77::1 udp 4001>9 limited limit echo$'
	ctl policy monitor
	blast 10.77.0.3 9 1
	wait_for "what would be dropped" has_lines 3
	has ' x0 would-drop 10\.77\.0\.3 > 10\.77\.0\.1 udp 4001>9 limited limit echo$'
	kill -INT "$watcher"
	ended 0
	watching -j watch --count 1
	ctl policy enforce
	blast 10.77.0.3 9 1
	ended 0
	cp "$T/lines" "$T/out"
	json 'd["reason"] == "limited" and d["limit"] == "echo" and d["entry"] is None and d["lists"] == []'
}

t_watch_a_limit_on_trial()
{
	begin_limits
	ctl -q limit add more --to udp/11 --rate 1/h --burst 1 --rollback 60
	watching watch --count 1
	blast 10.77.0.3 11 2
	ended 0
	has ' x0 drop 10\.77\.0\.3 > 10\.77\.0\.1 udp 4001>11 limited limit more$'
}

t_top()
{
	begin_limits
	blast 10.77.0.5 9 10
	(exec nsenter --net="/run/netns/$server" "$bloomctl" --state "$state" --pin "$pins" \
		--run "$counters" -j top --interval 600 >"$T/out" 2>"$T/err") &
	watcher=$!
	wait_for 'the reader' has_budget
	wait_for 'its sleep' is_asleep "$watcher"
	blast 10.77.0.3 9 15
	blast 10.77.0.4 7 5
	wait_for 'its sleep' is_asleep "$watcher"
	kill -INT "$watcher"
	ended 0
	json '[(l["name"], l["over"], l["packets"], l["bytes"]) for l in d["limits"]] == [
		("echo", "drop", 10, 430), ("seen", "count", 3, 129)]'
	json 'all(abs(l["packets"] - l["packets_per_second"] * d["seconds"]) < 0.001 for l in d["limits"])'
	json 'd["dropped"] == d["reported"] == 10'
	json '[(s["source"], s["packets"], s["reason"], s["limit"], s["entry"]) for s in d["sources"]] == [
		("10.77.0.3", 10, "limited", "echo", None)]'
}

t_top_on_a_screen()
{
	begin_limits
	blast 10.77.0.3 9 15
	python3 "$root/tests/e2e/terminal.py" vt100 132x43 'see:over limit +packets/s +bits/s +verdict' \
		'see:^echo +0 +0 +drop' 'see:^seen +0 +0 +count' key:q ends:0 -- \
		nsenter --net="/run/netns/$server" "$bloomctl" --state "$state" --pin "$pins" --run "$counters" top --interval 1 \
		>"$T/out" || fail "$(cat "$T/out")"
}

run_tests
