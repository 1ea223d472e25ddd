# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# Roots in which packages are installed: what is written in them goes to a layer of its own. For sourcing by run, which is
# in a mount namespace; all of it goes with that.

# layer NAME LOWER [UPPER]: mounts a root at $scratch/NAME, over LOWER (directories, the topmost first, with colons
# between). What is written goes to UPPER, or to memory.
layer()
{
	local root=$scratch/$1 upper=${3:-$scratch/$1.written}

	mkdir -p "$root" "$upper" "$upper.work"
	mount -t overlay overlay -o "lowerdir=$2,upperdir=$upper,workdir=$upper.work" "$root"
}

# enter ROOT [--net] COMMAND...: runs the command there as the first process of namespaces of its own; with --net without
# this machine's network.
enter()
{
	local root=$1 net=()

	shift
	[[ $1 != --net ]] || { net=(--net) && shift; }
	# shellcheck disable=SC2016
	unshare --mount --pid --fork --kill-child "${net[@]}" bash -euc '
		root=$1 scratch=$2
		shift 2
		mount -t proc proc "$root/proc"
		if ! mount -t sysfs sysfs "$root/sys" 2>/dev/null; then mount --rbind /sys "$root/sys"; fi
		mount -t bpf bpf "$root/sys/fs/bpf"
		mount --rbind /dev "$root/dev"
		mount -t tmpfs run "$root/run"
		mount -t tmpfs tmp "$root/tmp"
		chmod 1777 "$root/tmp"
		mount -t tmpfs mnt "$root/mnt"
		show() { [ ! -d "$1" ] || { mkdir "$root/mnt/$2" && mount --bind "$1" "$root/mnt/$2"; }; }
		show "$PWD" tree
		mount -o remount,bind,ro "$root/mnt/tree"
		show "$scratch/packages/former" former
		show "$scratch/packages/new" new
		show "$root.written" written
		exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root chroot "$root" "$@"
	' bash "$root" "$scratch" "$@" </dev/null
}

# --- roots of releases ------------------------------------------------------------------------------

roots=build/package

# fresh RELEASE: the smallest that debootstrap makes, kept in $roots/RELEASE/base.
fresh()
{
	local base=$roots/$1/base

	[[ ! -d $base ]] || return 0
	rm -rf "$base.tmp"
	mkdir -p "$roots/$1"
	debootstrap --variant=minbase "$1" "$base.tmp" http://deb.debian.org/debian || return 1
	# Nothing is started, whatever is installed.
	printf '#!/bin/sh\nexit 101\n' >"$base.tmp/usr/sbin/policy-rc.d"
	chmod +x "$base.tmp/usr/sbin/policy-rc.d"
	mv "$base.tmp" "$base"
}

# with_compilers RELEASE: the same with what building and testing need, in $roots/RELEASE/builder; made anew if that changes.
with_compilers()
{
	local builder=$roots/$1/builder needs

	needs=$(cat scripts/setup packaging/debian/control | sha256sum)
	[[ $(cat "$builder/etc/needs" 2>/dev/null) != "$needs" ]] || return 0
	rm -rf "$builder" "$builder.tmp"
	cp -a "$roots/$1/base" "$builder.tmp"
	cp -L /etc/resolv.conf "$builder.tmp/etc/resolv.conf"
	enter "$builder.tmp" sh -euxc '/mnt/tree/scripts/setup --test && /mnt/tree/scripts/setup --package && apt-get clean' || return 1
	echo "$needs" >"$builder.tmp/etc/needs"
	mv "$builder.tmp" "$builder"
}

bring_roots() { fresh "$1" && with_compilers "$1"; }

# --- a machine with AppArmor ------------------------------------------------------------------------

# For a fleet, whose server is on that machine as well.
lay_secrets()
{
	(umask 077 && echo secret >"$1/fleet.password" && openssl rand -hex 32 >"$1/fleet.key") &&
		openssl req -x509 -newkey rsa:2048 -nodes -days 3650 -subj /CN=server -addext subjectAltName=IP:127.0.0.1 \
			-keyout "$1/tls.key" -out "$1/fleet.crt"
}

# The release's own kernel, and what bloomd has to do under its profile, in a root that can still be written.
prepare_machine()
{
	enter "$1" sh -euxc '
		export DEBIAN_FRONTEND=noninteractive
		apt-get -q install -y --no-install-recommends apparmor kmod procps redis-tools systemd \
			/mnt/new/xdp-bloom_*.deb /mnt/new/xdp-bloom-agent_*.deb
		mkdir -p /srv/kernel /modules
		cd /srv/kernel
		apt-get download "$(apt-cache depends linux-image-cloud-amd64 | sed -n "s/.*Depends: \(linux-image[^ ]*\).*/\1/p" | sed -n 1p)"
		dpkg-deb -x linux-image*.deb .
		find . -name "veth.ko*" -exec cp {} /modules \;
		xz -d /modules/*.xz || true
		apt-get clean
		rm -rf linux-image*.deb lib/modules usr/lib/modules /var/lib/apt/lists /usr/share/doc /usr/share/man' &&
		lay_secrets "$1/etc/xdp-bloom" &&
		cp "$1"/srv/kernel/boot/vmlinuz-* "$scratch/kernel" && rm -r "$1/srv/kernel" &&
		mkdir -p "$1/mnt/tree/tests" && cp -r tests/package "$1/mnt/tree/tests" &&
		ln -sf mnt/tree/tests/package/confined "$1/init" &&
		(cd "$1" && find . -xdev | cpio -o -H newc --quiet) >"$scratch/initramfs"
}

# confines NAME ROOT: the lines of tests/package/confined, in an emulated machine.
confines()
{
	timeout -k 10 "${XB_VM_TIMEOUT:-900}" qemu-system-x86_64 -machine q35 -accel "${XB_VM_ACCEL:-tcg}" -cpu Nehalem -smp 1 -m 2048 \
		-nographic -nodefaults -serial stdio -no-reboot -kernel "$scratch/kernel" -initrd "$scratch/initramfs" \
		-append "console=ttyS0 quiet mitigations=off norandmaps panic=-1 lsm=landlock,yama,apparmor,bpf xb.name=$1/confined" \
		</dev/null 2>&1 | sed -u 's/\r//g; s/^.*\(ok   package\)/\1/' | tee "$scratch/console" | sed -u -n -E '/^(ok  |FAIL|     \|) /p'
	grep -q '^VM-END' "$scratch/console" || {
		echo "FAIL $1/confined: the machine did not come to its end"
		tail -n 20 "$scratch/console" | sed 's/^/     | /'
	}
	grep -q '^VM-END ok' "$scratch/console"
}
