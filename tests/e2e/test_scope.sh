#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The scope of a list: how it is set, shown, tried, saved and refused.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=domains.sh
. "$(dirname "$0")/domains.sh"
# shellcheck source=scope.sh
. "$(dirname "$0")/scope.sh"

t_scope_shows()
{
	exits 0 scope
	[[ ! -s $T/out ]]
	exits 0 -j scope
	json 'd["scopes"] == []'
	is_refused 2 'there is no list one' scope one
	ctl add 192.0.2.1 --list one
	exits 0 -j scope two udp/6000-6063,tcp/587,tcp/25,tcp/465
	json 'd["list"] == "two" and d["scope"] == "tcp/25,tcp/465,tcp/587,udp/6000-6063"'
	exits 0 scope
	[[ $(cat "$T/out") == $'one all\ntwo tcp/25,tcp/465,tcp/587,udp/6000-6063' ]] || fail "$(cat "$T/out")"
	exits 0 scope one tcp,icmp
	[[ ! -s $T/out ]]
	exits 0 -j scope
	json '[s["scope"] for s in d["scopes"]] == ["tcp,icmp", "tcp/25,tcp/465,tcp/587,udp/6000-6063"]'
	exits 0 -j scope one
	json 'd["list"] == "one" and d["scope"] == "tcp,icmp" and "trial" not in d'
	exits 0 scope one all
	scope_is one all
	ctl allow add 192.0.2.9
	exits 0 -j scope
	json '[s["list"] for s in d["scopes"]] == ["one", "two"]'
	is_refused 2 'list allow has no scope: what it allows passes' scope allow
}

# same COMMAND...: it is refused with one line, and the store and the filter are as before.
same()
{
	exits 2 "$@"
	one_line
	ctl save | cmp - "$T/before" || fail "$* changed the store"
	[[ $(generation) == "$filter" ]] || fail "$* built a filter"
}

t_scope_bad_input()
{
	ctl -q attach x0
	ctl add 192.0.2.1
	ctl scope default tcp/25
	ctl save >"$T/before"
	filter=$(generation)
	same scope default "$(printf 'udp/%d,' {1..65..2})tcp"
	complains 'at most 32 services'
	same scope auto:ssh tcp/25
	same scope allow tcp/25
	same scope default --rollback 5
}

# Lists that agree share a class; more than 15 kinds there are not.
t_scope_sixteenth_class()
{
	ctl -q attach x0
	for i in {1..15}; do
		exits 0 scope "list$i" "tcp/$i"
	done
	ctl add 192.0.2.1 --list sixteenth
	ctl save >"$T/before"
	filter=$(generation)
	same scope sixteenth tcp/16
	complains 'all 15 classes are in use'
	same scope sixteenth tcp/16 --rollback 60
	same verdict sixteenth count
	exits 0 scope sixteenth tcp/15
	exits 0 scope list1 all
	exits 0 verdict sixteenth count
	scope_is sixteenth tcp/15
}

# With its scope a list comes back, also one without members; and what has none loses it.
t_scope_saved_and_restored()
{
	ctl -q attach x0
	ctl add 192.0.2.1 --list mail
	exits 0 scope mail tcp/25,tcp/465
	exits 0 scope empty icmp
	exits 0 scope both tcp/25
	exits 0 verdict both count
	exits 0 save
	grep -qxF '{"list":"mail","verdict":"drop","scope":"tcp/25,tcp/465"}' "$T/out" || fail "$(cat "$T/out")"
	grep -qxF '{"list":"empty","verdict":"drop","scope":"icmp"}' "$T/out"
	grep -qxF '{"list":"both","verdict":"count","scope":"tcp/25"}' "$T/out"
	cp "$T/out" "$T/saved"
	exits 0 scope mail udp/53
	exits 0 scope later tcp/110
	exits 0 scope empty all
	exits 0 restore "$T/saved"
	[[ $(ctl scope) == $'both tcp/25\nempty icmp\nmail tcp/25,tcp/465' ]] || fail "$(ctl scope)"
	exits 0 save
	cmp "$T/out" "$T/saved"
	exits 0 status
	exits 0 restore "$T/saved" --rollback 30
	exits 0 -q commit
	scope_is mail tcp/25,tcp/465
}

t_scope_of_an_import()
{
	ctl -q attach x0
	printf '192.0.2.1\n192.0.2.2\n' >"$T/pbl"
	exits 0 -j import "$T/pbl" --list pbl --scope tcp/587,tcp/25 --dry-run --include-bogons
	json 'd["scope"] == "tcp/25,tcp/587" and d["dry_run"]'
	exits 2 scope pbl
	exits 0 import "$T/pbl" --list pbl --scope tcp/587,tcp/25 --include-bogons
	says '; scope tcp/25,tcp/587$'
	scope_is pbl tcp/25,tcp/587
	exits 0 -j import "$T/pbl" --list pbl --include-bogons
	json 'd["scope"] == "tcp/25,tcp/587" and d["verdict"] == "drop"'
	exits 0 import "$T/pbl" --list pbl --scope tcp/25 --verdict count --rollback 30 --include-bogons
	says '; verdict count; scope tcp/25$'
	exits 0 commit
	says '`import .*/pbl --list pbl --verdict count --scope tcp/25 --include-bogons` is kept'
	scope_is pbl tcp/25
	exits 0 import "$T/pbl" --list pbl --scope all --verdict drop --include-bogons
	! grep -q 'scope\|verdict' "$T/out" || fail "$(cat "$T/out")"
	scope_is pbl all
	ctl save >"$T/before"
	filter=$(generation)
	same import "$T/pbl" --list pbl --scope tcp/x --include-bogons
	complains "'tcp/x' is not a service"
}

# Whoever shows a list or an entry of it shows the scope; of domains and of what is allowed there is none.
t_scope_is_shown_with_the_list()
{
	ctl -q attach x0
	ctl add 192.0.2.1 198.51.100.0/24 spam.example --list spam
	ctl allow add 192.0.2.9 --list spam
	ctl add 192.0.2.1 --list other
	ctl scope spam tcp/25,icmp
	exits 0 list
	says '^192.0.2.1 list spam scope tcp/25,icmp added '
	says '^192.0.2.1 list other added '
	says '^198.51.100.0/24 list spam scope tcp/25,icmp added '
	says '^spam.example list spam verdict drop added '
	exits 0 -j list --list spam
	json '[e["lists"][0].get("scope") for e in d["entries"]] == ["tcp/25,icmp", "tcp/25,icmp", None]'
	exits 0 allow list --list spam
	says '^192.0.2.9 list spam added '
	exits 0 status
	says '^  other +1 entries$'
	says '^  spam +4 entries, scope: tcp/25,icmp$'
	exits 0 -j status
	json '[l.get("scope") for l in d["lists"] if l["name"] in ("other", "spam")] == [None, "tcp/25,icmp"]'
	exits 0 -j top --interval 1
	json '[l.get("scope") for l in d["lists"] if l["name"] in ("other", "spam")] == [None, "tcp/25,icmp"]'
	ctl verdict spam count
	exits 0 list
	says '^192.0.2.1 list spam verdict count scope tcp/25,icmp added '
	exits 0 -j list --list spam
	json 'd["entries"][0]["lists"][0]["verdict"] == "count"'
	exits 0 status
	says '^  spam +4 entries, verdict: count, scope: tcp/25,icmp$'
}

# What a list says of a service; the kernel's part is in t_scope_enforced.
t_scope_asked_about()
{
	ctl add 192.0.2.1 2001:db8::1 192.0.2.0/25 --list spam
	ctl scope spam tcp/25,icmp
	exits 0 test 192.0.2.1 2001:db8::1 192.0.2.0/25
	says '^192.0.2.1 list spam scope tcp/25,icmp added '
	exits 0 test 192.0.2.1 2001:db8::1 192.0.2.0/25 --to tcp/25
	! grep -q 'not listed' "$T/out" || fail "$(cat "$T/out")"
	exits 0 test 192.0.2.1 2001:db8::1 --to icmp
	exits 1 test 192.0.2.1 2001:db8::1 192.0.2.0/25 --to tcp/443
	[[ $(grep -c '^[0-9a-f.:/]* is not listed for tcp/443$' "$T/out") -eq 3 ]] || fail "$(cat "$T/out")"
	says '^192.0.2.1 list spam scope tcp/25,icmp added '
	exits 1 -j test 192.0.2.1 --to udp/25
	json 'd["entries"][0]["to"] == "udp/25" and not d["entries"][0]["listed"]'
	json '[b["entry"] for b in d["entries"][0]["by"]] == ["192.0.2.1", "192.0.2.0/25"]'
	exits 0 -j test 192.0.2.1 --to tcp/25
	json 'd["entries"][0]["listed"] and d["entries"][0]["by"][0]["lists"][0]["scope"] == "tcp/25,icmp"'
	exits 0 -j test 192.0.2.1
	json 'd["entries"][0]["listed"] and "to" not in d["entries"][0]'
	exits 1 test 192.0.2.200 --to tcp/25
	says '^192.0.2.200 is not listed for tcp/25$'
	# Of several lists, one is enough.
	ctl add 192.0.2.0/24 --list web
	ctl scope web tcp/443
	ctl verdict web count
	exits 0 test 192.0.2.1 192.0.2.200 --to tcp/443
	says '^192.0.2.0/24 list web verdict count scope tcp/443 added '
	exits 1 test 192.0.2.1 192.0.2.200 --to tcp/25
	for one in tcp tcp/25,tcp/26 tcp/25-26 all sctp/1 '' tcp/0; do
		exits 2 test 192.0.2.1 --to "$one"
		one_line
	done
	exits 2 test 192.0.2.1 spam.example --to udp/53
	one_line
	complains 'queries for spam.example are judged at the ports that `bloomctl ports` shows'
	exits 2 allow test 192.0.2.1 --to tcp/25
	one_line
}

run_tests
