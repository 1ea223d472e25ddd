#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Attached is not filtered: drivers that do not call the program, and how that is found, told and cured.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

# A driver that lies, as far as a kernel without one can have it: the kernel counts frames that tc has redirected to
# the other end of a veth as received, and its generic XDP leaves them out.
make_liar()
{
	in_client sysctl -qw net.ipv6.conf.all.disable_ipv6=1
	ip -n "$client" link add lie0 type veth peer name lie1
	ip -n "$client" link set lie0 up
	ip -n "$client" link set lie1 up
	in_client tc qdisc add dev lie0 clsact
	in_client tc filter add dev lie0 egress protocol all u32 match u32 0 0 action mirred egress redirect dev x0
	ip -n "$client" addr add 10.78.0.2/24 dev lie0
	ip -n "$client" neigh replace 10.78.0.1 lladdr 02:00:00:00:00:01 dev lie0 nud permanent
}

liar=
# begin_lies: frames come, and no program sees them, until end_lies.
begin_lies()
{
	nsenter --net="/run/netns/$client" ping -q -i 0.002 10.78.0.1 >/dev/null 2>&1 &
	liar=$!
	wait_for "more frames than may be under way" more_than $(($(received) + 30))
}

end_lies()
{
	kill "$liar"
	wait "$liar" || true
}

received() { ip -n "$server" -s -j link show x0 | of_json 'd[0]["stats64"]["rx"]["packets"]'; }
more_than() { [[ $(received) -gt $1 ]]; }

# lie FRAMES: and then nothing comes.
lie()
{
	in_client ping -q -i 0.01 -c "$1" -W 0.1 10.78.0.1 >/dev/null 2>&1 || true
}

# is_honest COMMAND...: while frames come that reach the filter.
is_honest()
{
	in_client ping -q -i 0.02 -I 10.77.0.2 $server4 >/dev/null 2>&1 &
	liar=$!
	"$@"
	end_lies
}

t_nothing_has_come()
{
	in_client sysctl -qw net.ipv6.conf.all.disable_ipv6=1
	exits 0 attach x0
	exits 0 status
	says '^  no packets seen since it was attached, 20'
	exits 0 -j status
	json '"packets_seen" not in d["interfaces"][0] and d["interfaces"][0]["no_packets_since"] > 0'
	passes 10.77.0.2
	exits 0 -j status
	json 'd["interfaces"][0]["packets_seen"] and "no_packets_since" not in d["interfaces"][0]'
}

t_a_liar_is_found()
{
	make_liar
	exits 0 attach x0 --mode skb
	passes 10.77.0.2
	exits 0 status
	begin_lies
	exits 3 -j status
	json '[p["kind"] for p in d["problem_details"]] == ["unfiltered"] and not d["ok"]'
	json 'd["interfaces"][0]["state"] == "attached, but the driver does not call the filter"'
	exits 3 status
	says '^PROBLEM +unfiltered: x0: the driver does not call the filter, though it is attached: [0-9]+ packets came in since'
	exits 3 up
	complains 'x0: the driver does not call .*; it is attached anew, and was without it for [0-9.]+ ms meanwhile$'
	complains '^bloomctl: warning: unfiltered: x0: the driver does not call the filter'
	# A command in between that looks once cannot tell, and must not hide it.
	exits 0 add 192.0.2.1
	exits 3 status
	end_lies
	is_honest exits 0 up
	exits 0 status
}

# Nobody looked while they came.
t_what_came_before()
{
	make_liar
	exits 0 attach x0 --mode skb
	passes 10.77.0.2
	lie 20
	exits 3 -j status
	json '[p["kind"] for p in d["problem_details"]] == ["unproven"]'
	exits 3 status
	says '^PROBLEM +x0: the filter has not seen [12][0-9] of the packets that came in since 20'
	exits 0 metrics
	says '^xdp_bloom_enforcing\{interface="x0"\} 0$'
	is_honest exits 0 up
	exits 0 status
}

t_attach_does_not_believe()
{
	make_liar
	begin_lies
	exits 3 attach x0 --mode skb
	one_line
	complains '^bloomctl: x0: the driver took the filter in skb mode and does not call it: [0-9]+ packets came in'
	! ip -n "$server" -d link show x0 | contains xdp || fail "the filter is still on x0"
	exits 1 -j status
	json 'd["interfaces"] == []'
	# The same frames reach a program in the driver.
	exits 0 attach x0
	says 'x0 attached in native mode'
	exits 0 status
	end_lies
}

t_the_agent_finds_a_liar()
{
	make_liar
	exits 0 attach x0 --mode skb
	passes 10.77.0.2
	agent
	begin_lies
	wait_for "the warning" grep -q "x0: the driver does not call the filter, .* attached anew" "$T/agent.err"
	wait_for "that it did not help" grep -q "x0 is unfiltered\|unfiltered: x0: the driver does not call" "$T/agent.err"
	end_lies
	is_honest wait_for "the end of it" ctl status
	agent_ends
}

# A program that passes all stands in the slot: the filter is attached, and never called. No event tells of that.
t_the_agent_finds_a_program_between()
{
	exits 0 attach x0
	! is_dispatched x0 || skip "its slot takes programs of another kind"
	ctl add 10.77.0.3
	agent
	blocked 10.77.0.3
	python3 "$root/tests/e2e/between.py" "$pins/link/slot"
	passes 10.77.0.3
	is_honest wait_for "the filter" ctl status
	blocked 10.77.0.3
	agent_ends
}

run_tests
