#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The recipes for a router and a container host, which pass packets on: every command, in the order in which the page
# shows it, and frames that show what the page promises.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=page.sh
. "$(dirname "$0")/page.sh"

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
	page router
	step "ip -br link"
	says '^wan1'
	step "bloomctl policy monitor"
	step "bloomctl attach wan0 wan1 --rollback 60"
	step "bloomctl commit"
	step "systemctl enable --now xdp-bloom bloomd"
	step "bloomctl import level1.netset --list level1"
	step 'bloomctl allow add 198.51.100.53 --comment "name server of the guests"'
	gets_to 8.8.8.8 192.168.7.2 || fail "dropped under monitor"
	step "bloomctl stats"
	shows monitored
	step "bloomctl policy enforce --rollback 60"
	step "bloomctl commit"
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
	step "bloomctl status"
	step 1 "bloomctl test 192.0.2.7"
	step "bloomctl stats"
	[[ $(grep -cE '(^| )listed_ipv4_prefix +[1-9]' "$T/out") -ge 2 ]] || fail "$(cat "$T/out")"
	step "bloomctl detach wan1"
	by 10.78.0.1
	gets_to 8.8.8.8 192.168.7.2 || fail "wan1 is filtered"
	by 10.77.0.1
	never_gets_to 8.8.8.8 192.168.7.2 || fail "wan0 is not filtered"
	step "bloomctl detach --all"
	page_ends
	gets_to 8.8.8.8 192.168.7.2 || fail "wan0 is filtered"
	agent_ends
}

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
	page container-host
	step "bloomctl policy monitor"
	step "bloomctl attach eth0 --rollback 60"
	step "bloomctl commit"
	step "systemctl enable --now xdp-bloom bloomd"
	step 'bloomctl add 203.0.113.7 --list attackers --comment "guesses passwords"'
	step "bloomctl scope attackers tcp/8080"
	reaches tcp 203.0.113.7 $((2 * patience)) 8080 || fail "dropped under monitor"
	step "bloomctl stats"
	shows monitored
	step "bloomctl policy enforce --rollback 60"
	step "bloomctl commit"
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
	step "bloomctl test 203.0.113.7 --to tcp/8080"
	says '^203.0.113.7 to tcp/8080 is dropped now: listed$'
	step 1 "bloomctl test 203.0.113.7 --to tcp/22"
	says '^203.0.113.7 to tcp/22 passes now'
	step "bloomctl stats"
	shows scoped_dropped
	gets_to 172.17.0.2 9.9.9.9 "$server-i2" || fail "the container does not reach the Internet"
	step "bloomctl attach docker0"
	says 'docker0 attached in skb mode'
	step "bloomctl add 172.17.0.2 --list quarantine"
	never_gets_to 172.17.0.2 9.9.9.9 "$server-i2" || fail "the container reaches the Internet"
	never_gets_to 172.17.0.2 172.17.0.1 "$server-i2" || fail "the container reaches the host"
	gets_to 172.17.0.3 9.9.9.9 "$server-i3" || fail "the other container does not reach the Internet"
	gets_to 172.17.0.2 172.17.0.3 "$server-i2" || fail "the filter sees packets between containers"
	made_anew
	elsewhere_it_refuses
	step "bloomctl del 172.17.0.2 --list quarantine"
	gets_to 172.17.0.2 9.9.9.9 "$server-i2" || fail "the container does not reach the Internet"
	step "bloomctl detach docker0"
	step "bloomctl detach eth0"
	page_ends
	reaches tcp 203.0.113.7 $((2 * patience)) 8080 || fail "eth0 is filtered"
	agent_ends
}

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

t_router_after_the_readme()
{
	readme=(wan0 wan1)
	mishap=killed
	t_router
}

t_router_without_bloomd()
{
	mishap=down
	t_router
}

t_container_host_after_the_readme()
{
	readme=(eth0)
	mishap=killed
	t_container_host
}

run_tests
