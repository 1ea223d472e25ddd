#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A fleet whose server is away, slow, read-only, full, elsewhere or refuses all: hosts filter, list and let expire as before,
# what was changed waits, status and metrics say so, and it goes on by itself when the server is well again.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

says_of() { field "$1" message | contains "$2"; }

# is_well_alone HOST: it lists, takes out and lets expire, and drops what is listed, whatever the server does.
is_well_alone()
{
	of "$1" -q add 192.0.2.100 --timeout 2
	of "$1" -q add 192.0.2.101 192.0.2.102
	of "$1" -q del 192.0.2.101
	has "$1" 192.0.2.102 || fail "nothing is listed"
	goes "$1" 192.0.2.100
	flood sleep 0.2
}

# guarded: a filters x0, where 10.77.0.3 comes from, which is listed. All of a's has been published: until a reads it
# in the log, it waits on a, though b has it.
guarded()
{
	of a -q add 10.77.0.3
	within=in_server
	of a -q attach x0
	comes b 10.77.0.3
	published a
}

# refuses MESSAGE: while the server takes no changes, a host that publishes is well, and says why nothing is published.
# The other one goes on reading.
refuses()
{
	is_well_alone a
	wait_for "its word" says_of a "cannot publish: .*$1"
	shows a "^test: reading: cannot publish: .*$1" || fail "$(of a fleet)"
	said_once a "cannot publish: .*$1"
	wait_for "what waits" outbox_is a 4
	wait_for "the metric" metric_is a fleet_outbox_changes "$(field a outbox)"
	has_not b 192.0.2.102 || fail "it was published"
	in_fleet b
}

is_well_again()
{
	comes b 192.0.2.102
	published a
	wait_for "a good word" says_of a '^$'
	says_log a 'connected again|publishing works again'
	agree - a b
	wait_for "the metric" metric_is a fleet_outbox_changes 0
	metric_is a fleet_connected 1 || fail "it is not connected: $(of a metrics | grep fleet)"
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
	wait_for "its word" says_of a '^timeout: '
	wait_for "its word" says_of b '^timeout: '
	metric_is a fleet_connected 0 || fail "it is said to be connected"
	kill -CONT "$redis"
	is_well_again
}

t_away()
{
	fleet a b
	guarded
	adds a b 192.0.2.1
	redis_dies
	wait_for "its absence" is_in a connecting
	is_well_alone a
	of b -q del 192.0.2.1
	metric_is a fleet_connected 0 || fail "it is said to be connected"
	shows a '^test: connecting: no-connection: ' || fail "$(of a fleet)"
	has a 192.0.2.1 || fail "it is gone with the server"
	wait_for "what waits" outbox_is a 4
	says_log a 'fleet: .*; what is listed stays'
	redis
	is_well_again
	goes a 192.0.2.1
}

# A connection that is refused right after it was made does not begin the count anew. The waits double from 0.3 s, and
# no two hosts wait equally long.
t_backoff()
{
	local host

	for host in a b; do
		nsenter --net="/run/netns/$server" python3 "$root/tests/e2e/hostileserver.py" "$T/$host.sock" loading >"$T/$host.times" &
		wait_for "a server" test -S "$T/$host.sock"
		configure_host $host "url = unix:$T/$host.sock"
		up $host
	done
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
	said_once a LOADING
	shows a '^test: connecting: server-error: .*LOADING' || fail "$(of a fleet)"
}

are_attempts() { [[ $(wc -l <"$T/$1.times") -ge $2 ]]; }

# --- the way to it ----------------------------------------------------------------------------------

# As docs/fleet.md says it of fleets with more than a thousand hosts.
t_hosts_behind_a_replica()
{
	fleet a
	ask_redis config set port 6393 >"$T/out"
	mkdir "$T/copy"
	another_server copy --replicaof 127.0.0.1 6393
	wait_for "a replica" grep -qE '(MASTER|PRIMARY) <-> REPLICA sync: Finished' "$T/copy.log"
	configure_follower b "url = unix:$T/copy.sock"
	up b
	in_fleet b
	adds a b 192.0.2.1
	redis_dies
	of a -q add 192.0.2.2
	wait_for "its absence" is_in a connecting
	reads b && has b 192.0.2.1 || fail "b does not read on"
	redis
	ask_redis config set port 6393 >"$T/out"
	comes b 192.0.2.2
	said_once b 'fleet: .*READONLY'
}

# another_server NAME OPTION...: $another is its number.
another_server()
{
	mkdir -p "$T/$1"
	nsenter --net="/run/netns/$server" "$T/redis-server" --port 0 --unixsocket "$T/$1.sock" --dir "$T/$1" --save '' \
		"${@:2}" >"$T/$1.log" 2>&1 &
	another=$!
	wait_for "another server" test -S "$T/$1.sock"
}

# Host by host, and then it is empty; what is listed on those that have not moved yet is not lost.
t_server_has_another_address()
{
	fleet a b
	adds a b 192.0.2.1
	another_server other
	configure_host a "url = unix:$T/other.sock"
	reload a
	began_one 2
	of a -q add 192.0.2.2
	of b -q add 192.0.2.3
	published b
	redis_dies
	configure_host b "url = unix:$T/other.sock"
	reload b
	comes b 192.0.2.2
	comes a 192.0.2.3
	agree 3 a b
}

t_password_is_wrong()
{
	fleet a
	ask_redis acl setuser one on '>right-one' '~*' '&*' +@all >"$T/out"
	(umask 077 && echo wrong-one >"$T/password")
	configure_host b 'user = one' "password-file = $T/password"
	up b
	says_log b 'fleet: auth: .*WRONGPASS'
	of b -q add 192.0.2.2
	of a -q add 192.0.2.1
	! grep -r wrong-one "$T/b" || fail "the password is shown"
	# No reload is needed.
	(umask 077 && echo right-one >"$T/password")
	comes b 192.0.2.1
	comes a 192.0.2.2
}

t_certificate_is_expired()
{
	fleet a
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$T/server.key" -out "$T/good.crt" -subj /CN=localhost -days 2 \
		-addext subjectAltName=DNS:localhost 2>/dev/null
	openssl req -new -key "$T/server.key" -subj /CN=server -out "$T/server.csr" 2>/dev/null
	openssl x509 -req -in "$T/server.csr" -CA "$T/good.crt" -CAkey "$T/server.key" -CAcreateserial -days 0 \
		-extfile <(echo subjectAltName=DNS:localhost) -out "$T/server.crt" 2>/dev/null
	wait_for "its end" is_expired "$T/server.crt"
	ask_redis config set tls-cert-file "$T/server.crt" tls-key-file "$T/server.key" tls-ca-cert-file "$T/good.crt" \
		tls-auth-clients no tls-port 6391 >"$T/out"
	grep -qx OK "$T/out" || fail "$(cat "$T/out")"
	configure_host b "ca = $T/good.crt" 'url = rediss://localhost:6391'
	up b
	of b -q add 192.0.2.2
	says_log b 'fleet: tls: .*expired'
	has b 192.0.2.2 || fail "it is not listed here"
	ask_redis config set tls-cert-file "$T/good.crt" tls-key-file "$T/server.key" >"$T/out"
	comes a 192.0.2.2
}

is_expired() { ! openssl x509 -noout -checkend 0 -in "$1"; }

run_tests
