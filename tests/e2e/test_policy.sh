#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# enforce, monitor, allow-only: the same list, three verdicts.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

# counts REASON NUMBER COMMAND...: the command brings so many packets of it, no more.
counts()
{
	local before after

	before=$(packets "$1")
	"${@:3}"
	after=$(packets "$1")
	[[ $((after - before)) -eq $2 ]] || fail "$((after - before)) packets $1, not $2, by: ${*:3}"
}

# The answer of the client to what the server asks.
asks() { in_server ping -q -n -c 1 -W "${2:-$((2 * patience))}" "$1" >/dev/null 2>&1; }

t_words()
{
	exits 0 policy
	[[ $(cat "$T/out") == enforce ]]
	exits 0 policy monitor
	exits 0 policy
	[[ $(cat "$T/out") == monitor ]]
	exits 0 -j policy
	json 'd["policy"] == "monitor"'
	exits 0 -j policy enforce
	json 'd["policy"] == "enforce"'
	exits 1 -j status
	json 'd["policy"] == "enforce" and d["confirm"]'
	exits 0 policy monitor
	exits 1 status
	says '^policy +monitor: NOTHING IS DROPPED'
	exits 0 -q policy allow-only --force
	complains '^bloomctl: warning: no source is listed, and the policy is allow-only'
	is_refused 2 "unknown policy 'nosuch': enforce, monitor or allow-only" policy --force nosuch
	exits 1 status
	says '^policy +allow-only: ALL BUT WHAT IS LISTED OR ALLOWED IS DROPPED$'
}

# Two interfaces, one word.
t_all_interfaces()
{
	join x1 1
	{
		echo "addr add 10.78.0.1/24 dev x1"
		echo "neigh replace 10.78.0.2 lladdr 02:00:00:00:01:02 dev x1 nud permanent"
		echo "neigh replace 10.78.0.3 lladdr 02:00:00:00:01:02 dev x1 nud permanent"
	} | ip -n "$server" -batch -
	{
		echo "addr add 10.78.0.2/24 dev x1"
		echo "addr add 10.78.0.3/24 dev x1"
		echo "neigh replace 10.78.0.1 lladdr 02:00:00:00:01:01 dev x1 nud permanent"
	} | ip -n "$client" -batch -
	ctl attach x0 x1
	ctl add 10.77.0.3 10.78.0.3
	on_both 10.77.0.2 10.77.0.3
	ctl policy monitor
	passes 10.77.0.2 10.77.0.3
	second 10.78.0.2 && second 10.78.0.3 || fail "monitor drops"
	[[ $(packets monitored x0) -eq 1 && $(packets monitored x1) -eq 1 ]]
	ctl policy allow-only
	passes 10.77.0.3
	blocked 10.77.0.2
	second 10.78.0.3 || fail "allow-only drops what is listed"
	! second 10.78.0.2 0.3 || fail "allow-only passes what is not listed"
	[[ $(packets admitted x0) -eq 1 && $(packets admitted x1) -eq 1 ]]
	# At least: the client's kernel says something by itself, from :: and as it likes.
	[[ $(packets not_admitted x0) -ge 1 && $(packets not_admitted x1) -ge 1 ]]
	ctl policy enforce
	on_both 10.77.0.2 10.77.0.3
}

# second SOURCE [SECONDS]
second() { in_client ping -q -n -c 1 -W "${2:-$((2 * patience))}" -I "$1" 10.78.0.1 >/dev/null 2>&1; }

on_both()
{
	passes "$1"
	blocked "$2"
	second "10.78.${1#10.77.}" || fail "10.78.${1#10.77.} does not get through"
	! second "10.78.${2#10.77.}" 0.3 || fail "10.78.${2#10.77.} gets through"
}

t_monitor_counts()
{
	ctl policy monitor
	ctl add 10.77.0.3 10.77.3.0/24 fd77::3
	ctl attach x0
	passes 10.77.0.2 fd77::2
	counts monitored 3 passes 10.77.0.3 10.77.3.9 fd77::3
	ctl rotate
	counts monitored 1 passes 10.77.0.3
	counts monitored 0 passes 10.77.0.2 fd77::2
	exits 0 test 10.77.0.3
	says '^10.77.0.3 passes now: the policy is monitor$'
	ctl allow add 10.77.0.3
	counts monitored 0 passes 10.77.0.3
	counts allowed 1 passes 10.77.0.3
	ctl policy enforce
	counts monitored 0 blocked fd77::3 10.77.3.9
	passes 10.77.0.3
}

t_allow_only()
{
	ctl attach x0
	ctl add 10.77.0.3 10.77.3.0/24 fd77::3
	exits 0 policy allow-only
	complains 'only listed sources pass.* replies to connections that this machine opens to others are dropped'
	[[ $(wc -l <"$T/err") -eq 1 ]]
	passes 10.77.0.3 10.77.3.9 fd77::3
	blocked 10.77.0.2 fd77::2 10.77.0.4
	asks 10.77.0.3 || fail "no answer of one that is listed"
	asks fd77::3 || fail "no answer of one that is listed, IPv6"
	! asks 10.77.0.2 0.3 || fail "an answer of one that is not listed"
	! asks fd77::2 0.3 || fail "an answer of one that is not listed, IPv6"
	exits 0 test 10.77.0.3
	says '^10.77.0.3 passes now: listed, and the policy is allow-only$'
	exits 1 test 10.77.0.2
	says '^10.77.0.2 is dropped now: not listed, and the policy is allow-only$'
	exits 0 allow add 10.77.0.2
	passes 10.77.0.2
	exits 1 test 10.77.0.2
	says '^10.77.0.2 passes now: allowed$'
	exits 0 add fd77::2
	passes fd77::2
	exits 0 del fd77::2 10.77.0.3
	blocked fd77::2 10.77.0.3
	exits 0 rotate
	blocked fd77::2 10.77.0.3
	passes fd77::3 10.77.3.9
	exits 0 policy enforce
	passes fd77::2 10.77.0.3
	blocked fd77::3 10.77.3.9
}

# Neighbours are found anew, by ARP and by neighbour discovery, though nobody is listed but one.
t_neighbours()
{
	ctl attach x0
	ctl add 10.77.0.3 fd77::3
	ctl policy allow-only
	ctl allow refuse link-local
	for ((i = 0; i < 2; i++)); do
		ip -n "$server" neigh flush dev x0 nud all
		ip -n "$client" neigh flush dev x0 nud all
		[[ -z $(ip -n "$server" neigh show dev x0 | grep -v FAILED) ]] || fail "neighbours stay"
		passes 10.77.0.3 fd77::3
	done
	# To resolve an address of one that is not listed it has to answer; its pings stay out.
	! asks fd77::2 0.3 || fail "a ping of fd77::2 gets through"
	! asks 10.77.0.2 0.3 || fail "a ping of 10.77.0.2 gets through"
	ip -n "$server" neigh show fd77::2 dev x0 | contains 'lladdr 02:' || fail "fd77::2 is not resolved"
	ip -n "$server" neigh show 10.77.0.2 dev x0 | contains 'lladdr 02:' || fail "10.77.0.2 is not resolved"
	[[ $(packets neighbour) -ge 1 && $(packets not_ip) -ge 1 ]]
}

t_servers_in_use()
{
	ip -n "$server" route add default via 10.77.0.6 dev x0
	resolvers 10.77.0.5 fd77::4
	ctl attach x0
	ctl add 10.77.0.3
	ctl policy allow-only
	passes 10.77.0.3 10.77.0.5 10.77.0.6 fd77::4
	asks 10.77.0.5 || fail "no answer of the resolver"
	blocked 10.77.0.2 10.77.0.4 fd77::2
	ctl allow refuse resolver
	blocked 10.77.0.5 fd77::4
	passes 10.77.0.6
}

t_empty_list()
{
	ctl attach x0
	ctl allow add 10.77.0.2
	is_refused 2 'no source is listed: allow-only would shut everybody out .--force' policy allow-only
	passes 10.77.0.3
	exits 0 policy allow-only --force
	blocked 10.77.0.3
	passes 10.77.0.2
}

# Lists that count admit nobody; whatever else they have beside them is no address of theirs.
t_lists_that_count()
{
	ctl attach x0
	ctl add 10.77.0.3 10.77.3.0/24 fd77::3 --list tried
	ctl verdict tried count
	exits 2 policy allow-only
	one_line
	complains 'all lists that have sources only count: allow-only would shut everybody out .--force'
	exits 2 policy allow-only --rollback 60
	one_line
	passes 10.77.0.2 10.77.0.3
	ctl add example.com --list names
	ctl add evil.example.com --list tried
	ctl allow add 10.77.0.5 --list office
	exits 2 policy allow-only
	complains 'only count'
	ctl del example.com
	ctl allow del 10.77.0.5
	ctl allow add 10.77.0.5
	ctl add 10.77.0.4 --list customers
	exits 0 policy allow-only
	passes 10.77.0.4 10.77.0.5
	blocked 10.77.0.3 fd77::3
	# From then on it is a warning.
	exits 0 -q verdict customers count
	complains 'warning: all lists that have sources only count, and the policy is allow-only: everybody is shut out'
	blocked 10.77.0.4
	exits 0 policy enforce
	exits 0 policy allow-only --force
	blocked 10.77.0.4
	passes 10.77.0.5
	exits 0 policy enforce
	# A scope is no verdict: it admits to its service.
	ctl scope tried tcp/9
	ctl verdict tried drop
	exits 0 policy allow-only
	! [[ -s $T/err ]] || ! grep -q 'only count' "$T/err" || fail "$(cat "$T/err")"
}

t_needs_confirm()
{
	ctl attach x0
	ctl add 10.77.0.3
	ctl rotate --no-confirm
	is_refused 2 'allow-only needs the exact look-up.*rotate --confirm' policy allow-only
	passes 10.77.0.2
	blocked 10.77.0.3
	exits 0 policy monitor
	exits 0 rotate --confirm
	exits 0 policy allow-only
	blocked 10.77.0.2
	passes 10.77.0.3
	is_refused 2 'allow-only needs the exact look-up' rotate --no-confirm
	exits 0 -j status
	json 'd["confirm"] and d["generation"]["confirm"]'
	exits 0 detach x0
	exits 2 rotate --no-confirm
	one_line
}

# status says what is on trial, and for how long.
t_trial_shows()
{
	ctl attach x0
	ctl add 10.77.0.3
	exits 0 -j status
	json 'd["trial"] is None'
	exits 0 -q policy monitor --rollback 60
	passes 10.77.0.3
	exits 0 status
	says '^TRIAL +`policy monitor` goes back in [0-9]+ seconds; `bloomctl commit` keeps it$'
	exits 0 -j status
	json 'd["trial"]["command"] == "policy monitor" and 0 < d["trial"]["seconds_left"] <= 60'
	json 'd["policy"] == "enforce" and d["trial"]["policy"] == "monitor"'
	exits 0 status
	says '^policy +monitor: NOTHING IS DROPPED.* \(on trial until 20[0-9T:-]+Z, then enforce\)$'
	exits 0 policy
	says '^monitor \(on trial until 20[0-9T:-]+Z, then enforce\)$'
	exits 0 -j policy
	json 'd["policy"] == "enforce" and d["trial"]["policy"] == "monitor"'
	json '0 < d["trial"]["seconds_left"] <= 60'
	exits 0 commit
	exits 0 policy
	[[ $(cat "$T/out") == monitor ]]
	exits 0 -j policy
	json 'd["policy"] == "monitor" and "trial" not in d'
	ctl save >"$T/saved"
	sed -i 's/"policy":"monitor"/"policy":"enforce"/' "$T/saved"
	exits 0 -q restore "$T/saved" --rollback 60
	exits 0 policy
	says '^enforce \(on trial until .*, then monitor\)$'
	exits 0 status
	says '^policy +enforce: .* \(on trial until .*, then monitor\)$'
	exits 0 commit
	exits 0 -q policy monitor
	exits 0 -j status
	json 'd["trial"] is None and d["policy"] == "monitor"'
	ctl detach x0
	exits 0 -q attach x0 --rollback 60
	exits 0 -j status
	json 'd["trial"]["command"] == "attach x0"'
	exits 0 commit
	ctl detach x0
	exits 0 -q attach x0 --rollback 1
	sleep 1.2
	exits 3 status
	says '^PROBLEM +the trial of `attach x0` is over: the program is still there, and lets everything pass; bloomd, the timer xdp-bloom-expire or `bloomctl up` ends it$'
	exits 0 up
	exits 1 -j status
	json 'd["trial"] is None'
}

t_lost_pins()
{
	ctl attach x0
	ctl add 10.77.0.3
	ctl policy allow-only
	rm -rf "$pins"
	exits 3 status
	says '^policy +allow-only'
	exits 0 up
	blocked 10.77.0.2
	passes 10.77.0.3
	ctl policy monitor
	rm -rf "$pins"
	exits 0 add 10.77.0.4
	passes 10.77.0.2 10.77.0.3 10.77.0.4
	ctl detach x0
	ctl attach x0
	passes 10.77.0.3
	exits 0 policy
	[[ $(cat "$T/out") == monitor ]]
}

# A flood of replacements does not open a gap.
t_no_gap()
{
	local sender

	ctl attach x0
	ctl add 10.77.0.3
	ctl policy allow-only
	in_client ping -q -n -i 0.002 -W 0.2 -w 2 -I 10.77.0.2 $server4 >"$T/ping" 2>&1 &
	sender=$!
	while kill -0 $sender 2>/dev/null; do
		ctl rotate
	done
	grep -q ' 0 received' "$T/ping" || fail "$(grep transmitted "$T/ping")"
	passes 10.77.0.3
}

run_tests
