#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Where a driver takes VLAN tags off before XDP, and VLANs sit on the interface, no query is answered: the
# answer would leave without its tag. A veth in native mode is such a driver.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/domains.sh"

# x0 as the port of a bridge, which is on its way up; it goes by VLANs after goes_by_vlans.
on_a_bridge()
{
	ip -n "$server" link add br0 type bridge || skip "no bridges here"
	ip -n "$server" link set x0 master br0
	in_server ethtool -k x0 >"$T/features"
	grep -qx 'rx-vlan-offload: on' "$T/features" || skip "this veth leaves tags where they are"
}

goes_by_vlans() { ip -n "$server" link set br0 type bridge vlan_filtering "$1" || skip "no VLANs on bridges here"; }

# counts_as REASON [SOURCE]: what one query for example.com is counted as. A veth in native mode takes no answer to a
# client that has no XDP program, so the count has to say.
counts_as()
{
	local before after source=${2:-10.77.0.2}

	before=$(packets "$1")
	in_client python3 "$root/tests/e2e/ask.py" "$source" "${source%2}1" example.com 53 0.1 >/dev/null
	after=$(packets "$1")
	[[ $((after - before)) -eq 1 ]] || fail "not counted as $1: $(ctl stats)"
}

begin_native()
{
	ip -n "$client" neigh replace 10.77.0.1 lladdr "$(ip -n "$server" -j link show x0 | of_json 'd[0]["address"]')" dev x0
	on_a_bridge
	exits 0 add example.com --list names
}

problem_is()
{
	exits 3 -j status
	json '[p["kind"] for p in d["problem_details"]] == ["vlan_answers"]'
	json "'$1' in d['problems'][0]"
}

t_attach()
{
	begin_native
	goes_by_vlans 1
	exits 0 verdict names nxdomain
	exits 0 attach x0 --mode native
	complains 'x0: the driver takes VLAN tags off before .*`ethtool -K x0 rxvlan off` lets'
	counts_as name_unanswered
	exits 0 status
	exits 0 add 192.0.2.1
	! grep -q VLAN "$T/err" || fail "it is said twice: $(cat "$T/err")"
	exits 0 attach x0 --mode skb
	! grep -q VLAN "$T/err" || fail "skb mode keeps tags: $(cat "$T/err")"
	counts_as name_nxdomain
	exits 0 attach x0 --mode native
	complains 'x0: the driver takes VLAN tags off'
	counts_as name_unanswered
}

# vlan_on NAMESPACE ADDRESS: VLAN 10 on its x0.
vlan_on()
{
	ip -n "$1" link add link x0 name x0.10 type vlan id 10 2>/dev/null || skip "no VLANs here"
	ip -n "$1" address add "$2/24" dev x0.10
	ip -n "$1" link set x0.10 up
}

# In skb mode the answer comes back through the VLAN.
t_a_vlan_device()
{
	vlan_on "$server" 10.79.0.1
	vlan_on "$client" 10.79.0.2
	exits 0 add example.com --list names
	exits 0 verdict names nxdomain
	exits 0 attach x0 --mode native
	complains 'x0: the driver takes VLAN tags off'
	counts_as name_unanswered 10.79.0.2
	ip -n "$server" link delete x0.10
	problem_is 'queries on x0 are not answered'
	vlan_on "$server" 10.79.0.1
	exits 0 status
	exits 0 attach x0 --mode skb
	[[ $(in_client python3 "$root/tests/e2e/ask.py" 10.79.0.2 10.79.0.1 example.com 53 10) == nxdomain ]] ||
		fail "no answer through the VLAN"
	exits 0 status
}

# bloomd looks when a VLAN device comes or goes.
t_bloomd()
{
	ip -n "$client" neigh replace 10.77.0.1 lladdr 02:00:00:00:00:01 dev x0
	exits 0 add example.com --list names
	exits 0 verdict names nxdomain
	exits 0 attach x0 --mode native
	agent
	counts_as name_nxdomain
	vlan_on "$server" 10.79.0.1
	says_agent 'x0: the driver takes VLAN tags off'
	counts_as name_unanswered
	ip -n "$server" link delete x0.10
	wait_for "that bloomd lets the filter answer" ctl -q status
	counts_as name_nxdomain
	agent_ends
}

# Nobody looks while nothing is answered; the change that begins with it looks first.
t_verdict()
{
	begin_native
	goes_by_vlans 1
	exits 0 attach x0 --mode native
	! grep -q VLAN "$T/err" || fail "nothing is answered yet: $(cat "$T/err")"
	counts_as name_dropped
	exits 0 status
	exits 0 verdict names refused
	complains 'x0: the driver takes VLAN tags off'
	counts_as name_unanswered
	exits 0 status
}

t_verdict_on_trial()
{
	begin_native
	goes_by_vlans 1
	exits 0 attach x0 --mode native
	exits 0 verdict names refused --rollback 60
	complains 'x0: the driver takes VLAN tags off'
	counts_as name_unanswered
	exits 0 commit
	counts_as name_unanswered
}

t_vlans_come_and_go()
{
	begin_native
	exits 0 verdict names nxdomain
	exits 0 attach x0 --mode native --rollback 60
	! grep -q VLAN "$T/err" || fail "no VLAN is there: $(cat "$T/err")"
	counts_as name_nxdomain
	exits 0 commit
	counts_as name_nxdomain
	exits 0 status
	goes_by_vlans 1
	problem_is 'answers to queries on x0 may leave on another VLAN'
	exits 0 add 192.0.2.1
	complains 'x0: the driver takes VLAN tags off'
	exits 0 status
	counts_as name_unanswered
	goes_by_vlans 0
	problem_is 'queries on x0 are not answered'
	exits 0 up
	exits 0 status
	counts_as name_nxdomain
}

t_the_driver_leaves_tags()
{
	begin_native
	goes_by_vlans 1
	exits 0 verdict names nxdomain
	exits 0 attach x0 --mode native
	counts_as name_unanswered
	in_server ethtool -K x0 rxvlan off >/dev/null 2>&1
	problem_is 'queries on x0 are not answered'
	exits 0 up
	exits 0 status
	counts_as name_nxdomain
}

run_tests
