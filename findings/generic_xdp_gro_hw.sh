#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# virtio_net of Linux 6.1: what becomes of the offload rx-gro-hw when a program in generic mode comes and goes?
#
# Guessed: attaching turns the offload off, because a program is to see single frames; removing the program turns it on
# again, as it was.
# Seen: a program in the driver leaves the flag on. A program in generic mode turns it off, and after the removal it
# stays off, also when the link goes down and up. `ethtool -K DEVICE rx-gro-hw on` brings it back.
# So who tries a program in generic mode once has a slower card afterwards, and nothing says so.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=machine.bash
. "$(dirname "${BASH_SOURCE[0]}")/machine.bash"
bring bookworm linux-image-6.1.0-56-cloud-amd64=6.1.192-2 qemu-system-x86=1:7.2+dfsg-7+deb12u18+b3 \
	busybox-static=1:1.35.0-4+deb12u1+b1 iproute2=6.1.0-3 ethtool=1:6.1-1 clang-14=1:14.0.6-12
compile_programs xdp
wire=tap,ifname=card,script=no,downscript=no
saw virtio-net-pci <<'END'
look() { say "$1: $(ethtool -k card | grep rx-gro-hw)"; }
look "at first"
for kind in xdpdrv xdpgeneric; do
	ip link set dev card $kind obj pass.o sec xdp
	look "with $kind"
	ip link set dev card $kind off
	look "after $kind"
done
ip link set card down
ip link set card up
look "after down and up"
ethtool -K card rx-gro-hw on
look "after ethtool"
END
expect <<'END'
at first: rx-gro-hw: on
with xdpdrv: rx-gro-hw: on
after xdpdrv: rx-gro-hw: on
with xdpgeneric: rx-gro-hw: off
after xdpgeneric: rx-gro-hw: off
after down and up: rx-gro-hw: off
after ethtool: rx-gro-hw: on
END
