#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What each source may send to some services: how a limit is set, shown, tried and saved, and what of it arrives. The
# rates are so low that what arrives is the burst, however slow the machine is.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/rollback.sh"

# came KIND SOURCE: how many of this kind have arrived, for the family of the source; nobody listens.
came()
{
	case $1,$2 in
	syn,* | ack,*) in_server awk '/^Tcp: [0-9]/ {print $11}' /proc/net/snmp ;;
	*:*) in_server awk '$1 == "Udp6NoPorts" {print $2}' /proc/net/snmp6 ;;
	*) arrived ;;
	esac
}

have_come() { [[ $(($(came "$1" "$2") + $(packets limited))) -eq $3 ]]; }

# arrive WANTED COUNT KIND SOURCE [PORT [BYTES]]: so many of those that are sent arrive, and all others are dropped as
# limited.
arrive()
{
	local before all

	before=$(came "$3" "$4")
	all=$((before + $(packets limited) + $2))
	in_client python3 -S -E "$root/tests/e2e/sends.py" "$3" "$4" "$(to "$4")" "${5:-9}" "$2" "${@:6}"
	wait_for "what $4 has sent" have_come "$3" "$4" $all
	before=$(($(came "$3" "$4") - before))
	[[ $before -eq $1 ]] || fail "$before of $2 ($3) from $4 to ${5:-9} arrive, not $1"
}

# over NAME: packets over the limit.
over() { ctl -j limit list | of_json '[l["over_packets"] for l in d["limits"] if l["name"] == w[0]][0]' "$1"; }

# limit NAME OPTION...: with a burst of 5, unless another one is given.
limit() { ctl -q limit add "$1" --rate 1/h "${@:2}"; }

t_limit_cuts()
{
	ctl -q attach x0
	limit one --to udp/9
	arrive 5 12 udp 10.77.0.2
	arrive 0 3 udp 10.77.0.2
	# Each source has its own, and to other services there is none.
	arrive 5 7 udp 10.77.0.3
	arrive 9 9 udp 10.77.0.2 10
	arrive 9 9 syn 10.77.0.2 9
	passes 10.77.0.2
	[[ $(packets limited) -eq 12 && $(over one) -eq 12 ]] || fail "$(packets limited) are counted, $(over one) over it"
	# An IPv6 source is a /64, unless something else was asked for.
	arrive 5 8 udp fd77::2
	arrive 0 2 udp fd77::3
	exits 0 status
	exits 0 -j limit list
	json '[(l["name"], l["over_packets"]) for l in d["limits"]] == [("one", 17)]'
	json 'd["limits"][0]["over_bytes"] > 17 * 40'
	ctl -q limit del one
	arrive 9 9 udp 10.77.0.2
	arrive 9 9 udp fd77::3
}

t_limit_of_networks()
{
	ctl -q attach x0
	limit one --to udp/9 --per 24
	arrive 5 5 udp 10.77.3.9
	arrive 0 3 udp 10.77.3.200
	arrive 5 7 udp 10.77.0.2
	arrive 0 1 udp 10.77.0.3
	limit two --to udp/10 --per 24,48 --burst 7
	ip -n "$client" addr add fd77:0:0:1::2/64 dev x0 nodad
	arrive 5 6 udp fd77::2
	arrive 5 6 udp fd77:0:0:1::2
	arrive 7 8 udp fd77::2 10
	arrive 0 3 udp fd77:0:0:1::2 10
	limit three --to udp/11 --burst 8
	arrive 8 9 udp 10.77.3.9 11
}

t_limit_of_several_services()
{
	ctl -q attach x0
	limit one --to udp/9,udp/20-29,icmp
	arrive 3 3 udp 10.77.0.2 9
	arrive 2 4 udp 10.77.0.2 25
	blocked 10.77.0.2
	arrive 4 4 udp 10.77.0.2 30
	passes 10.77.0.3
	arrive 4 5 udp 10.77.0.3 20
	ctl -q limit del one
	limit all --to all
	arrive 5 6 udp 10.77.0.2 30
	arrive 0 2 syn 10.77.0.2 30
}

t_limit_of_connections()
{
	ctl -q attach x0
	serve
	limit one --to tcp/9 --of connections
	arrive 8 8 ack 10.77.0.2
	arrive 5 8 syn 10.77.0.2
	arrive 8 8 ack 10.77.0.2
	arrive 8 8 syn 10.77.0.2 10
	ctl -q limit add two --to tcp/7777 --of connections --rate 1000/s
	reaches tcp 10.77.0.3 || fail "no connection"
}

t_limit_of_queries()
{
	ctl -q attach x0
	limit one --to udp/53 --of queries
	arrive 8 8 response 10.77.0.2 53
	arrive 5 8 query 10.77.0.2 53
	arrive 8 8 response 10.77.0.2 53
	arrive 8 8 query 10.77.0.2 54
	arrive 5 6 query fd77::2 53
}

# Frames of 1042 bytes: 62 of them, and of the next one too little is left.
t_limit_of_bytes()
{
	ctl -q attach x0
	ctl -q limit add one --to udp/9 --of bytes --rate 3000/h
	arrive 57 65 udp 10.77.0.2 9 1100
	arrive 8 8 udp 10.77.0.2 10 1100
	exits 0 -j limit list
	json 'd["limits"][0]["burst"] == 65536 and d["limits"][0]["over_bytes"] == 8 * 1142'
}

# What is over it passes, and is counted.
t_limit_counts()
{
	ctl -q attach x0
	limit one --to udp/9 --over count
	arrive 12 12 udp 10.77.0.2
	[[ $(packets over_counted) -eq 7 && $(over one) -eq 7 ]] || fail "$(packets over_counted) are counted"
	# One that drops wins.
	limit two --to udp/9 --burst 7
	arrive 7 12 udp 10.77.0.2
	[[ $(over two) -eq 5 ]] || fail "$(over two) are over it"
}

t_limit_and_policies()
{
	ctl -q attach x0
	limit one --to udp/9
	ctl -q policy monitor
	arrive 9 9 udp 10.77.0.2
	[[ $(packets monitored) -eq 4 && $(over one) -eq 4 ]] || fail "$(packets monitored) are monitored"
	ctl -q policy enforce
	arrive 0 3 udp 10.77.0.2
	# The allowlist wins, and what is listed comes to no limit.
	ctl allow add 10.77.0.2
	arrive 9 9 udp 10.77.0.2
	ctl allow del 10.77.0.2
	ctl add 10.77.0.3
	blocked 10.77.0.3
	arrive 5 6 udp 10.77.0.2
}

# Entries come and go in place, and meters stay; a filter that is built anew has new ones.
t_limit_and_changes()
{
	ctl add 10.77.0.3 fd77::3
	ctl -q attach x0
	limit one --to udp/9
	arrive 5 6 udp 10.77.0.2
	ctl add 10.77.0.4
	ctl del 10.77.0.3
	arrive 0 2 udp 10.77.0.2
	exits 0 -q rotate
	arrive 5 7 udp 10.77.0.2
	[[ $(over one) -eq 5 ]] || fail "$(over one) are over it"
	exits 0 limit reset
	[[ ! -s $T/out ]]
	arrive 5 6 udp 10.77.0.2
	exits 0 -j limit reset
	json 'd["reset"] == 1'
	arrive 5 6 udp 10.77.0.2
	exits 0 status
}

# All pins are gone, as after a reboot.
t_limit_comes_back()
{
	ctl -q attach x0
	limit one --to udp/9
	arrive 5 6 udp 10.77.0.2
	rm -rf "$pins" "$counters"
	exits 0 -q up
	arrive 5 6 udp 10.77.0.2
	exits 0 status
}

t_limit_is_tried()
{
	ctl add "$listed"
	ctl -q attach x0
	exits 0 -q limit add one --to udp/9 --rate 1/h --rollback 60
	arrive 5 6 udp 10.77.0.2
	exits 0 limit list
	says '^one .* udp/9 \(on trial until .*, then no such limit\)$'
	exits 0 -j limit list
	json 'd["limits"][0]["trial"]["limit"] == "added" and d["limits"][0]["trial"]["seconds_left"] > 0'
	json 'd["limits"][0]["over_packets"] == 1'
	exits 0 limit reset
	arrive 5 6 udp 10.77.0.2
	exits 0 commit
	says '^`limit add one --to udp/9 --rate 1/h` is kept$'
	arrive 5 6 udp 10.77.0.2
	exits 0 -q limit del one --rollback 60
	arrive 9 9 udp 10.77.0.2
	exits 0 limit list
	says '^one .* udp/9 deleted \(on trial until .*, then there again\)$'
	exits 0 -j limit list
	json 'd["limits"][0]["trial"]["limit"] == "deleted"'
	exits 0 commit
	says '^`limit del one` is kept$'
	arrive 9 9 udp 10.77.0.2
	exits 0 -j limit list
	json 'd["limits"] == []'
	# Nobody keeps it.
	exits 0 -q limit add one --to udp/9 --rate 1/h --rollback 2
	until_over 2
	arrive 9 9 udp 10.77.0.2
	exits 0 -j limit list
	json 'd["limits"] == []'
	limit one --to udp/9
	arrive 5 6 udp 10.77.0.2
	exits 0 -q limit del one --rollback 2
	until_over 2
	arrive 0 6 udp 10.77.0.2
	exits 0 -q up
	nothing_left
	arrive 0 6 udp 10.77.0.2
	exits 0 status
}

t_limit_saved_and_restored()
{
	ctl -q attach x0
	limit one --to udp/9
	ctl -q limit add two --to tcp/80,icmp --rate 5k/m --burst 7 --per 48,24 --of connections --over count --capacity 1000
	ctl save >"$T/saved"
	grep -qxF '{"limit":"one","to":"udp/9","rate":"1/h","burst":5,"of":"packets","per4":32,"per6":64,"over":"drop","capacity":16384,"known":"1x"}' \
		"$T/saved" || fail "$(cat "$T/saved")"
	grep -qxF '{"limit":"two","to":"tcp/80,icmp","rate":"5000/m","burst":7,"of":"connections","per4":24,"per6":48,"over":"count","capacity":1000,"known":"1x"}' \
		"$T/saved" || fail "$(cat "$T/saved")"
	arrive 5 6 udp 10.77.0.2
	ctl -q limit del one
	ctl -q limit del two
	limit three --to udp/10
	exits 0 -q restore "$T/saved"
	ctl save | cmp - "$T/saved"
	arrive 5 6 udp 10.77.0.2
	arrive 9 9 udp 10.77.0.2 10
	sed 's/"rate":"1\/h"/"rate":"1"/' "$T/saved" >"$T/bad"
	is_refused 2 "bad:3: '1' is no rate" restore "$T/bad"
	ctl save | cmp - "$T/saved"
	# A text without any takes them away.
	grep -v '"limit":' "$T/saved" >"$T/without"
	exits 0 -q restore "$T/without" --rollback 60
	arrive 9 9 udp 10.77.0.2
	exits 0 -q commit
	exits 0 limit list
	[[ ! -s $T/out ]] || fail "$(cat "$T/out")"
	arrive 9 9 udp 10.77.0.2
}

t_limit_shows()
{
	exits 0 limit list
	[[ ! -s $T/out && ! -s $T/err ]] || fail "something is said of no limits"
	exits 0 -j limit list
	json 'd["limits"] == []'
	exits 0 -j limit add dns --to udp/53 --rate 100/s --of queries
	json '{**d, "schema": 0} == {"schema": 0, "name": "dns", "to": "udp/53", "rate": "100/s", "burst": 200, "of": "queries",
		"per4": 32, "per6": 64, "over": "drop", "capacity": 16384, "known": "1x"}'
	exits 0 -q limit add a-long-name_of.32-characters-xyz --to all --rate 3G/h --of bytes --per 24 --over count --capacity 4
	[[ ! -s $T/out ]]
	exits 0 limit list
	[[ $(wc -l <"$T/out") -eq 3 ]] || fail "$(cat "$T/out")"
	says '^name +rate +of +burst +per +over +known +capacity +memory +list +packets over +bytes over +to$'
	says '^dns +100/s +queries +200 +32,64 +drop +1x +16384 +4\.0 MiB +- +0 +0 +udp/53$'
	says '^a-long-name_of\.32-characters-xyz +3000000000/h +bytes +1666666 +24,64 +count +1x +4 +1\.0 KiB +- +0 +0 +all$'
	[[ $(awk '{print index($0, " to") + index($0, " udp/53") + index($0, " all")}' "$T/out" | sort -u | wc -l) -eq 1 ]] ||
		fail "the columns are not aligned: $(cat "$T/out")"
	exits 0 -j limit list
	json 'd["limits"][0]["memory"] == 16384 * 256 and d["limits"][1]["burst"] == 1666666'
	exits 0 -j limit del dns
	json 'd["deleted"] == "dns"'
	exits 0 limit del a-long-name_of.32-characters-xyz
	[[ ! -s $T/out ]]
}

# same CODE PATTERN ARGUMENT...: it is refused with one line, and the store and the filter are as before.
same()
{
	is_refused "$@"
	ctl save | cmp - "$T/before" || fail "${*:3} changed the store"
	[[ $(ls "$pins") == "$filter" ]] || fail "${*:3} built a filter"
}

t_limit_bad_input()
{
	local i

	is_refused 1 'no filter with limits is in force' limit reset
	ctl -q attach x0
	is_refused 1 'no filter with limits is in force' limit reset
	for i in {1..15}; do
		limit "l$i" --to "udp/$i"
	done
	ctl save >"$T/before"
	filter=$(ls "$pins")
	same 2 'there can be 15 limits, and no more' limit add more --to all --rate 1/s
	same 2 'there can be 15 limits, and no more' limit add more --to all --rate 1/s --rollback 60
	same 2 'there is a limit l3; to change it, delete it first' limit add l3 --to all --rate 1/s
	same 1 'there is no limit more' limit del more
	same 1 'there is no limit more' limit del more --rollback 60
	ctl limit del l15
	ctl save >"$T/before"
	filter=$(ls "$pins")
	same 2 'limit add needs --to and --rate' limit add more --to all
	same 2 'limit add needs --to and --rate' limit add more --rate 1/s
	same 2 'limit add takes a name' limit add --to all --rate 1/s
	same 2 'limit add takes a name' limit add a b --to all --rate 1/s
	same 2 "'a b' is no name of a limit" limit add 'a b' --to all --rate 1/s
	same 2 'at most 10000000 packets a second' limit add more --to all --rate 11M/s
	same 2 'a burst is 1 to 1048576 packets' limit add more --to all --rate 1M/s --burst 2M
	same 2 'at least 65536 bytes' limit add more --to all --rate 1M/s --of bytes --burst 5
	same 2 'more than a day' limit add more --to all --rate 1/h --burst 25
	same 2 '--capacity takes a whole number from 1 to 50000000' limit add more --to all --rate 1/s --capacity 0
	# Of memory a limit takes 256 bytes a source.
	[[ $(awk '/^MemTotal/ {print $2}' /proc/meminfo) -gt 12000000 ]] ||
		same 3 'the filter needs' limit add more --to all --rate 1/s --capacity 50000000
	same 2 "--rate is given twice" limit add more --to all --rate 1/s --rate 2/s
	same 2 "unknown command 'limit ad'.*limit add" limit ad
	same 2 'limit del takes the name of a limit' limit del
	same 2 'limit list takes no arguments' limit list l1
	same 2 'limit reset takes no arguments' limit reset l1
}

run_tests
