#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# add, del, allow, batch and flush take domains as entries, and refuse names that are malformed.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/domains.sh"

t_entries()
{
	begin
	exits 0 add example.com =alone.example.net --comment why --timeout 3600
	asks example.com silence
	asks A.B.Example.COM silence
	asks notexample.com passed
	asks alone.example.net silence
	asks www.alone.example.net passed
	is_refused 2 '^bloomctl: example.com is already in list default' add EXAMPLE.com.
	exits 0 add EXAMPLE.com. --exist
	exits 0 list
	says '^example.com list default verdict drop added .* expires .* comment "why"$'
	says '^=alone.example.net list default '
	exits 0 -j list
	json '[e["entry"] for e in d["entries"]] == ["example.com", "=alone.example.net"]'
	json 'd["entries"][0]["lists"][0]["verdict"] == "drop"'
	is_refused 1 'alone.example.net is not listed' del alone.example.net
	exits 0 del Example.Com
	says '^example.com taken out of default$'
	asks example.com passed
	exits 0 del =alone.example.net
	asks alone.example.net passed
	exits 1 del example.com
	one_line
}

t_single_label()
{
	is_refused 2 'com has no dot and may be a whole top-level domain; use --force' add com
	exits 2 add =com
	one_line
	exits 2 add example.org com
	exits 1 test example.org
	printf 'add example.org\nadd com\n' >"$T/lines"
	is_refused 2 'lines:2: com has no dot' batch "$T/lines"
	exits 0 add com --force
	exits 0 test example.com
	printf 'allow add example.org\nallow add net\n' >"$T/lines"
	is_refused 2 'lines:2: net has no dot' batch "$T/lines"
	for one in net =net; do
		is_refused 2 "$one has no dot and may be a whole top-level domain; use --force" allow add "$one"
	done
	exits 1 allow test example.org
	exits 0 allow add net --force
	exits 0 allow test example.net
	exits 0 batch - <<<'allow add =org --force'
	ctl save >"$T/saved"
	exits 0 restore "$T/saved"
	exits 0 test example.com
	exits 0 allow test example.net
	exits 0 allow del =org
	exits 0 del com
	exits 2 del example.com --force
	one_line
}

t_international()
{
	begin
	exits 0 add BÜCHER.example
	exits 0 list
	says '^xn--bcher-kva.example list default '
	exits 0 test www.bücher.example
	says '^xn--bcher-kva.example list default '
	asks xn--bcher-kva.example silence
	exits 2 add xn--bcher-kva.example
	one_line
	exits 0 del bücher.example
	says '^xn--bcher-kva.example taken out of default$'
}

t_all_or_nothing()
{
	local one

	begin
	ctl add example.com
	ctl save >"$T/before"
	exits 2 add example.net example.org -- bad..name
	exits 2 add example.net 192.0.2.1 example.com
	exits 1 del example.com example.net
	exits 2 add example.net example.net
	printf 'add example.net\nallow add good.example.com\ndel nosuch.example\n' >"$T/lines"
	is_refused 1 'lines:3: nosuch.example is not listed' batch "$T/lines"
	for one in allow 'allow list' 'allow add' 'allow refuse ssh' 'allow add good.example.com'; do
		printf 'allow add good.example.com\nadd example.net\n%s\n' "$one" >"$T/lines"
		is_refused 2 "lines:3: " batch "$T/lines"
	done
	ctl save >"$T/after"
	cmp "$T/before" "$T/after"
	asks example.net passed
	asks good.example.com silence
}

t_batch()
{
	begin
	cat >"$T/lines" <<-'END'
	# domains and addresses
	add example.com =alone.example.org --list one
	add 10.77.0.3 example.net
	allow add good.example.com --comment "a friend"
	del example.net
	END
	exits 0 -j batch "$T/lines"
	json 'd["added"] == 5 and d["removed"] == 1'
	asks www.example.com silence
	asks good.example.com passed
	asks alone.example.org silence
	asks example.net passed
	blocked 10.77.0.3
}

t_allow()
{
	begin
	ctl add example.com
	exits 1 allow test good.example.com
	says '^good.example.com is not allowed$'
	exits 0 allow add good.example.com =alone.example.com
	asks www.good.example.com passed
	asks alone.example.com passed
	asks www.alone.example.com silence
	exits 0 allow test www.good.example.com
	says '^good.example.com list allow added'
	exits 0 allow list
	says '^good.example.com list allow added'
	exits 0 -j allow test alone.example.com
	json 'd["entries"][0]["allowed_by"][0]["entry"] == "=alone.example.com"'
	json '"verdict" not in d["entries"][0]["allowed_by"][0]["lists"][0]'
	exits 1 allow del nosuch.example
	one_line
	exits 0 allow del good.example.com
	asks good.example.com silence
}

t_flush()
{
	begin
	ctl add example.com --list one
	ctl add example.net --list two
	exits 0 -j flush --list one --yes
	json 'd["removed"] == 1'
	asks example.com passed
	asks example.net silence
	exits 0 -j flush --yes
	json 'd["removed"] == 1'
	asks example.net passed
}

run_tests
