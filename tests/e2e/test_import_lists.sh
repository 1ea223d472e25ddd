#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Lists as others publish them: what import takes by its options, what it advises, and what it says of lines that it does not
# understand. What each line of a format says: unit/lists.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/imports.sh"

# An option or a command of bloomctl each, for what the library found.
t_advice()
{
	local text options words

	while IFS='~' read -r text options words; do
		printf '%b\n' "$text" >"$T/list"
		# shellcheck disable=SC2086
		refused import "$T/list" --list a --replace $options
		complains "$words"
	done <<-'END'
		"seen","dst_ip","port"\n"07:30:05","6.7.8.9","443"~~list:1: .*with the addresses, by its number or name with --column$
		8.8.0.0,8.8.0.255,AU~~if column 2 has the last address for column 1, choose the columns 1..2 with --column; else one of them$
		8.8.8.8 9.9.9.9~~if each is listed, choose the format words with --format; .* the columns 1..2 with --column$
		8.8.8.0 255.255.255.0~~if column 2 has the netmask for column 1, choose the columns 1/2 with --column$
		{"prefixes":[{"ip_prefix":"3.5.140.0/22"}]}~~addresses at prefixes\[\].ip_prefix \(--json-path PATH\)$
		{"a":[{"ip":"8.8.8.0","len":24}]}~~addresses at a\[\].ip/len \(--json-path PATH\)$
		{"ip":"8.8.8.8"}~--json-path ips~list:1: nothing is at ips$
		http://8.8.8.8:8080/a~~to list the hosts of URLs, choose the format urls with --format$
		8.8.8.8\noops~~list:2: 'oops' is not an address or prefix \(--skip-bad NUMBER leaves out up to NUMBER wrong lines\)$
		8.8.8.8\noops~--skip-bad 0~list:2: 'oops' is not an address or prefix \(--skip-bad NUMBER leaves out up to NUMBER wrong
		8.8.8.8\noops\n9.9.9.9\nouch~--skip-bad 1~list:4: 'ouch' is .* \(1 wrong line left out before it, the most allowed\)$
		add good 8.8.8.8\nadd bad 9.9.9.9~~list:2: a second set, 'bad' after 'good': .*; choose one with --set$
		create x hash:ip\nadd x oops~~list:2: 'oops' is not an address or prefix$
		8.8.8.8\nmail.example.org~~list:2: 'mail.example.org' is .*; to list domains too, choose the format domains with --format
		a.example\n.b.example~~list:2: .* fits the formats ruleset, but the lines before it fit domains; --format names
		:127.0.0.2:why\n5.9.0.1~~list:1: .* may be of several list formats: ip4set, ip4trie, ip6trie, dnset; --format names
		a.example.rpz.test. CNAME .~~does not say of which zone; --zone names it
		a.example~--format domains --zone rpz.test~only the format rpz has a zone
		a.example~--zone =b~--zone takes a domain
		a.example~--format nosuch~known: plain, .*, hosts, adblock, dnsmasq, unbound, rpz, domains,
		a.example~--format plain~list:1: 'a.example' is not an address or prefix
		<html>\n<p>404</p>~--format hosts~list:1: this is a web page, not a list: .*, choose the format extract with --format$
	END
	list "$(seq -f '8.8.%.0f.1' -s , 0 255 | sed 's/.*/&,&/')"
	refused import "$T/list" --list a --replace
	complains 'list:1: line longer than 4096 bytes; to take each address in it, choose the format extract with --format$'
}

t_options()
{
	local text options listed allowed

	while IFS='~' read -r text options listed allowed; do
		printf '%b\n' "$text" >"$T/list"
		# shellcheck disable=SC2086
		exits 0 import "$T/list" --list a --replace --force $options
		has a "$listed" "$allowed"
	done <<-'END'
		"seen","dst_ip"\n"2021-01-17 07:30:05","67.213.75.205"~--column dst_ip~67.213.75.205~
		id,ip,action\n1,Ip:8.8.8.8,ban\n2,Range:8.8.4.0/24,ban\n3,Ip:8.8.8.9,x~--column ip --where action=ban~8.8.4.0/24 8.8.8.8~
		id,ip,cc\n1,8.8.8.8,DE\n2,9.9.9.9,AT\n3,8.8.4.4,FR~--column ip --where cc=DE|AT~8.8.8.8 9.9.9.9~
		ip route 8.8.0.0 255.255.0.0 Null0\nip route 9.9.9.0 0.0.0.255 Null0~--column 3/4~8.8.0.0/16 9.9.9.0/24~
		[{"ip":"8.8.8.0","len":24,"n":50},{"ip":"9.9.9.9","len":32,"n":49}]~--json-path [n>=50].ip/len~8.8.8.0/24~
		8.8.8.8\noops\n9.9.9.9\nouch~--skip-bad 2~8.8.8.8 9.9.9.9~
		8.8.8.8\nmail.example.org~--format domains~8.8.8.8 mail.example.org~
		8.8.8.8 9.9.9.9~--format words~8.8.8.8 9.9.9.9~
		add good 8.8.8.8\nadd bad 9.9.9.9~--set bad~9.9.9.9~
		from 8.8.8.8 port 22, v1.2.3.4; deny 9.9.9.0/24~--format extract~8.8.8.8 9.9.9.0/24~
		http://8.8.8.8:8080/a\nhttps://bad.example/b~--format urls~8.8.8.8 =bad.example~
		{"ip":"8.8.8.8"}\n{"ip":"9.9.9.9"}~--json-path ip~8.8.8.8 9.9.9.9~
		a.example.rpz.test. CNAME .\nb.example.rpz.test. CNAME rpz-passthru.~--zone rpz.test~!=b.example =a.example~
		||a.example^\n@@||b.a.example^~~!b.a.example a.example~
		||a.example^\n@@||b.a.example^~--exceptions allowlist~a.example~b.a.example
	END
	list 8.8.8.8 9.9.9.9
	gzip -k "$T/list"
	exits 0 -j import - --list b <"$T/list.gz"
	json "d['added'] == 2 and d['bytes'] == $(stat -c %s "$T/list.gz")"
}

# What nft itself writes of a set.
t_json_of_nft()
{
	in_server nft -f - <<-END
		table inet t {
			set s { type ipv4_addr; flags interval, timeout; comment "x"
				elements = { 8.8.8.8 timeout 1h comment "why", 9.9.0.0/16, 1.1.1.1-1.1.1.2 } }
		}
	END
	in_server nft -j list set inet t s >"$T/list"
	exits 0 import "$T/list" --list a
	has a '1.1.1.1 1.1.1.2 8.8.8.8 9.9.0.0/16'
	exits 0 import "$T/list" --list b --json-path 'nftables[].set.elem[]'
	has b '1.1.1.1 1.1.1.2 8.8.8.8 9.9.0.0/16'
	in_server nft list set inet t s >"$T/list"
	exits 0 import "$T/list" --list c
	has c '1.1.1.1 1.1.1.2 8.8.8.8 9.9.0.0/16'
	ctl list --list a | contains '^8.8.8.8 .* expires .* comment "why"' || fail "no timeout or comment: $(ctl list --list a)"
}

# Entries that have none get it; with another one the same file is another list.
t_comment()
{
	list '8.8.8.8 # its own' 9.9.9.9
	exits 2 import "$T/list" --list a --replace --comment $'a\tb'
	exits 0 import "$T/list" --list a --replace --comment 'a partner'
	ctl list --list a | contains '^8.8.8.8 .* comment "its own"$' || fail "$(ctl list --list a)"
	ctl list --list a | contains '^9.9.9.9 .* comment "a partner"$' || fail "$(ctl list --list a)"
	exits 0 import "$T/list" --list a --replace --comment another
	ctl list --list a | contains '^9.9.9.9 .* comment "another"$' || fail "$(ctl list --list a)"
	list 8.8.4.4
	exits 0 import "$T/list" --list b --comment 'of bare addresses'
	ctl list --list b | contains '^8.8.4.4 .* comment "of bare addresses"$' || fail "$(ctl list --list b)"
}

# A trial keeps how the file was to be read.
t_on_trial()
{
	ctl -q attach x0
	list 'ip,cc' '8.8.8.8,DE' '9.9.9.9,AT' 'x,DE'
	exits 0 import "$T/list" --list a --column ip --where cc=DE --skip-bad 1 --rollback 60
	exits 0 status
	says '--column ip --where cc=DE --skip-bad 1'
	rm "$T/list"
	exits 0 commit
	has a 8.8.8.8
	list '||a.example^' '@@||b.a.example^' 'x'
	exits 0 import - --list feed --rollback 60 <"$T/list"
	exits 2 list --list feed
	exits 0 commit
	has feed '!b.a.example a.example'
	exits 0 import - --list old --exceptions allowlist --rollback 60 <"$T/list"
	exits 0 status
	says '--exceptions allowlist'
	exits 0 commit
	has old a.example b.a.example
	list '{"a":["9.9.9.9"]}'
	exits 0 import "$T/list" --list b --json-path 'a[]' --rollback 60
	exits 0 commit
	exits 0 test 9.9.9.9
}

# Random lists in every format, beside what another reading of them lists.
t_another_reading()
{
	local -a command=(nsenter "--net=/run/netns/$server" "$bloomctl" --state "$state" --pin "$pins" --run "$counters")
	local seed=$RANDOM

	"$root/tests/e2e/listoracle.py" "$((${XB_TEST_ALL:+40} + 1))00" "$seed" "${command[@]}" >"$T/differs" 2>&1 ||
		fail "seed $seed: $(cat "$T/differs")"
}

# The commands that the manual has for known lists are ones that bloomctl takes.
t_manual()
{
	local row command

	while IFS='|' read -r _ _ command _; do
		command=$(sed 's/^ *`//; s/` *$//' <<<"$command")
		read -ra row <<<"$command"
		exits 2 "${row[@]:1}"
		complains 'No such file or directory' # and nothing is wrong with the options
	done < <(sed -n '/^| list |/,/^$/p' "$root/docs/lists.md" | grep '| `bloomctl import ' | tr -d "'")
}

# published NAME ENTRY...: by the command that the page shows for this list, $T/list gives these entries.
published()
{
	local row words

	row=$(grep -F "| $1 | \`bloomctl import " "$root/docs/lists.md") || fail "the page does not have $1"
	row=${row#*\`} row=${row%%\`*}
	eval "words=(${row#bloomctl import })"
	exits 0 import "$T/list" --list a --replace --force "${words[@]:1}"
	has a "$(printf '%s\n' "${@:2}" | sort | paste -sd ' ')"
}

# In the form in which their publishers describe or give them, with other addresses.
t_published()
{
	local -a all

	list '{"syncToken": "1700000000", "createDate": "2023-11-14-22-13-20",' \
		' "prefixes": [{"ip_prefix": "5.4.0.0/22", "region": "eu-west-1", "service": "AMAZON"}],' \
		' "ipv6_prefixes": [{"ipv6_prefix": "2a05:d07a::/36", "region": "eu-west-1", "service": "AMAZON"}]}'
	published "AWS ip-ranges" 5.4.0.0/22 2a05:d07a::/36
	list '{"syncToken": "1700000000000", "creationTime": "2023-11-14T22:13:20.00000", "prefixes": [' \
		'{"ipv4Prefix": "5.4.0.0/20", "service": "Google Cloud", "scope": "africa-south1"},' \
		'{"ipv6Prefix": "2a00:1450:8000::/44", "service": "Google Cloud", "scope": "africa-south1"}]}'
	published "Google goog.json, cloud.json" 5.4.0.0/20 2a00:1450:8000::/44
	list '{"addresses":["5.4.3.0/20","5.5.0.0/17"],"ipv6_addresses":["2a04:4e40::/32"]}'
	published "Fastly public-ip-list" 5.4.0.0/20 5.5.0.0/17 2a04:4e40::/32
	list '{"meta":{"generatedAt":"2026-09-26T15:51:22+00:00"},"data":[' \
		'{"ipAddress":"5.4.3.2","countryCode":"ID","abuseConfidenceScore":100,"lastReportedAt":"2026-09-26T15:17:01+00:00"},' \
		'{"ipAddress":"2a01:4f8::7","countryCode":null,"abuseConfidenceScore":99,"lastReportedAt":"2026-09-26T15:17:01+00:00"}]}'
	published "AbuseIPDB blacklist, JSON" 5.4.3.2 2a01:4f8::7
	printf '%s\r\n' '###############################' '# abuse.ch Feodo Tracker (CSV) #' '###############################' '#' \
		'"first_seen_utc","dst_ip","dst_port","c2_status","last_online","malware"' \
		'"2021-01-17 07:30:05","5.4.3.2","443","offline","2021-08-18","Dridex"' \
		'"2021-01-17 07:44:46","5.4.3.3","4643","online","2021-08-18","Dridex"' '# END 2 entries' >"$T/list"
	published "Feodo Tracker, CSV" 5.4.3.2 5.4.3.3
	list '"5.4.3.2","1","2013-12-03 14:07:00"' '"2a02:4780:8:d::","17","2020-09-11 21:50:10"'
	published "StopForumSpam, with counts" 5.4.3.2 2a02:4780:8:d::
	mapfile -t all < <(seq -f '5.4.%.0f.1' 0 255; seq -f '5.5.%.0f.1' 0 255)
	(IFS=, && printf '%s' "${all[*]}") >"$T/list"
	published "StopForumSpam, all in one line" "${all[@]}"
	list '{"description": "Networks of a scanner", "list": ["5.4.3.0/24", "2a01:4f8::/48"],' \
		' "matching_attributes": ["ip-src", "domain|ip"], "type": "cidr", "version": 20260101}'
	published "MISP warning list" 5.4.3.0/24 2a01:4f8::/48
	list '{"Event": {"uuid": "2b6a5a4e-0000-4000-8000-000000000000", "info": "a campaign", "Attribute": [' \
		'{"type": "ip-src", "category": "Network activity", "value": "5.4.3.2", "to_ids": true},' \
		'{"type": "domain", "category": "Network activity", "value": "evil.example", "to_ids": true}],' \
		'"Object": [{"name": "ip-port", "Attribute": [{"type": "ip-src", "object_relation": "ip", "value": "5.4.3.3"},' \
		'{"type": "ip-src|port", "value": "5.4.3.4|443"}, {"type": "ip-src|port", "value": "2a01:4f8::7|443"},' \
		'{"type": "port", "object_relation": "dst-port", "value": "443"}]}]}}'
	published "MISP event" 5.4.3.2 5.4.3.3
	exits 0 import "$T/list" --list b --json-path 'Event.Object[].Attribute[type="ip-src|port"].value'
	has b '2a01:4f8::7 5.4.3.4'
	exits 2 import "$T/list" --list c --json-path 'Event.Attribute[].value'
	complains "'evil.example' is not an address or prefix \(--skip-bad NUMBER"
	list network,geoname_id,registered_country_geoname_id,represented_country_geoname_id,is_anonymous_proxy \
		5.4.0.0/24,2077456,2077456,,0 5.4.1.0/24,1814991,1814991,,0 5.4.2.0/23,,1814991,,0
	published "MaxMind GeoLite2, CSV, a country" 5.4.1.0/24
	list 0.0.0.0,0.255.255.255,ZZ 5.4.0.0,5.4.0.255,AU 5.4.1.0,5.4.3.255,CN \
		2a00:600::,2a00:6ff:ffff:ffff:ffff:ffff:ffff:ffff,CN
	published "DB-IP lite, CSV, a country" 5.4.1.0/24 5.4.2.0/23 2a00:600::/24
	list '2|ripencc|1790287199|6|19700101|20260924|+0200' 'ripencc|*|ipv4|*|3|summary' 'ripencc|*|ipv6|*|2|summary' \
		'ripencc|DE|asn|64500|1|19930901|allocated|12a581c1' 'ripencc|DE|ipv4|5.4.0.0|768|20100712|allocated|12a581c1' \
		'ripencc|SE|ipv4|5.4.4.0|256|20100712|assigned|9a489e65' 'ripencc||ipv4|5.4.8.0|256|||available' \
		'ripencc|DE|ipv6|2a01:4f8::|29|20070801|allocated|12a581c1' \
		'ripencc|SE|ipv6|2a00:1450::|32|20090813|allocated|9a489e65'
	published "RIR delegations, a country" 5.4.0.0/23 5.4.2.0/24 2a01:4f8::/29
	python3 "$root/tests/support/mmdbfile.py" "$T/list" <<-'END'
		{"5.4.0.0/24": {"country": {"iso_code": "DE"}, "registered_country": {"iso_code": "US"}},
		 "5.4.1.0/24": {"country": {"iso_code": "US"}}, "5.4.2.0/24": {"registered_country": {"iso_code": "DE"}},
		 "5.4.3.0/24": {"country_code": "AT", "country": "Austria", "asn": "AS64501"},
		 "2a01:4f8::/32": {"autonomous_system_number": 64500, "country": {"iso_code": "DE"}}}
	END
	published "MaxMind GeoLite2, DB-IP lite, IPinfo lite: countries" 5.4.0.0/24 5.4.3.0/24 2a01:4f8::/32
	published "the same: all countries but one" 5.4.1.0/24 5.4.3.0/24
	published "MaxMind GeoLite2, IPinfo lite: networks of an AS" 5.4.3.0/24 2a01:4f8::/32
}

# --- what is told -----------------------------------------------------------------------------------

t_unknown_lines_are_told()
{
	# shellcheck disable=SC2016
	list '||a.example^' 'b.example##.ad' '||c.example^$third-party' "$(printf '||%064d.example^' 1)"
	ctl -q attach x0
	exits 0 import "$T/list"
	told 1
	complains "^bloomctl: $T/list: 3 lines were left out \\(first: 2: 'b.example##.ad', 3: "
	complains "3: '\\|\\|c.example\\^.third-party', 4: '0+.*' is not a valid domain: a label is longer than 63 characters\\)\$"
	says '^1 entries \(adblock\) into list default: 1 added'
	exits 0 -j import "$T/list" --dry-run
	json 'd["unknown_lines"] == 3 and d["lines"] == 4'
	json '[(one["line"], one["text"][1:5]) for one in d["first_unknown_lines"]] == [(2, "b.ex"), (3, "||c."), (4, "0000")]'
	exits 0 -q import "$T/list"
	[[ ! -s $T/err && ! -s $T/out ]] || fail "-q says: $(cat "$T/err" "$T/out")"
	(echo '||a.example^'; seq 1000) >"$T/list"
	exits 0 -j import - <"$T/list"
	complains "stdin: 1000 lines .*first: 2: '1', 3: '2', 4: '3', 5: '4', 6: '5', \.\.\.\)\"[}]\$"
	json 'd["unknown_lines"] == 1000 and len(d["first_unknown_lines"]) == 5'
	# All of them, to whoever asks for it.
	seq 1000 | awk -v list="$T/list" '{printf "bloomctl: %s:%d: \047%d\047\n", list, $1 + 1, $1}' >"$T/wanted"
	echo "bloomctl: $T/list: 1000 lines were left out" >>"$T/wanted"
	exits 0 -v import "$T/list" --dry-run
	cmp "$T/wanted" "$T/err" || fail "told: $(head "$T/err")"
	exits 0 -v -j import "$T/list" --dry-run
	json '[(one["line"], one["text"]) for one in d["first_unknown_lines"]] == [(i + 1, "'"'%d'"'" % i) for i in range(1, 1001)]'
	exits 0 -v -q import "$T/list" --dry-run
	told 0
	# Lines that only the end of the file settles are among them, in their place.
	list 'x' 'local-zone: "home.example" redirect' 'y' 'local-data: "home.example A 8.8.8.8"' \
		'local-zone: "a.example" static'
	exits 0 -v import - --format unbound --dry-run <"$T/list"
	[[ $(cut -d: -f1-3 "$T/err") == "$(printf 'bloomctl: stdin:%d\n' 1 2 3 4
		printf 'bloomctl: stdin: 4 lines were left out')" ]] || fail "told: $(cat "$T/err")"
}

# Of domains, single labels are bogons; the first is the first of the file, whatever the order of the store.
t_notes_say_where()
{
	list 'a.example' 'net' 'com' '10.0.0.0/8' '192.0.2.0/33' '8.8.8.8/24' '8.8.4.4/24'
	exits 0 import "$T/list"
	complains "3 entries left out .*first: net, a single label, $T/list:2\\); --include-bogons"
	complains "^bloomctl: $T/list:6: 2 prefixes have host bits .*first: 8.8.8.8/24\\)\$"
	has default '8.8.4.0/24 8.8.8.0/24 a.example'
	exits 0 import - --dry-run <"$T/list"
	complains 'first: net, a single label, stdin:2\);'
	complains "^bloomctl: stdin:6: 2 prefixes .*first: 8.8.8.8/24\\)\$"
	list 'a.example' '*.zip'
	exits 0 import "$T/list" --list tops
	has tops 'a.example zip'
	list '||a.example^' '@@||com^'
	exits 0 -j import "$T/list" --list labels --exceptions allowlist
	json 'd["bogons"] == 1 and d["allowed"] == 0 and d["entries"] == 1'
	exits 0 -j import "$T/list" --list labels --exceptions allowlist --include-bogons
	json 'd["bogons"] == 0 and d["allowed"] == 1'
	has labels a.example com
	# In its own list an exception opens nothing else, however wide it is.
	exits 0 -j import "$T/list" --list own
	json 'd["bogons"] == 0 and d["allowed"] == 0 and d["exceptions"] == 1'
	has own '!com a.example'
	# Those of hosts files are names of machines, not domains.
	list '0.0.0.0 b.example localhost' '127.0.0.1 com'
	exits 0 -j import "$T/list" --list hosts --include-bogons
	json 'd["entries"] == 1 and d["bogons"] == d["unknown_lines"] == 0'
}

t_names_of_a_hosts_file_stand_alone()
{
	list '0.0.0.0 a.example' '0.0.0.0 b.a.example'
	exits 0 import "$T/list" --list ads
	complains '/list: its names stand for themselves alone; --below takes all names below them, too$'
	has ads '=a.example =b.a.example'
	exits 1 test x.a.example
	exits 0 import "$T/list" --list ads --replace --below
	! grep -q 'stand for themselves' "$T/err" || fail "it says so of all names below"
	has ads 'a.example b.a.example'
	exits 0 test x.a.example
}

t_text_tells_exceptions()
{
	list '||a.example^' '@@||b.a.example^'
	exits 0 import "$T/list" --dry-run
	says '^2 entries \(adblock, 1 of them exceptions\) would go into list default: 2 added'
	[[ ! -e $state ]] || fail "it has made a store"
	exits 0 import "$T/list"
	says '^2 entries \(adblock, 1 of them exceptions\) into list default: 2 added'
	exits 0 import "$T/list"
	says ' 0 added, 0 renewed, 2 unchanged, 0 removed'
}

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
	list 8.8.8.8
	exits 0 import "$T/list" --list addresses
	! grep -q verdict "$T/out" "$T/err" || fail "of addresses: $(cat "$T/out" "$T/err")"
}

# Both sides of the list become what the file has, those of other lists stay.
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
	has feed '!c.example !d.example 192.0.2.2 a.example b.example' 192.0.2.1
	exits 0 -j import "$T/list" --list feed --replace
	json 'd["removed"] == 4 and d["added"] == 1 and d["unchanged"] == 2'
	sed 's/"dry_run":true/"dry_run":false/' "$T/dry" | cmp - "$T/out" || fail "$(cat "$T/dry" "$T/out")"
	has feed '!d.example !e.example b.example'
	has other 'a.example x.example' 'c.example y.example'
	# Without --replace nothing goes, on neither side.
	list '||f.example^' '@@||g.example^'
	exits 0 import "$T/list" --list feed
	has feed '!d.example !e.example !g.example b.example f.example'
	list b.example 8.8.8.8
	exits 0 -j import "$T/list" --list feed --replace
	json 'd["removed"] == 4 and d["unchanged"] == 1 and d["added"] == 1'
	has feed '8.8.8.8 b.example'
}

run_tests
