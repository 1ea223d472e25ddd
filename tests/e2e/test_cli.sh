#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The store and its verbs: what they do, say, and exit with.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

t_add_and_del()
{
	exits 0 add 192.0.2.1 2001:db8::/32 198.51.100.0/24
	exits 0 test 192.0.2.1
	says '192.0.2.1 list default'
	exits 0 test 198.51.100.77
	says '198.51.100.0/24 list default'
	exits 0 test 2001:db8::1
	exits 1 test 192.0.2.1 192.0.2.2
	says '192.0.2.2 is not listed'
	exits 2 add 192.0.2.1
	one_line
	complains '192.0.2.1 is already in list default'
	exits 0 add 192.0.2.1 --exist
	exits 0 del 192.0.2.1
	says '192.0.2.1 taken out of default'
	exits 1 del 192.0.2.1
	one_line
	complains '192.0.2.1 is not listed'
	exits 0 del 192.0.2.1 --exist
	exits 1 test 192.0.2.1
}

t_json()
{
	exits 0 -j add 192.0.2.1 2001:db8::1
	json 'd["added"] == 2'
	exits 0 -j add 192.0.2.1 192.0.2.2 --exist
	json 'd["added"] == 1 and d["unchanged"] == 1'
	exits 0 -j test 192.0.2.1
	json 'd["entries"][0]["listed"] and d["entries"][0]["by"][0]["lists"][0]["name"] == "default"'
	exits 1 -j test 192.0.2.9
	json 'not d["entries"][0]["listed"]'
	exits 0 -j list
	json '[e["entry"] for e in d["entries"]] == ["192.0.2.1", "192.0.2.2", "2001:db8::1"]'
	exits 0 -p list
	json 'len(d["entries"]) == 3'
	exits 0 -j del 192.0.2.1
	json 'd["removed"] == 1 and d["lists"] == {"192.0.2.1": ["default"]}'
	exits 1 -j status
	json 'not d["ok"] and not d["problems"] and d["listed"]["ipv4_hosts"] == 1 and d["listed"]["ipv6_prefixes"] == 1'
	exits 0 -j plan --entries 1000000 --fpr 0.0001
	json '10 < d["bits_per_entry"] < 40 and d["capacity"] >= 1000000'
	exits 0 -j plan --limit 16384
	json 'd["lines"] == 65536 and d["meter_bytes"] == 2**22 and 0.0008 < d["innocent_share"] < 0.0009'
	json '0.013 < d["innocent_share_if_four_times"] < 0.014'
	exits 0 -j stats
	json 'd["interfaces"] == []'
	exits 0 -j rotate
	json 'd["enforced"] == False'
	exits 0 -j doctor
	json 'd["ready"] and len(d["checks"]) > 4'
	exits 0 -j attach x0
	json 'd["interfaces"][0]["name"] == "x0"'
	exits 0 -j rotate
	json 'd["enforced"] and d["host4_capacity"] >= 1'
	exits 0 -j up
	json 'd["up"] and d["missing_interfaces"] == 0'
	exits 0 -p stats
	json 'd["interfaces"][0]["name"] == "x0"'
	exits 0 -j detach x0
	json 'd["detached"]'
	exits 0 -j flush --yes
	json 'd["removed"] == 2'
}

t_text()
{
	exits 0 plan --entries 1000 --fpr 0.001
	says '1000 IPv4 addresses'
	exits 0 plan --limit 16384
	says '0.084 % of other sources are dropped with them; with 2 times as many, 0.33 %; with 4 times as many, 1.4 %'
	exits 0 doctor
	says 'ok .*Linux'
	exits 0 attach x0
	exits 0 status
	says '^x0 +attached'
	exits 0 stats
	exits 0 --help
	says 'usage: bloomctl'
	exits 0 --version
	says 'xdp-bloom'
	exits 0
	says 'listed'
}

t_lists()
{
	exits 0 add 192.0.2.1 --list one --comment 'seen at the gate'
	exits 0 add 192.0.2.1 192.0.2.2 --list two
	exits 0 list --list one
	says '192.0.2.1 list one .*comment "seen at the gate"'
	[[ $(wc -l <"$T/out") -eq 1 ]]
	exits 2 list --list nosuch
	one_line
	exits 1 del 192.0.2.2 --list one
	one_line
	exits 2 del 192.0.2.2 --list nosuch
	one_line
	exits 0 -j del 192.0.2.1
	json 'sorted(d["lists"]["192.0.2.1"]) == ["one", "two"]'
	exits 0 add 192.0.2.1 --list one
	exits 0 flush --list one --yes
	exits 1 test 192.0.2.1
	exits 0 test 192.0.2.2
	exits 2 flush
	one_line
	exits 2 flush --list nosuch --yes
	one_line
	exits 0 flush --yes
	exits 1 test 192.0.2.2
}

# come_and_go NUMBER: many entries in so many lists.
come_and_go()
{
	python3 -c 'import sys
for i in range(50000):
    print("add 10.%d.%d.%d --list l%d" % (i >> 16, i >> 8 & 255, i & 255, i % int(sys.argv[1])))' "$1" >"$T/batch"
	exits 0 batch "$T/batch"
	exits 0 add 192.0.2.1 --list "l$(($1 * 7 / 10))"
	exits 0 list --list "l$(($1 - 1))"
	says "^10.0.195.79 list l$(($1 - 1)) "
	exits 0 save
	[[ $(sort "$T/out" -u | wc -l) -eq 50002 ]] || fail "$(wc -l <"$T/out") lines saved"
	sed -i 's/^add/del/' "$T/batch"
	exits 0 batch "$T/batch"
	exits 0 list
	[[ $(cat "$T/out") == "192.0.2.1 list l$(($1 * 7 / 10)) "* ]] || fail "left: $(head -c 300 "$T/out")"
	exits 0 list --list "l$(($1 * 7 / 10))"
	exits 0 del 192.0.2.1
}

# In processor time: what looks for each list among all the others takes twenty times as long.
t_many_lists()
{
	local one many TIMEFORMAT=%U

	one=$({ time come_and_go 1; } 2>&1)
	many=$({ time come_and_go 50000; } 2>&1)
	python3 -c 'import sys; sys.exit(float(sys.argv[2]) > 10 * float(sys.argv[1]))' "$one" "$many" ||
		fail "it takes $many s, and $one s with one list"
}

# later ARGUMENT...: in 2096; the last second that can be told is in 2106.
later() { XB_CLOCK=4000000000 preloaded "$T/clock.so" exits "$@"; }

t_timeout_beyond_2106()
{
	"${CC:-cc}" -shared -fPIC -o "$T/clock.so" "$root/tests/e2e/clock.c"
	ctl add 192.0.2.1
	later 2 add 10.77.0.3 --timeout 300000000
	one_line
	complains 'a timeout of 300000000 seconds ends after 2106'
	later 2 allow add 10.77.0.3 --timeout 300000000
	printf 'add 10.77.0.4\nadd 10.77.0.3 --timeout 300000000\n' >"$T/batch"
	later 2 batch "$T/batch"
	complains 'batch:2: a timeout of 300000000 seconds'
	exits 0 list
	[[ $(wc -l <"$T/out") -eq 1 ]] || fail "something was listed: $(cat "$T/out")"
	printf '{"schema":1,"saved":"xdp-bloom"}\n{"entry":"10.77.0.3","list":"a","expires":4294967296}\n' >"$T/saved"
	exits 2 restore "$T/saved"
	complains 'saved:2: .*expires'
	later 0 add 10.77.0.3 --timeout 200000000
}

t_comment_and_timeout()
{
	exits 0 add 192.0.2.1 --comment 'first "quoted"' --timeout 3600
	exits 0 -j test 192.0.2.1
	json 'd["entries"][0]["by"][0]["lists"][0]["comment"] == "first \"quoted\""'
	json '"expires" in d["entries"][0]["by"][0]["lists"][0]'
	exits 0 -j add 192.0.2.1 --exist --comment second
	json 'd["renewed"] == 1'
	exits 0 test 192.0.2.1
	says 'second'
}

t_save_and_restore()
{
	exits 0 attach x0
	exits 0 add 10.77.0.3 fd77::3 203.0.113.0/24 --list one --comment 'a "b" \ c'
	exits 0 add 10.77.0.3 198.51.100.0/25 --timeout 9000
	exits 0 rotate --fpr 0.001 --capacity 5000
	ctl save >"$T/first"
	exits 0 flush --yes
	passes 10.77.0.3
	exits 0 restore "$T/first"
	ctl save >"$T/second"
	cmp "$T/first" "$T/second"
	blocked 10.77.0.3 fd77::3
	exits 0 status
	ctl save | ctl restore -
	ctl save >"$T/third"
	cmp "$T/first" "$T/third"
	state=$T/elsewhere pins=$pins-b counters=$T/run-b
	sed '/"interface"/d' "$T/first" >"$T/bare"
	exits 0 restore "$T/bare"
	ctl save >"$T/fourth"
	cmp "$T/bare" "$T/fourth"
}

t_batch()
{
	exits 0 attach x0
	exits 0 add 10.77.0.4
	printf '%s\n' '# comment' '' 'add 10.77.0.3 fd77::3 --list one --comment "two words"' \
		'del 10.77.0.4' 'add 10.77.0.5 --timeout 3600' >"$T/batch"
	exits 0 -j batch "$T/batch"
	json 'd["added"] == 3 and d["removed"] == 1'
	blocked 10.77.0.3 10.77.0.5 fd77::3
	passes 10.77.0.4
	echo 'del 10.77.0.3' | ctl batch -
	passes 10.77.0.3
}

# Whatever order the store has: the first line that is wrong is told, what is said last of an entry
# holds, and the later line does not find what only an earlier one would have left.
t_batch_order()
{
	exits 0 attach x0
	printf '%s\n' 'add 10.77.0.6' 'add 10.77.0.5' 'del 10.77.0.6' 'del 10.77.0.5' \
		'add 10.77.0.6 10.77.0.3 --list two' 'add 10.77.0.6' 'del 10.77.0.6 --list two' \
		>"$T/batch"
	exits 0 -j batch "$T/batch"
	json 'd["added"] == 5 and d["removed"] == 3'
	blocked 10.77.0.6 10.77.0.3
	passes 10.77.0.5
	exits 0 -j test 10.77.0.6
	json '[one["name"] for one in d["entries"][0]["by"][0]["lists"]] == ["default"]'
	ctl save >"$T/before"
	printf '%s\n' 'add 10.77.0.9' 'del 10.77.0.8 10.77.0.7' 'add 10.77.0.3 --list two' \
		'add 10.77.0.6 --list x' 'del 10.77.0.1' >"$T/batch"
	exits 1 batch "$T/batch"
	one_line
	complains 'batch:2: 10.77.0.[78] is not listed'
	sed -i 2d "$T/batch"
	exits 2 batch "$T/batch"
	complains 'batch:2: 10.77.0.3 is already in list two'
	sed -i 2d "$T/batch"
	exits 1 batch "$T/batch"
	complains 'batch:3: 10.77.0.1 is not listed'
	printf '%s\n' 'add 10.77.0.9' 'del 10.77.0.3 --list none' 'add 10.77.0.9' >"$T/batch"
	exits 2 batch "$T/batch"
	complains 'batch:2: there is no list none'
	printf '%s\n' 'del 192.0.2.99' 'del 192.0.2.99 --list nosuch' >"$T/batch"
	exits 1 batch "$T/batch"
	complains 'batch:1: '
	printf '%s\n' 'add 10.77.0.9' 'add 10.77.0.9' >"$T/batch"
	exits 2 batch "$T/batch"
	one_line
	printf '%s\n' 'add 10.77.0.9' 'flush --yes' >"$T/batch"
	exits 2 batch "$T/batch"
	one_line
	ctl save >"$T/after"
	cmp "$T/before" "$T/after"
}

t_import_formats()
{
	local format entries

	printf '# list\n10.77.0.3\n192.0.2.0/24 # a comment\n\nfd77::3\n' >"$T/plain"
	printf '#\n# netset\n10.77.0.3\n192.0.2.0/24\nfd77::3\n' >"$T/netset"
	printf '; Spamhaus\n10.77.0.3/32 ; SBL1\n192.0.2.0/24 ; SBL2\nfd77::3/128 ; SBL3\n' >"$T/spamhaus"
	printf '%s\n' '{"cidr":"10.77.0.3/32","sblid":"SBL1"}' '{"cidr":"192.0.2.0/24","sblid":"SBL2"}' \
		'{"cidr":"fd77::3/128"}' '{"type":"metadata","size":3}' >"$T/spamhaus-json"
	printf '# IPsum\n#\n10.77.0.3\t9\n192.0.2.0/24\t3\nfd77::3\t1\n' >"$T/ipsum"
	printf 'create a hash:net family inet\nadd a 10.77.0.3\nadd a 192.0.2.0/24\nadd a 192.0.2.9\n' >"$T/ipset"
	for format in plain netset spamhaus spamhaus-json ipsum ipset; do
		exits 0 import "$T/$format" --list $format --include-bogons
		entries="10.77.0.3 192.0.2.0/24 fd77::3"
		[[ $format != ipset ]] || entries="10.77.0.3 192.0.2.0/24 192.0.2.9"
		[[ $(entries_of $format) == "$entries" ]] || fail "$format: $(entries_of $format)"
		exits 0 -j import - --format $format --list $format --include-bogons <"$T/$format"
		json "d['unchanged'] == 3 and d['format'] == '$format'"
	done
}

t_import_replace()
{
	exits 0 attach x0
	printf '10.77.0.3\n10.77.0.4\n192.0.2.0/24\nfd77::3\n' >"$T/one"
	printf '10.77.0.4\n10.77.0.5\n192.0.2.0/24\nfd77::4\n' >"$T/two"
	exits 0 -j import "$T/one" --list feed --include-bogons
	json 'd["added"] == 4'
	exits 0 add 198.51.100.1
	exits 0 -j import "$T/two" --list feed --replace --include-bogons
	json 'd["added"] == 2 and d["removed"] == 2 and d["unchanged"] == 2 and d["renewed"] == 0'
	blocked 10.77.0.4 10.77.0.5 fd77::4
	passes 10.77.0.3 fd77::3
	exits 0 test 198.51.100.1
	ctl save >"$T/before"
	exits 0 -j import "$T/two" --list feed --replace --include-bogons
	json 'd["added"] == d["removed"] == d["renewed"] == 0 and d["unchanged"] == 4'
	ctl save >"$T/after"
	cmp "$T/before" "$T/after"
}

run_tests
