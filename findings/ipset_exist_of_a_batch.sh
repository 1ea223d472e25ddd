#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ipset 7.17: for which lines of a file does `-exist` count, when `ipset restore` reads it?
#
# Guessed: for the line in which it stands, as in a command.
# Seen: for all entries that ipset sends to the kernel in one message, which are the lines of one set behind each other, by
# what the first of them says. So a repeated entry is an error although its line has `-exist`, if the first line has
# none; and if the first line has it, a later one may repeat an entry without.
set -euo pipefail
# shellcheck source-path=SCRIPTDIR source=machine.bash
. "$(dirname "${BASH_SOURCE[0]}")/machine.bash"
bring bookworm ipset=7.17-1

# restore LINE...: in a network namespace of its own; what the set has then, or "refused".
restore()
{
	printf '%s\n' 'create a hash:net' "$@" >"$root/tmp/sets"
	# shellcheck disable=SC2016
	unshare -n chroot "$root" /lib64/ld-linux-x86-64.so.2 --library-path /usr/lib/x86_64-linux-gnu /usr/sbin/ipset -file /tmp/sets \
		restore 2>/dev/null && echo taken || echo refused
}

first=$(restore 'add a 10.0.0.0/8 -exist' 'add a 10.0.0.0/8')
later=$(restore 'add a 10.0.0.0/8' 'add a 10.0.0.0/8 -exist')
[[ $first == taken ]] || fail "with -exist in the first line alone: $first"
[[ $later == refused ]] || fail "with -exist in the later line alone: $later"
