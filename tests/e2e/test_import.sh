#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The guard rails of import: what it leaves out, what it refuses to replace, and what it only tries.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

bogons=(0.0.0.0/0 10.0.0.0/8 10.77.0.3 127.0.0.1 192.168.0.0/16 224.0.0.0/4 8.0.0.0/7 ::/0 ::1
	2000::/15 2001:db8::/32 fd77::3 fe80::1 ff02::1)
usable=(1.0.0.0/8 8.8.8.8 172.0.0.0/8 192.88.99.1 2400::/16 2606:4700::1)

# numbers COUNT [FIRST]: that many addresses, one a line, none of them a bogon.
numbers()
{
	python3 -c '
import sys
count, first = int(sys.argv[1]), int(sys.argv[2])
for i in range(first, first + count):
    print("8.%d.%d.%d" % (i >> 16, i >> 8 & 255, i & 255))' "$1" "${2:-0}"
}

# feed COUNT: a list of that many entries.
feed()
{
	numbers "$1" >"$T/feed"
	exits 0 -q import "$T/feed" --list feed --replace --force
	ctl save >"$T/before"
}

unchanged()
{
	ctl save >"$T/after"
	cmp "$T/before" "$T/after" || fail "the store has changed"
}

refused()
{
	exits 2 "$@"
	one_line
	unchanged
}

# tree: every file of the installation, with its contents.
tree()
{
	find "$state" "$pins" "$counters" -printf '%p %y %s %i\n' 2>/dev/null | sort || true
	find "$state" "$counters" -type f ! -name '*lock*' -exec sha256sum {} + 2>/dev/null | sort || true
}

t_bogons_are_left_out()
{
	exits 0 attach x0
	printf '%s\n' "${bogons[@]}" "${usable[@]}" >"$T/list"
	exits 0 import "$T/list"
	[[ $(wc -l <"$T/err") -eq 1 ]] || fail "not one note: $(cat "$T/err")"
	complains "^bloomctl: ${#bogons[@]} entries left out .*first: 0.0.0.0/0, shorter than /8.*--include-bogons"
	says "^${#usable[@]} entries \(plain\) into list default: ${#usable[@]} added"
	exits 0 test "${usable[@]}"
	exits 0 -j list
	json "len(d['entries']) == ${#usable[@]}"
	passes 10.77.0.2 10.77.0.3 fd77::3
}

t_every_bogon_has_its_reason()
{
	local one

	for one in "${bogons[@]}"; do
		printf '%s\n8.8.8.8\n' "$one" >"$T/list"
		exits 0 -j import "$T/list"
		json 'd["bogons"] == 1 and d["entries"] == 1'
		complains "1 entries left out .*first: $one, [a-zI]"
	done
	echo 192.168.7.0/24 >"$T/list"
	exits 0 import "$T/list"
	complains 'first: 192.168.7.0/24, private \(RFC 1918\)'
	exits 0 -q import "$T/list"
	[[ ! -s $T/err && ! -s $T/out ]] || fail "-q says: $(cat "$T/err" "$T/out")"
}

t_include_bogons()
{
	exits 0 attach x0
	printf '%s\n' 10.77.0.3 fd77::3 192.168.0.0/16 0.0.0.0/7 2000::/15 8.8.8.8 >"$T/list"
	exits 0 -j import "$T/list" --include-bogons
	[[ ! -s $T/err ]] || fail "something on stderr: $(cat "$T/err")"
	json 'd["bogons"] == 0 and d["added"] == 6'
	exits 0 test 10.77.0.3 fd77::3 192.168.0.0/16 0.0.0.0/7 2000::/15 8.8.8.8
	blocked 10.77.0.3 fd77::3
	passes 10.77.0.2 fd77::2
}

t_no_note_without_bogons()
{
	printf '%s\n' "${usable[@]}" >"$T/list"
	ctl -q attach x0
	exits 0 -j import "$T/list"
	[[ ! -s $T/err ]] || fail "something on stderr: $(cat "$T/err")"
	json 'd["bogons"] == 0 and d["dry_run"] == False'
}

t_nothing_but_bogons()
{
	exits 0 add 8.8.8.8
	ctl save >"$T/before"
	echo 10.0.0.0/8 >"$T/list"
	exits 0 -j import "$T/list"
	json 'd["bogons"] == 1 and d["entries"] == d["added"] == 0'
	unchanged
	exits 0 import "$T/list" --list new --replace
	unchanged
}

# What replaces a list is the file without its bogons.
t_replace_takes_bogons_out()
{
	printf '10.0.0.0/8\n8.8.8.8\n9.9.9.9\n' >"$T/list"
	exits 0 import "$T/list" --list feed --include-bogons
	exits 0 -j import "$T/list" --list feed --replace
	json 'd["removed"] == 1 and d["unchanged"] == 2 and d["bogons"] == 1'
	exits 1 test 10.1.2.3
}

t_emptying_is_refused()
{
	feed 3
	printf '10.0.0.0/8\n192.168.0.0/16\n' >"$T/list"
	refused import "$T/list" --list feed --replace
	complains 'list feed would shrink from 3 to 0 entries \(2 left out as bogons\).*--force'
	exits 0 -j import "$T/list" --list feed --replace --force
	json 'd["removed"] == 3 and d["entries"] == 0'
	exits 2 list --list feed
	: >"$T/empty"
	feed 3
	refused import "$T/empty" --list feed --replace
	complains 'empty: no entries; emptying list feed .*--force'
	refused import "$T/empty" --list feed --force
	complains 'empty: no entries$'
	exits 0 -j import "$T/empty" --list feed --replace --force --dry-run
	json 'd["removed"] == 3'
	unchanged
	exits 0 import "$T/empty" --list feed --replace --force
	says '^0 entries \(empty\) into list feed: .* 3 removed'
	exits 2 list --list feed
}

# By 1,000 entries or more, and to less than half.
t_shrinking_is_refused()
{
	feed 2001
	numbers 999 >"$T/list"
	echo 9.9.9.9/31 >>"$T/list"
	refused import "$T/list" --list feed --replace
	complains 'list feed would shrink from 2001 to 1000 entries .*more than 2-fold; --max-change FACTOR allows more, --force anything'
	numbers 1001 >"$T/list"
	exits 0 -j import "$T/list" --list feed --replace
	json 'd["removed"] == 1000'
	feed 2001
	numbers 1000 >"$T/list"
	exits 0 -j import "$T/list" --list feed --replace --force
	json 'd["removed"] == 1001 and d["unchanged"] == 1000'
	feed 1000
	numbers 1 >"$T/list"
	exits 0 import "$T/list" --list feed --replace
	feed 1001
	refused import "$T/list" --list feed --replace
	feed 2000
	numbers 1000 >"$T/list"
	exits 0 import "$T/list" --list feed --replace
}

# Bogons do not count as what the list would have.
t_shrinking_by_bogons_is_refused()
{
	feed 2001
	(numbers 1000; printf '10.0.%d.0/24\n' {1..200}) >"$T/list"
	refused import "$T/list" --list feed --replace
	complains 'to 1000 entries \(200 left out as bogons\)'
	exits 0 import "$T/list" --list feed --replace --include-bogons
}

t_growing_is_refused()
{
	feed 1000
	numbers 2001 >"$T/list"
	refused import "$T/list" --list feed --replace
	complains 'list feed would grow from 1000 to 2001 entries .*--force'
	numbers 2000 >"$T/list"
	exits 0 -j import "$T/list" --list feed --replace
	json 'd["added"] == 1000'
	feed 1000
	numbers 2001 >"$T/list"
	exits 0 -j import "$T/list" --list feed --replace --force
	json 'd["added"] == 1001'
	feed 1
	numbers 1000 >"$T/list"
	exits 0 import "$T/list" --list feed --replace
	feed 1
	numbers 1001 >"$T/list"
	refused import "$T/list" --list feed --replace
}

# A factor that is given holds for lists of any size.
t_factor_of_a_change()
{
	feed 10
	numbers 12 >"$T/list"
	refused import "$T/list" --list feed --replace --max-change 1.1
	complains 'list feed would grow from 10 to 12 entries .*more than 1.1-fold'
	exits 0 import "$T/list" --list feed --replace --max-change 1.2
	feed 3000
	numbers 1 >"$T/list"
	refused import "$T/list" --list feed --replace --max-change 10
	exits 0 import "$T/list" --list feed --replace --max-change 3000
	ctl save >"$T/before"
	refused import "$T/list" --list feed --max-change 2
	complains 'max-change is for --replace'
	refused import "$T/list" --list feed --replace --force --max-change 2
	refused import "$T/list" --list feed --replace --max-change 0.5
	complains 'a factor of 1 or more'
	refused import "$T/list" --list feed --replace --max-change nan
}

# A file that was cut off in transfer reads as a shorter list.
t_cut_off_files_are_refused()
{
	(numbers 100; echo '# END'; echo) >"$T/whole"
	head -n 60 "$T/whole" >"$T/cut"
	exits 0 import "$T/whole" --list feed --expect-end ' # END' --min-entries 100 --min-bytes 800
	ctl save >"$T/before"
	refused import "$T/cut" --list feed --replace --expect-end '# END'
	complains "cut: the last line is not '# END', so the file may have been cut off"
	refused import "$T/cut" --list feed --replace --min-entries 61
	complains 'cut has 60 entries to take, and --min-entries asks for 61'
	refused import "$T/cut" --list feed --replace --min-bytes "$(($(wc -c <"$T/cut") + 1))"
	complains 'bytes, and --min-bytes asks for'
	: >"$T/cut"
	refused import "$T/cut" --list feed --replace --force --expect-end '# END'
	refused import "$T/cut" --list feed --replace --force --min-entries 1
	printf '8.8.8.8\n# EN' >"$T/cut"
	refused import "$T/cut" --list feed --replace --force --expect-end '# END'
	printf '8.8.8.8\n  # END  \r\n \r\n' >"$T/cut"
	exits 0 import "$T/cut" --list feed --replace --expect-end '# END'
	exits 0 attach x0
	exits 0 -j import "$T/whole" --list feed --replace --max-change 100 --rollback 60 --min-entries 100
	json "d['bytes'] == $(wc -c <"$T/whole")"
	exits 0 commit
	exits 0 -j list --list feed
	json 'len(d["entries"]) == 100'
}

# A new list, and import without --replace, take any number.
t_only_replace_is_guarded()
{
	feed 1
	numbers 3000 >"$T/list"
	exits 0 -j import "$T/list" --list fresh --replace
	json 'd["added"] == 3000'
	exits 0 -j import "$T/list" --list feed
	json 'd["added"] == 2999'
	numbers 1 >"$T/list"
	exits 0 import "$T/list" --list feed
	exits 0 -j list --list feed
	json 'len(d["entries"]) == 3000'
}

# Expired entries are no part of what the list had.
t_expired_entries_do_not_count()
{
	feed 2
	exits 0 flush --list feed --yes
	(echo 'create a hash:ip'; numbers 1500 | sed 's/.*/add a & timeout 1/') >"$T/list"
	exits 0 import "$T/list" --list feed
	exits 0 add 9.9.9.9 --list feed
	sleep 2.1
	echo 9.9.9.8 >"$T/list"
	exits 0 -j import "$T/list" --list feed --replace --dry-run
	json 'd["removed"] == d["added"] == 1'
	exits 0 -j import "$T/list" --list feed --replace
	json 'd["removed"] == d["added"] == 1'
}

t_dry_run_without_a_store()
{
	printf '8.8.8.8\n9.9.9.9/32\n8.8.8.8\n10.0.0.0/8\n' >"$T/list"
	exits 0 import "$T/list" --list feed --dry-run
	complains '1 entries left out .*10.0.0.0/8'
	says '^2 entries \(plain\) would go into list feed: 2 added, 0 renewed, 0 unchanged, 0 removed; 1 repeated'
	exits 0 -j import "$T/list" --replace --dry-run
	json 'd["dry_run"] == True and d["added"] == d["entries"] == 2 and d["bogons"] == 1'
	[[ ! -e $state && ! -e $pins && ! -e $counters ]] || fail "it has made a directory"
	printf 'create a hash:ip\nadd a 8.8.8.8 timeout 4294967295\n' >"$T/list"
	exits 2 import "$T/list" --dry-run
	one_line
	complains '8.8.8.8: a timeout of 4294967295 seconds ends after 2106'
	mkdir "$state"
	numbers 10 >"$T/list"
	exits 0 -j import "$T/list" --dry-run
	json 'd["added"] == 10'
	[[ -z $(ls -A "$state") ]] || fail "it has made a store"
}

# What it tells is what the import then does.
t_dry_run_tells_what_import_does()
{
	local options

	exits 0 attach x0
	printf '8.8.8.8 # resolver\n9.9.9.9\n10.77.0.3\nfd77::3\n' >"$T/one"
	printf '8.8.8.8\n9.9.9.9\n10.77.0.4\nfd77::4\n' >"$T/two"
	for options in '' '--replace'; do
		exits 0 flush --yes
		exits 0 add 8.8.4.4
		exits 0 import "$T/one" --list feed --include-bogons
		ctl save >"$T/before"
		tree >"$T/tree"
		# shellcheck disable=SC2086
		exits 0 -j import "$T/two" --list feed --include-bogons $options --dry-run
		mv "$T/out" "$T/dry"
		tree | cmp - "$T/tree" || fail "files have changed"
		unchanged
		blocked 10.77.0.3 fd77::3
		passes 10.77.0.4 fd77::4
		exits 0 status
		# shellcheck disable=SC2086
		exits 0 -j import "$T/two" --list feed --include-bogons $options
		sed 's/"dry_run":true/"dry_run":false/' "$T/dry" | cmp - "$T/out" ||
			fail "$(cat "$T/dry" "$T/out")"
		blocked 10.77.0.4 fd77::4
	done
	json 'd["added"] == 2 and d["renewed"] == 1 and d["unchanged"] == 1 and d["removed"] == 2'
	passes 10.77.0.3 fd77::3
}

t_dry_run_is_refused_as_well()
{
	feed 2001
	tree >"$T/tree"
	numbers 1000 >"$T/list"
	refused import "$T/list" --list feed --replace --dry-run
	complains 'would shrink from 2001 to 1000 entries'
	exits 0 -j import "$T/list" --list feed --replace --force --dry-run
	json 'd["removed"] == 1001'
	echo 10.0.0.0/8 >"$T/list"
	refused import "$T/list" --list feed --replace --dry-run
	echo 8.8.8.888 >"$T/list"
	refused import "$T/list" --list feed --dry-run
	unchanged
	tree | cmp - "$T/tree" || fail "files have changed"
}

# It repairs nothing. Beside a writer it waits no longer than it may, and says for what.
t_dry_run_leaves_the_kernel_alone()
{
	exits 0 attach x0
	exits 0 add 10.77.0.3
	numbers 10 >"$T/list"
	exec 7>>"$state/writer.lock"
	flock 7
	exits 3 --wait 1 import "$T/list" --dry-run
	complains 'writer.lock'
	exec 7>&-
	rm -rf "$pins"
	exits 3 status
	exits 0 import "$T/list" --dry-run
	[[ ! -e $pins ]] || fail "it has repaired"
	exits 3 status
}

# replaces ARGUMENT...: list feed by $T/list, with the build that has fault points.
replaces() { tool "$faulty" "$@" import "$T/list" --list feed --replace --include-bogons >"$T/out"; }

# knows_it ARGUMENT...: does so, and the file is known as the one that the list is already.
knows_it()
{
	rm -f "$T/seen"
	XB_FAULT_SEEN=$T/seen replaces "$@"
	grep -qx import-same "$T/seen"
}

# It is only read, and the answer is that of an import that goes through it line by line.
t_the_same_file_again()
{
	printf '10.77.0.3\n10.77.3.0/24\n8.8.8.8\n8.8.8.8\n' >"$T/list"
	exits 0 attach x0
	! knows_it || fail "a file is known that was never imported"
	knows_it -j || fail "the same file is not known"
	cp "$T/out" "$T/known"
	exits 0 -j import "$T/list" --list feed --replace --include-bogons --force
	json 'd["unchanged"] == 3 and d["repeats"] == 1 and d["lines"] == 4'
	cmp "$T/out" "$T/known" || fail "it answers otherwise: $(cat "$T/known")"
	replaces
	blocked 10.77.0.3 10.77.3.9
	exits 0 del 10.77.0.3
	passes 10.77.0.3
	! knows_it || fail "the file is known, and the list has changed"
	says '1 added, 0 renewed, 2 unchanged'
	blocked 10.77.0.3 10.77.3.9
}

# Its bytes are compared as they are read: unpacked, and whatever its lines are.
t_the_same_file_of_other_kinds()
{
	printf '8.8.8.8\n9.9.9.9\n' | gzip >"$T/list"
	! knows_it || fail "a file is known that was never imported"
	knows_it || fail "the same packed file is not known"
	printf '8.8.8.8\n9.9.9.9\n' | iconv -t UTF-16 >"$T/list"
	! knows_it || fail "another file is known"
	knows_it || fail "the same file in UTF-16 is not known"
	printf 'table ip t {\n\tset s {\n\t\ttype ipv4_addr\n\t\telements = { 8.8.8.8, 9.9.9.9 }\n\t}\n}\n' >"$T/list"
	! knows_it || fail "another file is known"
	knows_it || fail "the same document is not known"
	says '\(nft\) into list feed: 0 added, 0 renewed, 2 unchanged'
}

# What the import asks for beside the entries is done.
t_the_same_file_with_other_wishes()
{
	printf '10.77.0.3\n8.8.8.8\n' >"$T/list"
	exits 0 attach x0
	exits 0 import "$T/list" --list feed --replace --include-bogons
	exits 0 import "$T/list" --list feed --replace --include-bogons --verdict count --scope udp/53
	says 'verdict count; scope udp/53$'
	exits 2 import "$T/list" --list feed --replace --include-bogons --min-entries 3
	complains 'has 2 entries to take, and --min-entries asks for 3'
	exits 2 import "$T/list" --list feed --replace --include-bogons --min-bytes 100
	complains 'has 18 bytes, and --min-bytes asks for 100'
	exits 0 import "$T/list" --list feed --replace --include-bogons --verdict drop --scope all
	blocked 10.77.0.3
	rm -rf "$pins"
	exits 0 import "$T/list" --list feed --replace --include-bogons
	blocked 10.77.0.3
}

# It may understand the file otherwise.
t_another_build_reads_the_same_file()
{
	! cmp -s "$bloomctl" "$faulty" || skip "there is one build only"
	printf '8.8.8.8\n' >"$T/list"
	exits 0 import "$T/list" --list feed --replace --include-bogons
	! knows_it || fail "one build knows the file that another has read"
	knows_it || fail "the same file is not known"
}

# Somebody takes an entry out between the look at the file and the change.
t_the_list_changes_meanwhile()
{
	printf '10.77.0.3\n10.77.0.4\n' >"$T/list"
	exits 0 attach x0
	replaces
	stands_at import-same import "$T/list" --list feed --replace --include-bogons
	exits 0 del 10.77.0.3
	passes 10.77.0.3
	goes_on 0
	exits 0 test 10.77.0.3 10.77.0.4
	blocked 10.77.0.3 10.77.0.4
}

t_options()
{
	numbers 1 >"$T/list"
	exits 2 import "$T/list" --dry-run=1
	one_line
	exits 2 import --dry-run --force --include-bogons
	one_line
	complains 'usage: bloomctl import .*--include-bogons.*--force.*--dry-run'
	[[ ! -e $state ]]
}

run_tests
