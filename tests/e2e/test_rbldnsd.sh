#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Data of rbldnsd: import lists what its server says is listed, and nothing else.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

server_of_lists=$root/build/rbldnsd/usr/sbin/rbldnsd

# serve_list KIND: the server answers for bl.test from $T/KIND.
serve_list()
{
	chmod 755 "$T"
	rm -f "$T/rbldnsd.log" # the one before has started, too
	# Not a function: it is killed by its number.
	nsenter --net="/run/netns/$server" "$server_of_lists" -n -u nobody -r "$T" -b 127.0.0.1/5300 \
		"bl.test:$1:$1" >"$T/rbldnsd.log" 2>&1 &
	serving=$!
	wait_for "rbldnsd" grep -q ' started ' "$T/rbldnsd.log"
}

# same_as KIND SEED: sets $told, unless the zone that the seed makes tells little.
same_as()
{
	local seed=$2 code=0

	"$root/tests/e2e/rbldnsd.py" make "$T" "$seed"
	exits 0 -v -j import "$T/$1" --format "$1" --list "$1" --include-bogons --replace --force
	cp "$T/out" "$T/answer"
	ctl save >"$T/saved"
	serve_list "$1"
	in_server "$root/tests/e2e/rbldnsd.py" compare 5300 "$1" "$T/saved" "$T/answer" >"$T/err" 2>&1 || code=$?
	[[ $code -eq 0 || $code -eq 3 ]] || fail "seed $seed: $(tail -n 1 "$T/err")"
	[[ $code -ne 0 ]] || told=yes
	kill "$serving"
	wait "$serving" || true
}

t_the_same_is_listed()
{
	local kind tries told

	[[ -x $server_of_lists ]] || skip "no rbldnsd"
	for kind in ip4set ip4trie ip6trie dnset; do
		told=""
		same_as "$kind" 1
		[[ -n $told ]] || fail "$kind: $(cat "$T/err")"
		told=""
		for ((tries = 0; tries < 5; tries++)); do
			[[ -n $told ]] || same_as "$kind" "$RANDOM"
		done
		[[ -n $told ]] || fail "five zones: $(cat "$T/err")"
	done
}

run_tests
