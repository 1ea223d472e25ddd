#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A fleet whose server is away, slow, read-only, full or refuses all: hosts filter, list and let expire as before, what
# was changed waits, status and metrics say so, and it goes on by itself when the server is well again.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

message_of() { field "$1" message; }
says_of() { message_of "$1" | contains "$2"; }

# is_well_alone HOST: it lists, takes out and lets expire, and drops what is listed, whatever the server does.
is_well_alone()
{
	of "$1" -q add 192.0.2.100 --timeout 2
	of "$1" -q add 192.0.2.101 192.0.2.102
	of "$1" -q del 192.0.2.101
	has "$1" 192.0.2.102 || fail "nothing is listed"
	wait_for "an end" has_not "$1" 192.0.2.100
	flood sleep 0.2
}

# guarded: a filters x0, where 10.77.0.3 comes from, which is listed. All of a's has been published: until a reads it
# in the log, it waits on a, though b has it.
guarded()
{
	of a -q add 10.77.0.3
	within=in_server
	of a -q attach x0
	wait_for "it" has b 10.77.0.3
	wait_for "an empty outbox" outbox_is a 0
}

# refuses MESSAGE: while the server takes no changes, a host that publishes is well, and says why nothing is published.
# The other one goes on reading.
refuses()
{
	patience=12
	is_well_alone a
	wait_for "its word" says_of a "cannot publish: .*$1"
	of a fleet | contains "^test: reading: cannot publish: .*$1" || fail "$(of a fleet)"
	[[ $(grep -c "cannot publish: .*$1" "$T/a/log") -eq 1 ]] || fail "it is said more than once: $(cat "$T/a/log")"
	wait_for "what waits" outbox_is a 4
	wait_for "the metric" metric_is a fleet_outbox_changes "$(field a outbox)"
	has_not b 192.0.2.102 || fail "it was published"
	wait_for "b" reads b
}

is_well_again()
{
	patience=12
	wait_for "what waited" has b 192.0.2.102
	wait_for "an empty outbox" outbox_is a 0
	wait_for "a good word" says_of a '^$'
	says_log a 'connected again|publishing works again'
	are_equal a b || fail "they differ"
	wait_for "the metric" metric_is a fleet_outbox_changes 0
	[[ $(metric a fleet_connected) == 1 ]] || fail "it is not connected: $(of a metrics | grep fleet)"
}

t_read_only()
{
	fleet a b
	guarded
	ask_redis replicaof 127.0.0.1 1 >"$T/out"
	refuses READONLY
	ask_redis replicaof no one >"$T/out"
	is_well_again
}

t_full()
{
	lines=('snapshot-every = 1')
	fleet a b
	guarded
	ask_redis config set maxmemory 1 >"$T/out"
	refuses OOM
	# Nor can a snapshot be made, which waits for what is to be published: b has nothing that waits.
	wait_for "its word" says_of b 'cannot make a snapshot: .*OOM'
	ask_redis config set maxmemory 0 >"$T/out"
	is_well_again
	wait_for "a snapshot" says_of b '^$'
}

# It takes connections and says nothing: as if it were stopped, or the network lost all packets.
t_slow()
{
	fleet a b
	guarded
	kill -STOP "$redis"
	is_well_alone a
	patience=12
	wait_for "its word" says_of a '^timeout: '
	wait_for "its word" says_of b '^timeout: '
	[[ $(metric a fleet_connected) == 0 ]] || fail "it is said to be connected"
	kill -CONT "$redis"
	is_well_again
}

t_away()
{
	fleet a b
	guarded
	redis_dies
	patience=12
	wait_for "its absence" is_in a connecting
	is_well_alone a
	[[ $(metric a fleet_connected) == 0 ]] || fail "it is said to be connected"
	of a fleet | contains '^test: connecting: no-connection: ' || fail "$(of a fleet)"
	wait_for "what waits" outbox_is a 4
	redis
	is_well_again
}

# A connection that is refused right after it was made does not begin the count anew. The waits double from 0.3 s, and
# no two hosts wait equally long.
t_backoff()
{
	nsenter --net="/run/netns/$server" python3 "$root/tests/e2e/refusing.py" "$T/redis.sock" >"$T/a.times" &
	wait_for "a server" test -S "$T/redis.sock"
	configure_host a
	up a
	nsenter --net="/run/netns/$server" python3 "$root/tests/e2e/refusing.py" "$T/other.sock" >"$T/b.times" &
	wait_for "a server" test -S "$T/other.sock"
	configure_host b "url = unix:$T/other.sock"
	up b
	patience=12
	wait_for "some attempts" are_attempts a 6
	wait_for "some attempts" are_attempts b 6
	python3 - "$T/a.times" "$T/b.times" <<-'END' || fail "$(paste "$T/a.times" "$T/b.times")"
	import sys
	hosts = [[float(line) for line in open(name)][:6] for name in sys.argv[1:]]
	waits = [[b - a for a, b in zip(times, times[1:])] for times in hosts]
	for host in waits:
	    for i, wait in enumerate(host):
	        assert wait > 0.3 * 2 ** i, (i, wait)
	assert any(abs(a - b) > 0.01 for a, b in zip(*waits)), waits
	END
	[[ $(grep -c 'LOADING' "$T/a/log") -eq 1 ]] || fail "it is not said once: $(cat "$T/a/log")"
	of a fleet | contains '^test: connecting: server-error: .*LOADING' || fail "$(of a fleet)"
}

are_attempts() { [[ $(wc -l <"$T/$1.times") -ge $2 ]]; }

run_tests
