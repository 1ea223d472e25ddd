#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# top: its figures as JSON, and its screen on a pseudo terminal that knows what a vt100 knows.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/watcher.sh"

# on TYPE COLUMNSxROWS STEP... : bloomctl top, with the steps of terminal.py; the last screen is in $T/out.
on()
{
	python3 "$root/tests/e2e/terminal.py" "$@" -- nsenter --net="/run/netns/$server" "$bloomctl" \
		--state "$state" --pin "$pins" --run "$counters" top --interval 1 >"$T/out" ||
		fail "$(tail -n 1 "$T/out"): $(head -n -1 "$T/out")"
}

# reading: top -j in the background as $reader, in $T/out. Returns when it has read the first counts.
reading()
{
	(exec nsenter --net="/run/netns/$server" "$bloomctl" --state "$state" --pin "$pins" \
		--run "$counters" -j top --interval 600 >"$T/out" 2>"$T/err") &
	reader=$!
	wait_for 'the reader' has_budget
	wait_for 'its sleep' is_asleep "$reader"
}

# reading_ends: once it has read all that was reported.
reading_ends()
{
	wait_for 'its sleep' is_asleep "$reader"
	kill -INT "$reader"
	wait "$reader" || fail "ends with $?: $(cat "$T/err")"
}

# Known counts; also bytes, of which each datagram has 29 in IPv4 and 49 in IPv6, behind 14 of Ethernet.
t_json()
{
	local before=$SECONDS

	ctl -q attach x0
	ctl -q add 10.77.0.3 10.77.0.4 fd77::3 --list scans --comment "a scanner"
	blocked 10.77.0.3
	reading
	send 10.77.0.3 50 4001
	send 10.77.0.4 20 4001
	send fd77::3 30 4001
	send 10.77.0.2 40 4001
	reading_ends
	[[ ! -s $T/err ]] || fail "it says: $(cat "$T/err")"
	json '0 < d["seconds"] < '$((SECONDS - before + 1))' and d["ok"] and d["problems"] == [] and d["policy"] == "enforce"'
	json '[(r["packets"], r["bytes"]) for r in d["reasons"] if r["reason"] == "listed_ipv4_host"] == [(70, 70 * 43)]'
	json '[(r["packets"], r["bytes"], r["verdict"]) for r in d["reasons"] if r["reason"] == "listed_ipv6"] == [(30, 30 * 63, "drop")]'
	json 'sum(r["packets"] for r in d["reasons"] if r["reason"] == "clean") >= 40'
	json 'd["dropped"] == 100 and d["reported"] == 100'
	json '[(i["name"], i["dropped"]["packets"]) for i in d["interfaces"]] == [("x0", 100)]'
	json 'all(abs(r["packets"] - r["packets_per_second"] * d["seconds"]) < 0.001 for r in d["reasons"])'
	json 'all(abs(8 * r["bytes"] - r["bits_per_second"] * d["seconds"]) < 0.01 for r in d["interfaces"][0]["reasons"])'
	json '[(s["source"], s["packets"], s["interface"], s["reason"]) for s in d["sources"]] == [
		("10.77.0.3", 50, "x0", "listed_ipv4_host"), ("fd77::3", 30, "x0", "listed_ipv6"),
		("10.77.0.4", 20, "x0", "listed_ipv4_host")]'
	json '{s["entry"] == s["source"] and s["lists"][0]["name"] + s["lists"][0]["comment"] for s in d["sources"]} == {"scansa scanner"}'
	json 'd["lists"] == [{"name": "scans", "entries": 3, "exceptions": 0, "verdict": "drop"}]'
	[[ $(budget) -eq 0 ]] || fail "a budget of $(budget) is left"
}

t_json_names()
{
	ctl -q attach x0
	ctl -q add ads.example.com tracker.example.net
	python3 -c 'import struct
for name in ["www.ads.example.com"] * 3 + ["tracker.example.net"]:
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    print((struct.pack(">6H", 1, 256, 1, 0, 0, 0) + labels + b"\0\0\1\0\1").hex())' >"$T/queries"
	ask <"$T/queries"
	reading
	ask <"$T/queries"
	ask <"$T/queries"
	reading_ends
	json '[(n["entry"], n["packets"]) for n in d["names"]] == [("ads.example.com", 6), ("tracker.example.net", 2)]'
	json '[(s["source"], s["packets"], s["reason"]) for s in d["sources"]] == [("10.77.0.2", 8, "name_dropped")]'
}

ask()
{
	in_client python3 -c 'import socket, sys
one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
one.bind(("10.77.0.2", 0))
for line in sys.stdin:
    one.sendto(bytes.fromhex(line), ("10.77.0.1", 53))'
}

# Three of one source, and one of another, again and again.
send_shares()
{
	in_client python3 -c 'import socket, time
def link(source):
    one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    one.bind((source, 0))
    return one
much, little = link("10.77.0.3"), link("10.77.0.4")
for i in range(5000):
    for one in much, much, little, much:
        one.sendto(b"x", ("10.77.0.1", 9))
    if i % 100 == 0:
        time.sleep(0.02)'
}

# More drops than are reported: each source has its share of what was dropped.
t_sample()
{
	ctl -q attach x0
	ctl -q add 10.77.0.3 10.77.0.4
	for _ in {1..10}; do
		reading
		send_shares
		reading_ends
		grep -qE '"reported": ?(1[5-9]|2.)...[,}]' "$T/out" || break # else a busy machine sent at leisure
	done
	json 'd["dropped"] == 20000 and 1000 < d["reported"] < 15000'
	json 'abs(sum(s["packets"] for s in d["sources"]) - 20000) <= 2'
	json '[s["source"] for s in d["sources"]] == ["10.77.0.3", "10.77.0.4"] and 14000 < d["sources"][0]["packets"] < 16000'
}


# One of watch and top reads the drops; top shows the rest without.
t_beside_watch()
{
	ctl -q attach x0
	watching watch
	exits 0 -j top --interval 1
	json 'd["sources"] is None and d["interfaces"][0]["name"] == "x0"'
	on vt100 80x24 'see:another process reads the drops' "run:kill -INT $watcher" \
		'lacks:another process reads' 'run:sleep 0.2' key:q ends:0
	reading
	exits 3 watch
	complains 'another .bloomctl watch. or .bloomctl top. reads'
	reading_ends
}

t_refused()
{
	local term words

	exits 2 top
	one_line
	complains 'top needs a terminal; -j'
	exits 2 top x0
	exits 2 top --interval 0
	complains 'from 1 to 3600 seconds'
	while IFS='~' read -r term words; do
		on "$term" 80x24 "see:^bloomctl: TERM is $words" ends:2
	done <<-END
		nothing-like-it~.nothing-like-it., which is no terminal that
		dumb~.dumb., a terminal that cannot move its cursor
		~not set
		x$(printf '\033')[31m~.x\\?\\[31m.
	END
	exits 0 -j top --interval 1
	json 'd["seconds"] >= 1 and d["ok"] and d["interfaces"] == d["sources"] == d["names"] == d["lists"] == d["feeds"] == []'
	on vt100 80x24 'see:nothing is attached' key:q ends:0
}

flow()
{
	nsenter --net="/run/netns/$client" python3 "$root/tests/e2e/flood.py" 10.77.0.3 $server4 9 >"$T/flood" &
	sender=$!
	wait_for "the flood" grep -q ready "$T/flood"
}

t_screen()
{
	ctl -q attach x0
	ctl -q add 10.77.0.0/29 --list scans --comment $'\xc3\xa4gypten'
	ctl -q add 192.0.2.1 --list other
	flow
	LC_ALL=C on vt100 80x24 'see:^bloomctl top  enforce .* dropped/s  2 listed .*:..Z$' 'see:^interface +packets/s' \
		'see:^x0 +[0-9.]+k? +[0-9.]+[kM]? +[0-9.]+k? ' 'see:^listed_ipv4_host +[1-9][0-9.]*k? .* drop' \
		'see:^10.77.0.3 +[1-9][0-9.]*k? +100 % +10.77.0.0/29 scans "\?gypten"' \
		'see:^scans +1$' 'see:^other +1$' 'see:^q quit  space pause  s sort: packets' \
		key:s 'see:sort: bits' key:s 'see:sort: name' 'key:	' 'lacks:^scans' 'see:^x0' \
		key:q ends:0
	LC_ALL=C.UTF-8 on xterm 132x43 'see:scans "ägypten"' key:Q ends:0
	on linux 40x10 'see:^interface +packets/s +bits/s$' 'see:^x0' 'see:^q quit ' key:q ends:0
	on vt100 12x4 'see:^enforce' key:q ends:0
	kill -TERM $sender
	wait $sender
}

t_lists()
{
	local run="nsenter --net=/run/netns/$server $bloomctl --state $state --pin $pins --run $counters"

	ctl -q attach x0
	ctl -q add 192.0.2.1 --list one
	ctl -q add 192.0.2.1 --list two
	ctl -q scope two tcp/25,udp/53
	ctl -q verdict two count
	echo rubbish >"$state/rubbish"
	# A picture that is paused stands still, and shows it. A store that cannot be read is a problem, until it can be again.
	on vt100 160x24 'see:^list +entries +verdict +scope' 'see:^two +1 +count +tcp/25,udp/53$' 'see:^one +1$' \
		'key: ' see:PAUSED "run:$run -q add 192.0.2.2 --list one" 'run:sleep 1.5' 'see:^one +1$' 'key: ' \
		'lacks:PAUSED' 'see:^one +2$' "run:ln $state/store.mdb $state/away; mv $state/rubbish $state/store.mdb" \
		'see:^PROBLEM cannot open the store' 'see:store.mdb: MDB_INVALID' 'see:^one +2$' \
		"run:mv $state/away $state/store.mdb" 'lacks:^PROBLEM' key:q ends:0
}

t_resize()
{
	ctl -q attach x0
	ctl -q add 10.77.0.3 --list "$(printf 'l%.0s' {1..30})"
	flow
	on vt100 80x24 'see:^10.77.0.3 ' size:132x43 'see:^interface .* source dropped .* entry' \
		size:40x10 'see:^q quit  space pause  s sort  tab' 'lacks:bloomctl top' \
		size:1x1 'run:sleep 0.3' size:3x2 'run:sleep 0.3' size:80x24 'see:^bloomctl top ' 'see:^10.77.0.3 ' \
		key:q ends:0
	kill -TERM $sender
	wait $sender
}

# As bloomd leaves them; one could not be fetched.
t_feeds()
{
	local good='{"schema":1,"name":"good","list":"good","outcome":"updated","entries":1234,"next_fetch":'
	local bad='{"schema":1,"name":"bad","list":"bad","outcome":"timeout","message":"no answer in 30 s","entries":7}'

	ctl -q add 192.0.2.1
	mkdir "$state/feeds"
	echo "$good$(($(date +%s) + 7210))}" >"$state/feeds/good.json"
	echo "$bad" >"$state/feeds/bad.json"
	exits 0 -j top --interval 1
	json '[(f["name"], f["outcome"]) for f in d["feeds"]] == [("bad", "timeout"), ("good", "updated")]'
	on vt100 80x24 'see:^good +1234 +(2:00|1:59):[0-5][0-9] +updated$' 'see:^bad +7 +timeout +no answer in 30 s$' key:q ends:0
}

# Whatever ends it, the terminal is as it was (terminal.py compares its modes).
t_ways_out()
{
	local way

	ctl -q attach x0
	for way in signal:INT key:$'\x03' signal:TERM signal:QUIT hangup; do
		on xterm 80x24 see:x0 "$way" ends:0
	done
	[[ $(budget) -eq 0 ]] || fail "a budget of $(budget) is left"
	# Stopped by the terminal's key, it gives the terminal back; then it goes on.
	on xterm 80x24 see:x0 signal:TSTP 'run:sleep 0.3' signal:CONT 'run:sleep 0.3' 'see:^x0 ' key:q ends:0
}

# What is wrong is at the top, and goes when it is mended.
t_problems()
{
	local run="nsenter --net=/run/netns/$server $bloomctl --state $state --pin $pins --run $counters"

	ctl -q attach x0
	join x7 7
	ctl -q attach x7
	ip -n "$server" link del x7
	on vt100 80x24 'see:^PROBLEM x7 is unfiltered: missing' \
		"run:ip link add x7 netns $server type veth peer name y7 netns $client; ip -n $server link set x7 up; $run -q up" \
		'lacks:PROBLEM' 'see:^x7 ' key:q ends:0
	ip -n "$server" link del x7
	exits 0 -j top --interval 1
	json 'not d["ok"] and "x7" in d["problems"][0]'
}

# Names of interfaces hold any byte.
t_hostile_names()
{
	local odd=$'x\e[31m\xff\xc2\x9b5m'

	ctl -q attach x0
	ip -n "$server" link set x0 down
	ip -n "$server" link set x0 name "$odd"
	ip -n "$server" link set "$odd" up
	LC_ALL=C.UTF-8 on vt100 80x24 'see:^x\?\[31m' key:q ends:0
}

run_tests
