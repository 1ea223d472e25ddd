#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A section [fleet] that changes while bloomd runs: another server, other lists, none at all. What is listed stays, and
# what waits is published, unless the host leaves.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

# reload HOST
reload()
{
	local before

	before=$(grep -c ': reloaded$' "$T/$1/log" || true)
	kill -HUP "${host_pid[$1]}"
	wait_for "a reload" has_reloaded "$1" $((before + 1))
}
has_reloaded() { [[ $(grep -c ': reloaded$' "$T/$1/log") -ge $2 ]]; }

is_at() { [[ $(field "$1" position) -ge $2 ]]; }
shows() { of "$1" fleet | contains "$2"; }
shows_no() { ! shows "$@"; }

t_another_server()
{
	local before

	fleet a b
	of a -q add 192.0.2.1
	wait_for "it" has b 192.0.2.1
	before=$(log_length)
	# Until then it waits on a, though b has it.
	wait_for "the answer" is_at a "$(log_end)"
	configure_host a "url = unix:$T/none.sock"
	reload a
	wait_for "its absence" shows a '^test: connecting: no-connection: '
	of a -q add 192.0.2.2
	of a -q del 192.0.2.1
	wait_for "what waits" outbox_is a 2
	configure_host a
	reload a
	patience=12
	wait_for "what waited" has b 192.0.2.2
	wait_for "what waited" has_not b 192.0.2.1
	wait_for "an empty outbox" outbox_is a 0
	[[ $(log_length) -eq $((before + 1)) ]] || fail "$before entries became $(log_length)"
	are_equal a b || fail "they differ"
}

# All of them move to a server that has nothing yet.
t_a_server_that_is_empty()
{
	fleet a b
	of a -q add 192.0.2.1
	wait_for "it" has b 192.0.2.1
	mkdir "$T/second"
	nsenter --net="/run/netns/$server" "$T/redis-server" --port 0 --unixsocket "$T/second.sock" --dir "$T/second" \
		--save '' >>"$T/redis.log" 2>&1 &
	wait_for "a second server" test -S "$T/second.sock"
	configure_host a "url = unix:$T/second.sock"
	reload a
	of a -q add 192.0.2.2
	of b -q add 192.0.2.3
	configure_host b "url = unix:$T/second.sock"
	reload b
	patience=12
	wait_for "both" are_equal a b
	wait_for "a" reads a
	wait_for "b" reads b
	[[ $(listing a | wc -l) -eq 3 ]] || fail "something is gone: $(listing a)"
}

t_other_lists()
{
	fleet a b
	of a -q add 192.0.2.1
	of a -q add 192.0.2.10 --list more
	wait_for "it" has b 192.0.2.1
	has_not b 192.0.2.10 || fail "more is not shared"
	for host in a b; do
		configure_host $host 'publish = default more' 'follow = default more'
		reload $host
	done
	patience=12
	wait_for "what is shared now" has b 192.0.2.10
	of b -q add 192.0.2.11 --list more
	wait_for "it" has a 192.0.2.11
	wait_for "the same" are_equal a b
	wait_for "both lists" shows b '^  list     more, 2 entries, published, followed$'
	# b takes no more of it, and goes on to publish it.
	configure_host b 'publish = default more' 'follow = default'
	reload b
	wait_for "b" reads b
	of a -q del 192.0.2.10
	of a -q add 192.0.2.2
	of b -q add 192.0.2.12 --list more
	wait_for "what b publishes" has a 192.0.2.12
	wait_for "the other list" has b 192.0.2.2
	has b 192.0.2.10 || fail "it was taken out"
	# b has nothing to do with it any more, and changes what it likes.
	configure_host b
	reload b
	wait_for "b" reads b
	of b -q add 192.0.2.13 --list more
	of b -q add 192.0.2.3
	wait_for "the other list" has a 192.0.2.3
	has_not a 192.0.2.13 || fail "it was published"
	wait_for "one list" shows_no b more
	wait_for "an empty outbox" outbox_is b 0
}

# What was promised to the fleet reaches it, though the list is no longer published.
t_what_waits_of_a_list_that_is_not_published_any_more()
{
	fleet a b
	of a -q add 192.0.2.1
	wait_for "it" has b 192.0.2.1
	configure_host a "url = unix:$T/none.sock"
	reload a
	of a -q add 192.0.2.2
	configure_host a 'publish = other'
	reload a
	patience=12
	wait_for "what waited" has b 192.0.2.2
	wait_for "an empty outbox" outbox_is a 0
	! of a -q add 192.0.2.3 || fail "the list is followed alone, and was changed"
	grep -q 'default' "$T/a/err" || fail "$(cat "$T/a/err")"
}

t_the_section_goes_and_comes_back()
{
	local former

	fleet a b
	of a -q add 192.0.2.1 192.0.2.2
	wait_for "it" has b 192.0.2.2
	former=$(field b host)
	cp "$T/b/bloomd.conf" "$T/b/with"
	: >"$T/b/bloomd.conf"
	reload b
	says_log b 'no longer in the fleet test'
	[[ $(of b fleet) == "no fleet" ]] || fail "$(of b fleet)"
	[[ -z $(metric b fleet_connected) ]] || fail "$(of b metrics | grep fleet)"
	of b -q add 192.0.2.3
	of a -q del 192.0.2.1
	has b 192.0.2.1 || fail "it is gone"
	# It comes back as another host, and adds what it has.
	cp "$T/b/with" "$T/b/bloomd.conf"
	reload b
	patience=12
	wait_for "what b listed alone" has a 192.0.2.3
	wait_for "what b had" has a 192.0.2.1
	wait_for "the same" are_equal a b
	[[ $(field b host) != "$former" ]] || fail "it is the same host again"
}

# It publishes nothing: what it had alone would be taken out, so somebody has to say yes.
t_a_host_comes_back_to_follow()
{
	fleet a b
	of a -q add 192.0.2.1 192.0.2.2
	wait_for "it" has b 192.0.2.2
	: >"$T/b/bloomd.conf"
	reload b
	of b -q add 192.0.2.3
	of a -q del 192.0.2.1
	configure_host b
	sed -i '/^publish/d' "$T/b/bloomd.conf"
	reload b
	patience=12
	wait_for "a question" is_in b held
	says_log b 'list default would shrink from 3 to [01] entries'
	has b 192.0.2.1 && has b 192.0.2.3 || fail "something is gone"
	of b -q fleet accept
	wait_for "b" reads b
	wait_for "the same" are_equal a b
	[[ $(listing a | wc -l) -eq 1 ]] || fail "$(listing a)"
}

t_a_section_that_is_wrong()
{
	fleet a b
	cp "$T/a/bloomd.conf" "$T/a/right"
	echo 'colour = red' >>"$T/a/bloomd.conf"
	kill -HUP "${host_pid[a]}"
	wait_for "its word" logs a 'the configuration stays as it was'
	of a -q add 192.0.2.1
	wait_for "it" has b 192.0.2.1
	reads a || fail "it is $(field a state)"
	# The same as before changes nothing, and nothing is read anew.
	cp "$T/a/right" "$T/a/bloomd.conf"
	before=$(field a since)
	reload a
	[[ $(field a since) == "$before" ]] || fail "it began anew"
}

run_tests
