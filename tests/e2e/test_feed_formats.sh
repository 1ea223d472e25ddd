#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Feeds of lists that need more than a format: columns, JSON, wrong lines that may be left out.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154,SC2119
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/feeds.sh"

t_columns()
{
	begin
	mode rows
	configure 'every = 1h' 'column = ip' 'where = kind=ban'
	agent
	wait_for "a refusal" has_outcome main refused format
	exits 0 feeds
	says "^  why      main:[0-9]+: '.*' is not an address or prefix \(skip-bad = NUMBER leaves out up to NUMBER wrong lines\)$"
	configure 'every = 1h' 'column = ip' 'where = kind=ban' 'skip-bad = 1'
	agent_reloads
	wait_for "the first list" has_outcome main updated
	keeps_list
	passes 10.77.0.2
	refuses wrong-rows refused format
	exits 0 feeds
	says "^  why      main:105: 'wrong' is not an address or prefix \(1 wrong line left out before it, the most allowed"
	# Without a header there is no column of that name.
	refuses good refused format
	mode rows
	echo 200 >"$T/version"
	ends_as updated
	is_listed 5.9.1.200 || fail "the new list is not taken"
	# The terms are others, so the same answer is read again.
	agent_ends
	configure 'every = 1h' 'column = ip' 'where = kind=pass'
	agent
	exits 0 feeds update main
	wait_for "what the other condition lists" is_listed 8.8.8.8
	[[ $(listed) -eq 1 ]] || fail "the former condition still counts"
}

t_json()
{
	begin
	mode document
	configure 'every = 1h' 'json-path = prefixes[].ip' 'max-bytes = 1m'
	agent
	wait_for "the first list" has_outcome main updated
	keeps_list
	refuses other-document refused format
	refuses good refused format
	refuses packed-bomb refused format
	exits 0 feeds
	says '^  why      main: unpacked, it has more bytes than are allowed$'
}

# What a list allows holds for its own entries, and for nobody else's.
t_a_feed_allows_nothing()
{
	printf '||n%d.example^\n' {1..50} >"$T/list"
	printf '[feed names]\nurl = file://%s/list\nevery = 1h\n' "$T" >"$T/bloomd.conf"
	ctl -q attach x0
	ctl -q add victim.example
	agent
	wait_for "the first list" has_outcome names updated
	exits 0 test victim.example
	printf '%s\n' '@@||victim.example^' '@@||n7.example^' '@@||deep.n8.example^' >>"$T/list"
	wait_for "the other list" is_not_listed n7.example
	exits 0 test victim.example
	exits 1 test deep.n8.example
	says '^!deep.n8.example list names '
	exits 0 test n8.example
	[[ $(ctl list --list names | wc -l) -eq 52 ]] || fail "$(ctl list --list names)"
	[[ $(ctl -j allow list --list names 2>/dev/null | of_json 'len(d["entries"])') -eq 0 ]] || fail "$(ctl allow list)"
	# What an older version took from the list goes.
	ctl -q allow add old.example --list names
	echo '||n51.example^' >>"$T/list"
	wait_for "the third list" is_named n51.example
	[[ $(ctl -j allow list --list names 2>/dev/null | of_json 'len(d["entries"])') -eq 0 ]] || fail "$(ctl allow list)"
}

t_a_set()
{
	printf '%s\n' 'create good hash:ip' 'add good 5.9.0.1' 'create bad hash:ip' 'add bad 5.9.0.2' >"$T/list"
	printf '[feed sets]\nurl = file://%s/list\nevery = 1h\n' "$T" >"$T/bloomd.conf"
	ctl -q attach x0
	agent
	wait_for "a refusal" has_outcome sets refused format
	exits 0 feeds
	says "sets:3: a second set, 'bad' after 'good': .*; choose one with the key set$"
	printf '%s\n' 'set = bad' 'comment = a partner' >>"$T/bloomd.conf"
	agent_reloads
	wait_for "the set" has_outcome sets updated
	[[ $(ctl list --list sets | cut -d ' ' -f 1) == 5.9.0.2 ]] || fail "$(ctl list --list sets)"
	ctl list --list sets | contains 'comment "a partner"' || fail "$(ctl list --list sets)"
}

# What of a list nobody gets to feel is told wherever somebody looks.
t_what_is_left_out_is_told()
{
	printf '%s\n' '||a.example^' '||b.example^' '@@||c.example^' '||d.example^$script' >"$T/list"
	printf '[feed names]\nurl = file://%s/list\nevery = 1h\n' "$T" >"$T/bloomd.conf"
	ctl -q attach x0
	agent
	wait_for "the list" has_outcome names updated
	says_agent "feed names: 1 line was left out \\(first: 4: '.*script'\\)"
	exits 0 feeds
	says "^  left out 1 line \\(first: 4: '.*script'\\)$"
	exits 0 -j feeds
	json 'd["feeds"][0]["left_out"] == 1 and d["feeds"][0]["first_left_out"].startswith("4: ")'
	[[ $(of_json 'd["left_out"]' <"$state/feeds/names.json") -eq 1 ]] || fail "$(cat "$state/feeds/names.json")"
	# Of another list, others.
	printf '%s\n' '||a.example^' '||b.example^' '||e.example^' >"$T/list"
	wait_for "the other list" tells_nothing_left
	printf '%s\n' 10.0.0.0/8 5.9.0.1 5.9.1.1/24 >"$T/addresses"
	printf '[feed bogons]\nurl = file://%s/addresses\n' "$T" >>"$T/bloomd.conf"
	agent_reloads
	wait_for "the addresses" has_outcome bogons updated
	exits 0 feeds
	says '^  bogons   1 left out$'
	says '^  notes    3: 1 prefix has host bits set and is taken as network \(first: 5.9.1.1/24\)$'
	says_agent 'feed bogons: 3: 1 prefix has host bits set'
	exits 0 -j feeds
	json '[feed["notes"] for feed in d["feeds"] if feed["name"] == "bogons"][0].startswith("3: 1 prefix")'
}

tells_nothing_left() { [[ $(ctl -j feeds | of_json 'd["feeds"][0]["left_out"], "first_left_out" in d["feeds"][0]') == '(0, False)' ]]; }

list_holds() { [[ $(ctl -j list --list own | of_json "sum(bool($1) for e in d['entries'] for expires in [e['lists'][0].get('expires', '')])") -eq 50 ]]; }

end_of_own() { ctl -j list --list own | of_json 'min(l["expires"] for e in d["entries"] for l in e["lists"])'; }
renews_own() { ctl -q feeds update && [[ $(end_of_own) > $1 ]]; }

# The author's timeouts would empty the list before it is fetched again.
t_a_list_does_not_end_before_the_next_fetch()
{
	local end

	printf '5.9.0.%d\n' {1..50} >"$T/list"
	printf '[feed own]\nurl = file://%s/list\nevery = 1d\n' "$T" >"$T/bloomd.conf"
	ctl -q attach x0
	agent
	wait_for "the first list" has_outcome own updated
	{
		echo 'create own hash:ip family inet timeout 1'
		printf 'add own 5.9.0.%d timeout 1\n' {1..50}
	} >"$T/list.new"
	mv "$T/list.new" "$T/list"
	wait_for "the ends" list_holds expires
	end=$(date -ud '+2 days' +%Y-%m-%dT%H:%M:%SZ)
	list_holds "expires > \"$end\"" || fail "entries end before $end: $(ctl list --list own | head -n 1)"
	says_agent 'feed own: the list was read as plain so far, and as ipset now; the key format'
	exits 0 feeds
	says '^  list     own, 50 entries, read as ipset$'
	# The same list again: their time is renewed.
	end=$(end_of_own)
	wait_for "a later end" renews_own "$end"
	# Only the configuration may end them sooner.
	printf 'timeout = 1h\n' >>"$T/bloomd.conf"
	agent_reloads
	end=$(date -ud '+2 hours' +%Y-%m-%dT%H:%M:%SZ)
	wait_for "a nearer end" list_holds "expires < \"$end\""
	# And the key format lets no other one be taken.
	printf 'format = ipset\n' >>"$T/bloomd.conf"
	agent_reloads
	printf '5.9.0.%d\n' {1..50} >"$T/list"
	wait_for "a refusal" has_outcome own refused format
}

is_named() { ctl list --list names | contains "^$1 "; }
is_not_listed() { ! is_named "$1"; }

run_tests
