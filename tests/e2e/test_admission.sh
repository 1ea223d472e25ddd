#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# allow-only says whom it admits, and needs --force to admit what nobody added by hand.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154,SC2119
. "$(dirname "$0")/lib.sh"

# listing LIST ADDRESS...: imports them.
listing() { printf '%s\n' "${@:2}" | ctl -q import - --list "$1" --include-bogons; }

# refuses PATTERN: allow-only does, and changes nothing.
refuses()
{
	local before

	before=$(ctl save)
	exits 2 policy allow-only
	one_line
	complains "^bloomctl: allow-only would admit sources that nobody added by hand: $1 \(--force admits them; "
	exits 2 policy allow-only --rollback 60
	one_line
	[[ $(ctl save) == "$before" ]] || fail "refused, yet changed"
	[[ $(ctl policy) == enforce ]] || fail "the policy is $(ctl policy)"
	blocked 10.77.0.3
	passes 10.77.0.2
}

# accepts PATTERN: without a warning; says whom it admits.
accepts()
{
	exits 0 policy allow-only
	says "^the policy is allow-only: it admits the allowlist and $1, and nobody else$"
	! grep -q warning "$T/err" || fail "$(cat "$T/err")"
	ctl -q policy enforce
}

# origins LIST: as status shows them.
origins() { ctl -j status | of_json '" ".join(*[l.get("origins", []) for l in d["lists"] if l["name"] == w[0]] or [""])' "$1"; }

comes_from() { [[ $(origins "$1") == "$2" ]]; }

t_imported()
{
	ctl attach x0
	ctl -q add 10.77.0.4
	listing level1 10.77.0.3 10.77.3.0/24 fd77::3
	comes_from level1 import || fail "$(origins level1)"
	comes_from default "" || fail "$(origins default)"
	refuses '3 in list level1 by import'
	listing bots 10.77.0.5 10.77.0.3
	refuses '2 in list bots by import, 3 in list level1 by import'
	exits 0 policy allow-only --force
	says '^the policy is allow-only: it admits the allowlist and the 5 sources of lists bots, default and level1, and nobody else$'
	complains 'warning: the policy is allow-only, and it admits sources that nobody added by hand: 2 in list bots by import, 3 in list level1 by import$'
	passes 10.77.0.3 10.77.0.4
	blocked 10.77.0.2
	# Again, too: what is in force is not what was asked for.
	exits 2 policy allow-only
	exits 0 -j policy allow-only --force
	json 'd["policy"] == "allow-only" and d["admits"]["sources"] == 5 and not d["admits"]["known"]'
	json 'd["admits"]["lists"][2] == {"name": "level1", "sources": 3, "origins": ["import"]}'
	json 'd["admits"]["lists"][1] == {"name": "default", "sources": 1}'
	exits 0 -j policy enforce
	json '"admits" not in d'
	# What admits nobody, needs nothing.
	ctl -q verdict level1 count
	ctl -q verdict bots count
	accepts 'the 1 source of list default'
}

t_by_hand()
{
	ctl attach x0
	ctl -q add 10.77.0.4 example.com --list office
	printf 'add 10.77.3.0/24 --list vpn\nadd fd77::3 --list vpn\n' >"$T/batch"
	ctl -q batch "$T/batch"
	ctl -q allow add 10.77.0.5
	accepts 'the 3 sources of lists office and vpn'
	exits 0 -q policy allow-only
	[[ ! -s $T/out && ! -s $T/err ]] || fail "$(cat "$T/out" "$T/err")"
	exits 0 -j policy allow-only
	json 'd["admits"] == {"known": False, "sources": 3, "lists": [{"name": "office", "sources": 1}, {"name": "vpn", "sources": 2}]}'
	# Domains admit nobody, whoever listed them.
	printf 'example.net\nexample.org\n' | ctl -q import - --list ads
	comes_from ads "" || fail "$(origins ads)"
	exits 0 policy allow-only
	says 'the 3 sources of lists office and vpn, and nobody else$'
	ctl -q flush --yes
	exits 0 policy allow-only --force
	says '^the policy is allow-only: it admits the allowlist, and nobody else$'
}

t_many_lists()
{
	ctl attach x0
	ctl -q add 10.77.0.3
	for ((i = 0; i < 12; i++)); do
		listing "list$i" "10.0.0.$i"
	done
	refuses '1 in list list0 by import, .* 1 in list list11 by import, and in 8 more lists'
	exits 0 policy allow-only --force
	says 'the 13 sources of lists default, list0, list1, list10, list11, list2, list3, list4 and 5 more, and nobody else$'
}

t_saved_and_restored()
{
	ctl attach x0
	ctl -q add 10.77.0.4
	listing level1 10.77.0.3
	exits 0 save
	cp "$T/out" "$T/saved"
	grep -q '^{"list":"level1","verdict":"drop","origins":\["import"\]}$' "$T/saved" || fail "$(cat "$T/saved")"
	ctl -q flush --yes
	ctl -q add 10.77.0.3 --list level1
	comes_from level1 "" || fail "$(origins level1)"
	exits 0 -q restore "$T/saved"
	refuses '1 in list level1 by import'
	ctl save | cmp - "$T/saved" || fail "not what was saved"
	# The policy comes with the text, and so does the warning.
	sed 's/"policy":"enforce"/"policy":"allow-only"/' "$T/saved" >"$T/only"
	exits 0 -q restore "$T/only"
	complains 'warning: the policy is allow-only, and it admits sources that nobody added by hand: 1 in list level1 by import$'
	exits 0 -q restore "$T/only"
	! grep -q warning "$T/err" || fail "it warns again: $(cat "$T/err")"
}

# Under allow-only, each way in which a list begins to admit.
t_later()
{
	local warning='warning: the policy is allow-only, and it admits sources that nobody added by hand: '

	ctl attach x0
	ctl -q add 10.77.0.4
	listing counted 10.77.0.5
	ctl -q verdict counted count
	ctl -q policy allow-only
	printf '10.77.0.3\n10.77.3.0/24\n' >"$T/list"
	exits 0 import "$T/list" --list level1 --include-bogons --dry-run
	! grep -q warning "$T/err" || fail "nothing has changed: $(cat "$T/err")"
	exits 0 -q import "$T/list" --list level1 --include-bogons
	complains "^bloomctl: ${warning}2 in list level1 by import$"
	passes 10.77.0.3 10.77.0.4
	# Once for each list.
	echo 10.77.0.6 >"$T/list"
	exits 0 -q import "$T/list" --list level1 --include-bogons
	[[ ! -s $T/err ]] || fail "it warns again: $(cat "$T/err")"
	exits 0 -q add 10.77.0.6 --list mine
	[[ ! -s $T/err ]] || fail "$(cat "$T/err")"
	exits 0 -q verdict counted drop
	complains "^bloomctl: ${warning}1 in list counted by import$"
	passes 10.77.0.5
	printf 'example.net\n' >"$T/list"
	exits 0 -q import "$T/list" --list ads
	[[ ! -s $T/err ]] || fail "domains admit nobody: $(cat "$T/err")"
	# From a file that has not changed since.
	echo 10.77.0.3 >"$T/list"
	ctl -q flush --list level1 --yes
	exits 0 -q import "$T/list" --list level1 --include-bogons --replace
	complains "${warning}1 in list level1 by import$"
	exits 0 -q policy enforce
	exits 0 -q import "$T/list" --list level1 --include-bogons --replace
	exits 2 policy allow-only
	complains '1 in list level1 by import'
}

t_trial()
{
	ctl attach x0
	listing level1 10.77.0.3
	exits 0 policy allow-only --force --rollback 60
	says '^the policy is allow-only: it admits the allowlist and the 1 source of list level1, and nobody else$'
	passes 10.77.0.3
	blocked 10.77.0.2
	exits 0 commit
	blocked 10.77.0.2
}

t_fed()
{
	ctl attach x0
	ctl -q add 10.77.0.3
	printf '5.9.0.1\n5.9.0.2\n' >"$T/list"
	printf '[feed bots]\nurl = file://%s/list\nevery = 1d\n' "$T" >"$T/bloomd.conf"
	agent
	wait_for "the list" comes_from bots feed
	refuses '2 in list bots by feed'
	listing bots 10.77.0.3
	refuses '3 in list bots by import and feed'
	ctl -q flush --list bots --yes
	ctl -q policy allow-only
	echo 5.9.0.3 >"$T/list.new"
	mv "$T/list.new" "$T/list"
	wait_for "the other list" comes_from bots feed
	says_agent 'warning: the policy is allow-only, and it admits sources that nobody added by hand: 1 in list bots by feed$'
	agent_ends
}

run_tests
