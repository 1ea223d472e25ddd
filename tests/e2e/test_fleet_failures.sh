#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What goes wrong in a fleet, as the table of docs/fleet.md says it: whatever happens, a host drops what it has listed, and
# takes nothing out that nobody took back.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2030,SC2031,SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

# said HOST PATTERN: in its log, sooner or later.
said() { (patience=$((5 * patience)) && wait_for "'$2' on $1" grep -qE -- "$2" "$T/$1/log") || fail "$(cat "$T/$1/log")"; }

# agree HOST HOST: on the same, in time.
agree() { (patience=$((10 * patience)) && wait_for "the same" are_equal "$1" "$2") || fail "$(listing "$1"; listing "$2")"; }

# comes HOST ENTRY
comes() { (patience=$((10 * patience)) && wait_for "$2 on $1" has "$1" "$2") || fail "$(field "$1" message): $(cat "$T/$1/log")"; }

# --- the server -------------------------------------------------------------------------------------

t_server_has_an_older_backup()
{
	fleet a b
	of a -q add 192.0.2.1 192.0.2.2
	comes b 192.0.2.2
	redis_dies
	cp -a "$T/redis" "$T/backup"
	redis
	patience=$((4 * patience)) wait_for "b in the fleet" reads b
	of a -q add 192.0.2.3
	of b -q del 192.0.2.1
	comes b 192.0.2.3
	wait_for "the end of one" has_not a 192.0.2.1
	redis_dies
	rm -rf "$T/redis"
	mv "$T/backup" "$T/redis"
	redis
	said a 'has lost entries'
	said b 'has lost entries'
	of a -q add 192.0.2.4
	comes b 192.0.2.4
	agree a b
	[[ $(listing a | wc -l) -eq 3 ]] && has_not a 192.0.2.1 || fail "not as it was: $(listing a)"
	ask_redis xrange 'xb:{test}:log' - + >"$T/log.text"
}

# As docs/fleet.md says it of fleets with more than a thousand hosts.
t_hosts_behind_a_replica()
{
	fleet a
	ask_redis config set port 6393 >"$T/out"
	mkdir "$T/copy"
	nsenter --net="/run/netns/$server" "$T/redis-server" --port 0 --unixsocket "$T/copy.sock" --dir "$T/copy" --save '' \
		--replicaof 127.0.0.1 6393 >"$T/copy.log" 2>&1 &
	wait_for "a replica" grep -qE '(MASTER|PRIMARY) <-> REPLICA sync: Finished' "$T/copy.log"
	mkdir "$T/b"
	printf '%s\n' '[fleet]' "url = unix:$T/copy.sock" 'name = test' 'follow = default' >"$T/b/bloomd.conf"
	up b
	(patience=$((4 * patience)) && wait_for "b in the fleet" reads b) || fail "$(field b message)"
	of a -q add 192.0.2.1
	comes b 192.0.2.1
	redis_dies
	of a -q add 192.0.2.2
	wait_for "its absence" is_in a connecting
	reads b && has b 192.0.2.1 || fail "b does not read on"
	redis
	ask_redis config set port 6393 >"$T/out"
	comes b 192.0.2.2
	said b 'fleet: .*READONLY'
	[[ $(grep -c READONLY "$T/b/log") -eq 1 ]] || fail "it is said more than once: $(cat "$T/b/log")"
}

# --- the way to it ----------------------------------------------------------------------------------

t_password_is_wrong()
{
	fleet a
	ask_redis acl setuser one on '>right-one' '~*' '&*' +@all >"$T/out"
	(umask 077 && echo wrong-one >"$T/password")
	configure_host b 'user = one' "password-file = $T/password"
	up b
	said b 'fleet: auth: .*WRONGPASS'
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
	sleep 2
	ask_redis config set tls-cert-file "$T/server.crt" tls-key-file "$T/server.key" tls-ca-cert-file "$T/good.crt" \
		tls-auth-clients no tls-port 6391 >"$T/out"
	grep -qx OK "$T/out" || fail "$(cat "$T/out")"
	configure_host b "ca = $T/good.crt" 'url = rediss://localhost:6391'
	up b
	of b -q add 192.0.2.2
	said b 'fleet: tls: .*expired'
	has b 192.0.2.2 || fail "it is not listed here"
	ask_redis config set tls-cert-file "$T/good.crt" tls-key-file "$T/server.key" >"$T/out"
	comes a 192.0.2.2
}

t_two_fleets_on_one_server()
{
	fleet a
	configure_host b 'name = other'
	up b
	wait_for "b in its fleet" reads b
	of a -q add 192.0.2.1
	of b -q add 192.0.2.2
	wait_for "a's entry" outbox_is a 0
	wait_for "b's entry" outbox_is b 0
	has_not a 192.0.2.2 && has_not b 192.0.2.1 || fail "they share"
	# shellcheck disable=SC2046 # they are words
	ask_redis acl setuser publisher $(fleet_rules publisher) >"$T/out"
	grep -qx OK "$T/out" || fail "$(cat "$T/out")"
	for words in "xadd xb:{other}:log 99-0 e x" "get xb:{other}:snapshot" "del xb:{other}:log" "flushall" "keys x" "config get port"; do
		# shellcheck disable=SC2086 # they are words
		ask_redis --no-auth-warning --user publisher --pass secret $words >"$T/out" 2>&1 || true
		grep -q NOPERM "$T/out" || fail "a publisher of test may: $words: $(cat "$T/out")"
	done
	# shellcheck disable=SC2046
	ask_redis acl setuser follower $(fleet_rules follower) >"$T/out"
	for words in "xadd xb:{test}:log 99-0 e x" "set xb:{test}:snapshot x" "del xb:{test}:log" "xtrim xb:{test}:log maxlen 0"; do
		# shellcheck disable=SC2086
		ask_redis --no-auth-warning --user follower --pass secret $words >"$T/out" 2>&1 || true
		grep -q NOPERM "$T/out" || fail "a follower may: $words: $(cat "$T/out")"
	done
}

# Host by host; what is listed on those that have not moved yet is not lost.
t_server_has_another_address()
{
	local first

	fleet a b
	of a -q add 192.0.2.1
	comes b 192.0.2.1
	first=$redis
	nsenter --net="/run/netns/$server" "$T/redis-server" --port 0 --unixsocket "$T/other.sock" --dir "$T" --save '' \
		>"$T/other.log" 2>&1 &
	wait_for "another server" test -S "$T/other.sock"
	configure_host a "url = unix:$T/other.sock"
	kill -HUP "${host_pid[a]}"
	said a 'began a log at .*, term 2'
	of a -q add 192.0.2.2
	of b -q add 192.0.2.3
	wait_for "it in the former log" outbox_is b 0
	kill -KILL "$first"
	configure_host b "url = unix:$T/other.sock"
	kill -HUP "${host_pid[b]}"
	comes b 192.0.2.2
	comes a 192.0.2.3
	agree a b
	[[ $(listing a | wc -l) -eq 3 ]] || fail "something is gone: $(listing a)"
}

t_another_key()
{
	(umask 077 && openssl rand -hex 32 >"$T/right" && openssl rand -hex 32 >"$T/wrong")
	redis
	configure_host a "key-file = $T/right"
	up a
	(patience=$((4 * patience)) && wait_for "a in the fleet" reads a)
	of a -q add 192.0.2.1
	wait_for "it in the log" outbox_is a 0
	configure_host b "key-file = $T/wrong"
	up b
	of b -q add 192.0.2.2
	said b 'fleet: cannot resync: .*another key'
	has_not b 192.0.2.1 && has b 192.0.2.2 || fail "it takes what it cannot know"
	has_not a 192.0.2.2 || fail "a takes what another key has made"
	configure_host b "key-file = $T/right"
	kill -HUP "${host_pid[b]}"
	comes b 192.0.2.1
	comes a 192.0.2.2
}

# Another key and another name for all of them.
t_key_is_lost()
{
	(umask 077 && openssl rand -hex 32 >"$T/former" && openssl rand -hex 32 >"$T/new")
	redis
	for host in a b; do
		configure_host $host "key-file = $T/former"
		up $host
		(patience=$((4 * patience)) && wait_for "$host in the fleet" reads $host)
	done
	of a -q add 192.0.2.1
	comes b 192.0.2.1
	for host in a b; do
		configure_host $host "key-file = $T/new" 'name = test2'
		kill -HUP "${host_pid[$host]}"
	done
	of a -q add 192.0.2.2
	of b -q add 192.0.2.3
	comes b 192.0.2.2
	comes a 192.0.2.3
	agree a b
	[[ $(listing a | wc -l) -eq 3 ]] || fail "something is gone: $(listing a)"
}

# --- hosts ------------------------------------------------------------------------------------------

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
	patience=$((4 * patience)) wait_for "a in the fleet" reads a
	(patience=$((6 * patience)) && wait_for "an empty outbox" outbox_is a 0 && wait_for "an empty outbox" outbox_is b 0)
	agree a b
	[[ $(added a) == "$first" && $(added b) > $first ]] || fail "a host's own time is lost: $(listing a; listing b)"
}

added() { listing "$1" | sed -n 's/.* added \([^ ]*\).*/\1/p'; }
is_after() { [[ $(date -u +%FT%TZ) > $1 ]]; }

t_list_has_another_name()
{
	fleet a b
	of a -q add 192.0.2.1
	comes b 192.0.2.1
	configure_host a 'publish = blocks' 'follow = blocks'
	kill -HUP "${host_pid[a]}"
	(patience=$((4 * patience)) && wait_for "the other list" shares a blocks)
	of a -q add 192.0.2.2 --list blocks
	of a -q add 192.0.2.3
	of b -q add 192.0.2.4
	wait_for "an empty outbox" outbox_is a 0
	has a 192.0.2.1 || fail "the former list is gone"
	has_not b 192.0.2.2 && has_not b 192.0.2.3 || fail "b has what it does not share"
	configure_host b 'publish = blocks' 'follow = blocks'
	kill -HUP "${host_pid[b]}"
	comes b '192.0.2.2 list blocks'
	has_not a 192.0.2.4 || fail "a has what it no longer shares"
	has b 192.0.2.1 || fail "the former list is gone"
}

shares() { reads "$1" && of "$1" fleet | contains "list     $2, "; }

t_host_leaves()
{
	fleet a b
	of a -q add 192.0.2.1
	comes b 192.0.2.1
	: >"$T/b/bloomd.conf"
	kill -HUP "${host_pid[b]}"
	said b 'no longer in the fleet test: its lists stay as they are'
	has b 192.0.2.1 || fail "its list is gone"
	of b -q del 192.0.2.1
	of a -q add 192.0.2.2
	wait_for "it in the log" outbox_is a 0
	has a 192.0.2.1 && has_not b 192.0.2.2 || fail "it is still in the fleet"
}

# With an identity and numbers that the log knows already.
t_store_of_a_host_is_an_older_copy()
{
	fleet a b
	of b -q add 192.0.2.1
	comes a 192.0.2.1
	down b
	cp -a "$T/b/state" "$T/copy"
	up b
	(patience=$((4 * patience)) && wait_for "b in the fleet" reads b)
	of b -q add 192.0.2.2
	comes a 192.0.2.2
	down b KILL
	rm -rf "$T/b/state"
	mv "$T/copy" "$T/b/state"
	of b -q add 192.0.2.3
	up b
	comes b 192.0.2.2
	comes a 192.0.2.3
	agree a b
}

# The copy leaves the fleet before it joins as another host.
t_copied_machine()
{
	fleet a b
	of b -q add 192.0.2.1
	comes a 192.0.2.1
	down b
	cp -a "$T/b/state" "$T/copy"
	up b
	mkdir "$T/c"
	mv "$T/copy" "$T/c/state"
	: >"$T/c/bloomd.conf"
	up c
	said c 'no longer in the fleet test'
	down c
	configure_host c
	up c
	(patience=$((4 * patience)) && wait_for "c in the fleet" reads c)
	[[ $(field b host) != "$(field c host)" ]] || fail "they are one host"
	of c -q add 192.0.2.2
	of b -q add 192.0.2.3
	comes a 192.0.2.2
	comes a 192.0.2.3
	agree b c
}

run_tests
