#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What iptables and ipset write on a machine with an allowlist and three sets, imported in their place: whoever passed them,
# passes; and what they refused always, by name, is dropped. A ping from each source decides, before and after. With fail2ban:
# test_firewall_fail2ban.sh.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

# passing ADDRESS...: those that get through.
passing()
{
	local one

	for one; do
		! ping_from "$one" 0.5 || echo "$one"
	done
}

flush_all()
{
	local table

	for table in filter raw mangle; do
		in_server "$1" -t "$table" -F
		in_server "$1" -t "$table" -X
	done
	in_server "$1" -P INPUT ACCEPT
}

# behaves_as_before PROGRAM ADDRESS...: imports what the rules of the program are, takes these away, and asks all sources
# again; the addresses must be dropped now.
behaves_as_before()
{
	local program=$1 before

	shift
	before=$(passing "${sources[@]}")
	in_server "$program-save" >"$T/dump"
	exits 0 import "$T/dump" --list fw --replace --force --include-bogons
	cp "$T/err" "$T/notes"
	flush_all "$program"
	# shellcheck disable=SC2086
	passes $before
	blocked "$@"
}

# Of sources: a friend, one who is refused at a port, one who is always, others in a listed network.
with_rules()
{
	local program=$1

	in_server bash -e <<-END
		$program -N friends
		$program -A friends -s $friend -j ACCEPT
		$program -N guard
		$program -A guard -s $guarded -j REJECT
		$program -A guard -j RETURN
		$program -N LOGDROP
		$program -A LOGDROP -m limit --limit 5/min -j LOG
		$program -A LOGDROP -j DROP
		$program -A INPUT -p tcp -m multiport --dports 22 -j guard
		$program -A INPUT -i lo -j ACCEPT
		$program -A INPUT -j friends
		$program -A INPUT -s $network -m comment --comment "a bad network" -j LOGDROP
		$program -A INPUT -s $single -j DROP
	END
}

as_ipv4()
{
	friend=10.77.3.9 guarded=10.77.0.3 network=10.77.3.0/24 single=10.77.0.5
	sources=("${client4[@]}")
}

as_ipv6()
{
	friend=fd77::3:0:0:9 guarded=fd77::2 network=fd77:0:0:0:3::/80 single=fd77::4
	sources=("${client6[@]}")
}

t_chains()
{
	local way

	ctl attach x0
	for way in nft legacy; do
		as_ipv4
		with_rules "iptables-$way"
		behaves_as_before "iptables-$way" 10.77.0.5 10.77.3.200
		contains "dports 22.* leads to .* a port .entries left out: 1.; a list of those sources with --scope can" <"$T/notes"
		exits 0 flush --list fw --yes
		as_ipv6
		with_rules "ip6tables-$way"
		behaves_as_before "ip6tables-$way" fd77::4
		exits 0 flush --list fw --yes
	done
}

# An earlier table decides as well; whoever passes under a condition alone is not listed.
t_conditions()
{
	ctl attach x0
	as_ipv4
	in_server bash -e <<-END
		iptables -t raw -A PREROUTING -s 10.77.0.5 -j DROP
		iptables -A INPUT -s 10.77.0.4 -p icmp -j ACCEPT
		iptables -A INPUT -p tcp --dport 80 -s 10.77.0.6 -j ACCEPT
		iptables -A INPUT -s 10.77.0.2 -p tcp -j DROP
		iptables -A INPUT ! -s 10.77.0.0/23 -j DROP
		iptables -A INPUT -s 10.77.0.4/31 -j DROP
		iptables -A INPUT -s 10.77.0.6 -j DROP
		iptables -P INPUT DROP
		iptables -A INPUT -j ACCEPT
	END
	behaves_as_before iptables 10.77.0.5
	contains "may let pass what other rules drop" <"$T/notes"
	contains "refuses only under a condition, a protocol" <"$T/notes"
	contains "refuses all that are not named; .*; .bloomctl policy allow-only. can" <"$T/notes"
}

# With sets that the dump of iptables does not have, nobody knows who passes.
t_sets()
{
	ctl attach x0
	as_ipv4
	in_server bash -e <<-END
		ipset create friends hash:net
		ipset add friends 10.77.3.9
		ipset create bad hash:net comment
		ipset add bad 10.77.3.128/25 comment "from a feed"
		ipset create scanners hash:ip timeout 600
		ipset add scanners 10.77.0.6
		iptables -A INPUT -s 10.77.0.5 -j DROP
		iptables -A INPUT -m set --match-set friends src -j ACCEPT
		iptables -A INPUT -m set --match-set bad src -j DROP
		iptables -A INPUT -p tcp -m set --match-set scanners src -j DROP
		iptables -A INPUT -s 10.77.3.0/24 -j DROP
	END
	behaves_as_before iptables 10.77.0.5
	contains "may let pass what other rules drop" <"$T/notes"
	contains "the set 'bad', which is not in the file" <"$T/notes"
	in_server ipset save >"$T/dump"
	exits 2 import "$T/dump" --list sets
	in_server ipset save bad >"$T/dump"
	exits 0 import "$T/dump" --list sets --include-bogons
	blocked 10.77.3.200
	passes 10.77.0.6 10.77.3.9
}

run_tests
