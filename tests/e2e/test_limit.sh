#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# limit shows and sets how many answers a second each CPU gives, and refuses any other number.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/domains.sh"

t_limit()
{
	local before one

	exits 0 limit
	[[ $(cat "$T/out") == 1000 ]] || fail "$(cat "$T/out")"
	begin
	ctl add example.com
	ctl verdict default refused
	asks example.com refused
	before=$(generation)
	exits 0 limit 1000
	[[ $(generation) == "$before" ]] || fail "built anew for the same limit"
	exits 0 status
	! grep -q '^limit' "$T/out" || fail "the default limit is shown"
	exits 0 limit 1
	[[ $(generation) != "$before" ]] || fail "the limit is not in force"
	exits 0 status
	says '^limit +1 answers a second on each CPU$'
	exits 0 -j limit
	json 'd["answer_limit"] == 1'
	exits 0 -j status
	json 'd["answer_limit"] == 1'
	exits 0 save
	cp "$T/out" "$T/saved"
	exits 0 -j limit off
	json 'd["answer_limit"] == 0'
	exits 0 limit
	[[ $(cat "$T/out") == off ]] || fail "$(cat "$T/out")"
	exits 0 status
	says '^limit +off: any number of answers$'
	exits 0 restore "$T/saved"
	exits 0 limit
	[[ $(cat "$T/out") == 1 ]] || fail "$(cat "$T/out")"
	sed 's/"answer_limit":1,//' "$T/saved" >"$T/old"
	! grep -q answer_limit "$T/old" || fail "it is there"
	exits 0 restore "$T/old"
	exits 0 limit
	[[ $(cat "$T/out") == 1000 ]] || fail "$(cat "$T/out")"
	for one in 0 1000001 1x "" on; do
		exits 2 limit "$one"
		complains 'limit takes a whole number from 1 to 1000000'
	done
	exits 2 limit 1 2
	for one in -1 1000001 '"1"' 1.5; do
		sed "s/\"answer_limit\":1,/\"answer_limit\":$one,/" "$T/saved" >"$T/bad"
		exits 2 restore "$T/bad"
		complains '"answer_limit" is out of range'
	done
	exits 0 limit
	[[ $(cat "$T/out") == 1000 ]] || fail "a refused command changed it"
}

run_tests
