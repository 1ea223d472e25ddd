#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# virtio_net of Linux 6.1: up to which MTU do frames survive an XDP program in the driver, and when can it be removed?
#
# Guessed: the driver refuses a program above the MTU that its buffers hold, and a larger MTU while it has a program; a
# program can always be removed.
# Seen with a program that returns XDP_PASS:
# - 4064 is the largest MTU at which the driver takes the program, but of frames with more than 3494 bytes above
#   Ethernet none arrives;
# - while the program is attached, the driver takes an MTU of 9000;
# - there it refuses the removal of the program with the sentence for a new one, "MTU too large to enable XDP"; with a
#   smaller MTU the program can be removed.
# So who attaches to this driver must keep the MTU at 3494 or less, and may have to lower it in order to let go.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=machine.bash
. "$(dirname "${BASH_SOURCE[0]}")/machine.bash"
bring bookworm linux-image-6.1.0-56-cloud-amd64=6.1.192-2 qemu-system-x86=1:7.2+dfsg-7+deb12u18+b3 \
	busybox-static=1:1.35.0-4+deb12u1+b1 iproute2=6.1.0-3 ethtool=1:6.1-1 clang-14=1:14.0.6-12
compile_programs xdp
saw virtio-net-pci <<'END'
xdp() { ip link set dev card xdpdrv "$@" 2>&1 | tail -n 1; }
ip link set card mtu 9000
say "frames of 3600 bytes without a program: $(replies 3600) of 10"
ip link set card mtu 4065
say "program at MTU 4065: $(xdp obj pass.o sec xdp)"
ip link set card mtu 4064
say "program at MTU 4064: $(xdp obj pass.o sec xdp)"
say "frames of 3494 bytes: $(replies 3494) of 10"
say "frames of 3495 bytes: $(replies 3495) of 10"
ip link set card mtu 9000 && say "MTU 9000: taken"
say "removal at MTU 9000: $(xdp off)"
ip link set card mtu 1500
say "removal at MTU 1500: $(xdp off)"
END
expect <<'END'
frames of 3600 bytes without a program: 10 of 10
program at MTU 4065: Error: virtio_net: MTU too large to enable XDP.
program at MTU 4064: 
frames of 3494 bytes: 10 of 10
frames of 3495 bytes: 0 of 10
MTU 9000: taken
removal at MTU 9000: Error: virtio_net: MTU too large to enable XDP.
removal at MTU 1500: 
END
