#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# An exception of a name holds for the list that made it: what one list lets pass another may block. add, del, list, test, batch,
# import, save and restore know exceptions; the allowlist still wins over all.
# kernel: any
# shellcheck source-path=SCRIPTDIR disable=SC2154
. "$(dirname "$0")/lib.sh"
. "$root/tests/e2e/domains.sh"

t_own_list_only()
{
	begin
	exits 0 add example.com --list ads
	exits 0 add '!ok.example.com' --list ads
	complains '^bloomctl: !ok.example.com is an exception: list ads lets queries for it pass, and other lists may block them'
	asks ok.example.com passed
	asks www.ok.example.com passed
	asks example.com silence
	exits 1 test ok.example.com
	says '^ok.example.com is not listed$'
	says '^!ok.example.com list ads added '
	says '^ok.example.com passes now: excepted$'
	exits 0 add ok.example.com --list malware
	asks ok.example.com silence
	exits 0 test www.ok.example.com
	says '^ok.example.com list malware verdict drop added '
	says '^!ok.example.com list ads added '
	says '^www.ok.example.com is dropped now: listed$'
	exits 0 -j test ok.example.com
	json 'd["entries"][0]["by"][0]["lists"][0]["name"] == "malware"'
	json '[e["entry"] for e in d["entries"][0]["excepted_by"]] == ["!ok.example.com"]'
	exits 0 verdict malware count
	asks ok.example.com passed
	exits 0 del '!ok.example.com'
	says '^!ok.example.com taken out of ads$'
	asks ok.example.com silence
	exits 0 allow add ok.example.com
	asks ok.example.com passed
}

# Below it again, and the name alone.
t_levels()
{
	begin
	exits 0 add example.com bad.ok.example.com --list ads
	exits 0 add '!ok.example.com' '!=www.example.com' --list ads
	asks ok.example.com passed
	asks bad.ok.example.com silence
	asks www.example.com passed
	asks a.www.example.com silence
	exits 0 list --list ads
	says '^!ok.example.com list ads added '
	says '^!=www.example.com list ads added '
	exits 0 list --within ok.example.com
	says '^bad.ok.example.com '
	says '^!ok.example.com '
	exits 0 -j status
	json '[(l["entries"], l["exceptions"]) for l in d["lists"]] == [(4, 2)] and d["listed"]["exceptions"] == 2'
	exits 0 status
	says '^  ads +4 entries \(2 exceptions\)'
	ctl save >"$T/saved"
	finds '"entry": ?"!ok.example.com"' "$T/saved"
	exits 0 flush --list ads --yes
	asks bad.ok.example.com passed
	exits 0 restore "$T/saved"
	asks ok.example.com passed
	asks bad.ok.example.com silence
	exits 0 batch - <<<'add !bad.ok.example.com --list ads'
	asks bad.ok.example.com passed
	exits 1 test www.example.com
	says '^!=www.example.com list ads '
}

t_refused()
{
	is_refused 2 "'!192.0.2.1': lists except domains alone; .* allowlist: \`bloomctl allow add\`" add '!192.0.2.1' --list ads
	is_refused 2 "'!2001:db8::/32': lists except domains alone" add '!2001:db8::/32'
	exits 2 allow add '!example.com'
	exits 2 test '!example.com'
	is_refused 1 '!example.com is not listed' del '!example.com'
	exits 0 add '!example.com' --list ads
	is_refused 2 '!example.com is already in list ads' add '!example.com' --list ads
	exits 1 del example.com
}

t_timeout()
{
	begin
	exits 0 add example.com --list ads
	exits 0 add '!ok.example.com' --list ads --timeout 1
	asks ok.example.com passed
	rest 2
	exits 0 test ok.example.com
	says '^ok.example.com passes now: expired, and enforced until'
	exits 0 expire
	asks ok.example.com silence
	exits 0 test ok.example.com
	says 'is dropped now: listed$'
}

t_import()
{
	printf '[Adblock]\n||ads.example^\n@@||ok.ads.example^\n||x.ok.ads.example^\n' >"$T/ads"
	exits 0 import "$T/ads" --list ads
	says '^2 entries \(adblock, 1 of them exceptions\) into list ads: '
	complains "1 line was left out \\(first: 4: 'x.ok.ads.example' passes by line 3\\)"
	[[ $(entries_of ads) == '!ok.ads.example ads.example' ]] || fail "ads has $(entries_of ads)"
	exits 1 allow test ok.ads.example
	exits 0 import "$T/ads" --list own --exceptions own --replace
	exits 0 import "$T/ads" --list others --exceptions allowlist
	says '1 of them to be allowed'
	exits 0 allow test ok.ads.example
	is_refused 2 '--exceptions takes own or allowlist' import "$T/ads" --exceptions all
	# What is replaced goes from the allowlist, and into the list.
	exits 0 import "$T/ads" --list others --replace
	exits 1 allow test ok.ads.example
	[[ $(entries_of others) == '!ok.ads.example ads.example' ]] || fail "others has $(entries_of others)"
}

run_tests
