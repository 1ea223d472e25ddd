#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The recipes that need bloomctl and bloomd, and at most a resolver or Prometheus beside them: every command,
# in the order in which the page shows it, and frames that show what the page promises.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=cgroup.sh
. "$(dirname "$0")/cgroup.sh"

# --- a page and its commands ------------------------------------------------------------------------

# page NAME: from now on, `step` takes its commands one after the other. A block of text is no command, nor is one
# whose first line names a file.
page()
{
	awk '/^```/ {inside = !inside; file = /^```text/; next}
		inside && /^# \// {file = 1}
		inside && !file {sub(/ +#.*/, ""); print}' "$root/docs/recipes/$1.md" >"$T/commands"
	page=$1
	taken=0
	cd "$T"
}

# step [CODE] COMMAND: the page shows this next, and it ends with that code; 0 unless another is given.
step()
{
	local code=0 line

	[[ $# -eq 1 ]] || { code=$1 && shift; }
	taken=$((taken + 1))
	line=$(sed -n "${taken}p" "$T/commands")
	[[ $line == "$1" ]] || fail "the page shows '$line', and not '$1'"
	type_in "$code" "$line"
}

# The page shows no other.
ends() { [[ $(wc -l <"$T/commands") -eq $taken ]] || fail "nobody tries '$(sed -n "$((taken + 1))p" "$T/commands")'"; }

# type_in CODE LINE
type_in()
{
	local words code=0

	case $2 in
	"bloomctl "*) eval "words=(${2#bloomctl })" && exits "$1" "${words[@]}" ;;
	"systemctl "*) eval "$2" ;;
	"bloomd "*)
		eval "words=(${2#bloomd })"
		in_server "$bloomd" --config "$T/bloomd.conf" "${words[@]}" >"$T/out" 2>"$T/err" || fail "$2: $(cat "$T/err")"
		;;
	*)
		(PATH=$XB_TEST_DIR/bin:$PATH in_place bash -c "$2") >"$T/out" 2>"$T/err" || code=$?
		[[ $code -eq $1 ]] || fail "$2: exit code $code, not $1: $(head -c 300 "$T/out" "$T/err")"
		;;
	esac
}

# Where commands of other programs are typed.
in_place() { in_server "$@"; }

# systemctl ...: what systemd would do.
systemctl()
{
	case $* in
	"enable --now xdp-bloom bloomd") exits 0 up && agent ;;
	"enable --now bloomd") agent ;;
	"reload bloomd") reload ;;
	"reload prometheus") start_prometheus ;;
	*) fail "systemctl $*" ;;
	esac
}

# The configuration that is there now is in force.
reload()
{
	local before

	before=$(grep -c ": reloaded" "$T/agent.err" || true)
	kill -HUP "$agent"
	wait_for "the configuration" eval "[[ \$(grep -c ': reloaded' $T/agent.err) -gt $before ]]"
}

# --- who is where -----------------------------------------------------------------------------------

# rename NAME: x0 of the server.
rename()
{
	ip -n "$server" link set x0 down
	ip -n "$server" link set x0 name "$1"
	ip -n "$server" link set "$1" up
}

# outside ADDRESS...: the client has these, too, and the server finds them there.
outside()
{
	local one

	for one; do
		ip -n "$client" addr add "$one/32" dev x0
		ip -n "$server" route add "$one" via 10.77.0.2
	done
}

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

# gets_to SOURCE DESTINATION [NAMESPACE]: a packet, and its answer comes back; from the client unless told.
gets_to() { nsenter --net="/run/netns/${3:-$client}" ping -q -n -c 1 -W $((2 * patience)) -I "$1" "$2" >/dev/null 2>&1; }

never_gets_to() { ! nsenter --net="/run/netns/${3:-$client}" ping -q -n -c 2 -i 0.2 -W 0.5 -I "$1" "$2" >/dev/null 2>&1; }

# shows PATTERN: stdout of the last command has such a line with more than 0 packets behind the reason.
shows() { says "(^| )$1 +[1-9]"; }

forwards()
{
	in_server sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0
	in_server sysctl -qw net.ipv4.conf.default.rp_filter=0
}

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
	in_client dig +tries=1 +time=2 @192.0.2.53 counted.ads.example >"$T/dig" || fail "$(cat "$T/dig")"
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
	in_client dig +tries=1 +time=2 @192.0.2.53 again.ads.example >"$T/dig" || fail "$(cat "$T/dig")"
	asked again.ads.example || fail "a query that is only counted does not pass"
	step "bloomctl flush --list flood --yes"
	in_client dig +tries=1 +time=2 @192.0.2.53 x8.victim.example >"$T/dig" || fail "$(cat "$T/dig")"
	asked x8.victim.example || fail "x8.victim.example does not pass"
	step "bloomctl detach eth0"
	ends
	in_client dig +tries=1 +time=2 -b 203.0.113.7 @192.0.2.53 www.example.net >"$T/dig" || fail "$(cat "$T/dig")"
	agent_ends
}

# --- a game server ----------------------------------------------------------------------------------

game=27015

plays() { reaches udp "$1" $((2 * patience)) $game || fail "$1 does not play"; }
plays_not() { ! reaches udp "$1" 0.5 $game || fail "$1 plays"; }

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
	step "bloomctl policy allow-only --known --rollback 300"
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
	ends
	plays 8.8.8.8
	plays_not 203.0.113.7
	agent_ends
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
	ends
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

dropped()
{
	ctl -j stats | python3 -c '
import json, sys
print(sum(r["packets"] for i in json.load(sys.stdin)["interfaces"] if i["name"] == "wan0" for r in i["reasons"]
          if r["reason"] == "listed_ipv4_prefix"))'
}

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
	ends
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
	wait_for "docker0 filtered again" eval "ip -n $server -d link show docker0 | grep -q prog/xdp"
	gets_to 172.17.0.3 9.9.9.9 "$server-i3" || fail "the other container does not reach the Internet"
	never_gets_to 172.17.0.2 9.9.9.9 "$server-i2" || fail "the container reaches the Internet"
}

elsewhere_it_refuses()
{
	! nsenter --net="/run/netns/$server-i3" "$bloomctl" --state "$state" --pin "$pins" --run "$counters" \
		del 172.17.0.2 --list quarantine 2>"$T/err" || fail "a command in a container changes the list"
	complains 'another network namespace'
}

# --- Prometheus -------------------------------------------------------------------------------------

# The places that the page names, for this test alone.
lay_places()
{
	trap lift_places EXIT
	mkdir "$T/disk"
	mount -t tmpfs xbt "$T/disk"
	mkdir "$T/disk/etc" "$T/disk/work"
	mount -t overlay overlay -o "lowerdir=/etc,upperdir=$T/disk/etc,workdir=$T/disk/work" /etc ||
		skip "no overlay file system"
	mkdir -p /etc/xdp-bloom/bloomd.conf.d /etc/prometheus
	rm -f /etc/xdp-bloom/bloomd.conf.d/* /etc/prometheus/*
	: >/etc/xdp-bloom/bloomd.conf
	make -s -C "$root" -o build/bloomctl -o build/bloomd -o build/bloomd-fetch install DESTDIR="$T/disk/root" \
		PREFIX=/usr/local >/dev/null
	mount --bind "$T/disk/root/usr/local/share" /usr/local/share
	ln -s /etc/xdp-bloom/bloomd.conf "$T/bloomd.conf"
	ln -s /etc/xdp-bloom/bloomd.conf.d "$T/bloomd.conf.d"
}

lift_places()
{
	umount -l /usr/local/share /etc 2>/dev/null || true
}

# written FILE: what the page shows as that file is there from now on.
written()
{
	awk -v name="# $1" '/^```/ {inside = !inside; file = 0; next}
		inside && $0 == name {file = 1}
		inside && file' "$root/docs/recipes/$page.md" >"$1"
	[[ -s $1 ]] || fail "the page does not show $1"
}

start_prometheus()
{
	(exec nsenter --net="/run/netns/$server" prometheus --config.file=/etc/prometheus/prometheus.yml \
		--storage.tsdb.path="$T/tsdb" --web.listen-address=127.0.0.1:9090 >"$T/prometheus" 2>&1) &
	prometheus=$!
	wait_for "Prometheus" grep -q "ready to receive web requests" "$T/prometheus"
}

has_scraped() { in_server promtool query instant http://127.0.0.1:9090 'up == 1' | grep -q xdp-bloom; }

# Whatever a panel asks is a query that Prometheus answers; what stands for a choice of the reader is put in.
dashboard_is_answered()
{
	local query

	python3 - /usr/local/share/doc/xdp-bloom/xdp-bloom-grafana.json >"$T/queries" <<-'END'
	import json, sys
	for panel in json.load(open(sys.argv[1]))["panels"]:
	    for target in panel.get("targets", []):
	        print(target["expr"].replace("$__rate_interval", "1m").replace("$job", ".*").replace("$instance", ".*"))
	END
	[[ $(wc -l <"$T/queries") -ge 20 ]] || fail "the dashboard asks only $(wc -l <"$T/queries")"
	while read -r query; do
		in_server promtool query instant http://127.0.0.1:9090 "$query" >"$T/out" 2>&1 ||
			fail "$query: $(cat "$T/out")"
	done <"$T/queries"
	in_server promtool query instant http://127.0.0.1:9090 "$(head -n 1 "$T/queries")" >"$T/out"
	says 'interface="eth0".*=> 1 '
}

t_prometheus()
{
	command -v prometheus >/dev/null && command -v promtool >/dev/null || skip "no prometheus"
	lay_places
	rename eth0
	ctl -q attach eth0
	ctl -q add 10.77.0.3
	page prometheus
	written /etc/xdp-bloom/bloomd.conf.d/http.conf
	step "bloomd --check"
	step "systemctl enable --now bloomd"
	step "systemctl reload bloomd"
	step "curl -s http://127.0.0.1:9101/healthz"
	says '^ok$'
	step "curl -s http://127.0.0.1:9101/metrics"
	says '^xdp_bloom_enforcing\{interface="eth0"\} 1$'
	step "cp /usr/local/share/doc/xdp-bloom/xdp-bloom.rules.yml /etc/prometheus/"
	step "promtool check rules /etc/prometheus/xdp-bloom.rules.yml"
	says 'SUCCESS: [0-9]+ rules found'
	written /etc/prometheus/prometheus.yml
	step "promtool check config /etc/prometheus/prometheus.yml"
	says 'SUCCESS: 1 rule files found'
	# Not the 15 seconds of the page, nor the minute that is usual between two looks at the rules.
	sed -i 's/^  scrape_interval: 15s$/  scrape_interval: 1s\n  evaluation_interval: 1s/' /etc/prometheus/prometheus.yml
	step "systemctl reload prometheus"
	wait_for "a scrape" has_scraped
	step "promtool query instant http://127.0.0.1:9090 'xdp_bloom_enforcing'"
	says 'interface="eth0".*job="xdp-bloom".* => 1 '
	blocked 10.77.0.3
	wait_for "the drops" eval 'dropped_rate=$(in_server promtool query instant http://127.0.0.1:9090 "rate(xdp_bloom_packets_total{reason=\"listed_ipv4_host\",interface=\"eth0\"}[5m]) > 0") && [[ -n $dropped_rate ]]'
	step "promtool query instant http://127.0.0.1:9090 'sum by (interface, reason) (rate(xdp_bloom_packets_total{verdict=\"drop\"}[5m]))'"
	says 'interface="eth0", reason="listed_ipv4_host"\} => 0\.0*[1-9]'
	step "promtool query instant http://127.0.0.1:9090 'ALERTS{alertname=~\"XdpBloom.*\"}'"
	! grep -q ALERTS "$T/out" || fail "an alert: $(cat "$T/out")"
	dashboard_is_answered
	an_alert_begins
	step "rm /etc/xdp-bloom/bloomd.conf.d/http.conf"
	step "systemctl reload bloomd"
	ends
	wait_for "the end of the metrics" eval '! in_server curl -s -o /dev/null http://127.0.0.1:9101/metrics'
	kill -TERM $prometheus
	wait $prometheus || true
	agent_ends
}

# Pending at first: the rule waits two minutes before it fires.
an_alert_begins()
{
	ip -n "$server" link del eth0
	wait_for "the alert" eval 'in_server promtool query instant http://127.0.0.1:9090 "ALERTS{alertname=\"XdpBloomNotEnforcing\"}" | grep -q eth0'
}

run_tests
