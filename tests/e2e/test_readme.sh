#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The commands that the README and the pages for mail servers and floods show, in the order in which they show
# them, do what it says there.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=cgroup.sh
. "$(dirname "$0")/cgroup.sh"

# The commands of bloomctl in the code blocks of a page, without their comments.
commands()
{
	awk '/^```/ {inside = !inside} inside && /^bloomctl / {sub(/ +#.*/, ""); print}' "$1"
}

rename_x0()
{
	ip -n "$server" link set x0 down
	ip -n "$server" link set x0 name eth0
	ip -n "$server" link set eth0 up
}

t_five_minutes()
{
	local line number=0
	local -a words

	rename_x0
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

t_mail()
{
	local line number=0
	local -a words

	rename_x0
	cd "$T"
	echo '{"cidr":"9.9.9.0/24","sblid":"SBL1"}' >drop_v4.json
	echo 8.8.8.8 >cbl.txt
	echo 8.8.4.4 >mail.txt
	while read -r line; do
		eval "words=(${line#bloomctl })"
		case $line in
		"bloomctl watch") continue ;;
		"bloomctl test"*) ctl -q add 192.0.2.7 --list attackers --exist && exits 1 "${words[@]/192.0.2.7/203.0.113.7}" ;;&
		*) exits 0 "${words[@]}" ;;
		esac
		number=$((number + 1))
		[[ $line != "bloomctl stats"* ]] || counts_first
	done < <(commands "$root/docs/mail.md")
	[[ $number -ge 11 ]] || fail "the page shows only $number commands"
	exits 0 test 9.9.9.9
	says '^9.9.9.9 is dropped now: listed$'
	exits 0 test 8.8.8.8 --to tcp/25
	says '^8.8.8.8 to tcp/25 is dropped now: listed$'
	for one in 8.8.8.8 8.8.4.4; do
		exits 1 test $one --to tcp/443
		says "^$one to tcp/443 passes now: listed, but for tcp/25"
	done
	exits 0 test 8.8.4.4 --to tcp/993
	says '^8.8.4.4 to tcp/993 is dropped now: listed$'
}

a_customer_connects()
{
	serve
	reaches tcp 10.77.0.2
}

# What the page says of the lists at that point.
counts_first()
{
	exits 0 test 8.8.8.8 --to tcp/25
	says '^8.8.8.8 to tcp/25 passes now: listed, and the verdict is count$'
}

t_floods()
{
	local line number=0
	local -a words

	[[ -n ${XB_TEST_CGROUP:-} ]] || skip "cgroup v2 is not mounted, or no group can be made"
	rename_x0
	cd "$T"
	echo 9.9.9.9 >customers.txt
	while read -r line; do
		eval "words=(${line#bloomctl })"
		case $line in
		"bloomctl known test"*) exits 1 "${words[@]}" ;;
		*) exits 0 "${words[@]}" ;;
		esac
		number=$((number + 1))
		[[ $line != "bloomctl known on"* ]] || a_customer_connects
		[[ $line != "bloomctl policy allow-only --known"* ]] || enemies_are_out
		[[ $line != "bloomctl policy allow-only --rollback"* ]] || customers_are_in
	done < <(commands "$root/docs/floods.md")
	[[ $number -ge 20 ]] || fail "the page shows only $number commands"
	exits 0 test 203.0.113.7
	says '^203.0.113.7 is dropped now: listed$'
	exits 1 test 9.9.9.9
	says '^9.9.9.9 passes now: not listed$'
}

a_customer_connects()
{
	serve
	reaches tcp 10.77.0.2
}

# What the page says of the lists at that point.
enemies_are_out()
{
	exits 0 test 203.0.113.7
	says '^203.0.113.7 is dropped now'
}

customers_are_in()
{
	enemies_are_out
	exits 0 test 9.9.9.9
	says '^9.9.9.9 passes now: listed, and the policy is allow-only$'
}

run_tests
