#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What people type with add and del, and mean: mapped addresses, prefixes far too wide, names of
# lists, entries that others cover.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

# refused CODE WHAT COMMAND...: one line with WHAT, and nothing is changed.
refused()
{
	local before

	before=$(ctl save 2>/dev/null || true)
	is_refused "$@"
	[[ $(ctl save 2>/dev/null || true) == "$before" ]] || fail "refused, yet changed: ${*:3}"
}

t_mapped_address_is_the_ipv4_address()
{
	exits 0 attach x0
	exits 0 add ::ffff:10.77.0.3
	blocked 10.77.0.3
	exits 0 test 10.77.0.3
	says '^10.77.0.3 list default'
	exits 0 test ::FFFF:10.77.0.3
	says '^10.77.0.3 is dropped now: listed'
	refused 2 '10.77.0.3 is already in list default' add ::ffff:a4d:3
	exits 0 del ::ffff:10.77.0.3
	passes 10.77.0.3

	exits 0 add ::ffff:10.77.3.0/120
	blocked 10.77.3.9
	exits 0 allow add ::ffff:10.77.3.9
	passes 10.77.3.9
	exits 0 allow test ::ffff:10.77.3.9/128
	says '^10.77.3.9 list allow'
	exits 0 allow del 10.77.3.9
	exits 0 del 10.77.3.0/24

	printf 'add ::ffff:10.77.0.4\nallow add ::ffff:10.77.0.5\n' >"$T/batch"
	exits 0 batch "$T/batch"
	blocked 10.77.0.4
	exits 0 allow test 10.77.0.5
	echo ::ffff:10.77.0.6 >"$T/list"
	exits 0 import "$T/list" --include-bogons --list mapped
	blocked 10.77.0.6
	exits 0 list
	! grep -q : <(sed 's/added.*//' "$T/out") || fail "IPv6 entries: $(cat "$T/out")"
}

# What an edit refuses, and which of the entries it is, tests/unit/engine/test_edit asks; here it is said.
t_far_too_wide_needs_force()
{
	local one

	for one in "0.0.0.0/0 8" "2000::/15 16" "::ffff:0:0/96 8"; do
		refused 2 "is a prefix shorter than /${one#* }; use --force" add "${one% *}"
		refused 2 'use --force' allow add "${one% *}"
		echo "add ${one% *}" >"$T/batch"
		refused 2 'batch:1: .* use --force' batch "$T/batch"
	done
	exits 0 add 10.0.0.0/8 2000::/16
	for one in entry allow; do
		printf '%s\n' '{"schema":1,"saved":"xdp-bloom","fpr":0.0,"capacity":0}' \
			"{\"$one\":\"::ffff:0:0/96\",\"list\":\"a\"}" >"$T/saved"
		refused 2 "saved:2: '::ffff:0:0/96' means an IPv4 prefix shorter than /8\$" restore "$T/saved"
	done
	# For these, there are other commands.
	refused 2 'top-level domain or a country, for which there is `import FILE --country CN`; use' add CN
	refused 2 'or a network, for which there is `import FILE --asn 64500`; use' add AS64500
	exits 0 add 0.0.0.0/0 ::/0 --force
	echo "allow add 0.0.0.0/0 --force" >"$T/batch"
	exits 0 batch "$T/batch"
	exits 0 del 0.0.0.0/0 ::/0
}

t_refusals_say_why()
{
	local wide='192.0.2.10 has no entry of its own: 192.0.2.0/25 \(list default\) covers it; to exempt it'

	exits 0 add 192.0.2.0/24 --list wide
	exits 0 add 192.0.2.0/25 example.com =alone.example.net
	exits 0 allow add 198.51.100.0/24
	refused 2 '^bloomctl: 192.0.2.1 is named twice$' add 192.0.2.1 192.0.2.2 ::ffff:192.0.2.1
	refused 2 '^bloomctl: there is no list new$' del 192.0.2.0/25 --list new
	refused 2 "'allow' is the name of the allowlist's own list" add 198.51.100.1 --list allow
	refused 2 "'allow' is the name" verdict allow nxdomain
	echo 192.0.2.1 >"$T/list"
	refused 2 "'allow' is the name" import "$T/list" --include-bogons --list allow
	refused 2 "invalid list name 'auto:ssh'" add 198.51.100.1 --list auto:ssh
	refused 1 "$wide: bloomctl allow add 192.0.2.10$" del 192.0.2.10
	echo "del 192.0.2.10" >"$T/batch"
	refused 1 'batch:1: 192.0.2.10 has no entry of its own: 192.0.2.0/25' batch "$T/batch"
	refused 1 '192.0.2.0/25 is not in list wide, but in list default$' del 192.0.2.0/25 --list wide
	refused 1 '^bloomctl: 198.51.100.1 is not in list wide$' del 198.51.100.1 --list wide
	refused 1 'alone.example.net is not listed, only that name alone: bloomctl del =alone.example.net$' \
		del alone.example.net
	refused 1 '198.51.100.7 has no entry of its own on the allowlist: .*; to end that: bloomctl allow del 198.51.100.0/24$' \
		allow del 198.51.100.7
	exits 0 -j del 192.0.2.0/25
	complains '"note":"192.0.2.0/25 has no entry of its own any more, but 192.0.2.0/24 \(list wide\) covers it'
	json 'list(d["covered"]) == ["192.0.2.0/25"] and d["lists"] == {"192.0.2.0/25": ["default"]}'
	exits 0 attach x0
	exits 1 allow del 127.0.0.9
	complains '127.0.0.0/8 is allowed automatically; to end that: bloomctl allow refuse loopback$'
}

# A line that is refused says nothing of what only later lines would add.
t_a_refused_line_of_a_batch()
{
	printf 'del a.example.com\nadd example.com\n' >"$T/batch"
	is_refused 1 "batch:1: a.example.com is not listed" batch "$T/batch"
	! grep -q "covers" "$T/err" || fail "$(cat "$T/err")"
	printf 'add example.com\ndel a.example.com\n' >"$T/batch"
	exits 1 batch "$T/batch"
	complains "batch:2: .*example.com"
	exits 0 -q list
	[[ ! -s $T/out ]] || fail "$(cat "$T/out")"
}

# within WANTED [OPTION...]: the entries that `list` or `allow list` shows, joined by blanks.
within()
{
	local wanted=$1

	shift
	exits 0 "$@"
	[[ $(awk '{print $1}' "$T/out" | xargs) == "$wanted" ]] || fail "$*: $(cat "$T/out")"
}

t_list_within()
{
	ctl -q add 192.0.2.0/24 192.0.2.7 192.0.2.8/29 192.0.3.1 192.0.0.0/16 191.255.255.255 2001:db8::/32 \
		2001:db8:0:1::/64 2001:db8:0:1::5 2001:db8:0:2::1 evil.example www.evil.example =evil.example \
		evil2.example
	ctl -q add 192.0.2.9 2001:db8:0:1::6 --list other
	ctl -q allow add 192.0.2.7 192.0.3.0/25 2001:db8:0:1::5
	within "192.0.2.0/24 192.0.2.7 192.0.2.8/29 192.0.2.9" list --within 192.0.2.0/24
	within "192.0.2.0/24 192.0.2.7 192.0.2.8/29" list --within 192.0.2.3/24 --list default
	within "192.0.2.7" list --within 192.0.2.7
	within "192.0.2.8/29 192.0.2.9" list --within 192.0.2.8/29
	within "192.0.2.9" list --within 192.0.2.9
	within "192.0.0.0/16 192.0.2.0/24 192.0.2.7 192.0.2.8/29 192.0.2.9 192.0.3.1" list --within 192.0.0.0/14
	within "192.0.0.0/16 192.0.2.0/24 191.255.255.255 192.0.2.7 192.0.2.8/29 192.0.2.9 192.0.3.1" \
		list --within 128.0.0.0/1
	within "" list --within 192.0.2.1
	within "2001:db8:0:1::/64 2001:db8:0:1::5 2001:db8:0:1::6" list --within 2001:db8:0:1::/64
	within "2001:db8:0:1::6" list --within 2001:db8:0:1::/64 --list other
	within "2001:db8:0:2::1" list --within 2001:db8:0:2::/63
	within "evil.example =evil.example www.evil.example" list --within evil.example
	within "192.0.2.7" allow list --within 192.0.2.0/24
	within "192.0.2.7 192.0.3.0/25" allow list --within 192.0.2.0/23
	within "2001:db8:0:1::5" allow list --within 2001:db8::/48
	exits 0 -j list --within 192.0.2.8/29
	json '[one["entry"] for one in d["entries"]] == ["192.0.2.8/29", "192.0.2.9"]'
	exits 2 list --within 192.0.2.0/33
	one_line
	exits 2 list --within
}

# What lies in an entry, tests/unit/engine/test_edit asks; how ranges are written, tests/unit/model/texts.rows.
t_ranges_and_all_within()
{
	exits 0 attach x0
	exits 0 add 10.77.3.8-10.77.3.10 10.77.0.2-10.77.0.3
	within "10.77.0.2/31 10.77.3.8/31 10.77.3.10" list
	blocked 10.77.3.9 10.77.0.3
	exits 0 del 10.77.3.8-10.77.3.10
	passes 10.77.3.9
	refused 2 'the range ends before it begins' add 10.77.0.9-10.77.0.2
	refused 2 'no range of addresses is taken here; use prefixes' list --within 10.77.0.2-10.77.0.9

	exits 0 add 10.77.3.9 10.77.3.200 --list other
	exits 0 del --within 10.77.3.0/24
	says '^10.77.3.9 taken out of other$'
	passes 10.77.3.9 10.77.3.200
	blocked 10.77.0.3
	refused 1 'nothing lies within 10.77.3.0/24$' del --within 10.77.3.0/24
	refused 2 '--within stands for the entries of del' del --within 10.77.0.0/24 10.77.0.2
	# Each line finds what the lines before have left.
	printf '%s\n' "add 10.77.3.9" "del --within 10.77.0.0/16" "add 10.77.3.200" >"$T/batch"
	exits 0 -j batch "$T/batch"
	json 'd["added"] == 2 and d["removed"] == 2'
	blocked 10.77.3.200
	passes 10.77.3.9 10.77.0.3
	echo "del --within 10.78.0.0/16" >>"$T/batch"
	refused 1 'batch:4: nothing lies within 10.78.0.0/16$' batch "$T/batch"
}

# What is counted, tests/unit/store/test_journal asks.
t_who_changed_what()
{
	exits 0 log
	[[ ! -s $T/out ]] || fail "$(cat "$T/out")"
	exits 0 attach x0
	exits 0 add 10.77.0.3 10.77.0.4 --list mine --comment "two words"
	exits 0 policy monitor --rollback 60
	exits 0 log
	! grep -q monitor "$T/out" || fail "a trial is told: $(cat "$T/out")"
	exits 0 commit
	exits 2 add 10.77.0.3 --list mine
	SUDO_USER=alice exits 0 del 10.77.0.3
	exits 0 -j log --list mine
	json '[(one["change"], one.get("sudo_user"), one["uid"], one["lists"][0]["added"], one["lists"][0]["removed"]) for one in d["records"]] == [
		("bloomctl add 10.77.0.3 10.77.0.4 --list mine --comment \"two words\"", None, 0, 2, 0),
		("bloomctl del 10.77.0.3", "alice", 0, 0, 1)]'
	exits 0 log --last 2
	says '^20[0-9T:-]*Z .*root  `bloomctl commit: policy monitor`$'
	says '^20[0-9T:-]*Z .*root \(alice\)  `bloomctl del 10.77.0.3`  mine -1$'
	[[ $(wc -l <"$T/out") -eq 2 ]] || fail "$(cat "$T/out")"
	exits 0 log --since 1h
	says '`bloomctl attach x0`'
	TZ=Asia/Kolkata exits 0 -j log --last 1
	json 'd["records"][0]["local_time"].endswith("+0530") and d["records"][0]["time"].endswith("Z")'
	exits 0 rotate --capacity 100000
	exits 0 rotate
	exits 0 log --last 1
	says '`bloomctl rotate --capacity 100000`$'
	exits 2 log --last 0
	exits 2 log mine
}

# Which networks are found, tests/unit/engine/test_aggregate asks.
t_networks_of_many_hosts()
{
	exits 0 attach x0
	exits 0 add 10.77.3.{11..18} --list bans
	exits 0 aggregate bans
	says '^10.77.3.0/24 has 8 entries of bans$'
	passes 10.77.3.9
	exits 0 aggregate bans --from 9
	[[ ! -s $T/out ]] || fail "$(cat "$T/out")"
	exits 0 -j aggregate bans --apply --timeout 1h --into networks
	json 'd["prefixes"] == [{"prefix": "10.77.3.0/24", "entries": 8}] and d["added"] == 1 and d["renewed"] == 0'
	blocked 10.77.3.9
	exits 0 test 10.77.3.9
	says 'list networks.*aggregate of 8 entries'
	exits 0 -j aggregate bans --into networks
	json 'd["prefixes"] == []'
	exits 0 -j aggregate bans --apply --timeout 2h --into networks
	json 'd["added"] == 0 and d["renewed"] == 1'
	exits 0 aggregate bans --to 48
	refused 2 'go together' aggregate bans --apply
	refused 2 'go together' aggregate bans --timeout 1h
	refused 2 'there is no list' aggregate none
	refused 2 '15' aggregate bans --to 15
	refused 2 'takes one list' aggregate
}

run_tests
