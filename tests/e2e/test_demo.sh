#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# The demos show what they claim, and leave nothing.
# waits: more than it computes
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2030,SC2031,SC2154
. "$(dirname "$0")/lib.sh"

# demo NAME: starts it with the programs under test, in a directory for what is temporary.
demo()
{
	mkdir -p "$T/tmp"
	# Otherwise what the one before has printed may be taken for its own.
	: >"$T/out"
	XB_DEMO_PROGRAMS=$XB_TEST_DIR/bin TMPDIR=$T/tmp "$root/scripts/$1" >"$T/out" 2>"$T/err" &
	demo=$!
}

# The processes of a demo, of which this one has none.
nobody_runs() { ! pgrep -x 'bloomd|bloomd-redis|redis-server|dnsmasq' >/dev/null && ! pgrep -f scripts/demo >/dev/null; }

leaves_nothing()
{
	wait_for "the end of what it started" nobody_runs
	[[ $(ip netns list | grep -vc "^$XB_TEST_ID") -eq 0 ]] || fail "namespaces are left: $(ip netns list)"
}

# ends_well LAST LEAST: the demo; its last line, and so many claims at least.
ends_well()
{
	wait "$demo" || fail "ends with $?: $(tail -n 5 "$T/out" "$T/err")"
	[[ $(tail -n 1 "$T/out") == "$1" ]] || fail "the last line is: $(tail -n 1 "$T/out")"
	[[ $(grep -cE "$claims" "$T/out") -ge $2 ]] || fail "it claims little: $(cat "$T/out")"
	leaves_nothing
	[[ -z $(ls "$T/tmp") ]] || fail "files are left: $(ls "$T/tmp")"
}

t_one_host()
{
	local claims='(ping answered|no answer to ping|packets transmitted|queries for it)'

	command -v dnsmasq >/dev/null || skip "no dnsmasq"
	demo demo
	ends_well "== All as it was" 12
}

t_fleet()
{
	local claims='(is dropped by|is answered by|after [0-9]+ ms)'

	command -v redis-check-rdb >/dev/null || skip "no redis-server (Debian: redis-tools has it as redis-check-rdb)"
	demo demo-fleet
	ends_well "== The end: of the hosts nothing stays" 20
}

is_at() { grep -q "$1" "$T/out"; }

# killed_by SIGNAL: in the midst of it.
killed_by()
{
	demo demo-fleet
	(patience=$((6 * patience)) && wait_for "the ban" is_at 'is dropped by alpha beta gamma')
	kill "-$1" "$demo"
	wait "$demo" && fail "it ends well" || true
	leaves_nothing
}

t_fleet_is_killed()
{
	command -v redis-check-rdb >/dev/null || skip "no redis-server (Debian: redis-tools has it as redis-check-rdb)"
	killed_by HUP
	[[ -z $(ls "$T/tmp") ]] || fail "files are left: $(ls "$T/tmp")"
	killed_by KILL
	# The next one clears the directory, which is empty.
	killed_by TERM
	[[ -z $(ls "$T/tmp") ]] || fail "files are left: $(ls "$T/tmp")"
}

run_tests
