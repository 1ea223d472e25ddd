#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# nft 1.1.3: what does it write of `ip saddr 192.0.2.1 reject with tcp reset`, which it makes a rule for TCP alone?
#
# Guessed: the dump has the condition, as the rule in the kernel does: `meta l4proto tcp`.
# Seen: in a table of family ip the dump, as text and as JSON, does not have it; in one of family inet it has. So of the same
# words `drop` refuses every packet of the source, and `reject with tcp reset` refuses its TCP, and UDP goes on.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=machine.bash
. "$(dirname "${BASH_SOURCE[0]}")/machine.bash"
bring trixie nftables=1.1.3-1

export root
unshare -n bash >"$work/out" <<'END'
nft() { chroot "$root" /usr/sbin/nft "$@"; }
for family in ip inet; do
	nft add table $family t
	nft add chain $family t c
	nft --debug=netlink add rule $family t c ip saddr 192.0.2.1 reject with tcp reset
done
nft list ruleset
nft -j list ruleset
END
echo "in the kernel: $(grep -c 'meta load l4proto' "$work/out")" | tee -a "$work/seen"
grep -o '[a-z].* reject with tcp reset' "$work/out" | tee -a "$work/seen"
echo "in JSON: $(grep -o '"l4proto"' "$work/out" | wc -l)" | tee -a "$work/seen"
expect <<'END'
in the kernel: 2
ip saddr 192.0.2.1 reject with tcp reset
meta l4proto 6 ip saddr 192.0.2.1 reject with tcp reset
in JSON: 1
END
