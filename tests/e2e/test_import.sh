#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The guard rails of import: what it leaves out, what it refuses to replace, and what it only tries.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/imports.sh"

# numbers COUNT: that many addresses, one a line, none of them a bogon.
numbers() { seq 0 "$(($1 - 1))" | awk '{printf "8.%d.%d.%d\n", $1 / 65536, $1 / 256 % 256, $1 % 256}'; }

# names COUNT [FIRST]: that many domains, one a line.
names() { seq -f 'n%.0f.example' "${2:-1}" $((${2:-1} + $1 - 1)); }

# feed COMMAND...: list feed has what it writes, and nothing else.
feed()
{
	"$@" >"$T/feed"
	exits 0 -q import "$T/feed" --list feed --replace --force
	ctl save >"$T/before"
}

# tree: every file of the installation, with its contents.
tree()
{
	find "$state" "$pins" "$counters" -printf '%p %y %s %i\n' 2>/dev/null | sort || true
	find "$state" "$counters" -type f ! -name '*lock*' -exec sha256sum {} + 2>/dev/null | sort || true
}

# Ranges with their reasons: unit/model/test_bogon.
t_bogons()
{
	local bogons=(0.0.0.0/0 10.0.0.0/8 10.77.0.3 127.0.0.1 192.168.0.0/16 224.0.0.0/4 8.0.0.0/7 ::/0 ::1
		2000::/15 2001:db8::/32 fd77::3 fe80::1 ff02::1)
	local usable=(1.0.0.0/8 8.8.8.8 172.0.0.0/8 192.88.99.1 2400::/16 2606:4700::1)

	exits 0 attach x0
	list "${bogons[@]}" "${usable[@]}"
	exits 0 import "$T/list"
	told 1
	complains "^bloomctl: ${#bogons[@]} entries left out .*first: 0.0.0.0/0, shorter than /8.*--include-bogons"
	says "^${#usable[@]} entries \(plain\) into list default: ${#usable[@]} added"
	exits 0 test "${usable[@]}"
	exits 0 -j list
	json "len(d['entries']) == ${#usable[@]}"
	passes 10.77.0.2 10.77.0.3 fd77::3
	list 192.168.7.0/24
	exits 0 -j import "$T/list"
	complains 'first: 192.168.7.0/24, private \(RFC 1918\)'
	json 'd["bogons"] == 1 and d["entries"] == d["added"] == 0 and d["dry_run"] == False'
	exits 0 -q import "$T/list"
	[[ ! -s $T/err && ! -s $T/out ]] || fail "-q says: $(cat "$T/err" "$T/out")"
	# Whoever wants them gets them; what replaces a list then is the file without them.
	list 10.77.0.3 fd77::3 192.168.0.0/16 0.0.0.0/7 2000::/15 8.8.8.8
	exits 0 -j import "$T/list" --list feed --include-bogons
	told 0
	json 'd["bogons"] == 0 and d["added"] == 6'
	blocked 10.77.0.3 fd77::3
	passes 10.77.0.2 fd77::2
	exits 0 -j import "$T/list" --list feed --replace
	json 'd["removed"] == 5 and d["unchanged"] == 1 and d["bogons"] == 5'
	passes 10.77.0.3
}

# At which numbers a change is too large: unit/engine/test_import, too.
t_sizes()
{
	local had has options outcome

	while IFS='~' read -r had has options outcome; do
		# shellcheck disable=SC2086
		feed $had
		eval "$has" >"$T/list"
		if [[ $outcome == "d["* ]]; then
			# shellcheck disable=SC2086
			exits 0 -j import "$T/list" --list feed --replace $options
			json "$outcome"
		else
			# shellcheck disable=SC2086
			refused import "$T/list" --list feed --replace $options
			complains "$outcome"
		fi
	done <<-'END'
		numbers 2001~numbers 999; echo 9.9.9.9/31~~from 2001 to 1000 entries .*2-fold; --max-change FACTOR allows more, --force any
		numbers 2001~numbers 1001~~d["removed"] == 1000
		numbers 2001~numbers 1000~--force~d["removed"] == 1001 and d["unchanged"] == 1000
		numbers 1000~numbers 1~~d["removed"] == 999
		numbers 1001~numbers 1~~would shrink from 1001 to 1 entries
		numbers 2001~numbers 1000; printf '10.0.%d.0/24\n' {1..200}~~to 1000 entries \(200 left out as bogons\)
		numbers 2001~numbers 1000; printf '10.0.%d.0/24\n' {1..200}~--include-bogons~d["added"] == 200
		numbers 1000~numbers 2001~~list feed would grow from 1000 to 2001 entries .*--force
		numbers 1000~numbers 2000~~d["added"] == 1000
		numbers 1000~numbers 2001~--force~d["added"] == 1001
		numbers 1~numbers 1000~~d["added"] == 999
		numbers 1~numbers 1001~~would grow from 1 to 1001 entries
		numbers 10~numbers 12~--max-change 1.1~list feed would grow from 10 to 12 entries .*more than 1.1-fold
		numbers 10~numbers 12~--max-change 1.2~d["added"] == 2
		numbers 3000~numbers 1~--max-change 10~would shrink from 3000 to 1 entries
		numbers 3000~numbers 1~--max-change 3000~d["removed"] == 2999
		numbers 3~echo 10.0.0.0/8~~list feed would shrink from 3 to 0 entries \(1 left out as bogons\).*--force
		numbers 3~echo 10.0.0.0/8~--force~d["removed"] == 3 and d["entries"] == 0
		numbers 3~true~~list: no entries; emptying list feed .*--force
		numbers 3~true~--force~d["removed"] == 3 and d["format"] == "empty"
		names 2001~names 1000~~list feed would shrink from 2001 to 1000 entries
		names 1001~names 1001 | sed 's/.*/@@||&^/'~~list feed would shrink from 1001 to 0 entries
		names 1001~names 1001 | sed 's/.*/||&^/'; names 1000 5000 | sed 's/.*/@@||&^/'~~would grow from 0 to 1000 exceptions
		names 1001~names 1001 | sed 's/.*/||&^/'; names 1000 5000 | sed 's/.*/@@||&^/'~--exceptions allowlist~would grow from 0 to 1000 allowed
		echo @@||a.example^~echo com~--format domains~would shrink from 1 to 0 exceptions \(1 left out as bogons\)
	END
	numbers 12 >"$T/list"
	while IFS='~' read -r options outcome; do
		# shellcheck disable=SC2086
		refused import "$T/list" --list feed $options
		complains "$outcome"
	done <<-END
		--max-change 2~max-change is for --replace
		--replace --force --max-change 2~leave out --max-change
		--replace --max-change 0.5~a factor of 1 or more
		--replace --max-change nan~a factor of 1 or more
	END
	# Without --replace, and for a new list, nothing guards.
	feed numbers 1
	numbers 3000 >"$T/list"
	exits 0 -j import "$T/list" --list fresh --replace
	json 'd["added"] == 3000'
	exits 0 -j import "$T/list" --list feed
	json 'd["added"] == 2999'
	numbers 1 >"$T/list"
	exits 0 -j import "$T/list" --list feed
	json 'd["removed"] == 0'
	# Why there is nothing left is told.
	echo '[{"duration":"1h","type":"ban","scope":"Country","value":"CN"}]' >"$T/list"
	refused import "$T/list" --list feed --replace
	exits 0 import "$T/list" --list feed --replace --force
	complains "1 line was left out \(first: 1: 'CN' is no address, but of the scope Country\)"
	: >"$T/empty"
	exits 2 import "$T/empty" --list feed --force
	complains 'empty: no entries$'
}

# A file that was cut off in transfer reads as a shorter list.
t_cut_off_files_are_refused()
{
	local lines options words

	(numbers 100; echo '# END'; echo) >"$T/whole"
	exits 0 import "$T/whole" --list feed --expect-end ' # END' --min-entries 100 --min-bytes 800
	while IFS='~' read -r lines options words; do
		printf '%b' "$lines" >"$T/cut"
		# shellcheck disable=SC2086
		refused import "$T/cut" --list feed --replace --force --expect-end '# END' $options
		complains "$words"
	done <<-'END'
		8.8.8.8\n8.8.8.9\n~~cut: the last line is not '# END', so the file may have been cut off
		8.8.8.8\n# EN~~the last line is not '# END'
		~~cut
		8.8.8.8\n# END\n~--min-entries 2~cut has 1 entries to take, and --min-entries asks for 2
		8.8.8.8\n# END\n~--min-bytes 15~cut has 14 bytes, and --min-bytes asks for 15
		# END\n~--min-entries 1~--min-entries asks for 1
	END
	printf '8.8.8.8\n  # END  \r\n \r\n' >"$T/cut"
	exits 0 import "$T/cut" --list feed --replace --force --expect-end '# END'
	exits 0 attach x0
	exits 0 -j import "$T/whole" --list feed --replace --max-change 100 --rollback 60 --min-entries 100
	json "d['bytes'] == $(wc -c <"$T/whole")"
	exits 0 commit
	exits 0 -j list --list feed
	json 'len(d["entries"]) == 100'
}

# Expired entries are no part of what the list had.
t_expired_entries_do_not_count()
{
	(echo 'create a hash:ip'; numbers 1500 | sed 's/.*/add a & timeout 1/') >"$T/list"
	exits 0 import "$T/list" --list feed
	exits 0 add 9.9.9.9 --list feed
	list 9.9.9.8
	wait_for "their end" replaces_one --dry-run
	replaces_one "" || fail "$(cat "$T/out")"
}

# shellcheck disable=SC2086
replaces_one() { ctl -j import "$T/list" --list feed --replace $1 >"$T/out" && (json 'd["removed"] == d["added"] == 1'); }

t_dry_run_without_a_store()
{
	list 8.8.8.8 9.9.9.9/32 8.8.8.8 10.0.0.0/8
	exits 0 import "$T/list" --list feed --dry-run
	complains '1 entries left out .*10.0.0.0/8'
	says '^2 entries \(plain\) would go into list feed: 2 added, 0 renewed, 0 unchanged, 0 removed; 1 repeated'
	[[ ! -e $state && ! -e $pins && ! -e $counters ]] || fail "it has made a directory"
	list 'create a hash:ip' 'add a 8.8.8.8 timeout 4294967295'
	exits 2 import "$T/list" --dry-run
	one_line
	complains '8.8.8.8: a timeout of 4294967295 seconds ends after 2106'
	mkdir "$state"
	numbers 10 >"$T/list"
	exits 0 -j import "$T/list" --dry-run
	json 'd["added"] == 10 and d["dry_run"] == True'
	[[ -z $(ls -A "$state") ]] || fail "it has made a store"
}

# What it tells is what the import then does; what is refused is refused as well, and neither changes anything.
t_dry_run_tells_what_import_does()
{
	local options

	exits 0 attach x0
	list '8.8.8.8 # resolver' 9.9.9.9 10.77.0.3 fd77::3
	mv "$T/list" "$T/one"
	list 8.8.8.8 9.9.9.9 10.77.0.4 fd77::4
	for options in '' '--replace'; do
		exits 0 flush --yes
		exits 0 add 8.8.4.4
		exits 0 import "$T/one" --list feed --include-bogons
		ctl save >"$T/before"
		tree >"$T/tree"
		refused import "$T/list" --list feed --replace --dry-run --max-change 1.1
		complains 'would shrink from 4 to 2 entries'
		# shellcheck disable=SC2086
		exits 0 -j import "$T/list" --list feed --include-bogons $options --dry-run
		mv "$T/out" "$T/dry"
		tree | cmp - "$T/tree" || fail "files have changed"
		unchanged
		blocked 10.77.0.3 fd77::3
		passes 10.77.0.4 fd77::4
		# shellcheck disable=SC2086
		exits 0 -j import "$T/list" --list feed --include-bogons $options
		sed 's/"dry_run":true/"dry_run":false/' "$T/dry" | cmp - "$T/out" || fail "$(cat "$T/dry" "$T/out")"
		blocked 10.77.0.4 fd77::4
	done
	json 'd["added"] == 2 and d["renewed"] == 1 and d["unchanged"] == 1 and d["removed"] == 2'
	passes 10.77.0.3 fd77::3
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
