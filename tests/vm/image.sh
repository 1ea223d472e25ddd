# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# What a virtual machine boots: Debian's kernel in $out, its place in $kernel, and $out/initramfs. For sourcing by run.

# --- the kernel: a package of Debian's that is unpacked, not installed ------------------------------

kernel_package() { apt-cache depends linux-image-cloud-amd64 2>/dev/null | awk '/Depends: linux-image/ {print $2; exit}'; }

bring_kernel()
{
	local package log=$PWD/$out/kernel.log

	package=$(kernel_package)
	if [[ -z $package || ! -d $out/kernel-$package ]]; then
		apt-get -qq -o Acquire::Retries=3 update >"$log" 2>&1 || true
		package=$(kernel_package)
		[[ -n $package ]] || give_up "kernel: apt knows no linux-image-cloud-amd64: $(tail -n 1 "$log")"
	fi
	kernel=$out/kernel-$package
	[[ ! -d $kernel ]] || return 0
	rm -rf "$out/kernel.tmp"
	mkdir -p "$out/kernel.tmp/download"
	(cd "$out/kernel.tmp/download" && apt-get -o Acquire::Retries=3 download "$package") >"$log" 2>&1 ||
		give_up "kernel: cannot download $package: $(tail -n 1 "$log")"
	dpkg-deb -x "$out/kernel.tmp/download/"*.deb "$out/kernel.tmp" || give_up "kernel: cannot unpack $package"
	rm -rf "$out/kernel.tmp/download"
	mv "$out/kernel.tmp" "$kernel"
}

# --- the image: programs of this machine, the kernel's modules, and what is built here --------------

# Packages whose programs tests call.
packages=(bash dash coreutils kmod diffutils findutils grep mawk sed util-linux mount procps iproute2 iputils-ping ethtool
	bpftool xdp-tools libcap2-bin libc-bin dnsmasq-base isc-dhcp-client bind9-dnsutils tcpdump openssl curl python3-minimal python3.11-minimal)
# In the order they are loaded.
modules=(virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci virtio_blk failover net_failover virtio_net
	llc stp mrp garp 8021q bridge veth dummy sch_ingress cls_bpf inet_diag udp_diag tcp_diag)
# Of Python what no test imports.
unused='/(test|unittest|ensurepip|idlelib|lib2to3|pydoc_data|distutils|tkinter|config-[^/]*)/|/scapy/(contrib|modules)/'

bring_programs()
{
	local files=() binaries=() libraries=()

	# Of all of these, in the one place Debian 12 has for them.
	mapfile -t files < <(
		{
			dpkg -L "${packages[@]}" 2>/dev/null | grep -E '^(/usr)?/s?bin/.'
			printf "%s\n" /usr/bin/awk /usr/lib/ssl/openssl.cnf
			find /usr/lib/python3.11 /usr/lib/python3/dist-packages/scapy \
				/usr/lib/x86_64-linux-gnu/bpf -type f | grep -vE "$unused"
		} | sed -E 's#^/(s?bin)/#/usr/\1/#' | while IFS= read -r file; do [[ ! -f $file ]] || echo "$file"; done
	)
	# ldd starts several processes for each file, also for the thousands that are text.
	mapfile -t binaries < <(printf "%s\0" "${files[@]}" | xargs -0 grep -laP '\A\x7fELF' --)
	mapfile -t libraries < <(ldd "${binaries[@]}" build/bloomctl build/bloomd "${tests[@]}" 2>/dev/null |
		grep -o '[[:space:]]/[^ ]* (' | tr -d '\t (' | sed -E 's#^/lib#/usr/lib#' | sort -u)
	cp -L --parents "${files[@]}" "${libraries[@]}" "$image"
}

bring_modules()
{
	local name number=10

	mkdir "$image/modules"
	for name in "${modules[@]}"; do
		find "$kernel/lib/modules" -name "$name.ko" -exec cp {} "$image/modules/$number-$name.ko" \;
		number=$((number + 1))
	done
}

bring_tree()
{
	local tree=$image/xdp-bloom

	mkdir -p "$tree/tests" "$tree/bin" "$tree/prog"
	cp -r tests/e2e tests/support tests/vm tests/world "$tree/tests"
	cp -r include packaging "$tree"
	cp build/bloomctl build/bloomd build/bpf/pass.bpf.o "$tree/bin"
	cp build/fault/bloomctl "$tree/bin/bloomctl-fault"
	cp build/fault/bloomd "$tree/bin/bloomd-fault"
	[[ ${#tests[@]} -eq 0 ]] || cp "${tests[@]}" "$tree/prog"
	export XB_TEST_FEW XB_WORLD_STEPS XB_WORLD_SEED
	declare -p programs scripts chosen XB_TEST_FEW XB_WORLD_STEPS XB_WORLD_SEED >"$tree/choice"
}

make_image()
{
	local name

	rm -rf "$image"
	mkdir -p "$image"/{dev,proc,sys,tmp,run,root,etc,var/lib/dhcp,usr/{bin,sbin,lib,lib64}}
	for name in bin sbin lib lib64; do
		ln -s "usr/$name" "$image/$name"
	done
	printf 'root:x:0:0:root:/root:/bin/bash\nnobody:x:65534:65534::/:/bin/false\n' >"$image/etc/passwd"
	printf 'root:x:0:\nnogroup:x:65534:\n' >"$image/etc/group"
	# Who tcpdump becomes.
	grep -h '^tcpdump:' /etc/passwd >>"$image/etc/passwd" || true
	grep -h '^tcpdump:' /etc/group >>"$image/etc/group" || true
	: >"$image/etc/resolv.conf"
	bring_programs
	bring_modules
	bring_tree
	ln -s xdp-bloom/tests/vm/inside "$image/init"
	(cd "$image" && find . | cpio -o -H newc --quiet) >"$out/initramfs"
	rm -rf "$image"
}
