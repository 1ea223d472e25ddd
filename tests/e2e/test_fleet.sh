#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Hosts that share a list through a server of Redis: what one of them lists is listed on all, and nothing
# that happens to the server takes anything out.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

t_what_one_lists_all_list()
{
	fleet a b c
	of a -q add 192.0.2.1 --comment "port scan" --timeout 3000
	wait_for "it" has b 192.0.2.1
	wait_for "it" has c 192.0.2.1
	wait_for "the same" are_equal a b c
	listing c | contains 'expires .* comment "port scan"' || fail "time or comment is lost: $(listing c)"
	[[ $(listing c) == "$(listing a)" ]] || fail "it was added at another time: $(listing a; listing c)"
	of c save | contains '"origins":\["fleet"\]' || fail "it does not say that it is another's"
	! of a save | contains origins || fail "it says that it is another's"
	of b -q del 192.0.2.1
	wait_for "its end" has_not a 192.0.2.1
	wait_for "its end" has_not c 192.0.2.1
	of c -q add 198.51.100.0/24 evil.example
	wait_for "them" has a evil.example
	wait_for "them" has b 198.51.100.0/24
	wait_for "the same" are_equal a b c
	[[ $(field a outbox) -eq 0 ]] || fail "something waits"
}

t_a_host_that_was_away()
{
	fleet a b
	down b
	of a -q add 192.0.2.1 192.0.2.2
	of a -q del 192.0.2.1
	of b -q add 192.0.2.3
	up b
	wait_for "what came meanwhile" has b 192.0.2.2
	wait_for "what was listed meanwhile" has a 192.0.2.3
	wait_for "the same" are_equal a b
	has_not b 192.0.2.1 || fail "what went stays"
}

t_the_server_is_killed()
{
	fleet a b c
	of a -q add 192.0.2.1
	wait_for "it" has b 192.0.2.1
	redis_dies
	of a -q add 192.0.2.2
	of b -q del 192.0.2.1
	wait_for "its absence" is_in c connecting
	has c 192.0.2.1 || fail "it is gone with the server"
	redis
	patience=4
	wait_for "what was listed meanwhile" has c 192.0.2.2
	wait_for "what went meanwhile" has_not c 192.0.2.1
	wait_for "the same" are_equal a b c
	says_log c 'fleet: .*; what is listed stays'
}

t_the_server_is_emptied()
{
	fleet a b c
	of a -q add 192.0.2.1 192.0.2.2 192.0.2.3
	wait_for "them" has c 192.0.2.3
	ask_redis flushall >"$T/out"
	patience=6
	wait_for "a new log" log_is_there
	of b -q add 192.0.2.4
	wait_for "what follows" has c 192.0.2.4
	wait_for "what follows" has a 192.0.2.4
	wait_for "the same" are_equal a b c
	[[ $(listing a | wc -l) -eq 4 ]] || fail "something is gone: $(listing a)"
	[[ $(cat "$T"/?/log | grep -c 'began a log at .*, term 2') -eq 1 ]] || fail "not one of them began: $(cat "$T"/?/log)"
}

log_is_there() { [[ $(log_length) -gt 0 ]]; }

# Between the moment when the log has an entry and that when the store knows it.
t_killed_before_the_commit()
{
	fleet a b
	down a
	XB_FAULT=fleet-published up a "$XB_TEST_DIR/bin/bloomd-fault"
	wait_for "a in the fleet" reads a
	of a -q add 192.0.2.1
	wait_for "it" has b 192.0.2.1
	wait "${host_pid[a]}" || true
	before=$(log_length)
	up a
	wait_for "a in the fleet" reads a
	wait_for "an empty outbox" outbox_is a 0
	[[ $(log_length) -eq $before ]] || fail "it was published twice"
	of a -q add 192.0.2.2
	wait_for "the next" has b 192.0.2.2
	[[ $(log_length) -eq $((before + 1)) ]] || fail "$before entries became $(log_length)"
}

# The rules of docs/fleet.md for a host that follows.
t_a_follower_that_may_not_publish()
{
	fleet a
	# shellcheck disable=SC2046 # they are words
	ask_redis acl setuser follower $(fleet_rules follower) >"$T/out"
	grep -qx OK "$T/out" || fail "$(cat "$T/out")"
	(umask 077 && echo secret >"$T/password")
	configure_host b 'user = follower' "password-file = $T/password"
	up b
	wait_for "b in the fleet" reads b
	of a -q add 192.0.2.1
	wait_for "it" has b 192.0.2.1
	before=$(log_length)
	of b -q add 192.0.2.2
	wait_for "the refusal" grep -q 'fleet: cannot publish: .*NOPERM' "$T/b/log"
	[[ $(log_length) -eq $before ]] || fail "it was published"
	has b 192.0.2.2 || fail "it is not listed here"
	outbox_is b 1 || fail "it does not wait"
	of a -q add 192.0.2.3
	wait_for "what follows" has b 192.0.2.3
}

t_requests_of_an_operator()
{
	fleet a b
	of a -q add 192.0.2.1
	wait_for "it" has b 192.0.2.1
	! of b -q fleet accept || fail "there was nothing to accept"
	grep -q 'nothing waits to be accepted' "$T/b/err" || fail "$(cat "$T/b/err")"
	of b -q fleet resync
	patience=4
	wait_for "a resync" grep -q 'resynced (asked)' "$T/b/log"
	wait_for "b in the fleet" reads b
	wait_for "the same" are_equal a b
	of b fleet | contains '^  list     default, 1 entries, published, followed$' || fail "$(of b fleet)"
	! of b -q fleet nonsense || fail "it is no subcommand"
}

t_what_is_wrong_with_the_configuration()
{
	configure_host a
	for line in 'url = http://x' 'name = a b' 'publish = allow' 'follow =' 'password-file = /none' 'snapshot-every = 0' \
		'cert = /dev/null' 'user = x' 'url = redis://10.0.0.1' 'colour = red'; do
		configure_host a "$line"
		! "$bloomd" --config "$T/a/bloomd.conf" --check 2>"$T/err" || fail "$line is taken"
		[[ $(wc -l <"$T/err") -eq 1 ]] || fail "$line: $(cat "$T/err")"
	done
	(umask 022 && echo secret-secret-secret >"$T/key")
	configure_host a "key-file = $T/key"
	! "$bloomd" --config "$T/a/bloomd.conf" --check 2>"$T/err" || fail "everybody can read the key"
	grep -q "bloomd.conf:6: everybody can read $T/key: chmod o-r" "$T/err" || fail "$(cat "$T/err")"
}

# The log loses its end, as in a failover: what others have published is published again.
t_the_log_loses_its_end()
{
	local last

	fleet a b
	of a -q add 192.0.2.1
	wait_for "it" has b 192.0.2.1
	of a -q add 192.0.2.2
	wait_for "it" has b 192.0.2.2
	last=$(log_length)
	# The first that finds it publishes again what both have.
	kill -STOP "${host_pid[b]}"
	lose_entries 1
	patience=6
	wait_for "the end of the log" log_is "$last"
	says_log a 'has lost entries behind .*: 1 changes'
	kill -CONT "${host_pid[b]}"
	of b -q add 192.0.2.3
	wait_for "what follows" has a 192.0.2.3
	wait_for "the same" are_equal a b
	[[ $(listing a | wc -l) -eq 3 ]] || fail "something is gone: $(listing a)"
}

log_is() { [[ $(log_length) -eq $1 ]]; }

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

# A host that was away publishes its delete again, which is older than what was listed since.
t_an_old_delete_makes_way()
{
	local length

	fleet a b
	of a -q add 192.0.2.1
	wait_for "it" has b 192.0.2.1
	of a -q del 192.0.2.1
	wait_for "its end" has_not b 192.0.2.1
	down a KILL
	length=$(log_length)
	of b -q add 192.0.2.1 --comment new
	wait_for "it in the log" log_is $((length + 1))
	lose_entries 2
	patience=6
	wait_for "it in the log again" log_is "$length"
	up a
	wait_for "a in the fleet" reads a
	wait_for "the same" are_equal a b
	has b 192.0.2.1 || fail "it was taken out again"
	wait_for "an empty outbox" outbox_is a 0
}

# The log has lost that an entry was to expire, and since then it has.
t_what_has_expired_is_a_delete()
{
	local length

	fleet a b
	of a -q add 192.0.2.1
	wait_for "it" has b 192.0.2.1
	down b
	length=$(log_length)
	redis-cli -s "$T/a/run/api.sock" zadd default $(($(date +%s) + 600)) 192.0.2.1 >"$T/out"
	wait_for "it in the log" log_is $((length + 1))
	redis-cli -s "$T/a/run/api.sock" zadd default $(($(date +%s) + 2)) 192.0.2.1 >"$T/out"
	wait_for "its end" has_not a 192.0.2.1
	wait_for "an empty outbox" outbox_is a 0
	lose_entries $(($(log_length) - length))
	up b
	patience=6
	wait_for "its end" has_not b 192.0.2.1
	wait_for "the same" are_equal a b
}

# What a host had from another one that is away is not lost with the log.
t_what_another_listed_is_published_again()
{
	fleet a b c
	down c
	of a -q add 192.0.2.1
	wait_for "it" has b 192.0.2.1
	down a KILL
	lose_entries 1
	up c
	patience=6
	wait_for "what b has from a" has c 192.0.2.1
	wait_for "the same" are_equal b c
}

# bloomd cannot tell of it.
t_what_waits_is_counted_at_once()
{
	fleet a
	wait_for "an empty outbox" outbox_is a 0
	kill -STOP "${host_pid[a]}"
	of a -q add 192.0.2.1 192.0.2.2
	outbox_is a 2 || fail "$(field a outbox) changes wait"
	of a fleet | contains 'outbox *2 to publish' || fail "$(of a fleet)"
	kill -CONT "${host_pid[a]}"
	wait_for "an empty outbox" outbox_is a 0
}

name_server
run_tests
