#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Who may use it: root and a group in turns, with three capabilities; what is missing is named.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/member.sh"

listed=(10.77.0.3 fd77::3)

# every_verb EXITS: each as somebody who is not alone: what there is was made by others.
every_verb()
{
	local run=$1

	$run 0 doctor
	$run 0 add 10.77.0.4 fd77::4 --list mine --comment "from $run"
	$run 0 batch "$T/batch"
	$run 0 attach x0
	blocked 10.77.0.3 10.77.0.4 10.77.0.6 fd77::3 fd77::4
	passes 10.77.0.2 fd77::2
	$run 0 status
	$run 0 test 10.77.0.4
	says 'drop'
	$run 1 test 10.77.0.2
	$run 0 list
	$run 0 stats
	$run 0 import "$T/list" --list imported --replace --include-bogons
	blocked 10.77.0.5 10.77.3.9
	$run 0 rotate --fpr 0.001
	$run 0 allow add 10.77.0.5
	passes 10.77.0.5
	$run 0 allow del 10.77.0.5
	$run 0 policy monitor
	passes 10.77.0.3
	$run 0 policy enforce --rollback 60
	blocked 10.77.0.3
	$run 0 commit
	$run 0 import "$T/batch-list" --list tried --include-bogons --rollback 60
	blocked 10.77.0.6
	$run 0 commit
	$run 0 verdict names refused
	$run 0 ports tls 443
	$run 0 ports tls off
	$run 0 plan --entries 1000 --fpr 0.001
	$run 0 save
	install -m 0644 "$T/out" "$T/saved"
	$run 0 flush --list tried --yes
	$run 0 restore "$T/saved"
	rm -rf "${pins:?}"/*
	$run 0 up
	blocked 10.77.0.3 10.77.0.4 10.77.0.5 fd77::3 fd77::4
	right_modes
	$run 0 del 10.77.0.4 fd77::4
	passes 10.77.0.4 fd77::4
	$run 0 detach x0
	passes 10.77.0.3
	$run 0 attach x0 --rollback 60
	blocked 10.77.0.3
	$run 0 commit
	right_modes
}

prepare()
{
	printf 'add 10.77.0.6\nadd ads.example --list names\n' >"$T/batch"
	printf '10.77.0.6\n192.0.2.6\n' >"$T/batch-list"
	printf '10.77.0.5\n10.77.3.0/25\nfd77::7\n' >"$T/list"
	chmod 0644 "$T/batch" "$T/batch-list" "$T/list"
	share
	ctl add "${listed[@]}"
}

# Members do not get along with libxdp's dispatcher, which root uses where the kernel has it.
between_turns()
{
	ctl del 10.77.0.6 ads.example
	! is_dispatched x0 || ctl detach x0
}

# In turns, each with what the other made; the umask of either decides nothing.
t_turns()
{
	umask 0777
	prepare
	every_verb member_exits
	between_turns
	umask 0
	every_verb exits
	between_turns
	umask 0777
	every_verb member_exits
}

t_member_watches()
{
	prepare
	member_exits 0 attach x0
	local watcher

	member_ctl watch --count 3 >"$T/drops" 2>"$T/err" &
	watcher=$!
	for ((i = 0; i < 100; i++)); do
		blocked 10.77.0.3
		kill -0 "$watcher" 2>/dev/null || break
	done
	wait "$watcher" || fail "watch: $(cat "$T/err")"
	grep -q 10.77.0.3 "$T/drops" || fail "watch saw nothing: $(cat "$T/drops")"
}

# A group that may list and unlist, but not load: what exists is changed with the right to its pins.
t_no_capabilities()
{
	prepare
	exits 0 attach x0
	as 0 "$member" "$group" "" add 10.77.0.4
	blocked 10.77.0.4 10.77.0.3
	as 0 "$member" "$group" "" test 10.77.0.4
	as 0 "$member" "$group" "" status
	as 0 "$member" "$group" "" del 10.77.0.4
	passes 10.77.0.4
	unchanged_by "CAP_BPF CAP_NET_ADMIN CAP_PERFMON" "" rotate
}

# unchanged_by "NAMED" "CAPABILITY..." ARGUMENT...: refused, with these named, and nothing is different.
unchanged_by()
{
	local named=$1 rights=$2 before

	shift 2
	before=$(ctl save; ctl allow list; find "$pins" "$state" "$counters" -printf '%p %i %M %g\n' | sort)
	as 3 "$member" "$group" "$rights" "$@"
	one_line
	complains "missing: $named;"
	[[ $(ctl save; ctl allow list; find "$pins" "$state" "$counters" -printf '%p %i %M %g\n' | sort) == "$before" ]] ||
		fail "$* without $named changed something"
}

t_capability_missing()
{
	local one rights

	prepare
	exits 0 attach x0
	ctl detach x0
	for one in "${three[@]}"; do
		rights=${three[*]}
		unchanged_by "CAP_${one^^}" "${rights/$one/}" attach x0
	done
	exits 0 attach x0
	for one in "${three[@]}"; do
		rights=${three[*]}
		rights=${rights/$one/}
		unchanged_by "CAP_${one^^}" "$rights" rotate
		unchanged_by "CAP_${one^^}" "$rights" policy monitor --rollback 60
		unchanged_by "CAP_${one^^}" "$rights" add ads.example
		as 3 "$member" "$group" "$rights" doctor
		says "without CAP_${one^^}:"
		blocked "${listed[@]}"
	done
	exits 0 status
}

# As bloomctl(8) has it for what was made before there was a group.
t_group_comes_later()
{
	local one

	ctl add 10.77.0.3
	ctl attach x0
	ctl policy enforce --rollback 60
	as 3 "$member" "$group" "${three[*]}" status
	for one in "$state" "$counters" "$pins"; do
		chgrp -R "$group" "$one"
		chmod -R g=u,o= "$one"
		find "$one" -type d -exec chmod g+s {} +
	done
	chmod g-w "$state" "$counters"
	right_modes
	member_exits 0 commit
	member_exits 0 rotate
	member_exits 0 add 10.77.0.4
	blocked 10.77.0.3 10.77.0.4
	exits 0 rotate
	if is_dispatched x0; then
		member_exits 3 detach x0
		complains CAP_SYS_ADMIN
		blocked 10.77.0.3
		exits 0 detach x0
	else
		member_exits 0 detach x0
	fi
	passes 10.77.0.3
}

# All three, but not of the group: nothing is seen, nothing changed.
t_outsider()
{
	local verb

	prepare
	exits 0 attach x0
	for verb in "add 10.77.0.4" "del 10.77.0.3" "rotate" "detach --all" "up" "policy monitor" \
		"list" "save" "status" "test 10.77.0.3" "allow list" "flush --yes" "watch --count 1" "stats"; do
		# shellcheck disable=SC2086
		as 3 "$outsider" "$outsider" "${three[*]}" $verb
		one_line
		complains 'Permission denied'
	done
	as 3 "$outsider" "$outsider" "${three[*]}" doctor
	! find "$state" "$counters" "$pins" -perm /0007 | grep . || fail "open to all"
	blocked "${listed[@]}"
	exits 0 status
}

# What root commits is what the member had open, wherever the name that was given leads by then. What stands in the place of
# the text that was kept is of e2e/swapped.
t_trial_text()
{
	prepare
	member_exits 0 attach x0
	echo 203.0.113.77 >"$T/mine"
	chmod 0644 "$T/mine"
	install -m 0600 /dev/null "$T/root-only"
	echo 203.0.113.99 >"$T/root-only"
	member_exits 0 import "$T/mine" --list tried --include-bogons --rollback 60
	ln -sf "$T/root-only" "$T/mine"
	exits 0 commit
	exits 0 test 203.0.113.77
	exits 1 test 203.0.113.99
	blocked "${listed[@]}"
}

# As the packaged unit runs it: as root without what root can do, also over files of the group.
t_unit()
{
	local unit=$root/packaging/xdp-bloom.service rights

	prepare
	member_exits 0 attach x0
	rm -rf "${pins:?}"/* "${counters:?}"/*
	rights=$(sed -n 's/^CapabilityBoundingSet=//p' "$unit")
	[[ -n $rights ]] || fail "the unit does not bound its capabilities"
	rights=${rights//CAP_/}
	passes 10.77.0.3
	as 0 0 0 "${rights,,}" up
	blocked "${listed[@]}"
	exits 0 status
	right_modes
	member_exits 0 add 10.77.0.4
	blocked 10.77.0.4
}

run_tests
