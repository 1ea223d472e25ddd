# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# Packages of a release and architecture of Debian that need not be those of this machine: apt with sources and a state
# of its own in build/vm/, of which nothing is installed. Everything is signed by Debian's keys. For sourcing by run.

mirror=${XB_DEBIAN_MIRROR:-http://deb.debian.org}
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# use_archive RELEASE ARCHITECTURE: apt with "${from_archive[@]}" knows its packages. For what this machine is itself, its
# own apt does.
use_archive()
{
	local suites

	from_archive=(-qq -o Acquire::Retries=3)
	[[ $1 != "$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)" ]] || is_foreign || return 0
	archive=$PWD/build/vm/archive-$1-$2
	mkdir -p "$archive"/{state/lists/partial,cache/archives/partial}
	: >"$archive/status"
	suites=("debian $1")
	[[ $1 == *-backports ]] || suites+=("debian $1-updates" "debian-security $1-security")
	printf "deb [signed-by=$keyring] $mirror/%s main\n" "${suites[@]}" >"$archive/sources.list"
	from_archive+=(-o "Dir::Etc::SourceList=$archive/sources.list" -o Dir::Etc::SourceParts=/dev/null
		-o "Dir::State=$archive/state" -o "Dir::State::status=$archive/status" -o "Dir::Cache=$archive/cache"
		-o "APT::Architecture=$2" -o "APT::Architectures=$2" -o APT::Sandbox::User=root)
}

# The package on which the newest of these kernels depends; or the newest that ^PATTERN matches, of a series that the
# release has left behind.
kernel_package()
{
	if [[ $1 == ^* ]]; then
		apt-cache "${from_archive[@]}" search --names-only "$1" | cut -d ' ' -f 1 | sort -V | tail -n 1
		return
	fi
	apt-cache "${from_archive[@]}" depends "$1" 2>/dev/null | awk '/Depends: linux-image/ {print $2; exit}' || true
}

# unpack FILE FOLDER: also where directories are links in the folder.
unpack() { dpkg-deb --fsys-tarfile "$1" | tar -x -C "$2" --keep-directory-symlink; }

# bring_kernel NAME: sets $kernel to where the kernel of the platform is unpacked that kernel_package finds by this name, and its
# modules.
bring_kernel()
{
	local package name=$1 log=$PWD/$out/kernel.log

	use_archive "$kernel_release" "$architecture"
	package=$(kernel_package "$name")
	if [[ -z $package || ! -d build/vm/kernel-$package ]]; then
		apt-get "${from_archive[@]}" update >"$log" 2>&1 || true
		package=$(kernel_package "$name")
		[[ -n $package ]] || give_up "kernel: $kernel_release has no $name: $(tail -n 1 "$log")"
	fi
	kernel=build/vm/kernel-$package
	[[ ! -d $kernel ]] || return 0
	rm -rf "$out/kernel.tmp"
	mkdir -p "$out/kernel.tmp/download"
	(cd "$out/kernel.tmp/download" && apt-get "${from_archive[@]}" download "$package") >"$log" 2>&1 ||
		give_up "kernel: cannot download $package: $(tail -n 1 "$log")"
	unpack "$out"/kernel.tmp/download/*.deb "$out/kernel.tmp" || give_up "kernel: cannot unpack $package"
	rm -rf "$out/kernel.tmp/download"
	find "$out/kernel.tmp" -name '*.ko.xz' -exec xz -d {} +
	mv "$out/kernel.tmp" "$kernel"
}

# bring_root PACKAGE...: sets $root to a folder with these packages, and those on which they depend, of the platform's
# architecture. None of their scripts runs. In $root/files/ stands what is of which package.
bring_root()
{
	local log=$PWD/$out/root.log stamp file name

	stamp=$(printf '%s ' "$@" | sha256sum | cut -c 1-16)
	root=$PWD/build/vm/root-$architecture-$stamp
	[[ ! -d $root ]] || return 0
	use_archive "$release" "$architecture"
	rm -rf "$root.tmp" "$archive/cache/archives"
	mkdir -p "$archive/cache/archives/partial" "$root.tmp"/{files,usr/{bin,sbin,lib}}
	for name in bin sbin lib; do
		ln -s "usr/$name" "$root.tmp/$name"
	done
	apt-get "${from_archive[@]}" update >"$log" 2>&1 &&
		apt-get "${from_archive[@]}" install -y --download-only --no-install-recommends "$@" >>"$log" 2>&1 ||
		give_up "root: cannot download packages: $(tail -n 1 "$log")"
	for file in "$archive"/cache/archives/*.deb; do
		unpack "$file" "$root.tmp" || give_up "root: cannot unpack $file"
		dpkg-deb --fsys-tarfile "$file" | tar -t | sed 's#^\.##' >"$root.tmp/files/$(basename "${file%%_*}")"
	done
	rm -rf "$archive/cache/archives"
	# For the compiler, whose root this is: links that begin at the root would leave it.
	find "$root.tmp/usr" -type l -lname '/*' | while IFS= read -r file; do
		ln -sfn "$(realpath -m --relative-to="$(dirname "$file")" "$root.tmp$(readlink "$file")")" "$file"
	done
	mv "$root.tmp" "$root"
}
