#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Feeds that are files of this machine: a zone that a secondary server writes is imported when it
# changes, and never half of it.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/feeds.sh"

# Once a day, so that only a change of the file makes it a matter of seconds.
watch_zone()
{
	zone 1 2 >"$T/zone"
	printf '[feed zone]\nurl = file://%s/zone\nevery = 1d\nmax-change = 100\n%s\n' "$T" "${1:-}" >"$T/bloomd.conf"
	agent
	wait_for "the zone" lists 5.9.0.1 5.9.0.2 =n1.example =n2.example
}

t_a_file_that_is_replaced()
{
	watch_zone
	zone 3 >"$T/zone.new"
	mv "$T/zone.new" "$T/zone"
	wait_for "the other zone" lists 5.9.0.3 =n3.example
	# Again, since it is another file that is watched now.
	zone 4 >"$T/zone.new"
	mv "$T/zone.new" "$T/zone"
	wait_for "the third zone" lists 5.9.0.4 =n4.example
	# It may be away for a while.
	rm "$T/zone"
	wait_for "the outcome" has_outcome zone no-file
	lists 5.9.0.4 =n4.example || fail "a file that is gone took entries out"
	zone 5 >"$T/zone.new"
	mv "$T/zone.new" "$T/zone"
	wait_for "the zone that came back" lists 5.9.0.5 =n5.example
}

# Half of it looks like a shorter zone.
t_a_file_that_is_written_in_place()
{
	local writer

	watch_zone
	exec {writer}>"$T/zone"
	zone 6 >&"$writer"
	sleep 3
	lists 5.9.0.1 5.9.0.2 =n1.example =n2.example || fail "half a zone is listed"
	exits 0 feeds update zone
	wait_for "the outcome" has_outcome zone no-file
	lists 5.9.0.1 5.9.0.2 =n1.example =n2.example || fail "half a zone is listed"
	zone 7 | tail -n 2 >&"$writer"
	exec {writer}>&-
	wait_for "the whole zone" lists 5.9.0.6 5.9.0.7 =n6.example =n7.example
}

t_a_zone_that_does_not_say_its_name()
{
	watch_zone 'zone = rpz.test'
	zone 8 | tail -n 2 >"$T/zone.new"
	mv "$T/zone.new" "$T/zone"
	# Nothing in it says of which format it is: the first line decides.
	wait_for "the records" lists 5.9.0.8 =n8.example
	printf '[feed zone]\nurl = file://%s/zone\nevery = 1d\n' "$T" >"$T/bloomd.conf"
	kill -HUP "$agent"
	wait_for "the refusal" has_outcome zone refused format
	ctl -j feeds >"$T/out"
	grep -q 'does not say of which zone; the key zone names it' "$T/out" || fail "$(cat "$T/out")"
	lists 5.9.0.8 =n8.example || fail "a refused zone changed the list"
}

run_tests
