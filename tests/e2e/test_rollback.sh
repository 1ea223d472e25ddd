#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A change on trial goes back automatically when nobody is left, and stays when it was committed.
# waits: more than it computes
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/rollback.sh"

# What packets meet meanwhile and afterwards, of each command that can be tried, tests/commands asks.
t_goes_back_or_stays()
{
	begin
	ctl -q policy monitor --rollback 60 2>/dev/null
	passes "$listed" "$listed6"
	exits 0 commit
	[[ $(cat "$T/out") == '`policy monitor` is kept' ]]
	passes "$listed" "$listed6"
	exits 0 -q policy enforce --rollback 60
	exits 0 -q commit
	[[ ! -s $T/out ]]
	exits 0 -q policy monitor --rollback 60
	exits 0 -j commit
	json 'd["policy"] == "monitor"'
	ctl -q policy enforce
	ctl -q policy monitor --rollback 2 2>/dev/null
	until_over 2
	blocked "$listed" "$listed6"
	exits 0 policy
	says '^enforce$'
	kept policy monitor
	passes "$listed" "$listed6"
	nothing_left
}

# The program in the kernel knows no time namespaces.
t_from_another_time_namespace()
{
	local elsewhere=(in_server unshare --time --monotonic 3600 --boottime 3600 --fork
		"$bloomctl" --state "$state" --pin "$pins" --run "$counters" -q)

	[[ -e /proc/self/timens_offsets ]] || skip "no time namespaces"
	begin
	"${elsewhere[@]}" policy monitor --rollback 60 2>/dev/null
	passes "$listed"
	exits 0 -j status
	json '0 < d["trial"]["seconds_left"] <= 60'
	exits 0 -q commit
	exits 0 -q policy enforce --rollback 60
	in_server unshare --time --monotonic 3600 --fork "$bloomctl" --state "$state" --pin "$pins" \
		--run "$counters" -q commit
	exits 0 policy
	says '^enforce$'
	"${elsewhere[@]}" policy monitor --rollback 2 2>/dev/null
	until_over 2
	blocked "$listed"
}

t_text_that_is_gone_when_it_is_committed()
{
	local text=$T/list

	begin
	echo "$other" >"$text"
	ctl -q import - --replace --include-bogons --rollback 60 <"$text" 2>/dev/null
	passes "$listed" "$listed6"
	blocked "$other"
	exits 0 list
	says "$listed"
	rm "$text"
	ctl -q commit
	passes "$listed" "$listed6"
	blocked "$other"
	# A pipe is read once.
	ctl -q import <(echo "$listed") --replace --include-bogons --rollback 600 2>/dev/null
	blocked "$listed"
	passes "$other"
	ctl -q commit
	blocked "$listed"
	passes "$other"
	nothing_left
}

# It answers while the trial is on, and not when that is over.
t_restore_is_tried()
{
	begin
	ctl save >"$T/saved"
	ctl -q del "$listed"
	ctl -q restore "$T/saved" --rollback 30 2>/dev/null
	blocked "$listed"
	exits 0 commit
	blocked "$listed"
	nothing_left
}

# Others wait, and lose nothing: whether it is committed or not.
t_changes_wait_for_the_end()
{
	local seconds waiting

	begin
	for seconds in 2 10 40; do
		ctl -q rotate --rollback $seconds 2>/dev/null
		ctl add "$other" --exist 2>"$T/err"
		! grep -q waiting "$T/err" || break # else it was over before
	done
	complains "waiting, for another .*on trial for another"
	blocked "$listed" "$other"
	echo "10.77.0.5" | ctl -q import - --include-bogons --rollback 120 2>/dev/null
	ctl --wait 120 del "$other" >/dev/null 2>"$T/err" &
	waiting=$!
	wait_for "the notice" grep -q "waiting, for another" "$T/err"
	blocked "$other" 10.77.0.5
	ctl -q commit
	wait "$waiting"
	passes "$other"
	blocked "$listed" 10.77.0.5
	nothing_left
}

# Whoever is killed in the middle of beginning or of ending: nobody is left filtered, nothing is left.
t_killed_at_every_point_of_a_trial()
{
	local point

	ctl add "$listed"
	for point in trial-pinned trial-recorded trial-begun; do
		dies_at $point attach x0 --rollback 2
		until_over 2
		passes "$listed"
		ctl up
		passes "$listed"
		exits 1 status
		nothing_left 0
	done
	ctl -q attach x0
	for point in trial-pinned trial-recorded trial-begun; do
		dies_at $point import - --replace --include-bogons --rollback 2 <<<"$other"
		until_over 2
		blocked "$listed"
		passes "$other"
		ctl rotate
		blocked "$listed"
		nothing_left
	done
	ctl -q policy monitor --rollback 1 2>/dev/null
	until_over 1
	dies_at rollback-released up
	blocked "$listed"
	ctl up
	blocked "$listed"
	exits 0 status
	nothing_left
}

# One after the other of the times that a command asks the kernel about a program, a map, a bpf_link, or what stands in an
# array of programs, it gets no answer: the command says so in a line, or goes on.
without_each()
{
	local number=0

	[[ -e $T/no_answer.so ]] || "${CC:-cc}" -D_GNU_SOURCE -shared -fPIC -o "$T/no_answer.so" "$root/tests/e2e/no_answer.c" -lbpf -ldl
	: >"$T/complaints"
	while [[ $number -eq 0 || -s $T/failed ]]; do
		number=$((number + 1))
		XB_NO_ANSWER=$number preloaded "$T/no_answer.so" tool "$bloomctl" -q "$@" >"$T/out" 2>"$T/err" 9>"$T/failed" || true
		[[ ! -s $T/err ]] || { one_line && complains 'annot allocate memory'; }
		cat "$T/err" >>"$T/complaints"
	done
	echo "asked $((number - 1)) times"
	[[ $number -gt 10 ]] || fail "that is too few"
	grep -q 'cannot read which filter is in force: ' "$T/complaints" || fail "the slot was not asked about"
}

# While the guard of a trial stands in the slot, whoever cannot read that leaves the guard its pins.
t_a_slot_that_cannot_be_read()
{
	begin
	ctl -q rotate --rollback 1 2>/dev/null
	until_over 1
	flood without_each up
	flood exits 0 up
	nothing_left
}

# Who gets no answer takes nothing of ours for another's. An interface is on trial.
t_objects_that_cannot_be_asked_about()
{
	join x1 1
	begin
	ctl -q attach x1 --rollback 600 2>/dev/null
	flood without_each up
	exits 0 status
	says 'TRIAL .*attach x1'
	exits 0 commit
}

# Killed while it commits: either it counts as committed, or it goes back; never anything between.
t_killed_while_committing()
{
	local points point

	begin
	rm -f "$T/seen"
	echo "$other" | ctl -q import - --replace --include-bogons --rollback 60 2>/dev/null
	XB_FAULT_SEEN=$T/seen tool "$faulty" -q commit
	points=$(sort -u "$T/seen")
	[[ -n $points ]] || fail "commit passes no fault point"
	for point in $points; do
		ctl -q import - --replace --include-bogons <<<"$listed"
		ctl -q import - --replace --include-bogons --rollback 60 <<<"$other" 2>/dev/null
		dies_at $point commit
		if ctl -q test "$other" && ! ctl -q test "$listed"; then
			ctl up
			blocked "$other"
			passes "$listed"
		else
			# still on trial, with more time: a second commit takes it up
			blocked "$other"
			ctl -q commit || fail "$point: cannot be committed again"
			blocked "$other"
			passes "$listed"
		fi
		nothing_left
	done
}

# Others wait for a commit as long as it lives, however soon the trial would have ended; once it is
# dead the trial has the time it had without it.
t_others_do_not_wait_for_a_dead_commit()
{
	begin
	ctl -q import - --replace --include-bogons --rollback 2 <<<"$other" 2>/dev/null
	dies_at commit-before commit
	timeout 60 nsenter --net="/run/netns/$server" "$bloomctl" --state "$state" --pin "$pins" \
		--run "$counters" add 10.77.0.5 2>/dev/null || fail "waits for a commit that is dead"
	blocked "$listed" 10.77.0.5
	passes "$other"
	exits 1 test "$other"
	exits 1 commit
	ctl -q up # it may take generations away, add may not
	nothing_left
}

# commit_in_the_middle COMMAND...: on trial, and its commit, `committing`, waits for its turn. On trial for
# `seconds`, which a busy machine may need more of.
commit_in_the_middle()
{
	for seconds in 3 10 60; do
		ctl -q "$@" --rollback $seconds 2>/dev/null
		hold_builder
		nsenter --net="/run/netns/$server" "$bloomctl" --state "$state" --pin "$pins" \
			--run "$counters" -q --wait 120 commit >"$T/out" 2>"$T/err" &
		committing=$!
		wait_for "the commit" awaits_its_turn "$committing"
		! kill -0 "$committing" 2>/dev/null || return 0
		let_builder_go
	done
	fail "the trial was over before its commit began"
}

# Nobody runs a command: the kernel has the time of the trial alone.
t_a_commit_that_dies_or_hangs_gives_the_trial_no_time()
{
	local committing seconds signal

	begin
	for signal in KILL TERM STOP; do
		commit_in_the_middle policy monitor
		kill -"$signal" "$committing"
		wait_for "the former policy after $signal" is_dropped "$listed"
		let_builder_go
		kill -KILL "$committing" 2>/dev/null || true
		wait "$committing" || true
		exits 1 commit
		exits 0 policy
		says '^enforce$'
		ctl -q up
		nothing_left
	done
}

t_commit_outlives_its_terminal()
{
	local committing seconds

	begin
	commit_in_the_middle policy monitor
	kill -HUP "$committing"
	let_builder_go
	wait "$committing" || fail "commit: exit code $?: $(cat "$T/err")"
	until_over "$seconds"
	passes "$listed"
	exits 0 policy
	says '^monitor$'
	nothing_left
}

# Or has ended, as there was nothing to commit any more.
awaits_its_turn() { is_awaited "$state/builder.lock" || ! kill -0 "$1"; }

t_others_wait_for_a_live_commit()
{
	local committing waiting seconds

	begin
	echo "$other" >"$T/list"
	commit_in_the_middle import "$T/list" --replace --include-bogons
	ctl --wait 120 add 10.77.0.5 >/dev/null 2>"$T/waiting" &
	waiting=$!
	wait_for "the notice" grep -q "waiting, for another" "$T/waiting"
	until_over "$seconds"
	kill -0 "$waiting" || fail "add does not wait"
	let_builder_go
	wait "$committing" || fail "commit: exit code $?: $(cat "$T/err")"
	wait "$waiting" || fail "add: exit code $?"
	blocked "$other" 10.77.0.5
	passes "$listed"
	nothing_left
}

# A commit that waits for its turn does not bring back what was ended meanwhile.
t_commit_comes_too_late()
{
	local committing code=0

	begin
	ctl -q import - --replace --include-bogons --rollback 600 <<<"$other" 2>/dev/null
	hold_builder
	ctl -q --wait 120 commit >"$T/out" 2>"$T/err" &
	committing=$!
	wait_for "the commit" is_awaited "$state/builder.lock"
	ctl -q --wait 120 detach x0 &
	wait_for "the detach" is_awaited "$state/builder.lock" 2
	let_builder_go
	wait "$committing" || code=$?
	wait
	[[ $code -eq 3 ]] || fail "commit: exit code $code: $(cat "$T/err")"
	complains "ended before it was committed"
	passes "$listed" "$other"
	exits 0 test "$listed"
	exits 1 test "$other"
}

t_bad_input()
{
	local words pattern

	echo "$other" >"$T/list"
	echo "nonsense" >"$T/nonsense"
	ctl add "$listed"
	while IFS='|' read -r words pattern; do
		# shellcheck disable=SC2086
		exits 2 $words --rollback 5
		one_line
		complains "$pattern"
	done <<-END
		import $T/list --include-bogons|nothing is enforced.*attach. first
		policy monitor|nothing is enforced.*attach. first
		rotate|nothing is enforced
		policy|without a policy there is nothing to roll back
	END
	exits 1 commit
	one_line
	complains "nothing to commit"
	ctl -q attach x0
	join x1 1
	while IFS='|' read -r words pattern; do
		# shellcheck disable=SC2086
		exits 2 $words --rollback 5
		one_line
		complains "$pattern"
	done <<-END
		attach x0 x1|some of these interfaces are attached already
		attach x0 --mode skb|x0 is attached already, in native mode, and a change of mode cannot be tried
		import $T/nonsense|$T/nonsense:1
	END
	blocked "$listed"
	nothing_left
}

# As in a recipe that somebody follows after the README.
t_attached_already()
{
	begin
	exits 0 attach x0 --rollback 5
	says '^x0 attached in native mode$'
	complains "attached already, so nothing is on trial, and there is nothing to commit"
	exits 1 commit
	complains "nothing to commit"
	blocked "$listed"
	exits 0 status
	nothing_left
}

# The fatal one: only listed sources pass, and one's own is not among them.
t_allow_only_goes_back()
{
	begin
	ctl -q policy allow-only --rollback 60 2>/dev/null
	passes "$listed"
	blocked "$other"
	ctl -q commit
	ctl -q policy enforce
	ctl -q policy allow-only --rollback 2 2>/dev/null
	until_over 2
	passes "$other"
	blocked "$listed"
}

t_rotate_goes_back_or_stays()
{
	begin
	exits 0 -j rotate --no-confirm --rollback 2
	until_over 2
	ctl up
	exits 0 -j status
	json 'd["generation"]["confirm"]'
	kept rotate --no-confirm
	exits 0 -j status
	json 'not d["generation"]["confirm"]'
	blocked "$listed" "$listed6"
	nothing_left
}

run_tests
