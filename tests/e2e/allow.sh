# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154
# A client all of whose addresses are listed, and checks of which are allowed automatically. For sourcing
# behind lib.sh.

everybody=(10.77.0.0/24 10.77.3.0/24 fd77::/64)

# All that the client has is listed, but for what is allowed automatically.
begin()
{
	ctl attach x0
	ctl add "${everybody[@]}"
}

# has ENTRY KIND WHY, lacks ENTRY KIND: of what is allowed automatically.
automatic() { exits 0 -j status; json "$1 any(a['entry'] == '$2' and a['kind'] == '$3' $4 for a in d['allowlist']['automatic'])"; }
has() { automatic '' "$1" "$2" "and a['why'] == '$3'"; }
lacks() { automatic not "$1" "$2" ''; }

with_gateways()
{
	ip -n "$server" route add default via 10.77.0.6 dev x0
	ip -n "$server" route add default via fd77::4 dev x0
}
