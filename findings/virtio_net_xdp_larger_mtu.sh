#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# virtio_net of Linux 6.12, a program for frames in several buffers (xdp.frags): what becomes of large frames when the
# MTU grows while the program is attached?
#
# Guessed: the driver makes its buffers anew for the larger MTU, or they do for it, as a frame may have several.
# Seen with a program that returns XDP_PASS:
# - MTU 1500, program attached, MTU 9000: of 180 frames with 9000 bytes most are lost (154 once), until the buffers that
#   were ready before are used up; the driver counts them in rx_xdp_drops, though the program drops none;
# - MTU 9000 first, then the program: none of 120 is lost, also after 2,300 small packets;
# - without a program none is lost.
# So who raises the MTU of such an interface does it before a program is attached.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=machine.bash
. "$(dirname "${BASH_SOURCE[0]}")/machine.bash"
bring trixie linux-image-6.12.118+deb13-cloud-amd64=6.12.118-1 qemu-system-x86=1:10.0.13+ds-0+deb13u1 \
	busybox-static=1:1.37.0-6+b9 iproute2=6.15.0-1 ethtool=1:6.14.2-1 clang-19=1:19.1.7-3+b1
compile_programs xdp.frags
saw virtio-net-pci <<'END'
# send COUNT SIZE: how many frames were lost.
send() { echo $(($1 - $(ip netns exec peer ping -q -c $1 -i 0.03 -W 1 -s $(($2 - 28)) 10.9.0.1 | sed -n 's/.* \([0-9]*\) packets received.*/\1/p'))); }
few() { [ $1 -eq 0 ] && echo none || { [ $1 -lt 60 ] && echo some || echo many; }; }
send 300 88 >/dev/null
ip link set dev card mtu 9000
say "lost without a program: $(few $(send 60 9000))"
ip link set dev card mtu 1500
send 300 88 >/dev/null
ip link set dev card xdpdrv obj pass.o sec xdp.frags
send 300 88 >/dev/null
ip link set dev card mtu 9000
lost=$(send 180 9000)
say "lost after the MTU grew: $(few $lost)"
[ $(ethtool -S card | sed -n 's/^ *rx_xdp_drops: //p') -eq $lost ] && say "rx_xdp_drops has as many"
ip link set dev card xdpdrv off
ip link set dev card mtu 1500
send 300 88 >/dev/null
ip link set dev card mtu 9000
ip link set dev card xdpdrv obj pass.o sec xdp.frags
say "lost when the MTU was there before: $(few $(send 60 9000))"
send 2000 88 >/dev/null
say "lost after small packets: $(few $(send 60 9000))"
END
expect <<'END'
lost without a program: none
lost after the MTU grew: many
rx_xdp_drops has as many
lost when the MTU was there before: none
lost after small packets: none
END
