#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The verdict of a list decides what becomes of queries for its domains, also on trial, as its scope is tried.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/domains.sh"

t_verdicts()
{
	begin
	ctl add example.com --list one
	ctl add example.net --list two
	asks www.example.com silence
	for one in nxdomain refused drop; do
		exits 0 verdict one "$one"
		asks www.example.com "${one/drop/silence}"
		asks example.net silence
		asks example.org passed
	done
	exits 0 verdict one truncate
	asks example.com truncated
	exits 0 verdict one count
	asks example.com passed
	exits 0 status
}

t_verdict_shows()
{
	exits 0 verdict
	[[ ! -s $T/out ]]
	exits 0 -j verdict
	json 'd["verdicts"] == []'
	is_refused 2 'there is no list one' verdict one
	ctl add example.com --list one
	exits 0 -j verdict two truncate
	json 'd["list"] == "two" and d["verdict"] == "truncate"'
	exits 0 verdict
	[[ $(cat "$T/out") == $'one drop\ntwo truncate' ]] || fail "$(cat "$T/out")"
	exits 0 -j verdict
	json 'd["verdicts"] == [{"list": "one", "verdict": "drop"}, {"list": "two", "verdict": "truncate"}]'
	exits 0 verdict two
	[[ $(cat "$T/out") == truncate ]]
	exits 0 -j verdict one
	json 'd["list"] == "one" and d["verdict"] == "drop"'
	ctl allow add good.example
	exits 0 verdict
	[[ $(cat "$T/out") == $'one drop\ntwo truncate' ]] || fail "$(cat "$T/out")"
	exits 0 -j verdict
	json '[v["list"] for v in d["verdicts"]] == ["one", "two"]'
	is_refused 2 'list allow has no verdict: what it allows passes' verdict allow
	exits 2 verdict auto:ssh drop
	one_line
}

# The other end of this veth has no XDP program.
t_verdict_note_of_veth()
{
	local note='^bloomctl: x0 is a veth in native mode: answers arrive only if .*attach x0 --mode skb.$'

	exits 0 verdict ads drop
	exits 0 attach x0 --mode native
	[[ ! -s $T/err ]] || fail "$(cat "$T/err")"
	for one in refused nxdomain truncate; do
		exits 0 verdict ads "$one"
		complains "$note"
		[[ $(wc -l <"$T/err") -eq 1 ]]
	done
	exits 0 verdict ads count
	[[ ! -s $T/err ]]
	exits 0 -q verdict ads nxdomain
	[[ ! -s $T/err ]]
	exits 0 attach x0 --mode skb
	[[ ! -s $T/err ]]
	exits 0 verdict ads refused
	[[ ! -s $T/err ]]
	exits 0 attach x0 --mode native
	complains "$note"
	exits 0 detach x0
	exits 0 attach x0 --mode native --rollback 60
	complains "$note"
}

# The same again is no change; where no domain is listed, nothing is built.
t_verdict_builds_only_what_it_must()
{
	begin
	ctl add 10.77.0.3 --list addresses
	ctl add example.com --list names
	before=$(generation)
	exits 0 verdict names drop
	exits 0 verdict addresses nxdomain
	exits 0 verdict later refused
	[[ $(generation) == "$before" ]] || fail "built anew for nothing"
	exits 0 verdict names nxdomain
	[[ $(generation) != "$before" ]] || fail "not built anew"
	before=$(generation)
	exits 0 verdict names nxdomain
	[[ $(generation) == "$before" ]] || fail "built anew for the same verdict"
	blocked 10.77.0.3
	asks example.com nxdomain
	exits 0 add example.net --list later
	asks example.net refused
}

# A list without members lives by its verdict, and by its scope.
t_property_of_an_empty_list()
{
	local verb tried plain

	while read -r verb tried plain; do
		exits 0 "$verb" one "$tried"
		exits 0 list --list one
		[[ ! -s $T/out ]]
		exits 0 -j list --list one
		json 'd["entries"] == []'
		exits 0 -j flush --list one --yes
		json 'd["removed"] == 0'
		exits 1 del example.com --list one
		one_line
		exits 0 add example.com --list one
		[[ $(ctl "$verb" one) == "$tried" ]]
		exits 0 flush --list one --yes
		[[ $(ctl "$verb" one) == "$tried" ]]
		exits 0 "$verb" one "$plain"
		exits 2 "$verb" one
		exits 2 list --list one
	done <<-END
		verdict nxdomain drop
		scope tcp/25 all
	END
}

is_now() { [[ $(ctl "$1" "$2") == "$3" ]]; }
is_again() { is_now "$1" default "$2"; }

t_property_on_trial()
{
	local verb tried plain other

	begin
	ctl add example.com
	while read -r verb tried plain other; do
		exits 0 -q "$verb" default "$tried" --rollback 60
		exits 0 "$verb" default
		says "^$tried \\(on trial until 20[0-9T:-]+Z, then $plain\\)$"
		exits 0 "$verb"
		says "^default $tried \\(on trial until .*, then $plain\\)$"
		exits 0 -j "$verb" default
		json "d['$verb'] == '$plain' and d['trial']['$verb'] == '$tried' and d['trial']['seconds_left'] > 0"
		exits 0 -j status
		json "d['trial']['command'] == '$verb default $tried'"
		exits 0 commit
		says "\`$verb default $tried\` is kept"
		is_again "$verb" "$tried"
		exits 0 "$verb" default "$plain"
		exits 0 -q "$verb" default "$tried" --rollback 2
		wait_for "the end of the trial" is_again "$verb" "$plain"
		exits 0 -j "$verb" default
		json '"trial" not in d'
		exits 0 -q "$verb" "new-$verb" "$other" --rollback 60
		exits 0 "$verb" "new-$verb"
		says "^$other \\(on trial until .*, then no such list\\)$"
		exits 0 -j "$verb" "new-$verb"
		json "d['$verb'] is None and d['trial']['$verb'] == '$other'"
		exits 0 -j commit
		json "d['list'] == 'new-$verb' and d['$verb'] == '$other'"
		is_now "$verb" "new-$verb" "$other"
		exits 0 status
	done <<-END
		verdict nxdomain drop count
		scope tcp/25,udp/53 all icmp
	END
	# Queries meet it while it is tried, and no more when that is over.
	exits 0 -q verdict default nxdomain --rollback 2
	asks example.com nxdomain
	wait_for "the end of the trial" is_again verdict drop
	asks example.com silence
}

run_tests
