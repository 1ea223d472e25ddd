#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The recipes for a resolver and a game server: every command, in the order in which the page shows it, and frames
# that show what the page promises.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=cgroup.sh
. "$(dirname "$0")/cgroup.sh"
# shellcheck source=page.sh
. "$(dirname "$0")/page.sh"

# --- a resolver -------------------------------------------------------------------------------------

# It answers every name with 192.0.2.80. Nor does the driver have native XDP: then answers of the filter come
# back through a veth.
resolver()
{
	ip -n "$server" link del x0
	join x0 0 "numtxqueues 1 numrxqueues 1" "numtxqueues 4 numrxqueues 1"
	address x0
	rename eth0
	ip -n "$server" addr add 192.0.2.53/24 dev eth0
	ip -n "$client" addr add 192.0.2.9/24 dev x0
	cat >"$T/dnsmasq.conf" <<-END
		bind-interfaces
		listen-address=192.0.2.53
		no-resolv
		no-hosts
		user=root
		group=root
		pid-file=$T/dnsmasq.pid
		log-facility=$T/queries
		log-queries
		keep-in-foreground
		address=/#/192.0.2.80
	END
	in_server dnsmasq -C "$T/dnsmasq.conf" &
	wait_for "the resolver" grep -q 'cleared cache' "$T/queries"
}

# asked NAME: the resolver has heard of it.
asked() { grep -qF "] $1 from " "$T/queries"; }

t_resolver()
{
	resolver
	printf '0.0.0.0 %s\n' ads.example tracker.example >"$T/hosts.txt"
	page resolver
	step "bloomctl attach eth0 --rollback 60"
	step "bloomctl commit"
	step "systemctl enable --now xdp-bloom bloomd"
	step "bloomctl verdict ads count"
	step "bloomctl import hosts.txt --list ads"
	in_client dig +tries=1 +time=$((10 * patience)) @192.0.2.53 counted.ads.example >"$T/dig" || fail "$(cat "$T/dig")"
	asked counted.ads.example || fail "a query that is only counted does not pass"
	step "bloomctl stats"
	shows name_counted
	says '^  ads.example +[1-9]'
	step "bloomctl allow add good.ads.example"
	step "bloomctl verdict ads nxdomain --rollback 300"
	step "bloomctl commit"
	(
		in_place() { in_client "$@"; }
		step "dig @192.0.2.53 www.ads.example"
		says 'status: NXDOMAIN'
		step "dig @192.0.2.53 good.ads.example"
		says 'IN[[:space:]]+A[[:space:]]+192.0.2.80'
		step "dig @192.0.2.53 www.example.net"
		says 'IN[[:space:]]+A[[:space:]]+192.0.2.80'
	)
	taken=$((taken + 3))
	! asked www.ads.example || fail "www.ads.example reaches the resolver"
	step "bloomctl test www.ads.example"
	says '^www.ads.example is answered NXDOMAIN now: listed$'
	step "bloomctl stats"
	shows name_nxdomain
	step "bloomctl add victim.example --list flood --timeout 1h"
	! in_client dig +tries=1 +time=1 @192.0.2.53 x7.victim.example >"$T/dig" || fail "an answer: $(cat "$T/dig")"
	! asked x7.victim.example || fail "x7.victim.example reaches the resolver"
	step "bloomctl add 203.0.113.7 --list senders --timeout 1h"
	outside 203.0.113.7
	never_gets_to 203.0.113.7 192.0.2.53 || fail "203.0.113.7 gets through"
	step "bloomctl scope senders udp/53,tcp/53"
	gets_to 203.0.113.7 192.0.2.53 || fail "203.0.113.7 does not get through to other ports"
	! in_client dig +tries=1 +time=1 -b 203.0.113.7 @192.0.2.53 of.senders.example >"$T/dig" || fail "$(cat "$T/dig")"
	! asked of.senders.example || fail "a query of 203.0.113.7 reaches the resolver"
	step "bloomctl verdict ads count"
	in_client dig +tries=1 +time=$((10 * patience)) @192.0.2.53 again.ads.example >"$T/dig" || fail "$(cat "$T/dig")"
	asked again.ads.example || fail "a query that is only counted does not pass"
	step "bloomctl flush --list flood --yes"
	in_client dig +tries=1 +time=$((10 * patience)) @192.0.2.53 x8.victim.example >"$T/dig" || fail "$(cat "$T/dig")"
	asked x8.victim.example || fail "x8.victim.example does not pass"
	step "bloomctl detach eth0"
	page_ends
	in_client dig +tries=1 +time=$((10 * patience)) -b 203.0.113.7 @192.0.2.53 www.example.net >"$T/dig" || fail "$(cat "$T/dig")"
	agent_ends
}

t_resolver_after_the_readme()
{
	readme=(eth0)
	mishap=killed
	t_resolver
}

t_resolver_without_bloomd()
{
	mishap=down
	t_resolver
}

# --- a game server ----------------------------------------------------------------------------------

game=27015

plays() { reaches udp "$1" $((2 * patience)) $game || fail "$1 does not play"; }
plays_not() { ! reaches udp "$1" 0.5 $game || fail "$1 plays"; }

# As the page says: each imported list, of which the one of the README is a blocklist.
names_what_it_would_admit()
{
	exits 2 policy allow-only --known
	complains '1 in list players by import'
	! grep -q attackers "$T/err" || fail "it names a list that counts: $(cat "$T/err")"
	[[ -n ${readme[*]:-} ]] || return 0
	complains 'in list level1 by import'
	exits 0 verdict level1 count
}

t_game_server()
{
	[[ -n ${XB_TEST_CGROUP:-} ]] || skip "cgroup v2 is not mounted, or no group can be made"
	rename eth0
	outside 8.8.8.8 9.9.9.9 192.0.2.7 198.51.100.9 203.0.113.7 203.0.113.8
	serve_on $game
	page game-server
	step "bloomctl policy monitor"
	step "bloomctl attach eth0 --rollback 60"
	step "bloomctl commit"
	step "systemctl enable --now xdp-bloom bloomd"
	step "bloomctl known on"
	plays 192.0.2.7
	exits 1 known test 192.0.2.7
	reaches tcp 192.0.2.7 $((2 * patience)) $game
	step "bloomctl known test 192.0.2.7"
	step 'bloomctl allow add 198.51.100.9 --comment "master server"'
	step "bloomctl policy enforce --rollback 60"
	step "bloomctl commit"
	plays 203.0.113.7
	step "bloomctl add 203.0.113.0/24 --list attackers --timeout 1h"
	plays_not 203.0.113.7
	step "bloomctl stats"
	shows listed_ipv4_prefix
	echo 8.8.8.8 >players.txt
	plays 8.8.8.8
	step "bloomctl policy monitor"
	step "bloomctl verdict attackers count"
	step "bloomctl import players.txt --list players --scope udp/27015"
	plays 8.8.8.8
	names_what_it_would_admit
	step "bloomctl policy allow-only --known --force --rollback 300"
	plays 8.8.8.8
	plays 192.0.2.7
	plays 198.51.100.9
	plays_not 203.0.113.7
	plays_not 9.9.9.9
	! reaches tcp 8.8.8.8 0.5 $game || fail "the scope does not hold"
	step "bloomctl stats"
	shows admitted
	shows admitted_known
	shows not_admitted
	step "bloomctl commit"
	printf '%s\n' 8.8.8.8 9.9.9.9 >players.txt
	step "bloomctl import players.txt --list players"
	plays 9.9.9.9
	plays 8.8.8.8
	step "bloomctl test 203.0.113.7 --to udp/27015"
	says '^203.0.113.7 to udp/27015 is dropped now'
	step 1 "bloomctl test 192.0.2.7 --to udp/27015"
	says '^192.0.2.7 to udp/27015 passes now: known$'
	step "bloomctl policy monitor"
	step "bloomctl flush --list players --yes"
	step "bloomctl verdict attackers drop"
	plays 203.0.113.7
	step "bloomctl policy enforce"
	page_ends
	plays 8.8.8.8
	plays_not 203.0.113.7
	agent_ends
}

t_game_server_after_the_readme()
{
	readme=(eth0)
	mishap=killed
	t_game_server
}

t_game_server_without_bloomd()
{
	mishap=down
	t_game_server
}

run_tests
