#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Domains from the command line: what is listed, with which verdict, on which ports, and what is said
# of it.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

# A native veth takes what XDP sends back only if the other end polls.
begin() { ctl -q attach x0 --mode skb; }

# asks NAME WORD [PORT [SOURCE]]: what a query for it brings, see ask.py.
asks()
{
	local source=${4:-10.77.0.2} got

	got=$(in_client python3 "$root/tests/e2e/ask.py" "$source" "$(to "$source")" "$1" "${3:-53}")
	[[ $got == "$2" ]] || fail "a query for $1 brings $got, not $2"
}

generation() { ctl -j status | python3 -c 'import json, sys
print(json.load(sys.stdin)["generation"]["name"])'; }

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

# Of several lists, the strictest.
t_verdict_of_several_lists()
{
	begin
	ctl add example.com --list one
	ctl add example.com --list two
	ctl verdict one nxdomain
	asks example.com silence
	ctl verdict two refused
	asks example.com refused
	ctl del example.com --list two
	asks example.com nxdomain
}

t_verdict_shows()
{
	exits 0 verdict
	[[ ! -s $T/out ]]
	exits 0 -j verdict
	json 'd["verdicts"] == []'
	exits 2 verdict one
	one_line
	complains 'there is no list one'
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
	exits 2 verdict allow
	one_line
	complains 'list allow has no verdict: what it allows passes'
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

t_verdict_bad_input()
{
	begin
	ctl add example.com
	ctl save >"$T/before"
	before=$(generation)
	for one in nosuch '' NXDOMAIN --wrong; do
		exits 2 verdict default "$one"
		one_line
	done
	exits 2 verdict default drop count
	one_line
	exits 2 verdict -- -x drop
	one_line
	exits 2 verdict auto:ssh drop
	one_line
	exits 2 verdict default --rollback 5
	one_line
	ctl save >"$T/after"
	cmp "$T/before" "$T/after"
	[[ $(generation) == "$before" ]]
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

# A list without members lives by its verdict.
t_verdict_of_an_empty_list()
{
	exits 0 verdict one nxdomain
	exits 0 list --list one
	[[ ! -s $T/out ]]
	exits 0 -j list --list one
	json 'd["entries"] == []'
	exits 0 -j flush --list one --yes
	json 'd["removed"] == 0'
	exits 1 del example.com --list one
	one_line
	exits 0 add example.com --list one
	exits 0 verdict one
	[[ $(cat "$T/out") == nxdomain ]]
	exits 0 flush --list one --yes
	exits 0 verdict one
	[[ $(cat "$T/out") == nxdomain ]]
	exits 0 verdict one drop
	exits 2 verdict one
	exits 2 list --list one
}

drops_again() { [[ $(ctl verdict default) == drop ]]; }

t_verdict_on_trial()
{
	begin
	ctl add example.com
	exits 0 -q verdict default nxdomain --rollback $((2 * patience))
	asks example.com nxdomain
	exits 0 verdict default
	says '^nxdomain \(on trial until 20[0-9T:-]+Z, then drop\)$'
	exits 0 verdict
	says '^default nxdomain \(on trial until .*, then drop\)$'
	exits 0 -j verdict default
	json 'd["verdict"] == "drop" and d["trial"]["verdict"] == "nxdomain" and d["trial"]["seconds_left"] > 0'
	wait_for "the end of the trial" drops_again
	exits 0 -j verdict default
	json '"trial" not in d'
	asks example.com silence
	exits 0 -q verdict default refused --rollback 30
	exits 0 commit
	asks example.com refused
	exits 0 verdict default
	[[ $(cat "$T/out") == refused ]]
	exits 0 -q verdict default refused --rollback 30
	exits 0 commit
	exits 0 status
	exits 0 -q verdict other count --rollback 30
	exits 0 verdict other
	says '^count \(on trial until .*, then no such list\)$'
	exits 0 -j verdict other
	json 'd["verdict"] is None and d["trial"]["verdict"] == "count"'
	exits 0 commit
	exits 0 verdict other
	[[ $(cat "$T/out") == count ]]
}

# Killed: as it was, or as it is to be once the next command has written.
t_verdict_killed_between()
{
	begin
	ctl add example.com
	! XB_FAULT=commit-before tool "$faulty" verdict default nxdomain || fail "it lives"
	exits 0 status
	asks example.com silence
	for one in commit-after publish-before publish-swapped; do
		ctl verdict default drop
		asks example.com silence
		! XB_FAULT=$one tool "$faulty" verdict default nxdomain || fail "it lives"
		exits 0 verdict default
		[[ $(cat "$T/out") == nxdomain ]]
		exits 0 up
		exits 0 status
		asks example.com nxdomain
	done
}

# --- limit ------------------------------------------------------------------------------------------

t_limit()
{
	local before one

	exits 0 limit
	[[ $(cat "$T/out") == 1000 ]] || fail "$(cat "$T/out")"
	begin
	ctl add example.com
	ctl verdict default refused
	asks example.com refused
	before=$(generation)
	exits 0 limit 1000
	[[ $(generation) == "$before" ]] || fail "built anew for the same limit"
	exits 0 status
	! grep -q '^limit' "$T/out" || fail "the default limit is shown"
	exits 0 limit 1
	[[ $(generation) != "$before" ]] || fail "the limit is not in force"
	exits 0 status
	says '^limit +1 answers a second on each CPU$'
	exits 0 -j limit
	json 'd["answer_limit"] == 1'
	exits 0 -j status
	json 'd["answer_limit"] == 1'
	exits 0 save
	cp "$T/out" "$T/saved"
	exits 0 -j limit off
	json 'd["answer_limit"] == 0'
	exits 0 limit
	[[ $(cat "$T/out") == off ]] || fail "$(cat "$T/out")"
	exits 0 status
	says '^limit +off: any number of answers$'
	exits 0 restore "$T/saved"
	exits 0 limit
	[[ $(cat "$T/out") == 1 ]] || fail "$(cat "$T/out")"
	sed 's/"answer_limit":1,//' "$T/saved" >"$T/old"
	! grep -q answer_limit "$T/old" || fail "it is there"
	exits 0 restore "$T/old"
	exits 0 limit
	[[ $(cat "$T/out") == 1000 ]] || fail "$(cat "$T/out")"
	for one in 0 1000001 1x "" on; do
		exits 2 limit "$one"
		complains 'limit takes a whole number from 1 to 1000000'
	done
	exits 2 limit 1 2
	for one in -1 1000001 '"1"' 1.5; do
		sed "s/\"answer_limit\":1,/\"answer_limit\":$one,/" "$T/saved" >"$T/bad"
		exits 2 restore "$T/bad"
		complains '"answer_limit" is out of range'
	done
	exits 0 limit
	[[ $(cat "$T/out") == 1000 ]] || fail "a refused command changed it"
}

# --- ports ------------------------------------------------------------------------------------------

t_ports()
{
	exits 0 ports
	[[ $(cat "$T/out") == $'dns  53\ntls  off\nhttp off' ]] || fail "$(cat "$T/out")"
	begin
	ctl add example.com
	exits 0 ports dns 5353,53
	asks example.com silence 53
	asks example.com silence 5353
	asks example.com passed 5354
	exits 0 ports dns
	[[ $(cat "$T/out") == 53,5353 ]]
	exits 0 ports dns 5354
	asks example.com passed 53
	asks example.com silence 5354
	exits 0 -j ports dns off
	json 'd["ports"] == {"dns": []}'
	asks example.com passed 5354
	exits 0 ports dns
	[[ $(cat "$T/out") == off ]]
	exits 0 ports tls 443,1,65535,8443
	exits 0 ports http 80
	exits 0 -j ports
	json 'd["ports"] == {"dns": [], "tls": [1, 443, 8443, 65535], "http": [80]}'
	exits 0 -j ports tls
	json 'd["ports"] == {"tls": [1, 443, 8443, 65535]}'
	exits 0 status
	says '^ports +dns off tls 1,443,8443,65535 http 80$'
	exits 0 -j status
	json 'd["ports"] == {"dns": [], "tls": [1, 443, 8443, 65535], "http": [80]}'
}

t_ports_bad_input()
{
	local one

	begin
	ctl add example.com
	ctl ports tls 443
	ctl save >"$T/before"
	before=$(generation)
	for one in 0 65536 99999999999999999999 1,2,3,4,5 53,53 ',' '53,' ,53 53,,54 ' 53' 53x x '' 0x35 53,off \
		Off +53; do
		exits 2 ports dns "$one"
		one_line
	done
	exits 2 ports dns 0
	complains "'0' is no port: whole numbers from 1 to 65535"
	exits 2 ports dns 53,5353,70000
	complains "'70000' is no port"
	exits 2 ports dns 53,5353x,54
	complains "'5353x' is no port"
	exits 2 ports dns 1,2,3,4,5
	complains 'at most 4 ports can be named'
	exits 2 ports dns 53,53
	complains 'port 53 is named twice'
	exits 2 ports http 80,443
	one_line
	complains 'port 443 cannot be both tls and http'
	exits 2 ports tls 443,53
	one_line
	complains 'port 53 cannot be both dns and tls'
	exits 2 ports http 53
	complains 'port 53 cannot be both dns and http'
	exits 2 ports dns 53,443
	complains 'port 443 cannot be both dns and tls'
	exits 2 ports udp
	one_line
	exits 2 ports udp 53
	one_line
	exits 2 ports dns 53 54
	one_line
	exits 2 ports --wrong
	one_line
	ctl save >"$T/after"
	cmp "$T/before" "$T/after"
	[[ $(generation) == "$before" ]]
	asks example.com silence
}

# The same again is no change; without domains nothing is built.
t_ports_build_only_what_they_must()
{
	begin
	ctl add 10.77.0.3
	before=$(generation)
	exits 0 ports dns 5353
	[[ $(generation) == "$before" ]] || fail "built anew for nothing"
	exits 0 add example.com
	asks example.com passed
	asks example.com silence 5353
	before=$(generation)
	exits 0 ports dns 5353
	[[ $(generation) == "$before" ]] || fail "built anew for the same ports"
	exits 0 ports dns 53
	[[ $(generation) != "$before" ]] || fail "not built anew"
}

t_ports_killed_between()
{
	begin
	ctl add example.com
	! XB_FAULT=commit-before tool "$faulty" ports dns 5353 || fail "it lives"
	exits 0 status
	asks example.com silence 53
	for one in commit-after publish-before publish-swapped; do
		ctl ports dns 53
		asks example.com silence 53
		! XB_FAULT=$one tool "$faulty" ports dns 5353 || fail "it lives"
		exits 0 ports dns
		[[ $(cat "$T/out") == 5353 ]]
		exits 0 up
		exits 0 status
		asks example.com silence 5353
		asks example.com passed 53
	done
}

# --- entries ----------------------------------------------------------------------------------------

t_entries()
{
	begin
	exits 0 add example.com =alone.example.net --comment why --timeout 3600
	asks example.com silence
	asks A.B.Example.COM silence
	asks notexample.com passed
	asks alone.example.net silence
	asks www.alone.example.net passed
	exits 2 add EXAMPLE.com.
	one_line
	complains '^bloomctl: example.com is already in list default'
	exits 0 add EXAMPLE.com. --exist
	exits 0 list
	says '^example.com list default verdict drop added .* expires .* comment "why"$'
	says '^=alone.example.net list default '
	exits 0 -j list
	json '[e["entry"] for e in d["entries"]] == ["example.com", "=alone.example.net"]'
	json 'd["entries"][0]["lists"][0]["verdict"] == "drop"'
	exits 1 del alone.example.net
	one_line
	complains 'alone.example.net is not listed'
	exits 0 del Example.Com
	says '^example.com taken out of default$'
	asks example.com passed
	exits 0 del =alone.example.net
	asks alone.example.net passed
	exits 1 del example.com
	one_line
}

t_single_label()
{
	exits 2 add com
	one_line
	complains 'com has no dot and may be a whole top-level domain; use --force'
	exits 2 add =com
	one_line
	exits 2 add example.org com
	exits 1 test example.org
	printf 'add example.org\nadd com\n' >"$T/lines"
	exits 2 batch "$T/lines"
	one_line
	complains 'lines:2: com has no dot'
	exits 0 add com --force
	exits 0 test example.com
	printf 'allow add example.org\nallow add net\n' >"$T/lines"
	exits 2 batch "$T/lines"
	one_line
	complains 'lines:2: net has no dot'
	for one in net =net; do
		exits 2 allow add "$one"
		one_line
		complains "$one has no dot and may be a whole top-level domain; use --force"
	done
	exits 1 allow test example.org
	exits 0 allow add net --force
	exits 0 allow test example.net
	exits 0 batch - <<<'allow add =org --force'
	ctl save >"$T/saved"
	exits 0 restore "$T/saved"
	exits 0 test example.com
	exits 0 allow test example.net
	exits 0 allow del =org
	exits 0 del com
	exits 2 del example.com --force
	one_line
}

t_international()
{
	begin
	exits 0 add BÜCHER.example
	exits 0 list
	says '^xn--bcher-kva.example list default '
	exits 0 test www.bücher.example
	says '^xn--bcher-kva.example list default '
	asks xn--bcher-kva.example silence
	exits 2 add xn--bcher-kva.example
	one_line
	exits 0 del bücher.example
	says '^xn--bcher-kva.example taken out of default$'
}

t_bad_names()
{
	local one

	ctl add kept.example
	ctl save >"$T/before"
	for one in = =. . .. .example.com example..com 'exa mple.com' example.com.. '*.example.com' ex/ample.com \
		example.com:53 http://example.com example.1 1.2.3.com.4 $'exam\xffple.com' $'exam\nple.com' \
		==example.com "$(printf 'x%.0s' {1..64}).com" "$(printf 'x.%.0s' {1..127})com" \
		"$(printf 'ü%.0s' {1..70}).com" "$(printf 'x%.0s' {1..3000})"; do
		for verb in add del test 'allow add' 'allow del' 'allow test'; do
			# shellcheck disable=SC2086
			exits 2 $verb -- "$one"
			one_line
		done
	done
	ctl save >"$T/after"
	cmp "$T/before" "$T/after"
}

t_all_or_nothing()
{
	begin
	ctl add example.com
	ctl save >"$T/before"
	exits 2 add example.net example.org -- bad..name
	exits 2 add example.net 192.0.2.1 example.com
	exits 1 del example.com example.net
	exits 2 add example.net example.net
	printf 'add example.net\nallow add good.example.com\ndel nosuch.example\n' >"$T/lines"
	exits 1 batch "$T/lines"
	one_line
	complains 'lines:3: nosuch.example is not listed'
	ctl save >"$T/after"
	cmp "$T/before" "$T/after"
	asks example.net passed
	asks good.example.com silence
}

t_batch()
{
	begin
	cat >"$T/lines" <<-'END'
	# domains and addresses
	add example.com =alone.example.org --list one
	add 10.77.0.3 example.net
	allow add good.example.com --comment "a friend"
	del example.net
	END
	exits 0 -j batch "$T/lines"
	json 'd["added"] == 5 and d["removed"] == 1'
	asks www.example.com silence
	asks good.example.com passed
	asks alone.example.org silence
	asks example.net passed
	blocked 10.77.0.3
}

t_allow()
{
	begin
	ctl add example.com
	exits 1 allow test good.example.com
	says '^good.example.com is not allowed$'
	exits 0 allow add good.example.com =alone.example.com
	asks www.good.example.com passed
	asks alone.example.com passed
	asks www.alone.example.com silence
	exits 0 allow test www.good.example.com
	says '^good.example.com list allow added'
	exits 0 allow list
	says '^good.example.com list allow added'
	exits 0 -j allow test alone.example.com
	json 'd["entries"][0]["allowed_by"][0]["entry"] == "=alone.example.com"'
	json '"verdict" not in d["entries"][0]["allowed_by"][0]["lists"][0]'
	exits 1 allow del nosuch.example
	one_line
	exits 0 allow del good.example.com
	asks good.example.com silence
}

t_flush()
{
	begin
	ctl add example.com --list one
	ctl add example.net --list two
	exits 0 -j flush --list one --yes
	json 'd["removed"] == 1'
	asks example.com passed
	asks example.net silence
	exits 0 -j flush --yes
	json 'd["removed"] == 1'
	asks example.net passed
}

# --- save and restore -------------------------------------------------------------------------------

t_save_and_restore()
{
	begin
	ctl add example.com =alone.example.net --list one
	ctl add example.com bücher.example --timeout 9000 --comment 'a "b"'
	ctl allow add good.example.com
	ctl verdict one nxdomain
	ctl verdict later count
	ctl verdict default refused
	ctl ports dns 53,5353
	ctl ports tls 443
	ctl save >"$T/first"
	ctl flush --yes
	for one in one later; do
		ctl verdict $one drop
	done
	ctl verdict other truncate
	ctl ports dns off
	ctl ports tls off
	ctl allow del good.example.com
	exits 0 restore "$T/first"
	ctl save >"$T/second"
	cmp "$T/first" "$T/second"
	exits 2 verdict other
	asks example.com refused 5353
	asks alone.example.net nxdomain
	asks good.example.com passed
}

# Of a version that knew no domains.
t_restore_of_old()
{
	begin
	ctl add example.com
	ctl verdict default nxdomain
	ctl ports dns 5353
	ctl ports tls 443
	cat >"$T/old" <<-'END'
	{"schema":1,"saved":"xdp-bloom","fpr":0.0,"capacity":0,"confirm":true,"policy":"enforce","refused":[]}
	{"interface":"x0","mode":"skb"}
	{"entry":"10.77.0.3","list":"default","added":1}
	END
	exits 0 restore "$T/old"
	exits 0 ports
	[[ $(cat "$T/out") == $'dns  53\ntls  off\nhttp off' ]] || fail "$(cat "$T/out")"
	exits 0 verdict
	[[ $(cat "$T/out") == 'default drop' ]]
	blocked 10.77.0.3
	asks example.com passed
}

# Of a version that took a port of DNS for another kind too, which did nothing.
t_restore_of_shared_ports()
{
	local head='{"schema":1,"saved":"xdp-bloom","fpr":0.0,"capacity":0'

	echo "$head,\"ports\":{\"dns\":[53],\"tls\":[53,443],\"http\":[53]}}" >"$T/old"
	exits 0 restore "$T/old"
	complains 'port 53 of tls is left out: it is a dns port'
	complains 'port 53 of http is left out'
	exits 0 ports
	[[ $(cat "$T/out") == $'dns  53\ntls  443\nhttp off' ]] || fail "$(cat "$T/out")"
}

t_restore_bad_input()
{
	local head='{"schema":1,"saved":"xdp-bloom","fpr":0.0,"capacity":0' one

	begin
	ctl add example.com
	ctl save >"$T/before"
	for one in '"ports":1' '"ports":{"dns":[53]}' '"ports":{"dns":[0],"tls":[],"http":[]}' \
		'"ports":{"dns":[53,53],"tls":[],"http":[]}' '"ports":{"dns":[65536],"tls":[],"http":[]}' \
		'"ports":{"dns":["53"],"tls":[],"http":[]}' '"ports":{"dns":[-1],"tls":[],"http":[]}' \
		'"ports":{"dns":[1,2,3,4,5],"tls":[],"http":[]}' '"ports":{"dns":[],"tls":[80],"http":[80]}'; do
		echo "$head,$one}" >"$T/bad"
		exits 2 restore "$T/bad"
		one_line
		complains 'bad:1: '
	done
	for one in '{"list":"one","verdict":"nosuch"}' '{"list":"one","verdict":1}' '{"verdict":"drop"}' \
		'{"list":"auto:ssh","verdict":"count"}' '{"entry":"bad..name","list":"one"}'; do
		printf '%s}\n%s\n' "$head" "$one" >"$T/bad"
		exits 2 restore "$T/bad"
		one_line
		complains 'bad:2: '
	done
	ctl save >"$T/after"
	cmp "$T/before" "$T/after"
	asks example.com silence
}

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
	begin
	ctl add example.com
	ctl verdict default nxdomain
	exits 0 test a.example.com
	says '^a.example.com is answered NXDOMAIN now: listed$'
	exits 0 -j test a.example.com
	json 'd["entries"][0]["kernel"] == "nxdomain" and d["entries"][0]["reason"] == "listed"'
	ctl verdict default refused
	exits 0 test a.example.com
	says '^a.example.com is answered REFUSED now: listed$'
	exits 0 -j test a.example.com
	json 'd["entries"][0]["kernel"] == "refused"'
	ctl verdict default truncate
	exits 0 test a.example.com
	says '^a.example.com is answered truncated now: listed$'
	exits 0 -j test a.example.com
	json 'd["entries"][0]["kernel"] == "truncate"'
	ctl verdict default count
	exits 0 test a.example.com
	says '^a.example.com passes now: listed, and the verdict is count$'
	exits 0 -j test a.example.com
	json 'd["entries"][0]["kernel"] == "pass"'
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
	exits 0 status
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
	exits 2 policy allow-only
	one_line
	complains 'no source is listed: allow-only would shut everybody out'
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
	begin
	ctl add example.com
	asks example.com silence
	stats_say drop name_dropped 1
	ctl verdict default nxdomain
	asks example.com nxdomain
	asks example.com nxdomain
	stats_say answer name_nxdomain 2
	ctl verdict default refused
	asks example.com refused
	stats_say answer name_refused 1
	ctl verdict default truncate
	asks example.com truncated
	stats_say answer name_truncated 1
	ctl verdict default count
	asks example.com passed
	stats_say pass name_counted 1
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
	exits 2 stats --names 1001
	one_line
	complains '--names'
}

# --- watch ------------------------------------------------------------------------------------------

has_budget()
{
	/usr/sbin/bpftool -j map dump pinned "$pins/link/watch" 2>/dev/null | grep -q '"budget":[1-9]'
}

# watching ARGUMENT...: bloomctl itself as $watcher, lines to $T/out. Returns when the kernel tells.
watching()
{
	(exec nsenter --net="/run/netns/$server" timeout 20 "$bloomctl" --state "$state" \
		--pin "$pins" --run "$counters" "$@" >"$T/out" 2>"$T/err") &
	watcher=$!
	wait_for 'the watcher' has_budget
}

# watched NAME WORD PATTERN: what a query brings, and what is told of it.
watched()
{
	watching watch --count 1
	asks "$1" "$2"
	wait "$watcher"
	says "^[0-9T:.-]+Z x0 $3$"
}

t_watch()
{
	begin
	ctl add example.com --comment why
	ctl add =www.example.com --list one
	watched a.Example.COM silence \
		'drop 10.77.0.2 udp [0-9]+>53 name_dropped a.Example.COM example.com list default comment "why"'
	watched www.example.com silence \
		'drop 10.77.0.2 udp [0-9]+>53 name_dropped www.example.com =www.example.com list one'
	ctl verdict default nxdomain
	watched a.example.com nxdomain \
		'nxdomain 10.77.0.2 udp .* name_nxdomain a.example.com example.com list default .*'
	ctl verdict default refused
	watched a.example.com refused 'refused 10.77.0.2 udp .* name_refused a.example.com example.com .*'
	ctl verdict default truncate
	watched a.example.com truncated \
		'truncate 10.77.0.2 udp .* name_truncated a.example.com example.com .*'
	ctl verdict default count
	watched a.example.com passed 'count 10.77.0.2 udp .* name_counted a.example.com example.com .*'
	ctl verdict default nxdomain
	ctl policy monitor
	watched a.example.com passed \
		'would-drop 10.77.0.2 udp .* name_nxdomain a.example.com example.com .*'
}

t_watch_json()
{
	begin
	ctl add example.com 10.77.0.3
	ctl verdict default nxdomain
	watching -j watch --count 2
	asks www.example.com nxdomain
	blocked 10.77.0.3
	wait "$watcher"
	sed -n 2p "$T/out" >"$T/second"
	sed -i 1q "$T/out"
	json 'd["verdict"] == "nxdomain" and d["name"] == "www.example.com"'
	json 'd["entry"] == "example.com" and d["reason"] == "name_nxdomain"'
	json 'd["lists"][0]["name"] == "default" and d["lists"][0]["verdict"] == "nxdomain"'
	mv "$T/second" "$T/out"
	json 'd["verdict"] == "drop" and d["entry"] == "10.77.0.3" and "name" not in d'
}

run_tests
