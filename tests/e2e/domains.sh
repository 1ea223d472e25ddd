# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# An attached interface, and queries of the client for a domain. For sourcing behind lib.sh.

# A native veth takes what XDP sends back only if the other end polls.
begin() { ctl -q attach x0 --mode skb; }

# asks NAME WORD [PORT [SOURCE]]: what a query for it brings, see ask.py.
asks()
{
	local source=${4:-10.77.0.2} seconds=$((10 * patience)) got

	[[ $2 != silence ]] || seconds=0.3
	got=$(in_client python3 -S -E "$root/tests/e2e/ask.py" "$source" "$(to "$source")" "$1" "${3:-53}" "$seconds")
	[[ $got == "$2" ]] || fail "a query for $1 brings $got, not $2"
}

generation() { ctl -j status | of_json 'd["generation"]["name"]'; }
