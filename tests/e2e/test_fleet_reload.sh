#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A section [fleet] that changes while bloomd runs: another server, other lists, none at all. What is listed stays, and
# what waits is published, unless the host leaves.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/fleet.sh"

is_at() { [[ $(field "$1" position) -ge $2 ]]; }

# section HOST [LINE...]: this is its section now, besides the usual.
section()
{
	configure_host "$@"
	reload "$1"
}

# section_goes HOST
section_goes()
{
	: >"$T/$1/bloomd.conf"
	reload "$1"
	says_log "$1" 'no longer in the fleet test: its lists stay as they are'
	[[ $(of "$1" fleet) == "no fleet" ]] || fail "$(of "$1" fleet)"
	[[ -z $(metric "$1" fleet_connected) ]] || fail "$(of "$1" metrics | grep fleet)"
}

# What was promised to the fleet reaches it, also if the list is no longer published.
t_another_server()
{
	local before

	fleet a b
	adds a b 192.0.2.1
	before=$(log_length)
	# Until then it waits on a, though b has it.
	wait_for "the answer" is_at a "$(log_end)"
	section a "url = unix:$T/none.sock"
	wait_for "its absence" shows a '^test: connecting: no-connection: '
	of a -q add 192.0.2.2
	of a -q del 192.0.2.1
	wait_for "what waits" outbox_is a 2
	section a
	comes b 192.0.2.2
	goes b 192.0.2.1
	published a
	log_is $((before + 1)) || fail "$before entries became $(log_length)"
	agree 1 a b
	section a "url = unix:$T/none.sock"
	of a -q add 192.0.2.3
	section a 'publish = other'
	comes b 192.0.2.3
	published a
	! of a -q add 192.0.2.4 || fail "the list is followed alone, and was changed"
	grep -q 'default' "$T/a/err" || fail "$(cat "$T/a/err")"
}

# Another name alone, and with another key, as if that were lost.
t_another_name_and_key()
{
	local host key

	fleet_with_key a b
	adds a b 192.0.2.1
	new_key other
	for key in key other; do
		for host in a b; do
			section $host "name = with-$key" "key-file = $T/$key"
		done
		for host in a b; do
			wait_for "$host in the other fleet" shows $host "^with-$key: reading$"
		done
	done
	of a -q add 192.0.2.2
	of b -q add 192.0.2.3
	comes b 192.0.2.2
	comes a 192.0.2.3
	agree 3 a b
}

t_other_lists()
{
	fleet a b
	of a -q add 192.0.2.10 --list more
	adds a b 192.0.2.1
	has_not b 192.0.2.10 || fail "more is not shared"
	section a 'publish = default more' 'follow = default more'
	section b 'publish = default more' 'follow = default more'
	comes b 192.0.2.10
	of b -q add 192.0.2.11 --list more
	comes a 192.0.2.11
	agree 3 a b
	wait_for "both lists" shows b '^  list     more, 2 entries, published, followed$'
	# b takes no more of it, and goes on to publish it.
	section b 'publish = default more' 'follow = default'
	in_fleet b
	of a -q del 192.0.2.10
	of a -q add 192.0.2.2
	of b -q add 192.0.2.12 --list more
	comes a 192.0.2.12
	comes b 192.0.2.2
	has b 192.0.2.10 || fail "it was taken out"
	# b has nothing to do with it any more, and changes what it likes.
	section b
	in_fleet b
	of b -q add 192.0.2.13 --list more
	adds b a 192.0.2.3
	has_not a 192.0.2.13 || fail "it was published"
	wait_for "one list" shows_no b more
	published b
	# One takes the place of the other on a, and then on b.
	section a 'publish = blocks' 'follow = blocks'
	wait_for "the other list" shows a '^  list     blocks, '
	of a -q add 192.0.2.20 --list blocks
	of a -q add 192.0.2.21
	of b -q add 192.0.2.22
	published a
	has a 192.0.2.1 || fail "the former list is gone"
	has_not b 192.0.2.20 && has_not b 192.0.2.21 || fail "b has what it does not share"
	section b 'publish = blocks' 'follow = blocks'
	comes b '192.0.2.20 list blocks'
	has_not a 192.0.2.22 || fail "a has what it no longer shares"
	has b 192.0.2.1 || fail "the former list is gone"
}

t_the_section_goes_and_comes_back()
{
	local former

	fleet a b
	adds a b 192.0.2.1 192.0.2.2
	former=$(field b host)
	section_goes b
	of b -q add 192.0.2.3
	of a -q del 192.0.2.1
	of a -q add 192.0.2.4
	published a
	has b 192.0.2.1 && has_not b 192.0.2.4 && has_not a 192.0.2.3 || fail "it is still in the fleet"
	# It comes back as another host, and adds what it has.
	section b
	comes a 192.0.2.3 192.0.2.1
	agree 4 a b
	[[ $(field b host) != "$former" ]] || fail "it is the same host again"
	# If it publishes nothing, what it had alone would be taken out, so somebody has to say yes.
	section_goes b
	of b -q add 192.0.2.5
	of a -q del 192.0.2.1
	configure_follower b
	reload b
	wait_for "a question" is_in b held
	says_log b 'list default would shrink from 5 to [0-4] entries'
	has b 192.0.2.1 && has b 192.0.2.5 || fail "something is gone"
	of b -q fleet accept
	in_fleet b
	agree 3 a b
}

# Nor does a secret that went bad change anything.
t_a_section_that_is_wrong()
{
	fleet_with_key a b
	cp "$T/a/bloomd.conf" "$T/a/right"
	echo 'colour = red' >>"$T/a/bloomd.conf"
	kill -HUP "${host_pid[a]}"
	says_log a 'the configuration stays as it was'
	adds a b 192.0.2.1
	cp "$T/a/right" "$T/a/bloomd.conf"
	cp -p "$T/key" "$T/right"
	: >"$T/key"
	kill -HUP "${host_pid[a]}"
	says_log a 'has no secret of 16 to 4095 bytes'
	adds a b 192.0.2.2
	reads a || fail "it is $(field a state)"
	# The same as before changes nothing, and nothing is read anew.
	cp "$T/right" "$T/key"
	before=$(field a since)
	reload a
	[[ $(field a since) == "$before" ]] || fail "it began anew"
}

run_tests
