# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# A machine that gets its network by DHCP: the lease, and what bloomctl knows of the network. For sourcing
# behind lib.sh.

# What dhclient calls; it does what the scripts of distributions do, without their services.
write_client()
{
	cat >"$T/script" <<-'end'
		#!/bin/sh
		case $reason in
		BOUND | REBOOT)
			ip addr add "$new_ip_address/$new_subnet_mask" dev "$interface"
			ip route add default via "$new_routers"
			echo "nameserver $new_domain_name_servers" >/etc/resolv.conf
			;;
		esac
	end
	chmod +x "$T/script"
	printf 'timeout 60;\nretry 1;\ninitial-interval 1;\nreboot 1;\nbackoff-cutoff 1;\n' >"$T/dhclient.conf"
}

# take_lease IFACE [COMMAND...]: by dhclient, which the command starts. The interface is up.
take_lease()
{
	local code=0

	[[ -e $T/script ]] || write_client
	"${@:2}" dhclient -1 -cf "$T/dhclient.conf" -sf "$T/script" -lf "/var/lib/dhcp/dhclient.$1.leases" \
		-pf "$T/dhclient.pid" "$1" >"$T/dhclient" 2>&1 || code=$?
	[[ ! -s $T/dhclient.pid ]] || kill -KILL "$(cat "$T/dhclient.pid")"
	return $code
}

# has ENTRY KIND, lacks ENTRY KIND: of what is allowed automatically.
automatic()
{
	exits 0 -j status
	json "$1 any(a['entry'] == '$2' and a['kind'] == '$3' for a in d['allowlist']['automatic'])"
}

has() { automatic '' "$1" "$2"; }
lacks() { automatic not "$1" "$2"; }
