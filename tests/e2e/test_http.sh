#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The web server of bloomd: metrics, health, the page, and clients that mean no good.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/web.sh"

serves()
{
	configure '[http]' "listen = $web"
	agent
}

header_is() { grep -qiE "^$1: $2"$'\r?$' "$T/headers" || fail "$1 is not $2: $(cat "$T/headers")"; }

t_metrics()
{
	exits 0 attach x0
	exits 0 add 10.77.0.3
	serves
	blocked 10.77.0.3 10.77.0.3
	answers 200 /metrics
	header_is content-type 'text/plain; version=0.0.4; charset=utf-8'
	header_is connection close
	grep -q '^xdp_bloom_packets_total{interface="x0",reason="listed_ipv4_host",verdict="drop"} 2$' "$T/out"
	# The same as without the agent, but for the size of what changes all the time.
	grep -v ' 0$' "$T/out" | grep -vE 'packets|bytes' >"$T/agents"
	exits 0 metrics
	grep -v ' 0$' "$T/out" | grep -vE 'packets|bytes' | diff - "$T/agents" >"$T/diff" || fail "$(cat "$T/diff")"
}

t_health()
{
	serves
	answers 200 /healthz
	[[ $(cat "$T/out") == ok ]]
	exits 0 attach x0
	answers 200 /healthz
	ip -n "$server" link del x0
	answers 503 /healthz
	grep -q 'x0 is unfiltered: missing' "$T/out" || fail "$(cat "$T/out")"
	answers 503 /healthz --head
	[[ $(grep -c . "$T/out") -lt 20 ]]
	answers 200 /status.json
	json 'd["ok"] is False and any("x0" in text for text in d["problems"])'
	exits 0 detach --all
	answers 200 /healthz
	# As one that has failed for a week would have left it.
	mkdir -p "$state/feeds"
	printf '{"list":"main","outcome":"no-connection","message":"refused","period":60,"last_success":%s,"last_attempt":%s}' \
		$(($(date +%s) - 604800)) "$(date +%s)" >"$state/feeds/main.json"
	wait_for "the feed" is_unhealthy
	grep -qx 'feed main has brought no list since 20.*Z: refused' "$T/out" || fail "$(cat "$T/out")"
	answers 200 /status.json
	json 'd["ok"] is False and d["problems"][0].startswith("feed main has brought no list")'
	rm "$state/feeds/main.json"
	agent_ends
}

# A change that is being made is not a problem; one that a dead writer left is, at once.
is_unhealthy() { get /healthz && [[ $(cat "$T/status") == 503 ]]; }

# writer_dies: the command that stands still is killed, and that is a problem at once, unless bloomd has mended it before the
# question came; then another one is.
writer_dies()
{
	local tries

	for tries in {1..10}; do
		kill -KILL $paused
		wait $paused || true
		sleep 0.11 # figures are as old as that
		get /healthz
		[[ $(cat "$T/status") != 503 ]] || return 0
		exits 0 status
		stands_at commit-after add "10.77.1.$tries"
	done
	fail "/healthz is $(cat "$T/status") after the death of a writer"
}

t_health_during_a_change()
{
	local begun

	exits 0 attach x0
	serves
	stands_at commit-after add 10.77.0.3
	begun=$SECONDS
	answers 200 /healthz
	answers 200 /status.json
	json 'd["ok"] and not d["problems"]'
	wait_for "the end of patience" is_unhealthy
	[[ $((SECONDS - begun)) -ge 5 ]] || fail "its patience ends after $((SECONDS - begun)) s"
	writer_dies
	exits 0 up
	answers 200 /healthz
	stands_at commit-after add 10.77.0.4
	answers 200 /healthz
	writer_dies
	exits 0 add 10.77.0.5
	answers 200 /healthz
}

t_methods_and_paths()
{
	local path

	serves
	for path in / /metrics /healthz /status.json /history.json; do
		answers 200 $path
		[[ -s $T/out ]]
		header_is x-content-type-options nosniff
		header_is cache-control no-store
		header_is content-security-policy "default-src 'none';.*frame-ancestors 'none'"
		length=$(awk 'tolower($1) == "content-length:" {print $2 + 0}' "$T/headers")
		: >"$T/out"
		answers 200 $path --head
		[[ ! -s $T/out || $(head -c 4 "$T/out") == HTTP ]]
		((length > 0)) || fail "no length of $path"
	done
	for path in /nothing /metrics/ '/../etc/passwd' '/%2e%2e/x' //; do
		answers 404 "$path" --path-as-is
	done
	for path in POST PUT DELETE OPTIONS PATCH; do
		answers 405 /metrics -X $path -d 'x=y'
		header_is allow 'GET, HEAD'
	done
	# A name that somebody made to mean 127.0.0.1 gets nothing; others: unit/bloomd/http/test_visitors.
	answers 200 /metrics -H "Host: LOCALHOST:9101"
	answers 403 /metrics -H "Host: 127.0.0.1.evil.example"
	answers 200 '/metrics?collect=all'
	answers 414 "/$(head -c 20000 /dev/zero | tr '\0' a)"
	answers 431 / -H "X: $(head -c 20000 /dev/zero | tr '\0' a)"
	# The page has no part from elsewhere, and another nonce each time.
	answers 200 /
	! grep -nE '(src|href)="?(https?:)?//|@import|url\(' "$T/out" || fail "a part from elsewhere"
	! grep -q '@NONCE' "$T/out" || fail "no nonce"
	grep -o 'nonce="[0-9a-f]*"' "$T/out" | sort -u >"$T/nonce"
	[[ $(wc -l <"$T/nonce") -eq 1 && $(wc -c <"$T/nonce") -eq 41 ]] || fail "$(cat "$T/nonce")"
	grep -q "script-src '$(sed 's/nonce="\(.*\)"/nonce-\1/' "$T/nonce")'" "$T/headers"
	answers 200 /
	! grep -qF -f "$T/nonce" "$T/out" || fail "the same nonce again"
}

# Idle ones, slow ones, ones that read nothing: others are served before these must go for their silence, after 5 s, and
# none stays for ever. A machine may stand still for as long, but not time after time.
t_bad_clients()
{
	serves
	in_server python3 - "$patience" <<-'END' || fail "see above"
	import contextlib, socket, sys, time
	patience = float(sys.argv[1])
	def connect():
	    one = socket.create_connection(("127.0.0.1", 9101))
	    one.settimeout(10 * patience)
	    return one
	def ask():
	    one = connect()
	    begun = time.monotonic()
	    one.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
	    text = b""
	    while chunk := one.recv(4096):
	        text += chunk
	    assert text.startswith(b"HTTP/1.1 200") and text.endswith(b"ok\n"), text
	    return time.monotonic() - begun
	def served_beside(who, others):
	    for _ in range(5):
	        there = others()
	        if ask() < 3:
	            return there
	    raise AssertionError("served too late beside " + who)
	def many(count, text):
	    those = [connect() for _ in range(count)]
	    for one in those:
	        with contextlib.suppress(OSError):
	            one.sendall(text)
	    return those
	get = b"GET /metrics HTTP/1.1\r\nHost: loc"
	idle = served_beside("idle ones", lambda: many(300, b""))
	slow = served_beside("slow ones", lambda: many(100, get))
	deaf = served_beside("deaf ones", lambda: many(100, (get + b"alhost\r\n\r\n") * 3))
	many(1, b"\0" * 100)
	many(1, b"GET / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n")
	many(1, b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
	# A drop at a time: ended all the same.
	drip, begun = connect(), time.monotonic()
	with contextlib.suppress(OSError):
	    while time.monotonic() - begun < 25 * patience:
	        drip.sendall(b"G")
	        time.sleep(0.5)
	assert 10 < time.monotonic() - begun < 25 * patience, time.monotonic() - begun
	served_beside("nobody", list)
	END
	wait_for "the end of the others" has_few_sockets
	agent_ends
}

has_few_sockets() { [[ $(find "/proc/$agent/fd" -lname 'socket:*' | wc -l) -lt 90 ]]; }

t_unix_socket()
{
	configure '[http]' "listen = unix:$T/web.sock"
	get() { in_server curl -s --unix-socket "$T/web.sock" -o "$T/out" -w '%{http_code}' "http://x$1" >"$T/status"; }
	agent
	answers 200 /metrics
	[[ $(stat -c %a "$T/web.sock") == 660 ]] || fail "mode $(stat -c %a "$T/web.sock")"
	agent_ends KILL 137
	agent # the socket that was left is no obstacle
	answers 200 /metrics
	agent_ends
	[[ ! -e $T/web.sock ]]
}


# Taken: said so, and nothing else is done.
t_reload()
{
	local code=0

	serves
	mkdir "$T/other"
	in_server "$bloomd" --config "$T/bloomd.conf" --state "$T/other" --pin "$pins" --run "$T/other" 2>"$T/err" || code=$?
	[[ $code -eq 3 ]] && grep -q '127.0.0.1:9101.*[Aa]ddress already in use' "$T/err" || fail "$code: $(cat "$T/err")"
	configure '[http]' "listen = 127.0.0.1:9102"
	kill -HUP $agent
	web=127.0.0.1:9102
	wait_for "the new port" get /metrics
	! in_server curl -s -m 2 http://127.0.0.1:9101/metrics >/dev/null || fail "the former port answers"
	# One that cannot be had: the server stays.
	in_server python3 -S -E -c 'import socket, time
s = socket.create_server(("127.0.0.1", 9103))
time.sleep(60)' &
	wait_for "the port to be taken" in_server bash -c 'exec 9<>/dev/tcp/127.0.0.1/9103'
	configure '[http]' "listen = 127.0.0.1:9103"
	kill -HUP $agent
	says_agent 'stays as it was'
	answers 200 /metrics
	configure ''
	kill -HUP $agent
	wait_for "the end of the server" eval '! get /metrics'
	agent_ends
}

# sampled TEXT: in what is kept of the past.
sampled() { get /history.json && grep -q "$1" "$T/out"; }

# What the page shows is what /metrics says, and what was.
t_status_and_history()
{
	exits 0 attach x0
	exits 0 add 10.77.0.3 ads.example --list one
	serves
	wait_for "the first sample" sampled '"time"'
	blocked 10.77.0.3
	answers 200 /status.json
	json 'd["ok"] and d["policy"] == "enforce" and d["trial"] is None'
	json '[(one["name"], one["enforcing"]) for one in d["interfaces"]] == [("x0", True)]'
	json '{"name": "one", "entries": 2} in d["lists"] and d["listed"]["ipv4_host"] == 1'
	json 'd["packets"][1]["reasons"]["listed_ipv4_host"][0] == 1 and d["reasons"]["clean"][0] == "pass"'
	json 'd["feeds"] == [] and d["filter"]["parts"][0]["keys"] == 1'
	wait_for "a sample with what is dropped" sampled listed_ipv4_host
	json 'd["step"] == 10 and len(d["samples"]) >= 2'
	json '"listed_ipv4_host" not in d["samples"][0]["packets"] and d["samples"][-1]["packets"]["listed_ipv4_host"] == 1'
	json 'all(b["time"] - a["time"] >= 9 for a, b in zip(d["samples"], d["samples"][1:]))'
	exits 0 scope one tcp/25,udp/53
	exits 0 verdict one count
	answers 200 /status.json
	json '{"name": "one", "entries": 2, "verdict": "count", "scope": "tcp/25,udp/53"} in d["lists"]'
	json 'd["scopes"] == [{"scope": "tcp/25,udp/53", "verdict": "count", "packets": 0, "bytes": 0}]'
	exits 0 policy monitor --rollback 60
	answers 200 /status.json
	json 'd["policy"] == "monitor" and "policy monitor" in d["trial"]["command"]'
	exits 0 commit
}

# The labels of each axis of packets on the page, 0 and four more.
steps_are_equal()
{
	python3 - "$T/dom" <<-'END' || fail "the steps of an axis are not equal"
	import re, sys
	labels = re.findall(r'<text x="40"[^>]*>([0-9.]+)</text>', open(sys.argv[1]).read())
	print(labels)
	assert len(labels) == 10, labels
	for axis in labels[:5], labels[5:]:
	    step = float(axis[1])
	    assert all(abs(float(label) - i * step) < 1e-9 for i, label in enumerate(axis)), axis
	END
}

# What only a browser can tell: the script runs under the policy, and shows figures.
t_page_in_a_browser()
{
	command -v chromium >/dev/null || skip "no chromium; scripts/setup --all installs it"
	exits 0 attach x0
	exits 0 add 10.77.0.3 --list 'blocked-by-hand'
	serves
	blocked 10.77.0.3 10.77.0.3
	browse() {
		in_server timeout 100 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
			--user-data-dir="$T/browser" --virtual-time-budget=8000 "$@" "http://$web/" 2>"$T/browser.log"
	}
	browse --dump-dom >"$T/dom" || skip "chromium does not run here: $(tail -n 1 "$T/browser.log")"
	for text in 'all in force' 'policy enforce' 'blocked-by-hand' 'listed_ipv4_host' 'data-shown="yes"' '<path d="M'; do
		grep -qF "$text" "$T/dom" || fail "the page lacks $text: $(grep -c . "$T/dom") lines, $(grep -i console "$T/browser.log")"
	done
	steps_are_equal
	! grep -iE 'CONSOLE.*(error|refused|violat)' "$T/browser.log" || fail "an error in the page"
	ip -n "$server" link del x0
	browse --dump-dom >"$T/dom"
	grep -qF 'not as it should be' "$T/dom" && grep -q '<li>.*x0 is unfiltered' "$T/dom" || fail "no problem on the page"
}

run_tests
