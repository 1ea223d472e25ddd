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

# loads_files LINE...: the configuration of a host that follows by files.
loads_files() { printf '%s\n' '[fleet]' 'name = test' 'follow = default' "$@" >"$T/a/bloomd.conf"; }

t_lines()
{
	local line

	new_key
	mkdir "$T/files"
	while read -r line; do
		configure_host a "$line"
		refuses ''
	done <<-END
		url = http://x
		url = redis://10.0.0.1
		name = a b
		publish = allow
		follow =
		password-file = /none
		snapshot-every = 0
		cert = /dev/null
		user = x
		colour = red
		snapshot-dir = $T/files
	END
	for line in redis:// redis://a:0 redis://a:65536 redis://a:1x redis://[::1 redis://a/0 http://a; do
		configure_host a "cleartext = yes" "url = $line"
		refuses "'${line//[/\\[}' is no server of a fleet"
	done
	for line in /none "$T/key" relative; do
		configure_host a "key-file = $T/key" "snapshot-dir = $line"
		refuses ''
	done
	while read -r line; do
		loads_files "key-file = $T/key" 'snapshot-url = https://feeds.example/fleet' "$line"
		refuses ''
	done <<-END
		snapshot-url = http://feeds.example/fleet
		snapshot-url = https://
		snapshot-url = https://user@feeds.example/
		snapshot-url = https://feeds.example/?a
		url = unix:/redis.sock
		publish = default
		user = x
		snapshot-dir = $T/files
		load-every = 0
		max-age = never
	END
	loads_files 'snapshot-url = https://feeds.example'
	refuses 'has snapshot-url, but no key-file'
}

# key TEXT: of which the file with the secret is, and what is made of it.
key()
{
	rm -rf "$T/key"
	(umask 077 && printf '%b' "$1" >"$T/key")
	configure_host a "key-file = $T/key"
}

t_key_files()
{
	local text

	for text in 0123456789abcdef '0123456789abcdef\n'; do
		key "$text"
		takes
	done
	for text in '0123456789abcde\n\n\n' '' "$(printf '%04096d' 0)"; do
		key "$text"
		refuses "bloomd.conf:6: $T/key has no secret of 16 to 4095 bytes"
	done
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

# follows LIST [LINE...]: host a does, and does not publish it; and it has these lines before the section.
follows()
{
	mkdir -p "$T/a"
	{
		[[ $# -eq 1 ]] || printf '%s\n' "${@:2}"
		printf '%s\n' '[fleet]' "url = unix:$T/redis.sock" 'name = test' 'publish = own' "follow = own $1"
	} >"$T/a/bloomd.conf"
}

t_nothing_fills_what_is_only_followed()
{
	local bouncer=('[crowdsec]' 'url = http://127.0.0.1:8080/' "key-file = $T/bouncer")

	(umask 077 && echo 0123456789abcdef >"$T/bouncer")
	follows bad '[feed bad]' 'url = file:///dev/null'
	refuses "a/bloomd.conf:7: \[fleet\] follows the list bad and does not publish it, but \[feed bad\] fills it"
	follows bad '[feed other]' 'url = file:///dev/null' 'list = bad'
	refuses 'a/bloomd.conf:8: .*, but \[feed other\] fills it'
	follows bad '[feed bad]' 'url = file:///dev/null' 'list = other'
	takes
	follows bad '[feed own]' 'url = file:///dev/null'
	takes
	follows crowdsec "${bouncer[@]}"
	refuses 'a/bloomd.conf:8: .*, but \[crowdsec\] fills it'
	follows bad "${bouncer[@]}" 'list = bad'
	refuses 'a/bloomd.conf:9: .*, but \[crowdsec\] fills it'
	follows bad "${bouncer[@]}"
	takes
	# The section of another file.
	follows bad
	mkdir "$T/a/bloomd.conf.d"
	printf '%s\n' '[feed bad]' 'url = file:///dev/null' >"$T/a/bloomd.conf.d/feeds.conf"
	refuses 'a/bloomd.conf:5: .*, but \[feed bad\] fills it'
	# bloomd does not start with it.
	! "$bloomd" --config "$T/a/bloomd.conf" --state "$T/a/state" --pin "$pins" --run "$T/a/run" 2>"$T/err" ||
		fail "it starts"
	complains 'a/bloomd.conf:5: .*, but \[feed bad\] fills it'
}

run_tests
