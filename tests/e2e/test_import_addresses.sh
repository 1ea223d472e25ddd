#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Lists of addresses as others publish them: columns, ranges, JSON, texts, packed files. The samples
# have the form of the real lists; what of them docs/lists.md says is read from there.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

# list LINE...: a file of these lines.
list() { printf '%s\n' "$@" >"$T/list"; }

# has ENTRY...: that is what list `a` has, in this order.
has()
{
	local found

	found=$(entries_of a)
	[[ $found == "$(printf '%s\n' "$@" | sort | tr '\n' ' ' | sed 's/ $//')" ]] || fail "listed is '$found', not '$*'"
}

# takes FORMAT ARGUMENT...: import reads the list in this format.
takes()
{
	exits 0 -j import "$T/list" --list a --replace --force "${@:2}"
	json "d['format'] == '$1'"
}

refused()
{
	ctl save >"$T/before" 2>&1 || true
	exits 2 import "$T/list" --list a --replace "$@"
	one_line
	ctl save >"$T/after" 2>&1 || true
	cmp "$T/before" "$T/after" || fail "the store has changed"
}

t_csv()
{
	list '# Feodo' '"first_seen_utc","dst_ip","dst_port","c2_status","last_online","malware"' \
		'"2021-01-17 07:30:05","67.213.75.205","443","online","2021-08-18","Dridex"' '# END 1 entries'
	refused
	complains 'list:2: .*choose the one with the addresses, by its number or name with --column$'
	takes csv --column dst_ip
	has 67.213.75.205
	list 'network,geoname_id,registered_country_geoname_id' '8.8.0.0/24,2077456,2077456' '8.8.1.0/24,1814991,1814991'
	takes csv --column network --where geoname_id=1814991
	has 8.8.1.0/24
	list '8.8.0.0,8.8.0.255,AU' '8.8.1.0,8.8.3.255,CN'
	refused
	complains 'if the first two are a range, choose the columns 1..2 with --column'
	takes csv --column 1..2 --where 3=CN
	has 8.8.1.0/24 8.8.2.0/23
	list 'id,source,ip,reason,action' '1,crowdsec,Ip:8.8.8.8,ssh,ban' '2,cscli,Range:8.8.4.0/24,"a, b",ban' \
		'3,cscli,Ip:8.8.8.9,ssh,captcha'
	takes csv --column ip --where action=ban
	has 8.8.8.8 8.8.4.0/24
	list '2|ripencc|20260420|4|19830101|20260419|+0000' 'ripencc|*|ipv4|*|3|summary' \
		'ripencc|DE|ipv4|85.214.0.0|768|20060814|allocated' 'ripencc|DE|ipv6|2a01:4f8::|32|20060814|allocated'
	takes pipes --column 4+5 --where 2=DE,3=ipv4
	has 85.214.0.0/23 85.214.2.0/24
	takes pipes --column 4/5 --where 2=DE,3=ipv6
	has 2a01:4f8::/32
}

t_dshield()
{
	printf '#\n# DShield\nStart\tEnd\tNetblock\tAttacks\tName\tCountry\temail\n%s\n' \
		$'124.232.156.0\t124.232.156.255\t24\t6286\tA, B\tCN\ta@b' >"$T/list"
	takes tsv --column 1/3
	has 124.232.156.0/24
	takes tsv --column Start..End
	has 124.232.156.0/24
}

t_ranges()
{
	list '8.8.8.0-8.8.8.9' '9.9.9.0/255.255.255.0' '1.1.1.1:53' '// remark'
	takes plain
	has 8.8.8.0/29 8.8.8.8/31 9.9.9.0/24 1.1.1.1
	list 'Some Org:1.9.96.105-1.9.96.106'
	takes p2p
	has 1.9.96.105 1.9.96.106
	list '001.009.096.105 - 001.009.096.105 , 000 , Some org' '001.009.096.107 - 001.009.096.107 , 200 , friend'
	takes ipfilter
	has 1.9.96.105
	list '8.8.8.8 9.9.9.9'
	refused
	complains 'if each is listed, choose the format words with --format; .* the columns 1..2 with --column$'
	takes words --format words
	has 8.8.8.8 9.9.9.9
	list '8.8.8.0 255.255.255.0'
	refused
	complains 'netmask, choose the columns 1/2 with --column$'
	takes table --column 1/2
	has 8.8.8.0/24
}

t_json()
{
	list '{"syncToken":"1","prefixes":[{"ip_prefix":"3.5.140.0/22"}],"ipv6_prefixes":[{"ipv6_prefix":"2600:1f00::/24"}]}'
	refused
	complains 'addresses at prefixes\[\].ip_prefix,ipv6_prefixes\[\].ipv6_prefix \(--json-path PATH\)$'
	takes json --json-path 'prefixes[].ip_prefix,ipv6_prefixes[].ipv6_prefix'
	has 3.5.140.0/22 2600:1f00::/24
	refused --json-path 'prefixs[].ip_prefix'
	complains 'list:1: nothing is at prefixs\[\].ip_prefix$'
	list '[{"decisions":[{"type":"ban","value":"8.8.8.8"},{"type":"captcha","value":"9.9.9.9"}]}]'
	takes json --json-path '[].decisions[type=ban].value'
	has 8.8.8.8
	list '{"ip":"8.8.8.8"}' '{"ip":"9.9.9.9"}'
	takes json --json-path ip
	has 8.8.8.8 9.9.9.9
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
	refused
	complains 'addresses at nftables\[\].set.elem\[\] '
	takes json --json-path 'nftables[].set.elem[]'
	has 8.8.8.8 9.9.0.0/16 1.1.1.1 1.1.1.2
	ctl list --list a | contains '^8.8.8.8 .* expires .* comment "why"' || fail "no timeout or comment: $(ctl list --list a)"
}

t_extract_and_urls()
{
	list 'Jan 1 12:30:01 sshd: from 8.8.8.8 port 22, v1.2.3.4' 'deny 9.9.9.0/24; # 2600::1'
	takes extract --format extract
	has 8.8.8.8 9.9.9.0/24 2600::1
	list 'http://8.8.8.8:8080/a' 'https://bad.example/b'
	refused
	complains 'to list the hosts of URLs, choose the format urls with --format$'
	takes urls --format urls
	has 8.8.8.8 =bad.example
}

t_packed()
{
	list 8.8.8.8 9.9.9.9
	gzip -k "$T/list"
	exits 0 -j import "$T/list.gz" --list a
	json "d['added'] == 2 and d['bytes'] == $(stat -c %s "$T/list.gz")"
	exits 0 -j import - --list b <"$T/list.gz"
	head -c 25 "$T/list.gz" >"$T/list"
	refused
	complains 'list: the gzip stream ends early: the file may have been cut off$'
	printf '8.8.8.8\n7.7.7.7\n' | iconv -t UTF-16 >"$T/list"
	takes plain
	has 8.8.8.8 7.7.7.7
	ctl -q attach x0
	exits 0 import "$T/list.gz" --list c --rollback 60
	exits 0 commit
	exits 0 -j list --list c
	json 'len(d["entries"]) == 2'
}

t_wrong_lines()
{
	list 8.8.8.8 oops 9.9.9.9 ouch
	refused --skip-bad 1
	complains "list:4: 'ouch' is not an address or prefix \(1 wrong line left out before it, the most allowed\)$"
	exits 0 import "$T/list" --list a --skip-bad 2
	complains "2 lines were not understood and left out \(first: 2: 'oops' .*, 4: 'ouch' "
	has 8.8.8.8 9.9.9.9
	refused
	complains "list:2: 'oops' is not an address or prefix \(--skip-bad NUMBER leaves out up to NUMBER wrong lines\)$"
	refused --skip-bad 0
	complains "list:2: 'oops' is not an address or prefix \(--skip-bad NUMBER leaves out up to NUMBER wrong lines\)$"
	# Nothing is said of a line that cannot be left out.
	list 'create x hash:ip' 'add x oops'
	refused
	complains "list:2: 'oops' is not an address or prefix$"
	list 8.8.8.8 mail.example.org
	refused
	complains "list:2: 'mail.example.org' is .*; to list domains too, choose the format domains with --format \(--skip-bad"
	exits 0 import "$T/list" --list a --replace --force --format domains
	has 8.8.8.8 mail.example.org
	list "$(seq -f '8.8.%.0f.1' -s , 0 255 | sed 's/.*/&,&/')"
	refused
	complains 'list:1: line longer than 4096 bytes; to take each address in it, choose the format extract with --format$'
	exits 0 import "$T/list" --list a --format extract
}

# A trial keeps how the file was to be read.
t_choices_on_trial()
{
	ctl -q attach x0
	list 'ip,cc' '8.8.8.8,DE' '9.9.9.9,AT' 'x,DE'
	exits 0 import "$T/list" --list a --column ip --where cc=DE --skip-bad 1 --rollback 60
	exits 0 status
	says '--column ip --where cc=DE --skip-bad 1'
	rm "$T/list"
	exits 0 commit
	has 8.8.8.8
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

run_tests
