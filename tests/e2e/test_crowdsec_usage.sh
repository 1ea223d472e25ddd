#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What the bouncer of bloomd tells CrowdSec's local API of its use, in the form that servers take from 1.6.3 on.
# A stand-in takes it: 1.4.6 does not.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154,SC2119
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/feeds.sh"
. "$(dirname "$0")/crowdsec.sh"

# told NAME UNIT [FAMILY]: the sum of all reports that the server took, and how many of them had it; FAMILY none:
# of items that have no family.
told()
{
	tail -n "+${first:-1}" "$T/taken" | python3 -c 'import json, sys
name, unit, family = sys.argv[1:]
items = [item for line in sys.stdin for item in json.loads(line)["remediation_components"][0]["metrics"][0]["items"]
         if item["name"] == name and item["unit"] == unit and item["labels"].get("ip_type", "none") == family]
assert all(item["value"] >= 0 for item in items)
print(sum(item["value"] for item in items), len(items))' "$@"
}

# tells EXPECTED WORDS...
tells() { [[ $(told "${@:2}") =~ ^$1\ [1-9] ]] || fail "of ${*:2} it tells $(told "${@:2}"), not $1"; }

# next_report: it was made after this, whole.
next_report()
{
	local count

	count=$(requests POST)
	wait_for "a report" has_requests $((count + 2)) POST
}

# taken: how many reports the server has.
taken() { wc -l <"$T/taken"; }

# counted packets|bytes REASONS: by the interface's counters; REASONS is a regular expression.
counted()
{
	ctl metrics | awk -v pattern="^xdp_bloom_$1_total{interface=\"x0\",reason=\"($2)\"" \
		'$1 ~ pattern {sum += $2} END {print sum + 0}'
}

t_drops()
{
	stand_in
	echo 201 >"$T/post"
	ctl -q attach x0
	answer whole "$(decision 1 10.77.0.3),$(decision 2 10.77.3.0/24),$(decision 3 fd77::3)"
	bouncer 'usage-metrics = 1s'
	wait_for "a report" has_requests 1 POST
	blocked 10.77.0.3 10.77.0.3 10.77.3.9 fd77::3
	passes 10.77.0.4
	next_report
	tells 3 dropped packet ipv4
	tells "$(counted bytes listed_ipv4_.*)" dropped byte ipv4
	tells "$(counted packets listed_ipv6)" dropped packet ipv6
	tells "$(counted bytes listed_ipv6)" dropped byte ipv6
	[[ $(told processed packet none) != "0 "* ]] || fail "it tells of no packets"
	# While the server takes none, nothing is forgotten, and nothing told twice.
	echo 500 >"$T/post"
	next_report
	first=$(($(taken) + 1))
	blocked 10.77.0.3
	next_report
	echo 201 >"$T/post"
	next_report
	next_report
	tells 1 dropped packet ipv4
}

# What other lists drop is not told as CrowdSec's: the filter does not count by list.
t_drops_of_others()
{
	stand_in
	echo 201 >"$T/post"
	ctl -q attach x0
	ctl -q add ads.example --list names
	answer whole "$(decision 1 10.77.0.3)"
	bouncer 'usage-metrics = 1s'
	wait_for "a report" has_requests 1 POST
	blocked 10.77.0.3
	next_report
	tells 1 dropped packet ipv4 # domains drop no sources
	ctl -q add 10.77.0.5
	next_report
	first=$(($(taken) + 1))
	blocked 10.77.0.5 10.77.0.3
	next_report
	[[ $(told dropped packet ipv4) == "0 0" ]] || fail "it tells what others dropped"
	# With a scope that no other list has, the drops are its own.
	bouncer_reload 'usage-metrics = 1s' 'scope = icmp'
	resync
	next_report
	first=$(($(taken) + 1))
	blocked 10.77.0.3 10.77.0.5
	next_report
	tells 1 dropped packet none
	# Nor is told what only was counted.
	bouncer_reload 'usage-metrics = 1s' 'scope = icmp' 'verdict = count'
	resync
	next_report
	first=$(($(taken) + 1))
	passes 10.77.0.3
	next_report
	[[ $(told dropped packet none) == "0 0" ]] || fail "it tells what was not dropped"
}

# From 1.6.3 on, servers want to know what becomes of their decisions.
t_metrics_of_use()
{
	stand_in
	echo 201 >"$T/post"
	answer whole "$(decision 1 10.77.0.3),$(decision 2 10.77.3.0/24),$(decision 3 fd77::3)"
	bouncer
	wait_for "metrics" has_requests 1 '^POST /v1/usage-metrics agent=xdp-bloom/[^/ ]* key=standin '
	sed -n 's/^POST .* key=standin //p' "$T/requests" | python3 -c 'import json, sys, time
[component] = json.load(sys.stdin)["remediation_components"]
assert component["type"] == "xdp-bloom" and component["version"] and component["os"]["name"] and component["os"]["version"]
assert component["feature_flags"] == [] and abs(component["utc_startup_timestamp"] - time.time()) < 60
[metrics] = component["metrics"]
assert metrics["meta"]["window_size_seconds"] == 900 and abs(metrics["meta"]["utc_now_timestamp"] - time.time()) < 60
items = {item["labels"]["ip_type"]: (item["name"], item["unit"], item["value"]) for item in metrics["items"] if item["name"] == "active_decisions"}
assert items == {"ipv4": ("active_decisions", "ip", 2), "ipv6": ("active_decisions", "ip", 1)}, items' || fail "metrics: $(tail -n 1 "$T/requests")"
	[[ $(requests POST) -eq 1 ]] || fail "$(requests POST) times"
	agent_ends
	echo 404 >"$T/post"
	agent
	wait_for "metrics" has_requests 2 POST
	says_agent 'crowdsec: the server takes no metrics of use'
	next_request
	[[ $(requests POST) -eq 2 ]] || fail "it asks again"
	agent_ends
	bouncer 'usage-metrics = no'
	wait_for "an answer" works
	next_request
	[[ $(requests POST) -eq 2 ]] || fail "it was told not to"
}

run_tests
