#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Names in TLS hellos and HTTP requests: what real clients and servers see of it.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

enough=$((10 * patience)) # seconds for what comes

# listens PORT: whether a server does.
listens() { in_server ss -Hltn "sport = :$1" | contains .; }

make_certificate()
{
	command -v openssl >/dev/null || skip "no openssl"
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 \
		-subj /CN=test -keyout "$T/key" -out "$T/cert" 2>/dev/null
}

serve_http()
{
	mkdir "$T/www"
	echo found >"$T/www/index.html"
	in_server python3 -c 'import functools, http.server, socket, sys
class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6
handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=sys.argv[2])
Server(("::", int(sys.argv[1])), handler).serve_forever()' "$1" "$T/www" >/dev/null 2>&1 &
	wait_for 'the HTTP server' listens "$1"
}

# bracketed ADDRESS: as it stands before a port.
bracketed()
{
	case $1 in
	*:*) echo "[$1]" ;;
	*) echo "$1" ;;
	esac
}

# shakes SECONDS PORT OPTION...: a TLS handshake that is completed in that time. With a server of its
# own, since one that waits for the rest of a connection takes no other.
shakes()
{
	local seconds=$1 port=$2 server_pid code=0

	# Not in_server: the process that is ended must be the server.
	nsenter --net="/run/netns/$server" openssl s_server -accept "$port" -key "$T/key" \
		-cert "$T/cert" -quiet >/dev/null 2>&1 &
	server_pid=$!
	wait_for 'the TLS server' listens "$port"
	in_client timeout "$seconds" openssl s_client "${@:3}" -quiet -no_ign_eof </dev/null \
		>/dev/null 2>&1 || code=$?
	kill "$server_pid" 2>/dev/null || true # it ends by itself after a handshake
	wait "$server_pid" 2>/dev/null || true
	return "$code"
}

# greets NAME SECONDS [PORT [VERSION [ADDRESS]]]
greets()
{
	shakes "$2" "${3:-443}" -connect "$(bracketed "${5:-$server4}"):${3:-443}" -servername "$1" \
		"${4:--tls1_3}"
}

# gets HOST SECONDS [PORT [ADDRESS]]: a page that comes in that time, asked for with that Host.
gets()
{
	in_client python3 -c 'import http.client, sys
host, seconds, port, address = sys.argv[1:]
one = http.client.HTTPConnection(address, int(port), timeout=float(seconds))
try:
    one.request("GET", "/", headers={"Host": host})
    sys.exit(one.getresponse().read() != b"found\n")
except OSError:
    sys.exit(1)' "$1" "$2" "${3:-80}" "${4:-$server4}"
}

let_in() { "$@" || fail "does not get through: $*"; }
kept_out() { ! "$@" || fail "gets through: $*"; }

# counts REASON COMMAND...: it is kept out, and this counts. On a slow machine it may not even come to what is dropped.
counts() { wait_for "one that is $1" is_counted "$(packets "$1")" "$@"; }

is_counted()
{
	kept_out "${@:3}"
	[[ $(packets "$2") -gt $1 ]]
}

t_tls()
{
	make_certificate
	ctl -q attach x0
	ctl add example.com
	let_in greets www.example.com $enough
	exits 0 ports tls 443
	counts tls_dropped greets www.example.com 0.5
	counts tls_dropped greets WWW.example.com 0.5 443 -tls1_2
	counts tls_dropped greets example.com 0.5 443 -tls1_3 "$server6"
	let_in greets www.example.org $enough
	let_in greets aexample.com $enough 443 -tls1_2
	let_in greets aexample.com $enough 443 -tls1_3 "$server6"
	[[ $(packets name_clean) -eq 3 ]] || fail "$(packets name_clean) are clean"
	let_in shakes $enough 443 -connect "$server4:443" -noservername
	[[ $(packets tls_nameless) -eq 1 ]] || fail "$(packets tls_nameless) are without a name"
	exits 0 ports tls off
	let_in greets www.example.com $enough
}

t_http()
{
	serve_http 80
	ctl -q attach x0
	ctl add example.com
	let_in gets www.example.com $enough
	exits 0 ports http 80
	counts http_dropped gets www.example.com 0.5
	counts http_dropped gets Example.COM:80 0.5
	counts http_dropped gets example.com. 0.5 80 "$server6"
	let_in gets www.example.org $enough
	let_in gets aexample.com $enough 80 "$server6"
	exits 0 ports http off
	let_in gets www.example.com $enough
}

t_http_with_curl()
{
	command -v curl >/dev/null || skip "no curl"
	serve_http 80
	ctl -q attach x0 --mode skb
	ctl add example.com
	ctl ports http 80
	for one in www.example.com example.com; do
		kept_out in_client curl -s -m 0.5 --noproxy '*' --resolve "$one:80:$server4" \
			"http://$one/" >/dev/null
	done
	let_in in_client curl -s -m $enough --noproxy '*' --resolve "example.org:80:$server4" \
		http://example.org/ >"$T/page"
	[[ $(cat "$T/page") == found ]]
}

run_tests
