#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Killed at every point where a change is half done: what was listed stays dropped, what was
# acknowledged stays listed, and the next command leaves the change whole or absent.
# waits: more than it computes
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

listed=(10.77.0.3 10.77.0.4 fd77::3)

# The known state each point starts from: two lists, one world. What a point before has left is taken back.
begin()
{
	if [[ -e $state ]]; then
		ctl -q batch - <<-END
			del 10.77.0.5 10.77.0.6 10.77.3.0/24 10.77.3.0/25 192.0.2.1 fd77::4 --exist
			add ${listed[*]} --exist
			allow del 10.77.0.3 fd77::3 --exist
		END
		return
	fi
	ctl add "${listed[@]}"
	ctl -q attach x0
}

# Where more is left than that, all of it goes.
begin_from_nothing()
{
	begin()
	{
		ctl -q detach --all 2>/dev/null
		rm -rf "$state" "$pins" "$counters"
		ctl add "${listed[@]}"
		ctl -q attach x0
	}
}

points_of()
{
	rm -f "$T/seen"
	XB_FAULT_SEEN=$T/seen tool "$faulty" -q "$@" >/dev/null
	sort -u "$T/seen"
}

# whole_or_absent ENTRY...: in the store all or none, and each packet agrees with the store.
whole_or_absent()
{
	if ctl test "$@" >"$T/out"; then
		blocked "$@"
	else
		[[ $(grep -c 'is not listed' "$T/out") -eq $# ]] || fail "$point: half of it: $(cat "$T/out")"
		passes "$@"
	fi
}

# dies_everywhere BEFORE AFTER COMMAND...: killed at each point that it passes. BEFORE is a function that goes on from the
# known state, AFTER one that looks at what is left.
dies_everywhere()
{
	local before=$1 after=$2 point points

	shift 2
	begin
	"$before"
	points=$(points_of "$@")
	[[ -n $points ]] || fail "$* passes no fault point"
	echo "$* passes" $points
	for point in $points; do
		begin
		"$before"
		dies_at "$point" "$@"
		"$after"
	done
}

# What is in kept is listed throughout; of what is in changed, all or nothing.
lists_are_left()
{
	blocked "${kept[@]}"
	exits 0 add 10.77.0.6
	blocked "${kept[@]}" 10.77.0.6
	exits 0 test "${kept[@]}" 10.77.0.6
	[[ ${#changed[@]} -eq 0 ]] || whole_or_absent "${changed[@]}"
	passes 10.77.0.2 fd77::2
	exits 0 status
}

# of_lists "KEPT..." "CHANGED..." COMMAND...
of_lists()
{
	local kept changed

	read -ra kept <<<"$1"
	read -ra changed <<<"$2"
	dies_everywhere : lists_are_left "${@:3}"
}

t_add() { of_lists "${listed[*]}" "10.77.0.5 10.77.3.9 fd77::4" add 10.77.0.5 10.77.3.0/25 fd77::4; }

t_del() { of_lists 10.77.0.4 "10.77.0.3 fd77::3" del 10.77.0.3 fd77::3; }

t_import()
{
	printf '10.77.0.5\n10.77.3.0/24\nfd77::4\n192.0.2.1\n' >"$T/list"
	begin_from_nothing
	of_lists "${listed[*]}" "10.77.0.5 10.77.3.9 10.77.3.200 fd77::4" import "$T/list" --include-bogons
}

t_import_replace()
{
	printf '10.77.0.3\n10.77.0.4\nfd77::4\n10.77.0.5\n' >"$T/list"
	of_lists "10.77.0.3 10.77.0.4" "fd77::4 10.77.0.5" import "$T/list" --replace --include-bogons
}

t_import_bulk()
{
	{
		printf '172.16.%s\n' {0..203}.{0..249}
		printf '%s\n' 10.77.0.5 fd77::4
	} >"$T/list"
	begin_from_nothing
	of_lists "${listed[*]}" "10.77.0.5 fd77::4" import "$T/list" --include-bogons
}

t_rotate_with_wishes() { begin_from_nothing && of_lists "${listed[*]}" "" rotate --fpr 0.001 --capacity 9000; }

t_flush() { of_lists "" "${listed[*]}" flush --yes; }

t_rotate_no_confirm() { of_lists "${listed[*]}" "" rotate --no-confirm; }

# What the store says of allowlist and policy is what packets meet.
agrees()
{
	local one policy

	policy=$(ctl policy)
	for one in "${listed[@]}"; do
		if [[ $policy != enforce ]] || ctl -q allow test "$one"; then
			passes "$one"
		else
			blocked "$one"
		fi
	done
	if [[ $policy == allow-only ]]; then
		blocked 10.77.0.2 fd77::2
	else
		passes 10.77.0.2 fd77::2
	fi
}

allowlist_is_left()
{
	blocked 10.77.0.4
	exits 0 up
	exits 0 status
	agrees
}

allow_both() { ctl allow add 10.77.0.3 fd77::3; }

allow_other() { ctl allow add fd77::3; }

t_allow() { dies_everywhere : allowlist_is_left allow add 10.77.0.3 fd77::3; }

t_disallow() { dies_everywhere allow_both allowlist_is_left allow del 10.77.0.3 fd77::3; }

t_allow_among_changes()
{
	printf 'add 10.77.0.5\nallow add 10.77.0.3\nallow del fd77::3\n' >"$T/batch"
	dies_everywhere allow_other allowlist_is_left batch "$T/batch"
}

# Here the policy may already be the new one: nothing is blocked throughout.
policy_is_left()
{
	exits 0 up
	exits 0 status
	agrees
	ctl -q policy enforce
	agrees
}

t_policy()
{
	local policy

	for policy in monitor allow-only; do
		dies_everywhere : policy_is_left policy $policy
		ctl -q policy enforce
	done
}

# A repair that dies is repaired as well. The long run has every pair of points; the short one has pairs
# in which each point of either command comes once at least.
t_death_in_repair()
{
	local first second i j fewer firsts seconds

	begin
	mapfile -t firsts < <(points_of add 10.77.0.5)
	mapfile -t seconds < <(points_of rotate)
	fewer=$((${#firsts[@]} < ${#seconds[@]} ? ${#firsts[@]} : ${#seconds[@]}))
	[[ $fewer -gt 0 ]] || fail "no fault points"
	for i in "${!firsts[@]}"; do
		for j in "${!seconds[@]}"; do
			[[ -n ${XB_TEST_ALL:-} || $(((i - j) % fewer)) -eq 0 ]] || continue
			first=${firsts[i]} second=${seconds[j]}
			begin
			dies_at "$first" add 10.77.0.5
			dies_at "$second" rotate
			blocked "${listed[@]}"
			exits 0 up
			exits 0 status
			point="$first, then $second"
			blocked "${listed[@]}"
			whole_or_absent 10.77.0.5
		done
	done
}

run_tests
