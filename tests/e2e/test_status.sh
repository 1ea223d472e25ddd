#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# status is 0 only while something is filtered and all that is wanted is in force; commands that change something say
# first what they did.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

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

# What was done, then what is not so.
t_what_was_done_is_said_first()
{
	local command

	for command in "policy monitor" "add 10.77.0.3" "flush --yes"; do
		# shellcheck disable=SC2086
		exits 0 $command
		complains '^bloomctl: done; nothing is filtered: no interface is attached$'
	done
	exits 0 policy enforce
	says '^the policy is enforce$'
	exits 0 -q policy enforce
	[[ ! -s $T/out ]] || fail "an answer with -q: $(cat "$T/out")"
	join x1 1
	exits 0 attach x0 x1
	exits 0 detach x1
	says '^x1 detached$'
	exits 0 attach x1
	exits 0 detach --all
	says '^x0 detached$'
	says '^x1 detached$'
	complains '^bloomctl: done; nothing is filtered: no interface is attached$'
	exits 1 detach x0
	[[ ! -s $T/out ]] || fail "it was not attached: $(cat "$T/out")"
}

t_no_mode_is_named_that_nobody_asked_for()
{
	exits 0 attach lo
	says '^lo attached in skb mode$'
	complains '^bloomctl: warning: lo: (cannot attach in its driver|the kernel refused XDP in its driver)'
	! grep -v '"' "$T/err" | grep -q 'native mode' || fail "nobody asked for it: $(cat "$T/err")"
	exits 0 detach lo
	exits 3 attach lo --mode native
	complains 'native'
}

run_tests
