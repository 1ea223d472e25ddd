#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# How much a watch shows in how much time, how it begins and ends, and what it leaves behind.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/watcher.sh"

drops()
{
	ctl -j stats | python3 -c 'import json, sys
print(sum(r["packets"] for i in json.load(sys.stdin)["interfaces"] for r in i["reasons"]
    if r["verdict"] == "drop" or r["reason"] == "monitored"))'
}

# drops_come: from now on 10.77.0.3 sends, until drops_end.
drops_come()
{
	nsenter --net="/run/netns/$client" python3 "$root/tests/e2e/flood.py" 10.77.0.3 "$server4" 9 >/dev/null &
	sender=$!
}

drops_end()
{
	kill -TERM "$sender"
	wait "$sender" || true
}

t_count()
{
	ctl attach x0
	ctl add 10.77.0.3
	watching watch --count 2
	send 10.77.0.3 5
	ended 0
	[[ $(lines) -eq 2 ]] || fail "$(lines) lines"
	[[ $(budget) -eq 0 ]] || fail "a budget of $(budget) is left"
}

# at_most_shown SINCE: twenty at once and twenty a second, and what a tick brings on both sides.
at_most_shown()
{
	local shown most

	shown=$(lines)
	most=$((24 + 20 * (${EPOCHREALTIME/./} - $1) / 1000000))
	[[ $shown -le $most ]] || fail "$shown lines, more than $most"
}

missed()
{
	sed -n 's/^bloomctl: \([0-9]*\) more drops not shown (--rate 20)$/\1/p' "$T/notes" |
		awk '{ sum += $1 } END { print sum }'
}

all_are_known() { [[ $(($(missed) + $(lines))) -eq 3000 ]]; }

# Twenty at once, then two every tenth of a second once a second has gone by.
t_rate()
{
	local since before all

	ctl attach x0
	ctl add 10.77.0.3
	since=${EPOCHREALTIME/./}
	watching watch --rate 20
	before=$(drops)
	send 10.77.0.3 3000
	all=$(($(drops) - before))
	[[ $all -eq 3000 ]] || fail "$all drops counted"
	wait_for 'how many are not shown' test -s "$T/notes"
	[[ $(lines) -ge 20 ]] || fail "$(lines) lines"
	at_most_shown "$since"
	wait_for 'what was shown, and how many were not' all_are_known
	at_most_shown "$since"
	kill -INT "$watcher"
	ended 0
}

t_rate_over_seconds()
{
	local since before

	ctl attach x0
	ctl add 10.77.0.3
	since=${EPOCHREALTIME/./}
	watching -q watch --rate 20
	drops_come
	wait_for 'three seconds of lines' has_lines 60
	at_most_shown "$since"
	drops_end
	silent
	# Rest brings back the whole second's worth.
	wait_for 'the whole budget' has_budget 20
	before=$(lines)
	send 10.77.0.3 20
	wait_for 'a whole burst' has_lines $((before + 20))
	kill -TERM "$watcher"
	ended 0
}

t_one_watcher()
{
	ctl attach x0
	ctl add 10.77.0.3
	watching watch
	exits 3 watch --count 1
	one_line
	complains 'another .bloomctl watch. or .bloomctl top. reads'
	blocked 10.77.0.3
	told 1
	kill -INT "$watcher"
	ended 0
	watching watch --count 1
	blocked 10.77.0.3
	ended 0
}

# The budget runs dry, and what was told to the dead is not shown to the next.
t_killed()
{
	ctl attach x0
	ctl add 10.77.0.3 10.77.0.4
	watching watch --rate 50
	kill -KILL "$watcher"
	wait "$watcher" || true
	send 10.77.0.3 100
	[[ $(budget) -le 0 ]] || fail "a budget of $(budget) is left"
	: >"$T/lines"
	watching watch --rate 50
	blocked 10.77.0.4
	told 1
	has ' 10\.77\.0\.4 > 10\.77\.0\.1 icmp '
}

# An open transaction would keep every old page of the store from being used again.
t_store_is_let_go()
{
	ctl attach x0
	ctl add 10.77.0.3
	watching watch
	blocked 10.77.0.3
	told 1
	has ' list default$'
	! grep -q 'store\.mdb' "/proc/$watcher/maps" || fail "the store stays open"
}

# into_pipe: a watcher whose lines go to descriptor 9.
into_pipe()
{
	mkfifo "$T/pipe"
	(exec nsenter --net="/run/netns/$server" "$bloomctl" --state "$state" --pin "$pins" \
		--run "$counters" watch --rate 1000 >"$T/pipe" 2>"$T/notes") &
	watcher=$!
	exec 9<"$T/pipe"
	wait_for 'the watcher' has_budget
}

t_broken_pipe()
{
	local line

	ctl attach x0
	ctl add 10.77.0.3
	into_pipe
	send 10.77.0.3 1
	read -r -t 90 line <&9
	[[ $line == *' drop 10.77.0.3 '*' udp '* ]] || fail "$line"
	exec 9<&-
	ended 0
	silent
	[[ $(budget) -eq 0 ]] || fail "a budget of $(budget) is left"
}

# It notices by a line that cannot be written.
t_broken_pipe_in_a_flood()
{
	local line

	ctl attach x0
	ctl add 10.77.0.3
	into_pipe
	drops_come 9<&-
	read -r -t 90 line <&9
	sleep 0.3
	exec 9<&-
	ended 0
	drops_end
	silent
}

t_full_disk()
{
	ctl attach x0
	ctl add 10.77.0.3
	ln -s /dev/full "$T/lines"
	watching watch
	send 10.77.0.3 1
	ended 3
	grep -q '^bloomctl: cannot write the answer: No space left on device$' "$T/notes" ||
		fail "$(cat "$T/notes")"
}

t_detached()
{
	ctl attach x0
	watching watch
	ctl detach --all
	ended 3
	grep -q '^bloomctl: nothing is attached any more$' "$T/notes" || fail "$(cat "$T/notes")"
	[[ $(wc -l <"$T/notes") -eq 1 ]] || fail "$(cat "$T/notes")"
}

# Another link in the place of the first.
t_new_link()
{
	ctl attach x0
	ctl add 10.77.0.3
	watching watch
	blocked 10.77.0.3
	told 1
	ctl detach x0
	ctl attach x0
	wait_for 'the watcher' has_budget
	blocked 10.77.0.3
	told 2
	exits 3 watch --count 1
	complains 'another .bloomctl watch. or .bloomctl top. reads'
	kill -INT "$watcher"
	ended 0
	[[ $(budget) -eq 0 ]] || fail "a budget of $(budget) is left"
}

t_store_lost()
{
	ctl attach x0
	ctl add 10.77.0.3
	mv "$state" "$state-away"
	watching watch --count 1
	blocked 10.77.0.3
	ended 0
	has ' drop 10\.77\.0\.3 > 10\.77\.0\.1 icmp - listed_ipv4_host -$'
	[[ ! -e $state ]] || fail "the state directory was made"
	mv "$state-away" "$state"
}

t_bad_usage()
{
	local bad

	exits 3 watch
	one_line
	complains 'nothing is attached'
	ctl attach x0
	for bad in '--rate 0' '--rate 100001' '--rate x' '--count 0' '--count -1' '--rate' 'x0' '--so'; do
		# shellcheck disable=SC2086
		exits 2 watch $bad
		one_line
	done
}

run_tests
