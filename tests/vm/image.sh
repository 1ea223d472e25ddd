# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# What a virtual machine boots with its kernel: $out/initramfs. For sourcing by run.

# The programs come from this machine, or from $root, the modules with the kernel; the rest is built here.

# Packages whose programs tests call.
packages=(bash dash coreutils kmod diffutils findutils grep mawk sed util-linux mount procps iproute2 iputils-ping ethtool
	bpftool xdp-tools libcap2-bin libc-bin dnsmasq-base isc-dhcp-client bind9-dnsutils publicsuffix tcpdump openssl curl python3-minimal python3.11-minimal)
# What else a root of another architecture needs for what is built, and for Python.
libraries=(libc6-dev linux-libc-dev libbpf-dev libxdp-dev libelf-dev zlib1g-dev libzstd-dev liblmdb-dev libjansson-dev libmnl-dev
	libexpat1-dev libidn2-dev libldns-dev libncurses-dev libsystemd-dev libinih-dev libmicrohttpd-dev libcurl4-openssl-dev libseccomp-dev libssl-dev
	libcmocka-dev libpython3.11-stdlib)
# In the order they are loaded.
modules=(virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci virtio_blk failover net_failover virtio_net
	llc stp mrp garp 8021q bridge veth dummy tun ifb sch_ingress cls_bpf inet_diag udp_diag tcp_diag
	tls bonding)
# What the machine starts.
init=tests/vm/inside
# Of Python what no test imports.
unused='/(test|unittest|ensurepip|idlelib|lib2to3|pydoc_data|distutils|tkinter|config-[^/]*)/'

# What is in these packages.
package_files()
{
	if [[ -z $root ]]; then
		dpkg -L "$@" 2>/dev/null
	else
		cat "${@/#/$root/files/}"
	fi
}

# The files that tests call or read, in the one place Debian 12 has for them.
program_files()
{
	{
		package_files "${packages[@]}" | grep -E '^(/usr)?/s?bin/.'
		printf "%s\n" /usr/bin/awk /usr/lib/ssl/openssl.cnf /usr/share/publicsuffix/public_suffix_list.dat
		(cd "$root/" && find usr/lib/python3.11 "usr/lib/$machine_type-linux-gnu/bpf" -type f) | sed 's#^#/#' | grep -vE "$unused"
	} | sed -E 's#^/(s?bin)/#/usr/\1/#' | while IFS= read -r file; do [[ ! -f $root$file ]] || echo "$file"; done
}

# needed FILE...: the names of the libraries that these of the root ask for, as far as they are there.
needed() { (cd "$root" && readelf -d "$@" 2>/dev/null || true) | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' | sort -u; }

# root_libraries FILE...: of these, and of the libraries themselves, as far as the root has them. Nothing here can ask
# its loader.
root_libraries()
{
	local found='' more name files

	more=$(needed "$@")
	while [[ -n $more ]]; do
		found=$(printf '%s\n' "$found" "$more" | sort -u)
		mapfile -t files <<<"$found"
		more=$(needed "${files[@]/#/$root/usr/lib/$machine_type-linux-gnu/}")
		more=$(comm -13 <(echo "$found") <(echo "$more"))
	done
	for name in $found; do
		[[ ! -e $root/usr/lib/$machine_type-linux-gnu/$name ]] || echo "/usr/lib/$machine_type-linux-gnu/$name"
	done
	(cd "$root" && ls usr/lib/ld-linux*) | sed 's#^#/#'
}

# library_files FILE...: the libraries of these, and of what is built.
library_files()
{
	local own=("$built"/{bloomctl,bloomd} "${tests[@]}") binaries

	# ldd starts several processes for each file, also for the thousands that are text.
	mapfile -t binaries < <(cd "$root/" && printf '%s\0' "${@#/}" | xargs -0 grep -laP '\A\x7fELF' --)
	if [[ -n $root ]]; then
		root_libraries "${own[@]/#/$PWD/}" "${binaries[@]}"
	else
		ldd "${binaries[@]/#//}" "${own[@]}" 2>/dev/null |
			grep -o '[[:space:]]/[^ ]* (' | tr -d '\t (' | sed -E 's#^/lib#/usr/lib#' | sort -u
	fi
}

bring_programs()
{
	local files=()

	mapfile -t files < <(program_files)
	mapfile -t -O "${#files[@]}" files < <(library_files "${files[@]}")
	(cd "$root/" && cp -L --parents "${files[@]#/}" "$OLDPWD/$image")
	# An alternative where packages are installed.
	[[ -e $image/usr/bin/awk ]] || ln -s mawk "$image/usr/bin/awk"
}

bring_modules()
{
	local name number=10

	mkdir "$image/modules"
	for name in "${modules[@]}"; do
		find "$kernel" -name "$name.ko" -exec cp {} "$image/modules/$number-$name.ko" \;
		number=$((number + 1))
	done
}

bring_tree()
{
	local tree=$image/xdp-bloom

	mkdir -p "$tree/tests" "$tree/bin" "$tree/programs"
	cp -r tests/e2e tests/support tests/vm tests/world "$tree/tests"
	cp -r --parents tests/prog/verdicts include packaging "$tree"
	cp "$built"/{bloomctl,bloomd,bpf/pass.bpf.o} "$tree/bin"
	cp "$built/fault/bloomctl" "$tree/bin/bloomctl-fault"
	cp "$built/fault/bloomd" "$tree/bin/bloomd-fault"
	[[ ${#programs[@]} -eq 0 ]] || (cd "$built/tests" && cp --parents "${programs[@]}" "$OLDPWD/$tree/programs")
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
	ln -s "xdp-bloom/$init" "$image/init"
	(cd "$image" && find . | cpio -o -H newc --quiet) >"$out/initramfs"
	rm -rf "$image"
}
