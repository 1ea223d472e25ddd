#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Lists of domains: what import takes of each format, what goes to the allowlist, and what it says of
# lines it does not understand.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

# entries [allow] LIST: what the list has on that side, sorted, in one line.
entries()
{
	local -a side=()

	[[ $1 != allow ]] || side=(allow)
	ctl -j "${side[@]}" list --list "${*: -1}" 2>/dev/null | python3 -c '
import json, sys
text = sys.stdin.read()
print(*sorted(one["entry"] for one in json.loads(text)["entries"]) if text else ())'
}

# has LIST LISTED ALLOWED: that, and no more.
has()
{
	local found

	found=$(entries "$1")
	[[ $found == "$2" ]] || fail "listed is '$found', not '$2'"
	found=$(entries allow "$1")
	[[ $found == "$3" ]] || fail "allowed is '$found', not '$3'"
}

# list LINE...: a file of these lines.
list()
{
	printf '%s\n' "$@" >"$T/list"
}

# names COUNT [FIRST]: that many domains, one a line.
names()
{
	seq -f 'n%.0f.example' "${2:-1}" $((${2:-1} + $1 - 1))
}

unchanged()
{
	ctl save >"$T/after" 2>&1 || true
	cmp "$T/before" "$T/after" || fail "the store has changed"
}

refused()
{
	ctl save >"$T/before" 2>&1 || true
	exits 2 "$@"
	one_line
	unchanged
}

# imports FORMAT LISTED ALLOWED [OPTION...]: $T/list does, recognized or with the options.
imports()
{
	exits 0 -j import "$T/list" --list "$1" "${@:4}"
	json "d[\"format\"] == \"$1\""
	has "$1" "$2" "$3"
}

t_formats_of_rules()
{
	list 'payload:' "  - '+.a.example'" '  - DOMAIN,b.example' '  - SRC-IP-CIDR,5.9.0.0/24'
	imports ruleset '5.9.0.0/24 =b.example a.example' ''
	list '.zip' 'c.example'
	exits 0 import "$T/list" --list dots
	has dots '=c.example zip' ''
	list '(\.|^)a\.example$' '^ads'
	imports regex 'a.example' ''
	list 'http://a.example/x' 'https://5.9.0.1:8443/'
	refused import "$T/list" --list urls
	complains 'choose the format urls with --format'
	imports urls '5.9.0.1 =a.example' '' --format urls
	list 'address /a.example/#' 'address /w.a.example/-'
	imports smartdns 'a.example' 'w.a.example'
	list '@@|w.a.example^' '||*.zip^' '||a.example^'
	imports adblock 'a.example zip' '=w.a.example'
	list 'a.example.rpz.test. CNAME .' '24.0.0.9.5.rpz-client-ip.rpz.test. CNAME .' \
		'25.0.0.9.5.rpz-client-ip.rpz.test. CNAME rpz-passthru.'
	refused import "$T/list" --list rpz
	complains 'does not say of which zone; --zone names it'
	imports rpz '5.9.0.128/25 =a.example' '' --zone rpz.test
}

t_formats_of_dumps()
{
	list '*filter' '-A INPUT -s 5.9.0.1/32 -j ACCEPT' '-A INPUT -s 5.9.0.0/30 -j DROP' COMMIT
	imports iptables '5.9.0.0 5.9.0.2/31' ''
	list 'table inet f {' 'set bad {' 'type ipv4_addr' 'elements = { 5.9.0.1 timeout 1h, 5.9.0.4-5.9.0.7 }' '}' '}'
	imports nft '5.9.0.1 5.9.0.4/30' ''
	list 'deny 5.9.0.1;' 'deny 2a01:4f8::/32;'
	imports deny '2a01:4f8::/32 5.9.0.1' ''
	list 'geo $bad {' 'default 0;' '5.9.0.0/31 1;' '5.9.0.1 0;' '}'
	imports geo '5.9.0.0' ''
	list ':127.0.0.2:why' '5.9.0.0/31' '!5.9.0.1'
	imports ip4set '5.9.0.0' '' --format ip4set
	imports ip4trie '5.9.0.0' '' --format ip4trie
	list '2a01:4f8::/127' '!2a01:4f8::1'
	imports ip6trie '2a01:4f8::' '' --format ip6trie
	list '.a.example :2:why' '!w.a.example' 'b.example'
	imports dnset '=b.example a.example' '=w.a.example' --format dnset
	exits 0 import "$T/list" --list dnset --format dnset --replace
	says '3 unchanged'
}

# What would be listed depends on the format: nothing is.
t_formats_that_pass_for_others()
{
	list ':127.0.0.2:why' '5.9.0.1'
	refused import "$T/list"
	complains 'list:1: .* may be of several list formats: ip4set, ip4trie, ip6trie, dnset; --format names'
	list '5.9.0.0/24' '!5.9.0.1'
	refused import "$T/list"
	complains 'list:2: .* fits the formats ip4set, ip4trie, but the lines before it fit plain; --format names'
	list 'a.example' '.b.example'
	refused import "$T/list"
	complains 'list:2: .* fits the formats ruleset, but the lines before it fit domains; --format names'
	exits 0 import "$T/list" --format domains --list told
	has told 'a.example b.example' ''
	refused import "$T/list" --format domains --zone rpz.test
	complains 'only the format rpz has a zone'
	refused import "$T/list" --zone 'a b'
}

t_formats()
{
	list 'a.example # spam' '*.b.example' '192.0.2.1'
	exits 0 -j import "$T/list" --list domains --include-bogons
	json 'd["format"] == "domains" and d["added"] == 3 and d["unknown_lines"] == 0'
	has domains '192.0.2.1 a.example b.example' ''
	list '127.0.0.1 localhost' '0.0.0.0 a.example b.example' ':: c.example'
	exits 0 -j import "$T/list" --list hosts
	json 'd["format"] == "hosts" and d["added"] == 3 and d["unknown_lines"] == 0'
	has hosts 'a.example b.example c.example' ''
	list '! Title: x' '||a.example^' '@@||www.a.example^'
	exits 0 -j import "$T/list" --list adblock
	json 'd["format"] == "adblock" and d["entries"] == d["added"] == 2 and d["allowed"] == 1'
	has adblock 'a.example' 'www.a.example'
	list 'address=/a.example/b.example/0.0.0.0' 'server=/c.example/'
	exits 0 -j import "$T/list" --list dnsmasq
	json 'd["format"] == "dnsmasq" and d["added"] == 3'
	has dnsmasq 'a.example b.example c.example' ''
	list 'server:' 'local-zone: "a.example" always_nxdomain' 'local-zone: "b.example" transparent'
	exits 0 -j import "$T/list" --list unbound
	json 'd["format"] == "unbound" and d["added"] == 2 and d["allowed"] == 1'
	has unbound 'a.example' 'b.example'
	# shellcheck disable=SC2016
	list '$TTL 60' '@ SOA a. b. 1 2 3 4 5' ' NS c.' '*.a.example CNAME .' 'a.example CNAME .' \
		'b.example CNAME .' 'www.a.example CNAME rpz-passthru.'
	exits 0 -j import "$T/list" --list rpz
	json 'd["format"] == "rpz" and d["added"] == 3 and d["allowed"] == 1 and d["repeats"] == 1'
	has rpz '=b.example a.example' '=www.a.example'
	exits 0 test www.deep.a.example
	exits 0 allow test www.a.example
}

t_format_is_told()
{
	list 'a.example' '0.0.0.0 b.example'
	exits 0 import "$T/list" --format hosts
	complains 'list: 1 lines were not understood and left out \(first: 1: .a.example.\)$'
	has default 'b.example' ''
	refused import "$T/list" --format plain
	complains "list:1: 'a.example' is not an address or prefix"
	refused import "$T/list" --format nosuch
	complains 'known: plain, .*, hosts, adblock, dnsmasq, unbound, rpz, domains, '
}

# A wrong address never becomes a domain.
t_address_lists_stay_strict()
{
	list 192.0.2.1 192.0.2.1x
	refused import "$T/list" --include-bogons
	complains "list:2: '192.0.2.1x' is not an address or prefix"
	list 192.0.2.1 example.org
	refused import "$T/list" --include-bogons
	complains "list:2: 'example.org' is not an address or prefix"
	list 192.0.2.1x 192.0.2.1
	refused import "$T/list" --include-bogons
	complains 'list:1: not in a known list format'
	list example.org 192.0.2.1x
	exits 0 import "$T/list" --include-bogons
	complains '1 lines were not understood'
	has default example.org ''
}

t_unknown_lines_are_told()
{
	# shellcheck disable=SC2016
	list '||a.example^' 'b.example##.ad' '||c.example^$third-party' "$(printf '||%064d.example^' 1)"
	ctl -q attach x0
	exits 0 import "$T/list"
	[[ $(wc -l <"$T/err") -eq 1 ]] || fail "not one note: $(cat "$T/err")"
	complains "^bloomctl: $T/list: 3 lines were not understood and left out \\(first: 2: 'b.example##.ad', 3: '\\|\\|c.example\\^.third-party', 4: '0+.*' is not a valid domain: a label is longer than 63 characters\\)\$"
	says '^1 entries \(adblock\) into list default: 1 added'
	exits 0 -j import "$T/list" --dry-run
	json 'd["unknown_lines"] == 3 and d["lines"] == 4'
	json '[one["line"] for one in d["first_unknown_lines"]] == [2, 3, 4]'
	json 'd["first_unknown_lines"][0]["text"] == "'"'b.example##.ad'"'"'
	exits 0 -q import "$T/list"
	[[ ! -s $T/err && ! -s $T/out ]] || fail "-q says: $(cat "$T/err" "$T/out")"
	(echo '||a.example^'; seq 7) >"$T/list"
	exits 0 -j import - <"$T/list"
	complains "stdin: 7 lines .*first: 2: '1', 3: '2', 4: '3', 5: '4', 6: '5', \.\.\.\)\"[}]\$"
	json 'd["unknown_lines"] == 7 and len(d["first_unknown_lines"]) == 5'
}

t_every_unknown_line_is_told()
{
	local -i i

	(echo '||a.example^'; seq 1000) >"$T/list"
	for ((i = 1; i <= 1000; i++)); do
		echo "bloomctl: $T/list:$((i + 1)): '$i'"
	done >"$T/wanted"
	echo "bloomctl: $T/list: 1000 lines were not understood and left out" >>"$T/wanted"
	exits 0 -v import "$T/list" --dry-run
	cmp "$T/wanted" "$T/err" || fail "told: $(head "$T/err")"
	exits 0 -v -j import "$T/list" --dry-run
	json '[one["line"] for one in d["first_unknown_lines"]] == [*range(2, 1002)]'
	json 'd["first_unknown_lines"][999]["text"] == "'"'1000'"'"'
	exits 0 -v -q import "$T/list" --dry-run
	[[ ! -s $T/err ]] || fail "-q says: $(cat "$T/err")"
	# Lines that only the end of the file settles are among them, in their place.
	list 'x' 'local-zone: "home.example" static' 'y' 'local-data: "home.example A 8.8.8.8"' \
		'local-zone: "a.example" static'
	exits 0 -v import - --format unbound --dry-run <"$T/list"
	[[ $(cut -d: -f1-3 "$T/err") == "$(printf 'bloomctl: stdin:%d\n' 1 2 3 4
		printf 'bloomctl: stdin: 4 lines were not understood and left out')" ]] ||
		fail "told: $(cat "$T/err")"
}

# A zone with local names is in use, wherever in the file they stand.
t_unbound_zones_in_use()
{
	list 'local-data: "tv.lan.example A 192.168.1.3"' 'local-zone: "home.example" static' \
		'local-data: "nas.home.example A 192.168.1.2"' 'local-zone: "lan.example" refuse' \
		'local-zone: "ads.example" redirect' 'local-data: "ads.example A 0.0.0.0"' \
		'local-data: "alone.example A 0.0.0.0"'
	exits 0 -j import "$T/list"
	json 'd["unknown_lines"] == 4 and d["added"] == 2 and d["repeats"] == 1'
	json '[one["line"] for one in d["first_unknown_lines"]] == [1, 2, 3, 4]'
	complains "2: 'home.example' has local data that leads somewhere, 3: "
	has default '=alone.example ads.example' ''
	exits 1 test nas.home.example
}

# What is allowed below a listed domain does not let the domain pass.
t_rpz_allows_below()
{
	list 'j.example CNAME .' '*.j.example CNAME rpz-passthru.' '*.k.example CNAME rpz-passthru.'
	exits 0 -j import "$T/list" --format rpz
	json 'd["unknown_lines"] == 1 and d["first_unknown_lines"][0]["line"] == 2'
	complains "first: 2: 'j.example' is listed, and would pass with what is allowed below it\)\"[}]\$"
	has default '=j.example' 'k.example'
	exits 0 test j.example
	exits 1 allow test j.example
}

t_nothing_understood()
{
	list '<html>' '<p>404</p>'
	refused import "$T/list" --format hosts
	complains "list: no line could be read as hosts \\(1: '<html>'\\)\$"
	names 3 >"$T/three"
	exits 0 import "$T/three" --list feed
	refused import "$T/list" --format hosts --list feed --replace --force
	complains 'no line could be read as hosts'
	refused import "$T/list" --list feed --replace --force
	complains 'not in a known list format'
}

t_single_labels_are_left_out()
{
	list 'a.example' 'com' 'org'
	exits 0 import "$T/list"
	complains "2 entries left out .*first: com, a single label, $T/list:2\\); --include-bogons"
	has default a.example ''
	list 'a.example' '*.zip'
	exits 0 import "$T/list" --list tops
	has tops 'a.example zip' ''
	list '||a.example^' '@@||com^'
	exits 0 -j import "$T/list"
	json 'd["bogons"] == 1 and d["allowed"] == 0 and d["entries"] == 1'
	exits 0 -j import "$T/list" --include-bogons
	json 'd["bogons"] == 0 and d["allowed"] == 1'
	has default a.example com
	# Those of hosts files are names of machines, not domains.
	list '0.0.0.0 b.example localhost' '127.0.0.1 com'
	ctl -q attach x0
	exits 0 -j import "$T/list" --list hosts --include-bogons
	[[ ! -s $T/err ]] || fail "it says: $(cat "$T/err")"
	json 'd["entries"] == 1 and d["bogons"] == d["unknown_lines"] == 0'
}

# The first is the first of the file, whatever the order of the store.
t_notes_say_where()
{
	list 'a.example' 'net' 'com' '10.0.0.0/8' '192.0.2.0/33' '8.8.8.8/24' '8.8.4.4/24'
	exits 0 import "$T/list" --dry-run
	complains "3 entries left out .*first: net, a single label, $T/list:2\\);"
	complains "^bloomctl: $T/list: 2 prefixes have host bits .*first: 8.8.8.8/24, $T/list:6\\)\$"
	exits 0 import - --dry-run <"$T/list"
	complains 'first: net, a single label, stdin:2\);'
	complains '^bloomctl: stdin: 2 prefixes .*first: 8.8.8.8/24, stdin:6\)$'
}

t_text_tells_what_is_allowed()
{
	list '||a.example^' '@@||b.a.example^'
	exits 0 import "$T/list" --dry-run
	says '^2 entries \(adblock, 1 of them to be allowed\) would go into list default: 2 added'
	[[ ! -e $state ]] || fail "it has made a store"
	exits 0 import "$T/list"
	says '^2 entries \(adblock, 1 of them to be allowed\) into list default: 2 added'
	exits 0 import "$T/list"
	says ' 0 added, 0 renewed, 2 unchanged, 0 removed'
}

# Both sides of the list become what the file has, those of other lists stay.
# The verdict of a list decides whether clients wait.
t_verdict_of_the_list()
{
	list a.example b.example
	exits 0 import "$T/list" --list ads
	says '; verdict drop \(clients wait; to answer them: bloomctl verdict ads nxdomain\)$'
	exits 0 -j import "$T/list" --list ads --verdict nxdomain
	json 'd["verdict"] == "nxdomain" and d["unchanged"] == 2'
	exits 0 verdict ads
	says nxdomain
	exits 0 import "$T/list" --list ads
	says '; verdict nxdomain$'
	exits 0 import "$T/list" --list ads --verdict drop
	says '; verdict drop$'

	ctl save >"$T/before"
	exits 0 -j import "$T/list" --list new --verdict refused --dry-run
	json 'd["verdict"] == "refused"'
	unchanged
	refused import "$T/list" --list new --verdict maybe
	complains "unknown verdict 'maybe'"
	list a.example c.example '*bad'
	refused import "$T/list" --list ads --verdict count --format ipset
	echo 8.8.8.8 >"$T/list"
	exits 0 import "$T/list" --list addresses
	! grep -q verdict "$T/out" "$T/err" || fail "of addresses: $(cat "$T/out" "$T/err")"
}

# Where the format says that the narrower rule wins.
t_narrower_rule_wins()
{
	list 'local-zone: "example.com" transparent' 'local-zone: "bad.example.com" always_nxdomain'
	exits 0 import "$T/list" --list unbound
	complains "first: 1: 'example.com' would let pass what the file lists below it"
	has unbound bad.example.com ''
	list '*.example.com CNAME rpz-passthru.' 'bad.example.com CNAME .'
	exits 0 import "$T/list" --list rpz --format rpz
	has rpz '=bad.example.com' ''
	list 'address=/example.org/' 'server=/good.example.org/#' 'address=/www.example.org/93.184.216.34'
	exits 0 import "$T/list" --list dnsmasq
	has dnsmasq example.org 'good.example.org www.example.org'
	exits 0 attach x0
	exits 0 test a.example.org
	says '^a.example.org is dropped now'
	exits 0 test x.good.example.org
	says '^x.good.example.org passes now: allowed'
	exits 0 test bad.example.com
	says '^bad.example.com is dropped now'
	list '||example.net^' '@@||good.example.net^' '||bad.good.example.net^$important'
	exits 0 import "$T/list" --list adblock
	has adblock 'bad.good.example.net example.net' good.example.net
}

t_replace()
{
	list '||a.example^' '||b.example^' '@@||c.example^' '@@||d.example^'
	exits 0 import "$T/list" --list feed
	exits 0 add a.example x.example --list other
	exits 0 allow add c.example y.example --list other
	exits 0 allow add 192.0.2.1 --list feed
	exits 0 add 192.0.2.2 --list feed
	list '||b.example^' '||d.example^' '@@||d.example^' '@@||e.example^'
	exits 0 -j import "$T/list" --list feed --replace --dry-run
	mv "$T/out" "$T/dry"
	has feed '192.0.2.2 a.example b.example' '192.0.2.1 c.example d.example'
	exits 0 -j import "$T/list" --list feed --replace
	json 'd["removed"] == 4 and d["added"] == 2 and d["unchanged"] == 2'
	sed 's/"dry_run":true/"dry_run":false/' "$T/dry" | cmp - "$T/out" || fail "$(cat "$T/dry" "$T/out")"
	has feed 'b.example d.example' 'd.example e.example'
	has other 'a.example x.example' 'c.example y.example'
	list 'b.example'
	exits 0 -j import "$T/list" --list feed --replace
	json 'd["removed"] == 3 and d["unchanged"] == 1'
	has feed b.example ''
}

# Without --replace nothing goes, on neither side.
t_import_adds()
{
	list '||a.example^' '@@||b.example^'
	exits 0 import "$T/list"
	list '||c.example^' '@@||d.example^'
	exits 0 import "$T/list"
	has default 'a.example c.example' 'b.example d.example'
}

t_replacement_is_guarded()
{
	names 2001 >"$T/feed"
	exits 0 -q import "$T/feed" --list feed
	names 1000 >"$T/list"
	refused import "$T/list" --list feed --replace
	complains 'list feed would shrink from 2001 to 1000 entries '
	names 1001 >"$T/list"
	exits 0 -j import "$T/list" --list feed --replace
	json 'd["removed"] == 1000'
	# What is no longer listed is not made up for by exceptions.
	(names 1001 | sed 's/.*/@@||&^/') >"$T/list"
	refused import "$T/list" --list feed --replace
	complains 'list feed would shrink from 1001 to 0 entries '
	(echo '||n1.example^'; names 1000 2 | sed 's/.*/@@||&^/') >"$T/list"
	refused import "$T/list" --list feed --replace
	complains 'list feed would shrink from 1001 to 1 entries '
	(names 1001 | sed 's/.*/||&^/'; names 1000 | sed 's/.*/@@||&^/') >"$T/list"
	refused import "$T/list" --list feed --replace
	complains 'list feed would grow from 0 to 1000 allowed entries '
	exits 0 -j import "$T/list" --list feed --replace --force
	json 'd["allowed"] == 1000 and d["removed"] == 0'
	names 1001 >"$T/list"
	refused import "$T/list" --list feed --replace
	complains 'list feed would shrink from 1000 to 0 allowed entries '
}

# A list of exceptions only is one that can be emptied too.
t_emptying_exceptions_is_refused()
{
	list '@@||a.example^'
	exits 0 import "$T/list" --list feed
	has feed '' a.example
	list 'com'
	refused import "$T/list" --list feed --replace --format domains
	complains 'list feed would shrink from 1 to 0 allowed entries \(1 left out as bogons\)'
	exits 0 -j import "$T/list" --list feed --replace --format domains --force
	json 'd["removed"] == 1'
}

t_domains_and_addresses_are_both_replaced()
{
	list 'a.example' '8.8.8.8' '8.8.4.0/24' '2606:4700::1'
	exits 0 import "$T/list" --list feed
	list 'b.example' '8.8.8.8' '9.9.9.9'
	exits 0 -j import "$T/list" --list feed --replace
	json 'd["removed"] == 3 and d["added"] == 2 and d["unchanged"] == 1'
	has feed '8.8.8.8 9.9.9.9 b.example' ''
}

t_on_trial()
{
	list '||a.example^' '@@||b.a.example^' 'x'
	exits 0 attach x0
	exits 0 import - --list feed --rollback 60 <"$T/list"
	exits 2 list --list feed
	exits 0 commit
	has feed a.example b.a.example
}

t_published_lists()
{
	local data=${XB_SHARED:-$root/../shared}/data

	[[ -d $data ]] || skip "no real lists in $data (set XB_SHARED)"
	exits 0 -j import "$data/disposable-email-domains.txt" --list spam
	json 'd["added"] == 8335 and d["unknown_lines"] == d["bogons"] == 0'
	exits 0 -j import "$data/adservers.hosts" --list ads
	json 'd["added"] == 42358 and d["repeats"] == 173 and d["unknown_lines"] == d["bogons"] == 0'
	exits 0 -j import "$data/hagezi-light-20000.adblock" --list hagezi
	json 'd["added"] == 19990 and d["unknown_lines"] == d["bogons"] == 0'
	exits 0 -j import "$data/hagezi-light-20000.wildcard" --list hagezi
	json 'd["unchanged"] == 19990 and d["added"] == d["unknown_lines"] == d["bogons"] == 0'
	exits 0 test 0-mail.com sub.0-mail.com
}

run_tests
