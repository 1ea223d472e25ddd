#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# allow lets sources pass that are listed, keeps them through flush, restore and kills, and refuses bad
# input.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/allow.sh"

t_verbs()
{
	begin
	blocked 10.77.0.3 fd77::3
	exits 0 allow add 10.77.0.3 fd77::3 --comment 'a friend'
	[[ ! -s $T/out && ! -s $T/err ]] || fail "words without need"
	passes 10.77.0.3 fd77::3
	blocked 10.77.0.4 fd77::2
	exits 0 allow list
	says '^10.77.0.3 list allow added .* comment "a friend"$'
	says '^fd77::3 list allow added '
	exits 0 allow test 10.77.0.3
	says '^10.77.0.3 list allow added '
	exits 1 allow test 10.77.0.3 10.77.0.4
	says '10.77.0.4 is not allowed'
	exits 0 test 10.77.0.3
	says '^10.77.0.0/24 list default'
	says '^10.77.0.3 passes now: allowed'
	exits 0 test 10.77.0.4
	says '^10.77.0.4 is dropped now: listed'
	is_refused 2 '10.77.0.3 is already in list allow' allow add 10.77.0.3
	exits 0 allow add 10.77.0.3 --exist
	exits 0 allow del 10.77.0.3
	says '10.77.0.3 taken out of allow'
	blocked 10.77.0.3
	passes fd77::3
	is_refused 1 '10.77.0.3 is not on the allowlist' allow del 10.77.0.3
	exits 0 allow del 10.77.0.3 --exist
	exits 0 del "${everybody[@]}"
	passes 10.77.0.3 10.77.0.4 fd77::2 fd77::3
}

# What is on the allowlist is not listed, and the other way round.
t_two_sides()
{
	exits 0 add 192.0.2.1
	exits 0 allow add 192.0.2.2
	exits 1 test 192.0.2.2
	exits 1 allow test 192.0.2.1
	exits 0 list
	[[ $(cat "$T/out") == 192.0.2.1* && $(wc -l <"$T/out") -eq 1 ]]
	exits 0 allow list
	[[ $(cat "$T/out") == 192.0.2.2* && $(wc -l <"$T/out") -eq 1 ]]
	exits 1 del 192.0.2.2
	exits 1 allow del 192.0.2.1
	exits 0 allow add 192.0.2.1
	exits 0 del 192.0.2.1
	exits 0 allow test 192.0.2.1
}

# `test` tells of both sides, and which is which; the verbs of the allowlist tell of that alone.
t_test_tells_the_sides_apart()
{
	exits 0 add 192.0.2.0/24
	exits 0 allow add 192.0.2.1 --list bank
	exits 0 allow add 192.0.2.1 --list friends
	exits 0 test 192.0.2.1
	says '^192.0.2.0/24 list default added'
	says '^allow 192.0.2.1 list bank added'
	says '^allow 192.0.2.1 list friends added'
	[[ $(grep -c ' list ' "$T/out") -eq 3 ]]
	exits 0 allow test 192.0.2.1
	says '^192.0.2.1 list bank added'
	exits 0 allow list
	says '^192.0.2.1 list bank added'
}

t_wins_whatever_is_listed()
{
	ctl attach x0
	ctl allow add 10.77.0.3 fd77::3
	ctl add 10.77.0.3 fd77::3
	passes 10.77.0.3 fd77::3
	ctl add --force 10.77.0.0/24 0.0.0.0/0 fd77::/64 ::/0
	passes 10.77.0.3 fd77::3
	blocked 10.77.0.4 fd77::4
	ctl rotate
	passes 10.77.0.3 fd77::3
	blocked 10.77.0.4 fd77::4
	ctl rotate --no-confirm
	passes 10.77.0.3 fd77::3
	rm -rf "$pins"
	exits 0 up
	passes 10.77.0.3 fd77::3
	blocked 10.77.0.4 fd77::4
	ctl detach x0
	ctl attach x0
	passes 10.77.0.3 fd77::3
	blocked 10.77.0.4 fd77::4
	exits 0 -j stats
	json '[r for r in d["interfaces"][0]["reasons"] if r["reason"] == "allowed"][0]["packets"] >= 2'
}

t_lists()
{
	begin
	exits 0 allow add 10.77.0.3 10.77.0.4 --list partners
	exits 0 allow add 10.77.0.3
	exits 0 allow list --list partners
	[[ $(wc -l <"$T/out") -eq 2 ]] || fail "$(cat "$T/out")"
	says '^10.77.0.3 list partners '
	exits 0 -j allow list --list allow
	json '[e["entry"] for e in d["entries"]] == ["10.77.0.3"]'
	exits 0 allow del 10.77.0.3 --list partners
	passes 10.77.0.3
	exits 0 allow del 10.77.0.3
	blocked 10.77.0.3
	passes 10.77.0.4
}

t_json()
{
	exits 0 -j allow list
	json 'd["entries"] == []'
	exits 0 -j allow add 192.0.2.1 2001:db8::/32
	json 'd["added"] == 2 and d["unchanged"] == 0'
	exits 0 -j allow add 192.0.2.1 --exist --comment other
	json 'd["renewed"] == 1'
	exits 0 -j allow list
	json '[e["entry"] for e in d["entries"]] == ["192.0.2.1", "2001:db8::/32"]'
	json 'd["entries"][0]["lists"][0]["comment"] == "other"'
	exits 1 -j allow test 2001:db8::7 192.0.2.2
	json 'd["entries"][0]["allowed"] and d["entries"][0]["allowed_by"][0]["entry"] == "2001:db8::/32"'
	json 'not d["entries"][1]["allowed"]'
	exits 1 -j test 192.0.2.1
	json 'd["entries"][0]["allowed"] and not d["entries"][0]["listed"]'
	exits 0 -j allow refuse ssh time
	json 'd["refused"] == ["ssh", "time"]'
	exits 0 -j allow accept time
	json 'd["refused"] == ["ssh"]'
	exits 0 -j allow del 192.0.2.1
	json 'd["removed"] == 1 and d["lists"] == {"192.0.2.1": ["allow"]}'
	exits 0 -p allow list
	json 'len(d["entries"]) == 1'
	exits 1 -j status
	json 'd["allowlist"] == {"entries": 1, "manual": 1, "automatic": [], "refused": ["ssh"]}'
}

# --- bad input --------------------------------------------------------------------------------------

all_there_is() { ctl save && ctl allow list; }

# refused CODE ARGUMENT...: one line, and nothing changed.
refused()
{
	exits "$@"
	one_line
	all_there_is >"$T/after"
	cmp "$T/before" "$T/after" || fail "the store has changed after: $*"
}

t_bad_input()
{
	begin
	ctl allow add 10.77.0.3 --list kept
	ctl allow refuse time
	all_there_is >"$T/before"
	refused 2 allow
	complains 'allow needs add, del, list, test, refuse or accept'
	refused 2 allow test
	complains 'allow test needs'
	refused 2 allow add 192.0.2.1 10.77.0.3 --list kept
	refused 2 allow add 192.0.2.1 --list auto:ssh
	refused 1 allow del 192.0.2.1
	refused 1 allow del 10.77.0.3 192.0.2.1
	refused 2 allow del 10.77.0.3 --list nosuch
	refused 2 allow del 127.0.0.0/8
	complains '127.0.0.0/8 is allowed automatically .*allow refuse loopback'
	refused 2 allow del 10.77.0.3 127.0.0.0/8
	refused 2 allow list --list nosuch
	complains 'there is no list nosuch'
	refused 2 allow refuse nosuch
	complains "unknown kind of lifeline 'nosuch': address, gateway"
	refused 2 allow refuse ssh nosuch
	refused 2 allow accept time nosuch
	refused 2 attach nosuch0 --refuse ssh
	passes 10.77.0.3
	blocked 10.77.0.4
	exits 0 status
}

t_bad_restore()
{
	local one

	begin
	ctl allow add 10.77.0.3
	ctl allow refuse time
	ctl save >"$T/saved"
	all_there_is >"$T/before"
	for one in 's/"refused":\["time"\]/"refused":["nosuch"]/' 's/"refused":\["time"\]/"refused":[1]/' \
		's/"policy":"enforce"/"policy":"nosuch"/' 's/"allow":"10.77.0.3"/"allow":"10.77.0.300"/' \
		's/"list":"allow"/"list":"auto:ssh"/'; do
		sed "$one" "$T/saved" >"$T/changed"
		! cmp -s "$T/saved" "$T/changed" || fail "nothing to change: $one"
		refused 2 restore "$T/changed"
	done
	passes 10.77.0.3
	blocked 10.77.0.4
}

# --- what outlives what -----------------------------------------------------------------------------

t_timeout()
{
	begin
	ctl add 192.0.2.1
	ctl allow add 10.77.0.3 --timeout 60
	ctl allow add 10.77.0.4 --timeout 600
	exits 0 allow list --list allow
	says '^10.77.0.3 list allow added .* expires '
	passes 10.77.0.3 10.77.0.4
	ctl allow add 10.77.0.3 --timeout 1 --exist
	sleep 1.8
	ctl add 192.0.2.2
	blocked 10.77.0.3
	passes 10.77.0.4
	exits 1 allow test 10.77.0.3
	exits 0 allow test 10.77.0.4
	exits 0 -j status
	json 'd["allowlist"]["manual"] == 1'
}

t_flush_keeps_it()
{
	with_gateways
	begin
	ctl allow add 10.77.0.3
	exits 0 -j flush --yes
	json 'd["removed"] == 3'
	passes 10.77.0.4
	ctl add "${everybody[@]}"
	passes 10.77.0.3 10.77.0.6 fd77::4
	blocked 10.77.0.4
	exits 0 allow list --list allow
	says '^10.77.0.3 '
}

t_save_and_restore()
{
	begin
	ctl allow add 10.77.0.3 --list partners --comment 'our "bank"'
	ctl allow add fd77::3 --timeout 600
	ctl allow refuse gateway time
	ctl rotate --no-confirm
	ctl policy monitor
	ctl save >"$T/saved"
	! grep -q 'auto:' "$T/saved" || fail "saves what another machine would find out by itself"
	ctl detach --all
	rm -rf "$state"
	exits 0 restore "$T/saved"
	ctl save >"$T/again"
	cmp "$T/saved" "$T/again"
	exits 0 -j status
	json 'd["policy"] == "monitor" and not d["confirm"] and not d["generation"]["confirm"]'
	json 'd["allowlist"]["refused"] == ["gateway", "time"] and d["allowlist"]["manual"] == 2'
	has 10.77.0.1 address 'on x0'
	passes 10.77.0.4
	exits 0 policy enforce
	passes 10.77.0.3 fd77::3
	blocked 10.77.0.4 fd77::2
	# An empty one takes everything back.
	head -n 1 "$T/saved" | sed 's/"refused":\[[^]]*\]/"refused":[]/; s/"memberships":[0-9]*/"memberships":0/' >"$T/empty"
	exits 0 restore --interfaces "$T/empty"
	exits 0 allow list
	[[ ! -s $T/out ]] || fail "$(cat "$T/out")"
}

# --- many -------------------------------------------------------------------------------------------

t_ten_thousand()
{
	local count=10000

	[[ -z ${XB_TEST_ALL:-} ]] || count=100000
	begin
	python3 -c 'import sys
for i in range(int(sys.argv[1])):
    print("allow add 172.%d.%d.%d/31" % (16 + (i >> 15), i >> 7 & 255, i << 1 & 255))
print("allow add 10.77.0.3")' $count >"$T/lines"
	exits 0 -j batch "$T/lines"
	json "d['added'] == $count + 1"
	passes 10.77.0.3
	blocked 10.77.0.4
	exits 0 -j status
	json "d['allowlist']['manual'] == $count + 1 and any(a['entry'] == 'fe80::/10' for a in d['allowlist']['automatic'])"
	exits 0 allow test 172.16.78.31
	exits 0 rotate
	passes 10.77.0.3
	blocked 10.77.0.4
	sed 's/add/del/' "$T/lines" >"$T/undo"
	exits 0 -j batch "$T/undo"
	json "d['removed'] == $count + 1"
	blocked 10.77.0.3
	exits 0 -j status
	json 'd["allowlist"]["manual"] == 0'
}

# --- status -----------------------------------------------------------------------------------------

t_status()
{
	exits 1 status
	says '^policy +enforce: what is listed is dropped$'
	says '^allowed +0 entries by hand, 0 automatically$'
	exits 0 attach x0 --mode skb
	exits 0 add 10.77.0.3
	exits 0 status
	says '^filter .*then confirmed exactly$'
	exits 0 rotate --no-confirm
	exits 0 status
	says '^filter .*not confirmed'
	exits 0 -j status
	json 'not d["confirm"] and not d["generation"]["confirm"] and d["policy"] == "enforce"'
	ctl save | sed 's/"mode":"skb"/"mode":"native"/' >"$T/saved"
	exits 0 restore --interfaces "$T/saved"
	exits 3 status
	says '^PROBLEM +x0 is attached in skb mode, wanted is native; .*attach x0 --mode native'
	exits 0 attach x0 --mode native
	exits 0 status
}

run_tests
