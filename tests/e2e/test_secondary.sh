#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A zone comes from a primary server to a real secondary on this machine (knot, nsd), which writes it into a file:
# bloomd imports that when it changes, with the rights that its unit leaves it.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154,SC2119
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/feeds.sh"
. "$root/tests/e2e/agent.sh"

owner=12346 # of the servers, and its group
knotd=$programs/knot/usr/sbin/knotd nsd=$programs/nsd/usr/sbin/nsd

# serve PROGRAM ARGUMENT...: as another user, with the umask of a service.
serve()
{
	(umask 0022 && exec nsenter --net="/run/netns/$server" setpriv --reuid $owner --regid $owner --clear-groups \
		--inh-caps=-all "$@" >>"$T/servers.log" 2>&1) &
	serving=$!
}

# knot_in DIRECTORY PORT REMOTE-PORT LINE...: lines of its zone.
knot_in()
{
	cat >"$1/knot.conf" <<-END
		server:
		    rundir: $1
		    listen: 127.0.0.1@$2
		    automatic-acl: on
		log:
		  - target: stderr
		    any: info
		database:
		    storage: $1
		remote:
		  - id: other
		    address: 127.0.0.1@$3
		template:
		  - id: default
		    storage: $1
		    file: "%s.zone"
		zone:
		  - domain: rpz.test
	END
	printf '    %s\n' "${@:4}" >>"$1/knot.conf"
	chown -R $owner:$owner "$1"
	serve "$knotd" -c "$1/knot.conf"
}

# The primary, and the directory of the secondary as Debian's packages make it.
primary()
{
	[[ -x $knotd && -x $nsd ]] || skip "no knot or nsd, which scripts/setup unpacks"
	chmod 755 "$T"
	mkdir "$T/primary" "$T/secondary"
	zone 1 2 >"$T/primary/rpz.test.zone"
	knot_in "$T/primary" 5301 5302 'notify: other'
	serving_primary=$serving
}

# publish SERIAL NUMBER...
publish()
{
	serial=$1 zone "${@:2}" >"$T/primary/rpz.test.zone"
	kill -HUP $serving_primary
}

has_zone() { grep -q 'n1' "$T/secondary/rpz.test.zone"; }

# follow [GROUP]: bloomd follows the secondary's file, as under its unit, with this group besides.
follow()
{
	local groups=--clear-groups

	[[ $# -eq 0 ]] || groups="--groups $1"
	limited_agent ,+lease "$groups"
	printf '[feed zone]\nurl = file://%s/secondary/rpz.test.zone\nformat = rpz\nevery = 1d\nmax-change = 100\n' "$T" \
		>"$T/bloomd.conf"
	agent
}

follows_changes()
{
	wait_for "the zone ($(ctl feeds))" lists 5.9.0.1 5.9.0.2 =n1.example =n2.example
	publish 2 2 3
	wait_for "the next zone" lists 5.9.0.2 5.9.0.3 =n2.example =n3.example
	publish 3 4
	wait_for "the zone after that" lists 5.9.0.4 =n4.example
}

t_knot()
{
	primary
	chmod 770 "$T/secondary"
	knot_in "$T/secondary" 5302 5301 'master: other'
	wait_for "the zone ($(tail -n 3 "$T/servers.log"))" has_zone
	[[ $(stat -c %a "$T/secondary/rpz.test.zone") == 660 ]] || fail "knot has changed whom it lets read"
	# Root without the right to pass by permissions is one of many.
	follow
	wait_for "the outcome" has_outcome zone no-file
	ctl feeds | contains 'Permission denied' || fail "it says: $(ctl feeds)"
	agent_ends
	follow $owner
	exits 0 feeds update zone # without it, a minute after the failure
	follows_changes
}

t_nsd()
{
	primary
	cat >"$T/secondary/nsd.conf" <<-END
		server:
		  ip-address: 127.0.0.1@5302
		  username: ""
		  zonesdir: $T/secondary
		  database: ""
		  pidfile: $T/secondary/nsd.pid
		  xfrdfile: $T/secondary/xfrd.state
		  zonelistfile: $T/secondary/zone.list
		  xfrdir: $T/secondary
		  logfile: $T/servers.log
		  zonefiles-write: 1
		remote-control:
		  control-enable: no
		zone:
		  name: rpz.test
		  zonefile: rpz.test.zone
		  request-xfr: 127.0.0.1@5301 NOKEY
		  allow-notify: 127.0.0.1 NOKEY
	END
	chown -R $owner:$owner "$T/secondary"
	touch "$T/servers.log"
	chown $owner "$T/servers.log"
	serve "$nsd" -d -c "$T/secondary/nsd.conf"
	wait_for "the zone ($(tail -n 3 "$T/servers.log"))" has_zone
	follow
	follows_changes
}

run_tests
