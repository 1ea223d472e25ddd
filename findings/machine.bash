# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# For sourcing by the findings that need a network card: a machine in QEMU, all of it from Debian's archive, pinned, in
# a temporary folder. Needs root, apt and 2 GB in $TMPDIR; installs nothing.

export LC_ALL=C
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root

fail() { echo "CHANGED: $*"; exit 1; }

# bring RELEASE PACKAGE=VERSION...: unpacks them, and what they depend on, below $root; no script of theirs runs.
bring()
{
	local release=$1 state=$work/apt name file options

	shift
	mkdir -p "$state"/{lists/partial,cache/archives/partial} "$root"/{usr/{bin,sbin,lib,lib64},tmp,boot}
	for name in bin sbin lib lib64; do ln -s "usr/$name" "$root/$name"; done
	: >"$state/status"
	printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/%s main\n' \
		"debian $release" "debian $release-updates" "debian-security $release-security" >"$state/sources"
	options=(-qq -o "Dir::Etc::SourceList=$state/sources" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State=$state"
		-o "Dir::State::status=$state/status" -o "Dir::Cache=$state/cache" -o APT::Sandbox::User=root
		-o APT::Architecture=amd64 -o APT::Architectures=amd64)
	apt-get "${options[@]}" update >"$work/log" 2>&1 &&
		apt-get "${options[@]}" install -y --download-only --no-install-recommends "$@" >>"$work/log" 2>&1 || {
		tail -n 3 "$work/log"
		fail "the archive does not have these versions"
	}
	for file in "$state"/cache/archives/*.deb; do
		dpkg-deb --fsys-tarfile "$file" | tar -x -C "$root" --keep-directory-symlink
	done
	rm -rf "$state"
}

# boot QEMU-WORDS... <SCRIPT: prints what the script, run by busybox as the first process, prints. The card that is
# tried is "card", and "peer", in the namespace peer, is at the other end of its wire.
boot()
{
	local image=$root/image modules file

	modules=$(echo "$root"/lib/modules/*)
	rm -rf "$image"
	mkdir -p "$image"/{bin,usr/lib,proc,sys,run/netns}
	ln -s usr/lib "$image/lib64"
	ln -s usr/lib "$image/lib"
	cp "$root/bin/busybox" "$image/bin"
	cp "$root/sbin/ip" "$root/sbin/ethtool" "$image/usr"
	for file in ip ethtool; do
		chroot "$root" /lib64/ld-linux-x86-64.so.2 --list "/usr/sbin/$file"
	done | grep -o '/[^ ]*' | sort -u | while IFS= read -r file; do
		cp -L "$root$file" "$image/usr/lib"
	done
	mkdir -p "$image${modules#"$root"}"
	find "$modules" -name '*.ko*' \( -path '*/virtio*' -o -path '*/net/core/*' -o -name 'net_failover*' -o -name 'vmxnet3*' \
		-o -name 'failover*' -o -name 'veth*' -o -name 'bonding*' -o -name 'tls.ko*' \) -exec cp {} "$image${modules#"$root"}" \;
	find "$image" -name '*.xz' -exec xz -d {} +
	chroot "$root" busybox depmod -b /image "$(basename "$modules")"
	cp "$root"/{pass,drop}.o "$image"
	{
		cat <<-'END'
			#!/bin/busybox sh
			/bin/busybox --install -s /bin
			export PATH=/bin LD_LIBRARY_PATH=/usr/lib
			ip() { /usr/ip "$@"; } # busybox has one of its own
			ethtool() { /usr/ethtool "$@"; }
			mount -t proc proc /proc
			mount -t sysfs sys /sys
			mount -t tmpfs run /run
			mkdir -p /run/netns
			modprobe virtio_pci
			modprobe virtio_net
			modprobe vmxnet3
			modprobe veth
			echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6
			echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
			called() { grep -l "$1" /sys/class/net/*/address | cut -d / -f 5; }
			ip link set "$(called 52:54:00:00:00:01)" name card
			ip netns add peer
			ip link set "$(called 52:54:00:00:00:02)" name peer netns peer
			ip address add 10.9.0.1/24 dev card
			ip -n peer address add 10.9.0.2/24 dev peer
			ip link set card up
			ip -n peer link set peer mtu 9000 up
			# replies BYTES: how many of ten pings, in frames with so many bytes above Ethernet, are answered.
			replies() { ip netns exec peer ping -c 10 -i 0.2 -W 1 -s $(($1 - 28)) 10.9.0.1 | sed -n 's/.* \([0-9]*\) packets received.*/\1/p'; }
			say() { echo "=== $*"; }
		END
		cat
		echo "echo o >/proc/sysrq-trigger; sleep 60"
	} >"$image/init"
	chmod +x "$image/init"
	chroot "$root" /bin/busybox sh -c 'cd /image && find . | cpio -o -H newc >/initramfs' 2>/dev/null
	# The wire is a hub in QEMU, or, for offloads, which a hub has not, a tap device that leads nowhere.
	mkdir -p "$root/dev/net"
	[[ -e $root/dev/net/tun ]] || mknod "$root/dev/net/tun" c 10 200
	timeout 600 unshare -n chroot "$root" /usr/bin/qemu-system-x86_64 -machine q35 -accel tcg -cpu Nehalem -m 512 -nographic -nodefaults \
		-serial stdio -no-reboot -netdev "${wire:-hubport,hubid=0},id=card" -netdev hubport,id=peer,hubid=0 \
		-device "$1,netdev=card,mac=52:54:00:00:00:01,romfile=" \
		-device virtio-net-pci,netdev=peer,mac=52:54:00:00:00:02,romfile= \
		-kernel "/boot/$(basename "$root"/boot/vmlinuz-*)" -initrd /initramfs \
		-append "console=ttyS0 quiet panic=-1 net.ifnames=0 mitigations=off" </dev/null 2>&1 | tr -d '\r' | tee "$work/console" | sed -n 's/.*=== //p'
}

# saw QEMU-WORDS <SCRIPT: boots it, shows what the script says, and remembers it for expect.
saw() { boot "$@" | tee -a "$work/seen"; }

# expect <LINES: that is what the scripts have said.
expect()
{
	diff - "$work/seen" || fail "< is what was seen before"
	echo "as before"
}

# send_from_twenty: one UDP packet from each of 127.0.0.1 to 127.0.0.20, over lo of this namespace; prints what the kernel
# logs meanwhile.
send_from_twenty()
{
	python3 - <<-'END'
		import os, socket
		log = os.open("/dev/kmsg", os.O_RDONLY | os.O_NONBLOCK)
		os.lseek(log, 0, os.SEEK_END)
		for number in range(1, 21):
		    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as source:
		        source.bind((f"127.0.0.{number}", 0))
		        source.sendto(b"packet", ("127.0.0.100", 9))
		try:
		    while True:
		        print(os.read(log, 8192).decode().split(";", 1)[1], end="")
		except BlockingIOError:
		    pass
	END
}

# compile_programs SECTION: pass.o and drop.o, which do that with every frame, by the clang that was brought.
compile_programs()
{
	local compiler verdict

	compiler=$(basename "$(ls "$root"/usr/bin/clang-[0-9]*)")
	for verdict in drop pass; do
		cat >"$root/$verdict.c" <<-END
			__attribute__((section("$1"), used)) int filter(void *context)
			{
				return $([[ $verdict == drop ]] && echo 1 || echo 2);
			}
			__attribute__((section("license"), used)) char terms[] = "GPL";
		END
		chroot "$root" "/usr/bin/$compiler" -target bpf -O2 -c "/$verdict.c" -o "/$verdict.o"
	done
}
