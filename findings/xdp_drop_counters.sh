#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Linux 6.12: in which counters of the interface (`ip -s link`, node_exporter) are packets that an XDP program drops?
#
# Guessed: a driver counts a packet that its XDP program drops as received or as dropped, and all drivers do the same;
# generic mode counts it as dropped, because the stack drops it.
# Seen for ten packets:
# - virtio_net in native mode counts each of them twice, in rx_packets and in rx_dropped;
# - virtio_net in generic mode, vmxnet3 and veth in both modes count them in rx_packets alone.
# So a dashboard of drops shows a flood that XDP drops on one card, and nothing at all on another one or in the other mode.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=machine.bash
. "$(dirname "${BASH_SOURCE[0]}")/machine.bash"
bring trixie linux-image-6.12.118+deb13-cloud-amd64=6.12.118-1 qemu-system-x86=1:10.0.13+ds-0+deb13u1 \
	busybox-static=1:1.37.0-6+b9 iproute2=6.15.0-1 ethtool=1:6.14.2-1 clang-19=1:19.1.7-3+b1
compile_programs xdp
cat >"$work/script" <<'END'
counters() { cat /sys/class/net/$1/statistics/rx_packets /sys/class/net/$1/statistics/rx_dropped; }
# dropped DEVICE PEER ADDRESS: which of its counters grow by ten packets from the peer that a program drops.
dropped()
{
	ip -n peer neigh replace $3 dev $2 lladdr $(cat /sys/class/net/$1/address) nud permanent
	driver=$(basename $(readlink /sys/class/net/$1/device/driver) 2>/dev/null)
	for kind in xdpdrv xdpgeneric; do
		ip link set dev $1 $kind obj drop.o sec xdp
		before=$(counters $1)
		ip netns exec peer ping -q -c 10 -i 0.2 -W 1 $3 >/dev/null
		say "${driver:-veth} $kind: $(echo $before $(counters $1) | awk '{ print "rx_packets", ($3 - $1 < 10 ? "no" : "yes") ", rx_dropped", ($4 - $2 < 10 ? "no" : "yes") }')"
		ip link set dev $1 $kind off
	done
}
dropped card peer 10.9.0.1
ip link add v type veth peer name w netns peer
ip address add 10.10.0.1/24 dev v
ip -n peer address add 10.10.0.2/24 dev w
ip link set v up
ip -n peer link set w up
[ "$driver" = vmxnet3 ] || dropped v w 10.10.0.1
END
saw virtio-net-pci <"$work/script"
saw vmxnet3 <"$work/script"
expect <<'END'
virtio_net xdpdrv: rx_packets yes, rx_dropped yes
virtio_net xdpgeneric: rx_packets yes, rx_dropped no
veth xdpdrv: rx_packets yes, rx_dropped no
veth xdpgeneric: rx_packets yes, rx_dropped no
vmxnet3 xdpdrv: rx_packets yes, rx_dropped no
vmxnet3 xdpgeneric: rx_packets yes, rx_dropped no
END
