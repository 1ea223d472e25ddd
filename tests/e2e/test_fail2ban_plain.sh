#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The real fail2ban bans by xdp-bloom: with the plain action, a process of bloomctl each, without bloomd.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2119,SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=fail2ban.sh
. "$(dirname "$0")/fail2ban.sh"

# Besides the entry that says that the list is in use.
bans_are() { is_listing $(($1 + 1)); }

t_ban_and_unban()
{
	plain_jail
	begin_without_bloomd
	wait_for "the ports" eval "ctl scope f2b-sshd | contains 'tcp/22$'"
	bans_for_the_port is_free
	ends_quietly
}

ends_quietly()
{
	server_ends
	no_complaint
	is_listing 0 || fail "fail2ban has ended, and $(listed) are listed"
}

t_ports()
{
	ports=$'port = http,https,8000:8010,53\nprotocol = tcp,udp' plain_jail
	begin_without_bloomd
	wait_for "the ports" eval "ctl scope f2b-sshd | contains 'tcp/53,tcp/80,tcp/443,tcp/8000-8010,udp/53,udp/80,udp/443,udp/8000-8010$'"
	# A ban comes behind the action's start; fail2ban reloads no action that still starts.
	f2b set sshd banip 10.77.0.3
	becomes_listed 10.77.0.3
	plain_jail type=allports
	client reload
	wait_for "the ports" eval "ctl -j scope f2b-sshd | contains '\"all\"'"
	ports="port = nosuchport" plain_jail
	! (client reload) || fail "a port that nobody knows is taken"
	grep -q 'no port is called nosuchport' "$T/fail2ban.log" || fail "nobody says what is wrong"
}

# What was banned when it was killed, and is no ban any more, is free when it is there again.
t_networks_and_a_kill()
{
	local -a two=("${customer6[@]:0:2}")

	customers
	plain_jail type=allports
	begin_without_bloomd
	f2b set sshd banip "${two[@]}" 2001:db8:7::/48
	becomes_listed 2001:db8:7::/48
	comes_blocked "${customer6[@]:0:3}"
	passes "${customer6[3]}"
	f2b set sshd unbanip "${two[0]}"
	blocked "${customer6[@]:0:3}"
	wait_for "two bans in the database" are_kept 2
	server_ends KILL
	comes_blocked "${customer6[@]:0:3}"
	ctl -q add 10.77.0.5 --list f2b-sshd # no ban any more
	server_starts
	wait_for "two bans again" bans_are 3
	passes 10.77.0.5
	f2b set sshd banip "${two[0]}"
	wait_for "three bans" bans_are 4
	f2b set sshd unbanip "${two[1]}"
	blocked "${customer6[@]:0:3}"
	f2b set sshd unbanip "${two[0]}"
	passes "${customer6[@]}"
	f2b set sshd unbanip 2001:db8:7::/48
	bans_are 0 || fail "$(listed) are listed"
	ends_quietly
}

# Somebody empties the list, or restores another state: the next sign of life of a banned source brings it
# back.
t_repair()
{
	plain_jail
	begin_without_bloomd
	exits 0 save
	cp "$T/out" "$T/saved"
	fails 10.77.0.3
	becomes_listed 10.77.0.3
	ctl -q flush --yes
	sleep 4 # what comes at once was under way
	fails 10.77.0.3
	becomes_listed 10.77.0.3
	bans_are 1 || fail "$(listed) are listed"
	sleep 4
	rm -rf "$state"
	ctl -q attach x0
	fails 10.77.0.3
	becomes_listed 10.77.0.3
	exits 0 scope f2b-sshd
	says 'tcp/22$'
}

run_tests
