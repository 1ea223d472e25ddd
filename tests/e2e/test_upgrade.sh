#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What another version of bloomctl put in force: an older one gives way in place, a newer one is left alone.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/watcher.sh"
. "$root/tests/e2e/interfaces.sh"
. "$root/tests/e2e/params.sh"
. "$root/tests/e2e/known.sh"

present=$(sed -n 's/^#define XB_ANCHOR_LAYOUT //p' "$root/include/xdp_bloom/layout.h")

# is_of LAYOUT: what is in force becomes what a bloomctl of that layout would have made, as far as another
# may look at it: an older one lacks maps, and its table of interfaces may be laid out otherwise.
is_of()
{
	local identity=$pins/link/identity flavour

	flavour=$(bpftool -j map lookup pinned "$identity" key 0 0 0 0 |
		python3 -c 'import json, sys; print(*json.load(sys.stdin)["value"][4:])')
	# shellcheck disable=SC2086
	bpftool map update pinned "$identity" key 0 0 0 0 value "$1" 0 0 0 $flavour
	[[ $1 -gt 7 ]] || rm -f "$pins/link/notes"
	[[ $1 -gt 3 ]] || rm -f "$pins/link/hits" "$pins/link/hits_names"
	[[ $1 -gt 2 ]] || rm -f "$pins/link/watch" "$pins/link/drops"
	[[ $1 -gt 1 ]] || rm -f "$pins/link/ifaces"
}

# begin [LAYOUT [OPTION...]]: attached, 10.77.0.3 and more are listed.
begin()
{
	local layout=${1:-3}

	ctl -q attach x0 "${@:2}"
	ctl add 10.77.0.3 10.77.3.0/24 fd77::3
	is_of "$layout"
}

enforces()
{
	blocked 10.77.0.3 10.77.3.9 fd77::3 "$@"
	passes 10.77.0.2 fd77::2
}

nothing_pinned() { [[ -z $(find "$pins" -mindepth 1) ]] || fail "pins stay: $(find "$pins" -mindepth 1)"; }

nothing_older() { [[ -z $(compgen -G "$pins/link-*") ]] || fail "stays: $(compgen -G "$pins/link-*")"; }

upgrades()
{
	exits 0 "$@"
	nothing_older
	exits 0 status
}

t_flood_would_tell()
{
	ctl -q attach x0
	! (flood sleep 0.1) || fail "what is not listed is not seen either"
	grep -q 'packets arrive' "$T/why"
}

# Of each layout, in each mode, on one interface and on several.
t_in_place()
{
	local row layout words

	join x1 1
	join x2 2
	for row in "3 x0" "3 x0 --mode skb" "1 x0" "3 x0 x1 x2"; do
		read -r layout words <<<"$row"
		# shellcheck disable=SC2086
		ctl -q attach $words
		ctl -q add 10.77.0.3 10.77.3.0/24 fd77::3 --exist
		is_of "$layout"
		flood upgrades add 10.77.0.4
		enforces 10.77.0.4
		exits 0 -j status
		json "[i['mode'] for i in d['interfaces']] == ['$([[ $words == *skb ]] && echo skb || echo native)'] * $(wc -w <<<"${words% --*}")"
		exits 0 detach --all
		passes 10.77.0.3 fd77::3 10.77.0.4
		nothing_pinned
		ctl -q del 10.77.0.4
	done
}

t_by_any_command()
{
	local command

	begin
	for command in "up" "add 10.77.0.4" "del 10.77.0.4" "rotate" "allow add 10.77.0.5" "attach x0" \
		"policy enforce --rollback 60" "commit"; do
		# shellcheck disable=SC2086
		[[ $command == commit ]] || { is_of 2 && flood upgrades $command; }
		[[ $command != commit ]] || exits 0 commit
		enforces
	done
}

t_policy_and_counters()
{
	ctl attach x0
	ctl add 10.77.0.3
	ctl policy monitor
	passes 10.77.0.3
	is_of 3
	upgrades add 10.77.0.4
	exits 0 policy
	says monitor
	exits 0 -j stats
	json 'not any(r["packets"] for r in d["interfaces"][0]["reasons"] if r["reason"] == "monitored")'
	passes 10.77.0.3 10.77.0.4
	exits 0 -j stats
	json 'sum(r["packets"] for r in d["interfaces"][0]["reasons"] if r["reason"] == "monitored") == 2'
}

t_renamed_interface()
{
	begin
	ip -n "$server" link set x0 down
	ip -n "$server" link set x0 name y0
	ip -n "$server" link set y0 up
	address y0 2>/dev/null || true
	flood upgrades add 10.77.0.4
	blocked 10.77.0.3 10.77.3.9 10.77.0.4
	passes 10.77.0.2
}

# The older one stands aside as long as a wanted interface is missing. What it says of names is no news.
t_renamed_while_it_stands_aside()
{
	join x1 1
	begin
	ctl -q attach x1
	is_of 3
	ip -n "$server" link del x1
	exits 0 add 10.77.0.4
	[[ -n $(compgen -G "$pins/link-*") ]] || fail "nothing stands aside"
	rename x0 y0
	exits 3 up
	rename y0 z0
	exits 3 up
	complains 'y0 is called z0 now'
	filters z0
	join x1 1
	exits 0 up
	nothing_older
	wanted x1 z0
}

# An interface that moved to another network namespace gets the new entry there; nothing older stays for its sake.
t_an_interface_elsewhere()
{
	begin 3
	! is_dispatched x0 || skip "libxdp knows interfaces of this network namespace only"
	ip netns add "$server-o"
	ip -n "$server" link set x0 netns "$server-o"
	ip -n "$server-o" link set x0 up
	ip -n "$server-o" addr add "$server4/24" dev x0
	blocked 10.77.0.3
	exits 3 up
	complains 'x0 is in another network namespace, where the filter is still on it'
	nothing_older
	exits 0 add 10.77.0.4
	passes 10.77.0.2
	blocked 10.77.0.3 10.77.0.4
	exits 0 detach x0
	passes 10.77.0.3
	ip netns del "$server-o"
}

# What can be read tells; it goes on enforcing.
t_readers_refuse()
{
	local command

	begin
	for command in status stats "test 10.77.0.3" "watch --count 1"; do
		# shellcheck disable=SC2086
		exits 3 $command
		complains 'older bloomctl \(layout 3, .*`bloomctl up`'
		one_line
	done
	exits 0 list
	enforces
	[[ -e $pins/link && ! -e $pins/link-older-3 ]] || fail "changed: $(ls "$pins")"
}

# The layout before the present one lacks one map alone, the notes.
t_watch_refuses_the_last_layout()
{
	begin $((present - 1))
	exits 3 watch --count 1
	complains "older bloomctl \\(layout $((present - 1)), .*\`bloomctl up\`"
	one_line
}

# A watch goes on with the anchor that takes over, unless that is one of a newer version.
t_watch_meanwhile()
{
	begin "$present"
	watching watch
	blocked 10.77.0.3
	told 1
	is_of 3
	upgrades add 10.77.0.4
	wait_for 'the watcher' has_budget
	blocked 10.77.0.4
	told 2
	has ' drop 10\.77\.0\.4 > 10\.77\.0\.1 icmp '
	kill -STOP "$watcher"
	wait_for 'its stop' is_stopped "$watcher"
	is_of 3
	upgrades add 10.77.0.5
	is_of 99
	kill -CONT "$watcher"
	ended 3
	grep -q 'newer bloomctl (layout 99, ' "$T/notes" || fail "$(cat "$T/notes")"
	told 2
}

t_detach()
{
	join x1 1
	begin
	ctl -q attach x1
	is_of 3
	exits 0 detach x0
	passes 10.77.0.3
	nothing_older
	is_of 3
	exits 0 detach x1
	nothing_pinned
}

t_trial()
{
	begin
	exits 0 policy monitor --rollback 60
	passes 10.77.0.3
	is_of 3
	upgrades add 10.77.0.4
	enforces 10.77.0.4
	exits 1 commit
}

# filter_is_older: what is in force becomes what a bloomctl of the former layout of filters would have built.
filter_is_older() { lie "$layout_at" $((layout - 1)); }

# The former verdicts return with the first command of the new version, and not a packet gets through.
t_trial_of_an_older_filter()
{
	local command

	begin "$present"
	for command in up "add 10.77.0.4 --exist" "policy monitor --rollback 60"; do
		exits 0 policy monitor --rollback 600
		passes 10.77.0.3
		filter_is_older
		# shellcheck disable=SC2086
		exits 0 --wait 0 $command
		[[ $command == policy* ]] || { exits 0 status; enforces; }
	done
	passes 10.77.0.3
	exits 0 status
	says 'TRIAL .*monitor'
	exits 0 detach --all
	nothing_pinned
}

t_attach_on_trial_of_an_older_filter()
{
	join x1 1
	begin "$present"
	ctl -q attach x1 --rollback 600
	filter_is_older
	flood upgrades up
	enforces
	[[ ! -e $pins/trial ]] || fail "the guard of the trial stays"
	[[ -z $(program_on x1) ]] || fail "x1 is still filtered"
	exits 1 commit
}

# Killed on the way, the former verdicts are there.
t_trial_of_an_older_filter_and_kills()
{
	local point

	begin "$present"
	for point in rollback-released publish-before publish-swapped; do
		exits 0 policy monitor --rollback 600
		filter_is_older
		interrupted $point
		enforces
		upgrades up
		enforces
	done
}

# Who wants to keep it may well do so with the new version.
t_trial_of_an_older_filter_is_committed()
{
	begin "$present"
	exits 0 policy monitor --rollback 600
	filter_is_older
	exits 0 commit
	passes 10.77.0.3
	exits 0 status
	[[ ! -e $pins/trial ]] || fail "the guard of the trial stays"
	exits 0 policy
	says '^monitor'
	join x1 1
	ctl -q attach x1 --rollback 600
	filter_is_older
	exits 0 commit
	wanted x0 x1
}

# The guard of a trial has its own pins, without which it would let everything pass.
t_trial_that_is_over()
{
	begin
	ctl policy monitor --rollback 1
	sleep 1.2
	is_of 3
	flood interrupted publish-before
	flood interrupted publish-before
	enforces
	flood upgrades add 10.77.0.4
	enforces 10.77.0.4
}

t_attach_on_trial()
{
	join x1 1
	begin
	ctl -q attach x1 --rollback 60
	is_of 3
	flood upgrades add 10.77.0.4
	enforces 10.77.0.4
	! ip -n "$server" link show x1 | contains xdp || fail "x1 is still filtered"
}

interrupted() { dies_at "$1" up; }

t_killed_on_the_way()
{
	local point

	begin
	for point in upgrade-trial upgrade-aside publish-before publish-swapped upgrade-carried upgrade-attached \
		upgrade-detached; do
		is_of 3
		flood interrupted $point
		enforces
		flood upgrades add 10.77.0.4 --exist
		enforces 10.77.0.4
	done
}

# Whose it is cannot be told from an older one: it is left in force until somebody takes over.
t_state_was_lost()
{
	begin
	rm -rf "$state"
	exits 3 add 10.77.0.4
	enforces
	exits 0 detach --all
	passes 10.77.0.3
	nothing_pinned
}

t_newer_is_left_alone()
{
	join x1 1
	begin "$present"
	ctl save >"$T/saved"
	is_of 99
	left_alone 'newer bloomctl \(layout 99, ' status stats "test 10.77.0.3" "watch --count 1" "${changes[@]}"
	enforces
	is_of "$present"
	exits 0 status
	exits 1 test 10.77.0.4
}

everything() { program_on x0 && ctl save && find "$pins" -printf '%i %p\n' | sort; }

# left_alone PATTERN COMMAND...: each is refused with this in a line, and changes nothing.
left_alone()
{
	local before command

	before=$(everything)
	for command in "${@:2}"; do
		# shellcheck disable=SC2086
		exits 3 ${command/SAVED/$T/saved}
		complains "$1"
		one_line
	done
	[[ $before == "$(everything)" ]] || fail "something changed"
}

changes=(up "add 10.77.0.4" "del 10.77.0.3" rotate "policy monitor" "policy monitor --rollback 60" "attach x0"
	"attach x1 --rollback 60" "detach x0" "detach --all" "flush --yes" "restore SAVED")

# Its parameters may be longer than those of this version.
t_newer_filter_is_left_alone()
{
	local newer="newer bloomctl \\(filter layout $((layout + 1)), this one has $layout\\)" longer

	join x1 1
	begin "$present"
	ctl save >"$T/saved"
	for longer in 0 48; do
		lie "$layout_at" $((layout + 1))
		left_alone "$newer" status "test 10.77.0.3" commit "${changes[@]}"
		exits 0 list
		enforces
	done
	longer=0 lie "$layout_at" "$layout" && exits 3 status
	says 'PROBLEM .*can only be rebuilt'
	upgrades up
	enforces
}

# Nor does a trial end that the newer one began.
t_trial_of_a_newer_filter()
{
	join x1 1
	begin "$present"
	ctl save >"$T/saved"
	exits 0 policy monitor --rollback 600
	lie "$layout_at" $((layout + 1))
	left_alone 'newer bloomctl \(filter layout ' commit "${changes[@]}"
	passes 10.77.0.3
	lie "$layout_at" "$layout"
	exits 0 commit
}

# known_layout NUMBER: in the pinned state of known sources.
known_layout()
{
	local value

	value=$(bpftool -j map dump pinned "$pins/known/state" | python3 -c '
import json, struct, sys
value = bytes(int(x, 16) for x in json.load(sys.stdin)[0]["value"])
print(*value[:14] + struct.pack("<H", int(sys.argv[1])) + value[16:])' "$1")
	# shellcheck disable=SC2086
	bpftool map update pinned "$pins/known/state" key 0 0 0 0 value $value
}

t_newer_known_sources_are_left_alone()
{
	need_cgroup
	join x1 1
	begin "$present"
	ctl known on
	ctl save >"$T/saved"
	known_layout 2
	left_alone 'newer bloomctl \(layout 2, this one has 1\)' status "known on" "known off" "known clear" "${changes[@]}"
	enforces
	known_layout 1
	exits 0 known off
}

# is_left_alone SCHEMA WORDS: the store of a bloomctl with that schema, and what is in force.
is_left_alone()
{
	local command before

	"$root/tests/e2e/otherschema.py" "$state" "$1"
	before=$(sha256sum "$state/store.mdb")
	for command in list status save up "add 10.77.0.4" "del 10.77.0.3" "allow add 10.77.0.3" rotate "policy monitor" \
		"attach x0" "flush --yes" "import /dev/null --replace --force"; do
		# shellcheck disable=SC2086
		exits 3 $command
		complains "the store was written by $2 bloomctl \(schema $1, this one has [0-9]+\)"
		one_line
	done
	[[ $before == "$(sha256sum "$state/store.mdb")" ]] || fail "the store is another one"
	blocked 10.77.0.3
	passes 10.77.0.2
}

# A newer one may be that of a host in a fleet, to a bloomctl that does not know fleets.
t_the_store_of_another_version_is_left_alone()
{
	ctl -q attach x0
	ctl -q add 10.77.0.3
	ctl save >"$T/saved"
	is_left_alone 99 "a newer"
	is_left_alone 10 "an older"
	complains 'To bring it over: DOWNGRADE in bloomctl\(8\)$'
	# As it says there. The other one saved this.
	mv "$state" "$state.older"
	exits 0 restore "$T/saved"
	blocked 10.77.0.3
	exits 0 status
}

run_tests
