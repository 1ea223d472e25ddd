#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The program that has the connection to a fleet's server: how it ends, how it is replaced, and what somebody can do who
# has taken it over.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2030,SC2031,SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"
# shellcheck source=taken.sh
. "$(dirname "$0")/taken.sh"

has_connections() { [[ $(connections "$1" | wc -l) -eq $2 ]]; }
is_gone() { ! kill -0 "$1" 2>/dev/null; }
comes() { (patience=$((8 * patience)) && wait_for "$2 on $1" has "$1" "$2") || fail "$(field "$1" message): $(cat "$T/$1/log")"; }

t_connections_that_are_killed()
{
	local reader

	fleet a b
	wait_for "two connections" has_connections b 2
	reader=$(connections b | sed -n 1p)
	kill -KILL "$reader"
	wait_for "the end of it" grep -q 'fleet: failed: bloomd-redis ended with signal 9; what is listed stays' "$T/b/log"
	of a -q add 192.0.2.1
	comes b 192.0.2.1
	# That of the writer.
	wait_for "two connections" has_connections b 2
	kill -SEGV "$(connections b | tail -n 1)"
	of b -q add 192.0.2.2
	comes a 192.0.2.2
	# It does nothing any more.
	wait_for "two connections" has_connections b 2
	reader=$(connections b | sed -n 1p)
	kill -STOP "$reader"
	of a -q add 192.0.2.3
	comes b 192.0.2.3
	wait_for "its end" is_gone "$reader"
	down b
}

t_bloomd_is_killed()
{
	local each all

	fleet a b
	wait_for "two connections" has_connections b 2
	all=$(connections b)
	# One of them stands still: it ends as well.
	kill -STOP "$(tail -n 1 <<<"$all")"
	down b KILL
	for each in $all; do
		wait_for "the end of a connection" is_gone "$each"
	done
	of a -q add 192.0.2.1
	of b -q add 192.0.2.2
	up b
	comes b 192.0.2.1
	comes a 192.0.2.2
	# At the end in peace none stays either.
	all=$(connections b)
	down b
	for each in $all; do
		wait_for "the end of a connection" is_gone "$each"
	done
}

# A process of bloomd's own makes the state from a snapshot meanwhile.
t_bloomd_is_killed_in_a_resync()
{
	local each all n

	fleet a
	seq -f '10.9.%.0f.1' 0 255 >"$T/list"
	of a -q import "$T/list" --include-bogons
	wait_for "an empty outbox" outbox_is a 0
	configure_host b
	for ((n = 0; n < 5; n++)); do
		up b
		all=$(pgrep -P "${host_pid[b]}" || true)
		down b KILL
		for each in $all; do
			wait_for "the end of a process" is_gone "$each"
		done
		wait_for "the end of what has begun meanwhile" nobody_has "$T/b/state"
	done
	up b
	comes b 10.9.255.1
	wait_for "the same" are_equal a b
}

nobody_runs() { ! pgrep -f "$1"; }
nobody_has() { ! pgrep -f -- "--state $1"; }

is_program() { [[ $(readlink "/proc/$1/exe") == "$2" ]]; }

cannot_run() { [[ $(field "$1" message) == *"cannot run "*bloomd-redis* ]]; }

# bloomd goes on with the connections that it has, and takes the new program for the next one; then it is replaced, too.
t_an_upgrade()
{
	local reader

	mkdir "$T/bin"
	cp "$bloomd" "$XB_TEST_DIR/bin/bloomd-redis" "$T/bin"
	redis
	configure_host a
	configure_host b
	up a
	up b "$T/bin/bloomd"
	(patience=$((4 * patience)) && wait_for "b in the fleet" reads b)
	wait_for "two connections" has_connections b 2
	reader=$(connections b | sed -n 1p)
	# As a package manager does it.
	cp "$bloomd" "$T/bin/bloomd.new" && mv "$T/bin/bloomd.new" "$T/bin/bloomd"
	cp "$XB_TEST_DIR/bin/bloomd-redis" "$T/bin/bloomd-redis.new" && mv "$T/bin/bloomd-redis.new" "$T/bin/bloomd-redis"
	is_program "$reader" "$T/bin/bloomd-redis (deleted)" || fail "$(readlink "/proc/$reader/exe")"
	of a -q add 192.0.2.1
	comes b 192.0.2.1
	kill -KILL "$reader"
	of a -q add 192.0.2.2
	comes b 192.0.2.2
	wait_for "two connections" has_connections b 2
	is_program "$(connections b | sed -n 1p)" "$T/bin/bloomd-redis" || fail "the former program goes on"
	down b
	wait_for "the end of all processes" nobody_runs "$T/bin/"
	up b "$T/bin/bloomd"
	of b -q add 192.0.2.3
	comes a 192.0.2.3
	# The program is missing for a while.
	mv "$T/bin/bloomd-redis" "$T/bin/away"
	kill -KILL "$(connections b | sed -n 1p)"
	(patience=$((4 * patience)) && wait_for "the refusal" cannot_run b)
	of b -q add 192.0.2.4
	mv "$T/bin/away" "$T/bin/bloomd-redis"
	comes a 192.0.2.4
}

# --- taken over -------------------------------------------------------------------------------------

# taken_over WORD: what somebody can do then; WORD: open, without the sandbox.
taken_over()
{
	rm -f "$T/written"
	echo "$T/a/state/store.mdb $pins-a $T/open.sock $T/a/run/control.sock $T/written $1" >"$T/bin/taken.places"
	(patience=$((3 * patience)) && wait_for "a try ($1)" has_tried "$2")
	field a message | grep -oE 'taken over:[^"]*'
}
has_tried() { [[ $(field a message) == *"taken over: shell=$1 "* ]]; }

t_the_program_taken_over()
{
	local possible impossible url

	redis
	take_over bloomd-redis -lhiredis -lssl -lcrypto -lseccomp
	possible=$(printf ' %s=yes' $taken_tries) impossible=$(printf ' %s=no' $taken_tries)
	for url in redis://127.0.0.1:6392 "unix:$T/redis.sock"; do
		configure_host a "url = $url"
		echo "- - - - $T/none/written closed" >"$T/bin/taken.places"
		up a "$T/bin/bloomd"
		in_server "$bloomctl" --state "$T/a/state" --pin "$pins-a" --run "$T/a/run" -q attach x0
		# Without the sandbox all of it is possible, so the tries are right.
		[[ $(taken_over open yes) == "taken over:$possible" ]] || fail "without the sandbox, $url: $(field a message)"
		[[ $(taken_over closed no) == "taken over:$impossible" ]] || fail "within the sandbox, $url: $(field a message)"
		[[ ! -e $T/written ]] || fail "it wrote a file"
		down a
	done
	# As the unit runs it: root that cannot become another user.
	printf '#!/bin/sh\nexec setpriv --bounding-set -setuid,-setgid %s "$@"\n' "$T/bin/bloomd" >"$T/bare"
	chmod +x "$T/bare"
	up a "$T/bare"
	[[ $(taken_over closed no) == "taken over:$impossible" ]] || fail "as root in the sandbox: $(field a message)"
	down a
}

run_tests
