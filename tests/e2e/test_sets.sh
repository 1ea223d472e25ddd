#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The set operations of bloomset: their results beside those of sort, comm and uniq, and of a simple search;
# their memory, and what comes in between.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/bloomset.sh"

export LC_ALL=C
seed=${XB_TEST_SEED:-$RANDOM}
echo "seed $seed"

# lines KIND COUNT SPACE SEED: so many lines, as if drawn from a space of so many.
lines() { python3 "$(dirname "$0")/setlines.py" "$@"; }

three()
{
	local made=${T%/*}/three-$1-$2-$3

	if [[ ! -d $made ]]; then
		mkdir "$made"
		lines "$1" "$2" "$3" "$seed" >"$made/a"
		lines "$1" "$2" "$3" $((seed + 1)) >"$made/b"
		lines "$1" $(($2 / 4)) "$3" $((seed + 2)) >"$made/c"
	fi
	cp "$made"/* "$T"
}

# same WANTED ARGUMENT...: bloomset prints the lines of the file, in any order.
same()
{
	local wanted=$1

	shift
	set_exits 0 "$@"
	[[ ! -s $T/err ]] || fail "bloomset $*: $(cat "$T/err")"
	sort "$T/out" | cmp - "$wanted" || fail "bloomset $*: $(sort "$T/out" | diff - "$wanted" | head -3)"
}

# check [OPTION...]: all verbs on the three files; without options also when one of them is standard input.
check()
{
	local number
	local -a all=("$T/a" "$T/b" "$T/c") verbs wanted

	sort -u "$T/a" >"$T/sa"
	sort -u "$T/b" >"$T/sb"
	sort -u "$T/c" >"$T/sc"
	comm -12 "$T/sa" "$T/sb" >"$T/in-two"
	comm -12 "$T/in-two" "$T/sc" >"$T/in-all"
	sort "$T/sa" "$T/sb" "$T/sc" | uniq -d >"$T/in-some"
	sort "${all[@]}" | uniq -u >"$T/alone"
	comm -23 "$T/sa" "$T/sb" >"$T/not-in-two"
	comm -23 "$T/not-in-two" "$T/sc" >"$T/in-first"
	sort -u "${all[@]}" >"$T/any"
	same "$T/in-two" common --lines "$@" "$T/a" "$T/b"
	same "$T/not-in-two" diff --lines "$@" "$T/a" "$T/b"
	verbs=(common "common --min 2" once diff union)
	wanted=(in-all in-some alone in-first any)
	for number in "${!verbs[@]}"; do
		# shellcheck disable=SC2086
		same "$T/${wanted[number]}" ${verbs[number]} --lines "$@" "${all[@]}"
		[[ $# -eq 0 ]] || continue
		# shellcheck disable=SC2086
		same "$T/${wanted[number]}" ${verbs[number]} --lines - "$T/b" "$T/c" <"$T/a"
		# shellcheck disable=SC2086
		same "$T/${wanted[number]}" ${verbs[number]} --lines "$T/a" - "$T/c" < <(cat "$T/b")
	done
	set_exits 0 distinct --lines "$@" "${all[@]}"
	[[ $(cat "$T/out") -eq $(wc -l <"$T/any") ]]
	set_exits 0 distinct --approximate --lines "$@" "${all[@]}"
	awk -v wanted="$(wc -l <"$T/any")" '$1 < wanted * 0.97 - 3 || $1 > wanted * 1.03 + 3 {exit 1}' "$T/out" ||
		fail "about $(cat "$T/out"), not $(wc -l <"$T/any")"
}

t_as_sort()
{
	local kind

	for kind in address integer text odd; do
		three $kind 8000 6000
		check
		[[ $kind == integer ]] || check --memory "$([[ $kind == address ]] && echo 5G || echo 16M)"
	done
}

# More than memory: what is common is sifted by filters, and the rest parted on disk.
t_as_sort_on_disk()
{
	three text 45000 60000
	check --memory 16M
	set_exits 0 -v union --lines --memory 16M "$T/a" "$T/b" -o "$T/out"
	complains 'wrote [0-9.]+ MiB to'
}

# What looks like the mark of UTF-16 is two bytes of a line.
t_bytes_are_bytes()
{
	printf '\xff\xfeone\ntwo\n' | sort >"$T/a"
	same "$T/a" union --lines "$T/a"
	printf '\xff\xfeone\n' >"$T/b"
	same "$T/b" common --lines "$T/a" "$T/b"
}

t_in_order()
{
	three address 20000 15000
	for memory in 16M 2G; do
		set_exits 0 union --memory $memory "$T/a" "$T/b"
		sort -u -t. -k1,1n -k2,2n -k3,3n -k4,4n "$T/a" "$T/b" | cmp - "$T/out"
	done
}

# What is packed is looked at, too: addresses are numbers there, and lines are counted however many there are.
t_packed()
{
	three address 100000 80000
	gzip -k "$T/a"
	zstd -q "$T/b" -o "$T/b.zst"
	sort -u -t. -k1,1n -k2,2n -k3,3n -k4,4n "$T/a" "$T/b" >"$T/wanted"
	set_exits 0 -j union --lines --plan "$T/a.gz" "$T/b.zst"
	json '100000 < d["numbers"] < 400000 and d["lines"] == d["numbers"] and d["passes"] == 2'
	for memory in 16M 2G; do
		set_exits 0 union --memory $memory "$T/a.gz" "$T/b.zst"
		cmp "$T/out" "$T/wanted"
	done
	seq 2000000 | gzip -1 >"$T/lines.gz"
	# As if there were few lines.
	{
		printf 'x%.0s' {1..40000}
		echo
		printf 'y%.0s' {1..40000}
		echo
		seq 2000001 4000000
	} >"$T/lines"
	set_exits 0 distinct --lines --approximate --memory 200M "$T/lines.gz" "$T/lines"
	awk '$1 < 3990000 || $1 > 4010000 {exit 1}' "$T/out" || fail "about $(cat "$T/out")"
	{
		printf 'x%.0s' {1..60000}
		echo
		seq 2000000
	} >"$T/lines"
	set_exits 0 distinct --lines --approximate --memory 200M "$T/lines"
	awk '$1 < 1995000 || $1 > 2005000 {exit 1}' "$T/out" || fail "about $(cat "$T/out")"
}

t_entries()
{
	python3 "$(dirname "$0")/setoracle.py" "$bloomset" "$T" "$seed"
}

t_entries_are_canonical()
{
	printf '%s\n' 192.0.2.1 192.0.2.0/24 198.51.100.7/32 2001:db8::1 >"$T/a"
	printf '%s\n' ::ffff:192.0.2.1 192.0.2.9 198.51.100.7 2001:DB8:0::1/128 >"$T/b"
	printf '%s\n' 192.0.2.1 198.51.100.7 2001:db8::1 >"$T/wanted"
	same "$T/wanted" common "$T/a" "$T/b"
	echo 192.0.2.9 >"$T/wanted"
	same "$T/wanted" diff "$T/b" "$T/a"
	gzip -k "$T/b"
	printf '%s\n' 192.0.2.1 198.51.100.7 2001:db8::1 >"$T/wanted"
	same "$T/wanted" common "$T/a" "$T/b.gz"
	: >"$T/empty"
	same "$T/empty" common "$T/a" "$T/empty"
	set_exits 2 union "$T/a" --format hosts
	one_line
	printf 'example.com\n\x00\n' >"$T/binary"
	set_exits 2 union "$T/binary" -o "$T/result"
	complains 'binary data'
	[[ ! -e $T/result ]]
}

# ends_within CODE SIZE ARGUMENT...: bloomset ends with this code, and has at most 16 MiB more in memory; what the address
# sanitizer takes is not told apart from that.
ends_within()
{
	local code=$1 size=$2 most

	shift 2
	most=$(is_sanitized && echo inf || echo $((size + 16)))
	python3 - "$code" "$most" "$bloomset" "$@" --memory "${size}M" >"$T/used" 2>"$T/err" <<-'END' || fail "$* --memory ${size}M: $(cat "$T/used" "$T/err")"
	import resource, subprocess, sys
	code = subprocess.run(sys.argv[3:], stdout=subprocess.DEVNULL).returncode
	most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
	print("ends with", code, "and", most >> 10, "MiB")
	sys.exit(code != int(sys.argv[1]) or most > float(sys.argv[2]) * 1024)
	END
}

uses() { ends_within 0 "$@"; }

t_memory()
{
	local verb

	three text 45000 60000
	for verb in common once diff union distinct; do
		uses 16 $verb --lines "$T/a" "$T/b"
	done
	uses 48 common --lines "$T/a" "$T/b"
	uses 48 union --lines "$T/a" "$T/b"
	mkfifo "$T/pipe"
	cat "$T/a" >"$T/pipe" &
	uses 16 union --lines "$T/pipe" "$T/b"
	three address 450000 1100000
	for verb in common once diff union; do
		uses 16 $verb --lines "$T/a" "$T/b"
		uses 48 $verb "$T/a" "$T/b"
	done
	uses 16 common --min 2 "$T/a" "$T/b" "$T/c"
	# Lines of a megabyte: one for each part is more than there is for all of them.
	python3 -c 'for i in range(70): print(chr(65 + i % 26) * (1 << 20) + str(i))' >"$T/a"
	for verb in common once; do
		uses 16 $verb --lines "$T/a" "$T/a"
	done
	# A window of 128 MiB, over which zstd repeats what it has had.
	zstd -q --long=27 "$T/a" -o "$T/a.zst"
	set_exits 2 union --lines --memory 16M "$T/a.zst"
	complains 'takes more memory than is allowed'
	uses 1100 union --lines "$T/a.zst"
}

# Filters as for many lines, which are short; memory full of lines that are kept; and then long ones.
t_memory_of_long_lines()
{
	python3 - "$T/a" <<-'END'
	import sys
	with open(sys.argv[1], "w") as file:
	    file.write("a\n" * 32768 + "".join("x%070d\n" % (i * 387420489 % 10**9) for i in range(900000)))
	    for i in range(4):
	        file.write(chr(97 + i) * (31 << 20) + "\n")
	END
	uses 256 union --lines "$T/a" "$T/a"
}

# What has to be held as a whole is refused before it takes more than there is.
t_memory_of_lists()
{
	python3 - "$T" <<-'END'
	import sys
	def write(name, text):
	    with open(sys.argv[1] + "/" + name, "w") as file:
	        file.write(text)
	write("prefixes", "".join("2001:db8:%x:%x::/64\n" % divmod(i * 2654435761 % 2**32, 1 << 16) for i in range(500000)))
	write("names", "".join("n%d.example\n" % (i * 2654435761 % 2**30) for i in range(400000)))
	values = "".join('"1.2.%d.%d",' % divmod(i, 256) for i in range(30000))
	write("small.json", '{"a": [%s"192.0.2.1"]}' % values)
	write("large.json", '{"a": [%s"192.0.2.1"]}' % (values * 66))
	# Little text, and many values.
	write("deep.json", '{"a": ["192.0.2.1"], "b": [%s[]]}' % ("[]," * 500000))
	# Little text, and many prefixes.
	write("ranges.json", '{"a": [%s]}' % ",".join('"1.0.0.%d-223.255.255.%d"' % (i % 200 + 1, i % 250 + 4) for i in range(15000)))
	END
	uses 16 union "$T/prefixes"
	uses 16 common "$T/prefixes" "$T/prefixes" "$T/names"
	uses 16 distinct --approximate "$T/prefixes" "$T/names"
	uses 16 union --json-path 'a[]' "$T/small.json"
	for name in large deep ranges; do
		ends_within 2 16 union --json-path 'a[]' "$T/$name.json"
		complains "$name.json.*: lines of this format mean something only together, and they take more than [0-9]+ MiB"
	done
	uses 256 union --json-path 'a[]' "$T/deep.json"
	sed 's/$/,x/' "$T/prefixes" >"$T/table"
	ends_within 2 16 union --column 1 "$T/table"
	complains 'table.*: lines of this format mean something only together'
	uses 128 union --column 1 "$T/table"
}

t_memory_of_packed_files()
{
	three text 45000 60000
	gzip -1k "$T/a"
	# A window of 8 MiB, which zstd has in memory.
	zstd -q --long=23 "$T/b" -o "$T/b.zst"
	for verb in common once; do
		uses 16 $verb --lines "$T/a.gz" "$T/b.zst"
	done
	uses 16 distinct --approximate --lines "$T/b.zst"
}

# Some bits of each address that there could be; and parts with a counter for each.
t_memory_of_addresses()
{
	three address 450000 1100000
	mkfifo "$T/pipe"
	cat "$T/a" >"$T/pipe" &
	uses 800 union --lines "$T/pipe"
	uses 16 common --lines --min 8 "$T/a" "$T/b" "$T/a" "$T/b" "$T/a" "$T/b" "$T/a" "$T/b" "$T/c"
}

t_full_disk()
{
	three text 45000 60000
	mkdir "$T/disk"
	mount -t tmpfs -o size=1m tmpfs "$T/disk"
	TMPDIR=$T/disk set_exits 3 union --lines --memory 16M - "$T/b" <"$T/a"
	complains 'cannot write to .*/disk \(TMPDIR\): No space left'
	echo before >"$T/disk/result"
	set_exits 3 union --lines "$T/a" "$T/b" -o "$T/disk/result"
	one_line
	[[ $(cat "$T/disk/result") == before && $(ls -A "$T/disk") == result ]]
	"$bloomset" union --lines "$T/a" >/dev/full 2>"$T/err" && fail "a full disk is no error"
	one_line
}

t_output()
{
	local name

	printf '%s\n' 192.0.2.2 192.0.2.1 >"$T/a"
	(umask 022 && "$bloomset" union "$T/a" -o "$T/result")
	[[ $(stat -c %a "$T/result") == 644 && $(wc -l <"$T/result") -eq 2 ]]
	ln -s result "$T/link"
	set_exits 0 union "$T/a" "$T/result" --output "$T/link"
	[[ -L $T/link && $(wc -l <"$T/result") -eq 2 ]] || fail "the link is gone"
	(cd "$T" && "$bloomset" once a result -o here)
	[[ -e $T/here && ! -s $T/here ]]
	set_exits 0 union "$T/a" -o /dev/null
	set_exits 2 union "$T/a" -o ''
	complains 'has an empty name'
	set_exits 3 union "$T/a" -o "$T/none/x"
	one_line
	# A name as long as it can be; one that is longer is refused before a line is read.
	name=$(printf 'n%.0s' {1..255})
	set_exits 0 union "$T/a" -o "$T/$name"
	[[ -s $T/$name ]]
	mkfifo "$T/pipe"
	set_exits 3 union --lines "$T/pipe" -o "$T/${name}n"
	complains 'File name too long'
	cd "$T"
	set_exits 0 union "$T/a" -o -
	[[ -s $T/out && ! -e - ]]
}

t_closed_pipe()
{
	local -a codes

	three text 45000 60000
	set +e
	"$bloomset" union --lines --memory 16M "$T/a" "$T/b" 2>"$T/err" | head -1 >/dev/null
	codes=("${PIPESTATUS[@]}")
	set -e
	[[ ${codes[0]} -eq 141 && ! -s $T/err ]] || fail "${codes[0]}: $(cat "$T/err")"
}

# A line of a megabyte, and one that is too long.
t_long_lines()
{
	{
		head -c 1048576 /dev/zero | tr '\0' x
		printf '\nshort\n'
		head -c 1048576 /dev/zero
		printf '\nlast'
	} >"$T/a"
	sort -u "$T/a" >"$T/wanted"
	same "$T/wanted" union --lines --memory 16M "$T/a"
	same "$T/wanted" common --lines --memory 16M "$T/a" - < <(cat "$T/a")
	{
		echo first
		head -c 5000000 /dev/zero
	} >"$T/b"
	set_exits 2 union --lines --memory 16M "$T/b" -o "$T/result"
	one_line
	complains "b:2: this line is longer than 2048 KiB"
	[[ ! -e $T/result ]]
}

# diff reads its first file twice, and the other in between.
t_changes_meanwhile()
{
	local change code pid

	printf '%s\n' one two three >"$T/first"
	mkfifo "$T/second"
	for change in 'echo four >>' 'sed -i s/one/six/'; do
		cp "$T/first" "$T/a"
		"$bloomset" diff --lines "$T/a" "$T/second" -o "$T/result" 2>"$T/err" &
		pid=$!
		exec 9>"$T/second" # waits until it is opened
		eval "$change $T/a"
		echo two >&9
		exec 9>&-
		code=0
		wait "$pid" || code=$?
		if [[ $change == echo* ]]; then
			[[ $code -eq 0 && $(sort "$T/result" | tr '\n' ' ') == 'one three ' ]]
		else
			[[ $code -eq 2 && $(wc -l <"$T/result") -eq 2 ]]
			complains 'changed while it was read'
		fi
	done
}

# prefetches FUNCTIONS: how many there are in functions whose names match.
prefetches()
{
	objdump -d --no-show-raw-insn "$bloomset" | awk -v functions="$1" '
		/^[0-9a-f]+ <.*>:$/ { within = $2 ~ "^<(" functions ")[.>]" }
		within && /\t(prefetch|prfm)/ { count++ }
		END { print count + 0 }'
}

# A compiler may take a function that only prefetches for one without effect, and leave it out: nothing but speed tells.
t_prefetches()
{
	# Of levels, chains and siftings, in the batch and one by one.
	[[ $(prefetches 'take|take_level|take_chain|take_sift') -ge 6 ]] || fail "filters are not prefetched"
	# Of each rule.
	[[ $(prefetches 'values_take|take_any|take_once|take_first|take_all|take_least') -ge 5 ]] ||
		fail "bits of numbers are not prefetched"
}

# What the plan says, and what is done.
t_plan()
{
	three text 45000 60000
	set_exits 0 -j union --lines --plan --memory 16M "$T/a" "$T/b"
	json '84000 < d["lines"] < 96000 and d["passes"] == 4 and d["read_bytes"] == 2 * d["bytes"]'
	json 'd["least_written_bytes"] < d["most_written_bytes"] < 2 * d["bytes"]'
	json '0 < d["least_seconds"] <= d["most_seconds"]'
	set_exits 0 -j common --lines --plan --memory 16M "$T/a" "$T/b"
	json 'd["passes"] == 3'
	# So little that the filters have few bits for a line.
	seq -f 'line %.0f' 3000000 >"$T/a"
	set_exits 0 -j once --lines --plan --memory 16M "$T/a" "$T/a"
	json 'd["least_written_bytes"] < d["most_written_bytes"] < 2 * d["bytes"]'
	json '0 < d["least_seconds"] <= d["most_seconds"]'
	set_exits 0 common --lines --plan "$T/a" "$T/b"
	says '^writes +0 B to'
	# As it says, it is; in MiB.
	for verb in once union; do
		set_exits 0 -j $verb --lines --plan --memory 16M "$T/a" "$T/b"
		cp "$T/out" "$T/planned"
		"$bloomset" -v $verb --lines --memory 16M "$T/a" "$T/b" 2>"$T/err" >"$T/result"
		complains 'wrote [0-9.]+ MiB to'
		python3 - "$T/planned" "$(grep -o 'wrote [0-9.]*' "$T/err" | cut -d ' ' -f 2)" <<-'END' || fail "$verb: $(cat "$T/planned" "$T/err")"
		import json, sys
		plan, wrote = json.load(open(sys.argv[1])), float(sys.argv[2]) * 2**20
		sys.exit(not plan["least_written_bytes"] * 0.9 <= wrote <= plan["most_written_bytes"] * 1.1)
		END
	done
	set_exits 0 once --lines --plan "$T/a" - < <(cat "$T/b")
	says 'and more'
}

run_tests
