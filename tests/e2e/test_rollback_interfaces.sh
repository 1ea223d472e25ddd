#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# attach on trial goes back or stays, whatever becomes of the interface, and detach ends a trial.
# waits: more than it computes
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/interfaces.sh"
. "$root/tests/e2e/rollback.sh"

t_attach_goes_back_when_everything_is_killed()
{
	ctl add "$listed" "$listed6"
	ctl attach x0 --rollback 60 2>"$T/err"
	complains "bloomctl commit"
	blocked "$listed" "$listed6"
	ctl -q detach x0
	ctl -q attach x0 --rollback 3 2>/dev/null
	pkill -KILL bloomctl || true
	until_over 3
	passes "$listed" "$listed6"
	exits 3 status
	says '^PROBLEM     the trial of `attach x0` is over: the program is still there, and lets everything pass; bloomd, the timer xdp-bloom-expire or `bloomctl up` ends it'
	says '^NOTHING IS FILTERED'
	ctl up
	exits 1 status
	passes "$listed" "$listed6"
	[[ -z $(ip -n "$server" -d link show x0 | grep -o 'prog/xdp') ]] || fail "still attached"
	nothing_left 0
}

t_status_shows_what_is_on_trial()
{
	ctl add "$listed"
	ctl -q attach x0 --mode skb --rollback 60 2>/dev/null
	exits 0 status
	says '^x0 +attached \(mode skb, on trial\)$'
	! grep -q 'no interface is attached' "$T/out" || fail "x0 is on trial: $(cat "$T/out")"
	exits 0 -j status
	json '[(i["name"], i["state"], i["mode"], i["wanted"], i["on_trial"]) for i in d["interfaces"]] == [("x0", "attached", "skb", "no", True)]'
	exits 0 commit
	says '^`attach x0 --mode skb` is kept$'
	exits 0 -j status
	json '[(i["name"], i.get("on_trial")) for i in d["interfaces"]] == [("x0", None)]'
}

# What is wanted until the trial ends has to be filtered as well.
t_status_names_what_is_not_filtered_on_trial()
{
	local number

	ctl add "$listed"
	ctl -q attach x0 --rollback 600 2>/dev/null
	exits 0 status
	if ! is_dispatched x0; then
		number=$(index_of x0)
		bpftool link detach pinned "$pins/iface-$number"
		exits 3 status
		says '^PROBLEM +x0 is unfiltered: not attached; it is on trial: `bloomctl detach x0` ends that$'
		ctl -q detach x0
		ctl -q attach x0 --rollback 600 2>/dev/null
		ip -n "$server" link set x0 netns "$client" name moved
		exits 3 status
		says '^PROBLEM +x0 is in another network namespace, where the filter is still on it; '
		ctl -q detach x0
		! ip -n "$client" -d link show moved | contains prog/xdp || fail "what moved away is filtered still"
		ip -n "$client" link set moved netns "$server" name x0
		ctl -q attach x0 --rollback 600 2>/dev/null
	fi
	ip -n "$server" link del x0
	exits 3 -j status
	json '("unfiltered", "x0") in [(one["kind"], one.get("interface")) for one in d["problem_details"]]'
	join x0 0
	exits 3 status
	says '^PROBLEM +x0 is unfiltered: not attached; it is on trial'
	ctl -q detach x0
	ctl -q attach x0 --rollback 1 2>/dev/null
	ip -n "$server" link del x0
	until_over 1
	exits 3 status
	! grep -q unfiltered "$T/out" || fail "the trial is over: $(cat "$T/out")"
	exits 0 up
}

has_program() { ip -n "$server" -d link show x0 | contains prog/xdp; }
has_no_program() { ! has_program; }

# With bloomd nothing stays: it takes the program off when the trial is over.
t_the_agent_ends_what_is_over()
{
	ctl add "$listed"
	agent
	exits 0 attach x0 --rollback 3
	complains '^bloomctl: on trial; `bloomctl commit` within 3 seconds keeps it; otherwise all packets pass then, and bloomd takes the filter off$'
	has_program || fail "x0 has no program"
	wait_for "the end of the program" has_no_program
	no_problem
	nothing_left 0
	agent_ends
	exits 0 attach x0 --rollback 3
	complains 'and the filter stays on the interface until the next command, or the timer xdp-bloom-expire, takes it off$'
}

# The interface that was tried is kept, not another one that bears its name by then.
t_attach_of_a_renamed_interface()
{
	ctl add "$listed"
	ctl -q attach x0 --rollback 30 2>/dev/null
	rename_here x0 w0
	ip -n "$server" link add x0 type veth peer name y0
	exits 0 commit
	blocked "$listed"
	exits 0 -j status
	json '[i["name"] for i in d["interfaces"]] == ["w0"]'
	! ip -n "$server" -d link show x0 | contains prog/xdp || fail "x0 was never tried, and has a program"
	nothing_left
}

# An interface that was made anew was never tried: neither the trial nor its commit filters it.
t_attach_of_an_interface_made_anew()
{
	local number again

	ctl add "$listed"
	for again in other same; do
		ctl -q attach x0 --rollback 60 2>/dev/null
		number=$(ip -n "$server" -o link show x0 | cut -d: -f1)
		ip -n "$server" link del x0
		[[ $again == same ]] || number=$((number + 1000))
		join x0 0 "index $number"
		address x0
		ctl -q add "$other" --exist 2>/dev/null
		passes "$listed"
		exits 2 commit
		complains 'x0 lacks the filter that was on trial'
		passes "$listed"
		exits 0 detach x0
		exits 0 up
		passes "$listed"
		exits 1 status
		nothing_left 0
	done
}

# The interface on trial left with its filter, and another one came in its place.
t_attach_of_an_interface_that_moved_away()
{
	ctl add "$listed"
	ctl -q attach x0 --rollback 60 2>/dev/null
	! is_dispatched x0 || skip "libxdp knows interfaces of this network namespace only"
	ip -n "$server" link set x0 netns "$client" name moved
	ip -n "$server" link add x0 type veth peer name y0
	exits 2 commit
	complains 'x0 lacks the filter that was on trial'
	! ip -n "$server" -d link show x0 | contains prog/xdp || fail "x0 was never tried, and has a program"
	exits 0 detach x0
	! ip -n "$client" -d link show moved | contains prog/xdp || fail "what moved away is filtered still"
	exits 1 status
	nothing_left 0
}

# Names swapped with an interface that is wanted to last: that one stays filtered, whatever becomes
# of the trial.
t_attach_of_an_interface_that_swaps_its_name()
{
	local seconds

	begin
	for seconds in 60 3; do
		ip -n "$server" link add x1 type veth peer name y1
		ctl -q attach x1 --rollback $seconds 2>/dev/null
		rename_here x0 swap
		rename_here x1 x0
		rename_here swap x1
		ctl -q add "$other" --exist
		blocked "$listed" "$listed6"
		if [[ $seconds -eq 60 ]]; then
			exits 0 commit
		else
			until_over $seconds
		fi
		ctl -q up 2>/dev/null
		blocked "$listed" "$listed6"
		exits 0 status
		ip -n "$server" link del x0
		rename_here x1 x0
		ctl -q up 2>/dev/null || true
		ctl -q detach x1 2>/dev/null || true
		blocked "$listed" "$listed6"
		exits 0 status
	done
	nothing_left
}

# Another interface on trial: the first one is filtered all the time, and changes go on.
# A wish that lasts follows its interface to the name of one that is on trial; that one stays on trial.
t_attach_of_an_interface_whose_name_another_takes()
{
	local end

	begin
	ip -n "$server" link add x1 type veth peer name y1
	end=$((SECONDS + 6))
	ctl -q attach x1 --rollback 6 2>/dev/null
	rename_here x1 spare
	rename_here x0 x1
	ctl -q add "$other" --exist
	blocked "$listed" "$listed6"
	[[ -n $(program_on spare) || $SECONDS -ge $end ]] || fail "it is not on trial any more"
	until_over 6
	ctl -q up 2>/dev/null
	wanted x1
	blocked "$listed" "$listed6"
	[[ -z $(program_on spare) ]] || fail "it is attached without a commit"
	nothing_left
}

# The first command after it is the commit.
t_commit_of_an_interface_whose_name_another_took()
{
	begin
	ip -n "$server" link add x1 type veth peer name y1
	ctl -q attach x1 --rollback 30 2>/dev/null
	rename_here x1 spare
	rename_here x0 x1
	exits 0 -q commit
	wanted spare x1
	[[ -n $(program_on spare) ]] || fail "what was on trial is not kept"
	blocked "$listed" "$listed6"
	nothing_left
}

# The interface on trial is deleted, and another one, attached to last, gets its number.
t_attach_of_an_interface_with_the_number_of_one_on_trial()
{
	local index

	begin
	ip -n "$server" link add x1 type veth peer name y1
	index=$(index_of x1)
	ctl -q attach x1 --rollback 4 2>/dev/null
	ip -n "$server" link del x1
	join x2 0 "index $index"
	ctl -q attach x2
	filters x2
	until_over 4
	filters x2
	ctl -q up 2>/dev/null
	wanted x0 x2
	filters x2
	nothing_left
}

t_a_second_interface_on_trial()
{
	begin
	ip link add x1 netns "$server" type veth peer name y1 netns "$client"
	ip -n "$server" link set x1 up
	ip -n "$client" link set y1 up
	ip -n "$server" addr add 10.78.0.1/24 dev x1
	ip -n "$client" addr add 10.78.0.2/24 dev y1
	ctl add 10.78.0.2
	ctl -q attach x1 --rollback 60 2>/dev/null
	! in_client ping -q -c 1 -W 0.3 10.78.0.1 >/dev/null || fail "x1 is not filtered"
	ctl add "$other"
	blocked "$listed" "$other"
	ctl rotate
	blocked "$listed" "$other"
	! in_client ping -q -c 1 -W 0.3 10.78.0.1 >/dev/null || fail "x1 is not filtered after rotate"
	ctl -q detach x1
	ctl -q attach x1 --rollback 2 2>/dev/null
	ctl rotate
	until_over 2
	in_client ping -q -c 1 -W $((2 * patience)) 10.78.0.1 >/dev/null || fail "x1 is filtered after the trial"
	blocked "$listed" "$other"
	ctl up
	in_client ping -q -c 1 -W $((2 * patience)) 10.78.0.1 >/dev/null || fail "x1 is filtered after up"
	blocked "$listed" "$other"
	exits 0 -j status
	json '[i["name"] for i in d["interfaces"]] == ["x0"]'
	nothing_left
}

# Commands that look at the machine meanwhile see the interface on trial, too.
t_what_must_not_be_blocked_stays_allowed_on_trial()
{
	ctl add 0.0.0.0/0 --force
	ctl -q attach x0 --rollback 600 2>/dev/null
	blocked "$listed"
	ctl up
	exits 0 allow list --list auto:address
	says "^$server4 "
	ctl -q commit
	exits 0 allow list --list auto:address
	says "^$server4 "
}

# In need nobody waits.
t_detach_ends_a_trial()
{
	begin
	ctl -q rotate --rollback 600 2>/dev/null
	ctl detach x0
	passes "$listed" "$listed6"
	exits 1 status
	nothing_left 0
	ctl -q attach x0 --rollback 600 2>/dev/null
	blocked "$listed"
	exits 2 attach x0
	one_line
	complains "on trial"
	exits 3 policy monitor --rollback 60
	one_line
	complains 'another trial is running, and only one can at a time; `bloomctl commit` keeps it$'
	ctl detach x0
	passes "$listed"
	exits 1 status
	nothing_left 0
	ctl -q attach x0 --rollback 600 2>/dev/null
	ctl detach --all
	passes "$listed"
	nothing_left 0
}

run_tests
