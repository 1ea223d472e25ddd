#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# What Prometheus and Grafana make of the metrics: alerts, dashboard, and a server that scrapes.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/web.sh"

rules=$root/packaging/xdp-bloom.rules.yml

t_alerts()
{
	command -v promtool >/dev/null || skip "no promtool"
	cp "$rules" "$T"
	promtool check rules "$T/xdp-bloom.rules.yml" >"$T/out" 2>&1 || fail "$(cat "$T/out")"
	"$root/tests/prometheus/alerts.py" "$rules" >"$T/rules_test.yml" 2>"$T/err" || fail "$(cat "$T/err")"
	(cd "$T" && promtool test rules rules_test.yml) >"$T/out" 2>&1 || fail "$(head -c 2000 "$T/out")"
}

# Alerts and panels ask for metrics and labels that there are.
t_names()
{
	exits 0 attach x0
	exits 0 metrics
	python3 - "$T/out" "$root/packaging" "$root/docs/agent.md" <<-'END' || fail "see above"
	import json, re, sys
	text, packaging, page = open(sys.argv[1]).read(), sys.argv[2], open(sys.argv[3]).read()
	known = set(re.findall(r"^# TYPE (\w+) (?:counter|gauge)$", text, re.M))
	for name in re.findall(r"^# TYPE (\w+) histogram$", text, re.M):
	    known |= {name + end for end in ("_bucket", "_sum", "_count")}
	dashboard = json.load(open(packaging + "/xdp-bloom-grafana.json"))
	asked = {"dashboard": json.dumps(dashboard), "rules": open(packaging + "/xdp-bloom.rules.yml").read()}
	for where, words in asked.items():
	    names = set(re.findall(r"\bxdp_bloom_\w+", words))
	    assert len(names) > 10, where
	    assert names <= known, (where, names - known)
	ids = [panel["id"] for panel in dashboard["panels"]]
	assert len(set(ids)) == len(ids)
	# The page lists each of them, and no other.
	page = page.split("\n## Metrics\n")[1].split("\n## ")[0]
	listed = set(re.findall(r"`(\w+)(?:\{[\w,.]*\})?`", "".join(re.findall(r"^\| (`.*?) \|", page, re.M))))
	families = {name.removeprefix("xdp_bloom_") for name in re.findall(r"^# TYPE (\w+) ", text, re.M)}
	assert listed == families, (listed ^ families)
	END
}

# ask QUERY: the answers of the server in $T/answers.
ask_prometheus()
{
	in_server curl -s --data-urlencode "query=$1" http://127.0.0.1:9190/api/v1/query >"$T/answers"
}

is() { ask_prometheus "$1" && grep -q "\"value\":\[[0-9.]*,\"$2\"\]" "$T/answers"; }

# is_known QUERY TEXT: of the answer.
is_known() { ask_prometheus "$1" && grep -qF -- "$2" "$T/answers"; }

# Each was looked at, and none fails.
rules_are_well()
{
	in_server curl -s http://127.0.0.1:9190/api/v1/rules >"$T/answers"
	! grep -q '"lastError":"[^"]' "$T/answers" || fail "a rule fails: $(cat "$T/answers")"
	[[ $(grep -o '"health":"ok"' "$T/answers" | wc -l) -eq $(grep -c 'alert: ' "$rules") ]]
}

drops='xdp_bloom_packets_total{reason="listed_ipv4_host",interface="x0"}'

# A real one, for some scrapes; with XB_TEST_ALL for a minute. The agent is killed meanwhile.
t_scraped()
{
	command -v prometheus >/dev/null || skip "no prometheus"
	configure '[http]' "listen = $web"
	exits 0 attach x0
	exits 0 add 10.77.0.3
	agent
	cp "$rules" "$T"
	cat >"$T/prometheus.yml" <<-END
		global: {scrape_interval: 1s, evaluation_interval: 1s}
		rule_files: [$T/xdp-bloom.rules.yml]
		scrape_configs: [{job_name: xdp-bloom, static_configs: [{targets: ['$web']}]}]
	END
	(exec nsenter --net="/run/netns/$server" prometheus --config.file="$T/prometheus.yml" \
		--storage.tsdb.path="$T/tsdb" --web.listen-address=127.0.0.1:9190 >"$T/prometheus" 2>&1) &
	prometheus=$!
	wait_for "a scrape" is 'count_over_time(up[1m]) > 1' '[0-9]*'
	blocked 10.77.0.3 10.77.0.3
	wait_for "the first drops" is "$drops" 2
	sleep "${XB_TEST_ALL:+3}0"
	agent_ends KILL 137
	exits 0 detach x0
	exits 0 attach x0
	agent
	blocked 10.77.0.3
	sleep "${XB_TEST_ALL:+3}0"
	wait_for "the drops" is "$drops" 3
	# No counter went back, although the agent and the kernel's counts began anew.
	wait_for "the resets" is 'sum(resets(xdp_bloom_packets_total[2m])) + sum(resets(xdp_bloom_bytes_total[2m]))' 0
	wait_for "the interface" is 'xdp_bloom_enforcing{interface="x0"}' 1
	wait_for "the version" is_known xdp_bloom_build_info '"version":"0.1"'
	wait_for "a look at each rule" rules_are_well
	kill -TERM $prometheus
	wait $prometheus || true
	agent_ends
}

run_tests
