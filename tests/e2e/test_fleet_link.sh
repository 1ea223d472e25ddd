#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The link of bloomd to a fleet's server: whom it lets be one, and what a server does to it. Each end has its outcome, which
# is said once. What a server may answer, unit/redis/test_replies has in full.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2119,SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

port=6390

# meets HOST PATTERN [LINE...]: a host with these lines in its section comes to a server, of which it will say that.
declare -A outcomes
meets()
{
	outcomes[$1]=$2
	configure_host "$1" "${@:3}"
	up "$1"
}

have_said()
{
	local host

	for host in "${!outcomes[@]}"; do
		logs "$host" "fleet: ${outcomes[$host]}.*; what is listed stays$" || return 1
	done
}

# each_says_it: and they can go on, and nothing of what they say cannot be shown.
each_says_it()
{
	local host

	(wait_for "an outcome" have_said) || fail "$(head -n 3 "$T"/*/log)"
	for host in "${!outcomes[@]}"; do
		kill -0 "${host_pid[$host]}" || fail "bloomd of $host has ended"
		says_once "$host" "fleet: ${outcomes[$host]}"
		! LC_ALL=C grep -q '[^ -~]' "$T/$host/log" || fail "what $host says cannot be shown: $(cat -v "$T/$host/log")"
	done
}

# certificate NAME CN SIGNER: NAME.crt and .key, signed by SIGNER.
certificate()
{
	openssl req -newkey rsa:2048 -nodes -keyout "$T/$1.key" -subj "/CN=$2" -out "$T/$1.csr" 2>/dev/null
	openssl x509 -req -in "$T/$1.csr" -CA "$T/$3.crt" -CAkey "$T/$3.key" -CAcreateserial -days 2 -out "$T/$1.crt" \
		-extfile <(echo "subjectAltName=DNS:localhost,IP:127.0.0.1") 2>/dev/null
}
authority() { openssl req -x509 -newkey rsa:2048 -nodes -keyout "$T/$1.key" -out "$T/$1.crt" -subj "/CN=$1" -days 2 2>/dev/null; }

# A server by TLS, which wants a certificate and a password.
t_who_is_let_in()
{
	local ca="ca = $T/ca.crt" mine=("cert = $T/client.crt" "cert-key = $T/client.key") word name

	authority ca && authority other && certificate server localhost ca && certificate client client ca
	certificate stranger stranger other
	for word in right wrong gone empty fifo; do
		(umask 077 && echo "hidden-$word" >"$T/$word")
	done
	cp "$T/ca.crt" "$T/gone.crt"
	lines=("url = rediss://localhost:$port" "password-file = $T/right")
	meets no-password "no-key: " "$ca" "${mine[@]}" "password-file = $T/gone"
	meets empty-password "no-key: " "$ca" "${mine[@]}" "password-file = $T/empty"
	meets fifo-password "no-key: " "$ca" "${mine[@]}" "password-file = $T/fifo"
	meets gone-ca "no-key: " "ca = $T/gone.crt" "${mine[@]}"
	rm "$T/gone" "$T/fifo" "$T/gone.crt"
	: >"$T/empty"
	mkfifo "$T/fifo"
	outcomes=() # before there is a server, they all say that
	serve_fleet --bind 127.0.0.1 127.0.0.2 --dir "$T" --port 0 --tls-port $port --tls-cert-file "$T/server.crt" \
		--tls-key-file "$T/server.key" --tls-ca-cert-file "$T/ca.crt" --requirepass hidden-right
	ask_redis() { redis-cli -s "$T/redis.sock" --no-auth-warning -a hidden-right "$@"; }
	ask_redis acl setuser bloom on '>hidden-bloom' '~*' '&*' +@all >"$T/out"
	(umask 077 && echo hidden-bloom >"$T/bloom")
	for name in no-password empty-password fifo-password gone-ca; do
		outcomes[$name]="no-key: "
	done
	meets wrong-password 'auth: .*WRONGPASS' "$ca" "${mine[@]}" "password-file = $T/wrong"
	meets password-of-another 'auth: .*WRONGPASS' "$ca" "${mine[@]}" 'user = bloom'
	meets wrong-ca 'tls: ' "ca = $T/other.crt" "${mine[@]}"
	meets no-ca 'tls: ' "${mine[@]}"
	meets another-address 'tls: ' "$ca" "${mine[@]}" "url = rediss://127.0.0.2:$port"
	meets no-certificate 'tls: ' "$ca"
	meets stranger 'tls: ' "$ca" "cert = $T/stranger.crt" "cert-key = $T/stranger.key"
	meets another-key 'no-key: ' "$ca" "${mine[0]}" "cert-key = $T/server.key"
	meets in-the-clear '[a-z-]*: ' "url = redis://localhost:$port"
	meets nobody-there 'no-connection: ' "url = redis://127.0.0.1:$((port + 1))"
	meets no-socket 'no-connection: ' "url = unix:$T/none.sock"
	meets no-name 'no-name: ' 'url = rediss://no.such.host.invalid' "$ca"
	joins a "$ca" "${mine[@]}"
	joins b "$ca" "${mine[@]}" "url = rediss://127.0.0.1:$port" 'user = bloom' "password-file = $T/bloom"
	adds a b 192.0.2.1
	lines=()
	meets without-password 'auth: .*NOAUTH'
	each_says_it
	! grep hidden "$T"/*/log || fail "a password is shown"
	# An answer of 8 MB comes through.
	ask_redis eval "redis.call('hset', KEYS[1], 'x', ('x'):rep(10000):rep(800))" 1 'xb:{test}:reports' >"$T/out"
	ask_redis config resetstat >"$T/out"
	wait_for "the reports" called hgetall 4
	adds b a 192.0.2.2
	! logs a 'what is listed stays' || fail "the connection was lost: $(cat "$T/a/log")"
}

# all_have_said: and meanwhile no process of theirs takes too much memory, in kB.
most=0
all_have_said()
{
	local pid now

	for pid in $(pgrep -x 'bloomd|bloomd-redis'); do
		now=$(awk '/^VmHWM/ {print $2}' "/proc/$pid/status" 2>/dev/null)
		[[ ${now:-0} -le $most ]] || most=$now
	done
	have_said
}

# Each is a server of its own.
t_hostile_servers()
{
	local kind begun=$SECONDS
	local -A kinds=(
		[endless-bulk]=too-large [endless-array]=too-large [many-arrays]=too-large [deep]=too-large
		[endless-line]=protocol [garbage]=protocol [twice]=protocol [endless-answers]=protocol
		[huge-length]=timeout [silent]=timeout [mute]=timeout [half]=closed [nothing]=closed [denied]=auth
	)

	for kind in "${!kinds[@]}"; do
		python3 "$root/tests/e2e/hostileserver.py" "$T/$kind.sock" "$kind" >"$T/times" &
		wait_for "a server" test -S "$T/$kind.sock"
		meets "$kind" "${kinds[$kind]}: " "url = unix:$T/$kind.sock"
	done
	until all_have_said; do
		[[ $((SECONDS - begun)) -lt $((15 * patience)) ]] || fail "$(head -n 3 "$T"/*/log)"
		rest 0.05
	done
	is_sanitized || [[ $most -lt 262144 ]] || fail "a process takes $most KiB"
	each_says_it
	says_log twice 'the server sent an answer without a request'
	says_log endless-answers 'the server sent an answer without a request'
}

name_server
run_tests
