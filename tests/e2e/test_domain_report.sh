#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# test, status, stats and watch report listed domains, with their lists, verdicts and packets.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/domains.sh"
. "$root/tests/e2e/watcher.sh"

# --- test -------------------------------------------------------------------------------------------

t_test()
{
	ctl add example.com --list one
	exits 0 test www.example.com
	says '^www.example.com passes now: nothing is enforced$'
	begin
	ctl add =www.example.com --list two
	ctl verdict two refused
	exits 0 test WWW.example.com
	[[ $(wc -l <"$T/out") -eq 3 ]] || fail "$(cat "$T/out")"
	says '^=www.example.com list two verdict refused added'
	says '^example.com list one verdict drop added'
	says '^www.example.com is dropped now: listed$'
	exits 0 -j test =www.example.com
	json 'd["entries"][0]["kernel"] == "drop" and d["entries"][0]["listed"]'
	json '[(b["entry"], b["lists"][0]["verdict"]) for b in d["entries"][0]["by"]] == [("=www.example.com", "refused"), ("example.com", "drop")]'
	exits 0 test www.www.example.com
	[[ $(wc -l <"$T/out") -eq 2 ]] || fail "$(cat "$T/out")"
	exits 1 test example.org
	says '^example.org is not listed$'
	says '^example.org passes now: not listed$'
	exits 1 test com
	exits 0 allow add good.example.com
	exits 0 test www.good.example.com
	says '^example.com list one '
	says '^allow good.example.com list allow '
	says '^www.good.example.com passes now: allowed$'
	exits 1 test example.com example.org
	exits 2 test --wrong example.com
	one_line
	exits 2 allow test --wrong
	one_line
	exits 2 allow test
	one_line
	exits 0 -q test example.com
	[[ ! -s $T/out ]]
}

t_test_of_verdicts()
{
	local verdict word said

	begin
	ctl add example.com
	while read -r verdict word said; do
		ctl verdict default "$verdict"
		exits 0 test a.example.com
		says "^a.example.com $said$"
		exits 0 -j test a.example.com
		json "d['entries'][0]['kernel'] == '$word' and d['entries'][0]['reason'].startswith('listed')"
	done <<-END
		nxdomain nxdomain is answered NXDOMAIN now: listed
		refused refused is answered REFUSED now: listed
		truncate truncate is answered truncated now: listed
		count pass passes now: listed, and the verdict is count
	END
	ctl verdict default nxdomain
	ctl ports dns 5353
	exits 0 test a.example.com
	says '^a.example.com is answered NXDOMAIN now: listed$'
	ctl ports dns off
	exits 0 test a.example.com
	says '^a.example.com passes now: listed, and the ports of dns are off$'
	ctl ports dns 53
	ctl policy monitor
	exits 0 test a.example.com
	says '^a.example.com passes now: the policy is monitor$'
}

# The longest there can be.
t_test_of_long_names()
{
	local label

	begin
	label=$(printf 'x%.0s' {1..63})
	ctl add example.com
	ctl verdict default nxdomain
	exits 0 test "$label.$label.$label.${label:14}.example.com"
	says ' is answered NXDOMAIN now: listed$'
}

# It is the name that is asked about, whatever becomes of sources.
t_test_whatever_the_sources()
{
	begin
	ctl add example.com
	ctl verdict default nxdomain
	ctl add 0.0.0.0/0 --force --list all
	exits 0 test example.com
	says '^example.com is answered NXDOMAIN now: listed$'
	ctl allow refuse link-local
	exits 0 test example.com
	says '^example.com is dropped now: no source was found that gets through, and the source decides first$'
	ctl policy allow-only
	exits 0 test example.com
	says '^example.com is answered NXDOMAIN now: listed$'
	ctl flush --list all --yes
	exits 0 test example.com
	says 'no source was found'
	ctl add 10.77.0.3
	exits 0 test example.com
	says '^example.com is answered NXDOMAIN now: listed$'
	exits 1 test example.org
	says '^example.org passes now: not listed$'
}

# --- what is shown of them --------------------------------------------------------------------------

t_status()
{
	ctl add 192.0.2.1 example.com
	ctl add example.net --list two
	ctl verdict two nxdomain
	exits 1 status
	says '^listed +1 IPv4 addresses, 0 IPv4 prefixes, 0 IPv6 prefixes, 2 domains$'
	says '^  default +2 entries$'
	says '^  two +1 entries, domains: nxdomain$'
	! grep -q '^ports' "$T/out" || fail "default ports are shown"
	begin
	exits 0 status
	says '^  domains +2 of [0-9]+, [0-9.]+ [KM]iB$'
	exits 0 -j status
	json 'd["listed"]["domains"] == 2 and d["generation"]["names_keys"] == 2'
	json 'd["generation"]["names_capacity"] >= 2 and d["ports"]["dns"] == [53]'
	json '[(l["name"], l["verdict"]) for l in d["lists"]] == [("default", "drop"), ("two", "nxdomain")]'
	exits 0 -j rotate
	json 'd["names_capacity"] >= 2'
	exits 0 policy allow-only --force
	exits 0 flush --list default --yes
	is_refused 2 'no source is listed: allow-only would shut everybody out' policy allow-only
}

# stats_say VERDICT REASON PACKETS
stats_say()
{
	exits 0 stats
	says "^  $1 +$2 +$3 +[0-9]+$"
	exits 0 -j stats
	json "[r['packets'] for i in d['interfaces'] if i['name'] == 'x0' for r in i['reasons']
		if r['reason'] == '$2' and r['verdict'] == '$1'] == [$3]"
}

t_stats()
{
	local verdict word counted

	begin
	ctl add example.com
	while read -r verdict word counted; do
		ctl verdict default "$verdict"
		asks example.com "$word"
		asks example.com "$word"
		# shellcheck disable=SC2086
		stats_say $counted 2
	done <<-END
		drop silence drop name_dropped
		nxdomain nxdomain answer name_nxdomain
		refused refused answer name_refused
		truncate truncated answer name_truncated
		count passed pass name_counted
	END
	asks example.org passed
	stats_say pass name_clean 1
}

t_stats_names()
{
	begin
	exits 0 -j stats
	json 'd["names"] == []'
	ctl add example.com
	asks www.example.com silence
	asks Example.COM silence
	asks example.org passed
	exits 0 stats
	says '^listed names +packets$'
	says '^  example.com +2$'
	exits 0 -j stats --names 1
	json 'd["names"] == [{"entry": "example.com", "packets": 2}]'
	exits 0 stats --names 0
	! grep -q 'listed names' "$T/out" || fail 'names, though none was asked for'
	ctl rotate
	asks example.com silence
	exits 0 -j stats
	json 'd["names"] == [{"entry": "example.com", "packets": 3}]'
	# Should it fall on the same slot, the first few outvote what is there.
	ctl add =example.net
	for _ in 1 2 3 4 5 6 7 8; do asks example.net silence; done
	exits 0 stats
	says '^  =example.net +[4-8]$'
	is_refused 2 '--names' stats --names 1001
}

# --- watch ------------------------------------------------------------------------------------------

# watched NAME WORD PATTERN: what a query brings, and what is told of it, one blank between columns.
watched()
{
	watching watch --count 1
	asks "$1" "$2"
	ended 0
	has "^[0-9T:.-]+Z x0 $3$"
}

t_watch()
{
	local verdict word reason

	begin
	ctl add example.com --comment why
	ctl add =www.example.com --list one
	watched a.Example.COM silence \
		'drop 10.77.0.2 > 10.77.0.1 udp [0-9]+>53 name_dropped a.Example.COM example.com list default comment "why"'
	watched www.example.com silence \
		'drop 10.77.0.2 > 10.77.0.1 udp [0-9]+>53 name_dropped www.example.com =www.example.com list one'
	watched example.com silence 'drop 10.77.0.2 > 10.77.0.1 udp .* name_dropped example.com list default .*'
	while read -r verdict word reason; do
		ctl verdict default "$verdict"
		watched a.example.com "$word" \
			"$verdict 10.77.0.2 > 10.77.0.1 udp .* $reason a.example.com example.com list default .*"
	done <<-END
		refused refused name_refused
		truncate truncated name_truncated
		count passed name_counted
		nxdomain nxdomain name_nxdomain
	END
	ctl policy monitor
	watched a.example.com passed \
		'would-drop 10.77.0.2 > 10.77.0.1 udp .* name_nxdomain a.example.com example.com .*'
}

t_watch_json()
{
	begin
	ctl add example.com 10.77.0.3
	ctl verdict default nxdomain
	watching -j watch --count 2
	asks www.example.com nxdomain
	blocked 10.77.0.3
	ended 0
	sed -n 1p "$T/lines" >"$T/out"
	json 'd["verdict"] == "nxdomain" and d["name"] == "www.example.com"'
	json 'd["source"] == "10.77.0.2" and d["destination"] == "10.77.0.1"'
	json 'd["entry"] == "example.com" and d["reason"] == "name_nxdomain"'
	json 'd["lists"][0]["name"] == "default" and d["lists"][0]["verdict"] == "nxdomain"'
	sed -n 2p "$T/lines" >"$T/out"
	json 'd["verdict"] == "drop" and d["entry"] == "10.77.0.3" and "name" not in d'
}

run_tests
