# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# Checks of which interfaces filter, and which of them status names. For sourcing behind lib.sh.

# over IFACE: from now on the two talk over it.
over()
{
	local side

	for side in "$server" "$client"; do
		ip -n "$side" -4 addr flush scope global
		ip -n "$side" -6 addr flush scope global
	done
	address "$1"
}

filters()
{
	local name

	for name; do
		over "$name"
		passes 10.77.0.2
		blocked 10.77.0.3
	done
}

lets_pass() { over "$1" && passes 10.77.0.2 10.77.0.3; }

program_on() { ip -n "$server" -d link show "$1" | grep -o 'prog/xdp id [0-9]*' || true; }

index_of() { ip -n "$server" -o link show "$1" | cut -d: -f1; }

# rename_here OLD NEW: as the server's kernel does it; old ones, as Linux 6.1, refuse it while the interface is up, and
# what is down loses its IPv6 addresses.
rename_here()
{
	local address addresses

	! ip -n "$server" link set "$1" name "$2" 2>/dev/null || return 0
	addresses=$(ip -n "$server" -6 -o addr show dev "$1" scope global | awk '{print $4}')
	ip -n "$server" link set "$1" down
	ip -n "$server" link set "$1" name "$2"
	ip -n "$server" link set "$2" up
	for address in $addresses; do
		ip -n "$server" addr add "$address" dev "$2" nodad
	done
}

# rename OLD NEW: on both sides.
rename()
{
	local side

	for side in "$server" "$client"; do
		ip -n "$side" link set "$1" down
		ip -n "$side" link set "$1" name "$2"
		ip -n "$side" link set "$2" up
	done
}

# begin [ARGUMENT...]: of attach, or x0.
# shellcheck disable=SC2120 # not every file that sources this gives arguments
begin()
{
	ctl add 10.77.0.3
	ctl -q attach "${@:-x0}"
}

# wanted NAME...: status is content with just these.
wanted()
{
	no_problem
	json "sorted(i['name'] for i in d['interfaces']) == sorted('$*'.split())"
}

# is_killed_at POINT: a command that finds interfaces changed.
is_killed_at() { dies_at "$1" up; }
