# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034,SC2154
# A server of feeds, and what became of a feed; for tests that have sourced lib.sh.

# --- the server and its certificates ----------------------------------------------------------------

# certify FILE NAME CA: a certificate for the name in FILE.pem, with its key.
certify()
{
	openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$2" \
		-keyout "$T/$1.key" -out "$T/$1.csr" 2>/dev/null
	printf 'subjectAltName=DNS:%s\n' "$2" >"$T/$1.ext"
	openssl x509 -req -in "$T/$1.csr" -CA "$T/$3.crt" -CAkey "$T/$3.key" -days 2 \
		-extfile "$T/$1.ext" -out "$T/$1.crt" 2>/dev/null
	cat "$T/$1.key" "$T/$1.crt" >"$T/$1.pem"
}

make_ca()
{
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj "/CN=$1" \
		-keyout "$T/$1.key" -out "$T/$1.crt" 2>/dev/null
}

# serve_feeds [NAMESPACE ADDRESS]: at 127.0.0.1 of the server's, if nothing else is said.
# shellcheck disable=SC2120
serve_feeds()
{
	rm -f "$T/serving"
	# Not a function: it is killed by its number.
	nsenter --net="/run/netns/${1:-$server}" "$root/tests/e2e/feedserver.py" "$T" 8443 8080 "${2:-127.0.0.1}" 2>"$T/feedserver.err" &
	feedserver=$!
	wait_for "the server of feeds" test -e "$T/serving"
}

# name_server [NAME [LINE...]]: what the server is called; /etc/hosts is covered once for all tests of this file.
name_server()
{
	local hosts=$XB_TEST_DIR/hosts

	[[ -e $hosts ]] || { touch "$hosts" && mount --bind "$hosts" /etc/hosts; }
	printf '%s\n' "127.0.0.1 localhost ${1:-}" "${@:2}" >"$hosts"
}

make_certificates()
{
	local T=$1

	mkdir -p "$T"
	make_ca ca
	make_ca ca2
	certify server feeds.example ca
	certify other feeds.example ca2
	certify name another.example ca
}

# certificates: made once for all tests of this file.
certificates()
{
	local made=$XB_TEST_DIR/certificates

	if [[ ! -d $made ]]; then
		make_certificates "$made.new"
		mv "$made.new" "$made"
	fi
	cp "$made"/* "$T"
}

begin()
{
	certificates
	echo good >"$T/mode"
	echo 1 >"$T/version"
	name_server feeds.example
	serve_feeds
	ctl -q attach x0
	ip -n "$client" addr add 5.9.0.7/32 dev x0
	ip -n "$server" route add 5.9.0.0/16 dev x0
	ip -n "$server" neigh replace 5.9.0.7 lladdr 02:00:00:00:00:02 dev x0 nud permanent
}

# A feed of the server's list, with more lines of its section.
configure()
{
	{
		printf '[feed main]\nurl = https://feeds.example:8443/list\nca = %s/ca.crt\n' "$T"
		printf '%s\n' "$@"
	} >"$T/bloomd.conf"
}

mode() { echo "$1" >"$T/mode"; }

# --- what became of it ------------------------------------------------------------------------------

has_outcome() { ctl -j feeds | contains "\"name\":\"$1\",[^}]*\"outcome\":\"$2\"${3:+,\"guard\":\"$3\"}"; }

is_another_state() { [[ $state/feeds/main.json -nt $T/before ]]; }

# ends_as OUTCOME [GUARD]: the feed is fetched now, with this outcome.
ends_as()
{
	rm -f "$T/requests" "$T/before"
	[[ ! -e $state/feeds/main.json ]] || touch -r "$state/feeds/main.json" "$T/before"
	exits 0 feeds update main
	says '^bloomd fetches 1 feed$'
	wait_for "the end of a fetch" is_another_state
	wait_for "the outcome $1 ${2:-} ($(ctl -j feeds))" has_outcome main "$@"
}

count() { [[ ! $(ctl -j feeds) =~ \"$1\":([0-9]+) ]] || echo "${BASH_REMATCH[1]}"; }

listed() { ctl list --list main | grep -c ' list main '; }
is_listed() { ctl list --list main | contains "^$1 "; }

# What is in force is the last good list, of the present version.
keeps_list()
{
	is_listed 5.9.1.1 || fail "the last good list is gone"
	[[ $(listed) -eq 101 ]] || fail "$(listed) entries are listed"
	blocked 5.9.0.7
}

# metric NAME LABEL VALUE: of the feed main with this label.
metric() { [[ $(ctl metrics) =~ xdp_bloom_$1\{feed=\"main\",$2=\"$3\"\}\ ([0-9]+) ]] && echo "${BASH_REMATCH[1]}" || echo 0; }

# refuses MODE OUTCOME [GUARD]: this answer changes nothing.
refuses()
{
	local failures fetches refusals

	mode "$1"
	failures=$(count failures) fetches=$(metric feed_fetches_total outcome "$2")
	refusals=$(metric feed_refusals_total guard "${3:-}")
	ends_as "${@:2}"
	keeps_list
	[[ $(metric feed_fetches_total outcome "$2") -gt $fetches ]] || fail "after $1 no metric has $2"
	[[ $# -lt 3 || $(metric feed_refusals_total guard "$3") -gt $refusals ]] || fail "after $1 no metric has $3"
	[[ $(count failures) -gt ${failures:-0} ]] || fail "after $1 no failure is counted"
	ctl feeds | contains '^  why      .' || fail "after $1 it is not said why: $(ctl feeds)"
}

# takes MODE: this answer is a new version of the list.
takes()
{
	mode "$1"
	echo 200 >"$T/version"
	ends_as updated
	is_listed 5.9.1.200 || fail "the list of $1 is not taken"
	[[ $(count failures) -eq 0 ]] || fail "failures are counted"
	mode good
	echo 1 >"$T/version"
	ends_as updated
	keeps_list
}

# --- zones ------------------------------------------------------------------------------------------

# zone NUMBER...: a response policy zone with a client and a domain for each, of the serial number $serial.
zone()
{
	local number

	printf '%s\n' "rpz.test. 60 IN SOA ns.test. a.test. ${serial:-1} 2 3 4 5" 'rpz.test. 60 IN NS ns.test.'
	for number; do
		printf '%s\n' "32.$number.0.9.5.rpz-client-ip.rpz.test. 60 IN CNAME rpz-drop." \
			"n$number.example.rpz.test. 60 IN CNAME ."
	done
}

# lists ENTRY...: the list zone has these and no others.
lists()
{
	[[ $(entries_of zone 2>/dev/null) == "$(
		printf '%s\n' "$@" | LC_ALL=C sort | paste -sd ' ')" ]]
}
