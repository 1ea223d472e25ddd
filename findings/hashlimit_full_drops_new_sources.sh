#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# iptables 1.8.9 on Linux 6.18.44: what becomes of the first packet of a source for which the table of
# `-m hashlimit --hashlimit-above` has no room (--hashlimit-htable-max)?
#
# Guessed: the rule does not match, so the packet goes on; or it matches, and the rule counts what it drops.
# Seen: the packet is dropped, though its source is far below the rate, and the rule does not count it, whatever its target
# is; a rule behind it counts less. The kernel logs "max count of 10 reached", at a limited rate, and no source.
# So with too small a table, new customers are kept out, and the counters of the rule say nothing of it. It is the kernel of
# this machine that is asked.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=machine.bash
. "$(dirname "${BASH_SOURCE[0]}")/machine.bash"
bring bookworm iptables=1.8.9-2

export root
export -f send_from_twenty
unshare -n bash >"$work/out" <<'END'
iptables() { chroot "$root" /usr/sbin/iptables-nft -w -t raw "$@"; }
ip link set lo up
for target in DROP ACCEPT; do
	iptables -F
	iptables -A PREROUTING -p udp -m hashlimit --hashlimit-name "$target" --hashlimit-mode srcip --hashlimit-above 1/hour \
		--hashlimit-burst 1 --hashlimit-htable-size 10 --hashlimit-htable-max 10 --hashlimit-htable-expire 3600000 -j "$target"
	iptables -A PREROUTING -p udp
	send_from_twenty
	iptables -nvxL PREROUTING | awk -v target="$target" 'NR > 2 { print target ", rule " NR - 2 ": " $1 " of 20" }'
done
END
echo "on Linux $(uname -r)"
grep ', rule' "$work/out" | tee -a "$work/seen"
{ grep -m 1 '^xt_hashlimit: ' "$work/out" || echo "nothing logged"; } | tee -a "$work/seen"
expect <<'END'
DROP, rule 1: 0 of 20
DROP, rule 2: 10 of 20
ACCEPT, rule 1: 0 of 20
ACCEPT, rule 2: 10 of 20
xt_hashlimit: max count of 10 reached
END
