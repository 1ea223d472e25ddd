#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The beginning of a log: hosts that begin one at once, one that dies meanwhile, and a server without a log.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2034,SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

faulty_bloomd=$XB_TEST_DIR/bin/bloomd-fault
log_is_there() { [[ $(log_length) -gt 0 ]]; }
has_lease() { [[ $(ask_redis exists 'xb:{test}:lease') -eq 1 ]]; }
has_message() { [[ $(field "$1" message) == *"$2"* ]]; }
beginners() { cat "$T"/?/log | grep -c 'began a log at '; }

# stands HOST: it has seen that nobody has begun a log, and stops before it begins one.
stands()
{
	XB_PAUSE=fleet-appends:1 up "$1" "$faulty_bloomd"
	wait_for "$1 to begin" is_stopped "${host_pid[$1]}"
	! log_is_there || fail "the log is there already"
}

t_two_begin_at_once()
{
	redis
	configure_host a
	configure_host b
	of a -q add 192.0.2.1
	of b -q add 192.0.2.2
	patience=8
	stands a
	# As if its time were over.
	ask_redis del 'xb:{test}:lease' >"$T/out"
	stands b
	kill -CONT "${host_pid[a]}" "${host_pid[b]}"
	wait_for "a in the fleet" reads a
	wait_for "b in the fleet" reads b
	wait_for "what b had" has a 192.0.2.2
	wait_for "what a had" has b 192.0.2.1
	wait_for "the same" are_equal a b
	[[ $(beginners) -eq 1 ]] || fail "not one of them began: $(cat "$T"/?/log)"
}

# Whoever takes the lease over removes what its former holder has sent: a log of that one would have no snapshot.
t_the_lease_is_over()
{
	redis
	configure_host a
	configure_host b
	of a -q add 192.0.2.1
	of b -q add 192.0.2.2
	patience=8
	stands a
	ask_redis del 'xb:{test}:lease' >"$T/out"
	stands b
	kill -CONT "${host_pid[a]}"
	wait_for "a to give way" has_message a 'another host'
	! log_is_there || fail "a has begun a log without the lease: $(cat "$T/a/log")"
	kill -CONT "${host_pid[b]}"
	wait_for "a in the fleet" reads a
	wait_for "b in the fleet" reads b
	wait_for "the same" are_equal a b
	[[ $(beginners) -eq 1 ]] || fail "not one of them began: $(cat "$T"/?/log)"
}

# A server that is emptied takes the lease and what was sent.
t_emptied_before_the_begin()
{
	redis
	configure_host a
	of a -q add 192.0.2.1
	patience=8
	stands a
	ask_redis flushall >"$T/out"
	kill -CONT "${host_pid[a]}"
	wait_for "a in the fleet" reads a
	configure_host b
	up b
	wait_for "b in the fleet" reads b
	wait_for "the same" are_equal a b
	[[ $(beginners) -eq 1 ]] || fail "it began more than once: $(cat "$T"/?/log)"
}

# A host publishes into a log that another one has begun anew meanwhile.
t_one_publishes_while_another_begins()
{
	fleet a b
	of a -q add 192.0.2.1
	patience=8
	wait_for "it" has b 192.0.2.1
	down a
	XB_PAUSE=fleet-appends:1 up a "$faulty_bloomd"
	wait_for "a in the fleet" reads a
	of a -q add 192.0.2.2
	wait_for "a to publish" is_stopped "${host_pid[a]}"
	ask_redis flushall >"$T/out"
	wait_for "a new log" log_is_there
	of b -q add 192.0.2.3
	kill -CONT "${host_pid[a]}"
	wait_for "what a had" has b 192.0.2.2
	wait_for "what b had" has a 192.0.2.3
	wait_for "the same" are_equal a b
	[[ $(listing a | wc -l) -eq 3 ]] || fail "something is gone: $(listing a)"
}

t_two_publish_at_once()
{
	fleet a b
	patience=8
	down a
	XB_PAUSE=fleet-appends:1 up a "$faulty_bloomd"
	wait_for "a in the fleet" reads a
	of a -q add 192.0.2.1
	wait_for "a to publish" is_stopped "${host_pid[a]}"
	publishes 1 of b -q add 192.0.2.2
	kill -CONT "${host_pid[a]}"
	wait_for "what a had" has b 192.0.2.1
	wait_for "what b had" has a 192.0.2.2
	[[ $(log_length) -eq 3 ]] || fail "the log has $(log_length) entries"
}

# dies HOST POINT: its bloomd, where it is about to begin a log, with the lease.
dies()
{
	XB_FAULT=$2 up "$1" "$faulty_bloomd"
	wait "${host_pid[$1]}" || true
	has_lease || fail "it has no lease"
}

t_the_beginner_dies_and_comes_back()
{
	redis
	configure_host a
	of a -q add 192.0.2.1
	dies a fleet-appends
	! log_is_there || fail "the log is there already"
	# It has its own lease again, however long that would last.
	ask_redis persist 'xb:{test}:lease' >"$T/out"
	up a
	patience=8
	wait_for "a in the fleet" reads a
	wait_for "the end of the lease" has_no_lease
	has a 192.0.2.1 || fail "it is gone"
}

has_no_lease() { ! has_lease; }

t_the_beginner_dies_and_stays_away()
{
	local left

	redis
	configure_host a
	configure_host b
	of b -q add 192.0.2.2
	dies a fleet-appends
	left=$(ask_redis pttl 'xb:{test}:lease')
	[[ $left -gt 0 && $left -le 30000 ]] || fail "the lease lasts $left ms more"
	ask_redis pexpire 'xb:{test}:lease' 600000 >"$T/out"
	up b
	patience=8
	wait_for "b to wait" has_message b 'another host begins a log'
	has b 192.0.2.2 || fail "it is gone"
	ask_redis pexpire 'xb:{test}:lease' 2000 >"$T/out"
	wait_for "b in the fleet" reads b
	has b 192.0.2.2 || fail "it is gone"
}

# The log is there, but the host that began it does not know.
t_the_beginner_dies_after_the_begin()
{
	redis
	configure_host a
	of a -q add 192.0.2.1
	dies a fleet-begun
	[[ $(log_length) -eq 1 ]] || fail "the log has not begun"
	ask_redis persist 'xb:{test}:lease' >"$T/out"
	up a
	configure_host b
	up b
	patience=8
	wait_for "a in the fleet" reads a
	wait_for "b in the fleet" reads b
	wait_for "what a has" has b 192.0.2.1
	wait_for "the same" are_equal a b
	[[ $(beginners) -eq 0 ]] || fail "there is another log: $(cat "$T"/?/log)"
}

# However long it takes to make the snapshot.
t_the_lease_is_renewed()
{
	local maker

	redis
	configure_host a
	XB_PAUSE=fleet-child up a "$faulty_bloomd"
	patience=8
	wait_for "a snapshot" snapshot_is_made a
	maker=$(maker a)
	wait_for "it to stop" is_stopped "$maker"
	ask_redis pexpire 'xb:{test}:lease' 15000 >"$T/out"
	wait_for "a longer lease" lease_lasts 20000
	kill -CONT "$maker"
	wait_for "a in the fleet" reads a
}

# The process that makes the snapshot of HOST; the others of bloomd run bloomd-redis.
maker() { pgrep -P "${host_pid[$1]}" -x bloomd-fault; }
snapshot_is_made() { [[ -n $(maker "$1") ]]; }
lease_lasts() { [[ $(ask_redis pttl 'xb:{test}:lease') -gt $1 ]]; }

# Nobody may begin a log: all of them keep what they have.
t_an_empty_server_and_nobody_to_begin()
{
	redis
	mkdir "$T/a" "$T/b"
	printf '%s\n' '[fleet]' "url = unix:$T/redis.sock" 'name = test' 'follow = default' >"$T/a/bloomd.conf"
	printf '%s\n' '[fleet]' "url = unix:$T/redis.sock" 'name = test' 'publish = default' >"$T/b/bloomd.conf"
	of a -q add 192.0.2.1
	of b -q add 192.0.2.2
	up a
	up b
	patience=8
	for host in a b; do
		wait_for "$host to wait" is_in $host waiting
		wait_for "why" has_message $host 'this host does not publish and follow all lists of the fleet'
	done
	sleep 5
	! log_is_there || fail "somebody has begun a log"
	has a 192.0.2.1 || fail "a has lost something"
	has b 192.0.2.2 || fail "b has lost something"
	# One that may comes.
	configure_host c
	of c -q add 192.0.2.3
	up c
	wait_for "c in the fleet" reads c
	wait_for "what b had" has c 192.0.2.2
	has a 192.0.2.1 || fail "a has lost something"
}

# Hosts with lists meet an empty server one after the other: all have all in the end.
t_an_empty_server_and_hosts_with_lists()
{
	redis
	for host in a b c; do
		configure_host $host
	done
	of b -q add 192.0.2.2
	of c -q add 192.0.2.3 192.0.2.4
	up a
	patience=8
	wait_for "a in the fleet" reads a
	up b
	up c
	wait_for "what b had" has a 192.0.2.2
	wait_for "what c had" has b 192.0.2.4
	wait_for "the same" are_equal a b c
	[[ $(listing a | wc -l) -eq 3 ]] || fail "something is gone: $(listing a)"
	for host in a b c; do
		down $host
	done
	ask_redis flushall >"$T/out"
	for host in a b c; do
		up $host
	done
	wait_for "a new log" log_is_there
	for host in a b c; do
		wait_for "$host in the fleet" reads $host
	done
	wait_for "the same" are_equal a b c
	[[ $(listing a | wc -l) -eq 3 ]] || fail "something is gone: $(listing a)"
}

run_tests
