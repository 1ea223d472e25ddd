# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2154
# bloomd, asked over the web.

web=127.0.0.1:9101

# configure LINE...: the whole configuration.
configure() { printf '%s\n' "$@" >"$T/bloomd.conf"; }

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
