#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# nft 1.0.6: what does its JSON say of a table that is dormant, and of the interface of a chain at ingress?
#
# Guessed: "flags": "dormant", and "dev": "in0", as later versions write them.
# Seen: "flags" is another word, here the name of the next table, and for the last table there is no value at all: that
# is no JSON any more. "dev" is not written. So a program that reads the dump cannot tell a
# dormant table from another by the word, and a dump of a machine with a dormant table may not be readable; the text of
# `nft list ruleset` says both.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=machine.bash
. "$(dirname "${BASH_SOURCE[0]}")/machine.bash"
bring bookworm nftables=1.0.6-2+deb12u2

export root
unshare -n bash >"$work/out" <<'END'
nft() { chroot "$root" /usr/sbin/nft "$@"; }
ip link add in0 type dummy
nft add table ip first "{ flags dormant; }"
nft add table ip second
nft add table netdev third
nft add chain netdev third in "{ type filter hook ingress device in0 priority 0; }"
nft -j list ruleset
nft list ruleset
nft flush ruleset
nft add table ip last "{ flags dormant; }"
nft -j list ruleset; echo
END
grep -o '"flags": "[^"]*"' "$work/out" | tee -a "$work/seen"
grep -o 'flags dormant' "$work/out" | tee -a "$work/seen"
echo "devices: $(grep -c '"dev"' "$work/out"), $(grep -c 'device "in0"' "$work/out")" | tee -a "$work/seen"
tail -n 1 "$work/out" | python3 -c 'import json, sys; json.load(sys.stdin)' 2>/dev/null && echo "JSON" || echo "no JSON" | tee -a "$work/seen"
expect <<'END'
"flags": "second"
flags dormant
devices: 0, 1
no JSON
END
