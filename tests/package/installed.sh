# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154
# Followers of pages on a machine that has the packages (tests/package/follow): programs, directories, units and files
# are where these have them. For sourcing by page.sh.

others="make install" examples=/usr/share/doc/xdp-bloom-agent/examples

# takes_packages: the first that a test does. bloomd has run since they were installed.
takes_packages()
{
	state=/var/lib/xdp-bloom pins=/sys/fs/bpf/xdp-bloom counters=/run/xdp-bloom
	agent_program=$root/tests/package/service
	[[ ! -e /usr/sbin/bloomd ]] || starts bloomd
}

# As somebody types it.
tool() { in_server "${1##*/}" "${@:2}"; }

starts()
{
	enables "$1"
	case $1 in
	xdp-bloom) in_server "$agent_program" xdp-bloom ;;
	bloomd) is_running || agent ;;
	esac
}

# The links of its [Install] are those with which the package came.
enables()
{
	SYSTEMD_OFFLINE=1 command systemctl -q is-enabled "$1" || fail "$1 is not enabled"
	SYSTEMD_OFFLINE=1 command systemctl -q enable "$1" 2>/dev/null || fail "$1 cannot be enabled"
}

# The machine is the test's.
lay_over() { :; }
lay_etc() { :; }
lay_share() { :; }
lay_configuration() { :; }

lay_fail2ban()
{
	cp -a "$fail2ban/etc/fail2ban/." /etc/fail2ban
	ln -sfn /etc/fail2ban "$T/fail2ban"
}

lay()
{
	local one usr=""

	for one; do
		[[ -d $root/build/$one/usr ]] || skip "$one is not unpacked"
		usr+=$root/build/$one/usr:
		cp -a "$root/build/$one/etc/." /etc
	done
	mount -t overlay overlay -o "lowerdir=$usr/usr" /usr 2>/dev/null || skip "no overlay on an overlay"
	echo "nameserver 127.0.0.1" >/etc/resolv.conf
	chmod 755 "$T"
}

# No package of ours has the program that tests have for it.
field() { of "$1" -j fleet | python3 -c 'import json, sys; print(json.load(sys.stdin)["fleet"].get(sys.argv[1]))' "$2"; }
