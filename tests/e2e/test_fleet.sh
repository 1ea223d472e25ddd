#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Hosts that share a list through a server of Redis: what one of them lists is listed on all, and nothing
# that happens to a host, or to the log, takes anything out.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

t_what_one_lists_all_list()
{
	fleet a b c
	of a -q add 192.0.2.1 --comment "port scan" --timeout 3000
	comes b 192.0.2.1
	comes c 192.0.2.1
	agree 1 a b c
	listing c | contains 'expires .* comment "port scan"' || fail "time or comment is lost: $(listing c)"
	[[ $(listing c) == "$(listing a)" ]] || fail "it was added at another time: $(listing a; listing c)"
	of c save | contains '"origins":\["fleet"\]' || fail "it does not say that it is another's"
	! of a save | contains origins || fail "it says that it is another's"
	of b -q del 192.0.2.1
	goes a 192.0.2.1
	goes c 192.0.2.1
	of c -q add 198.51.100.0/24 evil.example '!ok.evil.example'
	comes a evil.example '!ok.evil.example'
	comes b 198.51.100.0/24
	agree 3 a b c
	published a
	# What waits is counted at once; bloomd cannot tell of it.
	kill -STOP "${host_pid[a]}"
	of a -q add 192.0.2.1 192.0.2.2
	[[ $(field a outbox) -eq 2 ]] || fail "$(field a outbox) changes wait"
	outbox_is a 2 || fail "$(of a fleet)"
	continues a
	published a
	an_operator_asks
}

an_operator_asks()
{
	! of b -q fleet accept || fail "there was nothing to accept"
	grep -q 'nothing waits to be accepted' "$T/b/err" || fail "$(cat "$T/b/err")"
	of b -q fleet resync
	says_log b 'resynced \(asked\)'
	in_fleet b
	agree 5 a b
	shows b '^  list     default, 5 entries, published, followed$' || fail "$(of b fleet)"
	! of b -q fleet nonsense || fail "it is no subcommand"
}

t_a_host_that_was_away()
{
	fleet a b
	down b
	of a -q add 192.0.2.1 192.0.2.2
	of a -q del 192.0.2.1
	of b -q add 192.0.2.3
	up b
	comes b 192.0.2.2
	comes a 192.0.2.3
	agree 2 a b
}

# At first hosts that have something meet an empty server, one after the other; then it is emptied while they are there,
# and while they are away.
t_the_server_is_emptied()
{
	local host

	redis
	configure_host b
	configure_host c
	of b -q add 192.0.2.2
	of c -q add 192.0.2.3 192.0.2.4
	joins a
	up b
	up c
	comes a 192.0.2.2
	agree 3 a b c
	ask_redis flushall >"$T/out"
	began_one 2
	adds b c 192.0.2.5
	comes a 192.0.2.5
	agree 4 a b c
	for host in a b c; do
		down $host
	done
	ask_redis flushall >"$T/out"
	for host in a b c; do
		up $host
	done
	began_one 3
	in_fleet a b c
	agree 4 a b c
}

# Between the moment when the log has an entry and that when the store knows it.
t_killed_before_the_commit()
{
	fleet a b
	down a
	XB_FAULT=fleet-published up a "$XB_TEST_DIR/bin/bloomd-fault"
	in_fleet a
	adds a b 192.0.2.1
	wait "${host_pid[a]}" || true
	before=$(log_length)
	up a
	in_fleet a
	published a
	log_is "$before" || fail "it was published twice"
	adds a b 192.0.2.2
	log_is $((before + 1)) || fail "$before entries became $(log_length)"
}

# With an identity and numbers that the log knows already.
t_store_of_a_host_is_an_older_copy()
{
	fleet a b
	adds b a 192.0.2.1
	down b
	cp -a "$T/b/state" "$T/copy"
	up b
	in_fleet b
	adds b a 192.0.2.2
	down b KILL
	rm -rf "$T/b/state"
	mv "$T/copy" "$T/b/state"
	of b -q add 192.0.2.3
	up b
	comes b 192.0.2.2
	comes a 192.0.2.3
	agree 3 a b
}

# The copy leaves the fleet before it joins as another host.
t_copied_machine()
{
	fleet a b
	adds b a 192.0.2.1
	down b
	mkdir "$T/c"
	cp -a "$T/b/state" "$T/c/state"
	up b
	: >"$T/c/bloomd.conf"
	up c
	says_log c 'no longer in the fleet test'
	down c
	joins c
	[[ $(field b host) != "$(field c host)" ]] || fail "they are one host"
	adds c a 192.0.2.2
	adds b a 192.0.2.3
	agree 3 b c
}

t_same_entry_on_two_hosts()
{
	local first

	fleet a b
	redis_dies
	of a -q add 192.0.2.1 --comment "of a" --timeout 3000
	first=$(added a)
	wait_for "another second" is_after "$first"
	of b -q add 192.0.2.1 --comment "of b"
	redis
	published a b
	agree 1 a b
	[[ $(added a) == "$first" && $(added b) > $first ]] || fail "a host's own time is lost: $(listing a; listing b)"
}

added() { listing "$1" | sed -n 's/.* added \([^ ]*\).*/\1/p'; }
is_after() { [[ $(date -u +%FT%TZ) > $1 ]]; }

# --- a log that loses its end, as in a failover -------------------------------------------------------

# lose_entries NUMBER: as if the server had never got the last ones.
lose_entries()
{
	redis_dies
	python3 - "$T/redis/appendonlydir" "$1" <<-'END'
	import glob, sys
	name = sorted(glob.glob(sys.argv[1] + "/*.incr.aof"))[-1]
	text = open(name, "rb").read()
	for _ in range(int(sys.argv[2])):
	    text = text[:text.rindex(b"*", 0, text.rindex(b"$4\r\nXADD\r\n"))]
	open(name, "wb").write(text)
	END
	redis
}

# What others have published is published again, also if they are away.
t_the_log_loses_its_end()
{
	local last

	fleet a b
	adds a b 192.0.2.1
	adds a b 192.0.2.2
	down a KILL
	last=$(log_length)
	lose_entries 1
	wait_for "the end of the log" log_is "$last"
	says_log b 'has lost entries behind .*: 1 changes'
	joins c
	up a
	in_fleet a
	adds b a 192.0.2.3
	agree 3 a b c
}

# A host that was away publishes its delete again, which is older than what was listed since.
t_an_old_delete_makes_way()
{
	local length

	fleet a b
	adds a b 192.0.2.1
	of a -q del 192.0.2.1
	goes b 192.0.2.1
	down a KILL
	length=$(log_length)
	of b -q add 192.0.2.1 --comment new
	wait_for "it in the log" log_is $((length + 1))
	lose_entries 2
	wait_for "it in the log again" log_is "$length"
	up a
	in_fleet a
	agree 1 a b
	published a
}

# The log has lost that an entry was to expire, and since then it has.
t_what_has_expired_is_a_delete()
{
	local length

	fleet a b
	adds a b 192.0.2.1
	down b
	length=$(log_length)
	redis-cli -s "$T/a/run/api.sock" zadd default $(($(date +%s) + 600)) 192.0.2.1 >"$T/out"
	wait_for "it in the log" log_is $((length + 1))
	redis-cli -s "$T/a/run/api.sock" zadd default $(($(date +%s) + 2)) 192.0.2.1 >"$T/out"
	goes a 192.0.2.1
	published a
	lose_entries $(($(log_length) - length))
	up b
	goes b 192.0.2.1
	agree 0 a b
}

name_server
run_tests
