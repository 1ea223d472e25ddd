#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# bloomset: how its commands are typed, and what they say of files.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

. "$(dirname "$0")/bloomset.sh"

# offered COMMAND...: a line each of the command, ":", and the options that completion offers for it.
offered()
{
	local COMP_WORDS COMP_CWORD COMPREPLY command

	# compgen fails when it has nothing to offer.
	trap - ERR
	set +e
	# shellcheck source=/dev/null
	. "$root/packaging/bloomset.bash"
	bloomset() { "$bloomset" "$@"; }
	for command; do
		COMP_WORDS=(bloomset "$command" -)
		COMP_CWORD=2
		_bloomset
		echo "$command: ${COMPREPLY[*]}"
	done
}

# takes COMMAND: the parser takes what the first line of its help says.
takes()
{
	local option value

	while read -r option value; do
		if [[ $value ]]; then
			set_exits 2 "$1" "$option"
			complains "option '$option' needs a value"
		else
			set_exits 2 "$1" "$option" --frob
			complains "unknown option '--frob'"
		fi
	done < <("$bloomset" help "$1" | awk 'NR == 1 {while (match($0, /--[a-z-]+( [A-Za-z])?/)) {
		print substr($0, RSTART, RLENGTH)
		$0 = substr($0, RSTART + RLENGTH)
	}}')
}

t_all_four_agree()
{
	local command wanted

	"$root/scripts/synopses" --check "$bloomset"
	"$bloomset" help | awk '/^$/ {n++; next} n == 1 {print $1}' >"$T/verbs"
	[[ $(wc -l <"$T/verbs") -gt 1 ]]
	# shellcheck disable=SC2046
	(offered $(cat "$T/verbs")) >"$T/offered"
	while IFS=: read -r command offered; do
		wanted=$("$bloomset" help "$command" | head -1 | tr -c "a-z-" "\n" | sed -n "/^--/p" | sort)
		[[ $(tr ' ' '\n' <<<"$offered" | sed -n "/^--/p" | sort) == "$wanted" ]] ||
			fail "completion of $command: $offered; help: $wanted"
		[[ $("$bloomset" help "$command" | grep -c '^  bloomset ') -eq 2 ]] ||
			fail "not two examples of $command"
		takes "$command"
	done <"$T/offered"
}

t_typed_wrong()
{
	local words line

	printf ':127.0.0.2:spam\n' >"$T/zone"
	seq 5 >"$T/list"
	printf '192.0.2.1\n' >"$T/entries"
	set_exits 0 build "$T/entries" -o "$T/of-entries"
	while IFS='~' read -r words line; do
		# shellcheck disable=SC2086
		set_exits 2 ${words//@/$T/}
		complains "$line"
		[[ ! -e $T/none ]]
	done <<-'END'
		~^bloomset: a command is missing
		distnict x~^bloomset: unknown command 'distnict' \(did you mean 'distinct'\?\)
		distinct~usage: bloomset distinct FILE
		distinct --lines=5 @list~--lines
		union --lines - @a -~standard input can be read only once
		common --min 3 a b~more than there are files
		union --memory 1M a~takes a size from 16.0 MiB
		union --lines --format plain a~they have no format
		build @zone -o @none~; --list-format names
		union @zone~; --format names
		union --format rpz --zone =x @zone~--zone takes a domain
		build --lines @list --like @of-entries -o @none~of-entries has entries: leave --lines out
		build --lines @list --bits 100 --hashes 3 -p 0.1 -o @none~the rate follows from --bits and --hashes: leave -p out
		-j plan --svg~svg
	END
	set_exits 2 -j distinct --lines "$T/none"
	cp "$T/err" "$T/out"
	json 'd["error"]["class"] == "input"'
	set_exits 0 --version
}

# What --like says is not said a second time.
t_like()
{
	local words

	seq 5 >"$T/list"
	set_exits 0 build "$T/list" --lines -o "$T/model"
	for words in '-n 5' '-p 0.1' '--counting' '--format blocked' '--bits 64 --hashes 2'; do
		# shellcheck disable=SC2086 # an option and its value
		set_exits 2 build "$T/list" --lines --like "$T/model" $words -o "$T/filter"
		complains "leave ${words%% *} out"
		[[ ! -e $T/filter ]]
	done
	set_exits 0 build "$T/list" --lines --like "$T/model" -o "$T/filter"
	set_exits 0 compatible "$T/model" "$T/filter"
}

# Files are for whom the user's umask says, and then for whom their modes say; those of bloomctl for whom its directory says.
t_umask()
{
	local mode=640 name

	seq 5 >"$T/list"
	umask 0027
	for mode in 640 600; do
		set_exits 0 build "$T/list" --lines -o "$T/filter"
		set_exits 0 union --lines "$T/list" -o "$T/union"
		for name in filter union; do
			[[ $(stat -c %a "$T/$name") == "$mode" ]] || fail "$name has $(stat -c %a "$T/$name"), not $mode"
			chmod 600 "$T/$name"
		done
	done
}

t_distinct()
{
	printf '192.0.2.1\n192.0.2.1/32\n192.0.2.0/24\n' >"$T/a"
	printf '192.0.2.2\n::ffff:192.0.2.1\n' >"$T/b"
	set_exits 0 distinct "$T/a" "$T/b"
	[[ $(cat "$T/out") == 3 ]]
	set_exits 0 distinct --lines "$T/a" - <"$T/b"
	[[ $(cat "$T/out") == 5 ]]
	set_exits 0 distinct -j "$T/a"
	json 'd["count"] == 2'
	set_exits 0 distinct "$T/a"
	"$bloomset" distinct "$T/a" >/dev/full 2>"$T/err" && fail "a full disk is no error"
	complains 'cannot write'
}

# All verbs read what `bloomctl import` reads, as the same options say it.
t_reading_options()
{
	local -a words
	local verb

	printf 'name,address\na,192.0.2.1\nb,192.0.2.2\nb,wrong\n' >"$T/table"
	printf '{"list": [{"ip": "192.0.2.1"}, {"ip": "192.0.2.3"}]}' >"$T/json"
	printf 'blocked.example.rpz.example. CNAME .\n' >"$T/zone"
	words=(--column address --where name=b --skip-bad 1)
	for verb in union common once; do
		set_exits 0 $verb "${words[@]}" "$T/table"
		[[ $(cat "$T/out") == 192.0.2.2 ]] || fail "$verb: $(cat "$T/out")"
		set_exits 2 $verb "${words[@]:0:4}" "$T/table"
		complains "'wrong' is not an address"
	done
	printf '%s\n' 192.0.2.0/24,DE 198.51.100.0/24,FR >"$T/places"
	set_exits 0 union --country FR "$T/places"
	[[ $(cat "$T/out") == 198.51.100.0/24 ]] || fail "$(cat "$T/out")"
	echo "{\"192.0.2.0/24\": {\"asn\": \"AS64500\"}, \"2001:db8::/32\": {\"asn\": \"AS1\"}}" |
		python3 "$root/tests/support/mmdbfile.py" "$T/db.mmdb"
	set_exits 0 union --asn 64500,1 "$T/db.mmdb"
	[[ $(sort "$T/out") == $'192.0.2.0/24\n2001:db8::/32' ]] || fail "$(cat "$T/out")"
	set_exits 2 union "$T/db.mmdb"
	complains 'has to be said \(--country, .*asn=AS64500'
	set_exits 0 union --format rpz --zone rpz.example "$T/zone"
	[[ $(cat "$T/out") == =blocked.example ]]
	set_exits 0 build "${words[@]}" "$T/table" -o "$T/filter" -p 1e-9
	set_exits 0 test "$T/filter" 192.0.2.2
	set_exits 1 test "$T/filter" 192.0.2.1
	set_exits 1 test "$T/filter" --only absent --from "$T/json" --json-path 'list[].ip'
	[[ $(cat "$T/out") == $'192.0.2.1\n192.0.2.3' ]]
	set_exits 0 add "$T/filter" --from "$T/json" --json-path 'list[].ip'
	says '2 added'
	set_exits 0 digest "${words[@]}" "$T/table" -p 1e-9 -o "$T/digest"
	set_exits 0 missing "$T/digest" "$T/json" --json-path 'list[].ip'
	[[ $(cat "$T/out") == $'192.0.2.1\n192.0.2.3' ]]
	set_exits 0 build --list-format rpz --zone rpz.example "$T/zone" -o "$T/names" -p 1e-9
	set_exits 0 test "$T/names" =blocked.example
	# Lines have none of that.
	set_exits 0 build --lines "$T/table" -o "$T/filter"
	while read -ra words; do
		set_exits 2 "${words[@]//@/$T/}"
		complains 'have no format'
	done <<-END
		build --lines --column 1 @table -o @none
		digest --lines --skip-bad 1 @table -o @none
		test @filter --from @table --column 1
		add @filter --from @table --column 1
		del @filter --from @table --column 1
		missing @filter @table --column 1
	END
}

# JSON, or a line that says why not.
t_json()
{
	local verb target

	seq 5 >"$T/list"
	for verb in union common once diff; do
		refuses_json $verb --lines "$T/list" "$T/list"
		for target in --count "-o $T/result"; do
			# shellcheck disable=SC2086
			set_exits 0 -j $verb --lines "$T/list" "$T/list" $target
			json "d['schema'] == 1 and d['count'] == (5 if '$verb' in ('union', 'common') else 0)"
		done
	done
	set_exits 0 -j digest --lines "$T/list" -o "$T/digest"
	json 'd["schema"] == 1 and d["put"] == 5 and d["lacking"] == 5 and 0 < d["expected_rate"] < 0.2'
	json "d['bytes'] == $(stat -c %s "$T/digest")"
	set_exits 0 -j merge "$T/digest" "$T/digest" -o "$T/merged"
	json 'd["schema"] == 1 and 0 < d["set_bits"] < d["bits"]'
	refuses_json missing "$T/digest" "$T/list"
	set_exits 0 -j clear "$T/merged"
	json 'd["schema"] == 1 and d["cleared"]'
}

refuses_json()
{
	set_exits 2 -j "$@"
	cp "$T/err" "$T/out"
	json '"leave out --json" in d["error"]["message"]'
}

# closed_early ARGUMENT...: somebody reads a byte of what bloomset prints, and goes.
closed_early()
{
	local -a codes

	set +e
	"$bloomset" "$@" 2>"$T/err" | head -c 1 >/dev/null
	codes=("${PIPESTATUS[@]}")
	set -e
	[[ ${codes[0]} -eq 141 && ! -s $T/err ]] || fail "$*: ${codes[0]}: $(cat "$T/err")"
}

# Then there is no message and no more work, and the code is that of a program that ended by SIGPIPE.
t_closed_early()
{
	seq 500000 >"$T/list"
	set_exits 0 build --lines "$T/list" -o "$T/filter"
	set_exits 0 digest --lines "$T/list" -o "$T/digest"
	cd "$T"
	closed_early build --lines "$T/list" -o -
	closed_early digest --lines "$T/list" -o -
	closed_early merge "$T/filter" "$T/filter" -o -
	closed_early union --lines "$T/list" -o -
	[[ ! -e - ]] || fail "a file has the name -"
	# These would never end.
	closed_early test "$T/filter" --from <(yes 1)
	closed_early missing "$T/digest" <(yes lacking)
}

# on_terminal STEP... -- ARGUMENT...: bloomset there, with the steps of terminal.py; the last screen is in $T/out.
on_terminal()
{
	local steps=()

	while [[ $1 != -- ]]; do
		steps+=("$1")
		shift
	done
	shift
	python3 "$root/tests/e2e/terminal.py" xterm 200x10 "${steps[@]}" -- "$bloomset" "$@" >"$T/out" ||
		fail "$(tail -n 1 "$T/out"): $(head -n -1 "$T/out")"
}

# Who waits for it learns what it needs before it begins; a pipe stays silent.
t_needs()
{
	local verb

	seq -f 'line %.0f' 1000 >"$T/a"
	for verb in common once diff union; do
		on_terminal ends:0 -- "$verb" --lines --count --memory 20M "$T/a" "$T/a"
		says '^bloomset: takes up to 20.0 MiB of memory, 2 passes over files with 17.4 KiB, and up to 0 B in /'
		set_exits 0 "$verb" --lines "$T/a" "$T/a"
		[[ ! -s $T/err ]] || fail "it says: $(cat "$T/err")"
		on_terminal ends:0 -- -q "$verb" --lines --count "$T/a" "$T/a"
		grep -q passes "$T/out" && fail "-q says: $(cat "$T/out")"
	done
	on_terminal ends:0 -- distinct --lines --approximate --memory 20M "$T/a"
	says 'takes up to 20.0 MiB of memory, 1 pass over files with 8.7 KiB, and up to 0 B in /'
	on_terminal ends:0 -- distinct --lines --memory 20M "$T/a"
	says 'takes up to 20.0 MiB of memory, 1 pass over files with'
	seq -f 'line %.0f' 3000000 >"$T/large"
	on_terminal ends:0 -- union --lines --count --memory 16M "$T/large" "$T/a"
	says 'takes up to 16.0 MiB of memory, 4 passes over files with 7[0-9.]+ MiB, and up to 3[0-9.]+ MiB in /'
}

# Progress, while what comes by a pipe is read; it is gone at the end.
t_progress()
{
	mkfifo "$T/pipe"
	on_terminal "run:(yes | head -c 140000000; until [[ -e $T/go ]]; do sleep 0.05; done) >$T/pipe &" \
		'see:1 pass over files with 0 B and pipes of unknown size, and up to 0 B and what comes by pipes in /' \
		'see:pipe: 1[0-9]+$' "run:touch $T/go" 'lacks:pipe: ' ends:0 -- union --lines --count "$T/pipe"
	says '^1$'
}

run_tests
