#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The scope of a list, as packets meet it.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=domains.sh
. "$(dirname "$0")/domains.sh"
# shellcheck source=scope.sh
. "$(dirname "$0")/scope.sh"

spammers=(10.77.0.3 fd77::3 10.77.3.9 fd77::3:0:0:9)

begin_mail()
{
	ctl -q attach x0
	serve
	serve_on 25
	ctl add 10.77.0.3 fd77::3 10.77.3.0/24 fd77:0:0:0:3::/80 --list spam
}

# mail open|shut SOURCE...: whether TCP to port 25 gets through.
mail()
{
	local one pids=() wrong=""

	for one in "${@:2}"; do
		reaches tcp "$one" "$([[ $1 == open ]] && echo $((2 * patience)) || echo 0.3)" 25 &
		pids+=($!)
	done
	for one in "${@:2}"; do
		if wait "${pids[0]}"; then
			[[ $1 == open ]] || wrong+=" $one"
		else
			[[ $1 == shut ]] || wrong+=" $one"
		fi
		pids=("${pids[@]:1}")
	done
	[[ -z $wrong ]] || fail "mail is not $1 for$wrong"
}

# blast SOURCE COUNT: datagrams to port 9.
blast()
{
	in_client python3 -c 'import socket, sys
one = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
one.bind((sys.argv[1], 0))
for _ in range(int(sys.argv[3])):
    one.sendto(b"x", (sys.argv[2], 9))' "$1" "$(to "$1")" "$2"
}

# web SOURCE...: all else gets through.
web()
{
	local one

	for one; do
		reaches tcp "$one" || fail "TCP of $one does not get through"
		reaches udp "$one" || fail "UDP of $one does not get through"
		reaches udp "$one" $((2 * patience)) 25 || fail "UDP of $one to port 25 does not get through"
	done
	passes "$@"
}

# kernel WORD REASON ARGUMENT...: what `test` says of the filter in force.
kernel()
{
	ctl -j test "${@:3}" >"$T/out" || true
	says "\"kernel\":\"$1\",\"reason\":\"$2\""
}

t_scope_enforced()
{
	begin_mail
	blocked "${spammers[@]}"
	exits 0 scope spam tcp/25,udp/53
	exits 0 status
	mail shut "${spammers[@]}"
	mail open 10.77.0.2 fd77::2
	web "${spammers[@]}"
	asks example.com silence 53 10.77.0.3
	asks example.com silence 53 fd77::3
	asks example.com passed 54 10.77.0.3
	asks example.com passed 53 10.77.0.2
	[[ $(packets scoped_dropped) -ge 6 ]] || fail "$(packets scoped_dropped) packets are counted"
	for one in 10.77.0.3 fd77::3; do
		kernel drop listed "$one" --to tcp/25
		kernel drop listed "$one" --to udp/53
		kernel pass 'listed, but for tcp/25,udp/53 only' "$one" --to tcp/53
		kernel pass 'listed, but for tcp/25,udp/53 only' "$one" --to icmp
		kernel pass 'listed, but for tcp/25,udp/53 only' "$one"
	done
	exits 1 test 10.77.0.3 --to tcp/443
	says '^10.77.0.3 to tcp/443 passes now: listed, but for tcp/25,udp/53 only$'
	# Added and deleted in place.
	before=$(generation)
	ctl add 10.77.0.4 fd77::4 --list spam
	mail shut 10.77.0.4 fd77::4
	web 10.77.0.4 fd77::4
	ctl del 10.77.0.4 fd77::4 10.77.0.3
	mail open 10.77.0.4 fd77::4 10.77.0.3
	mail shut fd77::3
	[[ $(generation) == "$before" ]] || fail "built anew"
	exits 0 scope spam icmp
	mail open fd77::3 10.77.3.9
	blocked fd77::3 10.77.3.9
	kernel drop listed fd77::3 --to icmp
	kernel drop listed 10.77.3.9 --to icmp
	kernel pass 'listed, but for icmp only' 10.77.3.9 --to udp/53
	exits 0 scope spam all
	blocked fd77::3 10.77.3.9
	mail shut fd77::3 10.77.3.9
	kernel drop listed fd77::3
	exits 0 status
}

# An entry in several lists has the services of all of them, and what is allowed passes.
t_scope_of_several_lists()
{
	begin_mail
	ctl scope spam tcp/25
	ctl add 10.77.0.3 fd77::3 --list pings
	ctl scope pings icmp
	mail shut 10.77.0.3 fd77::3
	blocked 10.77.0.3 fd77::3
	kernel pass 'listed, but for some services only' 10.77.0.3 --to tcp/443
	ctl add 10.77.0.3 --list all
	kernel drop listed 10.77.0.3 --to tcp/443
	ctl allow add 10.77.0.3 fd77::3
	passes 10.77.0.3 fd77::3
	kernel pass allowed fd77::3 --to tcp/25
}

# A mail server that may not send here can be sent to, from any port of ours.
t_scope_of_answers()
{
	begin_mail
	ctl scope spam tcp/25
	nsenter --net="/run/netns/$client" python3 "$root/tests/e2e/peer.py" serve "$T/ready-client" 25 >/dev/null 2>&1 &
	wait_for "the server of the client" test -e "$T/ready-client"
	for one in 10.77.0.3 fd77::3; do
		in_server python3 "$root/tests/e2e/peer.py" tcp "$([[ $one == *:* ]] && echo $server6 || echo $server4)" \
			"$one" $((2 * patience)) 25 || fail "no connection to $one"
	done
	mail shut 10.77.0.3 fd77::3
}

# One list is on trial while the others are enforced.
t_verdict_count_of_addresses()
{
	begin_mail
	ctl add 10.77.0.4 --list sure
	ctl verdict spam count
	passes "${spammers[@]}"
	mail open "${spammers[@]}"
	blocked 10.77.0.4
	[[ $(packets scoped_counted) -gt 8 ]] || fail "$(packets scoped_counted) packets are counted"
	kernel pass 'listed, and the verdict is count' 10.77.0.3
	kernel pass 'listed, and the verdict is count' fd77::3 --to tcp/25
	ctl add 10.77.0.3 --list sure
	kernel drop listed 10.77.0.3
	ctl scope spam tcp/25
	kernel pass 'listed, and the verdict is count' fd77::3 --to tcp/25
	kernel pass 'listed, but for tcp/25 only' fd77::3
	exits 0 status
}

t_scope_and_policies()
{
	begin_mail
	ctl scope spam tcp/25
	ctl policy monitor
	mail open "${spammers[@]}"
	[[ $(packets monitored) -gt 0 && $(packets scoped_dropped) -eq 0 ]] || fail "not monitored"
	kernel pass 'the policy is monitor' 10.77.0.3 --to tcp/25
	kernel pass 'listed, but for tcp/25 only' 10.77.0.3
	exits 0 -q policy allow-only
	mail open "${spammers[@]}"
	mail shut 10.77.0.2 fd77::2
	kernel pass 'listed, and the policy is allow-only' 10.77.0.3 --to tcp/25
	kernel drop 'listed, but for tcp/25 only, and the policy is allow-only' 10.77.0.3 --to tcp/443
	ctl add 10.77.0.5 --list tried
	ctl verdict tried count
	kernel drop 'listed, but the verdict is count, and the policy is allow-only' 10.77.0.5
	ctl policy monitor
	kernel pass 'listed, and the verdict is count' 10.77.0.5
}

# Each scope has counters of its own, which go on over a new filter; a new scope begins with 0.
t_scope_has_statistics()
{
	begin_mail
	exits 0 stats
	! grep -q scopes "$T/out" || fail "$(cat "$T/out")"
	ctl add 10.77.0.4 --list more
	ctl add 10.77.0.5 --list tried
	ctl scope spam udp/9
	ctl scope more udp/9
	ctl verdict tried count
	blast 10.77.0.3 5
	blast fd77::3 2
	blast 10.77.0.4 3
	blast 10.77.0.5 4
	exits 0 stats
	says '^scopes +packets +bytes$'
	says '^  drop   udp/9 +10 +[0-9]+$'
	says '^  count  all +4 +[0-9]+$'
	exits 0 -j stats
	json '[(s["scope"], s["verdict"], s["lists"], s["packets"]) for s in d["scopes"]] == [
		("udp/9", "drop", ["more", "spam"], 10), ("all", "count", ["tried"], 4)]'
	exits 0 metrics
	says '^xdp_bloom_scoped_packets_total\{scope="udp/9",verdict="drop"\} 10$'
	says '^xdp_bloom_scoped_packets_total\{scope="all",verdict="count"\} 4$'
	[[ $(grep -c '^xdp_bloom_filter_entries{family="scoped"} [1-9]' "$T/out") -eq 1 ]] || fail "no keys of scopes"
	says '^xdp_bloom_scoped_bytes_total\{scope="udp/9",verdict="drop"\} [1-9][0-9]*$'
	exits 0 rotate
	exits 0 restore - < <(ctl save)
	blast 10.77.0.3 1
	exits 0 -j stats
	json '[s["packets"] for s in d["scopes"] if s["verdict"] == "drop"] == [11]'
	ctl scope more udp/10
	exits 0 -j stats
	json 'sorted((s["scope"], s["packets"]) for s in d["scopes"]) == [("all", 4), ("udp/10", 0), ("udp/9", 11)]'
	exits 0 scope more all
	exits 0 scope spam all
	exits 0 verdict tried drop
	exits 0 -j stats
	json 'd["scopes"] == []'
	# Statistics are there without the store, too.
	mv "$state" "$T/elsewhere"
	exits 0 -j stats
	json 'd["scopes"] == [] and d["interfaces"]'
}

# While a scope is on trial it is enforced, and then the former one is.
t_scope_tried_and_enforced()
{
	begin_mail
	exits 0 -q scope spam tcp/25 --rollback 60
	passes 10.77.0.3 fd77::3
	mail shut 10.77.0.3 fd77::3
	exits 0 commit
	passes 10.77.0.3 fd77::3
	mail shut 10.77.0.3 fd77::3
	exits 0 scope spam all
	exits 0 -q scope spam tcp/25 --rollback 2
	comes_blocked 10.77.0.3 fd77::3
	scope_is spam all
	exits 0 scope spam tcp/25
	ctl save >"$T/saved"
	exits 0 scope spam all
	blocked 10.77.0.3
	exits 0 -q restore "$T/saved"
	passes 10.77.0.3 fd77::3
	mail shut 10.77.0.3 fd77::3
	exits 0 status
}

run_tests
