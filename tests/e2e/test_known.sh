#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Known customers: who has connected passes under allow-only --known, and nobody else.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
# shellcheck source=cgroup.sh
. "$(dirname "$0")/cgroup.sh"

need_cgroup() { [[ -n ${XB_TEST_CGROUP:-} ]] || skip "cgroup v2 is not mounted, or no group can be made"; }

customers() { python3 "$root/tests/e2e/customers.py" "$@"; }

# The client is all of 10.78.0.0/16 and fd78::/32, and the server finds it.
many_addresses()
{
	{
		echo "route add 10.78.0.0/16 via 10.77.0.2"
		echo "route add fd78::/32 via fd77::2"
	} | ip -n "$server" -batch -
	{
		echo "route add local 10.78.0.0/16 dev lo"
		echo "route add local fd78::/32 dev lo"
	} | ip -n "$client" -batch -
	in_client sysctl -qw net.ipv6.ip_nonlocal_bind=1
	in_server python3 "$root/tests/e2e/customers.py" serve "$T/customers" >/dev/null 2>&1 &
	wait_for "the server" test -e "$T/customers"
}

# connect_all COUNT FIRST: every one of them comes through.
connect_all()
{
	local through

	through=$(in_client python3 "$root/tests/e2e/customers.py" connect "$1" "$2")
	[[ $through -eq $1 ]] || fail "$through of $1 customers come through"
}

knows() { exits 0 known test "$1"; }
knows_not() { exits 1 known test "$1"; }

# What a power cut takes.
power_cut() { rm -rf "$pins" "$counters"; }

packets()
{
	ctl -j stats | python3 -c '
import json, sys
print(sum(r["packets"] for i in json.load(sys.stdin)["interfaces"] for r in i["reasons"]
          if r["reason"] == sys.argv[1]))' "$1"
}

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
	exits 2 known off
	one_line
	complains 'the policy admits known sources'
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
		complains 'nobody is remembered'
		# shellcheck disable=SC2086
		exits 1 -q known $one
		[[ ! -s $T/err ]]
	done
	exits 2 policy allow-only --known
	one_line
	complains 'known on'
	exits 2 policy enforce --known
	one_line
	for one in '--remember 59m' '--remember 20000d' '--capacity 0' '--fpr 1' x; do
		# shellcheck disable=SC2086
		exits 2 known on $one
		one_line
	done
	[[ ! -e $pins/known ]]
	exits 0 known on --remember 14d --capacity 5000 --fpr 0.01
	for one in 10.0.0.0/8 example.com 2001:db8::/63 x; do
		exits 2 known test "$one"
		one_line
	done
	exits 0 -j known status
	json 'd["on"] and d["learning"] and d["remember"] == 14 * 86400 and d["capacity"] == 5000 and d["fpr"] == 0.01'
	json 'd["sources"] == 0 and d["sets"] == 1 and d["saved"] == 0 and 14 * 86400 - 60 < d["period_ends_in"] <= 14 * 86400'
	exits 0 known on --remember 7d
	exits 0 -j known status
	json 'd["remember"] == 7 * 86400 and d["period_ends_in"] <= 7 * 86400 and d["capacity"] == 5000'
	exits 0 known on --capacity 50000
	exits 0 -j known status
	json 'd["capacity"] == 50000 and d["sets"] == 2'
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

# 20,000 customers of both families, the IPv4 ones to a socket of IPv6; then a flood of strangers.
t_many_customers_in_a_flood()
{
	local count=20000 strangers=200000 before admitted flood

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
	in_server python3 "$root/tests/e2e/peer.py" tcp 10.77.0.1 10.77.0.4 5 || fail "the answer does not come"
	in_server python3 "$root/tests/e2e/peer.py" tcp fd77::1 fd77::3 5 || fail "the answer does not come"
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
	sleep 0.3
	[[ $(in_server awk '/^TcpExt:/ && !n {for (i = 1; i <= NF; i++) if ($i == "TCPFastOpenPassive") n = i; next}
		/^TcpExt:/ {print $n}' /proc/net/netstat) -ge 1 ]] || fail "the server did not take the SYN"
	knows_not 10.78.200.200
	in_client python3 "$root/tests/e2e/customers.py" fastopen 10.78.0.7 10.77.0.1
	knows 10.78.0.7
}

t_reboot()
{
	need_cgroup
	many_addresses
	ctl attach x0
	exits 0 known on
	connect_all 1000 0
	exits 0 policy allow-only --known
	exits 0 known save
	power_cut
	exits 0 up
	[[ ! -s $T/err ]]
	connect_all 1000 0
	! reaches tcp 10.77.0.4 0.5 || fail "a stranger connects"
	exits 0 status
	# Without the pins of known sources alone.
	exits 0 known save
	rm -rf "$pins/known"
	exits 3 status
	says 'PROBLEM .*nobody is remembered; the next command'
	exits 0 up
	exits 0 status
	connect_all 1000 0
	# A file that somebody has damaged.
	printf x | dd of="$state/known" bs=1 seek=1000 conv=notrunc 2>/dev/null
	power_cut
	exits 0 up
	complains 'nobody is known any more: .*known is damaged'
	exits 0 status
	! reaches tcp 10.77.0.4 0.5 || fail "a stranger connects"
}

# While it is saved, the filter grows: nobody is lost.
t_saved_while_it_grows()
{
	need_cgroup
	many_addresses
	ctl attach x0
	ctl known on --capacity 100
	connect_all 60 0
	stands_at known-opened known save
	exits 0 known on --capacity 5000
	connect_all 20 60
	goes_on 0
	power_cut
	exits 0 up
	[[ ! -s $T/err ]] || fail "$(cat "$T/err")"
	knows 10.78.0.0
	knows 10.78.0.39
}

# Who was known when all were forgotten does not come back with a file that was being written.
t_cleared_while_it_is_saved()
{
	local point clearing

	need_cgroup
	serve
	for point in known-opened known-written; do
		ctl known on
		reaches tcp 10.77.0.2
		stands_at "$point" known save
		in_server "$bloomctl" --state "$state" --pin "$pins" --run "$counters" -q known clear &
		clearing=$!
		sleep 0.5
		goes_on 0
		wait $clearing
		[[ ! -e $state/known ]] || fail "a file, after a save that stood at $point"
		power_cut
		exits 0 up
		knows_not 10.77.0.2
	done
}

# faults COMMAND...: all points that it comes to.
points()
{
	: >"$T/seen"
	XB_FAULT_SEEN=$T/seen tool "$faulty" -q "$@" >/dev/null 2>&1 || true
	sort -u "$T/seen"
}

# Killed anywhere: the next command has it all right, and what was saved is not lost.
t_killed_anywhere()
{
	local point command seen=0 i

	need_cgroup
	many_addresses
	ctl attach x0
	exits 0 known on
	connect_all 100 0
	exits 0 known save
	for command in 'known save' 'known off' 'known on' 'known on --capacity 900000' up 'policy allow-only --known'; do
		for ((i = 0; i < 40; i++)); do
			# What the command finds that comes to the most points.
			begin_anew "$command"
			mapfile -t all < <(points $command)
			[[ $i -lt ${#all[@]} ]] || break
			point=${all[$i]}
			begin_anew "$command"
			XB_FAULT=$point tool "$faulty" -q $command >/dev/null 2>&1 || true
			seen=$((seen + 1))
			exits 0 known on
			exits 0 -j known status
			json 'd["learning"]'
			connect_known "$command at $point"
			exits 0 status
		done
	done
	[[ $seen -gt 20 ]] || fail "only $seen points"
	! compgen -G "$state/known.new*" >/dev/null || fail "a half written file is left"
}

begin_anew()
{
	exits 0 policy enforce
	case $1 in
	'known on') ctl known off ;;
	up) rm -rf "$pins/known" ;;
	*) ctl known on ;;
	esac
}

connect_known()
{
	knows 10.78.0.0
	knows 10.78.0.49
	knows fd78::9
}

# bloomd saves, lets the filter grow, and has somebody learn again.
t_agent()
{
	need_cgroup
	many_addresses
	ctl attach x0
	ctl known on --capacity 100
	printf '[known]\nsave = 1s\n' >"$T/bloomd.conf"
	agent
	connect_all 300 0
	wait_for "a larger filter" is_larger
	wait_for "the file" is_saved
	rm "$pins/known/link"
	wait_for "the program" test -e "$pins/known/link"
	agent_ends
	power_cut
	exits 0 up
	knows 10.78.0.0
	printf '[known]\nsave = 0\n' >"$T/bloomd.conf"
	code=0
	"$bloomd" --config "$T/bloomd.conf" --check 2>"$T/err" || code=$?
	[[ $code -eq 2 ]] || fail "save = 0: $code"
}

is_larger() { ctl -j known status | grep -q '"sets":2'; }

# With all that was learned.
is_saved() { [[ -n $(find "$state/known" -newermt '1 second ago') && $(stat -c %s "$state/known") -gt 4000 ]]; }

# Another store with the same pins leaves alone what it does not want, and takes over what it wants.
t_another_store()
{
	need_cgroup
	serve
	ctl known on
	reaches tcp 10.77.0.2
	in_server "$bloomctl" --state "$T/other" --pin "$pins" --run "$counters" -q add 192.0.2.1
	exits 0 status
	knows 10.77.0.2
	in_server "$bloomctl" --state "$T/other" --pin "$pins" --run "$counters" -q known on
	in_server "$bloomctl" --state "$T/other" --pin "$pins" --run "$counters" known test 10.77.0.2
	in_server "$bloomctl" --state "$T/other" --pin "$pins" --run "$counters" -q known off
	[[ ! -e $pins/known && -s $T/other/known && ! -e $state/known ]]
}

# Without cgroup v2 nobody is learned: it says so until it is there.
t_no_cgroup()
{
	need_cgroup
	ctl attach x0
	code=0
	in_server unshare --mount sh -c 'for one in $(awk "/ - cgroup2 / {print \$5}" /proc/self/mountinfo); do
		umount -l "$one"; done; exec "$@"' sh "$bloomctl" --state "$state" --pin "$pins" --run "$counters" \
		known on >"$T/out" 2>"$T/err" || code=$?
	[[ $code -eq 3 ]] || fail "ends with $code"
	complains 'warning: known sources are not learned: cgroup v2 is not mounted'
	exits 3 status
	says 'PROBLEM .*not learned: no program is attached to cgroup v2; the next command'
	exits 0 metrics
	says '^xdp_bloom_known_learning 0$'
	says '^xdp_bloom_problems\{kind="not_learning"\} 1$'
	exits 0 add 192.0.2.1
	exits 0 status
	exits 0 metrics
	says '^xdp_bloom_known_learning 1$'
}

# What is amiss of known sources: nobody learns, or the filter is too full.
t_problems()
{
	need_cgroup
	many_addresses
	ctl attach x0
	ctl known on --capacity 100
	exits 0 status
	rm "$pins/known/link"
	exits 3 status
	says 'PROBLEM .*not learned: no program is attached to cgroup v2; the next command'
	exits 0 -j known status
	json 'not d["learning"]'
	exits 0 up
	exits 0 status
	connect_all 100 0
	exits 0 status
	# Nobody lets the filter grow.
	connect_all 2000 0
	exits 3 status
	says 'PROBLEM .*known sources are too many for their filter: [0-9.e-]* of strangers are taken for known instead of 0.001 until'
	exits 3 -j status
	json '[one["kind"] for one in d["problem_details"]] == ["known_full"]'
	exits 0 metrics
	says '^xdp_bloom_problems\{kind="known_full"\} 1$'
	exits 0 up
	exits 0 -j known status
	json 'd["sets"] == 2'
	exits 3 status
	exits 0 known clear
	exits 0 status
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
	exits 0 policy allow-only --force --rollback 1
	! reaches tcp 10.77.0.2 0.3 || fail "a known one connects"
	sleep 1.2
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
