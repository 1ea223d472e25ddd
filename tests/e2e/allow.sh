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

# accepts KIND: a gateway that `attach` asked while its answers were dropped may still be asked, and what is sent to it
# meanwhile goes with the question when nothing comes.
accepts()
{
	exits 0 allow accept "$1"
	wait_for "the end of questions" has_no_questions
}

has_no_questions() { ! ip -n "$server" neigh show dev x0 | contains ' (INCOMPLETE|PROBE)'; }
