#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# status is 0 only while something is filtered and all that is wanted is in force; commands that change something say
# first what they did.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

idle='^NOTHING IS FILTERED: no interface is attached; `bloomctl attach INTERFACE` filters one$'

t_nothing_is_attached()
{
	exits 1 status
	says "$idle"
	exits 1 -j status
	json 'not d["ok"] and not d["problems"] and not d["interfaces"]'
	exits 0 add 10.77.0.3
	exits 1 status
	exits 0 attach x0 --rollback 60
	exits 0 status
	exits 0 commit
	exits 0 -j status
	json 'd["ok"]'
	exits 0 detach x0
	exits 1 status
	says "$idle"
	# A lost store wants nothing, and filters nothing.
	exits 0 attach x0
	exits 0 detach --all
	rm -r "$state"
	exits 1 status
	says "$idle"
}

# feed NAME LAST_SUCCESS PERIOD: what bloomd would have left of it.
feed()
{
	mkdir -p "$state/feeds"
	printf '{"list":"%s","outcome":"no-connection","message":"connection refused","failures":9,"period":%s,"last_success":%s,"last_attempt":%s}' \
		"$1" "$3" "$2" "$(date +%s)" >"$state/feeds/$1.json"
}

t_a_feed_that_fails_for_days()
{
	local now

	now=$(date +%s)
	exits 0 attach x0
	feed main $((now - 2 * 86400)) 86400
	feed often $((now - 7200)) 60
	exits 0 status
	feed main $((now - 4 * 86400)) 86400
	exits 3 status
	says '^PROBLEM     feed main has brought no list since 20[0-9T:-]*Z: connection refused; `bloomctl feeds` says more$'
	feed main $((now - 4 * 86400)) $((7 * 86400))
	exits 0 status
	feed often $((now - 90000)) 60
	exits 3 -j status
	json '[one["kind"] for one in d["problem_details"]] == ["feed_stale"] and not d["ok"]'
	rm "$state/feeds/often.json"
	feed fresh 0 60
	exits 3 status
	says '^PROBLEM     feed fresh has never brought a list: connection refused; '
	rm -r "$state/feeds"
	exits 0 status
}

# status_in SECONDS: as the wall clock will be then.
status_in()
{
	local code=0

	echo "$1" >"$T/ahead"
	XB_CLOCK_AHEAD=$T/ahead preloaded "$T/wallclock.so" in_server "$bloomctl" --state "$state" --pin "$pins" \
		--run "$counters" status >"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq $2 ]] || fail "in $1 seconds: exit code $code, not $2: $(cat "$T/out" "$T/err")"
}

t_what_nobody_takes_out_in_time()
{
	"${CC:-cc}" -shared -fPIC -o "$T/wallclock.so" "$root/tests/e2e/wallclock.c"
	exits 0 attach x0
	exits 0 add 10.77.0.3 --timeout 60
	status_in 120 0
	says '^expired     1 entries'
	status_in 600 3
	says '^PROBLEM     an entry expired at 20[0-9T:-]*Z, and is still enforced; `bloomctl expire` takes it out, and bloomd would in time$'
	exits 0 del 10.77.0.3
	status_in 600 0
}

unended='^bloomctl: nothing on this machine ends entries in time: neither bloomd nor the timer xdp-bloom-expire runs\. '

# with_timer COMMAND...: with what systemd shows of the active timer.
with_timer()
{
	# shellcheck disable=SC2016
	unshare -m sh -c 'mkdir -p /run/systemd && mount -t tmpfs none /run/systemd && mkdir /run/systemd/units &&
		ln -s 0123456789abcdef /run/systemd/units/invocation:xdp-bloom-expire.timer && exec "$@"' sh \
		nsenter --net="/run/netns/$server" "$bloomctl" --state "$state" --pin "$pins" --run "$counters" "$@"
}

t_a_timeout_that_nothing_ends()
{
	exits 0 attach x0
	exits 0 add 10.77.0.3
	[[ ! -s $T/err ]] || fail "it has no timeout: $(cat "$T/err")"
	exits 0 add 10.77.0.4 --timeout 60
	complains "$unended"
	exits 0 allow add 10.77.0.9 --timeout 60
	complains "$unended"
	echo 'add 10.77.0.5 --timeout 60' >"$T/batch"
	exits 0 batch "$T/batch"
	complains "$unended"
	exits 0 -q add 10.77.0.6 --timeout 60
	[[ ! -s $T/err ]] || fail "a note with -q: $(cat "$T/err")"
	with_timer add 10.77.0.4 --exist --timeout 90 2>"$T/err"
	[[ ! -s $T/err ]] || fail "the timer ends it: $(cat "$T/err")"
	agent
	exits 0 add 10.77.0.4 --exist --timeout 60
	[[ ! -s $T/err ]] || fail "bloomd ends it: $(cat "$T/err")"
}

# What was done, then what is not so.
t_what_was_done_is_said_first()
{
	local command idle='^bloomctl: done; nothing is filtered: no interface is attached$'

	for command in "policy monitor" "add 10.77.0.3" "flush --yes"; do
		# shellcheck disable=SC2086
		exits 0 $command
		complains "$idle"
		[[ $(wc -l <"$T/err") -eq 1 ]] || fail "$command: told twice: $(cat "$T/err")"
	done
	exits 0 -q add 10.77.0.6
	[[ ! -s $T/err ]] || fail "a note with -q: $(cat "$T/err")"
	exits 1 del 10.77.0.99
	! grep -q 'nothing is filtered' "$T/err" || fail "it changed nothing: $(cat "$T/err")"
	exits 0 policy enforce
	says '^the policy is enforce$'
	exits 0 -q policy enforce
	[[ ! -s $T/out ]] || fail "an answer with -q: $(cat "$T/out")"
	join x1 1
	exits 0 attach x0 x1
	[[ ! -s $T/err ]] || fail "they are attached: $(cat "$T/err")"
	exits 0 detach x1
	says '^x1 detached$'
	exits 0 attach x1
	exits 0 detach --all
	says '^x0 detached$'
	says '^x1 detached$'
	complains "$idle"
	exits 1 detach x0
	[[ ! -s $T/out ]] || fail "it was not attached: $(cat "$T/out")"
}

t_no_mode_is_named_that_nobody_asked_for()
{
	exits 0 attach lo
	says '^lo attached in skb mode$'
	complains '^bloomctl: warning: lo: (cannot attach in its driver|the kernel refused XDP in its driver)'
	! grep -v '"' "$T/err" | contains 'native mode' || fail "nobody asked for it: $(cat "$T/err")"
	exits 0 detach lo
	exits 3 attach lo --mode native
	complains 'native'
}

t_problems_come_first()
{
	exits 0 attach x0
	ip -n "$server" link del x0
	exits 3 status
	[[ $(head -n 1 "$T/out") == 'PROBLEM     x0 is unfiltered: missing; `bloomctl up` filters it '* ]] || fail "$(cat "$T/out")"
}

t_a_domain_means_queries()
{
	exits 0 attach x0
	exits 0 add bad.example 10.77.0.3 worse.example
	[[ $(cat "$T/err") == 'bloomctl: bad.example is a domain: DNS queries for it are meant, and no packets from its hosts; for those, list their addresses' ]] ||
		fail "$(cat "$T/err")"
	exits 0 allow add good.example
	complains '^bloomctl: good.example is a domain: DNS queries for it are meant, .*; for those, allow their addresses$'
}

t_a_network_that_import_leaves_out()
{
	exits 0 attach x0
	exits 0 add 10.0.0.0/8 192.168.0.0/16 fd00::/16 198.18.0.7
	complains '^bloomctl: 10\.0\.0\.0/8 is private \(RFC 1918\), which `bloomctl import` leaves out; if it is not meant: bloomctl del 10\.0\.0\.0/8$'
	complains '^bloomctl: 192\.168\.0\.0/16 is private'
	complains '^bloomctl: fd00::/16 is unique local'
	! grep -q 198.18.0.7 "$T/err" || fail "a single address is meant: $(cat "$T/err")"
	exits 0 del 10.0.0.0/8
	exits 0 add 10.0.0.0/8 --force
	! grep -q import "$T/err" || fail "--force means it: $(cat "$T/err")"
	exits 0 allow add 192.168.0.0/16
	! grep -q import "$T/err" || fail "networks of one's own are allowed: $(cat "$T/err")"
}

run_tests
