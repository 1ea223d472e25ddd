#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Hosts of a fleet whose clocks are wrong: it is said, on each host of which one, and what a clock that was ahead had
# taken out comes back.
# waits: more than it computes, for minutes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

# Or less by what the server takes to answer.
hour='(35[0-9]{2}|3600)'

# with_clock HOST SECONDS [LINE...]: it joins with a clock that is so much ahead.
with_clock()
{
	configure_host "$1" "${@:3}"
	clocked "$1" "$2"
	in_fleet "$1"
}

t_a_clock_that_is_wrong()
{
	fleet a
	with_clock b 3600
	says_log b "fleet: the clock of this host is $hour s ahead of that of the server"
	wait_for "what b shows" shows b "^  clock    $hour s ahead of the server"
	wait_for "what b shows of itself" shows b "^  host .*, this host, clock $hour s ahead"
	wait_for "what a shows of b" shows a "^  host .*, clock $hour s ahead$"
	wait_for "the metric" is_an_hour_ahead b
	[[ $(metric a fleet_clock_skew_seconds) == 0 ]] || fail "a is said to be wrong"
	shows_no a '^  clock' || fail "$(of a fleet)"
	shows_no a 'SILENT' || fail "b reports: $(of a fleet)"
	said_once b 'the clock of this host'
	set_ahead b -30
	wait_for "the other way" shows b '^  clock    (2[0-9]|30) s behind the server'
	set_ahead b 0
	says_log b 'the clock of this host agrees with that of the server again'
	wait_for "the metric" metric_is b fleet_clock_skew_seconds 0
	wait_for "what a shows" shows_no a clock
}

is_an_hour_ahead() { [[ $(metric "$1" fleet_clock_skew_seconds) =~ ^$hour$ ]]; }

# While b's clock is ahead, it lets go what the others still have. Nothing of that reaches them.
t_a_clock_that_is_put_forward_and_back()
{
	share_what_expires
	of a -q add 192.0.2.2
	set_ahead b 3600
	adds a b 192.0.2.3
	goes b 192.0.2.1
	has a 192.0.2.1 || fail "it is gone everywhere"
	set_ahead b 0
	comes b 192.0.2.1
	says_log b "the clock was set back by $hour s"
	says_log b 'resynced \(clock\)'
	in_fleet b
	agree 3 a b
}

# What has expired on b, whose clock is ahead, is in force on a. b makes no snapshot without it, while its clock is wrong nor
# before it has it again.
t_a_snapshot_by_a_clock_that_is_ahead()
{
	local before

	fleet a
	with_clock b 3600 'snapshot-every = 1'
	of a -q add 192.0.2.1 --timeout 1800
	adds a b 192.0.2.2
	goes b 192.0.2.1
	snapshot
	before=$id
	sleep 25
	snapshot
	[[ $id == "$before" ]] || fail "there is one: $(cat "$T"/?/log)"
	set_ahead b 0
	comes b 192.0.2.1
	wait_for "a snapshot by b" is_newer "$before"
	of a -q fleet resync
	says_log a 'resynced \(asked\)'
	has a 192.0.2.1 || fail "it is gone: $(cat "$T"/?/log)"
	agree 2 a b
}

# a and b, whose clock can be set, have an entry that expires.
share_what_expires()
{
	fleet a
	with_clock b 0
	of a -q add 192.0.2.1 --timeout 1800 --comment scan
	comes b 192.0.2.1
}

# By the clock of b, which is ahead, an entry expires that a still has; then a is silent.
let_expire_and_stop_the_other()
{
	share_what_expires
	set_ahead b 3600
	adds a b 192.0.2.2
	goes b 192.0.2.1
	kill -STOP "${host_pid[a]}"
}

# b waits, until a is there again.
a_begins_instead()
{
	wait_for "b to wait" has_message b 'the clock of this host was set back'
	log_is 0 || fail "b has begun a log: $(cat "$T/b/log")"
	continues a
	comes b 192.0.2.1
	agree 2 a b
}

# Nor does it begin a log without it, when the server is emptied while its clock is ahead or before it has it again.
t_a_beginning_by_a_clock_that_was_ahead()
{
	let_expire_and_stop_the_other
	ask_redis flushall >"$T/out"
	wait_for "b to wait" has_message b 'the clock of this host is not known to agree with that of the server'
	set_ahead b 0
	a_begins_instead
}

# b is connected again before it has looked at its clock, and the server agrees with it.
t_set_back_while_the_server_is_away()
{
	let_expire_and_stop_the_other
	redis_dies
	rm -r "$T/redis"
	set_ahead b 0
	redis
	a_begins_instead
}

# Where no other host is there to begin a log, it does so after two minutes: on an empty server, and behind an entry that no
# host wrote.
t_the_only_host_has_a_wrong_clock()
{
	[[ -n ${XB_TEST_ALL:-} ]] || skip "it waits for five minutes: only with --all"
	redis
	configure_host b
	clocked b 3600
	wait_for "b to wait" has_message b 'not known to agree'
	in_fleet b
	of b -q add 192.0.2.1
	published b
	ask_redis xadd 'xb:{test}:log' "$(($(log_length) + 1))-0" e forged >"$T/out"
	wait_for "b to wait" has_message b 'not known to agree'
	began_one 2
	in_fleet b
	has b 192.0.2.1 || fail "it is gone"
}

# b begins a log, which the server loses: it has the one before again.
loses_what_b_began()
{
	share_what_expires
	redis_dies
	cp -a "$T/redis" "$T/before"
	redis
	in_fleet a
	kill -STOP "${host_pid[a]}"
	ask_redis flushall >"$T/out"
	says_log b 'began a log at'
	publishes 1 of b -q add 192.0.2.3
	published b
	"$@"
	redis_dies
	wait_for "its absence" is_in b connecting
	set_ahead b 0
	rm -r "$T/redis"
	mv "$T/before" "$T/redis"
}

goes_ahead()
{
	set_ahead b 3600
	of b -q add 192.0.2.4
	goes b 192.0.2.1
}

# Its clock was ahead and is set back meanwhile: what expired too early can only come from a snapshot of the former log.
t_set_back_while_the_server_loses_the_log()
{
	loses_what_b_began goes_ahead
	says_log b 'the clock was set back'
	redis
	continues a
	comes b 192.0.2.1
	agree 3 a b
}

# b stands still meanwhile, until that log no longer has what follows its position.
t_trimmed_while_the_server_lost_the_log()
{
	local before

	lines=('snapshot-every = 1')
	loses_what_b_began true
	kill -STOP "${host_pid[b]}"
	redis
	continues a
	in_fleet a
	snapshot
	before=$id
	for number in {11..19}; do publishes 1 of a -q add 192.0.2.$number; done
	wait_for "a snapshot" is_newer "$before"
	ask_redis xtrim 'xb:{test}:log' maxlen 1 >"$T/out"
	continues b
	agree 11 a b
	says_log b 'resynced \(trimmed\)'
}

run_tests
