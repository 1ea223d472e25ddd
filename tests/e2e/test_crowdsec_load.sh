#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the bouncer of bloomd costs the machine and others who change lists, with many decisions and with a server
# that is slow.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154,SC2119
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/feeds.sh"
. "$(dirname "$0")/crowdsec.sh"

# busy: ms of processors that bloomd has taken, with its processes that have ended.
busy() { awk -v tick="$(getconf CLK_TCK)" '{print ($14 + $15 + $16 + $17) * 1000 / tick}' "/proc/$agent/stat"; }

# takes NUMBER COMMAND...: ms of bloomd while it runs so often.
takes()
{
	local i before

	before=$(busy)
	for ((i = 0; i < $1; i++)); do
		"${@:2}"
		sleep 0.2 # beyond what is kept for the next scrape
	done
	echo $(($(busy) - before))
}

scrape() { in_server curl -s -o "$T/metrics" http://127.0.0.1:9101/metrics; }

# With many decisions, neither a scrape nor a report to the server costs more than with few.
t_metrics_are_cheap()
{
	local idle scraped number=40

	stand_in
	echo 201 >"$T/post"
	ctl -q attach x0
	answer whole "$(decisions 0 60000)"
	bouncer 'usage-metrics = 1s' '[http]' 'listen = 127.0.0.1:9101'
	patience=$((6 * patience)) wait_for "the bans" has_listed 60000
	next_request POST
	idle=$(takes $number true)
	scraped=$(takes $number scrape)
	grep -q '^xdp_bloom_entries{list="crowdsec",family="all"} 60000$' "$T/metrics" || fail "it serves no metrics"
	echo "$idle ms of processors for a request and a report each second, $scraped with $number scrapes"
	[[ $idle -lt $((1000 * patience)) ]] || fail "$idle ms in $((number / 5)) seconds"
	[[ $scraped -lt $((idle + 2 * number * patience)) ]] || fail "$((scraped - idle)) ms for $number scrapes"
}

# at_once COMMAND...: of an administrator, who waits for nobody for long.
at_once()
{
	local begin=$EPOCHREALTIME

	exits 0 --wait 5 "$@"
	[[ $((${EPOCHREALTIME/[.,]/} - ${begin/[.,]/})) -lt $((5000000 * patience)) ]] || fail "$* takes too long"
}

# by_socket WORDS...
by_socket() { [[ $(timeout $((5 * patience)) redis-cli -s "$counters/api.sock" "$@") == [01] ]] || fail "$*"; }

# While the server keeps bloomd waiting, and while many decisions come into force, others change lists.
t_nobody_waits_for_it()
{
	local i

	stand_in
	ctl -q attach x0
	answer whole "$(decisions 0 60000)"
	sed -i '1i LATE 8' "$T/whole"
	bouncer
	wait_for "a request" has_requests 1 GET
	at_once add 10.77.0.3
	at_once del 10.77.0.3
	at_once status
	at_once metrics
	at_once feeds
	by_socket SADD bad 10.77.0.4
	blocked 10.77.0.4
	by_socket SREM bad 10.77.0.4
	! works || fail "the server has answered: nothing was tried"
	for ((i = 0; i < 600 * patience; i++)); do
		at_once add 10.77.0.3 --exist
		at_once del 10.77.0.3
		by_socket SADD bad 10.77.0.4
		by_socket SREM bad 10.77.0.4
		! works || break
	done
	wait_for "the bans" has_listed 60000
}

run_tests
