#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Hosts that may not reach the server of their fleet: one writes its snapshots as files, a web server hands
# them out, and others follow by them. Whatever comes instead of the files, nothing is changed by it.
# waits: more than it computes, for minutes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"
. "$(dirname "$0")/feeds.sh"

# maker [LINE...]: host a, on the server, which has files.
maker()
{
	redis
	new_key
	mkdir -p "$T/files"
	joins a "key-file = $T/key" "snapshot-dir = $T/files" 'snapshot-every = 2s' "$@"
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

# b_follows_a ENTRY...: these b has by the files.
b_follows_a()
{
	maker
	of a -q add "$@"
	web
	follower b
	comes b "$@"
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
	comes b evil.example
	in_fleet b
	[[ $(listing b) == "$(of a list --list default)" ]] || fail "not the same: $(listing b)"
	listing b | contains 'expires .* comment "port scan"' || fail "time or comment is lost: $(listing b)"
	[[ $(field b position) -gt 0 && $(field b connected) == true ]] || fail "$(of b -j fleet)"
	shows b '^  files    of a snapshot made 20' || fail "$(of b fleet)"
	# The chunk of a list that it does not follow is nothing to it.
	[[ $(grep -o 'get /fleet/[^ ]*-[^ ]*' "$T/requests" | sort -u | grep -c -- '-1-') -eq 0 ]] ||
		fail "chunks of others are loaded: $(cat "$T/requests")"
	of a -q del 198.51.100.0/24
	goes b 198.51.100.0/24
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
	snapshot
	[[ $position -eq $(field b position) ]] || fail "something has changed"
	! grep -q 'cannot make a snapshot' "$T/a/log" || fail "$(cat "$T/a/log")"
	# Over a restart, it goes on where it was.
	down b
	of a -q add 192.0.2.77
	up b
	comes b 192.0.2.77
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

# There is a newer snapshot, which deletes all but one, and adds one: taking a part of it would show. What else becomes of a
# file that is fetched, e2e/feeds asks.
t_files_that_are_not_what_they_should_be()
{
	local what

	b_follows_a 192.0.2.1 192.0.2.2 192.0.2.3
	in_fleet b
	kept=$(listing b)
	mkdir "$T/old"
	cp "$T"/files/* "$T/old"
	mode 500
	of a -q del 192.0.2.1 192.0.2.2
	of a -q add 192.0.2.4 192.0.2.5
	# Perhaps in one entry of the log.
	published a
	wait_for "a later snapshot" is_filed "$(log_end)"
	down a
	for what in 500:http-error "manifest cut:truncated" "manifest short:damaged" "manifest flipped:damaged" \
		"manifest missing:http-error" "manifest unframed:unframed" "manifest to-http:redirect" "manifest endless:too-large" \
		"manifest closed:no-connection" wrong-ca:tls "chunk cut:truncated" "chunk short:damaged" "chunk longer:damaged" \
		"chunk flipped:damaged" "chunk missing:http-error" "chunk endless:too-large"; do
		refuses "${what%:*}" "${what#*:}"
	done
	mode good
	comes b 192.0.2.5
	in_fleet b
	[[ $(entries b) -eq 3 ]] || fail "it is: $(listing b)"
	says_log b 'snapshots are loaded again'
	# What a cache still has takes nothing back.
	kept=$(listing b)
	refuses old older
	mode good
	in_fleet b
	keeps "an older one"
}

# is_filed POSITION: the files have a snapshot that stands there, or behind that.
is_filed() { snapshot && [[ $position -ge $1 && $(od -An -v -tx1 -j 1 -N 16 "$T/files/manifest" | tr -d ' \n') == "$id" ]]; }

# b is held by a snapshot that has the entry of a; the first one may have none.
is_asked() { is_in b held && [[ $(field b message) == *"from 1 to 1 entries"* ]]; }

# b follows a, and has an entry of its own; an operator is asked.
b_is_asked()
{
	maker
	of a -q add 192.0.2.1
	web
	mkdir -p "$T/b"
	of b -q add 192.0.2.2
	follower b
	wait_for "the question" is_asked
}

# A host that had a list of its own does not lose it, nor does it take what is too old.
t_joining()
{
	b_is_asked
	# It stays so while the same snapshot is there, and others that would do the same.
	before=$(metric b held)
	wait_for "another one" has_more b held "$before"
	has b 192.0.2.2 || fail "its own entry is gone"
	of b -q fleet accept
	goes b 192.0.2.2
	comes b 192.0.2.1
	! of b -q fleet verify || fail "it has no server to compare with"
	grep -q 'has no server to compare with' "$T/b/err" || fail "$(cat "$T/b/err")"
	down a
	wait_for "a snapshot of two seconds ago" is_old
	follower c 'max-age = 1s'
	wait_for "the refusal" outcome_is c expired
	says_log c 'fleet: expired: the snapshot was made at 20.*Z; what is listed stays'
	[[ -z $(listing c) ]] || fail "it is taken"
	# A secret of another fleet.
	new_key key2
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

is_old() { [[ $(find "$T/files/manifest" ! -newermt '-2 seconds') ]]; }

# What an operator has seen is renewed before his answer comes, with the same entries in it.
# The answer is at the socket of b.
answer_waits() { in_server ss -Hxl | awk -v path="$T/b/run/control.sock" '$5 == path && $3 > 0 { found = 1 } END { exit !found }'; }

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
	wait_for "the answer" answer_waits
	kill -CONT "${host_pid[b]}"
	wait $! || fail "it is refused: $(cat "$T/b/err")"
	goes b 192.0.2.2
	comes b 192.0.2.1
	[[ $(grep -c 'from 1 to 1 entries: nothing is changed' "$T/b/log") -eq 1 ]] || fail "it asks again: $(cat "$T/b/log")"
}

# are_whole HOST: of each chunk, the size that the manifest says, as far as it can be seen: a new host takes all of it.
are_whole()
{
	follower "$1"
	in_fleet "$1"
	has "$1" 192.0.2.1 || fail "the files are not whole"
}

# b_looks: and takes nothing.
b_looks()
{
	local before

	before=$(metric b unchanged)
	wait_for "b to look" has_more b unchanged "$before"
}

# What is there stays whole.
t_writing_them_fails()
{
	mkdir -p "$T/disk"
	mount -t tmpfs -o size=256k xbt "$T/disk"
	mkdir "$T/disk/files"
	ln -s "$T/disk/files" "$T/files"
	b_follows_a 192.0.2.1
	# No room.
	many 20000
	of a -q import "$T/many"
	says_log a "fleet: cannot write the snapshot as files: $T/files: cannot write .*: No space left on device; those of before stay"
	[[ $(metric a not-written) -gt 0 ]] || fail "no metric"
	[[ ! -e $T/files/.new ]] || fail "a part is left"
	are_whole c
	mount -o remount,size=8m "$T/disk"
	comes b 20.0.78.31
	says_log a 'snapshots are written as files again'
	# The process that writes them is killed between a whole file and its name.
	down a
	XB_FAULT=fleet-file:2 up a "$XB_TEST_DIR/bin/bloomd-fault"
	in_fleet a
	of a -q add 192.0.2.2
	says_log a 'cannot write the snapshot as files: its process was ended; those of before stay'
	[[ -e $T/files/.new ]] || fail "it was not killed there"
	b_looks
	has_not b 192.0.2.2 || fail "a part of it is taken"
	are_whole d
	down a
	up a
	comes b 192.0.2.2
	[[ ! -e $T/files/.new ]] || fail "what was left stays"
	# The server comes back without what it had: the files do not go back.
	down a
	redis_dies
	rm -r "$T/redis"
	redis
	configure_host z "key-file = $T/key" "snapshot-dir = $T/files"
	up z
	says_log z "fleet: the server's snapshot is older than the files in $T/files, which stay; to begin anew, remove them"
	b_looks
	has b 192.0.2.1 || fail "it is gone with the server"
}

run_tests
