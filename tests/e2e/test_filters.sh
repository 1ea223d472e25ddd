#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# bloomset's filters: made, asked, changed, combined, exchanged; with Guava, and by digests.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

bloomset=$XB_TEST_DIR/bin/bloomset

# set_exits CODE ARGUMENT...: as exits, of bloomset.
set_exits()
{
	local wanted=$1 code=0

	shift
	"$bloomset" "$@" >"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq $wanted ]] ||
		fail "bloomset $*: exit code $code, not $wanted: $(head -c 300 "$T/err")"
}

# words FIRST LAST: a line each.
words() { seq -f 'word%.0f' "$1" "$2"; }

t_by_hand()
{
	local name

	printf '%s\n' cat dog horse >"$T/animals"
	set_exits 0 build --lines "$T/animals" --bits 20 --hashes 3 -o "$T/x"
	for name in cat dog horse; do
		set_exits 0 test "$T/x" "$name"
		[[ $(cat "$T/out") == "$name: perhaps" ]]
	done
	set_exits 0 -j info "$T/x"
	json 'd["bits"] == 20 and d["hashes"] == 3 and 1 <= d["set_bits"] <= 9 and d["made_for"] == 5 and d["elements"] == "lines"'
	# Of strangers most are surely absent; some are perhaps in, since so few bits are shared by many.
	words 1 3000 >"$T/strangers"
	set_exits 1 test "$T/x" --from "$T/strangers" --only absent
	[[ $(wc -l <"$T/out") -gt 1500 ]]
	set_exits 1 test "$T/x" --from "$T/strangers" --only present
	[[ $(wc -l <"$T/out") -gt 0 ]]
	set_exits 2 build --lines "$T/animals" --bits 20 -o "$T/x"
	complains 'belong together'
	set_exits 0 build "$T/strangers" --lines --bits 10 --hashes 3 -o "$T/full"
	complains 'was made for 2, and has more than 2: its rate of false positives is 1'
	set_exits 0 info "$T/full"
	grep -q 'nobody can tell' "$T/out"
}

t_entries_in_their_canonical_form()
{
	printf '192.0.2.1/32\n198.51.100.0/24\n' >"$T/list"
	set_exits 0 build "$T/list" -p 1e-9 -o "$T/x"
	set_exits 0 test "$T/x" 192.0.2.1 192.0.2.1/32 ::ffff:192.0.2.1 198.51.100.77/24
	set_exits 1 test "$T/x" 198.51.100.7
	[[ $(cat "$T/out") == '198.51.100.7: surely not' ]]
	set_exits 2 test "$T/x" 'not an entry'
	one_line
	# What a list allows is not in it.
	printf '||blocked.example^\n@@||allowed.example^\n' >"$T/list"
	set_exits 0 build "$T/list" -p 1e-9 -o "$T/x"
	set_exits 0 test "$T/x" blocked.example
	set_exits 1 test "$T/x" allowed.example
}

t_counting()
{
	words 1 1000 >"$T/in"
	set_exits 0 build --lines "$T/in" --counting -p 1e-8 -o "$T/x"
	cp "$T/x" "$T/before"
	# What is surely not in: nothing changes, also of what is in and named beside it.
	set_exits 1 del "$T/x" word1 stranger word2
	complains 'stranger is not in the filter'
	complains 'nothing was changed'
	cmp "$T/x" "$T/before"
	set_exits 0 add "$T/x" word1 new
	[[ $(cat "$T/out") == '2 added, 1 of them new' ]]
	set_exits 0 del "$T/x" word1 new
	set_exits 0 test "$T/x" word1
	set_exits 1 test "$T/x" new
	words 1 500 >"$T/half"
	set_exits 0 del "$T/x" --from "$T/half"
	words 501 1000 >"$T/rest"
	set_exits 0 test "$T/x" --from "$T/rest"
	set_exits 1 test "$T/x" --from "$T/half" --only present
	[[ $(wc -l <"$T/out") -lt 5 ]]
	# A counter that has reached 15 stays.
	for _ in {1..16}; do echo often; done >"$T/often"
	set_exits 0 add "$T/x" --from "$T/often"
	set_exits 0 del "$T/x" --from "$T/often"
	set_exits 0 test "$T/x" often
	set_exits 0 -j info "$T/x"
	json 'd["stuck_counters"] >= 1'
	set_exits 0 clear "$T/x"
	set_exits 1 test "$T/x" --from "$T/rest" --only present
	[[ ! -s $T/out ]]
	set_exits 0 build --lines "$T/in" -o "$T/plain"
	set_exits 2 del "$T/plain" word1
	complains 'only a counting filter can delete'
}

is_locked() { grep -q ":$(stat -c %i "$1") " /proc/locks; }

# hold FILE: another process, $holder, has its lock until it is killed.
hold()
{
	python3 -c 'import fcntl, signal, sys
file = open(sys.argv[1])
fcntl.flock(file, fcntl.LOCK_EX)
signal.pause()' "$1" &
	holder=$!
	wait_for "the lock" is_locked "$1"
}

# Those who wait lose nothing that one before them has written.
t_changes_at_the_same_time()
{
	local i pids=()

	words 1 10 >"$T/in"
	set_exits 0 build --lines "$T/in" -n 1000 -p 1e-6 -o "$T/x"
	hold "$T/x"
	for i in {1..4}; do
		"$bloomset" -q add "$T/x" "at-once-$i" &
		pids+=($!)
	done
	wait_for "all to the lock" is_awaited "$T/x" 4
	kill -KILL "$holder"
	wait "${pids[@]}"
	set_exits 0 test "$T/x" word1 at-once-{1..4}
	[[ $(find "$T" -name 'x.*' | wc -l) -eq 0 ]]
}

# waits_for_lock FILE ARGUMENT...: bloomset waits as long as another process has the lock of the file.
waits_for_lock()
{
	local file=$1 before changing

	before=$(sha256sum <"$file")
	hold "$file"
	"$bloomset" "${@:2}" >"$T/out" 2>"$T/err" &
	changing=$!
	wait_for "bloomset to the lock" is_awaited "$file"
	[[ $(sha256sum <"$file") == "$before" ]] || fail "${*:2}: has written"
	kill -KILL "$holder"
	wait $changing || fail "${*:2}: $(cat "$T/err")"
	[[ $(sha256sum <"$file") != "$before" ]] || fail "${*:2}: has not written"
}

# What makes a file anew waits, too: otherwise what an add writes at the same time would replace it.
t_replaced_under_the_lock()
{
	words 1 100 >"$T/in"
	words 101 200 >"$T/more"
	set_exits 0 build --lines "$T/in" -n 200 -o "$T/x"
	set_exits 0 build --lines "$T/more" --like "$T/x" -o "$T/y"
	waits_for_lock "$T/x" merge "$T/x" "$T/y" -o "$T/x"
	waits_for_lock "$T/x" build --lines "$T/more" -n 200 -o "$T/x"
	waits_for_lock "$T/x" digest --lines "$T/in" -o "$T/x"
	waits_for_lock "$T/x" add "$T/x" new
	waits_for_lock "$T/x" clear "$T/x"
	# A file that only others may write is replaced all the same, and its mode stays.
	chmod 444 "$T/x"
	set_exits 0 add "$T/x" newer
	[[ $(stat -c %a "$T/x") == 444 ]]
}

t_merge()
{
	words 1 600 >"$T/a"
	words 400 1000 >"$T/b"
	words 1 1000 >"$T/both"
	set_exits 0 build --lines "$T/a" -n 1000 -o "$T/xa"
	set_exits 0 build --lines "$T/b" --like "$T/xa" -o "$T/xb"
	set_exits 0 build --lines "$T/b" -n 1000 -o "$T/other-key"
	set_exits 0 compatible "$T/xa" "$T/xb"
	set_exits 1 compatible "$T/xa" "$T/other-key"
	grep -q 'they have different keys' "$T/out"
	set_exits 0 merge "$T/xa" "$T/xb" -o "$T/x"
	set_exits 0 test "$T/x" --from "$T/both"
	set_exits 0 build --lines "$T/both" --like "$T/xa" -o "$T/whole"
	# The same bits: behind the header, which knows how many were put in.
	cmp <(tail -c +129 "$T/x") <(tail -c +129 "$T/whole")
	cp "$T/x" "$T/before"
	set_exits 2 merge "$T/xa" "$T/other-key" -o "$T/x"
	one_line
	complains 'different keys'
	cmp "$T/x" "$T/before"
}

# What the real Guava wrote, and what it would write: tests/unit/bloom/guava/Make.java.
t_guava()
{
	local made=$root/tests/unit/bloom/guava i

	for i in {0..499}; do
		((i % 3)) && echo "user_$i" || printf 'user_%d ä€😀\n' "$i"
	done >"$T/strings"
	set_exits 0 test "$made/strings-64" --from "$T/strings"
	set_exits 0 build --lines "$T/strings" --format guava-32 --funnel chars -o "$T/x"
	cmp "$T/x" "$made/chars-32"
	set_exits 0 -j info "$T/x"
	json 'd["kind"] == "Guava'"'"'s MURMUR128_MITZ_32" and d["made_for"] is None and 480 <= d["count"] <= 520'
	python3 -c 'for i in range(500): n = i * 0x9e3779b9 & 0xffffffff; print(n - (n >> 31 << 32))' >"$T/integers"
	set_exits 0 build "$T/integers" --funnel integers --format guava -o "$T/x"
	cmp "$T/x" "$made/integers-64"
	echo 192.0.2.1 >>"$T/integers"
	set_exits 0 build "$T/integers" --funnel integers --format guava -o "$T/x"
	set_exits 0 test "$T/x" --funnel integers -- 192.0.2.1 -1073741311
	printf '12\nx\n' >"$T/wrong"
	set_exits 2 build "$T/wrong" --funnel longs --format guava -o "$T/none"
	one_line
	complains "wrong, line 2: 'x' is not a number of 64 bits"
	[[ ! -e $T/none ]]
}

# A maker, and another side that has more; both rounds by small files alone.
t_digests()
{
	words 1 20000 >"$T/ours"
	words 501 26000 >"$T/theirs"
	words 20001 26000 | sort >"$T/lacking"
	# One that misses some: they are told in no round by mistake, and the second finds the rest.
	cp "$T/ours" "$T/now"
	set_exits 0 digest --lines "$T/now" -p 0.05 -o "$T/first"
	set_exits 0 missing "$T/first" "$T/theirs"
	sort "$T/out" >"$T/told"
	[[ -z $(comm -23 "$T/told" "$T/lacking") ]]
	cat "$T/told" >>"$T/now"
	missed=$((6000 - $(wc -l <"$T/told")))
	[[ $missed -ge 75 && $missed -le 600 ]] || fail "one round missed $missed"
	set_exits 0 digest --lines "$T/now" -p 0.05 -o "$T/second"
	set_exits 0 missing "$T/second" "$T/theirs"
	[[ -z $(comm -23 <(sort "$T/out") "$T/lacking") ]]
	[[ -z $(comm -12 <(sort "$T/out") "$T/told") ]]
	[[ $((missed - $(wc -l <"$T/out"))) -le $((missed / 5)) ]] || fail "the second round missed too many of $missed"
	# As sized without being told: the two find everything, 99 times in 100.
	set_exits 0 digest --lines "$T/ours" -o "$T/first"
	grep -q 'one round misses about' "$T/err"
	[[ $(stat -c %s "$T/first") -lt $(($(stat -c %s "$T/ours") / 4)) ]]
	set_exits 0 missing "$T/first" "$T/theirs"
	cat "$T/ours" "$T/out" >"$T/now"
	set_exits 0 digest --lines "$T/now" -o "$T/second"
	set_exits 0 missing "$T/second" "$T/theirs"
	cat "$T/out" >>"$T/now"
	# (Three runs in a thousand miss one.)
	[[ $(sort -u "$T/now" | wc -l) -ge 25999 ]]
	# From the store of bloomctl, and by a pipe.
	printf '9.9.9.%d\n' {1..50} >"$T/listed"
	ctl -q import "$T/listed" --list mine
	ctl list --list mine | cut -d ' ' -f 1 | "$bloomset" -q digest - -p 1e-9 -o "$T/x"
	printf '9.9.9.%d\n' {40..60} >"$T/more"
	set_exits 0 missing "$T/x" "$T/more"
	[[ $(cat "$T/out") == "$(printf '9.9.9.%d\n' {51..60})" ]]
	printf '192.0.2.7\nwhat is this\n' | set_exits 2 digest - -o "$T/x"
	one_line
	complains 'standard input'
	"$bloomset" -q digest --lines "$T/ours" -o - | "$bloomset" -q missing - "$T/theirs" >"$T/told"
	[[ $(wc -l <"$T/told") -ge 5990 ]]
}

t_bad_files()
{
	local name command more

	words 1 1000 >"$T/in"
	set_exits 0 build --lines "$T/in" -o "$T/x"
	head -c 500 "$T/x" >"$T/cut"
	{ head -c 600 "$T/x"; printf '\377'; tail -c +602 "$T/x"; } >"$T/damaged"
	cmp -s "$T/x" "$T/damaged" && { head -c 600 "$T/x"; printf '\0'; tail -c +602 "$T/x"; } >"$T/damaged"
	{ echo something; head -c 3000 /dev/urandom; } >"$T/random"
	: >"$T/empty"
	for name in cut damaged random empty none; do
		for command in info clear missing test add del; do
			more=("$T/in")
			[[ $command != info && $command != clear ]] || more=()
			set_exits 2 $command "$T/$name" "${more[@]}"
			one_line
			complains "$T/$name"
		done
		set_exits 2 merge "$T/x" "$T/$name" -o "$T/merged"
		one_line
		[[ ! -e $T/merged ]]
	done
	set_exits 2 info "$T"
	one_line
	# A list that is not there.
	for name in "" --lines; do
		set_exits 2 build $name "$T/none" -o "$T/made"
		complains "none does not exist"
		set_exits 2 build $name "$T/none" -n 5 -o "$T/made"
		complains "none(: No such file| does not exist)"
		set_exits 2 digest $name "$T/none" -o "$T/made"
		complains "none does not exist"
	done
	set_exits 2 build --lines "$T/in" -o ""
	complains 'has an empty name'
}

t_nothing_half_written()
{
	words 1 5000 >"$T/in"
	set_exits 0 build --lines "$T/in" -o "$T/x"
	cp "$T/x" "$T/before"
	mkdir "$T/small"
	mount -t tmpfs -o size=16k tmpfs "$T/small"
	set_exits 3 build --lines "$T/in" -p 1e-9 -o "$T/small/x"
	one_line
	[[ -z $(ls -A "$T/small") ]]
	umount "$T/small"
	(ulimit -f 4; trap '' XFSZ; set_exits 3 add "$T/x" word9999)
	cmp "$T/x" "$T/before"
	[[ $(find "$T" -name 'x.*' | wc -l) -eq 0 ]]
	set_exits 2 build --lines "$T/nowhere" -n 5 -o "$T/none"
	one_line
	set_exits 2 build --lines - -o "$T/none" </dev/null
	complains 'standard input can be read only once'
	[[ ! -e $T/none ]]
	# Who stops reading early is no error of ours, and 141 says so.
	{ "$bloomset" test "$T/x" --from "$T/in" --only present || [[ $? -eq 141 ]]; } | head -1 >"$T/out"
	[[ $(cat "$T/out") == word1 ]]
	"$bloomset" -q test "$T/x" --from "$T/in" >/dev/full
}

# A pipe that never ends has no filter, or more than one. In a process group of its own, timeout would be the parent of
# one in the test's: then the kernel ends the test's with SIGHUP if anything in it is stopped.
t_endless_pipes()
{
	local code=0

	words 1 10 >"$T/in"
	set_exits 0 build --lines "$T/in" -o "$T/x"
	timeout --foreground 60 "$bloomset" info - < <(cat /dev/zero) 2>"$T/err" || code=$?
	[[ $code -eq 2 ]] || fail "ends with $code"
	complains 'standard input is no filter'
	code=0
	timeout --foreground 60 "$bloomset" info - < <(cat "$T/x" /dev/zero) 2>"$T/err" || code=$?
	[[ $code -eq 2 ]] || fail "ends with $code"
	complains 'is damaged: it has [0-9]+ bytes instead of'
	set_exits 0 info - < <(cat "$T/x")
	set_exits 2 info - < <(head -c 100 "$T/x")
	complains 'is cut short: it has 100 of 128 bytes'
	set_exits 2 info - </dev/null
	complains 'is empty'
	set_exits 0 info - < <(cat "$root/tests/unit/bloom/guava/strings-64")
	set_exits 2 info - < <(cat "$root/tests/unit/bloom/guava/strings-64" /dev/zero)
	complains 'is damaged: it has [0-9]+ bytes instead of'
}

# A packed list may have more than 4 GiB in it, as it has in the long run.
t_large_packed_list()
{
	local parts=10

	[[ -z ${XB_TEST_ALL:-} ]] || parts=430
	printf '#%04000d\n' {1..2500} | zstd -q -o "$T/part.zst"
	for ((i = 0; i < parts; i++)); do
		cat "$T/part.zst"
	done >"$T/in.zst"
	echo 192.0.2.1 | zstd -q >>"$T/in.zst"
	set_exits 0 build "$T/in.zst" -n 5 -p 1e-9 -o "$T/x"
	set_exits 0 test "$T/x" 192.0.2.1
}

# More than a tenth over, also of few.
t_overfull()
{
	words 1 30 >"$T/in"
	set_exits 0 build --lines "$T/in" -n 20 -p 1e-6 -o "$T/x"
	complains 'the filter was made for 20, and has about [23][0-9]: its rate'
	set_exits 0 build --lines "$T/in" -n 60 -p 1e-6 -o "$T/x"
	[[ ! -s $T/err ]] || fail "it says: $(cat "$T/err")"
}

# Binary lines, empty ones, and those of a megabyte are lines.
t_odd_lines()
{
	python3 - "$T/in" <<'PY'
import sys
with open(sys.argv[1], "wb") as file:
    file.write(b"\n\0\xff\r\n" + b"x" * (1 << 20) + b"\n" + b"y" * (1 << 20) + b"\nlast")
PY
	set_exits 0 build --lines "$T/in" -p 1e-9 -o "$T/x"
	grep -q '^5 put, 5 of them new' "$T/out"
	set_exits 0 test "$T/x" --from "$T/in"
	set_exits 0 test "$T/x" last ""
	set_exits 1 test "$T/x" xx
	# Packed, they are the same lines; and a mark of UTF-16 is two bytes of a line.
	gzip -k "$T/in"
	set_exits 0 build --lines "$T/in.gz" -p 1e-9 -o "$T/x"
	set_exits 0 test "$T/x" --from "$T/in"
	"$bloomset" -q build --lines - -n 5 -p 1e-9 -o "$T/x" <"$T/in.gz"
	set_exits 0 test "$T/x" --from "$T/in.gz"
	"$bloomset" -q digest --lines - -o "$T/x" <"$T/in.gz"
	set_exits 0 missing "$T/x" "$T/in"
	[[ ! -s $T/out ]]
	printf '\xff\xfea\nb\n' >"$T/marked"
	set_exits 0 build --lines "$T/marked" -p 1e-9 -o "$T/x"
	set_exits 0 test "$T/x" b
	head -c 70000000 /dev/zero >"$T/long"
	set_exits 2 build --lines "$T/long" -o "$T/none"
	one_line
	complains 'long, line 1: it is longer than 64 MiB'
}

# What the page shows is what there is.
t_as_documented()
{
	cd "$T"
	python3 "$root/tests/e2e/bloomdoc.py" "$root/docs/bloom.md" "$bloomset" >"$T/out" 2>&1 || fail "$(cat "$T/out")"
	says '^[0-9]+ commands'
}

t_plan()
{
	set_exits 0 -j plan -n 1000000 -p 0.01
	json 'd["plans"][0]["hashes"] == 7 and abs(d["plans"][0]["bits"] / 9592955 - 1) < 1e-4'
	set_exits 0 plan --bits 1000 --hashes 4 -n 100
	grep -Eq '^ +100 +0.0118 +1000 +4 ' "$T/out"
	set_exits 0 plan --svg
	python3 -c 'import sys, xml.dom.minidom as m; assert len(m.parse(sys.argv[1]).getElementsByTagName("polyline")) == 6' "$T/out"
	set_exits 2 plan --hashes 4
	set_exits 2 plan -p 2
	complains 'between 0 and 1'
}

run_tests
