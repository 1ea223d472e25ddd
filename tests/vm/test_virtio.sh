#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A network card of QEMU, virtio-net. Linux 6.1 takes no program off it while the MTU is above 4064: everything passes
# all the same, and detach --force or a smaller MTU takes it off.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/../e2e/lib.sh"
. "$root/tests/e2e/interfaces.sh"

# QEMU's user network; it answers pings to the router.
router=10.0.2.2

answers() { in_server ping -q -n -c 1 -W $((2 * patience)) $router >/dev/null 2>&1 || fail "no answer of $router"; }
is_shut() { ! in_server ping -q -n -c 1 -W 0.5 $router >/dev/null 2>&1 || fail "$router gets through"; }
set_mtu() { ip -n "$server" link set eth0 mtu "$1"; }

# begin_with_card [MODE]: the card goes to the server, and comes back with the end of its namespace, as the test before has left it.
begin_with_card()
{
	ip link set eth0 netns "$server" 2>/dev/null || skip "no card here"
	set_mtu 1500
	ip -n "$server" link set dev eth0 xdp off
	ip -n "$server" addr add 10.0.2.15/24 dev eth0
	ip -n "$server" link set eth0 up
	answers
	exits 0 add $router
	exits 0 attach eth0 --mode "${1:-native}"
	is_shut
	set_mtu 9000
	is_shut
}

# Later kernels take the program off at any MTU.
is_kept()
{
	[[ -n $(program_on eth0) ]] || skip "this kernel took the program off"
	complains 'eth0: the kernel does not take the program off at MTU 9000 .*, so it stays and lets everything pass'
	answers
	exits 3 -j status
	json '[p["kind"] for p in d["problem_details"]] == ["left"]'
}

is_off()
{
	[[ -z $(program_on eth0) ]] || fail "the program is still there"
	answers
	exits 1 status
}

t_detach()
{
	begin_with_card
	exits 0 detach eth0
	is_kept
	exits 0 add 192.0.2.1
	answers
	set_mtu 1500
	exits 0 up
	is_off
	exits 0 attach eth0
	is_shut
}

# In any mode the filter would go to skb mode first, where the driver loses no frames at this MTU; it cannot.
t_detach_in_any_mode()
{
	begin_with_card auto
	exits 0 detach eth0
	cp "$T/err" "$T/said"
	is_kept
	! grep "is protected" "$T/said" || fail "that is not so"
}

t_detach_by_force()
{
	begin_with_card
	exits 0 detach --all
	is_kept
	exits 0 detach eth0 --force
	complains 'eth0 had the MTU 1500 instead of 9000 for [0-9.]+ s'
	is_off
	ip -n "$server" link show eth0 | contains ' mtu 9000 ' || fail "the MTU is another"
}

# Above 3494 Linux 6.1 loses frames in native mode, though it takes the MTU.
t_a_larger_mtu_asks_for_skb_mode()
{
	begin_with_card auto
	set_mtu 3600
	[[ $(uname -r) == 6.1.* ]] || skip "this kernel loses no frames"
	exits 3 -j status
	json '[p["kind"] for p in d["problem_details"]] == ["mode"]'
	exits 0 up
	complains 'eth0: virtio_net before Linux 6.3 loses frames .*; eth0 is protected in skb mode'
	ip -n "$server" -d link show eth0 | contains xdpgeneric || fail "it is in native mode"
	exits 0 status
	is_shut
	exits 0 detach eth0
	is_off
}

t_end_of_a_trial()
{
	begin_with_card
	set_mtu 1500
	exits 0 detach eth0
	is_off
	exits 0 attach eth0 --mode native --rollback 3
	is_shut
	set_mtu 9000
	sleep 3.5
	answers
	exits 0 add 192.0.2.1
	is_kept
	set_mtu 1500
	exits 0 up
	is_off
}

run_tests
