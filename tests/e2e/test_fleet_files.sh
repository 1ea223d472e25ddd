#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Hosts that may not reach the server of their fleet: one writes its snapshots as files, a web server hands
# them out, and others follow by them. Whatever comes instead of the files, nothing is changed by it.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"
. "$(dirname "$0")/feeds.sh"

# maker [LINE...]: host a, on the server, which has files.
maker()
{
	redis
	[[ -e $T/key ]] || (umask 077 && openssl rand -hex 32 >"$T/key")
	mkdir -p "$T/files"
	configure_host a "key-file = $T/key" "snapshot-dir = $T/files" 'snapshot-every = 2s' "$@"
	up a
	wait_for "a in the fleet" reads a
	wait_for "the first snapshot" test -e "$T/files/manifest"
}

web()
{
	certificates
	name_server feeds.example
	mode good
	# Not a function: it is killed by its number.
	nsenter --net="/run/netns/$server" "$root/tests/e2e/snapshotserver.py" "$T" 8443 8080 2>"$T/server.err" &
	wait_for "the web server" test -e "$T/serving"
}

# follower HOST [LINE...]: it has nothing but the files.
follower()
{
	mkdir -p "$T/$1"
	printf '%s\n' '[fleet]' 'snapshot-url = https://feeds.example:8443/fleet/' "ca = $T/ca.crt" 'name = test' \
		'follow = default' "key-file = $T/key" 'load-every = 1s' "${@:2}" >"$T/$1/bloomd.conf"
	up "$1"
}

# With an entry that b has by the files.
b_follows_a()
{
	maker
	of a -q add 192.0.2.1
	web
	follower b
	patience=12
	wait_for "the list" has b 192.0.2.1
}

# metric HOST OUTCOME: of its files.
metric() { [[ $(of "$1" metrics) =~ _snapshot_files_total\{outcome=\"$2\"\}\ ([0-9]+) ]] && echo "${BASH_REMATCH[1]}" || echo 0; }
has_more() { [[ $(metric "$1" "$2") -gt $3 ]]; }

outcome_is() { [[ $(of "$1" -j fleet) == *"\"outcome\":\"$2\""* ]]; }

t_a_host_without_the_server()
{
	maker 'publish = default other' 'follow = default other'
	of a -q add 192.0.2.1 --comment "port scan" --timeout 3000
	of a -q add 198.51.100.0/24 evil.example 2001:db8::/32
	of a -q add 203.0.113.1 --list other
	web
	follower b
	patience=12
	wait_for "the list" has b evil.example
	wait_for "b in the fleet" reads b
	[[ $(listing b) == "$(of a list --list default)" ]] || fail "not the same: $(listing b)"
	listing b | contains 'expires .* comment "port scan"' || fail "time or comment is lost: $(listing b)"
	[[ $(field b position) -gt 0 && $(field b connected) == true ]] || fail "$(of b -j fleet)"
	of b fleet | contains '^  files    of a snapshot made 20' || fail "$(of b fleet)"
	# The chunk of a list that it does not follow is nothing to it.
	[[ $(grep -o 'get /fleet/[^ ]*-[^ ]*' "$T/requests" | sort -u | grep -c -- '-1-') -eq 0 ]] ||
		fail "chunks of others are loaded: $(cat "$T/requests")"
	of a -q del 198.51.100.0/24
	wait_for "what went" has_not b 198.51.100.0/24
	has b 192.0.2.1 || fail "the rest is gone, too"
	# It cannot change what comes from elsewhere.
	! of b -q add 192.0.2.9 || fail "it changes a list of the fleet"
	# What is there already is not loaded again.
	before=$(metric b unchanged)
	wait_for "a 304" has_more b unchanged "$before"
	grep -q '/fleet/manifest .*if-none-match: "' "$T/requests" || fail "it does not say what it has"
	# Only what somebody may still load is kept: this snapshot, and the one before.
	wait_for "the end of the chunks of older ones" are_of_two
	[[ $(find "$T/files" ! -perm 644 -type f) == "" ]] || fail "not everybody can read them"
	# It is renewed, although nothing changes.
	cp "$T/files/manifest" "$T/manifest"
	wait_for "another one" is_another
	[[ $(position) -eq $(field b position) ]] || fail "something has changed"
	! grep -q 'cannot make a snapshot' "$T/a/log" || fail "$(cat "$T/a/log")"
	# Over a restart, it goes on where it was.
	down b
	of a -q add 192.0.2.77
	up b
	wait_for "what came meanwhile" has b 192.0.2.77
	says_log b 'resynced \(newer\): 1 entries added'
}

are_of_two() { [[ $(find "$T/files" -name '*-*' -printf '%f\n' | cut -c 1-32 | sort -u | wc -l) -le 2 ]]; }
is_another() { ! cmp -s "$T/files/manifest" "$T/manifest"; }

# What the list has, however that is.
keeps() { [[ $(listing b) == "$kept" ]] || fail "after $1 the list is: $(listing b)"; }

says_why() { [[ $(of b fleet) == "test: "*": $1: "* ]]; }

# refuses MODE OUTCOME: these answers change nothing.
refuses()
{
	local before

	before=$(metric b "$2")
	mode "$1"
	wait_for "$2 after $1 ($(field b state), $(field b outcome): $(field b message))" has_more b "$2" "$before"
	keeps "$1"
	wait_for "the message after $1 ($(field b message))" says_why "$2"
	says_log b "fleet: $2: .*; what is listed stays"
}

# There is a newer snapshot, which deletes all but one, and adds one: taking a part of it would show.
t_files_that_are_not_what_they_should_be()
{
	local what

	maker
	of a -q add 192.0.2.1 192.0.2.2 192.0.2.3 --timeout 86000
	web
	follower b
	patience=12
	wait_for "the list" has b 192.0.2.3
	wait_for "b in the fleet" reads b
	kept=$(listing b)
	mkdir "$T/old"
	cp "$T"/files/* "$T/old"
	mode 500
	of a -q del 192.0.2.1 192.0.2.2
	of a -q add 192.0.2.4 192.0.2.5
	# Perhaps in one entry of the log.
	wait_for "what a publishes" outbox_is a 0
	wait_for "a later snapshot" is_filed "$(log_end)"
	down a
	refuses 500 http-error
	for what in "manifest cut:truncated" "manifest short:damaged" "manifest empty:damaged" "manifest longer:damaged" \
		"manifest flipped:damaged" "manifest missing:http-error" "manifest page:damaged" "manifest down:http-error" \
		"manifest unframed:unframed" "manifest to-http:redirect" "manifest endless:too-large" \
		"manifest closed:no-connection" "manifest garbage:no-connection" "wrong-ca:tls" "wrong-name:tls" \
		"chunk cut:truncated" "chunk short:damaged" "chunk empty:damaged" "chunk longer:damaged" \
		"chunk flipped:damaged" "chunk missing:http-error" "chunk gone:http-error" \
		"chunk page:damaged" "chunk down:http-error" "chunk endless:too-large" "chunk closed:no-connection"; do
		refuses "${what%:*}" "${what#*:}"
	done
	mode good
	wait_for "what is whole" has b 192.0.2.5
	wait_for "b in the fleet" reads b
	[[ $(listing b | wc -l) -eq 3 ]] || fail "it is: $(listing b)"
	says_log b 'snapshots are loaded again'
	# What a cache still has takes nothing back.
	kept=$(listing b)
	refuses old older
	mode good
	wait_for "b in the fleet" reads b
	keeps "an older one"
}

# Of the manifest there.
position()
{
	python3 - "$T/files/manifest" <<-'END'
	import sys
	data = open(sys.argv[1], "rb").read()

	def number(at):
	    shift = value = 0
	    while True:
	        value |= (data[at] & 127) << shift
	        shift, at = shift + 7, at + 1
	        if data[at - 1] < 128:
	            return value, at
	at = number(number(1 + 16 + 16)[1])[1] + 16 # behind version, id, maker, time, term and epoch
	print(number(at)[0])
	END
}
is_filed() { [[ $(position) -ge $1 ]]; }

t_what_would_empty_a_list_waits()
{
	maker
	of a -q add 192.0.2.1 192.0.2.2
	web
	follower b
	patience=12
	wait_for "the list" has b 192.0.2.2
	of a -q del 192.0.2.1 192.0.2.2
	wait_for "the question" is_in b held
	has b 192.0.2.1 || fail "it is emptied"
	# It stays so while the same snapshot is there, and others that would do the same.
	before=$(metric b held)
	wait_for "another one" has_more b held "$before"
	has b 192.0.2.2 || fail "it is emptied"
	of b -q fleet accept
	wait_for "the answer" has_not b 192.0.2.1
	wait_for "b in the fleet" reads b
	! of b -q fleet verify || fail "it has no server to compare with"
	grep -q 'has no server to compare with' "$T/b/err" || fail "$(cat "$T/b/err")"
	[[ -z $(listing b) ]] || fail "something stays: $(listing b)"
}

# b is held by a snapshot that has the entry of a; the first one may have none.
is_asked() { is_in b held && [[ $(field b message) == *"from 1 to 1 entries"* ]]; }

# b follows a, and has an entry of its own; an operator is asked.
b_is_asked()
{
	maker
	of a -q add 192.0.2.1
	web
	patience=12
	mkdir -p "$T/b"
	of b -q add 192.0.2.2
	follower b
	wait_for "the question" is_asked
}

# A host that had a list of its own does not lose it, nor does it take what is too old.
t_joining()
{
	b_is_asked
	has b 192.0.2.2 || fail "its own entry is gone"
	of b -q fleet accept
	wait_for "the answer" has_not b 192.0.2.2
	wait_for "the list" has b 192.0.2.1
	down a
	sleep 1.2
	follower c 'max-age = 1s'
	wait_for "the refusal" outcome_is c expired
	says_log c 'fleet: expired: the snapshot was made at 20.*Z; what is listed stays'
	[[ -z $(listing c) ]] || fail "it is taken"
	# A secret of another fleet.
	(umask 077 && openssl rand -hex 32 >"$T/key2")
	follower d "key-file = $T/key2"
	wait_for "the refusal" outcome_is d damaged
	says_log d 'of a fleet with another key'
	[[ -z $(listing d) ]] || fail "it is taken"
	[[ $(of b metrics | grep -c '^xdp_bloom_fleet_snapshot_timestamp_seconds{fleet="test"} [1-9]') -eq 1 ]] ||
		fail "no time: $(of b metrics | grep fleet)"
	# Nothing there at all.
	rm "$T/files/manifest"
	wait_for "the refusal" outcome_is b http-error
	has b 192.0.2.1 || fail "it is gone with the files"
}

# What an operator has seen is renewed before his answer comes, with the same entries in it.
t_an_answer_to_a_snapshot_that_was_renewed()
{
	b_is_asked
	# Nobody sees the renewed one before the answer.
	kill -STOP "${host_pid[b]}"
	cp "$T/files/manifest" "$T/manifest"
	wait_for "another one" is_another
	cp "$T/files/manifest" "$T/manifest"
	wait_for "another one" is_another
	of b -q fleet accept &
	kill -CONT "${host_pid[b]}"
	wait $! || fail "it is refused"
	wait_for "the answer" has_not b 192.0.2.2
	wait_for "the list" has b 192.0.2.1
	[[ $(grep -c 'from 1 to 1 entries: nothing is changed' "$T/b/log") -eq 1 ]] || fail "it asks again: $(cat "$T/b/log")"
}

# No room for the files: what is there stays whole.
t_the_disk_of_the_files_is_full()
{
	mkdir -p "$T/disk"
	mount -t tmpfs -o size=256k xbt "$T/disk"
	mkdir "$T/disk/files"
	ln -s "$T/disk/files" "$T/files"
	b_follows_a
	python3 -c '
for i in range(20000):
    print("172.16.%d.%d" % (i >> 8, i & 255))' >"$T/list"
	of a -q import "$T/list" --include-bogons
	wait_for "the complaint" grep -q "fleet: cannot write the snapshot as files: $T/files: cannot write .*: No space left on device; those of before stay" "$T/a/log"
	[[ $(metric a not-written) -gt 0 ]] || fail "no metric"
	[[ ! -e $T/files/.new ]] || fail "a part is left"
	is_whole || fail "what is there is not whole"
	mount -o remount,size=8m "$T/disk"
	wait_for "the rest" has b 172.16.78.31
	wait_for "the end of it" grep -q 'snapshots are written as files again' "$T/a/log"
}

# Of each chunk, the size that the manifest says, as far as it can be seen: a new host takes all of it.
is_whole()
{
	follower e
	(wait_for "e" reads e) && has e 192.0.2.1
}

# The process that writes the files is killed between a whole file and its name.
t_killed_while_it_writes()
{
	b_follows_a
	down a
	XB_FAULT=fleet-file:2 up a "$XB_TEST_DIR/bin/bloomd-fault"
	wait_for "a in the fleet" reads a
	of a -q add 192.0.2.2
	wait_for "its end" grep -q 'cannot write the snapshot as files: its process was ended; those of before stay' "$T/a/log"
	[[ -e $T/files/.new ]] || fail "it was not killed there"
	before=$(metric b unchanged)
	wait_for "b to look" has_more b unchanged "$before"
	has_not b 192.0.2.2 || fail "a part of it is taken"
	is_whole || fail "what is there is not whole"
	down a
	up a
	wait_for "the next" has b 192.0.2.2
	[[ ! -e $T/files/.new ]] || fail "what was left stays"
}

# The server comes back without what it had: the files do not go back.
t_the_server_is_older_than_the_files()
{
	b_follows_a
	down a
	redis_dies
	rm -r "$T/redis"
	redis
	configure_host z "key-file = $T/key" "snapshot-dir = $T/files"
	up z
	wait_for "what is wrong" grep -q "fleet: the server's snapshot is older than the files in $T/files, which stay; to begin anew, remove them" "$T/z/log"
	has b 192.0.2.1 || fail "it is gone with the server"
	before=$(metric b unchanged)
	wait_for "b to look" has_more b unchanged "$before"
	has b 192.0.2.1 || fail "it is gone with the server"
}

t_what_is_wrong_with_the_configuration()
{
	mkdir -p "$T/b" "$T/files"
	(umask 077 && openssl rand -hex 32 >"$T/key")
	while read -r line; do
		printf '%s\n' '[fleet]' 'name = test' 'follow = default' "key-file = $T/key" \
			'snapshot-url = https://feeds.example/fleet' "$line" >"$T/b/bloomd.conf"
		! "$bloomd" --config "$T/b/bloomd.conf" --check 2>"$T/err" || fail "$line is taken"
		[[ $(wc -l <"$T/err") -eq 1 ]] || fail "$line: $(cat "$T/err")"
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
	printf '%s\n' '[fleet]' 'name = test' 'follow = default' 'snapshot-url = https://feeds.example' >"$T/b/bloomd.conf"
	! "$bloomd" --config "$T/b/bloomd.conf" --check 2>"$T/err" || fail "it needs no key"
	grep -q 'has snapshot-url, but no key-file' "$T/err" || fail "$(cat "$T/err")"
	for line in /none "$T/key" relative; do
		configure_host a "key-file = $T/key" "snapshot-dir = $line"
		! "$bloomd" --config "$T/a/bloomd.conf" --check 2>"$T/err" || fail "$line is taken"
	done
	configure_host a "snapshot-dir = $T/files"
	! "$bloomd" --config "$T/a/bloomd.conf" --check 2>"$T/err" || fail "it needs no key"
}

run_tests
