#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# bonding of Linux 6.12: what becomes of packets that a backup member of a bond (active-backup) receives?
#
# Guessed: the bond drops them, and its rx_packets has what it took, as that of a bridge or a VLAN has.
# Seen: the bond drops them, but its rx_packets has them, since the bond adds up what its members count. Only rx_nohandler,
# of the bond and of the member, tells how many of rx_packets went nowhere; rx_dropped stays as it was.
# So who compares rx_packets of a bond with what came out of it, such as what a program on the bond saw, misses packets,
# and nothing is wrong.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=machine.bash
. "$(dirname "${BASH_SOURCE[0]}")/machine.bash"
bring trixie linux-image-6.12.118+deb13-cloud-amd64=6.12.118-1 qemu-system-x86=1:10.0.13+ds-0+deb13u1 \
	busybox-static=1:1.37.0-6+b9 iproute2=6.15.0-1 ethtool=1:6.14.2-1 clang-19=1:19.1.7-3+b1
compile_programs xdp
saw virtio-net-pci <<'END'
modprobe bonding max_bonds=0
ip link add first type veth peer name end1 netns peer
ip link add second type veth peer name end2 netns peer
ip link add bond type bond mode active-backup miimon 100
ip link set first master bond
ip link set second master bond
ip link set bond type bond primary first
ip address flush dev card
ip address add 10.8.0.1/24 dev bond
ip link set bond up
ip -n peer link set end1 up
ip -n peer link set end2 up
ip -n peer address add 10.8.0.2/24 dev end2
until [ "$(cat /sys/class/net/bond/bonding/active_slave)" = first ]; do sleep 1; done
ip -n peer neighbour add 10.8.0.1 lladdr $(cat /sys/class/net/bond/address) dev end2
of() { cat /sys/class/net/$1/statistics/$2; }
set -- $(of bond rx_packets) $(of bond rx_dropped) $(of bond rx_nohandler) $(of second rx_nohandler)
answers=$(ip netns exec peer ping -c 10 -i 0.2 -W 1 10.8.0.1 | sed -n 's/.* \([0-9]*\) packets received.*/\1/p')
more() { [ $(($(of $1 $2) - $3)) -ge 10 ] && echo has them || echo has not; }
say "answers to ten packets for the backup member: $answers"
say "bond: rx_packets $(more bond rx_packets $1), rx_dropped $(more bond rx_dropped $2), rx_nohandler $(more bond rx_nohandler $3)"
say "the member: rx_nohandler $(more second rx_nohandler $4)"
END
expect <<'END'
answers to ten packets for the backup member: 0
bond: rx_packets has them, rx_dropped has not, rx_nohandler has them
the member: rx_nohandler has them
END
