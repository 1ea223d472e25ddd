#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The servers that bloomd talks to are allowed automatically: whoever lists one of them cuts nobody off. They run in the
# client's namespace, behind the filter.
# waits: more than it computes
# shellcheck source-path=SCRIPTDIR disable=SC2034,SC2119,SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/fleet.sh"
. "$root/tests/e2e/crowdsec.sh"
. "$root/tests/e2e/feeds.sh" # last: of its name_server

# bloomd looks names up by itself, and then at what a survey finds.
kinds() { ctl -j status | of_json '"\n".join(sorted("%s %s" % (a["entry"], a["why"]) for a in d["allowlist"]["automatic"] if a["kind"] == "peer"))'; }
are_peers() { [[ $(kinds) == "$(printf '%s\n' "$@" | LC_ALL=C sort)" ]]; }
peers() { (wait_for "the peers $*" are_peers "$@") || fail "the peers are not '$*': $(kinds), $(cat "$counters/peers")"; }
no_peers() { (wait_for "the end of all peers" are_peers '') || fail "there are peers: $(kinds)"; }

# feed_of ADDRESS [LINE...]: bloomd takes the list of feeds.example, which is at this address of the client.
feed_of()
{
	certificates
	echo good >"$T/mode"
	echo 1 >"$T/version"
	name_server '' "$1 feeds.example" "${@:2}"
	serve_feeds "$client" 0.0.0.0
	ctl -q attach x0
	configure 'every = 1h' 'time-limit = 3s'
	agent
	wait_for "the first list" has_outcome main updated
	peers "$1 bloomd asks feeds.example"
}

t_a_feed_goes_on_when_its_server_is_listed()
{
	feed_of 10.77.0.2
	exits 0 add 10.77.0.2 10.77.0.3
	complains '10.77.0.2 will not be dropped: it is on the allowlist \(peer, bloomd asks feeds.example\)'
	passes 10.77.0.2
	blocked 10.77.0.3
	ends_as unchanged
	# By other ways, and in a prefix.
	echo 10.77.0.0/24 >"$T/list"
	exits 0 import "$T/list" --list wide --include-bogons
	exits 0 rotate
	passes 10.77.0.2
	blocked 10.77.0.4
	ends_as unchanged
	exits 0 status
	says '^  10.77.0.2 +peer +bloomd asks feeds.example$'
	# Nothing else is let in for it: not the network, and no names.
	exits 0 allow list --list auto:peer
	[[ $(wc -l <"$T/out") -eq 1 ]] || fail "$(cat "$T/out")"
	# It lasts without bloomd, and over a boot, after which the run directory is empty.
	agent_ends
	exits 0 up
	passes 10.77.0.2
	rm "$counters/peers"
	exits 0 up
	passes 10.77.0.2
}

t_a_failure_names_the_list()
{
	feed_of 10.77.0.2
	exits 0 allow refuse peer
	no_peers
	exits 0 add 10.77.0.0/24 --list bans
	blocked 10.77.0.2
	ends_as timeout
	exits 0 feeds
	says '^  why +10.77.0.2, where bloomd asks feeds.example, is listed \(10.77.0.0/24, list bans\): .'
	says_agent 'feed main: timeout: 10.77.0.2, where bloomd asks feeds.example, is listed \(10.77.0.0/24, list bans\): '
	# What is counted, or dropped at some ports only, is not dropped; nor is what is allowed.
	for terms in 'verdict bans count' 'scope bans tcp/25' 'allow add 10.77.0.2' 'policy monitor'; do
		# shellcheck disable=SC2086
		ctl -q ${terms}
		ends_as unchanged
		kill -STOP $feedserver
		ends_as timeout
		kill -CONT $feedserver
		! ctl feeds | contains 'is listed' || fail "$terms: $(ctl feeds)"
		ctl -q verdict bans drop && ctl -q scope bans all && ctl -q policy enforce
	done
	exits 0 allow del 10.77.0.2
	exits 0 allow accept peer
	peers '10.77.0.2 bloomd asks feeds.example'
	ends_as unchanged
}

# The configuration says who is a peer, and its names where; bloomd follows both.
t_peers_follow_the_configuration()
{
	feed_of 10.77.0.2
	exits 0 add 10.77.0.0/24 fd77::/64
	# The server moves. Where it was counts for a day more.
	name_server '' '10.77.0.4 feeds.example'
	blocked 10.77.0.4
	agent_reloads
	peers '10.77.0.2 bloomd asks feeds.example' '10.77.0.4 bloomd asks feeds.example'
	comes_through 10.77.0.4
	ends_as unchanged
	sed -i 's/ \([0-9]*\)$/ 1/' "$counters/peers"
	agent_reloads
	peers '10.77.0.4 bloomd asks feeds.example'
	comes_blocked 10.77.0.2
	# A name that does not resolve keeps its address.
	name_server
	agent_reloads
	ends_as no-name
	peers '10.77.0.4 bloomd asks feeds.example'
	# Addresses need no name; each family has its own.
	printf '[feed main]\nurl = http://[fd77::2]:8080/list\n[feed other]\nurl = http://10.77.0.5:8080/list\n' >"$T/bloomd.conf"
	agent_reloads
	peers 'fd77::2 bloomd asks fd77::2' '10.77.0.5 bloomd asks 10.77.0.5'
	comes_through fd77::2 10.77.0.5
	comes_blocked 10.77.0.4
	: >"$T/bloomd.conf"
	agent_reloads
	no_peers
	comes_blocked fd77::2 10.77.0.5
}

# Whatever stands in the place of the file, commands go on, what is allowed stays, and bloomd replaces it. What a resolver may
# say: unit/machine/test_peerfile, and attacks/resolver.
t_another_file_in_its_place()
{
	local making

	feed_of 10.77.0.2
	exits 0 add 10.77.0.0/24
	echo '10.77.0.3 evil 1999999999' >"$T/other"
	for making in 'ln -s ../other' mkfifo 'head -c 5000000 /dev/urandom >'; do
		rm -f "$counters/peers"
		eval "$making $counters/peers"
		exits 0 up
		complains 'peers'
		passes 10.77.0.2
		blocked 10.77.0.3
		agent_reloads
		wait_for "the file of bloomd" is_replaced
		grep -q evil "$T/other" || fail "what it leads to is written"
	done
}

is_replaced() { [[ -f $counters/peers && ! -L $counters/peers ]] && grep -q '^10.77.0.2 feeds.example [0-9]*$' "$counters/peers"; }

# --- the server of a fleet --------------------------------------------------------------------------

fleet_is() { [[ $(ctl -j fleet | "$XB_TEST_DIR/bin/field" fleet state) == "$1" ]]; }
fleet_says() { [[ $(ctl -j fleet | "$XB_TEST_DIR/bin/field" fleet message) =~ $1 ]]; }

# fleet_behind_the_filter: its server is at 10.77.0.2, as redis.example.
fleet_behind_the_filter()
{
	redis_namespace=$client
	mkdir -p "$T/redis"
	serve_fleet --bind 10.77.0.2 --port 6390 --protected-mode no --dir "$T/redis"
	name_server '' '10.77.0.2 redis.example'
	printf '%s\n' '[fleet]' 'url = redis://redis.example:6390' 'cleartext = yes' 'name = test' 'publish = default' \
		'follow = default' >"$T/bloomd.conf"
	ctl -q attach x0
	agent
	wait_for "the fleet ($(tail -n 3 "$T/agent.err"))" fleet_is reading
	peers '10.77.0.2 bloomd asks redis.example'
}

t_a_fleet_goes_on_when_its_server_is_listed()
{
	local before why

	fleet_behind_the_filter
	before=$(log_end)
	# The list goes to all hosts of the fleet.
	exits 0 add 10.77.0.0/24
	wait_for "its entry in the log" log_ends_behind $((before + 1))
	passes 10.77.0.2
	blocked 10.77.0.3
	redis_dies
	wait_for "the loss" fleet_is connecting
	serve_fleet --bind 10.77.0.2 --port 6390 --protected-mode no --dir "$T/redis" --appendonly no
	wait_for "the fleet" fleet_is reading
	exits 0 add 192.0.2.7
	# Where peers are refused, it is said by whom the fleet is cut off.
	exits 0 allow refuse peer
	no_peers
	why='10.77.0.2, where bloomd asks redis.example, is listed \(10.77.0.0/24, list default\): '
	wait_for "the cause" fleet_says "^[a-z-]*: $why"
	says_agent "fleet: [a-z-]*: $why"
	exits 0 allow accept peer
	wait_for "the fleet" fleet_is reading
	fleet_says '^$' || fail "$(ctl fleet)"
}

# --- CrowdSec ---------------------------------------------------------------------------------------

t_a_remote_lapi_goes_on_when_it_is_listed()
{
	answer whole "$(decision 1 10.77.0.2),$(decision 2 10.77.0.3)"
	answer delta ''
	stand_in "$client" 10.77.0.2
	name_server '' '10.77.0.2 lapi.example'
	ctl -q attach x0
	bouncer 'url = http://lapi.example:8080/' 'cleartext = yes' 'time-limit = 2s'
	peers '10.77.0.2 bloomd asks lapi.example'
	wait_for "the decisions" works
	comes_blocked 10.77.0.3
	passes 10.77.0.2
	next_request
	exits 0 allow refuse peer
	wait_for "the end" has_state timeout
	exits 0 feeds
	says '^  why +10.77.0.2, where bloomd asks lapi.example, is listed \(list crowdsec\): .'
	exits 0 allow accept peer
	wait_for "the server" works
}

run_tests
