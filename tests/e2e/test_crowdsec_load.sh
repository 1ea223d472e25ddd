#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the bouncer of bloomd costs the machine and others who change lists, with many decisions and with a server
# that is slow.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154,SC2119
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/agent.sh"
. "$(dirname "$0")/feeds.sh"
. "$(dirname "$0")/crowdsec.sh"

# busy: nanoseconds of processors that bloomd took so far, with its processes that have ended.
busy() { awk -v tick="$(getconf CLK_TCK)" '{printf "%.0f\n", ($14 + $15 + $16 + $17) * 1e9 / tick}' "/proc/$agent/stat"; }

scrape() { in_server curl -sf -o "$T/metrics" http://127.0.0.1:9101/metrics || fail "it cannot be scraped"; }

report()
{
	local count

	count=$(requests POST)
	wait_for "a report" has_requests $((count + 1)) POST
}

# With many decisions, neither a scrape nor a report to the server costs more than with few. Nor has the loop itself more to
# do when all come again: a process beside it reads them.
t_many_are_cheap()
{
	local few few_scraped few_again many many_scraped many_again

	stand_in
	echo 201 >"$T/post"
	ctl -q attach x0
	answer whole "$(decisions 0 600)"
	bouncer 'usage-metrics = 1s' '[http]' 'listen = 127.0.0.1:9101'
	wait_for "the first bans" has_listed 600
	report
	few=$(meter=busy costs 4 report) few_scraped=$(costs 13 scrape)
	few_again=$(costs 5 resync)
	answer whole "$(decisions 0 65000)"
	patience=$((6 * patience)) resync
	has_listed 65000 || fail "$(listed) are listed"
	report
	many=$(meter=busy costs 4 report) many_scraped=$(costs 13 scrape)
	grep -q '^xdp_bloom_entries{list="crowdsec",family="all"} 65000$' "$T/metrics" || fail "it serves no metrics"
	many_again=$(costs 5 resync)
	echo "us of processors with 600 decisions and with 65000: $((few / 1000)) and $((many / 1000)) for a request and" \
		"a report, $((few_scraped / 1000)) and $((many_scraped / 1000)) for a scrape," \
		"$((few_again / 1000)) and $((many_again / 1000)) of the loop for all of them"
	[[ $many -lt $((5 * few)) ]] || fail "a request and a report take $many ns with many decisions, $few with few"
	[[ $many_scraped -lt $((5 * few_scraped)) ]] || fail "a scrape takes $many_scraped ns with many, $few_scraped with few"
	[[ $many_again -lt $((4 * few_again)) ]] || fail "an answer takes $many_again ns with many decisions, $few_again with few"
}

# changes COMMAND...: by an administrator.
changes() { exits 0 --wait 60 "$@"; }

# by_socket WORDS...: tried again when another writer lasts.
by_socket() { wait_for "an answer to $*" is_taken "$@"; }
is_taken() { [[ $(timeout 60 redis-cli -s "$counters/api.sock" "$@") == [01] ]]; }

# The server keeps bloomd waiting for as long as others change lists; they also do while many decisions come into force.
t_nobody_waits_for_it()
{
	local end

	stand_in
	ctl -q attach x0
	answer whole "$(decisions 0 60000)"
	sed -i '1i HELD' "$T/whole"
	bouncer
	wait_for "a request" has_requests 1 GET
	changes add 10.77.0.3
	changes del 10.77.0.3
	changes status
	changes metrics
	changes feeds
	by_socket SADD bad 10.77.0.4
	blocked 10.77.0.4
	by_socket SREM bad 10.77.0.4
	! works || fail "the server has answered: nothing was tried"
	touch "$T/go"
	end=$((SECONDS + 60 * patience))
	until works; do
		[[ $SECONDS -lt $end ]] || fail "the bans do not come"
		changes add 10.77.0.3 --exist
		changes del 10.77.0.3
		by_socket SADD bad 10.77.0.4
		by_socket SREM bad 10.77.0.4
	done
	has_listed 60000 || fail "$(listed) are listed"
}

run_tests
