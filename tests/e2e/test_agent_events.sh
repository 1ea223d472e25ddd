#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# bloomd follows the machine: addresses, routes, interfaces, name servers and pins that change, without
# any command.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
# shellcheck disable=SC2119 # agent and agent_ends without arguments
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/agent.sh"

# within SECONDS WHAT COMMAND...
within()
{
	local end=$((SECONDS + $1 * patience))

	until "${@:3}" >/dev/null 2>&1; do
		((SECONDS <= end)) || fail "$2 does not come within $1 seconds"
		sleep 0.1
	done
}

allows() { { ctl -q -j status || true; } | python3 -c 'import json, sys
sys.exit((sys.argv[1], sys.argv[2]) not in [(one["entry"], one["kind"]) for one in json.load(sys.stdin)["allowlist"]["automatic"]])' "$1" "$2"; }

allows_not() { ! allows "$@"; }

is_well() { ctl -q status; }

# What changed while it did not run is looked at when it starts.
t_what_is_allowed()
{
	resolvers 192.0.2.53
	ctl -q attach x0
	ip -n "$server" addr add 192.0.2.6/24 dev x0
	allows_not 192.0.2.6 address || fail "a command has allowed it"
	agent
	within 3 "192.0.2.6" allows 192.0.2.6 address
	allows 192.0.2.53 resolver || fail "the first name server is not allowed"
	resolvers 192.0.2.54
	ip -n "$server" addr add 192.0.2.7/24 dev x0
	ip -n "$server" addr add 2001:db8::7/64 dev x0 nodad
	ip -n "$server" route add default via 10.77.0.9 dev x0
	within 3 "192.0.2.54" allows 192.0.2.54 resolver
	within 3 "the end of 192.0.2.53" allows_not 192.0.2.53 resolver
	within 3 "192.0.2.7" allows 192.0.2.7 address
	within 3 "2001:db8::7" allows 2001:db8::7 address
	within 3 "10.77.0.9" allows 10.77.0.9 gateway
	ip -n "$server" addr del 192.0.2.7/24 dev x0
	ip -n "$server" route replace default via 10.77.0.10 dev x0
	within 3 "the end of 192.0.2.7" allows_not 192.0.2.7 address
	within 3 "10.77.0.10" allows 10.77.0.10 gateway
	within 3 "the end of 10.77.0.9" allows_not 10.77.0.9 gateway
	allows 2001:db8::7 address
	agent_ends
	[[ ! -s $T/agent.err ]] || ! grep -qi error "$T/agent.err" || fail "$(cat "$T/agent.err")"
}

# Frames judge.
t_interface_made_anew()
{
	begin
	blocked 10.77.0.3
	ip -n "$server" link del x0
	says_agent 'x0 is unfiltered: missing'
	join x0 0
	address x0
	within 3 "the filter on x0" is_well
	blocked 10.77.0.3
	passes 10.77.0.4
}

# stopped COMMAND...: while bloomd stands still; it ends the filtering of x0, which is there again soon after.
stopped()
{
	agent_stands
	"$@"
	! is_well || fail "all is well after $*"
	kill -CONT "$agent"
	within 3 "the filter on x0" is_well
	blocked 10.77.0.3
}

t_what_others_take_away()
{
	begin
	within 3 "the first look" is_well
	is_dispatched x0 || stopped take_off # of the dispatcher, another program would have to be taken off
	stopped find "$pins" -mindepth 1 -delete
	passes 10.77.0.4
	stopped rm -r "$pins"
}

take_off() { find "$pins" -name 'iface-[0-9]*' -exec bpftool link detach pinned {} \;; }

# More news than the kernel keeps for a reader: it looks anew.
t_news_that_are_lost()
{
	begin
	within 3 "the first look" allows 10.77.0.1 address
	wait_for "its rest" is_quiet 1
	agent_stands
	for i in {1..400}; do
		echo "link set x0 mtu $((1400 + i % 50))"
	done | ip -n "$server" -batch -
	ip -n "$server" addr add 192.0.2.7/24 dev x0
	kill -CONT "$agent"
	within 3 "192.0.2.7" allows 192.0.2.7 address
	ip -n "$server" addr add 192.0.2.8/24 dev x0
	within 3 "192.0.2.8" allows 192.0.2.8 address
}

# Nothing is done on a trial, nor while another writer has the lock; all of it afterwards.
t_while_others_write()
{
	begin
	ctl -q policy monitor --rollback 60
	ip -n "$server" addr add 192.0.2.7/24 dev x0
	sleep 1.5
	allows_not 192.0.2.7 address || fail "it wrote under the trial"
	exits 0 commit
	wait_for "192.0.2.7" allows 192.0.2.7 address
	# One that nobody ends.
	ctl -q policy enforce --rollback 1
	ip -n "$server" addr add 192.0.2.8/24 dev x0
	wait_for "192.0.2.8" allows 192.0.2.8 address
	[[ $(ctl -j policy) == *monitor* ]] || fail "the trial lasts"
	stands_at commit-before add 10.77.0.5
	ip -n "$server" addr add 192.0.2.9/24 dev x0
	sleep 1
	allows_not 192.0.2.9 address || fail "it wrote beside another writer"
	goes_on 0
	wait_for "192.0.2.9" allows 192.0.2.9 address
}

# Neither its own writes nor what nobody can mend keep it busy.
t_no_loop()
{
	join x1 1
	ctl -q attach x0 x1
	ip -n "$server" link del x1
	agent
	says_agent 'x1 is unfiltered: missing'
	ip -n "$server" addr add 192.0.2.7/24 dev x0
	within 3 "192.0.2.7" allows 192.0.2.7 address
	wait_for "its rest" is_quiet 2
	is_quiet 11 || fail "it woke up $(wakes) times"
	[[ $(grep -c 'x1 is unfiltered' "$T/agent.err") -eq 1 ]] || fail "$(cat "$T/agent.err")"
	join x1 1
	within 3 "the filter on x1" is_well
}

# gateway ADDRESS: bloomd follows, and does nothing more.
gateway()
{
	ip -n "$server" route replace default via "$1" dev x0
	wait_for "$1" allows "$1" gateway
	sleep 0.5
}

# A burst is one look: routes come and go all the while.
t_burst()
{
	local before one many

	begin
	sleep 1
	before=$(worked)
	gateway 10.77.0.9
	one=$(($(worked) - before))
	before=$(worked)
	for i in {1..2000}; do
		echo "route replace 198.51.100.0/24 via 10.77.0.$((2 + i % 5)) dev x0"
		echo "route replace default via 10.77.0.$((2 + i % 5)) dev x0"
	done | ip -n "$server" -batch -
	gateway 10.77.0.6
	many=$(($(worked) - before))
	echo "$((many / 1000)) us of processors for 4000 changes, $((one / 1000)) for one"
	[[ $many -lt $((100 * one)) ]] || fail "4000 changes cost as much as $((many / one)) that come alone"
}

# Those of another network namespace are none of its business.
t_another_namespace()
{
	ctl -q attach x0
	server=$client counters=$T/other-run agent
	ip -n "$client" addr add 192.0.2.7/24 dev x0
	sleep 1
	allows_not 192.0.2.7 address || fail "it took the namespace over"
	is_well
	agent_ends
}

run_tests
