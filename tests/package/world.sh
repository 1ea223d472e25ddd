# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154
# Two machines, one of which has the packages: namespaces and who is answered. For sourcing by scripts that run in a root
# of their own, as NAME/STEP.

# A step may say something else than its result.
exec 3>&1

# No bogons, which feeds leave out.
machine=11.99.0.1 stranger=11.99.0.2 listed=11.99.0.3 another=11.99.0.4
step=begin

fail()
{
	{
		echo "FAIL $name/$step: line ${BASH_LINENO[*]}: $*"
		[[ ! -s /run/said ]] || tail -n 20 /run/said | sed 's/^/     | /'
	} >&3
	exit 1
}

# A command that fails is a failure of the step.
trap 'fail "$BASH_COMMAND"' ERR
set -E

quietly() { "$@" >/run/said 2>&1; }

# --- two machines -----------------------------------------------------------------------------------

in_client() { nsenter --net=/run/client "$@"; }

make_world()
{
	local address

	: >/run/client
	in_a_new_one=$(unshare --net sh -c 'mount --bind /proc/self/ns/net /run/client; echo yes')
	[[ $in_a_new_one == yes ]]
	ip link set lo up
	ip link add veth0 address 02:00:00:00:00:01 type veth peer name veth1 address 02:00:00:00:00:02
	ip addr add $machine/24 dev veth0
	ip link set veth0 up
	ip link set veth1 netns /run/client
	in_client ip link set veth1 up
	for address in $stranger $listed $another; do
		in_client ip addr add $address/24 dev veth1
	done
}

# answered SOURCE...: each of them is, in $within seconds if that is set.
answered()
{
	local source

	for source; do
		in_client ping -q -n -c 3 -i 0.2 -W "${within:-1}" -I "$source" $machine >/run/said 2>&1 || return 1
	done
}

passes() { within=20 answered "$@" || fail "$* should pass"; }

blocked()
{
	local source

	for source; do
		! answered "$source" || fail "$source should be blocked"
	done
}
