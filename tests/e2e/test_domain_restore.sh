#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# restore brings back domains, verdicts and ports, also from an older version; of a malformed file it takes nothing.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/domains.sh"

t_save_and_restore()
{
	begin
	ctl add example.com =alone.example.net --list one
	ctl add example.com bücher.example --timeout 9000 --comment 'a "b"'
	ctl allow add good.example.com
	ctl verdict one nxdomain
	ctl verdict later count
	ctl verdict default refused
	ctl ports dns 53,5353
	ctl ports tls 443
	ctl save >"$T/first"
	ctl flush --yes
	for one in one later; do
		ctl verdict $one drop
	done
	ctl verdict other truncate
	ctl ports dns off
	ctl ports tls off
	ctl allow del good.example.com
	exits 0 restore "$T/first"
	ctl save >"$T/second"
	cmp "$T/first" "$T/second"
	exits 2 verdict other
	asks example.com refused 5353
	asks alone.example.net nxdomain
	asks good.example.com passed
	# Of a version that knew no domains.
	printf '%s\n' '{"schema":1,"saved":"xdp-bloom"}' '{"entry":"10.77.0.3","list":"default","added":1}' >"$T/old"
	exits 0 restore "$T/old"
	[[ $(ctl ports) == $'dns  53\ntls  off\nhttp off' ]] || fail "$(ctl ports)"
	[[ $(ctl verdict) == 'default drop' ]] || fail "$(ctl verdict)"
	blocked 10.77.0.3
	asks example.com passed
}

t_restore_bad_input()
{
	local head='{"schema":1,"saved":"xdp-bloom","fpr":0.0,"capacity":0' one

	begin
	ctl add example.com
	ctl save >"$T/before"
	for one in '"ports":1' '"ports":{"dns":[53]}' '"ports":{"dns":[0],"tls":[],"http":[]}' \
		'"ports":{"dns":[53,53],"tls":[],"http":[]}' '"ports":{"dns":[65536],"tls":[],"http":[]}' \
		'"ports":{"dns":["53"],"tls":[],"http":[]}' '"ports":{"dns":[-1],"tls":[],"http":[]}' \
		'"ports":{"dns":[1,2,3,4,5],"tls":[],"http":[]}' '"ports":{"dns":[],"tls":[80],"http":[80]}' \
		'"ports":{"dns":[53],"tls":[53,443],"http":[]}' '"ports":{"dns":[53],"tls":[443],"http":[53]}'; do
		echo "$head,$one}" >"$T/bad"
		is_refused 2 'bad:1: ' restore "$T/bad"
	done
	for one in '{"list":"one","verdict":"nosuch"}' '{"list":"one","verdict":1}' '{"verdict":"drop"}' \
		'{"list":"auto:ssh","verdict":"count"}' '{"entry":"bad..name","list":"one"}'; do
		printf '%s}\n%s\n' "$head" "$one" >"$T/bad"
		is_refused 2 'bad:2: ' restore "$T/bad"
	done
	ctl save >"$T/after"
	cmp "$T/before" "$T/after"
	asks example.com silence
}

run_tests
