#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The beginning of a log: hosts that begin one at once, one that dies meanwhile, and a server without a log.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

has_lease() { [[ $(ask_redis exists 'xb:{test}:lease') -eq 1 ]]; }
has_no_lease() { ! has_lease; }
lease_lasts() { [[ $(ask_redis pttl 'xb:{test}:lease') -gt $1 ]]; }

# A server, and two hosts with an entry each: 192.0.2.1 on a, 192.0.2.2 on b.
a_and_b_have_something()
{
	redis
	configure_host a
	configure_host b
	of a -q add 192.0.2.1
	of b -q add 192.0.2.2
}

# begins HOST: it has seen that nobody has begun a log, and stops before it begins one.
begins()
{
	stands "$1" fleet-appends:1
	! log_is_there || fail "the log is there already"
}

# a is about to begin a log when its lease is over, and b has it.
both_begin()
{
	a_and_b_have_something
	begins a
	ask_redis del 'xb:{test}:lease' >"$T/out"
	begins b
}

# Both have what both had, and one of them began.
one_log()
{
	in_fleet a b
	agree 2 a b
	began_one 1
}

t_two_begin_at_once()
{
	both_begin
	kill -CONT "${host_pid[a]}" "${host_pid[b]}"
	one_log
}

# Whoever takes the lease over removes what its former holder has sent: a log of that one would have no snapshot.
t_the_lease_is_over()
{
	both_begin
	continues a
	wait_for "a to give way" has_message a 'another host'
	! log_is_there || fail "a has begun a log without the lease: $(cat "$T/a/log")"
	continues b
	one_log
}

# A server that is emptied takes the lease and what was sent.
t_emptied_before_the_begin()
{
	a_and_b_have_something
	begins a
	ask_redis flushall >"$T/out"
	continues a
	in_fleet a
	up b
	one_log
}

# A host publishes into a log that another one has begun anew meanwhile.
t_one_publishes_while_another_begins()
{
	fleet a b
	adds a b 192.0.2.1
	down a
	stands_with_an_entry a 192.0.2.2
	ask_redis flushall >"$T/out"
	wait_for "a new log" log_is_there
	of b -q add 192.0.2.3
	continues a
	comes b 192.0.2.2
	comes a 192.0.2.3
	agree 3 a b
}

# stands_with_an_entry HOST ENTRY: it stops before it publishes that.
stands_with_an_entry()
{
	XB_PAUSE=fleet-appends:1 up "$1" "$XB_TEST_DIR/bin/bloomd-fault"
	in_fleet "$1"
	of "$1" -q add "$2"
	wait_for "$1 to publish" is_stopped "${host_pid[$1]}"
}

t_two_publish_at_once()
{
	fleet a b
	down a
	stands_with_an_entry a 192.0.2.1
	publishes 1 of b -q add 192.0.2.2
	continues a
	comes b 192.0.2.1
	comes a 192.0.2.2
	log_is 3 || fail "the log has $(log_length) entries"
}

# Who has it, has it for ever now.
keeps_lease() { [[ $(ask_redis persist 'xb:{test}:lease') -eq 1 ]] || fail "nobody has the lease"; }

# When it comes back it has its own lease again, however long that would last. First it dies before the log is there, then
# behind that, and does not know it.
t_the_beginner_dies_and_comes_back()
{
	redis
	configure_host a
	of a -q add 192.0.2.1
	dies a fleet-appends
	! log_is_there || fail "the log is there already"
	keeps_lease
	dies a fleet-begun
	log_is 1 || fail "the log has not begun"
	keeps_lease
	up a
	joins b
	in_fleet a
	wait_for "the end of the lease" has_no_lease
	agree 1 a b
	! has_begun '' || fail "there is another log: $(cat "$T"/?/log)"
}

t_the_beginner_dies_and_stays_away()
{
	local left

	a_and_b_have_something
	dies a fleet-appends
	left=$(ask_redis pttl 'xb:{test}:lease')
	[[ $left -gt 0 && $left -le 30000 ]] || fail "the lease lasts $left ms more"
	ask_redis pexpire 'xb:{test}:lease' 600000 >"$T/out"
	up b
	wait_for "b to wait" has_message b 'another host begins a log'
	has b 192.0.2.2 || fail "it is gone"
	ask_redis pexpire 'xb:{test}:lease' 1 >"$T/out"
	in_fleet b
	wait_for "the end of the lease" has_no_lease
	has b 192.0.2.2 || fail "it is gone"
}

# However long it takes to make the snapshot.
t_the_lease_is_renewed()
{
	local maker

	redis
	configure_host a
	XB_PAUSE=fleet-child up a "$XB_TEST_DIR/bin/bloomd-fault"
	wait_for "a snapshot" snapshot_is_made a
	maker=$(maker a)
	wait_for "it to stop" is_stopped "$maker"
	ask_redis pexpire 'xb:{test}:lease' 15000 >"$T/out"
	wait_for "a longer lease" lease_lasts 20000
	kill -CONT "$maker"
	in_fleet a
}

# The process that makes the snapshot of HOST; the others of bloomd run bloomd-redis.
maker() { pgrep -P "${host_pid[$1]}" -x bloomd-fault; }
snapshot_is_made() { [[ -n $(maker "$1") ]]; }

# Nobody may begin a log: all of them keep what they have.
t_an_empty_server_and_nobody_to_begin()
{
	a_and_b_have_something
	sed -i /^publish/d "$T/a/bloomd.conf"
	sed -i /^follow/d "$T/b/bloomd.conf"
	up a
	up b
	for host in a b; do
		wait_for "$host to wait" is_in $host waiting
		wait_for "why" has_message $host 'this host does not publish and follow all lists of the fleet'
	done
	# They look again, and again.
	ask_redis config resetstat >"$T/out"
	wait_for "four looks at the log" called xrevrange 4
	! log_is_there || fail "somebody has begun a log"
	has a 192.0.2.1 || fail "a has lost something"
	has b 192.0.2.2 || fail "b has lost something"
	# One that may comes.
	configure_host c
	of c -q add 192.0.2.3
	up c
	in_fleet c
	comes c 192.0.2.2
	has a 192.0.2.1 || fail "a has lost something"
}

run_tests
