#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Sources over a limit come to a list: those that have proven that nobody forges them, or all. A source sends on until it is
# listed, since the filter reports it once a second.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/known.sh"
. "$root/tests/e2e/agent.sh"

# limit NAME OPTION...: with a burst of 5, unless another one is given.
limit() { ctl -q limit add "$1" --rate 1/h "${@:2}"; }

# sends KIND SOURCE [COUNT [PORT]]
sends() { in_client python3 -S -E "$root/tests/e2e/sends.py" "$1" "$2" "$(to "$2")" "${4:-9}" "${3:-8}"; }

# of ENTRY EXPRESSION: about its membership in list bad, as `m`.
of() { ctl -j list --list bad | of_json "[($2) for e in d['entries'] for m in e['lists'] if e['entry'] == w[0]][0]" "$1"; }

is_in_list() { [[ " $(entries_of bad) " == *" $1 "* ]]; }

sends_until_listed() { sends "$1" "$2" && is_in_list "${3:-$2}"; }

# comes_to_list KIND SOURCE [ENTRY]
comes_to_list() { wait_for "$2 in the list" sends_until_listed "$@"; }

t_forgeable_sources_are_listed()
{
	ctl -q attach x0
	limit one --to udp/9 --list bad --timeout 1h --forgeable
	agent
	comes_to_list udp 10.77.0.2
	comes_to_list udp fd77::2 fd77::/64
	blocked 10.77.0.2 fd77::2
	passes 10.77.0.3
	exits 0 test 10.77.0.2
	says 'over limit one'
	[[ $(of 10.77.0.2 '"expires" in m') == True ]] || fail "it stays for ever"
	exits 0 log --list bad
	says '  `bloomd limits`  bad \+[12]$'
	says_agent 'limit one: 1 sources listed in bad, the last one 10\.77\.0\.2 for 3600 s$'
	exits 0 status
	# It has said so, and has nothing more to do with the entry.
	ctl -q del 10.77.0.2
	passes 10.77.0.2
}

t_networks_are_listed()
{
	ctl -q attach x0
	limit one --to udp/9 --list bad --forgeable --per 24,48
	agent
	comes_to_list udp 10.77.3.9 10.77.3.0/24
	comes_to_list udp fd77::2 fd77::/48
	[[ $(entries_of bad) == "10.77.3.0/24 fd77::/48" ]] || fail "$(entries_of bad) are listed"
}

# Clients ask for a lease from there.
t_nobody_is_listed_for_having_no_address()
{
	ctl -q attach x0
	limit one --to udp/9 --list bad --forgeable
	agent
	in_client python3 -S -E "$root/tests/e2e/forges6.py" fd77::1 9 20 ::
	wait_for "what is dropped" has_limited 15
	comes_to_list udp 10.77.0.2
	[[ $(entries_of bad) == 10.77.0.2 ]] || fail "$(entries_of bad) are listed"
}

t_each_limit_has_its_list()
{
	ctl -q attach x0
	limit one --to udp/9 --list bad --forgeable
	limit two --to udp/9,udp/10 --list worse --forgeable --over count
	limit three --to udp/9
	agent
	comes_to_list udp 10.77.0.2
	[[ $(entries_of worse) == 10.77.0.2 ]] || fail "$(entries_of worse) are in the other list"
	sends udp 10.77.0.3 5
	passes 10.77.0.3
}

t_who_is_allowed_is_not_listed()
{
	ctl -q attach x0
	ctl -q allow add 10.77.0.2
	limit one --to udp/9 --list bad --forgeable
	agent
	sends udp 10.77.0.2 50
	comes_to_list udp 10.77.0.3
	[[ $(entries_of bad) == 10.77.0.3 ]] || fail "$(entries_of bad) are listed"
}

t_an_entry_of_others_stays_as_it_is()
{
	ctl -q attach x0
	ctl -q verdict bad count
	ctl -q add --list bad --comment "by hand" 10.77.0.2
	ctl -q add --list bad --comment "for long" --timeout 1d 10.77.0.4
	ctl -q add --list bad --comment "not for long" --timeout 5m 10.77.0.5
	limit one --to udp/9 --list bad --forgeable --timeout 1h
	agent
	sends udp 10.77.0.2
	sends udp 10.77.0.4
	sends udp 10.77.0.5
	comes_to_list udp 10.77.0.3
	[[ $(of 10.77.0.2 '"expires" in m, m["comment"]') == "(False, 'by hand')" ]] || fail "$(ctl list --list bad)"
	[[ $(of 10.77.0.5 'm["comment"]') == "not for long" ]] || fail "$(ctl list --list bad)"
	[[ $(of 10.77.0.4 'm["comment"]') == "for long" ]] || fail "$(ctl list --list bad)"
}

# A list of flooders must not become one of customers.
t_allow_only_lists_nobody()
{
	ctl -q attach x0
	limit one --to udp/9 --list bad --forgeable
	agent
	comes_to_list udp 10.77.0.2
	exits 2 policy allow-only
	complains '^bloomctl: .*bad.*limit'
	exits 0 -j status
	json '[one["origins"] for one in d["lists"] if one["name"] == "bad"] == [["limit"]]'
	ctl -q flush --list bad --yes
	ctl -q add --list customers 10.77.0.3
	ctl -q policy allow-only
	for _ in {1..15}; do
		sends udp 10.77.0.3
		rest 0.1
	done
	exits 3 status
	says 'over limit one do not come to list bad: the policy allow-only admits listed sources'
	[[ $(packets limited) -gt 100 ]] || fail "only $(packets limited) are over the limit"
	exits 2 list --list bad
}

# sends_until_told PATTERN COUNT: so many lines of the log have it.
sends_until_told() { sends udp 10.77.0.2 && [[ $(grep -cE -- "$1" "$T/agent.err") -ge $2 ]]; }

t_who_comes_again_stays_longer()
{
	local seconds

	ctl -q attach x0
	limit one --to udp/9 --list bad --forgeable --timeout 2s..4s
	agent
	exits 0 limit list
	says '^one .* bad 2\.\.4 s +0 +0 +udp/9$'
	for seconds in 2 4; do
		wait_for "$seconds seconds in the list" sends_until_told "the last one 10\.77\.0\.2 for $seconds s\$" 1
	done
	wait_for "the longest time again" sends_until_told 'the last one 10\.77\.0\.2 for 4 s$' 2
	[[ $(grep -c ' sources listed in bad' "$T/agent.err") -eq 3 ]] || fail "$(cat "$T/agent.err")"
}

# proves SOURCE: by more handshakes than need be, and fewer than the burst, of which a segment that is sent again takes one.
proves()
{
	[[ $(in_client python3 -S -E "$root/tests/e2e/customers.py" again 5 "$1") -eq 5 ]] || fail "$1 does not come through"
	wait_for "$1 in the list" sends_until_listed_web "$1"
}

sends_until_listed_web() { sends syn "$1" 8 7800 && is_in_list "$1"; }

# What others send in its name does not list a source; what it does by itself does.
t_only_proven_sources_are_listed()
{
	need_cgroup
	many_addresses
	ctl -q attach x0
	ctl -q known on
	ctl -q limit add web --to tcp/7800 --rate 10/h --burst 8 --of connections --list bad
	agent
	exits 0 status
	# One handshake, and a flood in its name.
	connect_all 1 2
	sends syn 10.78.0.1 50 7800
	proves 10.78.0.2
	sends syn 10.78.0.1 50 7800
	proves 10.78.0.3
	[[ $(entries_of bad) == "10.78.0.2 10.78.0.3" ]] || fail "$(entries_of bad) are listed"
}

# forges SECONDS PACKETS: so many a second, each from a source of its own, twice.
forges() { in_client python3 -S -E "$root/tests/e2e/forges.py" 10.77.0.1 9 "$@"; }

# The sources come to the list in some hundred writes.
t_the_log_stays_short_under_a_flood()
{
	local begun lines

	ctl -q attach x0
	limit one --to udp/9 --list bad --forgeable --burst 1
	agent
	begun=$EPOCHSECONDS
	forges 3 2000
	wait_for "sources in the list" has_listed 1000
	lines=$(grep -c ' sources listed in bad' "$T/agent.err")
	[[ $lines -le $((EPOCHSECONDS - begun + 1)) ]] || fail "$lines lines in $((EPOCHSECONDS - begun)) seconds"
}

has_listed() { [[ $(entries_of bad | wc -w) -ge $1 ]]; }

# Who may write the pins can have the ring say that there is something to read, and there never is.
t_a_ring_that_lies()
{
	local before

	ctl -q attach x0
	limit one --to udp/9 --list bad --forgeable
	python3 "$root/tests/e2e/ringposition.py" "$pins/link/offenders" $((1 << 40))
	agent
	before=$(worked)
	sleep 2
	[[ $(($(worked) - before)) -lt 500000000 ]] || fail "bloomd took $((($(worked) - before) / 1000000)) ms of 2 s"
	# A new anchor has a new ring.
	ctl -q detach x0
	ctl -q attach x0
	comes_to_list udp 10.77.0.2
}

# A program that learns and is older than the map of handshakes, and its successor that does not come to life.
t_handshakes_are_counted_after_an_upgrade_that_was_cut_off()
{
	need_cgroup
	many_addresses
	ctl -q attach x0
	ctl -q known on
	ctl -q limit add web --to tcp/7800 --rate 10/h --burst 8 --of connections --list bad
	rm "$pins/known/met"
	dies_at known-attached add 10.77.0.9
	exits 0 add 10.77.0.9 --exist
	exits 0 add 10.77.0.8
	agent
	exits 0 status
	proves 10.78.0.2
}

has_limited() { [[ $(packets limited) -eq $1 ]]; }

t_without_bloomd()
{
	ctl -q attach x0
	exits 0 limit add one --to udp/9 --rate 1/h --list bad --forgeable
	complains 'sources over limit one do not come to list bad: bloomd does not run$'
	exits 3 status
	says 'over limit one do not come to list bad: bloomd does not run; they are limited all the same'
	sends udp 10.77.0.2 9
	wait_for "what is dropped" has_limited 4
	agent
	exits 0 status
	exits 0 limit add two --to tcp/9 --rate 1/h --of connections --list bad
	complains 'nothing remembers handshakes, which show that a source is not forged \(`known on` does\)$'
	exits 3 -j status
	json '[p["kind"] for p in d["problem_details"]] == ["not_listing"]'
}

# Of a list of others, nothing is changed here: not when the limit is made, and not by bloomd later.
t_a_list_that_follows_a_fleet()
{
	ctl -q attach x0
	ctl -q limit add one --to udp/9 --rate 1/h --list bad --forgeable
	printf '%s\n' '[fleet]' "url = unix:$T/nothing" 'name = test' 'follow = bad' >"$T/bloomd.conf"
	agent
	exits 3 status
	says 'over limit one do not come to list bad, which follows a fleet and is not published by this host; they are'
	exits 2 limit add two --to udp/10 --rate 1/h --list bad --forgeable
	complains 'list bad follows fleet test: change it on a host that publishes it$'
	exits 0 limit add two --to udp/10 --rate 1/h --list ours --forgeable
}

t_a_copy_has_the_lists_of_limits()
{
	limit one --to udp/9 --list bad --forgeable --timeout 2m..1h
	limit two --to udp/10
	ctl limit list >"$T/limits"
	ctl save >"$T/copy"
	ctl -q limit del one
	ctl -q limit del two
	exits 0 restore "$T/copy"
	ctl limit list | cmp - "$T/limits" || fail "other limits: $(ctl limit list)"
}

t_what_cannot_be_listed()
{
	exits 2 limit add one --to udp/9 --rate 1/h --timeout 1h
	complains 'timeout needs --list; usage'
	exits 2 limit add one --to udp/9 --rate 1/h --forgeable
	exits 2 limit add one --to udp/9 --rate 1/h --list bad
	complains 'to list others is to accept forgeable ones'
	exits 2 limit add one --to tcp/9 --rate 1/h --of connections --per 24 --list bad
	exits 2 limit add one --to udp/9 --rate 1/h --list allow --forgeable
	exits 2 limit add one --to udp/9 --rate 1/h --list bad --forgeable --timeout 1h..10m
	exits 2 limit add one --to udp/9 --rate 1/h --list bad --forgeable --timeout 0
	exits 2 limit add one --to udp/9 --rate 1/h --list bad --forgeable --timeout 1m..
	exits 2 limit add one --to udp/9 --rate 1/h --list bad --forgeable --timeout 0000000000000000000000000000000010..1h
	complains 'takes a time, or two'
	[[ -z $(ctl limit list) ]] || fail "there is a limit"
}

run_tests
