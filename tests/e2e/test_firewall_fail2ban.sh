#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What iptables, ipset and nft write on a machine with an allowlist, the real fail2ban and three sets, imported in their place.
# Pings and connections from each source decide, before and after: whatever came through, comes through; and what the rules
# refused always, by name, is dropped.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2046,SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=fail2ban.sh
. "$(dirname "$0")/fail2ban.sh"
. "$(dirname "$0")/imports.sh"

# What becomes of a source, which has an address of each family: fail2ban bans it at a port (ssh, web), for TCP (tcp), for
# everything (all, late), for everything by a rule that has a condition besides (every), among the packets of others (routed), no
# more (unbanned), or never (ignored). It bans the friend, too, but a rule in front of its own lets him pass; the sets behind
# have a late friend, one who is bad, and a scanner, who is refused TCP.
roles=(clean ssh web tcp all late every routed unbanned ignored friend bad scanner)
kinds=(ping 22 80)

# at 4|6 ROLE: its address
at()
{
	local before=10.77.1. number

	[[ $1 == 4 ]] || before=fd77::1:
	for number in "${!roles[@]}"; do
		[[ ${roles[number]} != "$2" ]] || echo "$before$((number + 1))"
	done
}

# addresses ROLE...
addresses()
{
	local role

	for role; do
		at 4 "$role"
		at 6 "$role"
	done
}

# asked ROLE [KIND...]: "ADDRESS KIND" for each; without a kind, for all.
asked()
{
	local one kind chosen=("${@:2}")

	[[ $# -gt 1 ]] || chosen=("${kinds[@]}")
	for one in $(addresses "$1"); do
		for kind in "${chosen[@]}"; do
			echo "$one $kind"
		done
	done
}

asked_of()
{
	local role

	for role; do
		asked "$role"
	done
}

settle()
{
	local one

	for one in $(addresses "${roles[@]}"); do
		ip -n "$client" addr add "$one" dev x0 $([[ $one != *:* ]] || echo nodad)
		ip -n "$server" neigh replace "$one" lladdr 02:00:00:00:00:02 dev x0 nud permanent
	done
	serve_on 22
	serve_on 80
}

# refuses_only FILE: all is answered but what these lines ask. What is answered is in $T/answered.
refuses_only()
{
	in_client python3 -S -E "$root/tests/e2e/answering.py" 0.4 $server4 $server6 $(addresses "${roles[@]}") |
		sort >"$T/answered"
	asked_of "${roles[@]}" | sort | comm -23 - <(sort "$1") | cmp -s - "$T/answered"
}

# refused_are: in the end, those that standard input asks, and no others.
refused_are()
{
	cat >"$T/refused"
	(wait_for "what is refused" refuses_only "$T/refused") ||
		fail "refused is not what shall be: $(asked_of "${roles[@]}" | cat - "$T/refused" "$T/answered" | sort | uniq -c |
			awk '$1 != 2 {print $2, $3 ($1 == 1 ? " is" : " is not")}' | tr '\n' ';')"
}

# lists_only LIST ROLE...
lists_only() { has "$1" "$(addresses "${@:2}" | LC_ALL=C sort | paste -sd " ")"; }

# --- fail2ban ---------------------------------------------------------------------------------------

begin_jails()
{
	touch "$T/quiet.log"
	cat >"$T/jail.local" <<-END
		[DEFAULT]
		usedns = no
		ignoreself = false
		maxretry = 2
		bantime = 1h
		backend = polling
		filter = sshd
		logpath = $T/quiet.log
	END
}

# jail_for NAME BANACTION [LINE...]
jail_for() { printf '%s\n' "[$1]" "enabled = true" "banaction = $2" "${@:3}" >>"$T/jail.local"; }

# are_in_force ADDRESS...: the rules or sets have them. They never will when an action has failed.
are_in_force()
{
	local one

	no_complaint
	dump >"$T/force"
	for one; do
		grep -qwF -- "$one" "$T/force" || return 1
	done
}

# ban JAIL ROLE...
ban() { f2b set "$1" banip $(addresses "${@:2}"); }

# bans: until all are in force. By hand, who is ignored is banned as well.
bans()
{
	configure
	last_jail=routed server_starts
	ban web web
	ban tcp tcp
	ban all all late friend unbanned
	ban every every
	ban routed routed
	fails $(addresses ignored ssh)
	wait_for "all bans" are_in_force $(addresses ssh web tcp all late friend unbanned every routed)
	f2b set all unbanip $(addresses unbanned)
	no_complaint
}

# refused_before: once the rule for the friend is there.
refused_before()
{
	{
		asked_of all late every bad
		asked ssh 22
		asked web 80
		asked tcp 22 80
		asked scanner 22 80
	} | refused_are
}

# --- iptables and ipset -----------------------------------------------------------------------------

# The programs without a suffix are these, as Debian's alternatives have it.
choose_iptables()
{
	local program name

	program=$(type -P "iptables-$1") || skip "no iptables-$1"
	type -P ipset >/dev/null || skip "no ipset"
	mkdir "$T/bin"
	for name in ip{,6}tables{,-save}; do
		ln -s "$(readlink -f "$program")" "$T/bin/$name"
	done
	PATH=$T/bin:$PATH
}

iptables_jails()
{
	begin_jails
	jail_for ssh iptables-multiport "port = ssh,2222" "logpath = $T/auth.log" "ignoreip = $(addresses ignored | paste -sd " ")"
	jail_for web 'iptables-ipset[type=multiport]' "port = http,https"
	jail_for tcp iptables-allports
	jail_for all iptables-allports "protocol = all" "ignoreip = $(addresses all | paste -sd " ")"
	jail_for every 'iptables-ipset[type=allports, ipsettime="<timeout-bantime>"]' "protocol = all"
	jail_for routed iptables-allports "protocol = all" "chain = FORWARD"
}

# fail2ban, which starts later, puts its rules in front of these.
iptables_rules()
{
	local family six

	for family in 4 6; do
		six=${family#4}
		in_server bash -e <<-END
			for one in friends bad scanners; do
				ipset create \${one}$six hash:net family inet$six
			done
			ipset add friends$six $(at $family late)
			ipset add bad$six $(at $family bad)
			ipset add scanners$six $(at $family scanner)
			ip${six}tables -A INPUT -i lo -j ACCEPT
			ip${six}tables -A INPUT -m set --match-set friends$six src -j ACCEPT
			ip${six}tables -A INPUT -m set --match-set bad$six src -j DROP
			ip${six}tables -A INPUT -p tcp -m set --match-set scanners$six src -j DROP
		END
	done
}

# What there is of iptables goes, and its dumps stay.
iptables_ends()
{
	local one

	server_ends KILL
	for one in ip{,6}tables; do
		in_server $one-save >"$T/$one"
		in_server $one -F
		in_server $one -X
	done
	for one in {f2b-every,bad}{,6}; do
		in_server ipset save $one >"$T/$one"
	done
	in_server ipset save >"$T/sets"
	in_server ipset destroy
}

# notes_are FAMILY: those of the import, in $T/notesFAMILY.
notes_are()
{
	local six=${1#4} one

	for one in "multiport --dports 22.* leads to .* a port .entries left out: 1.; .*--scope can" \
		"-p tcp -j f2b-tcp' leads to .* a protocol .entries left out: 1.; .*--scope can" \
		"the set '"{f2b-web,f2b-every,bad}"$six', which is not in the file" \
		"is a rule that no packet to this machine reaches"; do
		finds "$one" "$T/notes$1" || fail "no note '$one': $(head -c 300 "$T/notes$1")"
	done
}

# iptables_machine nft|legacy
iptables_machine()
{
	local family

	choose_iptables "$1"
	iptables_jails
	settle
	iptables_rules
	dump() { in_server bash -c "iptables-save; ip6tables-save; ipset save"; }
	bans
	in_server iptables -I INPUT -s "$(at 4 friend)" -j ACCEPT
	in_server ip6tables -I INPUT -s "$(at 6 friend)" -j ACCEPT
	refused_before
	[[ $1 == legacy ]] || in_server nft -j list ruleset >"$T/nft"
	iptables_ends
	exits 0 attach x0
	refused_are </dev/null
	for family in 4 6; do
		exits 0 -v import "$T/ip${family#4}tables" --list fw --include-bogons
		cp "$T/err" "$T/notes$family"
	done
	asked_of all late | refused_are
	lists_only fw all late
	notes_are 4
	notes_are 6
}

# The sets, one by one, have the others whom the rules refuse.
sets_follow()
{
	local one

	exits 2 import "$T/sets" --list sets
	complains "choose one with --set"
	for one in {f2b-every,bad}{,6}; do
		exits 0 import "$T/$one" --list "$one" --include-bogons
	done
	ctl list --list f2b-every | contains "^$(at 4 every) .* expires " || fail "no timeout: $(ctl list --list f2b-every)"
	asked_of all late every bad | refused_are
}

t_iptables_nft()
{
	iptables_machine nft
	exits 0 import "$T/nft" --list nft --include-bogons
	lists_only nft all late
	sets_follow
}

t_iptables_legacy()
{
	iptables_machine legacy
	sets_follow
}

# --- nftables ---------------------------------------------------------------------------------------

nftables_jails()
{
	begin_jails
	jail_for ssh nftables-multiport "port = ssh,2222" "logpath = $T/auth.log" "ignoreip = $(addresses ignored | paste -sd " ")"
	jail_for web 'nftables-multiport[blocktype=drop]' "port = http,https"
	jail_for tcp nftables-allports
	jail_for all 'nftables[type=custom]' "ignoreip = $(addresses all | paste -sd " ")"
	jail_for every nftables-allports "protocol = 0-255"
	jail_for routed 'nftables[type=custom, table=f2b-routed, chain_hook=forward]'
}

nftables_rules()
{
	in_server nft -f - <<-END
		table inet filter {
			set friends { type ipv4_addr; elements = { $(at 4 late) }; }
			set friends6 { type ipv6_addr; elements = { $(at 6 late) }; }
			set bad { type ipv4_addr; flags interval; elements = { $(at 4 bad), $(at 4 late) }; }
			set bad6 { type ipv6_addr; flags interval; elements = { $(at 6 bad), $(at 6 late) }; }
			set scanners { type ipv4_addr; elements = { $(at 4 scanner) }; }
			set scanners6 { type ipv6_addr; elements = { $(at 6 scanner) }; }
			chain input {
				type filter hook input priority filter; policy accept;
				iif lo accept
				ip saddr @friends accept
				ip6 saddr @friends6 accept
				ip saddr @bad drop
				ip6 saddr @bad6 drop
				meta l4proto tcp ip saddr @scanners drop
				meta l4proto tcp ip6 saddr @scanners6 drop
			}
		}
	END
}

t_nftables()
{
	type -P nft >/dev/null || skip "no nft"
	nftables_jails
	settle
	nftables_rules
	dump() { in_server nft list ruleset; }
	bans
	# A packet has to pass fail2ban's chain as well, whatever another one accepts.
	in_server nft insert rule inet f2b-table f2b-chain ip saddr "$(at 4 friend)" accept
	in_server nft insert rule inet f2b-table f2b-chain ip6 saddr "$(at 6 friend)" accept
	refused_before
	in_server nft -j list ruleset >"$T/nft"
	server_ends KILL
	in_server nft flush ruleset
	exits 0 attach x0
	refused_are </dev/null
	exits 0 -v import "$T/nft" --list fw --include-bogons
	asked_of all late bad | refused_are
	lists_only fw all late bad
	complains "f2b-table f2b-chain handle .* refuses only under a condition, a port or protocol; .*--scope can"
	complains "inet filter input handle .* refuses only under a condition, a port or protocol; .*--scope can"
}

run_tests
