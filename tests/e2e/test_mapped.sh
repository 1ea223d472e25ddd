#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# A store in which an earlier version kept ::ffff:10.77.0.3 as it was typed: it is 10.77.0.3 from the next
# command that writes on.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"

# older: what was added as ::fffe:a.b.c.d is ::ffff:a.b.c.d, in a store of schema 6.
older() { "$root/tests/e2e/older.py" "$state" mapped; }

fill()
{
	ctl -q add ::fffe:10.77.0.3 ::fffe:10.77.3.0/120 ::fffe:10.77.0.5 fd77::3 10.77.0.5
	ctl -q add ::fffe:10.77.0.3 --list other --comment "of other"
	ctl -q add 10.77.0.4 192.0.2.0/24 ::fffe:0:0/96
	ctl -q allow add ::fffe:10.77.0.4
	ctl -q allow add ::fffe:0:0/97
}

listed() { ctl list | grep -c "$1" || true; }

are_moved()
{
	exits 0 status
	[[ $(listed '::ff') -eq 0 ]] || fail "stays: $(ctl list)"
	exits 0 test 10.77.0.3
	says '^10.77.0.3 list other .*of other'
	blocked 10.77.0.3 10.77.3.9 10.77.0.5 fd77::3
	passes 10.77.0.2 10.77.0.4 fd77::2
}

t_by_the_next_command_that_writes()
{
	fill
	older
	exits 0 save
	[[ $(grep -c '"::ffff:' "$T/out") -eq 7 ]] || fail "not as it was: $(cat "$T/out")"
	cp "$T/out" "$T/saved"
	exits 0 list
	says '^::ffff:10.77.0.3 '
	exits 0 attach x0
	complains '^bloomctl: 4 entries in the form ::ffff:192.0.2.1, .* are the IPv4 entries they mean'
	complains '^bloomctl: 2 .* would be too wide as IPv4 \(first: 0.0.0.0/0, shorter than /8\)'
	are_moved
	exits 0 up
	[[ ! -s $T/err ]] || fail "said again: $(cat "$T/err")"

	# The text of such a store, too.
	exits 0 flush --yes
	exits 0 restore "$T/saved"
	complains '^bloomctl: 2 .* would be too wide as IPv4'
	are_moved
}

# What the text says of both is one entry: the later end, and the comment that was there.
t_restore_of_both()
{
	cat >"$T/saved" <<-END
		{"schema":1,"saved":"xdp-bloom","memberships":4}
		{"entry":"10.77.0.3","list":"a","added":1,"comment":"own"}
		{"entry":"::ffff:10.77.0.3","list":"a","added":2,"expires":4000000000,"comment":"mapped"}
		{"entry":"::ffff:0.0.0.0/96","list":"a","added":2}
		{"entry":"128.0.0.0/1","list":"a","added":2}
	END
	exits 0 -j restore "$T/saved"
	json 'd["entries"] == 3'
	exits 0 save
	says '^.*"10.77.0.3","list":"a","added":1,"comment":"own"}$'
	says '"128.0.0.0/1"'
	! grep -q 'entry":"0.0.0.0/0"\|::' "$T/out" || fail "taken: $(cat "$T/out")"
}

t_import()
{
	printf '::ffff:10.77.0.3\n::ffff:0:0/96\n::ffff:8.0.0.0/102\n::ffff:9.9.9.9\n' >"$T/list"
	exits 0 import "$T/list"
	complains '3 entries left out as bogons or too wide'
	exits 0 list
	[[ $(cut -d ' ' -f 1 "$T/out") == 9.9.9.9 ]] || fail "listed: $(cat "$T/out")"
}

# in_force: a filter that has the entries as they were, since the store could not be written.
in_force()
{
	command -v "${CC:-cc}" >/dev/null || skip "no C compiler"
	fill
	ctl -q attach x0
	older
	rm -rf "$pins" "$counters"
	"${CC:-cc}" -shared -fPIC -o "$T/no_put.so" "$root/tests/e2e/no_put.c"
	preloaded "$T/no_put.so" tool "$bloomctl" up >"$T/out" 2>"$T/err" || fail "up: $(cat "$T/err")"
	complains 'warning: entries in the form ::ffff:192.0.2.1 match nothing until .*[Nn]o space'
	passes 10.77.0.3 10.77.3.9
	blocked 10.77.0.5 fd77::3
}

generation() { (cd "$pins" && echo gen-*); }

t_in_the_filter_in_force()
{
	local before

	in_force
	before=$(generation)
	exits 0 add 10.77.0.6
	[[ $(generation) == "$before" ]] || fail "built anew"
	blocked 10.77.0.6
	are_moved
}

# An expired one that nobody swept never comes into force, and takes nothing with it.
t_expired()
{
	ctl -q add ::fffe:10.77.0.3 ::fffe:10.77.0.5 --timeout 1
	ctl -q add 10.77.0.5
	older
	sleep 1.2
	exits 0 attach x0
	! grep -q 'IPv4 entries they mean' "$T/err" || fail "moved: $(cat "$T/err")"
	exits 1 test 10.77.0.3
	passes 10.77.0.3
	blocked 10.77.0.5
}

t_killed_on_the_way()
{
	local point code

	in_force
	cp -a "$state/store.mdb" "$T/store"
	for point in mapped-before mapped-after apply-dirty apply-half apply-done; do
		code=0
		XB_FAULT=$point tool "$faulty" up >"$T/out" 2>&1 || code=$?
		[[ $code -eq 137 ]] || fail "not killed at $point: $code, $(cat "$T/out")"
		blocked 10.77.0.5 fd77::3
		passes 10.77.0.2
		exits 0 up
		are_moved
		ctl -q detach --all
		cp -a "$T/store" "$state/store.mdb"
		preloaded "$T/no_put.so" tool "$bloomctl" up >"$T/out" 2>"$T/err" || fail "up: $(cat "$T/err")"
		passes 10.77.0.3
	done
}

run_tests
