#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A resolver behind the attached interface, and the clients people have: what reaches it, and what they
# make of the answers.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

# --- the resolver -----------------------------------------------------------------------------------

# It answers every name there is with these, and asks nobody.
real4=192.0.2.80 real6=2001:db8::80

resolver_config()
{
	cat <<-END
		port=53
		listen-address=$server4,$server6
		bind-interfaces
		no-resolv
		no-hosts
		user=root
		group=root
		pid-file=$T/dnsmasq.pid
		log-facility=$T/queries
		log-queries
		keep-in-foreground
		address=/#/$real4
		address=/#/$real6
	END
}

# end_world ends it.
start_resolver()
{
	# Sums in full, so that a capture at the other end can be checked.
	in_server ethtool -K x0 tx off >/dev/null
	resolver_config >"$T/dnsmasq.conf"
	in_server dnsmasq -C "$T/dnsmasq.conf" &
	wait_for "the resolver" grep -q 'cleared cache' "$T/queries"
}

# begin MODE: a veth takes what its other end sends back only if it has a program of its own.
begin()
{
	start_resolver
	[[ $1 != native ]] || in_client ip link set dev x0 xdpdrv obj "$XB_TEST_DIR/bin/pass.bpf.o" sec xdp ||
		skip "ip cannot load an XDP object here"
	ctl -q attach x0 --mode "$1"
}

# Newer resolvers log a name in small letters.
has_reached() { grep -qiF "] $1 from " "$T/queries"; }

reached()
{
	local one

	for one; do
		wait_for "$one to the resolver" has_reached "$one"
	done
}

unreached()
{
	local one

	for one; do
		! has_reached "$one" || fail "$one reached the resolver"
	done
}

# --- the clients ------------------------------------------------------------------------------------

# dig_for ARGUMENT...: what it says in $T/dig, its exit code returned.
dig_for() { in_client dig +nocmd +tries=1 +time=$((10 * patience)) "$@" >"$T/dig" 2>&1; }

has() { grep -qE -- "$1" "$T/dig" || fail "dig does not say '$1': $(cat "$T/dig")"; }

lacks() { ! grep -qiE -- "$1" "$T/dig" || fail "dig says '$1': $(cat "$T/dig")"; }

content() { lacks 'warn|malformed|mismatch|timed out|unexpected|\<bad\>|\<error'; }

# answered STATUS FLAGS NAME ADDITIONAL OPTION...: dig takes the answer, all of it as it must be.
answered()
{
	local name=$3 wanted="status: $1, .*flags: $2; QUERY: 1, ANSWER: 0, AUTHORITY: 0, ADDITIONAL: $4 "

	dig_for "${@:5}" "$name" || fail "dig fails: $(cat "$T/dig")"
	content
	tr '\n' ' ' <"$T/dig" >"$T/line"
	grep -qE "$wanted" "$T/line" || fail "not '$wanted': $(cat "$T/dig")"
	has "^;${name//./\\.}\\.[[:space:]]+IN[[:space:]]+A\$"
	has '\(UDP\)$'
}

# silent NAME OPTION...
silent()
{
	! dig_for +time=1 "${@:2}" "$1" || fail "an answer: $(cat "$T/dig")"
	has 'timed out|no servers could be reached'
}

# resolves NAME OPTION...: the resolver's own answer.
resolves()
{
	dig_for "${@:2}" "$1" || fail "dig fails: $(cat "$T/dig")"
	content
	has "status: NOERROR"
	has "IN[[:space:]]+A[[:space:]]+$real4\$"
	reached "$1"
}

# Every way to ask, over one family, of a verdict with that status; truncate has a flag more.
each_way()
{
	local at=@$1 list=$2 status=$3 tc=${4:-}

	answered "$status" "qr$tc rd ra" "plain.$list.example" 0 "$at" +ignore +noedns
	answered "$status" "qr$tc rd ra" "PlAiN.${list^}.eXaMpLe" 0 "$at" +ignore +noedns +norec +rec
	answered "$status" "qr$tc ra" "norec.$list.example" 1 "$at" +ignore +norec
	answered "$status" "qr$tc rd ra cd" "cd.$list.example" 1 "$at" +ignore +cd +noad
	answered "$status" "qr$tc rd ra" "a.b.c.d.e.${list^^}.EXAMPLE" 1 "$at" +ignore +nocookie
	has 'EDNS: version: 0, flags:; udp: 1232'
	answered "$status" "qr$tc rd ra" "dO.$list.ExampLe" 1 "$at" +ignore +dnssec
	has 'EDNS: version: 0, flags: do; udp: 1232'
	answered "$status" "qr$tc rd ra" "$list.exAmple" 1 "$at" +ignore +cookie=0123456789abcdef +nsid \
		+subnet=192.0.2.0/24 +padding=128 +bufsize=4096
	lacks 'COOKIE|NSID|CLIENT-SUBNET|PAD'
}

list_all()
{
	local one

	for one in refused nxdomain truncate drop count; do
		ctl verdict "$one" "$one"
		ctl add "$one.example" --list "$one"
	done
}

verdicts()
{
	local to

	begin "$1"
	list_all
	for to in $server4 $server6; do
		each_way "$to" refused REFUSED
		each_way "$to" nxdomain NXDOMAIN
		each_way "$to" truncate NOERROR " tc"
		silent "${to//:/}.drop.example" "@$to"
		resolves "${to//:/}.count.example" "@$to"
		resolves "${to//:/}.Other.example" "@$to"
		resolves "${to//:/}.noedns.example" "@$to" +noedns
	done
	! grep -iE 'query.* [^ ]*(refused|nxdomain|truncate|drop)\.example ' "$T/queries" ||
		fail "reached the resolver"
}

t_verdicts_native() { verdicts native; }

t_verdicts_skb() { verdicts skb; }

# Over TCP it is the resolver who answers.
truncates()
{
	local to

	begin "$1"
	list_all
	for to in $server4 $server6; do
		resolves "${to//:/}.Truncate.example" "@$to"
		has '^;; Truncated, retrying in TCP mode'
		has '\(TCP\)$'
		resolves "${to//:/}.plain.truncate.example" "@$to" +noedns
		has '\(TCP\)$'
	done
}

t_truncate_retries() { truncates native; }

# --- on the wire ------------------------------------------------------------------------------------

# capture: what comes to the client from a DNS port, into $T/wire, until end_capture.
capture()
{
	in_client tcpdump -i x0 -n -U --immediate-mode -w "$T/wire" 'udp src port 53' 2>"$T/tcpdump" &
	capturing=$!
	wait_for tcpdump grep -q 'listening on' "$T/tcpdump"
}

# end_capture NUMBER: of packets; none with a wrong sum.
end_capture()
{
	wait_for "$1 packets" has_captured "$1"
	sleep 0.1
	kill "$capturing"
	wait "$capturing" || true
	tcpdump -r "$T/wire" -n -vv >"$T/wire.txt" 2>/dev/null
	[[ $(grep -c '\.53 > ' "$T/wire.txt") -eq $1 ]] || fail "not $1 packets: $(cat "$T/wire.txt")"
	# As a word: the flow label of IPv6 is a random number in hexadecimal.
	! grep -iE '\bbad\b|\|domain|malformed|truncated|invalid|no cksum' "$T/wire.txt" ||
		fail "tcpdump complains: $(cat "$T/wire.txt")"
}

has_captured() { [[ $(tcpdump -r "$T/wire" -n 2>/dev/null | grep -c '\.53 > ') -ge $1 ]]; }

on_the_wire()
{
	local to one

	begin "$1"
	list_all
	capture
	for to in $server4 $server6; do
		for one in "a.refused +noedns" a.refused "a.nxdomain +dnssec" "a.truncate +ignore" \
			"an.odd.length.nxdomain +noedns" other; do
			# shellcheck disable=SC2086
			dig_for "@$to" "${one%% *}.example" ${one#"${one%% *}"} || fail "dig fails: $(cat "$T/dig")"
		done
	done
	end_capture 12
	[[ $(grep -c 'udp sum ok' "$T/wire.txt") -eq 12 ]] || fail "sums: $(cat "$T/wire.txt")"
	grep -q 'udp sum ok\].* NXDomain' "$T/wire.txt"
	grep -q 'udp sum ok\].* Refused' "$T/wire.txt"
}

t_on_the_wire_native() { on_the_wire native; }

t_on_the_wire_skb() { on_the_wire skb; }

# --- the system's own resolver ----------------------------------------------------------------------

# looks_up NAME: what getent says, in $T/getent.
looks_up()
{
	# shellcheck disable=SC2016
	in_client timeout 150 unshare --mount sh -c \
		'mount --bind "$1/resolv.conf" /etc/resolv.conf && exec getent ahosts "$2"' - "$T" "$1" >"$T/getent"
}

getents()
{
	local to one

	[[ -e /etc/resolv.conf ]] || skip "no /etc/resolv.conf to cover"
	begin "$1"
	list_all
	for to in $server4 $server6; do
		printf '%s\n' "nameserver $to" "search ." "options attempts:1 timeout:30" >"$T/resolv.conf"
		for one in a.other.example a.Truncate.example; do
			looks_up "$one" || fail "getent does not find $one by $to"
			grep -q "^$real4 " "$T/getent" && grep -q "^$real6 " "$T/getent" ||
				fail "$one is $(cat "$T/getent")"
		done
		! looks_up a.NxDomain.example || fail "$(cat "$T/getent")"
		! looks_up a.refused.example || fail "$(cat "$T/getent")"
	done
	unreached a.NxDomain.example a.refused.example
}

t_getent() { getents skb; }

# --- changes under a stream -------------------------------------------------------------------------

mark() { echo "$EPOCHREALTIME $*" >>"$T/marks"; }

# What was said of each query: `on.example` is listed all the time, `off.example` never, `turn.example`
# from each mark "in" to the next mark "leaving". A query with a mark between when it was sent and when it had
# come to the filter may go either way.
judge_stream()
{
	python3 - "$T" <<-'END'
		import re, sys
		at = sys.argv[1]
		reached = set(re.findall(r"query\[A\] (\S+) from", open(at + "/queries").read()))
		marks = [line.split() for line in open(at + "/marks")]
		seen = {"listed": 0, "unlisted": 0}
		for line in open(at + "/stream"):
		    sent, done, name, code = line.split()
		    domain = name.split(".", 1)[1]
		    before = [word for time, word in marks if float(time) <= float(sent)]
		    soon = [word for time, word in marks if float(sent) < float(time) <= float(done)]
		    listed = domain == "on.example" or domain == "turn.example" and before[-1:] == ["in"]
		    unlisted = domain == "off.example" or before[-1:] in ([], ["out"])
		    if domain == "turn.example" and soon:
		        continue
		    assert not listed or name not in reached, name + " reached the resolver: " + line
		    assert not listed or code in "35-", name + " was resolved: " + line
		    if domain != "on.example" and unlisted:
		        assert name in reached and code == "0", name + " did not reach the resolver: " + line
		        seen["unlisted"] += 1
		    seen["listed"] += listed
		print(seen, len(marks))
		assert min(seen.values()) > 300, seen
	END
}

t_changes_under_a_stream()
{
	local streamer verdict

	begin native
	ctl verdict default nxdomain
	ctl add on.example
	: >"$T/marks"
	in_client python3 "$root/tests/e2e/stream.py" $server4 3 400 on.example turn.example off.example >"$T/stream" &
	streamer=$!
	sleep 0.2
	while kill -0 $streamer 2>/dev/null; do
		for verdict in drop nxdomain refused; do
			mark entering
			ctl add turn.example
			mark in
			ctl -q rotate
			ctl verdict default "$verdict"
			sleep 0.06
			mark leaving
			ctl del turn.example
			mark out
			ctl -q rotate
			ctl add 10.77.99.1 --list other --exist
			ctl del 10.77.99.1 --list other
			sleep 0.06
		done
	done
	wait $streamer
	judge_stream || fail "$(tail -n 1 "$T/log")"
}

run_tests
