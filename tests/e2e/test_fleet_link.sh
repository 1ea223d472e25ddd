#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The link of bloomd to a fleet's server: a driver of it against a real server, and against hostile ones. Each end has
# its outcome.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2119,SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

port=6390

# driver WORD...: asks the lines of $asks; what comes of it is in $T/out.
driver()
{
	printf '%b' "${asks:-}" | in_server timeout 300 "$XB_TEST_DIR/bin/linkdriver" "$@" 2>&1 | tee -a "$T/all" >"$T/out"
}

# links WORD... / ends OUTCOME WORD...: it is ready and answers all / it is lost with this outcome.
links() { driver "$@" || fail "$*: $(cat "$T/out")"; grep -qx ready "$T/out" || fail "$*: not ready"; }
ends()
{
	! driver "${@:2}" || fail "${*:2}: not lost: $(cat "$T/out")"
	grep -q "^lost $1: " "$T/out" || fail "${*:2}: not $1: $(cat "$T/out")"
	[[ $(grep -c '^lost ' "$T/out") -eq 1 ]] || fail "${*:2}: lost more than once"
	! LC_ALL=C grep -q '[^ -~]' "$T/out" || fail "${*:2}: what is said cannot be shown: $(cat -v "$T/out")"
}
says() { grep -qE "$1" "$T/out" || fail "it does not say '$1': $(cat "$T/out")"; }

# server_begins WORD...: a real one, on a socket, and on what the words say.
server_begins() { serve_fleet --bind 127.0.0.1 127.0.0.2 --dir "$T" "$@"; }
server_ends() { kill -9 "$redis" 2>/dev/null; wait "$redis" 2>/dev/null || true; rm -f "$T/redis.sock"; }

t_requests_and_answers()
{
	server_begins --port $port
	asks='PING\nSET a b\nGET a\nGET none\nINCR n\nXADD log 1-0 e hello\nXRANGE log - +\nNONSENSE\nSET big @8000000\nGET big\nGET none\nXRANGE log 2-0 +\n'
	for url in "unix:$T/redis.sock" "redis://127.0.0.1:$port" "redis://localhost:$port"; do
		in_server redis-cli -p $port flushall >/dev/null
		links "$url"
		cat >"$T/wanted" <<-END
			ready
			status PONG
			status OK
			string b
			nil
			number 1
			string 1-0
			array of 1
			  array of 2
			    string 1-0
			    array of 2
			      string e
			      string hello
		END
		head -n 13 "$T/out" | diff "$T/wanted" - || fail "$url: other answers"
		says "^error ERR unknown command 'NONSENSE'"
		says '^string of 8000000$'
		# After an answer so large that its memory is given back.
		[[ $(tail -n 2 "$T/out") == $'nil\narray of 0' ]] || fail "$url: $(tail -n 3 "$T/out")"
	done
	# The link is closed in an answer.
	asks='PING\n' CLOSES=1 links "unix:$T/redis.sock"
	server_ends
}

t_no_server()
{
	ends no-connection redis://127.0.0.1:$port
	ends no-connection "unix:$T/none.sock"
	ends no-name redis://no.such.host.invalid
	for url in http://x redis:// redis://a:b@c redis://a:0 redis://a:65536 'redis://[::1' redis://a/1 unix:x; do
		! driver "$url" || fail "$url is one"
		says '^refused: '
	done
}

t_passwords()
{
	server_begins --port $port --requirepass hidden-1
	in_server redis-cli -p $port -a hidden-1 ACL SETUSER bloom on '>hidden-2' allkeys +ping +get +set >/dev/null 2>&1
	echo hidden-1 >"$T/default" && echo hidden-2 >"$T/bloom" && echo hidden-3 >"$T/wrong" && : >"$T/empty"
	asks='PING\n'
	links -p "$T/default" redis://127.0.0.1:$port
	links -u bloom -p "$T/bloom" "unix:$T/redis.sock"
	ends auth -p "$T/wrong" redis://127.0.0.1:$port
	ends auth -u bloom -p "$T/default" redis://127.0.0.1:$port
	ends auth redis://127.0.0.1:$port
	says NOAUTH
	ends no-key -p "$T/none" redis://127.0.0.1:$port
	ends no-key -p "$T/empty" redis://127.0.0.1:$port
	mkfifo "$T/fifo"
	ends no-key -p "$T/fifo" redis://127.0.0.1:$port
	! grep -q hidden "$T/all" || fail "a password is shown: $(cat "$T/all")"
	server_ends
}

# certificate NAME CN SIGNER: NAME.crt and .key, signed by SIGNER.
certificate()
{
	openssl req -newkey rsa:2048 -nodes -keyout "$T/$1.key" -subj "/CN=$2" -out "$T/$1.csr" 2>/dev/null
	openssl x509 -req -in "$T/$1.csr" -CA "$T/$3.crt" -CAkey "$T/$3.key" -CAcreateserial -days 2 -out "$T/$1.crt" \
		-extfile <(echo "subjectAltName=DNS:localhost,IP:127.0.0.1") 2>/dev/null
}
authority() { openssl req -x509 -newkey rsa:2048 -nodes -keyout "$T/$1.key" -out "$T/$1.crt" -subj "/CN=$1" -days 2 2>/dev/null; }

t_tls()
{
	authority ca && authority other && certificate server localhost ca && certificate client client ca
	certificate stranger stranger other
	server_begins --port 0 --tls-port $port --tls-cert-file "$T/server.crt" --tls-key-file "$T/server.key" \
		--tls-ca-cert-file "$T/ca.crt"
	local mine=(-a "$T/ca.crt" -c "$T/client.crt" -k "$T/client.key")
	asks='PING\nSET big @8000000\nGET big\n'
	links "${mine[@]}" rediss://localhost:$port
	says '^string of 8000000$'
	asks='PING\n'
	links "${mine[@]}" rediss://127.0.0.1:$port
	ends tls -a "$T/other.crt" -c "$T/client.crt" -k "$T/client.key" rediss://localhost:$port
	ends tls "${mine[@]:2}" rediss://localhost:$port
	# The certificate is for other addresses.
	ends tls "${mine[@]}" rediss://127.0.0.2:$port
	# It asks for a certificate of ours.
	ends tls -a "$T/ca.crt" rediss://localhost:$port
	ends tls -a "$T/ca.crt" -c "$T/stranger.crt" -k "$T/stranger.key" rediss://localhost:$port
	ends no-key -a "$T/none.crt" rediss://localhost:$port
	ends no-key -a "$T/ca.crt" -c "$T/client.crt" -k "$T/server.key" rediss://localhost:$port
	# In the clear to a port of TLS.
	! driver redis://localhost:$port || fail "ready without TLS"
	server_ends
}

# A driver that waits for lines: its number is $driver, and what is written to 7 it asks.
begin_driver()
{
	mkfifo "$T/asks"
	nsenter --net="/run/netns/$server" timeout 300 "$XB_TEST_DIR/bin/linkdriver" redis://127.0.0.1:$port <"$T/asks" \
		>"$T/out" 2>&1 &
	driver=$!
	exec 7>"$T/asks"
	wait_for "ready" grep -qx ready "$T/out"
}

t_server_killed()
{
	server_begins --port $port
	begin_driver
	server_ends
	! wait "$driver" || fail "not lost"
	exec 7>&-
	says '^lost closed: '
	# It stays, and says nothing.
	server_begins --port $port
	kill -STOP "$redis"
	asks='PING\n' ends timeout -s 1 redis://127.0.0.1:$port
	kill -CONT "$redis"
	wait_for "an answer before it says nothing" says_no_more
	server_ends
}

says_no_more()
{
	asks='PING\nXREAD BLOCK 0 STREAMS none 0\n' ends timeout -s 2 redis://127.0.0.1:$port
	grep -q '^status PONG$' "$T/out"
}

t_process_has_no_rights()
{
	local pid

	server_begins --port $port
	begin_driver
	pid=$(pgrep -x bloomd-redis)
	grep -qx $'Uid:\t65534\t65534\t65534\t65534' "/proc/$pid/status" || fail "it is not nobody"
	grep -qx $'CapEff:\t0000000000000000' "/proc/$pid/status" || fail "it has capabilities"
	grep -qx $'NoNewPrivs:\t1' "/proc/$pid/status" || fail "it may get privileges"
	grep -qx $'Seccomp:\t2' "/proc/$pid/status" || fail "it has all system calls"
	[[ $(find "/proc/$pid/fd" -type l | wc -l) -eq 5 ]] || fail "it has other descriptors: $(ls -l "/proc/$pid/fd")"
	# Killed, it is missed.
	kill -9 "$pid"
	wait_for "the end" grep -q '^lost failed: bloomd-redis ended with signal 9$' "$T/out"
	exec 7>&-
	server_ends
}

# hostile_server KIND: $peer is its number.
hostile_server()
{
	rm -f "$T/hostile.sock"
	python3 "$root/tests/e2e/hostileserver.py" "$T/hostile.sock" "$1" &
	peer=$!
	wait_for "a hostile server" test -S "$T/hostile.sock"
}

# hostile KIND OUTCOME [SECONDS]
hostile()
{
	local most=0 now pid one

	hostile_server "$1"
	asks='GET a\n' ends "$2" -s "${3:-60}" "unix:$T/hostile.sock" &
	one=$!
	while kill -0 $one 2>/dev/null; do
		pid=$(pgrep -x bloomd-redis) && now=$(awk '/^VmRSS/ {print $2}' "/proc/$pid/status" 2>/dev/null) &&
			[[ ${now:-0} -gt $most ]] && most=$now
		rest 0.02
	done
	wait $one || fail "$1: $(cat "$T/out")"
	kill -9 $peer && wait $peer 2>/dev/null || true
	[[ $most -lt 262144 ]] || fail "$1: bloomd-redis takes $most KiB"
}

# Of what else a server may say, see unit/redis/test_replies.
t_hostile_servers()
{
	hostile endless-bulk too-large
	hostile endless-array too-large
	hostile endless-line protocol
	hostile huge-length timeout 1
	hostile many-arrays too-large
	hostile deep too-large
	hostile garbage protocol
	hostile half closed
	hostile nothing closed
	hostile denied auth
	hostile silent timeout 1
	hostile mute timeout 1
}

t_answers_to_nothing()
{
	local kind

	mkfifo "$T/asks"
	exec 7<>"$T/asks" # the input does not end
	for kind in twice endless-answers; do
		hostile_server $kind
		echo GET a >&7
		in_server timeout 300 "$XB_TEST_DIR/bin/linkdriver" "unix:$T/hostile.sock" <"$T/asks" >"$T/out" 2>&1 || true
		says '^status '
		says '^lost protocol: the server sent an answer without a request'
		kill -9 $peer
		wait $peer 2>/dev/null || true
	done
}

name_server
run_tests
