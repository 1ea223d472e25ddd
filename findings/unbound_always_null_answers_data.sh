#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Unbound 1.17.1 (Debian 12): does a local zone of the type always_null let local data in it through?
#
# Guessed: no. unbound.conf(5) says that it "always returns 0.0.0.0 or ::0 for every name in the zone", and always_nxdomain,
# always_refuse, always_deny and always_nodata, which are named alike, look at no local data.
# Seen: it answers the data. Who blocks a domain by always_null and has a host below it in local-data, reaches the host; by
# always_nxdomain not.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=machine.bash
. "$(dirname "${BASH_SOURCE[0]}")/machine.bash"
bring bookworm unbound=1.17.1-2+deb12u4 bind9-host=1:9.18.49-1~deb12u3
mkdir -p "$root/dev" "$root/etc"
mknod "$root/dev/null" c 1 3
mknod "$root/dev/urandom" c 1 9
echo root:x:0:0::/:/bin/sh >"$root/etc/passwd"
cat >"$root/tmp/conf" <<-END
	server:
	interface: 127.0.0.1
	do-daemonize: no
	chroot: ""
	username: ""
	directory: "/tmp"
	pidfile: ""
	use-syslog: no
	local-zone: null.org always_null
	local-data: "host.null.org A 192.0.2.9"
	local-zone: nx.org always_nxdomain
	local-data: "host.nx.org A 192.0.2.9"
END

# shellcheck disable=SC2016 # the shell in the namespace expands it
said=$(unshare -n bash -c '
	ip link set lo up
	chroot "$1" /usr/sbin/unbound -d -c /tmp/conf >"$1/tmp/log" 2>&1 &
	trap "kill $!" EXIT
	for name in host.null.org other.null.org host.nx.org; do
		until answer=$(chroot "$1" /usr/bin/host -t A "$name" 127.0.0.1 2>&1) || [[ $answer == *NXDOMAIN* ]]; do sleep 0.1; done
		echo "$name: $(grep -oE "has address.*|NXDOMAIN" <<<"$answer" | head -n 1)"
	done' - "$root")
echo "$said"
[[ $said == "host.null.org: has address 192.0.2.9
other.null.org: has address 0.0.0.0
host.nx.org: NXDOMAIN" ]] || fail "it answers otherwise"
