#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Each list has one owner, a feed or the bouncer: what the owner knows of the list is compared with the list, and a list
# is emptied only when nobody fills it any more.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154,SC2119
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/feeds.sh"
. "$(dirname "$0")/crowdsec.sh"

# --- what is listed, and what is known of it --------------------------------------------------------

# clocked_agent: bloomd with a clock that is as far ahead as set_clock says.
clocked_agent()
{
	"${CC:-cc}" -shared -fPIC -o "$T/wallclock.so" "$root/tests/e2e/wallclock.c"
	set_clock 0
	XB_CLOCK_AHEAD=$T/ahead preloaded "$T/wallclock.so" agent
}

set_clock() { echo "$1" >"$T/ahead.new" && mv "$T/ahead.new" "$T/ahead"; }

# A write of others makes bloomd look at its clock.
expires_too_early()
{
	set_clock 18000
	ctl -q add 198.18.0.1
}

feeds_tell() { ctl feeds | contains "^  list     $1, $2 entries"; }

# A clock that is hours ahead for a while ends all bans: at the latest when it is right again, they are back, with the times
# that they had. For a moment between two requests, nothing shows but the list itself.
t_a_clock_that_was_ahead()
{
	stand_in
	ctl -q attach x0
	begun=$(date +%s)
	answer whole "$(decisions 0 302),$(decision 5000 10.77.0.3)"
	bouncer_configure
	clocked_agent
	wait_for "the bans" has_listed 303
	next_request startup=false
	answer delta ""
	sed -i '1i HELD' "$T/delta"
	wait_for "a request" test -e "$T/delta.taken"
	expires_too_early
	wait_for "the end of all" has_listed 0
	set_clock 0
	feeds_tell crowdsec 0 || fail "it tells: $(ctl feeds)"
	touch "$T/go"
	wait_for "the bans" has_listed 303
	comes_blocked 10.77.0.3
	[[ $(resyncs clock) -eq 0 ]] || fail "the server was asked for all"
	set_clock 18000
	ctl -q add 198.18.0.2
	wait_for "a look at the clock" has_resyncs clock 1
	set_clock 0
	wait_for "another one" has_resyncs clock 2
	wait_for "the bans" has_listed 303
	next_request startup=false
	works || fail "not well: $(ctl feeds)"
	feeds_tell crowdsec 303 || fail "it tells: $(ctl feeds)"
	blocked 10.77.0.3
	ends_within 10.77.0.3 3595 3610 || fail "it ends in $(ends 10.77.0.3) s"
}

# What somebody takes out comes back, and the server is not asked for it.
t_what_is_taken_out()
{
	local count

	stand_in
	ctl -q attach x0
	answer whole "$(decisions 0 100),$(decision 5000 10.77.0.3)"
	bouncer
	wait_for "the bans" has_listed 101
	next_request startup=false
	# As many entries as before.
	ctl -q del 10.77.0.3 --list crowdsec
	ctl -q add 198.18.0.1 --list crowdsec
	wait_for "what was taken out" is_listed 10.77.0.3
	comes_blocked 10.77.0.3
	says_agent 'crowdsec: list crowdsec lacks entries that are banned; they come back'
	ctl -q flush --list crowdsec --yes
	wait_for "all of them" has_listed 101
	# What ended by its time is not missed.
	answer delta "$(decision 6000 10.77.0.4 2s)"
	wait_for "a short ban" is_listed 10.77.0.4
	wait_for "its end" is_not_listed 10.77.0.4
	count=$(grep -c 'they come back' "$T/agent.err")
	next_request
	next_request
	[[ $(grep -c 'they come back' "$T/agent.err") -eq $count ]] || fail "a ban that is over is missed"
	[[ $(requests startup=true) -eq 1 ]] || fail "it was asked for all $(requests startup=true) times"
}

# A feed whose list was changed is not told "unchanged".
t_a_feed_whose_list_is_changed()
{
	begin
	configure 'every = 1h'
	agent
	wait_for "the list" has_outcome main updated
	ends_as unchanged
	grep -q if-none-match "$T/requests" || fail "all of it is asked for each time"
	ctl -q del 5.9.0.7 --list main
	ctl -q add 198.18.0.1 --list main
	passes 5.9.0.7
	ends_as updated
	has_entries main 101 || fail "the list has: $(list_text main)"
	blocked 5.9.0.7
	ctl -q flush --list main --yes
	feeds_tell main 0 || fail "it tells: $(ctl feeds)"
	ends_as updated
	blocked 5.9.0.7
	feeds_tell main 101 || fail "it tells: $(ctl feeds)"
	ends_as unchanged
}

# --- who fills a list -------------------------------------------------------------------------------

# feed NAME LIST: a section, of a file with the addresses 5.9.0.1 to 20.
feed()
{
	[[ -e $T/list ]] || printf '5.9.0.%d\n' {1..20} >"$T/list"
	printf '[feed %s]\nurl = file://%s/list\nlist = %s\non-removal = flush\n' "$1" "$T" "$2"
}

has_entries() { [[ $(list_text "$1" | grep -c " list $1 ") -eq $2 ]]; }

# The bouncer fills the list of a feed that is gone: the feed's entries go, and the bans stay.
t_a_list_of_a_feed_becomes_the_bouncers()
{
	stand_in
	ctl -q attach x0
	feed main bad >"$T/bloomd.conf"
	agent
	wait_for "the list" has_outcome main updated
	answer whole "$(decisions 20 10),$(decision 5000 10.77.0.3)"
	bouncer_reload 'list = bad' 'on-removal = flush'
	wait_for "the end of the feed" test ! -e "$state/feeds/main.json"
	says_agent 'feed main is removed, and list bad stays'
	wait_for "the bans alone" has_entries bad 11
	next_request startup=false
	has_entries bad 11 || fail "the list has: $(list_text bad)"
	ctl test 5.9.0.20 | contains 'list bad' || fail "what both list is gone"
	blocked 10.77.0.3
	# And back: the feed's import replaces what the bouncer has put there.
	feed main bad >"$T/bloomd.conf"
	agent_reloads
	wait_for "the list" has_outcome main updated
	wait_for "the end of the bouncer" test ! -e "$state/feeds/crowdsec.json"
	has_entries bad 20 || fail "the list has: $(list_text bad)"
}

t_the_bouncer_gets_another_list()
{
	stand_in
	ctl -q attach x0
	answer whole "$(decisions 0 10),$(decision 5000 10.77.0.3)"
	bouncer 'list = first' 'on-removal = flush'
	wait_for "the bans" has_entries first 11
	# Not before the other one is filled.
	printf 'HTTP 500\n' >"$T/whole"
	bouncer_reload 'list = second' 'on-removal = flush'
	wait_for "a failure" has_state http-error
	has_entries first 11 || fail "the former list is emptied first"
	blocked 10.77.0.3
	answer whole "$(decisions 0 10),$(decision 5000 10.77.0.3)"
	wait_for "the bans" has_entries second 11
	wait_for "the end of the former list" has_entries first 0
	blocked 10.77.0.3
	bouncer_reload 'list = third'
	wait_for "the bans" has_entries third 11
	next_request startup=false
	has_entries second 11 || fail "it is emptied, though it is to be kept"
	# What is in memory counts, whatever became of the file.
	rm "$state/feeds/crowdsec.json"
	bouncer_reload 'list = fourth' 'on-removal = flush'
	wait_for "the bans" has_entries fourth 11
	wait_for "the end of the former list" has_entries third 0
	rm "$state/feeds/crowdsec.json"
	: >"$T/bloomd.conf"
	agent_reloads
	wait_for "the end of the last list" has_entries fourth 0
}

# write_waits: somebody else writes, until write_goes_on.
write_waits()
{
	exec 7>>"$state/writer.lock"
	flock 7
}
write_goes_on() { exec 7>&-; }

child_works() { pgrep -P "$agent" >/dev/null; }

# While the process that empties a list waits for its turn, the list is filled by a section again.
t_taken_out_and_put_back()
{
	stand_in
	ctl -q attach x0
	answer whole "$(decisions 0 10),$(decision 5000 10.77.0.3)"
	bouncer 'on-removal = flush'
	wait_for "the bans" has_listed 11
	next_request startup=false
	write_waits
	: >"$T/bloomd.conf"
	agent_reloads
	wait_for "a process that empties the list" child_works
	bouncer_reload 'on-removal = flush'
	wait_for "a request" has_requests 2 startup=true
	write_goes_on
	next_request startup=false
	[[ $(listed) -eq 11 ]] || fail "$(listed) are listed"
	blocked 10.77.0.3
	! grep -q 'emptied' "$T/agent.err" || fail "it is emptied: $(grep emptied "$T/agent.err")"
	# The same with a feed.
	feed main main >"$T/bloomd.conf"
	agent_reloads
	wait_for "the list" has_outcome main updated
	wait_for "the end of the bouncer" test ! -e "$state/feeds/crowdsec.json"
	write_waits
	: >"$T/bloomd.conf"
	agent_reloads
	wait_for "a process that empties the list" child_works
	feed main main >"$T/bloomd.conf"
	agent_reloads
	write_goes_on
	ends_as '(updated|unchanged)'
	has_entries main 20 || fail "the list has: $(list_text main)"
}

# A feed gets the list of one that is gone, and then another one, before it has filled it.
t_a_list_that_is_handed_on()
{
	feed main first >"$T/bloomd.conf"
	feed other second >>"$T/bloomd.conf"
	ctl -q attach x0
	agent
	wait_for "a list" has_outcome main updated
	wait_for "the other" has_outcome other updated
	mv "$T/list" "$T/away"
	feed other first >"$T/bloomd.conf"
	mv "$T/list" "$T/gone"
	agent_reloads
	wait_for "the end of a feed" test ! -e "$state/feeds/main.json"
	wait_for "a fetch" has_outcome other no-file
	has_entries first 20 || fail "it is emptied, though it is configured"
	sed -i 's/list = first/list = third/' "$T/bloomd.conf"
	agent_reloads
	has_entries first 20 || fail "it is emptied before the other one is filled"
	mv "$T/away" "$T/list"
	wait_for "the list" has_entries third 20
	wait_for "the end of the lists before" has_entries first 0
	wait_for "the end of all lists before" has_entries second 0
	# What is to be dealt with is known after a start, too.
	agent_ends
	sed -i 's/list = third/list = fourth/' "$T/bloomd.conf"
	agent
	wait_for "the list" has_entries fourth 20
	wait_for "the end of the list before" has_entries third 0
	# Nor is what a section fills forgotten that goes before it has brought anything for another list.
	mv "$T/list" "$T/away"
	sed -i 's/list = fourth/list = fifth/' "$T/bloomd.conf"
	agent_reloads
	wait_for "a fetch" has_outcome other no-file
	has_entries fourth 20 || fail "it is emptied before the other one is filled"
	: >"$T/bloomd.conf"
	agent_reloads
	wait_for "the end of the list" has_entries fourth 0
}

run_tests
