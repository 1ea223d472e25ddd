#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# rbldnsd 1.0~20210120 (Debian 12 and 13): does a comment in a data file change what it serves?
#
# Guessed: no.
# Seen: `#$TIMESTAMP 20200101 20200102` does: the data have expired, and the zone is not served. A directive counts behind
# `#`, too, so that other programs can read the file; who puts a `#` in front of one to take it out, does not.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=machine.bash
. "$(dirname "${BASH_SOURCE[0]}")/machine.bash"
bring bookworm rbldnsd=1.0~20210120-2
mkdir -p "$root/dev" "$root/etc"
mknod "$root/dev/null" c 1 3
echo nobody:x:65534:65534::/:/bin/sh >"$root/etc/passwd"
printf '# TIMESTAMP 20200101 20200102\nlisted.org\n' >"$root/tmp/plain"
printf '#\x24TIMESTAMP 20200101 20200102\nlisted.org\n' >"$root/tmp/marked"

# shellcheck disable=SC2016 # the shell in the namespace expands it
said=$(unshare -n bash -c '
	ip link set lo up
	for file in plain marked; do
		echo "$file: $(timeout 2 chroot "$1" /usr/sbin/rbldnsd -n -u nobody -r /tmp -b 127.0.0.1/5300 \
			"$file.org:dnset:$file" 2>&1 | grep -oE "zone data expired|started" | head -n 1)"
	done' - "$root")
echo "$said"
[[ $said == "plain: started
marked: zone data expired" ]] || fail "it serves otherwise"
