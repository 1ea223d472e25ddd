#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What bloomd's configuration may say: each section with its keys, and how lines are read.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154,SC2119
. "$(dirname "$0")/lib.sh"

# check FILE: as `bloomd --check` does; the exit code is $code, what it says in $T/err.
check()
{
	code=0
	"$bloomd" --config "$1" --check >"$T/out" 2>"$T/err" || code=$?
}

# refuses TEXT PATTERN: this text is no configuration, as one line says.
refuses()
{
	printf '%b\n' "$1" >"$T/wrong.conf"
	check "$T/wrong.conf"
	[[ $code -eq 2 ]] || fail "$1: ends with $code"
	one_line
	complains "$2"
}

# takes TEXT
takes()
{
	printf '%b\n' "$1" >"$T/right.conf"
	check "$T/right.conf"
	[[ $code -eq 0 ]] || fail "$1: $(cat "$T/err")"
}

t_what_is_refused()
{
	local text words section

	while IFS='~' read -r text words; do
		case $text in
		"[feed] "*) text="[feed a]\nurl = file:///list\n${text#* }" words=${words:-wrong.conf:3: } ;;
		"["*"] "*) text="${text%%] *}]\n${text#*] }" ;;
		esac
		refuses "$text" "${words:-wrong.conf:2: }"
	done <<-'END'
		listen = 127.0.0.1:1~wrong.conf:1: 
		# a comment\n[nonsense]\nkey = 1~wrong.conf:3: 
		[http] lisen = 127.0.0.1:1
		[http] listen
		[http]\nno value\nlisen = 1
		[http] listen = 9101
		[http] listen = :9101
		[http] listen = localhost:9101
		[http] listen = 127.0.0.1:
		[http] listen = 127.0.0.1:0
		[http] listen = 127.0.0.1:65536
		[http] listen = 127.0.0.1:x
		[http] listen = ::1:9101
		[http] listen = unix:relative
		[http] listen = unix:
		[http] listen = [::1]
		[http] listen = 127.0.0.1:9101x
		[api] enabled = maybe
		[api] query-mode = 0999
		[api] query-mode = 0777
		[api] clients = 0
		[api] clients = many
		[api] clients = -1
		[api] allow = 1
		[api] listen = 1
		[api] group = nobody-has-this~wrong.conf:2: there is no group 'nobody-has-this'
		[api] query-group = nobody-has-this~wrong.conf:2: there is no group 'nobody-has-this'
		[postfix] socketmap = xdp-bloom/socketmap
		[postfix] policy = /
		[postfix] policy = /1234567890123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890/policy
		[postfix] group = nobody-has-this
		[postfix] mode = 0777
		[postfix] listed = OK
		[postfix] listed = REJEKT
		[postfix] listed = 250 fine
		[postfix] listed = 550
		[postfix] listed = PREPEND
		[postfix] listed = PREPEND without a colon
		[postfix] counted = REJECT by %x
		[postfix] counted = REJECT 100%
		[postfix] unavailable = wait
		[postfix] senders = a/b
		[postfix] senders = bad, allow
		[postfix] senders = ,
		[postfix] socketmap = /a/b\npolicy = /a/b~a socket each
		[postfix] senders = bad~senders is for the policy
		[feed]\nurl = https://x/~wrong.conf:2: unknown section \[feed\]
		[feed a] url = ftp://x/~wrong.conf:2: a URL begins with
		[feed a] url = file://host/x~wrong.conf:2: a URL begins with
		[feed ../x] url = https://x/~wrong.conf:2: invalid feed name '\.\./x'
		[feed a] every = 1h~wrong.conf: \[feed a\] has no url, and no file
		[feed] file = /a/b~wrong.conf: \[feed a\]: it has url and file: only one can be
		[feed b] file = a~wrong.conf: \[feed b\]: not the whole path of a file: 'a'
		[feed] country = Germany~wrong.conf:3: a country is its code of two letters
		[feed] not-country = EU~wrong.conf:3: a country is its code of two letters
		[feed] continent = DE~wrong.conf:3: a continent is AF
		[feed] asn = AS~wrong.conf:3: the number of an AS is
		[feed] mmdb-path = a..b~wrong.conf:3: a path has keys
		[feed] country = DE\nnot-country = AT~wrong.conf: \[feed a\]: these countries, or all but some
		[feed] country = DE\nformat = plain~\[feed a\]: the format plain does not say that
		[feed] header-file = /etc/passwd~wrong.conf:3: others than root can read /etc/passwd
		[feed] user-file = /nowhere/user~wrong.conf:3: cannot use /nowhere/user
		[feed] [feed b]\nurl = https://x/\nlist = a~fill the same list
		[feed] ca = /nowhere/ca.crt
		[feed] ca = /etc
		[feed] every = 1y~wrong.conf:3: not a whole number of seconds
		[feed] every = 15M~wrong.conf:3: not a whole number of seconds
		[feed] max-share = 5~wrong.conf:3: not a share
		[feed] format = x~wrong.conf:3: unknown list format 'x'
		[feed] canary = no.good/~wrong.conf:3: 'no.good/' is not
		[feed] on-removal = drop~wrong.conf:3: on-removal takes
		[feed] list = allow~the allowlist's own list
		[feed] evry = 1h~wrong.conf:3: unknown key 'evry'
		[feed] scope = tcp/0~wrong.conf:3: 'tcp/0' is not a service
		[feed] column = 0~columns have numbers from 1 to 999
		[feed] column = a..~a column is a number
		[feed] where = DE~a condition is COLUMN=VALUE
		[feed] where = 2=DE~\[feed a\]: conditions are for files with columns with the key column
		[feed] json-path = a[0]~is not a path such as
		[feed] skip-bad = x~whole number
		[feed] column = 1\njson-path = a~\[feed a\]: a file has columns, or it is JSON
		[feed] column = 1\nformat = plain~\[feed a\]: the format plain has no columns
		[feed] set = a\nformat = plain~\[feed a\]: the format plain has no sets to choose
		[feed] below = yes\nformat = adblock~\[feed a\]: only the format hosts has names alone
		[feed] skip-bad = 1\nformat = ipset~\[feed a\]: in the format ipset no line can be left out
	END
	# A secret goes by https alone.
	install -m 0600 /dev/null "$T/private"
	refuses "[feed a]\nurl = http://x/\nheader-file = $T/private" 'wrong.conf: \[feed a\] says who asks, which only https'
	refuses "[feed a]\nfile = /list\nuser-file = $T/private" 'wrong.conf: \[feed a\] says who asks, which only https'
	takes "[feed a]\nurl = https://x/\nheader-file = $T/private\nuser-file = $T/private"
	while read -r section text; do
		takes "$section\n$text"
	done <<-'END'
		[http]
		[http] listen = 127.0.0.1:9101
		[http] listen = [::1]:9101
		[http] listen = 0.0.0.0:1
		[http] listen = unix:/run/x.sock
		[postfix] listed = reject
		[postfix] listed = 554 5.7.1 %a by %l, 100%%
		[postfix] counted = PREPEND X-Listed: %l
		[postfix] unavailable = DUNNO
		[postfix] mode = 0666
	END
}

t_files()
{
	takes '[http]'
	mkdir "$T/right.conf.d"
	printf '[http]\nwrong = 1\n' >"$T/right.conf.d/10-more.conf"
	check "$T/right.conf"
	complains "right.conf.d/10-more.conf:2: unknown key 'wrong' in section \[http\]"
	check "$T/missing.conf"
	[[ $code -eq 2 ]] || fail "a missing file: ends with $code"
	complains "missing.conf: no such file"
	check "$T"
	[[ $code -eq 2 ]] || fail "a directory: ends with $code"
	one_line
	complains "$T is a directory"
}

# To inih, an indented line is another value of the key above it, and its buffer has 200 bytes.
t_indented_and_long_lines()
{
	local long

	takes "[feed a]\n  url = file:///list\n\tlist = b\n  # a comment"
	refuses "[feed a]\nurl = file:///list\nlist = b\n  wrong = c" "wrong.conf:4: unknown key 'wrong' in section \[feed a\]"
	printf -v long '%01500d' 0
	takes "[feed a]\nurl = https://feeds.example/$long"
	takes "# $long\n[feed a] \nurl=https://feeds.example/$long ; a comment"
	refuses "[feed a]\nurl = https://feeds.example/$long b" "wrong.conf:2: a URL has no blanks"
	refuses "[feed a]\nkey = $long" "wrong.conf:2: unknown key 'key' in section \[feed a\]"
	refuses "[feed a]\nurl = https://feeds.example/$long$long$long" "wrong.conf:2: a line has more than 4096 bytes"
	refuses "\n[feed $long]\nurl = file:///list" "wrong.conf:2: a line has more than 198 bytes"
	refuses "$long" "wrong.conf:1: a line has more than 198 bytes"
	refuses "[http]\nlisten = $long" "wrong.conf:2: "
	long=${long:0:200}
	mkdir -p "$T/$long/$long"
	echo 45.1.2.3 >"$T/$long/$long/list"
	printf '[feed a]\nurl = file://%s\n' "$T/$long/$long/list" >"$T/bloomd.conf"
	agent
	wait_for "the feed" ctl -q test 45.1.2.3
	agent_ends
}

t_options()
{
	local option code

	! "$bloomd" --confg "$T/right.conf" 2>"$T/err" || fail "it is taken"
	one_line
	complains "^bloomd: unknown option '--confg' \(did you mean '--config'\?\); bloomd --help lists them$"
	for option in --help --version; do
		code=0
		: >"$T/out"
		"$bloomd" $option >/dev/full 2>"$T/err" || code=$?
		[[ $code -eq 3 ]] || fail "$option: ends with $code"
		one_line
		complains "cannot write the answer: No space left"
	done
}

# Whatever prefix it was built for.
t_programs_that_are_missing()
{
	local name directory

	mkdir -p "$T/usr/sbin" "$T/usr/libexec/xdp-bloom"
	cp "$bloomd" "$T/usr/sbin"
	bloomd=$T/usr/sbin/bloomd
	head -c 32 /dev/urandom | base64 >"$T/secret"
	chmod 0600 "$T/secret"
	printf '[fleet]\nurl = unix:%s/redis.sock\nname = test\nfollow = default\nkey-file = %s\n' "$T" "$T/secret" \
		>"$T/bloomd-redis.conf"
	printf '[feed a]\nurl = file:///list\n' >"$T/bloomd-fetch.conf"
	for name in bloomd-fetch bloomd-redis; do
		check "$T/$name.conf"
		[[ $code -eq 3 ]] || fail "without $name: ends with $code: $(cat "$T/err")"
		one_line
		complains "cannot run .*/xdp-bloom/$name, nor is it in $T/usr/sbin or in $T/usr/sbin/\.\./libexec/xdp-bloom: "
		for directory in "$T/usr/libexec/xdp-bloom" "$T/usr/sbin"; do
			cp "$XB_TEST_DIR/bin/$name" "$directory"
			check "$T/$name.conf"
			[[ $code -eq 0 ]] || fail "$name is not found in $directory"
			rm "$directory/$name"
		done
	done
}

# None is on; each alone and all together are right when their lines are uncommented.
t_presets_of_feeds()
{
	local name names presets=$root/packaging/feeds.conf

	check "$presets"
	[[ $code -eq 0 ]] || fail "it is wrong as it is"
	! grep -vE '^(#.*)?$' "$presets" || fail "something is on"
	sed 's/^#\([[a-z]\)/\1/' "$presets" >"$T/on.conf"
	check "$T/on.conf"
	[[ $code -eq 0 ]] || fail "all of them are wrong"
	mapfile -t names < <(sed -n 's/^\[feed \(.*\)\]$/\1/p' "$T/on.conf")
	[[ ${#names[@]} -ge 12 ]] || fail "only ${#names[@]} presets"
	for name in "${names[@]}"; do
		awk -v "name=[feed $name]" '/^\[/ {on = $0 == name} on' "$T/on.conf" >"$T/one.conf"
		check "$T/one.conf"
		[[ $code -eq 0 ]] || fail "preset $name"
		grep -q '^every = ' "$T/one.conf" || fail "preset $name has no period"
		grep -q '^format = ' "$T/one.conf" || fail "preset $name has no format"
		grep -B12 -F "#[feed $name]" "$presets" | contains '^# (Terms:|The same )' || fail "preset $name has no terms"
	done
	sed -i 's/^every = .*/every = daily/' "$T/one.conf"
	check "$T/one.conf"
	[[ $code -eq 2 ]] || fail "a wrong one is right"
}

run_tests
