#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ports shows and sets where domains are looked for, and limit how many answers a second each CPU gives; no port serves
# two protocols.
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/domains.sh"

t_ports()
{
	exits 0 ports
	[[ $(cat "$T/out") == $'dns  53\ntls  off\nhttp off' ]] || fail "$(cat "$T/out")"
	begin
	ctl add example.com
	exits 0 ports dns 5353,53
	asks example.com silence 53
	asks example.com silence 5353
	asks example.com passed 5354
	exits 0 ports dns
	[[ $(cat "$T/out") == 53,5353 ]]
	exits 0 ports dns 5354
	asks example.com passed 53
	asks example.com silence 5354
	exits 0 -j ports dns off
	json 'd["ports"] == {"dns": []}'
	asks example.com passed 5354
	exits 0 ports dns
	[[ $(cat "$T/out") == off ]]
	exits 0 ports tls 443,1,65535,8443
	exits 0 ports http 80
	exits 0 -j ports
	json 'd["ports"] == {"dns": [], "tls": [1, 443, 8443, 65535], "http": [80]}'
	exits 0 -j ports tls
	json 'd["ports"] == {"tls": [1, 443, 8443, 65535]}'
	exits 0 status
	says '^ports +dns off tls 1,443,8443,65535 http 80$'
	exits 0 -j status
	json 'd["ports"] == {"dns": [], "tls": [1, 443, 8443, 65535], "http": [80]}'
}

# What is no port is asked of tests/unit/model/test_nameports.
t_one_port_for_two_protocols()
{
	local before words pattern

	begin
	ctl add example.com
	ctl ports tls 443
	ctl save >"$T/before"
	before=$(generation)
	while IFS='|' read -r words pattern; do
		# shellcheck disable=SC2086
		exits 2 ports $words
		one_line
		complains "$pattern"
	done <<-END
		dns 53,5353x,54|'5353x' is not a valid port: use numbers from 1 to 65535
		http 80,443|port 443 cannot be both tls and http
		tls 443,53|port 53 cannot be both dns and tls
		http 53|port 53 cannot be both dns and http
		dns 53,443|port 443 cannot be both dns and tls
		udp|udp
		udp 53|udp
	END
	ctl save | cmp - "$T/before"
	[[ $(generation) == "$before" ]]
	asks example.com silence
}

# The same again is no change; without domains nothing is built.
t_ports_build_only_what_they_must()
{
	begin
	ctl add 10.77.0.3
	before=$(generation)
	exits 0 ports dns 5353
	[[ $(generation) == "$before" ]] || fail "built anew for nothing"
	exits 0 add example.com
	asks example.com passed
	asks example.com silence 5353
	before=$(generation)
	exits 0 ports dns 5353
	[[ $(generation) == "$before" ]] || fail "built anew for the same ports"
	exits 0 ports dns 53
	[[ $(generation) != "$before" ]] || fail "not built anew"
}

t_ports_killed_between()
{
	begin
	ctl add example.com
	dies_at commit-before ports dns 5353
	exits 0 status
	asks example.com silence 53
	for one in commit-after publish-before publish-swapped; do
		ctl ports dns 53
		asks example.com silence 53
		dies_at $one ports dns 5353
		exits 0 ports dns
		[[ $(cat "$T/out") == 5353 ]]
		exits 0 up
		exits 0 status
		asks example.com silence 5353
		asks example.com passed 53
	done
}

t_limit()
{
	local before one

	exits 0 limit answers
	[[ $(cat "$T/out") == 1000 ]] || fail "$(cat "$T/out")"
	begin
	ctl add example.com
	ctl verdict default refused
	asks example.com refused
	before=$(generation)
	exits 0 limit answers 1000
	[[ $(generation) == "$before" ]] || fail "built anew for the same limit"
	exits 0 status
	! grep -q '^limit' "$T/out" || fail "the default limit is shown"
	exits 0 limit 1
	[[ $(generation) != "$before" ]] || fail "the limit is not in force"
	exits 0 status
	says '^limit +1 answers a second on each CPU$'
	exits 0 -j limit answers
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
	for one in 0 1000001; do
		exits 2 limit answers $one
		exits 2 limit $one
		complains 'limit answers takes a whole number from 1 to 1000000'
	done
	for one in -1 1000001 '"1"' 1.5; do
		sed "s/\"answer_limit\":1,/\"answer_limit\":$one,/" "$T/saved" >"$T/bad"
		exits 2 restore "$T/bad"
		complains '"answer_limit" is out of range'
	done
	exits 0 limit
	[[ $(cat "$T/out") == 1000 ]] || fail "a refused command changed it"
}

run_tests
