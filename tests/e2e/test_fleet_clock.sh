#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Hosts of a fleet whose clocks are wrong: it is said, on each host of which one, and what a clock that was ahead had
# taken out comes back.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

# Or less by what the server takes to answer.
hour='(35[0-9]{2}|3600)'

shows() { of "$1" fleet | contains "$2"; }

t_a_clock_that_is_wrong()
{
	fleet a
	configure_host b
	clocked b 3600
	patience=12
	wait_for "b in the fleet" reads b
	wait_for "its word" logs b "fleet: the clock of this host is $hour s ahead of that of the server"
	wait_for "what b shows" shows b "^  clock    $hour s ahead of the server"
	wait_for "what b shows of itself" shows b "^  host .*, this host, clock $hour s ahead"
	wait_for "what a shows of b" shows a "^  host .*, clock $hour s ahead$"
	wait_for "the metric" is_an_hour_ahead b
	[[ $(metric a fleet_clock_skew_seconds) == 0 ]] || fail "a is said to be wrong"
	! shows a '^  clock' || fail "$(of a fleet)"
	! shows a 'SILENT' || fail "b reports: $(of a fleet)"
	[[ $(grep -c 'the clock of this host' "$T/b/log") -eq 1 ]] || fail "it is said more than once: $(cat "$T/b/log")"
	set_ahead b -30
	(wait_for "the other way" shows b '^  clock    (2[0-9]|30) s behind the server') || fail "$(of b fleet; tail -n 5 "$T/b/log")"
	set_ahead b 0
	wait_for "its word" logs b 'the clock of this host agrees with that of the server again'
	wait_for "the metric" metric_is b fleet_clock_skew_seconds 0
	wait_for "what a shows" shows_no_clock a
}

is_an_hour_ahead() { [[ $(metric "$1" fleet_clock_skew_seconds) =~ ^$hour$ ]]; }
shows_no_clock() { ! shows "$1" clock; }

# While b's clock is ahead, it lets go what the others still have. Nothing of that reaches them.
t_a_clock_that_is_put_forward_and_back()
{
	share_what_expires
	of a -q add 192.0.2.2
	set_ahead b 3600
	of a -q add 192.0.2.3
	wait_for "what follows" has b 192.0.2.3
	patience=12
	wait_for "an end before its time" has_not b 192.0.2.1
	has a 192.0.2.1 || fail "it is gone everywhere"
	set_ahead b 0
	(wait_for "what is not over" has b 192.0.2.1) || fail "$(of b fleet; tail -n 5 "$T/b/log")"
	says_log b "the clock was set back by $hour s"
	says_log b 'resynced \(clock\)'
	wait_for "b" reads b
	wait_for "the same" are_equal a b
	has a 192.0.2.1 || fail "it is gone"
}

# What has expired on b, whose clock is ahead, is in force on a. b makes no snapshot without it, while its clock is wrong nor
# before it has it again.
t_a_snapshot_by_a_clock_that_is_ahead()
{
	local before

	fleet a
	configure_host b 'snapshot-every = 1'
	clocked b 3600
	wait_for "b in the fleet" reads b
	of a -q add 192.0.2.1 --timeout 1800
	of a -q add 192.0.2.2
	wait_for "it" has b 192.0.2.2
	wait_for "an end before its time" has_not b 192.0.2.1
	snapshot
	before=$id
	sleep 25
	snapshot
	[[ $id == "$before" ]] || fail "there is one: $(cat "$T"/?/log)"
	set_ahead b 0
	wait_for "what is not over" has b 192.0.2.1
	wait_for "a snapshot by b" is_newer "$before"
	of a -q fleet resync
	wait_for "a resync" logs a 'resynced \(asked\)'
	has a 192.0.2.1 || fail "it is gone: $(cat "$T"/?/log)"
	wait_for "the same" are_equal a b
}

# a and b, whose clock can be set, have an entry that expires.
share_what_expires()
{
	fleet a
	configure_host b
	clocked b 0
	wait_for "b in the fleet" reads b
	of a -q add 192.0.2.1 --timeout 1800 --comment scan
	wait_for "it" has b 192.0.2.1
}

# By the clock of b, which is ahead, an entry expires that a still has; then a is silent.
let_expire_and_stop_the_other()
{
	share_what_expires
	set_ahead b 3600
	of a -q add 192.0.2.2
	wait_for "what follows" has b 192.0.2.2
	wait_for "an end before its time" has_not b 192.0.2.1
	kill -STOP "${host_pid[a]}"
}

# Nor does it begin a log without it, when the server is emptied while its clock is ahead or before it has it again.
t_a_beginning_by_a_clock_that_was_ahead()
{
	let_expire_and_stop_the_other
	ask_redis flushall >"$T/out"
	patience=4
	wait_for "b to wait" has_message b 'the clock of this host is not known to agree with that of the server'
	set_ahead b 0
	wait_for "b to wait" has_message b 'the clock of this host was set back'
	[[ $(log_length) -eq 0 ]] || fail "b has begun a log: $(cat "$T/b/log")"
	kill -CONT "${host_pid[a]}"
	wait_for "what is not over" has b 192.0.2.1
	wait_for "the same" are_equal a b
	has a 192.0.2.1 || fail "it is gone: $(cat "$T"/?/log)"
}

# b is connected again before it has looked at its clock, and the server agrees with it.
t_set_back_while_the_server_is_away()
{
	let_expire_and_stop_the_other
	redis_dies
	rm -r "$T/redis"
	set_ahead b 0
	redis
	patience=4
	wait_for "b to wait" has_message b 'the clock of this host was set back'
	[[ $(log_length) -eq 0 ]] || fail "b has begun a log: $(cat "$T/b/log")"
	kill -CONT "${host_pid[a]}"
	wait_for "what is not over" has b 192.0.2.1
	wait_for "the same" are_equal a b
	has a 192.0.2.1 || fail "it is gone: $(cat "$T"/?/log)"
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
	patience=12
	wait_for "a log of b" reads b
	of b -q add 192.0.2.1
	wait_for "an empty outbox" outbox_is b 0
	ask_redis xadd 'xb:{test}:log' "$(($(log_length) + 1))-0" e forged >"$T/out"
	wait_for "b to wait" has_message b 'not known to agree'
	wait_for "another log of b" logs b 'began a log at .*, term 2'
	wait_for "b in the fleet" reads b
	has b 192.0.2.1 || fail "it is gone"
}

# b begins a log, which the server loses: it has the one before again.
loses_what_b_began()
{
	share_what_expires
	redis_dies
	cp -a "$T/redis" "$T/before"
	redis
	wait_for "a in the fleet" reads a
	kill -STOP "${host_pid[a]}"
	ask_redis flushall >"$T/out"
	patience=4
	wait_for "a log of b" logs b 'began a log at'
	publishes 1 of b -q add 192.0.2.3
	wait_for "an empty outbox" outbox_is b 0
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
	wait_for "an end before its time" has_not b 192.0.2.1
}

# Its clock was ahead and is set back meanwhile: what expired too early can only come from a snapshot of the former log.
t_set_back_while_the_server_loses_the_log()
{
	loses_what_b_began goes_ahead
	wait_for "its word" logs b 'the clock was set back'
	redis
	kill -CONT "${host_pid[a]}"
	(wait_for "what is not over" has b 192.0.2.1) || fail "$(of b fleet; tail -n 5 "$T/b/log")"
	wait_for "the same" are_equal a b
	has a 192.0.2.1 && has a 192.0.2.3 && has a 192.0.2.4 || fail "$(listing a)"
}

# b stands still meanwhile, until that log no longer has what follows its position.
t_trimmed_while_the_server_lost_the_log()
{
	local before

	lines=('snapshot-every = 1')
	loses_what_b_began true
	kill -STOP "${host_pid[b]}"
	redis
	kill -CONT "${host_pid[a]}"
	wait_for "a in the fleet" reads a
	snapshot
	before=$id
	for number in {11..19}; do publishes 1 of a -q add 192.0.2.$number; done
	wait_for "a snapshot" is_newer "$before"
	ask_redis xtrim 'xb:{test}:log' maxlen 1 >"$T/out"
	kill -CONT "${host_pid[b]}"
	(wait_for "the same" are_equal a b) || fail "$(of b fleet; tail -n 5 "$T/b/log")"
	has a 192.0.2.3 && has b 192.0.2.19 || fail "$(listing a)"
	says_log b 'resynced \(trimmed\)'
}

has_message() { [[ $(field "$1" message) == *"$2"* ]]; }

run_tests
