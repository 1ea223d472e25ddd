#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A machine that gets its network by DHCP, with a filter that is in force before the network: the order
# of the units in packaging/, and what a survey keeps that found nothing.
# waits: more than it computes
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=dhcp.sh
. "$(dirname "$0")/dhcp.sh"

router=10.77.0.6 stranger=10.77.0.2

# The client is the network: its router gives leases. The server is the machine: it has nothing.
begin()
{
	[[ -n $(command -v dhclient) && -d /var/lib/dhcp ]] || skip "no dhclient"
	mount -t tmpfs xbt /var/lib/dhcp
	trap 'umount -l /var/lib/dhcp' EXIT
	resolvers
	lose_network
	ip -n "$client" addr flush dev x0 scope global
	ip -n "$client" addr add $router/16 dev x0
	ip -n "$client" addr add $stranger/16 dev x0
	in_client dnsmasq --keep-in-foreground --log-facility=- --conf-file=/dev/null --port=0 --user=root --pid-file= \
		--interface=x0 --dhcp-range=10.77.9.1,10.77.9.9,255.255.0.0,1h --dhcp-option=3,$router \
		--dhcp-option=6,$router --dhcp-leasefile="$T/given" --dhcp-authoritative \
		>"$T/dnsmasq" 2>&1 &
	wait_for dnsmasq grep -q 'IP range' "$T/dnsmasq"
}

lose_network()
{
	ip -n "$server" link set x0 down
	ip -n "$server" addr flush dev x0
	: >"$XB_TEST_DIR/resolv.conf"
	ip -n "$server" link set x0 up
}

# What a power cut takes: pins, counters, the network, and the lease, which systemd-networkd keeps in /run.
power_cut()
{
	rm -rf "$pins" "$counters" /var/lib/dhcp/*
	lose_network
}

get_lease() { take_lease x0 in_server; }

asks() { in_server ping -q -n -c 1 -W "$((2 * patience))" "$1" >/dev/null 2>&1; }

machine_address() { ip -n "$server" -4 -o addr show dev x0 scope global | awk '{sub("/.*", "", $4); print $4}'; }

# boots POLICY: twice, for what the first boot finds the second begins with.
boots()
{
	local i

	for ((i = 0; i < 2; i++)); do
		power_cut
		exits 0 up
		! asks $router || fail "it has a network before it has a lease"
		get_lease || fail "no lease at boot $i under $1: $(cat "$T/dhclient")"
		exits 0 up
		has "$(machine_address)" address
		has $router gateway
		has $router resolver
		has $router dhcp
		asks $router || fail "$router does not answer at boot $i under $1"
		! asks $stranger || fail "$stranger gets through at boot $i under $1"
		exits 0 status
	done
}

t_its_network_is_listed()
{
	begin
	get_lease || fail "no lease without a filter: $(cat "$T/dhclient")"
	ctl -q attach x0
	ctl add 10.0.0.0/8 --force
	boots enforce
}

# The first lease ever, of a server nobody has heard of: offers pass, whatever else it sends does not.
t_only_the_listed_pass()
{
	begin
	ctl -q attach x0
	ctl add 192.0.2.1
	ctl -q policy allow-only
	ip -n "$server" addr add 10.77.0.9/16 dev x0
	! asks $router || fail "$router gets through before it is known"
	lose_network
	get_lease || fail "no first lease: $(cat "$T/dhclient")"
	exits 0 -j stats
	json 'sum(r["packets"] for i in d["interfaces"] for r in i["reasons"] if r["reason"] == "dhcp") >= 2'
	exits 0 up
	asks $router || fail "$router does not answer"
	boots allow-only
}

# Without a network nothing is known and nothing is seen; all of it is kept for any length of time.
t_kept_while_there_is_no_network()
{
	begin
	get_lease
	ctl -q attach x0
	has $router gateway
	power_cut
	for ((i = 0; i < 3; i++)); do
		exits 0 up
		ctl policy monitor
		ctl policy enforce
	done
	has $router gateway
	has $router resolver
	has $router dhcp
	ip -n "$server" link set x0 down
	exits 0 up
	has $router gateway
	exits 0 allow list
	! grep -q ' expires ' "$T/out" || fail "something goes: $(cat "$T/out")"
}

# Another state takes the place of what people listed and allowed, not of what the machine needs.
t_kept_by_restore()
{
	begin
	get_lease
	ctl -q attach x0
	ctl save >"$T/saved"
	power_cut
	exits 0 restore "$T/saved"
	has $router gateway
	has $router dhcp
	exits 0 status
}

# Of each kind: what stands in the same place takes the former one's place.
t_gone_when_its_place_shows_another()
{
	begin
	get_lease
	ctl -q attach x0
	lose_network
	ip -n "$server" addr add 10.88.0.9/24 dev x0
	exits 0 up
	lacks 10.77.9.1 address
	has $router gateway
	has $router resolver
	ip -n "$server" route add default via 10.88.0.1
	exits 0 up
	has 10.88.0.1 gateway
	lacks $router gateway
	has $router resolver
	resolvers 10.88.0.2
	exits 0 up
	has 10.88.0.2 resolver
	lacks $router resolver
	has $router dhcp
	printf 'lease {\n  option dhcp-server-identifier 10.88.0.3;\n}\n' >>/var/lib/dhcp/dhclient.x0.leases
	exits 0 up
	has 10.88.0.3 dhcp
	lacks $router dhcp
	! [[ $(ip -n "$server" -6 route show default) ]] || fail "an IPv6 route"
	ip -n "$server" addr add fd88::9/64 dev x0 nodad
	ip -n "$server" route add default via fd88::1 dev x0
	exits 0 up
	has fd88::1 gateway
	has 10.88.0.1 gateway
}

# What went without another in its place goes in a week, unless it comes back.
t_gone_after_a_week_on_the_network()
{
	local at hours

	begin
	get_lease
	ctl -q attach x0
	exits 0 allow list --list auto:gateway
	! grep -q ' expires ' "$T/out" || fail "$(cat "$T/out")"
	ip -n "$server" route del default
	exits 0 up
	exits 0 -j allow list --list auto:gateway
	at=$(of_json 'd["entries"][0]["lists"][0]["expires"]' <"$T/out")
	hours=$((($(date -d "$at" +%s) - $(date +%s) + 1800) / 3600))
	[[ $hours -eq 168 ]] || fail "it goes in $hours hours: $(cat "$T/out")"
	asks $router || fail "$router does not answer"
	ip -n "$server" route add default via $router
	exits 0 up
	exits 0 allow list --list auto:gateway
	! grep -q ' expires ' "$T/out" || fail "$(cat "$T/out")"
}

# comes_back_at FAULT COMMAND...: with another network than the one the store knows, and killed. Fails if it was
# not killed.
comes_back_at()
{
	local code=0

	rm -rf "$pins" "$counters" "$state"
	ip -n "$server" route replace default via 10.77.0.5
	resolvers
	ctl -q attach x0
	ctl add 10.77.0.0/24
	rm -rf "$pins" "$counters"
	ip -n "$server" route replace default via 10.77.0.3
	resolvers 10.77.0.4
	XB_FAULT=$1 XB_FAULT_SEEN=$T/seen tool "$faulty" "${@:2}" >"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq 137 ]] || return 1
	passes 10.77.0.3 10.77.0.4
	exits 0 up
	passes 10.77.0.3 10.77.0.4
	blocked 10.77.0.5 10.77.0.6
}

# Whoever is first after a boot, and wherever it dies: what is in force knows the machine's network of now.
t_killed_on_its_way_back()
{
	local point command points

	for command in up "add 10.77.0.6 --exist"; do
		rm -f "$T/seen"
		# shellcheck disable=SC2086
		comes_back_at none $command && fail "killed at no point"
		points=$(sort -u "$T/seen")
		echo "$command passes" $points
		for point in $points; do
			# shellcheck disable=SC2086
			comes_back_at "$point" $command || fail "$command at $point: $(cat "$T/err")"
			# shellcheck disable=SC2086
			comes_back_at "$point:2" $command || true
		done
	done
}

# The units say what systemd takes, and the order that the tests above go by.
t_units()
{
	local unit

	[[ -n $(command -v systemd-analyze) ]] || skip "no systemd-analyze"
	mkdir "$T/units"
	for unit in "$root"/packaging/*.{service,path,timer}; do
		unit=${unit##*/}
		sed "s|@SBINDIR@|$XB_TEST_DIR/bin|" "$root/packaging/$unit" >"$T/units/$unit"
		systemd-analyze --man=no verify "$T/units/$unit" >"$T/verified" 2>&1 ||
			fail "$unit: $(head -n 1 "$T/verified")"
		! grep . "$T/verified" || fail "$unit: $(head -n 1 "$T/verified")"
	done
	grep -q '^Before=network-pre.target$' "$T/units/xdp-bloom.service"
	grep -qx "ExecStart=$bloomctl up" "$T/units/xdp-bloom.service"
	grep -qx "ExecReload=$bloomctl up" "$T/units/xdp-bloom.service"
	grep -q '^After=network-online.target xdp-bloom.service$' "$T/units/xdp-bloom-online.service"
	grep -q '^ExecStart=.*systemctl reload-or-restart xdp-bloom.service$' "$T/units/xdp-bloom-online.service"
	grep -q "^Also=.*xdp-bloom-online.service xdp-bloom-online.path" "$T/units/xdp-bloom.service"
}

# What keeps it from less is in docs/security.md.
t_the_agent_is_confined()
{
	local score

	[[ -n $(command -v systemd-analyze) ]] || skip "no systemd-analyze"
	sed "s|@SBINDIR@|$XB_TEST_DIR/bin|" "$root/packaging/bloomd.service" >"$T/bloomd.service"
	systemd-analyze --no-pager --offline=true security "$T/bloomd.service" >"$T/score" || true
	score=$(sed -n 's/.*Overall exposure level for bloomd.service: \([0-9.]*\) .*/\1/p' "$T/score")
	[[ -n $score ]] || fail "no score: $(tail -n 1 "$T/score")"
	[[ ${score/./} -le 25 ]] || fail "the exposure is $score"
}

run_tests
