#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# dnsmasq 2.90 (Debian 12): does an address of a name keep out what a wider domain has?
#
# Guessed: yes. dnsmasq(8) says of --address that domains work as for --server, where the more specific one counts, and that since
# 2.86 a query for the other kind of address is sent upstream.
# Seen: only among addresses of one family. Beside `address=/wide.example/2001:db8::9`, a query for the IPv6 address of a name with
# `address=/name.wide.example/0.0.0.0` is answered with 2001:db8::9. With no wider line it goes upstream (here there is nobody, so
# it is refused).
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=machine.bash
. "$(dirname "${BASH_SOURCE[0]}")/machine.bash"
bring bookworm dnsmasq-base=2.90-4~deb12u2 bind9-host=1:9.18.49-1~deb12u3
mkdir -p "$root/dev" "$root/etc"
mknod "$root/dev/null" c 1 3
mknod "$root/dev/urandom" c 1 9
echo root:x:0:0::/:/bin/sh >"$root/etc/passwd"
echo root:x:0: >"$root/etc/group"
cat >"$root/tmp/conf" <<-END
	listen-address=127.0.0.1
	bind-interfaces
	user=root
	group=root
	pid-file=
	no-resolv
	no-hosts
	address=/wide.example/2001:db8::9
	address=/name.wide.example/0.0.0.0
	address=/name.test/0.0.0.0
END

# shellcheck disable=SC2016 # the shell in the namespace expands it
said=$(unshare -n bash -c '
	ip link set lo up
	chroot "$1" /usr/sbin/dnsmasq --keep-in-foreground --conf-file=/tmp/conf >"$1/tmp/log" 2>&1 &
	trap "kill $!" EXIT
	for query in "A name.wide.example" "AAAA name.wide.example" "AAAA name.test"; do
		until answer=$(chroot "$1" /usr/bin/host -t $query 127.0.0.1 2>&1) || [[ $answer == *"not found"* ]]; do sleep 0.1; done
		echo "$query: $(grep -oE "has( IPv6)? address.*|not found.*" <<<"$answer" | head -n 1)"
	done' - "$root")
echo "$said"
[[ $said == "A name.wide.example: has address 0.0.0.0
AAAA name.wide.example: has IPv6 address 2001:db8::9
AAAA name.test: not found: 5(REFUSED)" ]] || fail "it answers otherwise"
