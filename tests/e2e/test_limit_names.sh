#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A limit for each registered name: queries for random names below one, and what other names and real clients notice.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=rollback.sh
. "$root/tests/e2e/rollback.sh"
# shellcheck source=domains.sh
. "$root/tests/e2e/domains.sh"
. "$root/tests/e2e/watcher.sh"

# A resolver that answers every name. end_world ends it.
resolve()
{
	printf '%s\n' port=53 listen-address="$server4,$server6" bind-interfaces no-resolv no-hosts user=root group=root \
		pid-file="$T/dnsmasq.pid" log-facility="$T/queries" log-queries keep-in-foreground \
		address=/#/192.0.2.80 address=/#/2001:db8::80 >"$T/dnsmasq.conf"
	in_server dnsmasq -C "$T/dnsmasq.conf" &
	wait_for "the resolver" grep -q 'cleared cache' "$T/queries"
}

# limit NAME OPTION...: of names, with a burst of 5 and no more for an hour.
limit() { ctl -q limit add "$1" --to udp/53 --rate 1/h --of queries --per name "${@:2}"; }

over() { ctl -j limit list | of_json '[l["over_packets"] for l in d["limits"] if l["name"] == w[0]][0]' "$1"; }

# digs NAME SOURCE: as people do; what it finds is in $T/dig.
digs()
{
	in_client dig -b "$2" +tries=1 +time=$((10 * patience)) "@$(to "$2")" "$1" >"$T/dig" 2>&1 || fail "$(cat "$T/dig")"
	finds 'IN[[:space:]]+A[[:space:]]+192\.0\.2\.80' "$T/dig" || fail "no answer for $1: $(cat "$T/dig")"
}
# By UDP, and by TCP after a truncated answer.
digs_at_once() { digs "$@" && ! finds 'retrying in TCP' "$T/dig" || fail "$1 is truncated"; }
digs_by_tcp() { digs "$@" && finds 'Truncated, retrying in TCP' "$T/dig" || fail "$1 is not truncated: $(cat "$T/dig")"; }

t_names_are_limited()
{
	begin
	resolve
	limit one
	digs_at_once a1.victim.example 10.77.0.2
	digs_at_once A2.b.Victim.EXAMPLE 10.77.0.3
	digs_at_once a3.c.d.victim.example fd77::2
	digs_at_once a4.victim.example 10.77.0.4
	digs_at_once victim.example 10.77.0.2
	# Who asks has no part in it, nor does the case.
	digs_by_tcp a5.victim.example 10.77.0.5
	digs_by_tcp a6.VICTIM.example 10.77.0.6
	digs_by_tcp a7.b.viCtim.example fd77::3
	[[ $(packets over_truncated) -eq 3 && $(over one) -eq 3 ]] || fail "$(packets over_truncated) are truncated"
	# Another name of the same registry, and one in its own.
	digs_at_once www.other.example 10.77.0.2
	digs_at_once www.victim.other.co.uk 10.77.0.2
	digs_at_once www.victim.another.co.uk 10.77.0.2
	[[ $(over one) -eq 3 ]]
	exits 0 limit list
	says '^one +1/h +queries +5 +name +truncate +1x +16384 +4.0 MiB +- +3 '
	exits 0 status
	says '^  one +1/h queries per name to udp/53, over it: truncate, 3 packets$'
	exits 0 limit del one
	digs_at_once a8.victim.example 10.77.0.2
}

# The resolver is spared, and all others go on meanwhile.
t_flood_of_subdomains()
{
	local count=3000 rate=20 burst=40 passed truncated round

	[[ -z ${XB_TEST_ALL:-} ]] || count=100000
	begin
	resolve
	ctl -q limit answers off
	ctl -q limit add one --to udp/53 --rate $rate/s --burst $burst --of queries --per name
	in_client python3 -S -E "$root/tests/e2e/subdomains.py" 10.77.0.2 "$server4" victim.example $count $rate $burst \
		>"$T/flood" 2>&1 &
	for round in 1 2 3 4 5; do
		digs_at_once "www$round.other$round.example" 10.77.0.3
		digs_at_once "www$round.other$round.example" fd77::3
	done
	wait $! || fail "$(tail -n 1 "$T/flood")"
	read -r passed truncated <"$T/flood"
	echo "$passed reach the resolver, $truncated are truncated"
	[[ $truncated -gt 0 && $(over one) -eq $truncated && $(packets over_truncated) -eq $truncated ]] ||
		fail "$truncated came back, $(over one) are counted"
}

t_what_becomes_of_them()
{
	begin
	limit one --burst 2 --over drop
	asks a.victim.example passed
	asks b.victim.example passed
	asks c.victim.example silence
	[[ $(packets limited) -eq 1 ]]
	ctl -q limit del one
	limit two --burst 2 --over count
	asks a.victim.example passed
	asks b.victim.example passed
	asks c.victim.example passed
	[[ $(packets over_counted) -eq 1 && $(over two) -eq 1 ]]
	ctl -q limit del two
	# Of sources, too, which have one for each.
	ctl -q limit add three --to udp/53 --rate 1/h --burst 2 --of queries --over truncate
	asks a.victim.example passed
	asks b.victim.example passed
	asks c.another.example truncated
	asks c.another.example passed 53 10.77.0.3
	ctl allow add 10.77.0.2
	asks c.another.example passed
	ctl allow del 10.77.0.2
	asks c.another.example truncated
	ctl -q policy monitor
	asks c.another.example passed
	[[ $(packets monitored) -eq 1 ]]
}

t_shown()
{
	begin
	limit one --burst 1
	asks a.victim.example passed
	watching watch --count 1
	asks B.Victim.example truncated
	ended 0
	has ' x0 truncate 10\.77\.0\.2 > 10\.77\.0\.1 udp [0-9]+>53 over_truncated B\.Victim\.example limit one$'
	watching -j watch --count 1
	asks c.victim.example truncated
	ended 0
	cp "$T/lines" "$T/out"
	json 'd["reason"] == "over_truncated" and d["limit"] == "one" and d["name"] == "c.victim.example"'
	json 'd["verdict"] == "truncate"'
	exits 1 test d.victim.example
	says '^d\.victim\.example is answered truncated now: over a limit$'
	exits 1 test d.other.example
	says '^d\.other\.example passes now: not listed$'
	exits 0 -j limit list
	json '[(l["per"], l["over"], "per4" in l, l["over_packets"]) for l in d["limits"]] == [("name", "truncate", False, 3)]'
}

t_tried_saved_and_restored()
{
	begin
	exits 0 -q limit add one --to udp/53 --rate 1/h --burst 1 --of queries --per name --rollback 60
	asks a.victim.example passed
	asks b.victim.example truncated
	exits 0 commit
	says '^`limit add one --to udp/53 --rate 1/h --burst 1 --of queries --per name` is kept$'
	limit two --burst 7 --over count
	ctl save >"$T/saved"
	grep -q '"limit":"one".*"per":"name","over":"truncate"' "$T/saved" || fail "$(cat "$T/saved")"
	grep -q '"limit":"two".*"per":"name","over":"count"' "$T/saved" || fail "$(cat "$T/saved")"
	ctl -q limit del one
	ctl -q limit del two
	exits 0 -q restore "$T/saved"
	ctl save | cmp - "$T/saved"
	rm -rf "$pins" "$counters"
	exits 0 -q up
	asks a.victim.example passed
	asks b.victim.example truncated
}

# Where no list of suffixes is installed.
unlisted()
{
	printf '%s\n' '#!/bin/sh' "exec unshare -m sh -c 'mount -t tmpfs none /usr/share/publicsuffix && exec \"\$0\" \"\$@\"' '$bloomctl' \"\$@\"" \
		>"$T/unlisted"
	chmod +x "$T/unlisted"
	bloomctl=$T/unlisted
}

t_without_a_list()
{
	local listed=$bloomctl

	begin
	unlisted
	is_refused 3 'needs the public suffixes of the package publicsuffix' \
		limit add one --to udp/53 --rate 1/h --of queries --per name
	ctl save >"$T/bare"
	cp "$T/bare" "$T/saved"
	echo '{"limit":"one","to":"udp/53","rate":"1/h","of":"queries","per":"name"}' >>"$T/saved"
	is_refused 3 'needs the public suffixes of the package publicsuffix' restore "$T/saved"
	ctl save | cmp - "$T/bare"
	# A limit that is there already counts nothing, and all else goes on.
	bloomctl=$listed
	limit one --burst 1
	ctl add victim.test
	unlisted
	exits 0 rotate
	complains 'names are not limited: .* package publicsuffix'
	asks a.victim.example passed
	asks b.victim.example passed
	asks a.victim.test silence
	exits 3 status
	says '^PROBLEM +limits of names count nothing: .* package publicsuffix; with the package, `bloomctl rotate` builds'
	exits 3 -j status
	json '[p["kind"] for p in d["problem_details"]] == ["not_limiting"]'
	bloomctl=$listed
	exits 0 -q rotate
	exits 0 status
	asks a.victim.example passed
	asks b.victim.example truncated
}

t_refused()
{
	begin
	is_refused 2 'only queries can be limited for each name' limit add one --to udp/53 --rate 1/h --per name
	is_refused 2 'only queries can be truncated' limit add one --to udp/53 --rate 1/h --over truncate
	is_refused 2 'the same for all sources' \
		limit add one --to udp/53 --rate 1/h --of queries --per name --known 10x
	is_refused 2 'is no part of an address' limit add one --to udp/53 --rate 1/h --of queries --per names
	is_refused 2 'neither drop, count nor truncate' limit add one --to udp/53 --rate 1/h --of queries --over refuse
}

run_tests
