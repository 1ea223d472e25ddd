# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# Customers who connect, and what is known of them. For sourcing behind lib.sh.

# shellcheck source=cgroup.sh
. "$root/tests/e2e/cgroup.sh"

need_cgroup() { [[ -n ${XB_TEST_CGROUP:-} ]] || skip "cgroup v2 is not mounted, or no group can be made"; }

# The client is all of 10.78.0.0/16 and fd78::/32, and the server finds it.
other_addresses()
{
	{
		echo "route add 10.78.0.0/16 via 10.77.0.2"
		echo "route add fd78::/32 via fd77::2"
	} | ip -n "$server" -batch -
	{
		echo "route add local 10.78.0.0/16 dev lo"
		echo "route add local fd78::/32 dev lo"
	} | ip -n "$client" -batch -
	in_client sysctl -qw net.ipv6.ip_nonlocal_bind=1
}

# And its customers have a server.
many_addresses()
{
	other_addresses
	in_server python3 -S -E "$root/tests/e2e/customers.py" serve "$T/customers" >/dev/null 2>&1 &
	wait_for "the server" test -e "$T/customers"
}

# connect_all COUNT FIRST: every one of them comes through.
connect_all()
{
	local through

	through=$(in_client python3 -S -E "$root/tests/e2e/customers.py" connect "$1" "$2")
	[[ $through -eq $1 ]] || fail "$through of $1 customers come through"
}

knows() { exits 0 known test "$1"; }
knows_not() { exits 1 known test "$1"; }

# What a power cut takes.
power_cut() { rm -rf "$pins" "$counters"; }
