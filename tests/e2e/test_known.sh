#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Known customers: who has connected passes under allow-only --known, and nobody else.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=known.sh
. "$(dirname "$0")/known.sh"

# A customer connects, and connects again when only known ones may.
t_known_customers_pass()
{
	need_cgroup
	serve
	ctl attach x0
	exits 0 known on
	[[ ! -s $T/err ]]
	reaches tcp 10.77.0.2
	reaches tcp fd77::2
	knows 10.77.0.2
	knows fd77::2
	knows_not 10.77.0.4
	# The client's own sockets are of another network namespace.
	knows_not 10.77.0.1
	knows_not fd77:0:0:1::1
	exits 0 policy allow-only --known
	complains 'UDP services'
	reaches tcp 10.77.0.2
	reaches tcp fd77::2
	! reaches tcp 10.77.0.4 0.5 || fail "a stranger connects"
	knows_not 10.77.0.4
	exits 0 status
	says 'ALL BUT WHAT IS LISTED, ALLOWED OR KNOWN IS DROPPED'
	says '^known       about 2 sources that have connected, which are admitted$'
	is_refused 2 'the policy admits known sources' known off
	exits 0 policy enforce
	reaches tcp 10.77.0.4
	exits 0 known off
	[[ ! -e $pins/known && -s $state/known ]]
	exits 0 known on
	knows 10.77.0.2
	exits 0 detach --all
	knows 10.77.0.2
	exits 0 known clear
	knows_not 10.77.0.2
	[[ ! -e $state/known ]]
}

# `test` says why a source is admitted: the filter looks whether it is known last of all.
t_reason()
{
	need_cgroup
	serve
	ctl attach x0
	ctl known on
	reaches tcp 10.77.0.2
	reaches tcp fd77::2
	exits 1 test 10.77.0.2
	says '^10.77.0.2 passes now: not listed$'
	# On trial as afterwards.
	ctl policy allow-only --known --rollback 60
	exits 1 test 10.77.0.2
	says '^10.77.0.2 passes now: known$'
	exits 1 test 10.77.0.4
	says '^10.77.0.4 is dropped now: not listed, and the policy is allow-only$'
	ctl commit
	for one in 10.77.0.2 fd77::2 '10.77.0.2 --to tcp/25'; do
		# shellcheck disable=SC2086
		exits 1 test $one
		says '^[^ ]*( to tcp/25)? passes now: known$'
	done
	exits 1 -j test 10.77.0.2
	json 'd["entries"][0]["kernel"] == "pass" and d["entries"][0]["reason"] == "known" and not d["entries"][0]["listed"]'
	exits 1 test 10.77.0.4
	says '^10.77.0.4 is dropped now: not listed, and the policy is allow-only$'
	# Lists that count, or hold for another service, admit nobody.
	ctl add 10.77.0.2 10.77.0.5 --list counted
	ctl verdict counted count
	exits 0 test 10.77.0.2
	says '^10.77.0.2 passes now: known$'
	exits 0 test 10.77.0.5
	says '^10.77.0.5 is dropped now: listed, but the verdict is count, and the policy is allow-only$'
	ctl verdict counted drop
	ctl scope counted tcp/25
	exits 1 test 10.77.0.2 --to tcp/26
	says '^10.77.0.2 to tcp/26 passes now: known$'
	exits 0 test 10.77.0.2 --to tcp/25
	says '^10.77.0.2 to tcp/25 passes now: listed, and the policy is allow-only$'
	ctl allow add 10.77.0.2
	exits 1 test 10.77.0.2 --to tcp/26
	says '^10.77.0.2 to tcp/26 passes now: allowed$'
	ctl allow del 10.77.0.2
	exits 0 policy allow-only --force
	exits 1 test 10.77.0.2 --to tcp/26
	says '^10.77.0.2 to tcp/26 is dropped now: listed, but for tcp/25 only, and the policy is allow-only$'
}

t_words()
{
	need_cgroup
	exits 0 known
	says '^known       off$'
	for one in 'test 10.77.0.2' 'forget 10.77.0.2' save; do
		# shellcheck disable=SC2086
		exits 1 known $one
		complains 'remembering is off'
		# shellcheck disable=SC2086
		exits 1 -q known $one
		[[ ! -s $T/err ]]
	done
	is_refused 2 'known on' policy allow-only --known
	exits 2 policy enforce --known
	one_line
	exits 2 known on --remember 20000d
	one_line
	[[ ! -e $pins/known ]]
	exits 0 known on --remember 14d --capacity 5000 --fpr 0.01
	exits 2 known test 2001:db8::/63
	one_line
	exits 0 -j known status
	json 'd["on"] and d["learning"] and d["remember"] == 14 * 86400 and d["capacity"] == 5000 and d["fpr"] == 0.01'
	json 'd["sources"] == 0 and d["sets"] == 1 and d["saved"] == 0 and 14 * 86400 - 60 < d["period_ends_in"] <= 14 * 86400'
	exits 0 known on --remember 7d
	exits 0 -j known status
	json 'd["remember"] == 7 * 86400 and d["period_ends_in"] <= 7 * 86400 and d["capacity"] == 5000'
	exits 0 known on --capacity 50000
	exits 0 -j known status
	json 'd["capacity"] == 50000 and d["sets"] == 1'
	exits 0 known save
	exits 0 -j known status
	json 'd["saved"] > 1700000000'
	exits 0 metrics
	says '^xdp_bloom_known_learning 1$'
	says '^xdp_bloom_known_capacity_sources 50000$'
	exits 0 save
	says '"known":\{"remember":604800,"capacity":50000,"fpr":0.01'
	cp "$T/out" "$T/saved"
	exits 0 known off
	exits 0 save
	! grep -q known "$T/out" || fail "known sources in what is saved"
	exits 0 restore "$T/saved"
	exits 0 -j known status
	json 'd["on"] and d["learning"] and d["capacity"] == 50000'
	exits 0 save
	cmp "$T/out" "$T/saved"
	for one in 'remember":1' 'capacity":0' 'fpr":2'; do
		sed "s/\(\"known\":.*${one%:*}\):[0-9.]*/\1:${one#*:}/" "$T/saved" >"$T/wrong"
		cmp -s "$T/saved" "$T/wrong" && fail "nothing is wrong with $one"
		exits 2 restore "$T/wrong"
		one_line
	done
}

# 4,000 customers of both families, the IPv4 ones to a socket of IPv6; then a flood of strangers.
t_many_customers_in_a_flood()
{
	local count=4000 strangers=40000 before admitted flood

	need_cgroup
	many_addresses
	ctl attach x0
	exits 0 known on --capacity $((count * 2)) --fpr 0.01
	connect_all $count 0
	exits 0 -j known status
	json "abs(d['sources'] - $count) < $count / 50 and d['learned'] <= $count and d['lost'] == 0"
	exits 0 policy allow-only --known
	before=$(packets admitted_known)
	in_client python3 "$root/tests/e2e/customers.py" strangers $strangers >/dev/null
	admitted=$(($(packets admitted_known) - before))
	# The server answers those SYNs; nobody takes the answers.
	((admitted * 1000 <= strangers * 11)) || fail "$admitted of $strangers strangers are admitted"
	echo "$admitted of $strangers strangers admitted"
	in_client python3 "$root/tests/e2e/customers.py" strangers 100000000 >/dev/null &
	flood=$!
	connect_all $count 0
	kill -KILL $flood
	exits 0 -j known status
	json "d['learned'] <= $count"
}

# allow-only is refused while it would admit nobody; who is known, is somebody.
t_nobody_is_known_yet()
{
	need_cgroup
	serve
	ctl attach x0
	ctl known on
	exits 2 policy allow-only --known
	one_line
	complains 'no source is listed, and nobody is known yet: allow-only would shut everybody out .--force'
	ctl add 10.77.0.4 --list tried
	ctl verdict tried count
	exits 2 policy allow-only --known --rollback 60
	one_line
	complains 'all lists that have sources only count, and nobody is known yet: '
	exits 0 policy
	says '^enforce$'
	reaches tcp 10.77.0.2
	exits 0 policy allow-only --known
	reaches tcp 10.77.0.2
	exits 0 policy enforce
	exits 0 known clear
	exits 2 policy allow-only --known
	complains 'nobody is known yet'
	exits 0 policy allow-only --known --force
	! reaches tcp 10.77.0.2 0.5 || fail "a stranger connects"
	exits 0 policy enforce
	ctl verdict tried drop
	exits 0 policy allow-only --known
}

# It says whom it admits beside them, and known sources are no reason to admit what nobody added by hand.
t_whom_it_admits()
{
	need_cgroup
	serve
	ctl attach x0
	ctl known on
	reaches tcp 10.77.0.2
	exits 0 policy allow-only --known
	says '^the policy is allow-only: it admits the allowlist and known sources, and nobody else$'
	ctl add 10.77.0.4
	exits 0 policy allow-only --known
	says ': it admits the allowlist, known sources and the 1 source of list default, and nobody else$'
	exits 0 -j policy allow-only --known
	json 'd["admits"] == {"known": True, "sources": 1, "lists": [{"name": "default", "sources": 1}]}'
	ctl policy enforce
	echo 10.77.0.3 | ctl -q import - --include-bogons --list level1
	exits 2 policy allow-only --known
	one_line
	complains 'allow-only would admit sources that nobody added by hand: 1 in list level1 by import '
	exits 0 policy allow-only --known --force
}

# shuts_out COMMAND...: it works, and says once that everybody is shut out.
shuts_out()
{
	exits 0 "$@"
	[[ $(grep -c 'warning: no source is listed, nobody is known, and the policy is allow-only: everybody is shut out' \
		"$T/err") -eq 1 ]] || fail "bloomctl $*: $(cat "$T/err")"
}

# One customer is known, and nobody else is admitted.
admit_one()
{
	ctl policy enforce
	reaches tcp 10.77.0.2
	exits 0 policy allow-only --known
	exits 0 add 10.77.0.5
	exits 0 del 10.77.0.5
	! grep -q 'shut out' "$T/err" || fail "del: $(cat "$T/err")"
}

t_every_way_to_admit_nobody()
{
	need_cgroup
	serve
	ctl attach x0
	ctl known on
	ctl add 10.77.0.4
	exits 0 policy allow-only --known
	shuts_out flush --yes
	ctl save >"$T/saved"
	admit_one
	shuts_out known forget 10.77.0.2
	admit_one
	shuts_out known clear
	admit_one
	rm -rf "$pins"
	shuts_out up
	ctl policy enforce
	ctl known off
	rm "$state/known"
	shuts_out restore "$T/saved" --rollback 600
	shuts_out commit
	ctl policy enforce
	shuts_out restore "$T/saved"
	! reaches tcp 10.77.0.2 0.5 || fail "a stranger connects"
}

# has_room SOURCES SETS
has_room()
{
	exits 0 -j known status
	json "d['capacity'] == $1 and d['sets'] == $2"
}

# A set that has nobody is free again at once; the last one is kept for those who come.
t_capacity_changes()
{
	local capacity

	need_cgroup
	serve
	for capacity in 100 200 300 400 500 600 700; do
		exits 0 -q known on --capacity $capacity
		[[ ! -s $T/err ]] || fail "known on --capacity $capacity: $(cat "$T/err")"
		has_room $capacity 1
	done
	reaches tcp 10.77.0.2
	exits 0 known on --capacity 2000
	has_room 2000 2
	reaches tcp 10.77.0.2
	exits 0 known on --capacity 4000
	has_room 4000 3
	exits 0 known on --capacity 5000
	has_room 5000 3
	reaches tcp 10.77.0.2
	is_refused 3 'replaced 2 times, .*cannot change before' known on --capacity 8000
	exits 3 known on --fpr 1e-6
	exits 0 -j known status
	json 'd["capacity"] == 5000 and d["fpr"] == 0.001'
	exits 0 known on --remember 7d
	exits 0 add 192.0.2.1
	! grep -q warning "$T/err" || fail "$(cat "$T/err")"
	knows 10.77.0.2
}

t_off_needs_to_save()
{
	need_cgroup
	serve
	exits 0 known on
	reaches tcp 10.77.0.2
	mkdir -p "$state/known.new/in-the-way"
	is_refused 3 'cannot be saved, so learning goes on' known off
	exits 0 -j known status
	json 'd["on"] and d["learning"]'
	rm -r "$state/known.new"
	exits 0 known off
	exits 0 -j known status
	json 'not d["on"] and not d["learning"]'
}

# What cannot be saved is not lost, and nothing says that it is off. known.new: where the file is written.
t_off_that_cannot_save_what_came_last()
{
	need_cgroup
	serve
	exits 0 known on
	reaches tcp 10.77.0.2
	stands_at commit-after known off
	mkdir -p "$state/known.new/in-the-way"
	goes_on 3
	grep -q 'switched off, but are learned until they can be saved' "$T/paused.err" || fail "$(cat "$T/paused.err")"
	exits 3 -j status
	json '[one["kind"] for one in d["problem_details"]] == ["still_learning"]'
	exits 0 known
	says '^known +off, BUT SOURCES ARE LEARNED'
	exits 3 known off
	exits 0 add 192.0.2.1
	complains 'cannot save known sources'
	rm -r "$state/known.new"
	exits 0 known off
	exits 1 status
	[[ ! -e $pins/known && -s $state/known ]] || fail "it still learns"
}

# What was learned when all sets are in use stays until it is forgotten, whether or not the last one has somebody.
t_no_change_without_a_set()
{
	local capacity

	need_cgroup
	many_addresses
	exits 0 known on --capacity 100
	for capacity in 1 2 3; do
		connect_all 1 $((capacity * 9000))
		[[ $capacity -eq 3 ]] || exits 0 known on --capacity $((capacity * 200))
	done
	connect_all 400 1000
	exits 0 up
	exits 0 -j known status
	json 'd["sets"] == 4'
	for capacity in 3000 4000; do
		is_refused 3 'replaced 3 times, .*cannot change before' known on --capacity $capacity
	done
	exits 0 add 192.0.2.1
	! grep -q warning "$T/err" || fail "$(cat "$T/err")"
	exits 0 known status
}

# The far end of a connection that begins here is known before its answer comes.
t_own_connections()
{
	need_cgroup
	in_client python3 "$root/tests/e2e/peer.py" serve "$T/there" >/dev/null 2>&1 &
	wait_for "the echo server" test -e "$T/there"
	ctl attach x0
	exits 0 known on
	exits 0 policy allow-only --known --force
	knows_not 10.77.0.4
	in_server python3 "$root/tests/e2e/peer.py" tcp 10.77.0.1 10.77.0.4 30 || fail "the answer does not come"
	in_server python3 "$root/tests/e2e/peer.py" tcp fd77::1 fd77::3 30 || fail "the answer does not come"
	knows 10.77.0.4
	exits 0 policy allow-only --force
	exits 0 known clear
	! in_server python3 "$root/tests/e2e/peer.py" tcp 10.77.0.1 10.77.0.4 1 || fail "allow-only admits it"
}

# A SYN with data may come from anybody, where the server wants no cookie.
t_fast_open()
{
	need_cgroup
	many_addresses
	in_server sysctl -qw net.ipv4.tcp_fastopen=0x203
	in_client sysctl -qw net.ipv4.tcp_fastopen=0x5
	ctl attach x0
	exits 0 known on
	in_client python3 "$root/tests/e2e/customers.py" forged-fastopen x0
	wait_for "that the server takes the SYN" has_taken_one
	knows_not 10.78.200.200
	in_client python3 "$root/tests/e2e/customers.py" fastopen 10.78.0.7 10.77.0.1
	knows 10.78.0.7
}

has_taken_one()
{
	[[ $(in_server awk '/^TcpExt:/ && !n {for (i = 1; i <= NF; i++) if ($i == "TCPFastOpenPassive") n = i; next}
		/^TcpExt:/ {print $n}' /proc/net/netstat) -ge 1 ]]
}

# On trial, then kept; and gone when it is not kept.
t_rollback()
{
	need_cgroup
	serve
	ctl attach x0
	ctl known on
	reaches tcp 10.77.0.2
	exits 0 policy allow-only --known --rollback 60
	reaches tcp 10.77.0.2
	! reaches tcp 10.77.0.4 0.5 || fail "a stranger connects"
	exits 0 status
	says 'policy allow-only --known'
	exits 0 commit
	reaches tcp 10.77.0.2
	! reaches tcp 10.77.0.4 0.5 || fail "a stranger connects"
	exits 0 policy allow-only --force --rollback 60
	! reaches tcp 10.77.0.2 0.3 || fail "a known one connects"
	exits 0 commit
	exits 0 policy allow-only --known
	reaches tcp 10.77.0.2
	exits 0 policy allow-only --force --rollback 1
	wait_for "the end of the trial" reaches tcp 10.77.0.2 1
	reaches tcp 10.77.0.2
	exits 0 rotate
	reaches tcp 10.77.0.2
}

t_forget()
{
	need_cgroup
	serve
	ctl attach x0
	ctl known on
	reaches tcp 10.77.0.2
	exits 0 known forget 10.77.0.2
	complains 'forgotten, until it connects again'
	knows_not 10.77.0.2
	exits 1 known forget 10.77.0.2
	reaches tcp 10.77.0.2
	knows 10.77.0.2
	exits 0 -j known forget 10.77.0.2
	json 'd["was_known"] and abs(d["others_forgotten"]) < 1e-9'
}

run_tests
