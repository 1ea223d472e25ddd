#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Interfaces: modes, refusals, and how they are left.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

has_xdp() { ip -n "$server" -d link show "$1" | grep -q 'prog/xdp\|xdpgeneric\|xdpdrv\|xdpoffload'; }

no_xdp() { ! has_xdp "$1" || fail "$1 has an XDP program: $(ip -n "$server" -d link show "$1" | head -n 3)"; }

no_pins() { [[ -z $(find "$pins" -mindepth 1 2>/dev/null) ]] || fail "pins stay: $(find "$pins" -mindepth 1)"; }

make_foreign()
{
	in_server ip link set dev x0 xdpdrv obj "$XB_TEST_DIR/bin/pass.bpf.o" sec xdp ||
		skip "ip cannot load an XDP object here"
}

program_on() { ip -n "$server" -d link show "$1" | grep -o 'prog/xdp id [0-9]*'; }

t_native()
{
	exits 0 attach x0 --mode native
	says 'x0 attached in native mode'
	ip -n "$server" -d link show x0 | grep -q ' xdp ' || fail "not in native mode"
	ctl add 10.77.0.3
	blocked 10.77.0.3
	passes 10.77.0.2
	exits 0 -j status
	json 'd["ok"] and d["interfaces"][0]["mode"] == "native"'
}

t_skb()
{
	exits 0 attach x0 --mode skb
	says 'x0 attached in skb mode'
	ip -n "$server" -d link show x0 | grep -q xdpgeneric || fail "not in skb mode"
	ctl add 10.77.0.3
	blocked 10.77.0.3
	passes 10.77.0.2
	exits 0 -j status
	json 'd["interfaces"][0]["mode"] == "skb"'
}

t_auto()
{
	exits 0 -j attach x0
	json 'd["interfaces"] == [{"name": "x0", "mode": "native"}]'
	[[ ! -s $T/err ]] || fail "a warning: $(cat "$T/err")"
}

t_change_of_mode()
{
	ctl add 10.77.0.3
	ctl attach x0 --mode skb
	exits 0 attach x0 --mode native
	blocked 10.77.0.3
	exits 0 -j status
	json 'd["interfaces"][0]["mode"] == "native"'
}

t_attach_twice()
{
	ctl add 10.77.0.3
	ctl attach x0
	exits 0 attach x0
	blocked 10.77.0.3
	exits 0 status
	exits 0 detach x0
	no_xdp x0
	no_pins
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

t_all_or_nothing()
{
	exits 2 attach x0 nosuch0
	one_line
	complains 'nosuch0: no such interface'
	no_xdp x0
	no_pins
	exits 0 -j status
	json 'd["interfaces"] == []'
}

t_all_or_nothing_late()
{
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

t_too_few_queues_native()
{
	few_queues
	exits 3 attach q0 --mode native
	one_line
	complains 'q0: .*queues'
	no_xdp q0
	no_pins
}

t_too_few_queues_auto()
{
	few_queues
	exits 0 attach q0
	says 'q0 attached in skb mode'
	one_line_warning
	exits 0 status
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

t_interface_deleted()
{
	ctl attach x0
	ctl add 10.77.0.3
	exits 0 status
	ip -n "$server" link del x0
	exits 3 status
	says 'PROBLEM.*x0 is unfiltered: missing'
	exits 3 up
	join x0 0
	address x0
	exits 3 status
	exits 0 up
	exits 0 status
	blocked 10.77.0.3
	passes 10.77.0.2
}

t_interface_renamed()
{
	ctl attach x0
	ctl add 10.77.0.3
	ip -n "$server" link set x0 down
	ip -n "$server" link set x0 name y0
	ip -n "$server" link set y0 up
	address y0 2>/dev/null || true
	passes 10.77.0.2
	blocked 10.77.0.3
}

# Their packets begin with an IP header, or XDP sees none of them: attached, they would pass unjudged.
t_devices_that_cannot_be_filtered()
{
	ctl add 198.51.100.1
	ip -n "$server" tuntap add dev t0 mode tun
	ip -n "$server" tuntap add dev e0 mode tap
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

t_interface_down_and_up()
{
	ctl attach x0
	ctl add 10.77.0.3
	ip -n "$server" link set x0 down
	ip -n "$server" link set x0 up
	address x0 2>/dev/null || true
	passes 10.77.0.2
	blocked 10.77.0.3
	exits 0 status
}

run_tests
