#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The commands that the README shows, in the order in which it shows them, do what it says.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

# The commands of bloomctl in the code blocks of a page, without their comments.
commands()
{
	awk '/^```/ {inside = !inside} inside && /^bloomctl / {sub(/ +#.*/, ""); print}' "$1"
}

t_five_minutes()
{
	local line number=0
	local -a words

	ip -n "$server" link set x0 down
	ip -n "$server" link set x0 name eth0
	ip -n "$server" link set eth0 up
	# What curl would bring. Of the README's addresses for examples import takes none.
	printf '%s\n' '# a list' 8.8.8.0/24 198.51.100.0/24 >"$T/firehol_level1.netset"
	cd "$T"
	while read -r line; do
		eval "words=(${line#bloomctl })"
		case $line in
		"bloomctl doctor") ctl doctor >"$T/out" 2>"$T/err" || [[ $? -eq 3 ]] || fail "doctor: exit code $?" ;;
		"bloomctl watch") in_server timeout --preserve-status -s INT 1 "$bloomctl" --state "$state" --pin "$pins" --run "$counters" watch >"$T/out" ;;
		"bloomctl test 198.51.100.7") exits 1 "${words[@]}" ;;
		*) exits 0 "${words[@]}" ;;
		esac
		number=$((number + 1))
		[[ $line != "bloomctl attach"* ]] || says 'eth0 attached in (native|skb) mode'
		[[ $line != "bloomctl policy enforce"* ]] || enforced
	done < <(commands "$root/README.md")
	[[ $number -ge 15 ]] || fail "the README shows only $number commands"
	! ip -n "$server" -d link show eth0 | grep -q 'prog/xdp' || fail "eth0 is not as it was before"
}

# What the README says of the list at that point.
enforced()
{
	exits 0 test 8.8.8.8
	says '^8.8.8.8 is dropped now'
	exits 0 allow test 198.51.100.7
}

run_tests
