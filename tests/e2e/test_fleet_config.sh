#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What bloomd refuses of the section [fleet] before it starts: one line that names the file and the line.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

# refuses PATTERN: the configuration of host a is, by one line.
refuses()
{
	! "$bloomd" --config "$T/a/bloomd.conf" --check >"$T/out" 2>"$T/err" || fail "taken: $(cat "$T/a/bloomd.conf")"
	one_line
	complains "$1"
}

takes() { "$bloomd" --config "$T/a/bloomd.conf" --check 2>"$T/err" || fail "refused: $(cat "$T/err")"; }

# key TEXT: of which the file with the secret is, and what is made of it.
key()
{
	rm -rf "$T/key"
	(umask 077 && printf '%b' "$1" >"$T/key")
	configure_host a "key-file = $T/key"
}

t_key_files()
{
	key 0123456789abcdef
	takes
	key '0123456789abcdef\n'
	takes
	key '0123456789abcde\n\n\n'
	refuses "bloomd.conf:6: $T/key has no secret of 16 to 4095 bytes"
	key ''
	refuses "bloomd.conf:6: $T/key has no secret of 16 to 4095 bytes"
	key "$(printf '%04096d' 0)"
	refuses "bloomd.conf:6: $T/key has no secret of 16 to 4095 bytes"
	key 0123456789abcdef
	chmod 604 "$T/key"
	refuses "bloomd.conf:6: everybody can read $T/key: chmod o-r"
	rm "$T/key"
	refuses "bloomd.conf:6: cannot use $T/key: No such file"
	mkdir "$T/key"
	refuses "bloomd.conf:6: $T/key is not a file"
	rmdir "$T/key"
	mkfifo "$T/key"
	refuses "bloomd.conf:6: $T/key is not a file"
}

# A secret that went bad while bloomd runs changes nothing.
t_a_key_that_goes_bad()
{
	redis
	key 0123456789abcdef
	up a
	patience=4
	wait_for "a in the fleet" reads a
	: >"$T/key"
	kill -HUP "${host_pid[a]}"
	wait_for "the refusal" grep -q 'has no secret of 16 to 4095 bytes' "$T/a/log"
	of a -q add 192.0.2.1
	wait_for "it in the log" log_is 2
}

log_is() { [[ $(log_length) -eq $1 ]]; }

# only_follows LIST [LINE...]: host a follows it, and has these lines before the section.
only_follows()
{
	configure_host a
	{
		[[ $# -eq 1 ]] || printf '%s\n' "${@:2}"
		printf '%s\n' '[fleet]' "url = unix:$T/redis.sock" 'name = test' 'publish = own' "follow = own $1"
	} >"$T/a/bloomd.conf"
}

t_nothing_fills_what_is_only_followed()
{
	only_follows bad '[feed bad]' 'url = file:///dev/null'
	refuses "a/bloomd.conf:7: \[fleet\] follows the list bad and does not publish it, but \[feed bad\] fills it"
	only_follows bad '[feed other]' 'url = file:///dev/null' 'list = bad'
	refuses 'a/bloomd.conf:8: .*, but \[feed other\] fills it'
	only_follows bad '[feed bad]' 'url = file:///dev/null' 'list = other'
	takes
	only_follows bad '[feed own]' 'url = file:///dev/null'
	takes
	echo 0123456789abcdef >"$T/bouncer"
	chmod 600 "$T/bouncer"
	only_follows crowdsec '[crowdsec]' 'url = http://127.0.0.1:8080/' "key-file = $T/bouncer"
	refuses 'a/bloomd.conf:8: .*, but \[crowdsec\] fills it'
	only_follows bad '[crowdsec]' 'url = http://127.0.0.1:8080/' "key-file = $T/bouncer" 'list = bad'
	refuses 'a/bloomd.conf:9: .*, but \[crowdsec\] fills it'
	only_follows bad '[crowdsec]' 'url = http://127.0.0.1:8080/' "key-file = $T/bouncer"
	takes
	# The section of another file.
	only_follows bad
	mkdir "$T/a/bloomd.conf.d"
	printf '%s\n' '[feed bad]' 'url = file:///dev/null' >"$T/a/bloomd.conf.d/feeds.conf"
	refuses 'a/bloomd.conf:5: .*, but \[feed bad\] fills it'
	# bloomd does not start with it.
	! "$bloomd" --config "$T/a/bloomd.conf" --state "$T/a/state" --pin "$pins" --run "$T/a/run" 2>"$T/err" ||
		fail "it starts"
	complains 'a/bloomd.conf:5: .*, but \[feed bad\] fills it'
}

run_tests
