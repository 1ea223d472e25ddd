#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The recipe for Prometheus and Grafana: every command, in the order in which the page shows it, and what the
# dashboard asks.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=page.sh
. "$(dirname "$0")/page.sh"

# The places that the page names, for this test alone.
lay_places()
{
	lay_etc
	mkdir -p /etc/prometheus
	rm -f /etc/prometheus/*
	lay_share
}

other_service() { [[ $1 == "reload prometheus" ]] && start_prometheus; }

start_prometheus()
{
	(exec nsenter --net="/run/netns/$server" prometheus --config.file=/etc/prometheus/prometheus.yml \
		--storage.tsdb.path="$T/tsdb" --web.listen-address=127.0.0.1:9090 >"$T/prometheus" 2>&1) &
	prometheus=$!
	wait_for "Prometheus" grep -q "ready to receive web requests" "$T/prometheus"
}

# answer_shows PATTERN COMMAND: of the page. After a scrape that came late there is nothing to show until the next one.
answer_shows() { other_command "$2" >"$T/out" 2>"$T/err" && grep -qE -- "$1" "$T/out"; }
answer_lacks() { other_command "$2" >"$T/out" 2>"$T/err" && ! grep -qE -- "$1" "$T/out"; }

# step_shows PATTERN COMMAND, step_lacks PATTERN COMMAND: the page shows this next, and it says so, sooner or later.
step_shows() { step "$2" && wait_for "'$1' from $2" answer_shows "$@"; }
step_lacks() { step "$2" && wait_for "the end of '$1' from $2" answer_lacks "$@"; }

# asks QUERY: what Prometheus answers; promtool takes four times as long to begin.
asks() { in_server curl -s --data-urlencode "query=$1" http://127.0.0.1:9090/api/v1/query; }
asks_for() { asks "$2" | contains "$1"; }

# Whatever a panel asks is a query that Prometheus answers; what stands for a choice of the reader is put in.
dashboard_is_answered()
{
	local query

	in_server python3 - $examples/xdp-bloom-grafana.json >"$T/queries" 2>"$T/out" <<-'END' || fail "$(cat "$T/queries" "$T/out")"
	import json, sys, urllib.parse, urllib.request
	for panel in json.load(open(sys.argv[1]))["panels"]:
	    for target in panel.get("targets", []):
	        query = target["expr"].replace("$__rate_interval", "1m").replace("$job", ".*").replace("$instance", ".*")
	        print(query)
	        asked = urllib.parse.urlencode({"query": query}).encode()
	        json.load(urllib.request.urlopen("http://127.0.0.1:9090/api/v1/query", asked))["data"]["result"]
	END
	[[ $(wc -l <"$T/queries") -ge 20 ]] || fail "the dashboard asks only $(wc -l <"$T/queries")"
	query=$(head -n 1 "$T/queries")
	wait_for "an answer to $query" asks_for '"interface":"eth0".*,"1"\]' "$query"
}

t_prometheus()
{
	command -v prometheus >/dev/null && command -v promtool >/dev/null || skip "no prometheus"
	lay_places
	rename eth0
	ctl -q attach eth0
	ctl -q add 10.77.0.3
	page prometheus
	written /etc/xdp-bloom/bloomd.conf.d/http.conf
	step "bloomd --check"
	step "systemctl enable --now bloomd"
	step "systemctl reload bloomd"
	step "curl -s http://127.0.0.1:9101/healthz"
	says '^ok$'
	step "curl -s http://127.0.0.1:9101/metrics"
	says '^xdp_bloom_enforcing\{interface="eth0"\} 1$'
	step "cp $examples/xdp-bloom.rules.yml /etc/prometheus/"
	step "promtool check rules /etc/prometheus/xdp-bloom.rules.yml"
	says 'SUCCESS: [0-9]+ rules found'
	written /etc/prometheus/prometheus.yml
	step "promtool check config /etc/prometheus/prometheus.yml"
	says 'SUCCESS: 1 rule files found'
	# Not the 15 seconds of the page, nor the minute that is usual between two looks at the rules.
	sed -i 's/^  scrape_interval: 15s$/  scrape_interval: 1s\n  evaluation_interval: 1s/' /etc/prometheus/prometheus.yml
	step "systemctl reload prometheus"
	wait_for "a scrape" asks_for xdp-bloom 'up == 1'
	step_shows 'interface="eth0".*job="xdp-bloom".* => 1 ' "promtool query instant http://127.0.0.1:9090 'xdp_bloom_enforcing'"
	blocked 10.77.0.3
	wait_for "the drops" asks_for eth0 'rate(xdp_bloom_packets_total{reason="listed_ipv4_host",interface="eth0"}[5m]) > 0'
	step_shows 'interface="eth0", reason="listed_ipv4_host"\} => 0\.0*[1-9]' \
		"promtool query instant http://127.0.0.1:9090 'sum by (interface, reason) (rate(xdp_bloom_packets_total{verdict=\"drop\"}[5m]))'"
	step_lacks ALERTS "promtool query instant http://127.0.0.1:9090 'ALERTS{alertname=~\"XdpBloom.*\"}'"
	dashboard_is_answered
	an_alert_begins
	step "rm /etc/xdp-bloom/bloomd.conf.d/http.conf"
	step "systemctl reload bloomd"
	page_ends
	wait_for "the end of the metrics" eval '! in_server curl -s -o /dev/null http://127.0.0.1:9101/metrics'
	kill -TERM $prometheus
	wait $prometheus || true
	agent_ends
}

t_prometheus_after_the_readme()
{
	readme=(eth0)
	mishap=killed
	t_prometheus
}

# Pending at first: the rule waits two minutes before it fires.
an_alert_begins()
{
	ip -n "$server" link del eth0
	wait_for "the alert" asks_for eth0 'ALERTS{alertname="XdpBloomNotEnforcing"}'
}

run_tests
