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
	begin
	rm -f "$T/seen"
	XB_FAULT_SEEN=$T/seen tool "$faulty" "$@" >/dev/null
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

# die_everywhere "KEPT..." "CHANGED..." COMMAND...: KEPT are listed throughout.
die_everywhere()
{
	local kept changed point points code

	read -ra kept <<<"$1"
	read -ra changed <<<"$2"
	shift 2
	points=$(points_of "$@")
	[[ -n $points ]] || fail "$1 passes no fault point"
	echo "$1 passes" $points
	for point in $points; do
		begin
		code=0
		XB_FAULT=$point tool "$faulty" "$@" >"$T/out" 2>"$T/err" || code=$?
		[[ $code -eq 137 ]] || fail "$point: exit code $code: $(cat "$T/err")"
		blocked "${kept[@]}"
		exits 0 add 10.77.0.6
		blocked "${kept[@]}" 10.77.0.6
		exits 0 test "${kept[@]}" 10.77.0.6
		[[ ${#changed[@]} -eq 0 ]] || whole_or_absent "${changed[@]}"
		passes 10.77.0.2 fd77::2
		exits 0 status
	done
}

t_add() { die_everywhere "${listed[*]}" "10.77.0.5 10.77.3.9 fd77::4" add 10.77.0.5 10.77.3.0/25 fd77::4; }

t_del() { die_everywhere "10.77.0.4" "10.77.0.3 fd77::3" del 10.77.0.3 fd77::3; }

t_import()
{
	printf '10.77.0.5\n10.77.3.0/24\nfd77::4\n192.0.2.1\n' >"$T/list"
	begin_from_nothing
	die_everywhere "${listed[*]}" "10.77.0.5 10.77.3.9 10.77.3.200 fd77::4" import "$T/list" --include-bogons
}

t_import_replace()
{
	printf '10.77.0.3\n10.77.0.4\nfd77::4\n10.77.0.5\n' >"$T/list"
	die_everywhere "10.77.0.3 10.77.0.4" "fd77::4 10.77.0.5" import "$T/list" --replace --include-bogons
}

t_import_bulk()
{
	{
		printf '172.16.%s\n' {0..203}.{0..249}
		printf '%s\n' 10.77.0.5 fd77::4
	} >"$T/list"
	begin_from_nothing
	die_everywhere "${listed[*]}" "10.77.0.5 fd77::4" import "$T/list" --include-bogons
}

t_rotate_with_wishes() { begin_from_nothing && die_everywhere "${listed[*]}" "" rotate --fpr 0.001 --capacity 9000; }

t_flush() { die_everywhere "" "${listed[*]}" flush --yes; }

t_rotate_no_confirm() { die_everywhere "${listed[*]}" "" rotate --no-confirm; }

# agree: what the store says of allowlist and policy is what packets meet.
agree()
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

# die_and_agree BEFORE COMMAND...: BEFORE is a function that goes on from the known state.
die_and_agree()
{
	local before=$1 point points code

	shift
	points=$(begin && "$before" && rm -f "$T/seen" &&
		XB_FAULT_SEEN=$T/seen tool "$faulty" -q "$@" >/dev/null && sort -u "$T/seen")
	[[ -n $points ]] || fail "$* passes no fault point"
	echo "$* passes" $points
	for point in $points; do
		begin
		"$before"
		code=0
		XB_FAULT=$point tool "$faulty" -q "$@" >"$T/out" 2>"$T/err" || code=$?
		[[ $code -eq 137 ]] || fail "$point: exit code $code: $(cat "$T/err")"
		blocked 10.77.0.4
		exits 0 up
		exits 0 status
		agree
	done
}

allow_one() { ctl allow add 10.77.0.3 fd77::3; }

t_allow() { die_and_agree : allow add 10.77.0.3 fd77::3; }

t_disallow() { die_and_agree allow_one allow del 10.77.0.3 fd77::3; }

allow_other() { ctl allow add fd77::3; }

t_allow_among_changes()
{
	printf 'add 10.77.0.5\nallow add 10.77.0.3\nallow del fd77::3\n' >"$T/batch"
	die_and_agree allow_other batch "$T/batch"
}

# Here the policy may already be the new one: nothing is blocked throughout.
t_policy()
{
	local policy point points code

	for policy in monitor allow-only; do
		points=$(points_of -q policy "$policy")
		for point in $points; do
			begin
			code=0
			XB_FAULT=$point tool "$faulty" -q policy "$policy" >/dev/null 2>&1 || code=$?
			[[ $code -eq 137 ]] || fail "$policy, $point: exit code $code"
			exits 0 up
			exits 0 status
			agree
			ctl -q policy enforce
			agree
		done
	done
}

# A repair that dies is repaired as well. The long run has every pair of points; the short one has pairs
# in which each point of either command comes once at least.
t_death_in_repair()
{
	local first second i j fewer firsts seconds

	mapfile -t firsts < <(points_of add 10.77.0.5)
	mapfile -t seconds < <(points_of rotate)
	fewer=$((${#firsts[@]} < ${#seconds[@]} ? ${#firsts[@]} : ${#seconds[@]}))
	[[ $fewer -gt 0 ]] || fail "no fault points"
	for i in "${!firsts[@]}"; do
		for j in "${!seconds[@]}"; do
			[[ -n ${XB_TEST_ALL:-} || $(((i - j) % fewer)) -eq 0 ]] || continue
			first=${firsts[i]} second=${seconds[j]}
			begin
			XB_FAULT=$first tool "$faulty" add 10.77.0.5 >/dev/null 2>&1 || true
			XB_FAULT=$second tool "$faulty" rotate >/dev/null 2>&1 || true
			blocked "${listed[@]}"
			exits 0 up
			exits 0 status
			point="$first, then $second"
			blocked "${listed[@]}"
			whole_or_absent 10.77.0.5
		done
	done
}

# kill -9 from outside, whenever, whatever it does.
t_kill_at_random()
{
	local number victim rounds=32
	local -a commands=(
		"add 198.51.100.@" "allow add 198.51.100.@" "rotate --no-confirm" "add 2001:db8::@"
		"allow del 198.51.100.@ --exist" "rotate --confirm" "allow add 2001:db8::/32 --exist"
		"policy enforce"
	)

	[[ -z ${XB_TEST_ALL:-} ]] || rounds=80
	begin
	for ((number = 1; number <= rounds; number++)); do
		# shellcheck disable=SC2086
		ctl -q ${commands[number % ${#commands[@]}]//@/$number} >/dev/null 2>&1 &
		victim=$!
		sleep "0.00$((RANDOM % 10))"
		kill -KILL $victim 2>/dev/null || true
		wait $victim 2>/dev/null || true
	done
	blocked "${listed[@]}"
	exits 0 up
	exits 0 status
	exits 0 test "${listed[@]}"
	blocked "${listed[@]}"
	passes 10.77.0.2
}

run_tests
