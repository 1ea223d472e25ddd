#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The processes of bloomd for a fleet: how those end that have the connections to its server, and how they are replaced; what
# somebody can do who has taken one over; what is done beside bloomd's loop; and what a large fleet must not cost.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"
# shellcheck source=taken.sh
. "$(dirname "$0")/taken.sh"

has_connections() { [[ $(connections "$1" | wc -l) -eq $2 ]]; }
is_gone() { ! kill -0 "$1" 2>/dev/null; }
# are_gone ALL: these processes.
are_gone()
{
	local each

	for each in $1; do
		wait_for "the end of a process" is_gone "$each"
	done
}

# has_two HOST: connections; $reader is the one that reads.
has_two()
{
	wait_for "two connections" has_connections "$1" 2
	reader=$(connections "$1" | sed -n 1p)
}

# has_no_rights PID
has_no_rights()
{
	grep -qx $'Uid:\t65534\t65534\t65534\t65534' "/proc/$1/status" || fail "it is not nobody"
	grep -qx $'CapEff:\t0000000000000000' "/proc/$1/status" || fail "it has capabilities"
	grep -qx $'NoNewPrivs:\t1' "/proc/$1/status" || fail "it may get privileges"
	grep -qx $'Seccomp:\t2' "/proc/$1/status" || fail "it has all system calls"
	[[ $(find "/proc/$1/fd" -type l | wc -l) -eq 5 ]] || fail "it has other descriptors: $(ls -l "/proc/$1/fd")"
}

t_connections_that_are_killed()
{
	local reader

	fleet a b
	has_two b
	has_no_rights "$reader"
	kill -KILL "$reader"
	says_log b 'fleet: failed: bloomd-redis ended with signal 9; what is listed stays'
	adds a b 192.0.2.1
	# That of the writer.
	has_two b
	kill -SEGV "$(connections b | tail -n 1)"
	adds b a 192.0.2.2
	# It does nothing any more.
	has_two b
	kill -STOP "$reader"
	adds a b 192.0.2.3
	wait_for "its end" is_gone "$reader"
	down b
}

t_bloomd_is_killed()
{
	local all reader

	fleet a b
	has_two b
	all=$(connections b)
	# One of them stands still: it ends as well.
	kill -STOP "$(tail -n 1 <<<"$all")"
	down b KILL
	are_gone "$all"
	of a -q add 192.0.2.1
	of b -q add 192.0.2.2
	up b
	comes b 192.0.2.1
	comes a 192.0.2.2
	# At the end in peace none stays either.
	all=$(connections b)
	down b
	are_gone "$all"
}

# A process of bloomd's own makes the state from a snapshot meanwhile.
t_bloomd_is_killed_in_a_resync()
{
	local all n

	fleet a
	many 256
	of a -q import "$T/many"
	published a
	configure_host b
	for ((n = 0; n < 5; n++)); do
		up b
		all=$(pgrep -P "${host_pid[b]}" || true)
		down b KILL
		are_gone "$all"
		wait_for "the end of what has begun meanwhile" nobody_has "$T/b/state"
	done
	up b
	comes b 20.0.0.255
	agree 256 a b
}

nobody_runs() { ! pgrep -f "$1"; }
nobody_has() { ! pgrep -f -- "--state $1"; }

is_program() { [[ $(readlink "/proc/$1/exe") == "$2" ]]; }

# replace PROGRAM: as a package manager does it.
replace() { cp "$XB_TEST_DIR/bin/$1" "$T/bin/$1.new" && mv "$T/bin/$1.new" "$T/bin/$1"; }

# bloomd goes on with the connections that it has, and takes the new program for the next one; then it is replaced, too.
t_an_upgrade()
{
	local reader

	mkdir "$T/bin"
	cp "$bloomd" "$XB_TEST_DIR/bin/bloomd-redis" "$T/bin"
	fleet a
	configure_host b
	up b "$T/bin/bloomd"
	in_fleet b
	has_two b
	replace bloomd
	replace bloomd-redis
	is_program "$reader" "$T/bin/bloomd-redis (deleted)" || fail "$(readlink "/proc/$reader/exe")"
	adds a b 192.0.2.1
	kill -KILL "$reader"
	adds a b 192.0.2.2
	has_two b
	is_program "$reader" "$T/bin/bloomd-redis" || fail "the former program goes on"
	down b
	wait_for "the end of all processes" nobody_runs "$T/bin/"
	up b "$T/bin/bloomd"
	adds b a 192.0.2.3
	# The program is missing for a while.
	mv "$T/bin/bloomd-redis" "$T/bin/away"
	has_two b
	kill -KILL "$reader"
	wait_for "the refusal" shows b 'cannot run .*bloomd-redis'
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
	wait_for "a try ($1)" has_tried "$2"
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

# --- beside the loop --------------------------------------------------------------------------------

# answers HOST: its socket does.
answers() { [[ $(redis-cli -s "$T/$1/run/api.sock" ping) == PONG ]]; }

# The child of a, if it is stopped.
stopped_child() { pgrep -P "${host_pid[a]}" -r T; }

# a_joins: a list that is shared anew is read from end to end by a process, which stands still now, while bloomd goes on.
a_joins()
{
	wait_for "the process that joins" stopped_child
	wait_for "an answer" answers a
}

t_joining()
{
	redis
	configure_host a
	of a -q add 192.0.2.1
	XB_PAUSE=fleet-joining up a "$XB_TEST_DIR/bin/bloomd-fault"
	a_joins
	of a -j fleet | contains '"fleet": ?null' || fail "it has joined"
	# Killed before its commit, it is begun again.
	kill -KILL "$(stopped_child)"
	says_log a 'the process that writes what the configuration says was ended'
	a_joins
	kill -CONT "$(stopped_child)"
	in_fleet a
	published a
}

# --- what a large fleet costs -----------------------------------------------------------------------

# While nothing happens, a host asks for one entry of the log, and not for three. What others report is asked for the less
# often the more they are.
t_what_is_asked_in_vain()
{
	local number

	redis
	for ((number = 0; number < 400; number++)); do
		echo "hset xb:{test}:reports $number {}"
	done | ask_redis >"$T/out"
	joins a
	of a -q add 192.0.2.1
	published a
	wait_for "the reports" called hgetall 1
	ask_redis config resetstat >"$T/out"
	wait_for "two looks" called xrevrange 2
	wait_for "two reports" called hset 2
	[[ $(calls xrange) -eq 0 && $(calls hgetall) -eq 0 ]] || fail "$(ask_redis info commandstats)"
}

run_tests
