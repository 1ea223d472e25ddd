#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Reloads with other feeds: what one has listed goes with its section, whatever became of its file, and bloomd lives.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/feeds.sh"

has_left() { [[ ! -e $state/feeds/main.json && $(listed) -eq 0 ]]; }

# A fetch is asked for all the while: of a feed that has no section there is nothing to fetch.
t_a_section_goes_after_its_state_file()
{
	printf '5.9.0.%d\n' {1..20} >"$T/list"
	printf '[feed main]\nurl = file://%s/list\non-removal = flush\n' "$T" >"$T/bloomd.conf"
	ctl -q attach x0
	agent
	wait_for "the list" has_outcome main updated
	rm "$state/feeds/main.json"
	: >"$T/bloomd.conf"
	agent_reloads
	echo 5.9.0.21 >>"$T/list"
	wait_for "the end of its list" has_left
	exits 2 feeds update main
	complains 'no feed of this name'
	agent_ends
}

# Sections come, go, and change names and lists; files of states go; the disk is full for a while; fetches go on.
t_a_random_walk()
{
	local seed=${XB_TEST_SEED:-$RANDOM} steps=${XB_TEST_STEPS:-100}

	[[ -z ${XB_TEST_ALL:-} ]] || steps=5000
	mkdir "$T/disk"
	mount -t tmpfs -o size=8m xbt "$T/disk"
	state=$T/disk/state
	ctl -q attach x0
	agent
	in_server "$root/tests/e2e/reloads.py" "$T" "$state" "$counters" "$agent" "$steps" "$seed" "$bloomctl" --state "$state" \
		--pin "$pins" --run "$counters" >"$T/walk" 2>&1 || fail "seed $seed: $(tail -n 1 "$T/walk")"
	tail -n 1 "$T/walk"
	agent_ends
}

run_tests
