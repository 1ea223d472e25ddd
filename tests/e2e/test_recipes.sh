#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The recipes that need nothing but xdp-bloom, or Prometheus: every command, in the order in which the page shows it, and
# frames that show what the page promises.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=cgroup.sh
. "$(dirname "$0")/cgroup.sh"
# shellcheck source=page.sh
. "$(dirname "$0")/page.sh"

# --- floods -----------------------------------------------------------------------------------------

# counted WORD: the packets for this reason, and those over the limit of this name.
counted()
{
	ctl -j stats | of_json 'sum(r["packets"] for i in d["interfaces"] for r in i["reasons"] if r["reason"] == w[0]) +
		sum(l["over_packets"] for l in d["limits"] if l["name"] == w[0])' "$1"
}

# comes_over WORD KIND SOURCE PORT: it sends so much at once that more are counted. A slow machine tries again.
comes_over() { wait_for "that $3 is counted as $1" is_over "$(counted "$1")" "$@"; }
is_over()
{
	in_client python3 -S -E "$root/tests/e2e/sends.py" "$3" "$4" $server4 "$5" 1000
	[[ $(counted "$2") -gt $1 ]]
}

# --- a web server -----------------------------------------------------------------------------------

t_web_server()
{
	rename eth0
	outside 192.0.2.7 198.51.100.7 203.0.113.7
	serve_on 443
	page web-server 18
	upto "sysctl *"
	says '= 1$'
	upto "bloomctl limit add web *"
	comes_over monitored syn 203.0.113.7 443
	upto "bloomctl limit list"
	says '^web .* [1-9][0-9]* +tcp/80,tcp/443$'
	upto "bloomctl policy enforce *"
	upto "bloomctl commit"
	comes_over limited syn 203.0.113.7 80
	comes_over allowed syn 198.51.100.7 443
	upto "bloomctl stats"
	shows limited
	says '^  drop   web +[1-9]'
	upto 1 "bloomctl test 192.0.2.7 *"
	says '^192.0.2.7 to tcp/443 passes now: not listed$'
	reaches tcp 192.0.2.7 $((2 * patience)) 443 || fail "a customer does not connect"
	upto "bloomctl plan *"
	says '48\.8 MiB'
	upto "bloomctl commit"
	comes_over limited syn 203.0.113.7 443
	exits 0 limit list
	says '^web +20/s .* 200000 +48\.8 MiB '
	says '^nets +100/s .* tcp/80,tcp/443$'
	to_the_end
	exits 0 -j limit list
	json 'd["limits"] == []'
	agent_ends
}

t_web_server_after_the_readme() { after_the_readme t_web_server eth0; }
t_web_server_without_bloomd() { without_bloomd t_web_server; }

# --- an ssh server ----------------------------------------------------------------------------------

segments_have_come() { [[ $(in_server awk '/^Tcp: [0-9]/ {print $11}' /proc/net/snmp) -ge $1 ]]; }

# goes_on SOURCE: what belongs to an open connection is not limited.
goes_on()
{
	local before limited

	limited=$(packets limited)
	before=$(in_server awk '/^Tcp: [0-9]/ {print $11}' /proc/net/snmp)
	in_client python3 -S -E "$root/tests/e2e/sends.py" ack "$1" $server4 22 50
	wait_for "what $1 sends" segments_have_come $((before + 50))
	[[ $(packets limited) -eq $limited ]] || fail "an open connection is limited"
}

bloomd_lives() { [[ -n ${agent:-} && -d /proc/$agent ]]; }

# Its handshakes show that nobody forges it; it goes on until it is listed.
scans()
{
	[[ $(in_client python3 -S -E "$root/tests/e2e/customers.py" again 6 "$1" 22) -eq 6 ]] || fail "$1 does not connect"
	wait_for "$1 in the list" is_shut_out "$1"
}
is_shut_out()
{
	in_client python3 -S -E "$root/tests/e2e/sends.py" syn "$1" $server4 22 20
	ctl -q test "$1"
}

t_ssh()
{
	local listed=0
	rename eth0
	outside 192.0.2.7 198.51.100.9 203.0.113.7 203.0.113.8
	serve_on 22
	page ssh 17
	upto "bloomctl limit add ssh *"
	comes_over monitored syn 203.0.113.7 22
	upto "bloomctl limit list"
	says '^ssh .* [1-9][0-9]* +tcp/22$'
	upto "bloomctl policy enforce *"
	upto "bloomctl commit"
	comes_over limited syn 203.0.113.7 22
	comes_over allowed syn 198.51.100.9 22
	goes_on 203.0.113.7
	reaches tcp 192.0.2.7 $((2 * patience)) 22 || fail "a user does not connect"
	[[ -n ${XB_TEST_CGROUP:-} ]] || skip "cgroup v2 is not mounted, or no group can be made"
	upto "bloomctl limit add ssh * --list *"
	if bloomd_lives; then scans 203.0.113.7; else listed=2; fi
	comes_over limited syn 203.0.113.8 22
	upto 1 "bloomctl test 192.0.2.7 --to tcp/22"
	says '^192.0.2.7 to tcp/22 passes now: not listed$'
	upto "bloomctl stats"
	shows limited
	says '^  drop   ssh +[1-9]'
	upto $listed "bloomctl list *"
	[[ $listed -ne 0 ]] || says '^203\.0\.113\.7 list scanners .* comment "over limit ssh"$'
	upto $listed "bloomctl flush *"
	to_the_end
	exits 0 -j limit list
	json 'd["limits"] == []'
	agent_ends
}

t_ssh_after_the_readme() { after_the_readme t_ssh eth0; }
t_ssh_without_bloomd() { without_bloomd t_ssh; }

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

# answers NAME [ADDRESS]: the resolver, from where it has got the query. never_answers: neither.
answers()
{
	in_client dig +tries=1 +time=$((10 * patience)) ${2:+-b "$2"} @192.0.2.53 "$1" >"$T/dig" || fail "$(cat "$T/dig")"
	asked "$1" || fail "a query for $1 does not pass"
}
never_answers()
{
	! in_client dig +tries=1 +time=1 ${2:+-b "$2"} @192.0.2.53 "$1" >"$T/dig" || fail "an answer: $(cat "$T/dig")"
	! asked "$1" || fail "$1 reaches the resolver"
}

# asks_around WORD: many sources, of which each asks little, ask for names below one domain, until more are counted.
asks_around()
{
	printf 'addr replace %s/16 dev x0\n' 10.77.0.{11..30} | ip -n "$client" -batch -
	wait_for "that queries for one name are counted as $1" is_asked_around "$(counted "$1")" "$1"
}
is_asked_around()
{
	in_client python3 -S -E "$root/tests/e2e/sends.py" subdomain "$(echo 10.77.0.{11..30})" $server4 53 90
	[[ $(counted "$2") -gt $1 ]]
}

shows_truncated() { [[ $(packets over_truncated) -gt 0 ]] || fail "nothing is truncated"; }

# still_answers NAME: by UDP or TCP, though the filter has a limit for its answers, too.
still_answers()
{
	in_client dig +tries=5 +time=$((2 * patience)) -b 10.77.0.4 @192.0.2.53 "$1" >"$T/dig" || fail "$(cat "$T/dig")"
	asked "$1" || fail "a query for $1 does not pass"
}

t_resolver()
{
	in_place() { if [[ $* == *"dig @"* ]]; then in_client "$@"; else in_server "$@"; fi; }
	resolver
	printf '0.0.0.0 %s\n' ads.example tracker.example >"$T/hosts.txt"
	page resolver 30
	upto "bloomctl import hosts.txt --list ads --below"
	answers counted.ads.example
	upto "bloomctl stats"
	shows name_counted
	says '^  ads.example +[1-9]'
	upto "dig @192.0.2.53 www.ads.example"
	says 'status: NXDOMAIN'
	! asked www.ads.example || fail "www.ads.example reaches the resolver"
	upto "dig @192.0.2.53 good.ads.example"
	says 'IN[[:space:]]+A[[:space:]]+192.0.2.80'
	upto "dig @192.0.2.53 www.example.net"
	says 'IN[[:space:]]+A[[:space:]]+192.0.2.80'
	upto "bloomctl test www.ads.example"
	says '^www.ads.example is answered NXDOMAIN now: listed$'
	upto "bloomctl stats"
	shows name_nxdomain
	upto "bloomctl limit add dns *--over count"
	comes_over dns query 10.77.0.3 53
	upto "bloomctl limit list"
	says '^dns .* [1-9][0-9]* +udp/53$'
	upto "bloomctl limit add dns *"
	comes_over limited query 10.77.0.3 53
	answers within.example.net 10.77.0.4
	upto "bloomctl limit add names *--over count"
	asks_around names
	upto "bloomctl limit list"
	says '^names .* name .* [1-9][0-9]* +udp/53$'
	upto "bloomctl limit add names *"
	asks_around names
	shows_truncated
	still_answers x9.victim.example
	answers within.example.org 10.77.0.5
	upto "bloomctl add victim.example *"
	never_answers x7.victim.example
	upto "bloomctl add 203.0.113.7 --list senders *"
	outside 203.0.113.7
	never_gets_to 203.0.113.7 192.0.2.53 || fail "203.0.113.7 gets through"
	upto "bloomctl scope senders *"
	gets_to 203.0.113.7 192.0.2.53 || fail "203.0.113.7 does not get through to other ports"
	never_answers of.senders.example 203.0.113.7
	upto "bloomctl verdict ads count"
	answers again.ads.example
	upto "bloomctl flush --list flood --yes"
	answers x8.victim.example
	to_the_end
	answers www.example.net 203.0.113.7
	agent_ends
}

t_resolver_after_the_readme() { after_the_readme t_resolver eth0; }
t_resolver_without_bloomd() { without_bloomd t_resolver; }

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
	page game-server 29
	upto "bloomctl known on"
	plays 192.0.2.7
	exits 1 known test 192.0.2.7
	reaches tcp 192.0.2.7 $((2 * patience)) $game
	upto "bloomctl policy enforce --rollback 60"
	upto "bloomctl commit"
	upto "bloomctl limit add game *--over count"
	comes_over over_counted udp 203.0.113.8 $game
	upto "bloomctl limit list"
	says '^game .* [1-9][0-9]* +udp/27015$'
	upto "bloomctl limit add game *"
	comes_over limited udp 203.0.113.8 $game
	plays 203.0.113.7
	upto "bloomctl add 203.0.113.0/24 *"
	plays_not 203.0.113.7
	upto "bloomctl stats"
	shows listed_ipv4_prefix
	echo 8.8.8.8 >players.txt
	plays 8.8.8.8
	upto "bloomctl import players.txt *"
	plays 8.8.8.8
	names_what_it_would_admit
	upto "bloomctl policy allow-only --known *"
	plays 8.8.8.8
	plays 192.0.2.7
	plays 198.51.100.9
	plays_not 203.0.113.7
	plays_not 9.9.9.9
	! reaches tcp 8.8.8.8 0.5 $game || fail "the scope does not hold"
	upto "bloomctl stats"
	shows admitted
	shows admitted_known
	shows not_admitted
	upto "bloomctl commit"
	printf '%s\n' 8.8.8.8 9.9.9.9 >players.txt
	upto "bloomctl import players.txt *"
	plays 9.9.9.9
	plays 8.8.8.8
	upto "bloomctl test 203.0.113.7 --to udp/27015"
	says '^203.0.113.7 to udp/27015 is dropped now'
	upto 1 "bloomctl test 192.0.2.7 --to udp/27015"
	says '^192.0.2.7 to udp/27015 passes now: known$'
	upto "bloomctl verdict attackers drop"
	plays 203.0.113.7
	to_the_end
	plays 8.8.8.8
	plays_not 203.0.113.7
	agent_ends
}

t_game_server_after_the_readme() { after_the_readme t_game_server eth0; }
t_game_server_without_bloomd() { without_bloomd t_game_server; }

# --- countries --------------------------------------------------------------------------------------

# /var/lib of this test alone, with a database.
lay_database()
{
	lay_over /var/lib
	mkdir -p /var/lib/GeoIP
	country_database 1.1.1.0/24 AU 2606:4700::/32 AU 8.8.8.0/24 NZ 9.9.9.0/24 FR 5.9.0.0/16 DE 2a01:4f8::/32 DE
}

# country_database NETWORK CODE...: takes the place of the one before.
country_database()
{
	python3 -c 'import json, sys
words = sys.argv[1:]
print(json.dumps({at: {"country": {"iso_code": code}} for at, code in zip(words[::2], words[1::2])}))' "$@" |
		python3 "$root/tests/support/mmdbfile.py" "$T/new.mmdb" GeoLite2-Country
	mv "$T/new.mmdb" /var/lib/GeoIP/GeoLite2-Country.mmdb
}

# is_listed ADDRESS...
is_listed() { ctl test "$@" >/dev/null; }

t_countries()
{
	lay_etc
	lay_database
	rename eth0
	outside 1.1.1.1 5.9.0.7 7.7.7.7 8.8.8.8 9.9.9.9
	page countries 26
	upto "bloomctl import * --dry-run"
	exits 2 list --list countries
	upto "bloomctl commit"
	upto "bloomctl test 1.1.1.1 *"
	gets_to 1.1.1.1 10.77.0.1 || fail "dropped under monitor"
	upto "bloomctl stats"
	shows monitored
	upto "bloomctl commit"
	never_gets_to 1.1.1.1 10.77.0.1 || fail "1.1.1.1 gets through"
	never_gets_to 8.8.8.8 10.77.0.1 || fail "8.8.8.8 gets through"
	gets_to 9.9.9.9 10.77.0.1 || fail "9.9.9.9 does not get through"
	upto "bloomctl feeds"
	wait_for "the feed" eval 'ctl feeds | contains "^countries: (updated|unchanged)"'
	country_database 1.1.1.0/24 AU 2606:4700::/32 AU 8.8.8.0/24 FR 9.9.9.0/24 NZ 5.9.0.0/16 DE 2a01:4f8::/32 DE
	wait_for "the newer database" is_listed 9.9.9.9
	! is_listed 8.8.8.8 || fail "8.8.8.8 is still listed"
	upto "bloomctl test 1.1.1.1 --to tcp/22"
	! ctl test 5.9.0.7 --to tcp/22 >/dev/null || fail "who is at home is listed for ssh"
	upto "bloomctl policy allow-only *"
	gets_to 5.9.0.7 10.77.0.1 || fail "who is at home is not admitted"
	never_gets_to 1.1.1.1 10.77.0.1 || fail "who is abroad is admitted"
	never_gets_to 7.7.7.7 10.77.0.1 || fail "who is nowhere is admitted"
	to_the_end
	gets_to 1.1.1.1 10.77.0.1 || fail "1.1.1.1 is still blocked"
	agent_ends
}

# --- who is where -----------------------------------------------------------------------------------

# inside DEVICE ADDRESS NAMESPACE: joins a namespace behind the server, whose own address is the network's .1;
# DEVICE is the server's end.
inside()
{
	ip netns add "$3"
	ip link add "$1" netns "$server" type veth peer name eth0 netns "$3"
	ip -n "$3" link set eth0 up
	ip -n "$server" link set "$1" up
	ip -n "$3" addr add "$2/24" dev eth0
	ip -n "$3" route add default via "${2%.*}.1"
}

forwards()
{
	in_server sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0
	in_server sysctl -qw net.ipv4.conf.default.rp_filter=0
}

# --- a router ---------------------------------------------------------------------------------------

# by NAME: the client reaches the network behind the router over this uplink.
by()
{
	ip -n "$client" route replace 192.168.7.0/24 via "$1"
}

t_router()
{
	trap 'ip netns del "$server-i"' EXIT
	forwards
	rename wan0
	join wan1 1
	ip -n "$server" addr add 10.78.0.1/24 dev wan1
	ip -n "$client" addr add 10.78.0.2/24 dev wan1
	outside 8.8.8.8 9.9.9.9 198.51.100.53
	ip -n "$server" route add default via 10.77.0.2
	inside lan0 192.168.7.2 "$server-i"
	ip -n "$server" addr add 192.168.7.1/24 dev lan0
	printf '%s\n' 8.8.8.0/24 >"$T/level1.netset"
	by 10.77.0.1
	page router 15
	upto "ip -br link"
	says '^wan1'
	upto "bloomctl allow add 198.51.100.53 *"
	gets_to 8.8.8.8 192.168.7.2 || fail "dropped under monitor"
	upto "bloomctl stats"
	shows monitored
	upto "bloomctl commit"
	for one in 10.77.0.1 10.78.0.1; do
		by $one
		never_gets_to 8.8.8.8 192.168.7.2 || fail "8.8.8.8 gets through by $one"
		never_gets_to 8.8.8.8 $one || fail "8.8.8.8 gets to the router by $one"
		gets_to 9.9.9.9 192.168.7.2 || fail "9.9.9.9 does not get through by $one"
	done
	never_gets_to 192.168.7.2 8.8.8.8 "$server-i" || fail "an answer of 8.8.8.8 comes in"
	gets_to 192.168.7.2 9.9.9.9 "$server-i" || fail "no answer of 9.9.9.9"
	ctl -q add 198.51.100.53 --list other
	gets_to 192.168.7.2 198.51.100.53 "$server-i" || fail "no answer of whom the allowlist has"
	allow_only_is_for_servers
	on_a_vlan
	on_a_bridge
	upto 1 "bloomctl test 192.0.2.7"
	upto "bloomctl stats"
	[[ $(grep -cE '(^| )listed_ipv4_prefix +[1-9]' "$T/out") -ge 2 ]] || fail "$(cat "$T/out")"
	upto "bloomctl detach wan1"
	by 10.78.0.1
	gets_to 8.8.8.8 192.168.7.2 || fail "wan1 is filtered"
	by 10.77.0.1
	never_gets_to 8.8.8.8 192.168.7.2 || fail "wan0 is not filtered"
	to_the_end
	gets_to 8.8.8.8 192.168.7.2 || fail "wan0 is filtered"
	agent_ends
}

t_router_after_the_readme() { after_the_readme t_router wan0 wan1; }
t_router_without_bloomd() { without_bloomd t_router; }

allow_only_is_for_servers()
{
	ctl -q policy allow-only --force
	never_gets_to 192.168.7.2 9.9.9.9 "$server-i" || fail "an answer of a stranger comes in"
	ctl -q policy enforce
}

# Tagged frames, although the router has no interface for that VLAN: they are judged before.
on_a_vlan()
{
	local before

	before=$(dropped)
	in_client python3 - <<-'END'
		import socket, struct
		one = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
		one.bind(("x0", 0))
		ethernet = bytes.fromhex("020000000001" "020000000002" "8100" "000a" "0800")
		for source in ("8.8.8.8", "9.9.9.9", "8.8.8.9"):
		    one.send(ethernet + struct.pack("!BBHHHBBH4s4s", 0x45, 0, 60, 1, 0, 64, 17, 0, socket.inet_aton(source),
		                                    socket.inet_aton("192.168.7.2")) + bytes(40))
	END
	wait_for "two drops on a VLAN" eval "[[ \$(dropped) -eq $((before + 2)) ]]"
}

dropped() { packets listed_ipv4_prefix wan0; }

# lan0 becomes a port of a bridge, and wan1 the other: on an attached port both kinds of frames are judged.
on_a_bridge()
{
	ip -n "$server" link add br0 type bridge
	ip -n "$server" link set br0 up
	ip -n "$server" link set wan1 master br0
	ip -n "$server" link set lan0 master br0
	ip -n "$server-i" addr add 10.78.0.7/24 dev eth0
	ip -n "$server-i" route add 8.8.8.8 via 10.78.0.2
	ip -n "$server-i" route add 9.9.9.9 via 10.78.0.2
	gets_to 9.9.9.9 10.78.0.7 || fail "9.9.9.9 does not get through a bridge"
	never_gets_to 8.8.8.8 10.78.0.7 || fail "8.8.8.8 gets through a bridge"
	ip -n "$server" link set wan1 nomaster
	ip -n "$server" link set lan0 nomaster
	ip -n "$server" link del br0
	ip -n "$server-i" route del 8.8.8.8
	ip -n "$server-i" route del 9.9.9.9
}

# --- a container host -------------------------------------------------------------------------------

# Two containers on a bridge; the port 8080 of the host is the port 80 of the first.
containers()
{
	local one

	ip -n "$server" link add docker0 type bridge || skip "no bridges here"
	ip -n "$server" addr add 172.17.0.1/16 dev docker0
	ip -n "$server" link set docker0 up
	ip -n "$client" route add 172.17.0.0/16 via 10.77.0.1
	for one in 2 3; do
		inside veth$one 172.17.0.$one "$server-i$one"
		ip -n "$server" link set veth$one master docker0
	done
	in_server nft -f - <<-END || skip "no NAT here"
		table ip nat {
			chain prerouting {
				type nat hook prerouting priority dstnat
				iifname "eth0" tcp dport 8080 dnat to 172.17.0.2:80
			}
		}
	END
	nsenter --net="/run/netns/$server-i2" python3 "$root/tests/e2e/peer.py" serve "$T/contained" 80 >/dev/null 2>&1 &
	contained=$!
	wait_for "the container" test -e "$T/contained"
}

containers_go()
{
	kill "${contained:-}" 2>/dev/null || true
	ip netns del "$server-i2"
	ip netns del "$server-i3"
}

t_container_host()
{
	trap containers_go EXIT
	forwards
	rename eth0
	outside 203.0.113.7 9.9.9.9
	containers
	serve_on 22
	page container-host 17
	upto "bloomctl scope attackers tcp/8080"
	reaches tcp 203.0.113.7 $((2 * patience)) 8080 || fail "dropped under monitor"
	upto "bloomctl stats"
	shows monitored
	upto "bloomctl commit"
	! reaches tcp 203.0.113.7 0.5 8080 || fail "203.0.113.7 reaches the container"
	reaches tcp 203.0.113.7 $((2 * patience)) 22 || fail "203.0.113.7 does not reach another port"
	reaches tcp 9.9.9.9 $((2 * patience)) 8080 || fail "9.9.9.9 does not reach the container"
	# The port of the container is the one that the filter does not see.
	ctl -q scope attackers tcp/80
	reaches tcp 203.0.113.7 $((2 * patience)) 8080 || fail "the filter sees the port behind NAT"
	ctl -q scope attackers all
	never_gets_to 172.17.0.2 203.0.113.7 "$server-i2" || fail "an answer comes in"
	ctl -q scope attackers tcp/8080
	gets_to 172.17.0.2 203.0.113.7 "$server-i2" || fail "no answer comes in"
	upto "bloomctl test 203.0.113.7 --to tcp/8080"
	says '^203.0.113.7 to tcp/8080 is dropped now: listed$'
	upto 1 "bloomctl test 203.0.113.7 --to tcp/22"
	says '^203.0.113.7 to tcp/22 passes now'
	upto "bloomctl stats"
	shows scoped_dropped
	gets_to 172.17.0.2 9.9.9.9 "$server-i2" || fail "the container does not reach the Internet"
	upto "bloomctl attach docker0"
	says 'docker0 attached in skb mode'
	upto "bloomctl add 172.17.0.2 --list quarantine"
	never_gets_to 172.17.0.2 9.9.9.9 "$server-i2" || fail "the container reaches the Internet"
	never_gets_to 172.17.0.2 172.17.0.1 "$server-i2" || fail "the container reaches the host"
	gets_to 172.17.0.3 9.9.9.9 "$server-i3" || fail "the other container does not reach the Internet"
	gets_to 172.17.0.2 172.17.0.3 "$server-i2" || fail "the filter sees packets between containers"
	made_anew
	elsewhere_it_refuses
	upto "bloomctl del 172.17.0.2 --list quarantine"
	gets_to 172.17.0.2 9.9.9.9 "$server-i2" || fail "the container does not reach the Internet"
	to_the_end
	reaches tcp 203.0.113.7 $((2 * patience)) 8080 || fail "eth0 is filtered"
	agent_ends
}

t_container_host_after_the_readme() { after_the_readme t_container_host eth0; }

# As Docker does it when it starts again.
made_anew()
{
	ip -n "$server" link del docker0
	ip -n "$server" link add docker0 type bridge
	ip -n "$server" addr add 172.17.0.1/16 dev docker0
	ip -n "$server" link set veth2 master docker0
	ip -n "$server" link set veth3 master docker0
	ip -n "$server" link set docker0 up
	wait_for "docker0 filtered again" eval "ip -n $server -d link show docker0 | contains prog/xdp"
	gets_to 172.17.0.3 9.9.9.9 "$server-i3" || fail "the other container does not reach the Internet"
	never_gets_to 172.17.0.2 9.9.9.9 "$server-i2" || fail "the container reaches the Internet"
}

elsewhere_it_refuses()
{
	! nsenter --net="/run/netns/$server-i3" "$bloomctl" --state "$state" --pin "$pins" --run "$counters" \
		del 172.17.0.2 --list quarantine 2>"$T/err" || fail "a command in a container changes the list"
	complains 'another network namespace'
}

# --- Prometheus and Grafana --------------------------------------------------------------------------

# The places that the page names, for this test alone.
lay_places()
{
	lay_etc
	mkdir -p /etc/prometheus
	rm -f /etc/prometheus/*
	lay_share
}

other_service() { [[ $1 == "reload prometheus" ]] && start_prometheus; }

start_prometheus()
{
	(exec nsenter --net="/run/netns/$server" prometheus --config.file=/etc/prometheus/prometheus.yml \
		--storage.tsdb.path="$T/tsdb" --web.listen-address=127.0.0.1:9090 >"$T/prometheus" 2>&1) &
	prometheus=$!
	wait_for "Prometheus" grep -q "ready to receive web requests" "$T/prometheus"
}

# answer_shows PATTERN COMMAND: of the page. After a scrape that came late there is nothing to show until the next one.
answer_shows() { other_command "$2" >"$T/out" 2>"$T/err" && grep -qE -- "$1" "$T/out"; }
answer_lacks() { other_command "$2" >"$T/out" 2>"$T/err" && ! grep -qE -- "$1" "$T/out"; }

# upto_shows PATTERN COMMAND, upto_lacks PATTERN COMMAND: as upto, and it says so, sooner or later.
upto_shows() { upto "$2" && wait_for "'$1' from $shown" answer_shows "$1" "${shown:2}"; }
upto_lacks() { upto "$2" && wait_for "the end of '$1' from $shown" answer_lacks "$1" "${shown:2}"; }

# asks QUERY: what Prometheus answers; promtool takes four times as long to begin.
asks() { in_server curl -s --data-urlencode "query=$1" http://127.0.0.1:9090/api/v1/query; }
asks_for() { asks "$2" | contains "$1"; }

# Whatever a panel asks is a query that Prometheus answers; what stands for a choice of the reader is put in.
dashboard_is_answered()
{
	local query

	in_server python3 - $examples/xdp-bloom-grafana.json >"$T/queries" 2>"$T/out" <<-'END' || fail "$(cat "$T/queries" "$T/out")"
	import json, sys, urllib.parse, urllib.request
	for panel in json.load(open(sys.argv[1]))["panels"]:
	    for target in panel.get("targets", []):
	        query = target["expr"].replace("$__rate_interval", "1m").replace("$job", ".*").replace("$instance", ".*")
	        print(query)
	        asked = urllib.parse.urlencode({"query": query}).encode()
	        json.load(urllib.request.urlopen("http://127.0.0.1:9090/api/v1/query", asked))["data"]["result"]
	END
	[[ $(wc -l <"$T/queries") -ge 20 ]] || fail "the dashboard asks only $(wc -l <"$T/queries")"
	query=$(head -n 1 "$T/queries")
	wait_for "an answer to $query" asks_for '"interface":"eth0".*,"1"\]' "$query"
}

t_prometheus()
{
	command -v prometheus >/dev/null && command -v promtool >/dev/null || skip "no prometheus"
	lay_places
	rename eth0
	ctl -q attach eth0
	ctl -q add 10.77.0.3
	page prometheus 14
	upto "*/healthz"
	says '^ok$'
	upto "*/metrics"
	says '^xdp_bloom_enforcing\{interface="eth0"\} 1$'
	upto "promtool check rules *"
	says 'SUCCESS: [0-9]+ rules found'
	upto "promtool check config *"
	says 'SUCCESS: 1 rule files found'
	# Not the 15 seconds of the page, nor the minute that is usual between two looks at the rules.
	sed -i 's/^  scrape_interval: 15s$/  scrape_interval: 1s\n  evaluation_interval: 1s/' /etc/prometheus/prometheus.yml
	upto "systemctl reload prometheus"
	wait_for "a scrape" asks_for xdp-bloom 'up == 1'
	upto_shows 'interface="eth0".*job="xdp-bloom".* => 1 ' "promtool query instant * 'xdp_bloom_enforcing'"
	blocked 10.77.0.3
	wait_for "the drops" asks_for eth0 'rate(xdp_bloom_packets_total{reason="listed_ipv4_host",interface="eth0"}[5m]) > 0'
	upto_shows 'interface="eth0", reason="listed_ipv4_host"\} => 0\.0*[1-9]' "promtool query instant *rate(xdp_bloom_packets_total*"
	upto_lacks ALERTS "promtool query instant *ALERTS*"
	dashboard_is_answered
	an_alert_begins
	to_the_end
	wait_for "the end of the metrics" eval '! in_server curl -s -o /dev/null http://127.0.0.1:9101/metrics'
	kill -TERM $prometheus
	wait $prometheus || true
	agent_ends
}

t_prometheus_after_the_readme() { after_the_readme t_prometheus eth0; }

# Pending at first: the rule waits two minutes before it fires.
an_alert_begins()
{
	ip -n "$server" link del eth0
	wait_for "the alert" asks_for eth0 'ALERTS{alertname="XdpBloomNotEnforcing"}'
}

run_tests
