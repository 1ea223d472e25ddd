#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Interfaces: modes, refusals, and how they are left.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

has_xdp() { ip -n "$server" -d link show "$1" | contains 'prog/xdp|xdpgeneric|xdpdrv|xdpoffload'; }

no_xdp() { ! has_xdp "$1" || fail "$1 has an XDP program: $(ip -n "$server" -d link show "$1" | head -n 3)"; }

no_pins() { [[ -z $(find "$pins" -mindepth 1 2>/dev/null) ]] || fail "pins stay: $(find "$pins" -mindepth 1)"; }

make_foreign()
{
	in_server ip link set dev x0 xdpdrv obj "$XB_TEST_DIR/bin/pass.bpf.o" sec xdp ||
		skip "ip cannot load an XDP object here"
}

program_on() { ip -n "$server" -d link show "$1" | grep -o 'prog/xdp id [0-9]*'; }

# mode_is MODE: as ip(8) and status have it, and that drops what is listed.
mode_is()
{
	local shown=' xdp '

	[[ $1 == native ]] || shown=xdpgeneric
	ip -n "$server" -d link show x0 | contains "$shown" || fail "not in $1 mode"
	blocked 10.77.0.3
	passes 10.77.0.2
	ctl -j status >"$T/status"
	[[ $(of_json 'd["ok"], d["interfaces"][0]["mode"]' <"$T/status") == "(True, '$1')" ]] || fail "$(cat "$T/status")"
}

silent() { [[ ! -s $T/err ]] || fail "a note: $(cat "$T/err")"; }

# What is protected is not let go for a better mode unless that is asked for; and a change of it is told.
t_modes()
{
	local begun

	ctl add 10.77.0.3
	exits 0 -j attach x0
	json 'd["interfaces"] == [{"name": "x0", "mode": "native"}]'
	silent
	mode_is native
	begun=${EPOCHREALTIME/[.,]/}
	exits 0 -j attach x0 --mode skb
	json "0 < d['interfaces'][0]['unfiltered_microseconds'] < $((${EPOCHREALTIME/[.,]/} - begun))"
	mode_is skb
	exits 0 attach x0
	says 'x0 attached in skb mode'
	complains '^bloomctl: x0 was attached in skb mode before, and stays so; `bloomctl attach x0 --mode native` tries native mode$'
	exits 0 -j attach x0 --mode auto
	json 'd["interfaces"] == [{"name": "x0", "mode": "skb"}]'
	complains '"note":"x0 was attached in skb mode'
	exits 0 attach x0 --mode skb
	silent
	mode_is skb
	exits 0 attach x0 --mode native
	says 'x0 attached in native mode, before in skb; unfiltered for [0-9.]+ ms'
	mode_is native
	exits 0 attach x0
	silent
	exits 0 -j stats
	json 'sum(r["packets"] for r in d["interfaces"][0]["reasons"] if r["reason"] == "listed_ipv4_host") >= 4'
	exits 0 detach x0
	no_xdp x0
	no_pins
	for mode in skb native; do
		exits 0 attach x0 --mode $mode
		says "x0 attached in $mode mode$"
		mode_is $mode
		exits 0 detach x0
	done
}

t_several()
{
	join x1 1
	join x2 2
	exits 0 -j attach x0 x1 x2
	json 'len(d["interfaces"]) == 3'
	has_xdp x0 && has_xdp x1 && has_xdp x2
	exits 0 detach x1
	no_xdp x1
	has_xdp x0 && has_xdp x2
	exits 0 status
	exits 0 detach --all
	no_xdp x0
	no_xdp x2
	no_pins
}

t_what_is_taken_back_is_not_said()
{
	few_queues
	make_foreign
	exits 3 attach q0 x0
	one_line
	complains 'another XDP program holds the interface'
	no_xdp q0
}

t_all_or_nothing()
{
	exits 2 attach x0 nosuch0
	one_line
	complains 'nosuch0: no such interface'
	no_xdp x0
	no_pins
	join x1 1
	make_foreign
	exits 3 attach x1 x0
	one_line
	no_xdp x1
	no_pins
	join x2 2
	exits 0 attach x1
	exits 3 attach x1 x2 x0
	has_xdp x1
	no_xdp x2
}

t_mtu_9000()
{
	ctl attach x0
	! is_dispatched x0 || skip "libxdp's dispatcher takes no frames in several buffers"
	ctl detach x0
	ip -n "$server" link set x0 mtu 9000
	ip -n "$client" link set x0 mtu 9000
	exits 0 attach x0 --mode native
	ctl add 10.77.0.3
	in_client ping -q -n -c 1 -W $((2 * patience)) -s 8900 -M "do" -I 10.77.0.2 $server4 >/dev/null ||
		fail "a large packet is lost"
	! in_client ping -q -n -c 1 -W 0.3 -s 8900 -M "do" -I 10.77.0.3 $server4 >/dev/null ||
		fail "a large packet gets through"
}

t_foreign_program()
{
	local before

	make_foreign
	before=$(program_on x0)
	exits 3 attach x0
	one_line
	complains 'another XDP program holds the interface'
	[[ $(program_on x0) == "$before" ]] || fail "the other program is gone: $(program_on x0)"
	no_pins
	exits 3 attach x0 --mode skb
	one_line
	[[ $(program_on x0) == "$before" ]] || fail "the other program is gone: $(program_on x0)"
	in_server ip link set dev x0 xdpdrv off
	exits 0 attach x0
}

few_queues() { join q0 5 "numtxqueues 1 numrxqueues 1" "numtxqueues 4 numrxqueues 1"; }

t_too_few_queues()
{
	few_queues
	exits 3 attach q0 --mode native
	one_line
	complains 'q0: the kernel refused native mode: "veth: .*rx queues .*" \(No space left on device\); it needs as many'
	complains ' or use --mode skb$'
	no_xdp q0
	no_pins
	# What libbpf prints for the kernel is told by -v alone.
	exits 3 -v attach q0 --mode native
	complains '^libbpf: Kernel error message: veth: '
	exits 0 attach q0
	says 'q0 attached in skb mode'
	one_line_warning
	complains 'q0: the kernel refused XDP in its driver: "veth: .*rx queues .*"'
	lacks_advice_of_mode
	exits 0 status
}

# libxdp's dispatcher without frags is refused by a peer with a large MTU; our own link is not.
t_mtu_of_the_peer()
{
	exits 0 attach x0
	is_dispatched x0 || skip "our own link takes frames in several buffers"
	ctl detach x0
	ip -n "$client" link set x0 mtu 9000
	exits 3 attach x0 --mode native
	one_line
	complains 'x0: the kernel refused native mode: ".*Peer MTU.*; lower the MTU of its peer or use --mode skb$'
	exits 0 attach x0
	one_line_warning
	complains 'Peer MTU'
	lacks_advice_of_mode
}

# Auto has chosen already.
lacks_advice_of_mode() { ! grep -q -e --mode "$T/err" || fail "advice of a mode: $(cat "$T/err")"; }

# Its members call the program by their own numbers.
t_bond()
{
	ip -n "$server" link add b0 type bond 2>/dev/null || skip "no bonds here"
	exits 3 attach b0 --mode native
	one_line
	complains 'b0: .*; filter its members or use --mode skb$'
	no_xdp b0
	no_pins
	exits 0 attach b0
	says 'b0 attached in skb mode'
	one_line_warning
	complains 'b0: .*; filter its members; b0 is protected in skb mode'
	exits 0 attach b0
	exits 0 status
}

# A bond counts it, and drops it before a program is called: nothing is wrong with the filter.
t_what_a_backup_member_receives()
{
	local name before more

	ip -n "$server" link add b0 type bond mode active-backup miimon 100 2>/dev/null || skip "no bonds here"
	for name in m1 m2; do
		ip link add $name netns "$server" type veth peer name $name netns "$client"
		ip -n "$client" link set $name up
		ip -n "$server" link set $name master b0
	done
	ip -n "$server" link set b0 type bond primary m1
	ip -n "$server" link set b0 up
	wait_for "the active member" is_active m1
	exits 0 attach b0
	ip -n "$client" addr add 10.99.0.2/24 dev m2
	ip -n "$client" neigh replace 10.99.0.1 lladdr "$(in_server cat /proc/net/bonding/b0 | sed -n 's/^Permanent HW addr: //p' | head -n 1)" dev m2
	in_client ping -q -i 0.05 10.99.0.1 >"$T/pings" 2>&1 &
	before=$(received b0)
	for more in 10 20 30 40; do
		wait_for "packets that the bond counts" has_received b0 $((before + more))
		exits 0 status
	done
}

is_active() { ip -n "$server" -d link show b0 | contains "active_slave $1 "; }
received() { ip -n "$server" -j -s link show "$1" | of_json 'd[0]["stats64"]["rx"]["packets"]'; }
has_received() { [[ $(received "$1") -ge $2 ]]; }

# away_at POINT COMMAND...: while it stands there, the link goes away, and it comes back 0.4 s after it goes on.
away_at()
{
	stands_at "$@"
	ip -n "$client" link set x0 down
	kill -CONT "$paused"
	sleep 0.4
	ip -n "$client" link set x0 up
	wait "$paused" || fail "$*: $(cat "$T/paused.err")"
	mv "$T/paused.out" "$T/out"
}

# As some drivers do; how long it was away is waited for and told.
t_link_that_goes_away()
{
	exits 0 -j attach x0
	json '"link_away_microseconds" not in d["interfaces"][0]'
	exits 0 -j detach x0
	json 'd["detached"] and "interfaces" not in d'
	away_at commit-before:2 -j attach x0
	has_xdp x0 || fail "not attached"
	json '300000 < d["interfaces"][0]["link_away_microseconds"] < 10000000'
	away_at commit-before:2 -j detach x0
	no_xdp x0
	json 'd["interfaces"][0]["name"] == "x0" and 300000 < d["interfaces"][0]["link_away_microseconds"] < 10000000'
}

one_line_warning()
{
	[[ $(wc -l <"$T/err") -eq 1 ]] || fail "not one line: $(cat "$T/err")"
	complains 'warning: .*skb mode'
}

t_detach_restores()
{
	local before

	before=$(ip -n "$server" -d link show x0)
	ctl add 10.77.0.3
	ctl attach x0
	ctl rotate
	exits 0 detach x0
	no_xdp x0
	no_pins
	[[ $(ip -n "$server" -d link show x0) == "$before" ]] || fail "x0 is not as it was"
	[[ -z $(find "$counters" -type f -size +0 2>/dev/null) ]] || fail "counters stay: $(ls "$counters")"
	passes 10.77.0.3
	exits 1 detach x0
	one_line
	complains 'x0 is not attached'
}

# Their packets begin with an IP header, or XDP sees none of them: attached, they would pass unjudged.
t_devices_that_cannot_be_filtered()
{
	ctl add 198.51.100.1
	ip -n "$server" tuntap add dev t0 mode tun
	ip -n "$server" tuntap add dev e0 mode tap
	# Loaded by itself, the module gives the machine two of them.
	modprobe -q ifb numifbs=0 || true
	ip -n "$server" link add i0 type ifb
	ctl allow list >"$T/before"
	exits 2 attach t0
	complains '^bloomctl: t0: packets of this device \(tun\) have no Ethernet header, .* instead$'
	exits 2 attach x0 t0 --mode skb
	exits 2 attach t0 --rollback 60
	exits 2 attach i0
	complains '^bloomctl: i0: XDP sees no packet on ifb devices; filter the interface'
	no_xdp t0
	no_xdp i0
	no_xdp x0
	ctl allow list | diff "$T/before" -
	exits 0 attach e0 lo --mode skb
	# Those that were Ethernet when they were attached.
	exits 0 status
	in_server python3 -c '
import fcntl, struct
tap = open("/dev/net/tun", "rb+", buffering=0)
fcntl.ioctl(tap, 0x400454ca, struct.pack("16sH22x", b"e0", 0x1002))  # TUNSETIFF: IFF_TAP, IFF_NO_PI
fcntl.ioctl(tap, 0x400454cd, 65534)  # TUNSETLINK: ARPHRD_NONE'
	exits 3 status
	says 'unfiltered: e0: packets of this device'
	exits 0 attach x0
	ip -n "$server" link del e0
	ip -n "$server" tuntap add dev e0 mode tun
	exits 3 up
	complains 'e0: packets of this device'
	exits 3 status
	says 'e0'
}

run_tests
