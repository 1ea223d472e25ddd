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

has_reached() { grep -qF "] $1 from " "$T/queries"; }

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
dig_for() { in_client dig +nocmd +tries=1 +time=2 "$@" >"$T/dig" 2>&1; }

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

t_truncate_retries_native() { truncates native; }

t_truncate_retries_skb() { truncates skb; }

# --- queries few clients send -----------------------------------------------------------------------

odd()
{
	local reason wanted

	begin "$1"
	ctl verdict default nxdomain
	ctl add listed.example
	in_client /usr/bin/python3 "$root/tests/e2e/odd.py" x0 listed.example >"$T/odd" ||
		fail "$(head -n 3 "$T/odd")"
	exits 0 -j stats
	while read -r reason wanted; do
		json "[r['packets'] for r in d['interfaces'][0]['reasons'] if r['reason'] == '$reason'] == [$wanted]"
	done <"$T/odd"
	reached Odd.other.example listed.example.example xlisted.example
	# Fragments pass, and what is no name, which some resolvers take all the same: over 255 bytes.
	grep -iE 'query\[[A-Z]+\] ([^ ]{0,240}\.)?listed\.example ' "$T/queries" >"$T/passed" || true
	[[ $(wc -l <"$T/passed") -eq 2 && $(grep -c 'in-pieces' "$T/passed") -eq 2 ]] ||
		fail "reached the resolver: $(cat "$T/passed")"
}

t_odd_queries_native() { odd native; }

t_odd_queries_skb() { odd skb; }

run_tests
