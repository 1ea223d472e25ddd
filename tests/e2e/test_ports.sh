#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# ports shows and sets where domains are looked for; no port serves two protocols.
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

t_ports_bad_input()
{
	local one

	begin
	ctl add example.com
	ctl ports tls 443
	ctl save >"$T/before"
	before=$(generation)
	for one in 0 65536 99999999999999999999 1,2,3,4,5 53,53 ',' '53,' ,53 53,,54 ' 53' 53x x '' 0x35 53,off \
		Off +53; do
		exits 2 ports dns "$one"
		one_line
	done
	exits 2 ports dns 0
	complains "'0' is not a valid port: use numbers from 1 to 65535"
	exits 2 ports dns 53,5353,70000
	complains "'70000' is not a valid port"
	exits 2 ports dns 53,5353x,54
	complains "'5353x' is not a valid port"
	exits 2 ports dns 1,2,3,4,5
	complains 'at most 4 ports can be named'
	exits 2 ports dns 53,53
	complains 'port 53 is named twice'
	exits 2 ports http 80,443
	one_line
	complains 'port 443 cannot be both tls and http'
	exits 2 ports tls 443,53
	one_line
	complains 'port 53 cannot be both dns and tls'
	exits 2 ports http 53
	complains 'port 53 cannot be both dns and http'
	exits 2 ports dns 53,443
	complains 'port 443 cannot be both dns and tls'
	exits 2 ports udp
	one_line
	exits 2 ports udp 53
	one_line
	exits 2 ports dns 53 54
	one_line
	exits 2 ports --wrong
	one_line
	ctl save >"$T/after"
	cmp "$T/before" "$T/after"
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
	! XB_FAULT=commit-before tool "$faulty" ports dns 5353 || fail "it lives"
	exits 0 status
	asks example.com silence 53
	for one in commit-after publish-before publish-swapped; do
		ctl ports dns 53
		asks example.com silence 53
		! XB_FAULT=$one tool "$faulty" ports dns 5353 || fail "it lives"
		exits 0 ports dns
		[[ $(cat "$T/out") == 5353 ]]
		exits 0 up
		exits 0 status
		asks example.com silence 5353
		asks example.com passed 53
	done
}

run_tests
