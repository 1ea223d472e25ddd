# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# bloomd in the foreground of a test: started, asked over the web, ended.

bloomd=$XB_TEST_DIR/bin/bloomd
web=127.0.0.1:9101

# configure LINE...: the whole configuration.
configure() { printf '%s\n' "$@" >"$T/bloomd.conf"; }

# starts_agent: $agent is its number, what it says is in $T/agent. Ends with the test.
starts_agent()
{
	[[ -x $bloomd ]] || skip "no bloomd here"
	mkdir -p "$state"
	(exec nsenter --net="/run/netns/$server" "$bloomd" --config "$T/bloomd.conf" --state "$state" \
		--pin "$pins" --run "$counters" >"$T/agent" 2>&1) &
	agent=$!
	wait_for "an answer of bloomd" get /healthz
}

ends_agent()
{
	local code=0

	kill "-${1:-TERM}" $agent
	wait $agent || code=$?
	[[ ${1:-TERM} == KILL || $code -eq 0 ]] || fail "bloomd ends with $code: $(cat "$T/agent")"
}

# get PATH [OPTION...]: the body to $T/out, the headers to $T/headers, the status to $T/status.
get()
{
	in_server curl -s -m $((5 * patience)) -o "$T/out" -D "$T/headers" -w '%{http_code}' "${@:2}" \
		"http://$web$1" >"$T/status"
}

# answers STATUS PATH [OPTION...]
answers()
{
	sleep 0.11 # figures are as old as that
	get "${@:2}" || fail "no answer to $2"
	[[ $(cat "$T/status") == "$1" ]] || fail "$2: $(cat "$T/status"), not $1: $(head -c 300 "$T/out")"
}
